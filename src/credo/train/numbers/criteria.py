"""What a partition of a number costs: minus the logarithm of its posterior probability.

With a class (MODL; Boullé 2006), K intervals of n_i rows, n_ij of them in class j of J:

    ln N + ln C(N+K−1, K−1)  +  Σ_i [ ln C(n_i+J−1, J−1) + ln n_i! − Σ_j ln n_ij! ]

the number of intervals, their contents, the classes in each, and the rows given those. Without
one, a histogram: uniform within an interval of width w_i, the contents uniform (Dirichlet of ones),
and every choice of K − 1 of the E − 1 edges alike:

    ln C(E−1, K−1) + ln Γ(N+K) − ln Γ(K)  +  Σ_i [ n_i ln w_i − ln n_i! ]
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from credo.stats.histogram import Histogram
from credo.train.numbers.partition import best_partition

__all__ = ["best_cuts", "cost_of"]

Floats = NDArray[np.float64]

_CELLS = 1 << 16  # numbers held at a time
_TABLE = 1 << 20


def best_cuts(histogram: Histogram, most: int | None = None) -> list[float]:
    """The edges of the cheapest partition, by the classes where there are more than one."""
    edges, counts = _joined(histogram.edges, histogram.counts)
    if len(counts) < 2:
        return []
    cost, price = _costs(edges, counts, histogram.low, histogram.high)
    return [float(edges[end - 1]) for end in best_partition(cost, price, most)]


def cost_of(histogram: Histogram, cuts: list[float]) -> float:
    """What a partition at some of the edges costs."""
    edges, counts = histogram.edges, histogram.counts
    cost, price = _costs(edges, counts, histogram.low, histogram.high)
    ends = [0, *(int(np.searchsorted(edges, c)) + 1 for c in cuts), len(counts)]
    inner = sum(float(cost[a, b]) for a, b in pairwise(ends))
    return inner + price(len(ends) - 1)


def _joined(edges: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Without edges that no best partition has: beside an interval without rows, and between two
    whose rows are all of one class (Boullé 2006).
    """
    at = np.flatnonzero(counts.sum(axis=1) > 0)
    edges, counts = edges[at[:-1]], counts[at]
    if counts.shape[1] < 2 or len(counts) < 2:
        return edges, counts
    own = np.where((counts > 0).sum(axis=1) == 1, counts.argmax(axis=1), -1)
    parts = (own[1:] < 0) | (own[1:] != own[:-1])
    return edges[parts], np.add.reduceat(counts, np.flatnonzero(np.r_[True, parts]), axis=0)


def _costs(
    edges: Floats, counts: Floats, low: float, high: float
) -> tuple[Floats, Callable[[int], float]]:
    size, classes = counts.shape
    below = np.concatenate([np.zeros((1, classes)), np.cumsum(counts, axis=0)])
    total = float(below[-1].sum())
    cost = np.full((size + 1, size + 1), np.inf)
    ends = np.concatenate([[low], edges, [high]])
    least = np.finfo(float).tiny + np.spacing(max(abs(low), abs(high)))
    factorial = _log_factorials(counts, total + classes)
    many = max(_CELLS // (size * classes), 1)
    for first in range(0, size, many):  # groups that begin at a few intervals, all of them at once
        rows = slice(first, min(first + many, size))
        inside = np.maximum(below[None, first + 1 :] - below[rows, None], 0.0)
        n = inside.sum(axis=2)
        if classes > 1:
            found = factorial(n + classes - 1) - factorial(classes - 1.0)
            found -= factorial(inside).sum(axis=2)
        else:
            wide = ends[None, first + 1 :] - ends[rows, None]
            found = n * np.log(np.maximum(wide, least)) - factorial(n)
        cost[rows, first + 1 :] = np.where(_after(rows, size), found, np.inf)
    if classes > 1:
        return cost, lambda k: float(np.log(total) + _choose(total + k - 1, k - 1))
    return cost, lambda k: float(_choose(size - 1, k - 1) + gammaln(total + k) - gammaln(k))


def _after(rows: slice, size: int) -> NDArray[np.bool_]:
    """Whether a group that begins at one of the rows ends behind it."""
    ends = np.arange(rows.start + 1, size + 1)
    out: NDArray[np.bool_] = ends[None, :] > np.arange(rows.start, rows.stop)[:, None]
    return out


def _log_factorials(counts: Floats, most: float) -> Callable[[Any], Any]:
    """n ↦ ln n!, from a table where all counts are whole."""
    if most > _TABLE or (counts % 1 != 0).any():
        return lambda n: gammaln(n + 1.0)
    table = gammaln(np.arange(int(most) + 1) + 1.0)
    return lambda n: table[np.asarray(n).astype(np.intp)]


def _choose(n: Floats | float, k: float) -> Floats:
    """ln C(n, k)."""
    out: Floats = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return out
