"""Naive Bayes as a linear classifier (lecture notes 003 and 004).

    ln P(c, x) = b_c + Σ_k w_ck φ_k(x)

The coordinates φ are 0 or 1 for each state of a discrete feature, x and x² of a Gaussian one, and
the counts of a bag; a transformed number has t(x), t(x)² and ln t'(x). For two classes the
difference of the two rows is the log odds

    ln P(c₁ | x) / P(c₀ | x) = b + Σ_k w_k φ_k(x)

so that b + w·φ > 0 is the side of the second class. (The notes lack a logarithm: the bias has
Σ ln(1 − θ), not Σ (1 − θ).) `decide` adds the terms feature by feature, (x − mean)² in one piece,
so that numbers far from 0 do not cancel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.core.render import Shown, View, number
from credo.core.schema import is_missing
from credo.model.naive_bayes.features import Bag, Feature, Normal, States, number_of
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.predict.rows.naive_row import check_unseen, joint_of_row, shares_of_row

Floats = NDArray[np.float64]
Coordinate = tuple[str, Any]  # a feature with its state, or "x", "x²" or "count"
NEW_STATE = "(a new state)"
"""The coordinate of states that training did not see, where they are smoothed."""


@dataclass(frozen=True, eq=False)
class LinearForm(Shown, Frozen):
    """Bias and weights. For two classes one row: the log odds of the second against the first.

    `coordinates` are pairs: a feature and its state, or the words 'x', 'x²' (of a transformed
    number after its transform, with 'slope', the logarithm of its slope), 'observed', 'count' and
    '(a new state)'.

    >>> import credo as cr
    >>> model = cr.naive_bayes(cr.examples.spam_emails(), "Spam", smoothing=1)
    >>> form = model.linear_form()
    >>> round(float(form.bias[0]), 4), round(form["Free", 1], 4)
    (1.0465, 1.7918)
    """

    classes: tuple[Any, ...]
    coordinates: tuple[Coordinate, ...]
    bias: Floats
    weights: Floats
    model: NaiveBayesModel = field(repr=False)
    reference: bool = True
    unseen: str = "error"

    def __getitem__(self, key: Coordinate) -> Any:
        """The weight of a coordinate: a number for two classes, else one for each class."""
        if key not in self.coordinates:
            raise InputError(f"There is no coordinate {key!r}; see .coordinates.")
        found = self.weights[:, self.coordinates.index(key)]
        return float(found[0]) if len(found) == 1 else found

    def at(self, row: Mapping[str, Any]) -> Floats:
        """The coordinates φ of one row; those of missing cells are 0.

        With the first states folded into the bias, a row must have every cell.
        """
        phi: dict[Coordinate, float] = {}
        for f, values, _ in shares_of_row(self.model, row, self.unseen):
            if self.reference and not isinstance(f, Bag) and _gap(f, values[0], self.unseen):
                raise InputError(
                    f"The row has no value of {f.names[0]!r} that the model knows, and the bias "
                    "holds one.",
                    hint="Rows with gaps need linear_form(reference=False).",
                )
            if isinstance(f, States):
                code = f.code(values[0])
                if code is not None:
                    phi[f.names[0], (*f.variable.states, NEW_STATE)[code]] = 1.0
                continue
            for name, value in zip(f.names, values, strict=True):
                if not is_missing(value):
                    x = number_of(name, value)
                    if isinstance(f, Normal) and f.scale is not None:
                        phi[name, "slope"] = float(f.scale.log_slope(x))
                        x = float(f.on_scale(np.array(x)))
                    phi |= {(name, "observed"): 1.0, (name, "count"): x}
                    phi |= {(name, "x"): x, (name, "x²"): x * x}
        return np.array([phi.get(key, 0.0) for key in self.coordinates])

    def decide(self, row: Mapping[str, Any]) -> Floats:
        """b + w·φ: the log odds for two classes, else ln P(class, row) for each class.

        >>> import credo as cr
        >>> model = cr.naive_bayes(cr.examples.spam_emails(), "Spam")
        >>> mail = {"Free": 0, "Offer": 0, "Lecture": 1, "CS": 1}
        >>> p = model.p(mail)
        >>> bool(np.isclose(model.linear_form().decide(mail)[0], np.log(p[1] / p[0])))
        True
        """
        self.at(row)  # refuses a row that has no coordinates
        joint = joint_of_row(self.model, row, self.unseen)
        return joint[1:] - joint[:1] if len(self.classes) == 2 else joint

    def ranking(self, most: int | None = None) -> list[tuple[Coordinate, float]]:
        """The coordinates by the size of their weight; with many classes, by its spread."""
        if len(self.weights) == 1:
            size = self.weights[0]
        else:
            size = np.ptp(self.weights, axis=0)
        order = np.argsort(-np.abs(size), kind="stable")[:most]
        return [(self.coordinates[i], float(size[i])) for i in order]

    def _rows(self, most: int = 30) -> tuple[list[str], list[list[str]]]:
        if len(self.classes) == 2:
            heads = [f"ln odds of {self.classes[1]}"]
        else:
            heads = [str(c) for c in self.classes]
        rows = [["bias", "", *(number(float(b), 4) for b in self.bias)]]
        for key, _ in self.ranking(most):
            at = self.coordinates.index(key)
            rows.append([key[0], str(key[1]), *(number(float(w), 4) for w in self.weights[:, at])])
        return ["feature", "state", *heads], rows

    def _view(self) -> View:
        head, rows = self._rows()
        more = len(self.coordinates) - len(rows) + 1
        return View("", head, rows, range(2, len(head)), f"… {more} more" if more > 0 else "")

    def __repr__(self) -> str:
        return f"LinearForm({len(self.classes)} classes, {len(self.coordinates)} coordinates)"


def _gap(f: Feature, value: Any, unseen: str) -> bool:
    """Whether a cell adds nothing to the sum."""
    if not isinstance(f, States):
        return is_missing(value) and not (isinstance(f, Normal) and f.idle)
    code = f.code(value)
    return code is None or (code == f.variable.arity and unseen != "smooth")


def linear_form(
    model: NaiveBayesModel, reference: bool = True, unseen: str = "error"
) -> LinearForm:
    """The linear form of a model.

    With `reference`, the first state of each discrete feature is folded into the bias, as in the
    lecture notes: w(j) belongs to x(j) = 1. Rows with gaps need `reference=False`, where each
    state has its own weight, and so has the fact that a number was observed. With
    `unseen="smooth"` each discrete feature has a coordinate for a new state.
    """
    check_unseen(unseen)
    bias = model.log_prior.copy()
    names: list[Coordinate] = []
    weights: list[Floats] = []
    for f in model.features:
        if isinstance(f, States):
            first = f.log_theta[:, 0] if reference else np.zeros(len(bias))
            bias += first
            for k, state in enumerate(f.variable.states):
                if k or not reference:
                    names.append((f.names[0], state))
                    weights.append(_less(f.log_theta[:, k], first))
            if unseen == "smooth":
                names.append((f.names[0], NEW_STATE))
                weights.append(_less(f.unseen, first))
        elif isinstance(f, Normal):
            if f.idle:
                continue
            constant = -0.5 * np.log(2 * np.pi * f.variance) - f.mean**2 / (2 * f.variance)
            if reference:
                bias += constant
            else:
                names.append((f.name, "observed"))
                weights.append(constant)
            names += [(f.name, "x"), (f.name, "x²")]
            weights += [f.mean / f.variance, -0.5 / f.variance]
            if f.scale is not None:
                names.append((f.name, "slope"))
                weights.append(np.ones(len(bias)))
        elif isinstance(f, Bag):
            names += [(w, "count") for w in f.names]
            weights += list(f.log_theta.T)
        else:
            raise InputError(
                f"The feature {f.names[0]!r} is a {type(f).__name__.lower()}, which has no linear "
                "form.",
                hint="explain() works for every kind.",
            )
    matrix = np.array(weights).T if weights else np.zeros((len(bias), 0))
    _refuse_infinite(model, bias, matrix)
    if len(model.classes) == 2:
        bias, matrix = bias[1:] - bias[:1], matrix[1:] - matrix[:1]
    return LinearForm(model.classes, tuple(names), bias, matrix, model, reference, unseen)


def _less(a: Floats, b: Floats) -> Floats:
    """a − b, where both may be −∞ (which is refused later)."""
    with np.errstate(invalid="ignore"):
        return np.asarray(a - b)


def _refuse_infinite(model: NaiveBayesModel, bias: Floats, matrix: Floats) -> None:
    absent = np.flatnonzero(np.isneginf(model.log_prior))
    if len(absent):
        raise InputError(
            f"The class {model.classes[int(absent[0])]!r} has probability zero, so its bias would "
            "be infinite.",
            hint="Use class_smoothing above 0, or a class_prior without zeros.",
        )
    if not np.isfinite(matrix).all() or not np.isfinite(bias).all():
        raise InputError(
            "A probability is zero, so a weight would be infinite.", hint="Use smoothing above 0."
        )
