"""Naive Bayes as a linear classifier (lecture notes 003 and 004).

    ln P(c, x) = b_c + Σ_k w_ck φ_k(x)

The coordinates φ are 0 or 1 for each state of a discrete feature, x and x² of a Gaussian one, and
the counts of a bag. For two classes the difference of the two rows is the log odds

    ln P(c₁ | x) / P(c₀ | x) = b + Σ_k w_k φ_k(x)

so that b + w·φ > 0 is the side of the second class. (The notes lack a logarithm: the bias has
Σ ln(1 − θ), not Σ (1 − θ).)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import InputError
from credo.model.naive_bayes import NaiveBayesModel
from credo.model.naive_bayes_features import Bag, Normal, States, number_of
from credo.render import number, table_html, table_text
from credo.schema import is_missing

__all__ = ["LinearForm", "linear_form"]

Floats = NDArray[np.float64]
Coordinate = tuple[str, Any]  # a feature with its state, or "x", "x²" or "count"
_STATE = "state"


@dataclass(frozen=True, eq=False)
class LinearForm:
    """Bias and weights. For two classes one row: the log odds of the second against the first.

    `coordinates` are pairs: a feature and its state, or the words 'x', 'x²' and 'count'.

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
    kinds: tuple[str, ...]

    def __getitem__(self, key: Coordinate) -> Any:
        """The weight of a coordinate: a number for two classes, else one for each class."""
        if key not in self.coordinates:
            raise InputError(f"There is no coordinate {key!r}; see .coordinates.")
        found = self.weights[:, self.coordinates.index(key)]
        return float(found[0]) if len(found) == 1 else found

    def at(self, row: Mapping[str, Any]) -> Floats:
        """The coordinates φ of one row; those of missing cells are 0."""
        phi = np.zeros(len(self.coordinates))
        for k, ((name, what), kind) in enumerate(zip(self.coordinates, self.kinds, strict=True)):
            value = row.get(name)
            if is_missing(value):
                continue
            if kind == _STATE:
                phi[k] = float(value == what)
            elif kind == "observed":
                phi[k] = 1.0
            else:
                x = number_of(name, value)
                phi[k] = x * x if kind == "x²" else x
        return phi

    def decide(self, row: Mapping[str, Any]) -> Floats:
        """b + w·φ: the log odds for two classes, else ln P(class, row) for each class.

        >>> import credo as cr
        >>> model = cr.naive_bayes(cr.examples.spam_emails(), "Spam")
        >>> mail = {"Free": 0, "Offer": 0, "Lecture": 1, "CS": 1}
        >>> p = model.p(mail)
        >>> bool(np.isclose(model.linear_form().decide(mail)[0], np.log(p[1] / p[0])))
        True
        """
        out: Floats = self.bias + self.weights @ self.at(row)
        return out

    def ranking(self, most: int | None = None) -> list[tuple[Coordinate, float]]:
        """The coordinates by the size of their weight; with many classes, by its spread."""
        if len(self.weights) == 1:
            size = self.weights[0]
        else:
            size = np.ptp(self.weights, axis=0)
        order = np.argsort(-np.abs(size), kind="stable")[:most]
        return [(self.coordinates[i], float(size[i])) for i in order]

    def _rows(self, most: int = 30) -> tuple[list[str], list[list[str]]]:
        if len(self.weights) == 1:
            heads = [f"ln odds of {self.classes[1]}"]
        else:
            heads = [str(c) for c in self.classes]
        rows = [["bias", "", *(number(float(b), 4) for b in self.bias)]]
        for key, _ in self.ranking(most):
            at = self.coordinates.index(key)
            rows.append([key[0], str(key[1]), *(number(float(w), 4) for w in self.weights[:, at])])
        return ["feature", "state", *heads], rows

    def __str__(self) -> str:
        head, rows = self._rows()
        more = len(self.coordinates) - len(rows) + 1
        text = table_text(head, rows, right=range(2, len(head)))
        return text + (f"\n… {more} more" if more > 0 else "")

    def __repr__(self) -> str:
        return f"LinearForm({len(self.classes)} classes, {len(self.coordinates)} coordinates)"

    def _repr_html_(self) -> str:
        head, rows = self._rows()
        return table_html(head, rows, right=range(2, len(head)))


def linear_form(model: NaiveBayesModel, reference: bool = True) -> LinearForm:
    """The linear form of a model.

    With `reference`, the first state of each discrete feature is folded into the bias, as in the
    lecture notes: w(j) belongs to x(j) = 1. Rows with gaps need `reference=False`, where each
    state has its own weight, and so has the fact that a number was observed.
    """
    bias = model.log_prior.copy()
    names: list[Coordinate] = []
    kinds: list[str] = []
    weights: list[Floats] = []
    for f in model.features:
        if isinstance(f, States):
            if reference:
                bias += f.log_theta[:, 0]
            for k, state in enumerate(f.variable.states):
                if reference and k == 0:
                    continue
                names.append((f.names[0], state))
                kinds.append(_STATE)
                weights.append(f.log_theta[:, k] - (f.log_theta[:, 0] if reference else 0.0))
        elif isinstance(f, Normal):
            if f.idle:
                continue
            constant = -0.5 * np.log(2 * np.pi * f.variance) - f.mean**2 / (2 * f.variance)
            if reference:
                bias += constant
            else:
                names.append((f.name, "observed"))
                kinds.append("observed")
                weights.append(constant)
            names += [(f.name, "x"), (f.name, "x²")]
            kinds += ["x", "x²"]
            weights += [f.mean / f.variance, -0.5 / f.variance]
        elif isinstance(f, Bag):
            names += [(w, "count") for w in f.names]
            kinds += ["count"] * len(f.names)
            weights += list(f.log_theta.T)
        else:
            raise InputError(
                f"The feature {f.names[0]!r} is a {type(f).__name__.lower()}, which has no linear "
                "form.",
                hint="explain() works for every kind.",
            )
    matrix = np.array(weights).T if weights else np.zeros((len(bias), 0))
    if not np.isfinite(matrix).all() or not np.isfinite(bias).all():
        raise InputError(
            "A probability is zero, so a weight would be infinite.", hint="Use smoothing above 0."
        )
    if len(model.classes) == 2:
        bias, matrix = bias[1:] - bias[:1], matrix[1:] - matrix[:1]
    return LinearForm(model.classes, tuple(names), bias, matrix, tuple(kinds))
