"""Some variables of an elliptical distribution become known: what is left of the others.

With the known ones first, Σ = L Lᵀ and L = [[L₁₁, 0], [L₂₁, L₂₂]],

    w = L₁₁⁻¹ (x₁ − μ₁),   μ₂|₁ = μ₂ + L₂₁ w,   Σ₂|₁ = L₂₂ L₂₂ᵀ

so that nothing is subtracted, and no variance can come out below 0. A Student t with ν degrees of
freedom has ν + d₁ of them then, and its shape is Σ₂|₁ (ν + |w|²) / (ν + d₁).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, shown, unknown_name
from credo.model.distributions.elliptical import column_names, factor
from credo.model.values.value import finite

__all__ = ["Left", "conditioned", "places"]

Floats = NDArray[np.float64]


class Left(NamedTuple):
    """What is left: names, centre and covariance; how many are known, and how far off they lie."""

    names: tuple[str, ...]
    centre: Floats
    covariance: Floats
    known: int
    distance: float


def places(names: Any, known: Sequence[str]) -> list[int]:
    """Where variables stand among the names, for one name or several different ones.

    >>> places(["c", "a"], ("a", "b", "c")), places("b", ("a", "b"))
    ([2, 0], [1])
    """
    wanted = column_names(names)
    if not wanted:
        raise InputError(
            f"Name at least one variable, got {shown(names)}.", hint=f"There are {list(known)}."
        )
    for name in wanted:
        if name not in known:
            raise unknown_name("Variable", name, known, "in the distribution")
    return [list(known).index(name) for name in wanted]


def conditioned(
    values: Any, names: tuple[str, ...], centre: Floats, covariance: Floats, what: str
) -> Left:
    """What is left of the other variables when some have these values.

    >>> two = np.array([[4.0, 2.0], [2.0, 2.0]])
    >>> left = conditioned({"a": 2.0}, ("a", "b"), np.zeros(2), two, "The covariance")
    >>> left.names, left.centre.tolist(), left.covariance.round(9).tolist()
    (('b',), [1.0], [[1.0]])
    """
    from scipy.linalg import solve_triangular

    if not isinstance(values, Mapping):
        raise InputError(
            f"What is known is given by a mapping from name to value, got {shown(values)}.",
            hint=f"Write given({{{names[0]!r}: 1.0}}).",
        )
    first = places(list(values), names) if values else []
    rest = [i for i in range(len(names)) if i not in first]
    if not rest:
        raise InputError(
            "Every variable is known, so that nothing is left.",
            hint="Leave out the one that is asked for, or ask logpdf(…) for the density.",
        )
    at = np.array([finite(v, f"The value of {n!r}") for n, v in values.items()])
    order = [*first, *rest]
    root = factor(covariance[np.ix_(order, order)], [names[i] for i in order], what)
    k = len(first)
    below = root[k:, k:]
    left = tuple(names[i] for i in rest)
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is refused where it is
        w = solve_triangular(root[:k, :k], at - centre[first], lower=True) if k else at
        moved: Floats = centre[rest] + root[k:, :k] @ w
        return Left(left, moved, below @ below.T, k, float(w @ w))
