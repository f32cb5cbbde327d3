"""The fine density of a column, from which its bins answer in numbers.

The edges are those of the histogram of the largest marginal likelihood (`criteria.py`), and the
cuts of the bins. A value that repeats far more than its neighbours (zeros of a count, a round
price) is an interval of its own, as wide as the column's resolution. Outer intervals are uniform
or fall off exponentially, as the rows have it; beyond the last row the density falls off so.

  ln P(x | bins) = Σ_bins [ ln Γ(k) − ln Γ(n+k) + Σ_cells ln Γ(n_c+1) ] − Σ n_c ln w_c − ln C(E, m)

is what the rows say of it, every share of a cell alike beforehand: it pays for its own freedom, so
that bins compare with a Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from credo.core.frozen import Frozen
from credo.core.scales import Bins
from credo.stats.histogram import Histogram, fine_edges
from credo.train.numbers.criteria import best_cuts

__all__ = ["FineDensity", "fine_density", "shape"]

Floats = NDArray[np.float64]

_ATOM = 0.03  # the share of the rows that makes a value that repeats one of its own
_OFTEN = 3.0  # times as often as values do on average
_EDGES = 256  # from which those of the density are chosen


@dataclass(frozen=True, eq=False)
class FineDensity(Frozen):
    """The numbers of a column in rising order, the edges of its density and the values that repeat.

    >>> waits = np.concatenate([np.zeros(400), np.random.default_rng(0).exponential(10, 600)])
    >>> fine = fine_density(waits)
    >>> fine.atoms.tolist(), fine.bins([20.0]).labels
    ([0.0], ('≤ 20', '> 20'))
    """

    values: Floats
    below: Floats  # the weight of all numbers before each, and of all
    edges: Floats
    atoms: Floats
    resolution: float
    beyond: tuple[float, float]  # the mean distance from the outer edges where no row is beyond

    def bins(self, cuts: Sequence[float]) -> Bins:
        """The bins between some cuts; every fine interval keeps half a row."""
        edges, counts = self._cells(cuts)
        of = np.full(len(counts), np.nan)
        of[np.searchsorted(edges, self.atoms, side="left")] = self.atoms
        return Bins(np.asarray(cuts, np.float64), edges, counts + 0.5, of, self._tails(edges))

    def log_marginal(self, cuts: Sequence[float]) -> float:
        """ln P(numbers | their bins), the shares of the fine intervals summed out."""
        edges, n = self._cells(cuts)
        starts = [0, *(int(np.searchsorted(edges, c)) + 1 for c in cuts), len(n)]
        out = -float(n[1:-1] @ np.log(np.diff(edges))) if len(n) > 2 else 0.0
        for at, tail in zip((0, -1), self._tails(edges), strict=True):
            out -= float(n[at]) * (math.log(tail) + 1)
        for a, b in pairwise(starts):
            out += float(gammaln(b - a) - gammaln(n[a:b].sum() + b - a) + gammaln(n[a:b] + 1).sum())
        inside = (self.edges > self.values[0]) & (self.edges < self.values[-1])
        chosen, every = int(inside.sum()), min(len(self.values), _EDGES)
        price = gammaln(every + 1) - gammaln(chosen + 1) - gammaln(max(every - chosen, 0) + 1)
        return out - float(price) - math.log(max(float(self.below[-1]), 2.0))

    def shares(self, bins: int) -> list[float]:
        """Cuts between the values that repeat and into so many bins of like share, at most."""
        around = self.resolution / 2
        alone = [e for a in self.atoms for e in (a - around, a + around)]
        total = float(self.below[-1])
        places = np.searchsorted(self.below[1:], total * np.arange(1, bins) / bins)
        places = np.unique(places[places < len(self.values) - 1])
        even = (self.values[places] + self.values[places + 1]) / 2
        if len(self.atoms) and len(even):
            even = even[np.abs(even[:, None] - self.atoms).min(axis=1) > around * 1.001]
        low, high = self.values[0], self.values[-1]
        return [float(c) for c in np.unique([*alone, *even]) if low <= c < high]

    def _cells(self, cuts: Sequence[float]) -> tuple[Floats, Floats]:
        """The edges with the cuts among them, and the weight in each interval."""
        edges = np.unique(np.concatenate([self.edges, np.asarray(cuts, np.float64)]))
        return edges, np.diff(self._up_to(edges))

    def _up_to(self, edges: Floats) -> Floats:
        at = np.searchsorted(self.values, edges, side="right")
        return np.concatenate([[0.0], self.below[at], self.below[-1:]])

    def _tails(self, edges: Floats) -> tuple[float, float]:
        """The mean distances of the numbers beyond the outer edges from them."""
        n = np.diff(self.below)
        left, right = self.values <= edges[0], self.values > edges[-1]
        low = _mean_distance(edges[0] - self.values[left], n[left]) or self.beyond[0]
        high = _mean_distance(self.values[right] - edges[-1], n[right]) or self.beyond[1]
        return max(low, self.resolution), max(high, self.resolution)


def fine_density(numbers: Floats, weights: NDArray[Any] | None = None) -> FineDensity | None:
    """The fine density of a column; None where fewer than two different numbers are there.

    >>> fine_density(np.array([1.0, 1.0])) is None
    True
    """
    there = np.isfinite(numbers)
    if weights is not None:
        there &= weights > 0
    x = numbers[there]
    n = np.ones(len(x)) if weights is None else weights[there].astype(np.float64)
    values, inverse = np.unique(x, return_inverse=True)
    if len(values) < 2:
        return None
    count = np.bincount(inverse, n)
    resolution = max(float(np.diff(values).min()), 1e-9 * float(values[-1] - values[0]))
    often = max(_ATOM * n.sum(), _OFTEN * n.sum() / len(values), 5.0)
    atoms = values[count >= often]
    found = np.array(best_cuts(Histogram.of(fine_edges(x, n, _EDGES), x, None, 1, n)))
    around = resolution / 2
    if len(atoms) and len(found):
        found = found[np.abs(found[:, None] - atoms).min(axis=1) > around * 1.001]
    edges = np.unique(np.concatenate([found, atoms - around, atoms + around]))
    if len(edges) > 1:  # two values that repeat side by side have an edge in common
        edges = edges[np.concatenate([[True], np.diff(edges) > 0.1 * around])]
    low, high = float(values[0]) - around, float(values[-1])
    inner = edges if len(edges) else np.array([low + (high - low) / 2])
    first, last = values <= inner[0], values > inner[-1]
    left = _mean_distance(inner[0] - values[first], count[first])
    right = _mean_distance(values[last] - inner[-1], count[last])
    ends = []
    if inner[0] - low < math.e * left or not len(edges):  # more probable than exponentially
        ends.append(low)
    if high - inner[-1] < math.e * right or not len(edges):
        ends.append(high)
    edges = np.unique(np.concatenate([edges, ends]))
    below = np.concatenate([[0.0], np.cumsum(count)])
    beyond = (max(left, resolution), max(right, resolution))
    return FineDensity(values, below, edges, atoms, resolution, beyond)


def shape(numbers: Floats, weights: NDArray[Any] | None = None) -> float:
    """What any density could say of a column more than one Gaussian, about or above, in nats:
    N times the negentropy, by distances of neighbours some places apart (Vasicek 1976). Infinite
    where values repeat or rows have weights, which it does not judge.

    >>> x = np.random.default_rng(0).normal(size=500)
    >>> round(shape(x)), round(shape(np.exp(x)))
    (3, 345)
    """
    x = np.sort(numbers[~np.isnan(numbers)])
    n = len(x)
    if weights is not None or n < 5:
        return math.inf
    reach = max(int(math.sqrt(n) / 1.5), 2)
    last = np.minimum(np.arange(n) + reach, n - 1)
    first = np.maximum(np.arange(n) - reach, 0)
    wide = x[last] - x[first]
    if 2 * np.count_nonzero(np.diff(x) == 0) > n or not (wide > 0).all():
        return math.inf
    entropy = float(np.log(n * wide / (last - first)).sum())
    return 0.5 * n * math.log(2 * math.pi * math.e * float(x.var())) - entropy


def _mean_distance(distances: Floats, n: Floats) -> float:
    """The weighted mean of some distances; 0 where there is none."""
    return float(n @ distances / n.sum()) if len(distances) else 0.0
