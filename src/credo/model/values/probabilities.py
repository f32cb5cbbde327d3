"""Probabilities as plain arrays: checked, so that they add up to 1, and drawn from.

p ≥ 0,   Σ p = 1
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.errors import InputError
from credo.model.values.randomness import Rng, generator, size
from credo.model.values.reals import numbers
from credo.model.values.value import readonly

__all__ = ["drawn", "probabilities"]

TOLERANCE = 1e-9
"""Probabilities may miss 1 by this much before they are refused."""


def probabilities(p: ArrayLike, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """Probabilities, checked and divided by their sum, so that they add up to 1.

    >>> probabilities([0.25, 0.75], (2,), "the coin").tolist()
    [0.25, 0.75]
    """
    given = numbers(p, f"The probabilities of {what} must be numbers")
    if given.shape != shape:
        raise InputError(
            f"The probabilities of {what} must have the shape {shape}, got {given.shape}."
        )
    if not np.isfinite(given).all():
        raise InputError(f"The probabilities of {what} must be finite, got {_bad(given)}.")
    if (given < 0).any():
        raise InputError(f"The probabilities of {what} cannot be negative, got {given.min():.6g}.")
    with np.errstate(over="ignore"):
        total = float(given.sum())
    if abs(total - 1.0) > TOLERANCE:
        raise InputError(
            f"The probabilities of {what} must add up to 1, they add up to {total:.10g}.",
            hint="Divide them by their sum if they are weights.",
        )
    if abs(total - 1.0) < 1e-15:  # dividing would only blur numbers that are right
        total = 1.0
    return readonly(np.abs(given) / total)


def _bad(values: NDArray[np.float64]) -> float:
    return float(values[~np.isfinite(values)].flat[0])


def drawn(p: NDArray[np.float64], n: int, rng: Rng) -> NDArray[np.intp]:
    """Positions drawn with the probabilities `p`; a cell of probability zero never comes.

    >>> drawn(np.array([0.0, 1.0]), 3, rng=0).tolist()
    [1, 1, 1]
    """
    edges = np.cumsum(p)
    last = int(np.flatnonzero(p)[-1])
    u = generator(rng).random(size(n)) * edges[-1]
    found: NDArray[np.intp] = np.minimum(np.searchsorted(edges, u, side="right"), last)
    return found
