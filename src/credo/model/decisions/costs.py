"""Costs: what it costs to call one class another; the cheapest call for each row.

    choose a with the least  Σ_c P(c | row) cost(c, a);   reject if that costs more than rejecting

(Elkan 2001; Chow 1970.) With two classes this is a threshold on the probability of the second:

    t = (c₀₁ − c₀₀) / (c₀₁ − c₀₀ + c₁₀ − c₁₁)         c_ij: the class is i and j was chosen
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.render import number
from credo.core.schema import Variable
from credo.model.values.reals import shown
from credo.model.values.value import Value, View, finite

__all__ = ["Costs"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Costs(Value):
    """A cost for each class (a row) and what it was called (a column).

    >>> costs = Costs.of(["ham", "spam"], {"ham": {"spam": 9}, "spam": {"ham": 1}})
    >>> costs.threshold  # call it spam from here on
    0.9
    >>> costs.choose(np.array([[0.2, 0.8], [0.05, 0.95]])).tolist()
    [0, 1]
    """

    classes: tuple[Any, ...]
    matrix: Floats

    @classmethod
    def of(cls, classes: Sequence[Any], given: Any) -> Costs:
        """Costs from nested dicts (class, then what it was called), a dict by pairs, or an array.

        A right call costs nothing unless it is said; None: every wrong call costs 1.
        """
        known = tuple(classes)
        if isinstance(given, Costs):
            given = given.matrix
        k = len(known)
        if given is None:
            return cls(known, 1.0 - np.eye(k))
        if isinstance(given, Mapping):
            return cls(known, _filled(known, given))
        try:
            matrix = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            matrix = np.zeros(0)
        if matrix.shape != (k, k) or not np.isfinite(matrix).all():
            raise InputError(
                f"Costs are {k} rows of {k} numbers, a row for each class, got {shown(given)}.",
                hint="Or give a dict: {class: {what it was called: cost}}.",
            )
        return cls(known, matrix)

    @property
    def threshold(self) -> float:
        """The probability of the second of two classes from which on it is chosen.

        Below 0 or above 1 where one of them is always chosen.
        """
        if len(self.classes) != 2:
            raise InputError(
                f"A threshold is for two classes, and there are {len(self.classes)}.",
                hint="Use predict(X, costs=…).",
            )
        wrong = self.matrix[0, 1] - self.matrix[0, 0], self.matrix[1, 0] - self.matrix[1, 1]
        total = wrong[0] + wrong[1]
        return float(wrong[0] / total) if total > 0 else float("-inf" if wrong[1] >= 0 else "inf")

    def expected(self, p: Floats) -> Floats:
        """The expected cost of each choice: [row, choice]."""
        out: Floats = np.asarray(p, dtype=np.float64) @ self.matrix
        return out

    def choose(self, p: Floats, reject: float | None = None) -> NDArray[np.intp]:
        """The cheapest choice for each row; −1 where rejecting is cheaper than any."""
        cost = self.expected(p)
        out: NDArray[np.intp] = cost.argmin(axis=1)
        if reject is not None:
            limit = finite(reject, "The cost of rejecting")
            out = np.where(cost.min(axis=1) > limit, -1, out)
        return out

    def paid(self, codes: NDArray[Any], chosen: NDArray[Any], reject: float = 0.0) -> Floats:
        """What was paid for each row: its class is `codes`, its choice `chosen`."""
        out: Floats = np.where(chosen < 0, reject, self.matrix[codes, np.maximum(chosen, 0)])
        return out

    def _view(self) -> View:
        head = ["", *(f"called {c}" for c in self.classes)]
        rows = [
            [str(c), *(number(float(v)) for v in row)]
            for c, row in zip(self.classes, self.matrix, strict=True)
        ]
        return View("costs", head, rows, range(1, len(head)))


def _filled(classes: tuple[Any, ...], given: Mapping[Any, Any]) -> Floats:
    k = len(classes)
    out = np.full((k, k), np.nan)
    out[np.diag_indices(k)] = 0.0
    names = Variable("class", "discrete", classes)
    for key, value in given.items():
        if isinstance(value, Mapping):
            for called, cost in value.items():
                out[names.code(key), names.code(called)] = finite(cost, "A cost")
        elif isinstance(key, tuple) and len(key) == 2:
            out[names.code(key[0]), names.code(key[1])] = finite(value, "A cost")
        else:
            raise InputError(
                f"Costs are by class and what it was called, got {shown({key: value})}.",
                hint=f"For example {{{classes[0]!r}: {{{classes[-1]!r}: 5}}}}.",
            )
    if np.isnan(out).any():
        i, j = np.argwhere(np.isnan(out))[0].tolist()
        raise InputError(f"There is no cost for calling {classes[i]!r} {classes[j]!r}.")
    return out
