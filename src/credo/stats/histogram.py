"""Histogram: how many rows fall between fixed edges, for each class; histograms add up.

    n_ij = Σ weight of the rows with  e_{i−1} < x ≤ e_i  and class j

The statistic from which cut points are chosen: fine at first (`fine_edges`), so that every coarser
histogram is a sum of neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.frozen import Frozen

Floats = NDArray[np.float64]

FINE = 1024
"""The most intervals of a fine histogram."""


@dataclass(frozen=True, eq=False)
class Histogram(Frozen):
    """Weights [interval, class] between rising `edges`; the first and last interval are open.

    `low` and `high` are the smallest and the largest number seen.

    >>> one = Histogram.of(np.array([1.5]), np.array([1.0, 2.0, 3.0]))
    >>> (one + one).counts.ravel().tolist(), one.low, one.high
    ([2.0, 4.0], 1.0, 3.0)
    """

    edges: Floats
    counts: Floats
    low: float
    high: float

    @classmethod
    def of(
        cls,
        edges: Floats,
        numbers: Floats,
        classes: NDArray[Any] | None = None,
        arity: int = 1,
        weights: NDArray[Any] | None = None,
    ) -> Histogram:
        """Count numbers; a missing number (NaN) or class (the arity) is left out."""
        there = ~np.isnan(numbers)
        if classes is not None:
            there &= classes < arity
        seen = numbers[there]
        cell = np.searchsorted(edges, seen, side="left") * arity
        if classes is not None:
            cell = cell + classes[there]
        weight = None if weights is None else weights[there].astype(np.float64)
        counts = np.bincount(cell, weight, minlength=(len(edges) + 1) * arity)
        ends = (float(seen.min()), float(seen.max())) if len(seen) else (np.inf, -np.inf)
        return cls(edges, counts.reshape(-1, arity).astype(np.float64), *ends)

    def __add__(self, other: Histogram) -> Histogram:
        if not np.array_equal(self.edges, other.edges) or self.counts.shape != other.counts.shape:
            raise InputError("Histograms add up where their edges and classes are the same.")
        low, high = min(self.low, other.low), max(self.high, other.high)
        return Histogram(self.edges, self.counts + other.counts, low, high)


def fine_edges(numbers: Floats, weights: NDArray[Any] | None = None, most: int = FINE) -> Floats:
    """Edges between neighbouring values; of more than `most`, those that part the rows evenly.

    >>> fine_edges(np.array([3.0, 1.0, 1.0, 2.0])).tolist()
    [1.5, 2.5]
    """
    there = ~np.isnan(numbers)
    if weights is not None:
        there &= weights > 0
    values, inverse = np.unique(numbers[there], return_inverse=True)
    if len(values) < 2:
        return np.empty(0)
    at = np.arange(len(values) - 1)
    if len(values) > most:
        weight = None if weights is None else weights[there].astype(np.float64)
        below = np.cumsum(np.bincount(inverse, weight))[:-1] / np.bincount(inverse, weight).sum()
        at = np.unique(np.searchsorted(below, np.arange(1, most) / most))
        at = at[at < len(values) - 1]
    return np.array([between(a, b) for a, b in zip(values[at], values[at + 1], strict=True)])


def between(low: float, high: float) -> float:
    """A number of few digits near the middle of two, low ≤ it < high.

    >>> between(1.0, 2.0), between(0.123, 0.124), between(38.3, 41.0)
    (1.5, 0.1235, 40.0)
    """
    low, high = float(low), float(high)
    middle = low + (high - low) / 2
    for digits in range(1, 18):
        cut = float(f"{middle:.{digits}g}")
        if low <= cut < high and abs(cut - middle) <= (high - low) / 4:
            return cut
    return low
