"""Credible: an interval found by drawing parameters, with the error that the drawing leaves.

    the q-quantile of D sorted draws: x_(qD)
    its error: a quarter of x_(qD + 2s) − x_(qD − 2s),   s² = D q (1 − q)

The rank of the true quantile among D draws is binomial, so the spread of the draws two standard
deviations of ranks to either side tells how far the end may be off, whatever the distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from credo.model.answers.interval import Interval, tails
from credo.model.values.reals import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Credible(Interval):
    """A central credible interval from `draws` draws; `error` is that of its ends.

    >>> interval = Credible.of(np.random.default_rng(0).random(1000), 0.9)
    >>> print(interval)
    0.0660419 to 0.943863 (90 %)
    >>> interval.draws, round(interval.error, 3)
    (1000, 0.01)
    """

    draws: int = 0
    error: Any = 0.0

    @classmethod
    def of(cls, samples: Floats, level: float) -> Credible:
        """The interval of draws along the first axis."""
        ordered = np.sort(samples, axis=0)
        ends, errors = [], []
        for q in tails(level):
            ends.append(_at(ordered, q * (len(ordered) - 1)))
            s = np.sqrt(len(ordered) * q * (1 - q))
            middle = q * (len(ordered) - 1)
            errors.append((_at(ordered, middle + 2 * s) - _at(ordered, middle - 2 * s)) / 4)
        error = np.maximum(*errors)
        return cls(ends[0], ends[1], level, len(ordered), error if error.ndim else float(error))


def _at(ordered: Floats, rank: float) -> Floats:
    """The value at a rank, between two draws where the rank lies between."""
    rank = min(max(rank, 0.0), len(ordered) - 1.0)
    below = int(rank)
    above = min(below + 1, len(ordered) - 1)
    out: Floats = ordered[below] + (rank - below) * (ordered[above] - ordered[below])
    return out
