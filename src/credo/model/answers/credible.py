"""Credible: an interval found by drawing parameters, with the error that the drawing leaves.

    the q-quantile of D sorted draws: x_(qD)
    its error: a quarter of x_(qD + 2s) − x_(qD − 2s),   s² = D q (1 − q)

The rank of the true quantile among D draws is binomial, so the spread of the draws two standard
deviations of ranks to either side tells how far the end may be off, whatever the distribution.
Draws of a chain are alike where they are near: there s is at least what the shares below the end in
20 stretches of the chain say, s² = D² · variance of the shares / 20 (batch means), times
(1 + r)/(1 − r) where neighbouring stretches still correlate by r.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from credo.model.answers.interval import Interval, tails
from credo.model.values.reals import Floats

_STRETCHES = 20
_ALIKE = 0.3  # a correlation of 20 shares that chance seldom gives


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
    def of(cls, samples: Floats, level: float, chained: bool = False) -> Credible:
        """The interval of draws along the first axis; `chained` ones are in their order."""
        ordered = np.sort(samples, axis=0)
        n = len(ordered)
        ends, errors = [], []
        for q in tails(level):
            ends.append(_at(ordered, q * (n - 1)))
            s: Any = np.sqrt(n * q * (1 - q))
            if chained:
                below = np.array_split(samples <= ends[-1], min(_STRETCHES, n))
                s = np.maximum(s, n * _batch_error(np.stack([b.mean(axis=0) for b in below])))
            middle = q * (n - 1)
            errors.append((_at(ordered, middle + 2 * s) - _at(ordered, middle - 2 * s)) / 4)
        error = np.maximum(*errors)
        return cls(ends[0], ends[1], level, n, error if error.ndim else float(error))


def _batch_error(shares: Floats) -> Floats:
    """The standard error of the mean of shares in stretches of a chain, along the first axis."""
    away = shares - shares.mean(axis=0)
    own = (away**2).sum(axis=0)
    r = (away[1:] * away[:-1]).sum(axis=0) / np.where(own > 0, own, 1.0)
    r = np.where(r > _ALIKE, np.minimum(r, 0.9), 0.0)
    k = len(shares)
    out: Floats = np.sqrt(own / (k * max(k - 1, 1)) * (1 + r) / (1 - r))
    return out


def _at(ordered: Floats, rank: Any) -> Floats:
    """The value at a rank, between two draws where the rank lies between."""
    last = len(ordered) - 1
    rank = np.broadcast_to(np.clip(rank, 0.0, float(last)), ordered.shape[1:])
    below = rank.astype(np.intp)
    low, high = (
        np.take_along_axis(ordered, at[None], axis=0)[0]
        for at in (below, np.minimum(below + 1, last))
    )
    out: Floats = low + (rank - below) * (high - low)
    return out
