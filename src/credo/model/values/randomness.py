"""Randomness is explicit: every draw takes `rng`, a whole-number seed or a NumPy generator."""

from __future__ import annotations

import operator

import numpy as np

from credo.core.errors import InputError, LimitError
from credo.model.values.reals import shown

__all__ = ["MAX_DRAWS", "Rng", "generator", "size"]

Rng = int | np.random.Generator

MAX_DRAWS = 1_000_000_000
"""At most this many draws at once."""


def generator(rng: Rng) -> np.random.Generator:
    """The generator that `rng` stands for; None is refused, so no draw is ever unseeded.

    >>> generator(0).integers(10) == generator(np.random.default_rng(0)).integers(10)
    np.True_
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, (bool, np.bool_)) or not isinstance(rng, (int, np.integer)) or rng < 0:
        raise InputError(
            f"rng must be a whole-number seed or a numpy.random.Generator, got {shown(rng)}.",
            hint="Write rng=0 for a repeatable draw.",
        )
    return np.random.default_rng(int(rng))


def size(n: int, what: str = "n", most: int = MAX_DRAWS) -> int:
    """A number of draws: a whole number, not negative, and not too many to keep.

    >>> size(3)
    3
    """
    try:
        whole = operator.index(n)
    except Exception:  # whatever a foreign __index__ raises
        whole = -1
    if whole < 0 or isinstance(n, (bool, np.bool_)):
        raise InputError(f"{what} must be a whole number of draws, at least 0, got {shown(n)}.")
    if whole > most:
        raise LimitError(f"{what} must be at most {most:,} draws, got {shown(whole)}.")
    return whole
