"""Randomness is explicit: every draw takes `rng`, a whole-number seed or a NumPy generator."""

from __future__ import annotations

import operator

import numpy as np

from credo.errors import InputError

__all__ = ["Rng", "generator", "size"]

Rng = int | np.random.Generator


def generator(rng: Rng) -> np.random.Generator:
    """The generator that `rng` stands for; None is refused, so no draw is ever unseeded.

    >>> generator(0).integers(10) == generator(np.random.default_rng(0)).integers(10)
    np.True_
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, (bool, np.bool_)) or not isinstance(rng, (int, np.integer)) or rng < 0:
        raise InputError(
            f"rng must be a whole-number seed or a numpy.random.Generator, got {rng!r}.",
            hint="Write rng=0 for a repeatable draw.",
        )
    return np.random.default_rng(int(rng))


def size(n: int, what: str = "n") -> int:
    """A number of draws: a whole number, not negative.

    >>> size(3)
    3
    """
    try:
        whole = operator.index(n)
    except TypeError:
        whole = -1
    if whole < 0:
        raise InputError(f"{what} must be a whole number of draws, at least 0, got {n!r}.")
    return whole
