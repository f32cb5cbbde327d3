"""Families of counts: which law, and its parameters, from how often each number came.

The law is Poisson or negative binomial, with extra zeros or without: with a prior the one of the
largest marginal likelihood, without the one of the largest BIC. Sizes r are summed over, or sought,
on ln r, flat between its ends; the other parameters as in `count_posterior.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, logsumexp, xlogy

from credo.core.schema import Variable
from credo.model.networks.count_posterior import (
    CountPosterior,
    CountStatistic,
    log_given_size,
    log_terms,
)
from credo.model.networks.count_table import CountTable
from credo.model.values.learned import Learned
from credo.stats.counts import Counts

__all__ = ["ALONE", "SIZES", "count_log_marginal", "count_score", "fit_counts", "most_likely"]

Floats = NDArray[np.float64]

SIZES = math.log(0.02), math.log(2000.0)
"""The ends of ln r."""

_NODES = 17
_DEEP = 14.0  # nats below the highest that are summed over
_LAWS = 4
_CLEAR = 3.0  # nats by which all rows together speak against extra zeros
_POISSON = np.array([math.inf])

ALONE = 0.5
"""Rows that all are worth to a single configuration: there is nothing to lean on."""


@dataclass(frozen=True)
class _Law:
    """One law: the prior's numbers, nodes of the size with ln weights, and ln P(rows)."""

    mean: float
    share: float | None
    sizes: Floats
    logs: Floats
    height: float


def fit_counts(
    child: Variable, parents: tuple[Variable, ...], observed: Counts, rows: float, learned: Learned
) -> tuple[CountTable, float | None]:
    """The table of a family that counts, and ln P(rows); `rows` are what all are worth to each
    configuration, 0 for maximum likelihood."""
    dense = np.asarray(observed.dense().values, np.float64)
    of = CountStatistic.of(dense)
    if not rows:
        return _most_likely(child, parents, of, learned), None
    rows = rows if len(of.n) > 1 else min(rows, ALONE)
    laws = _laws(of, rows)
    best = max(laws, key=lambda law: law.height)
    weights = np.exp(best.logs - logsumexp(best.logs))
    shape = tuple(p.arity for p in parents)
    n, total, zeros = (a.reshape(shape) for a in (of.n, of.total, of.zeros))
    posterior = CountPosterior(n, total, zeros, best.sizes, weights, rows, best.mean, best.share)
    return CountTable.of_posterior(child, parents, posterior, learned), _summed(laws)


def count_log_marginal(table: NDArray[np.generic], rows: float) -> float:
    """ln P(rows) of a family [configurations, numbers], the law summed out too.

    >>> one = count_log_marginal(np.array([[5, 3, 1, 0]]), 1.0)
    >>> two = count_log_marginal(np.array([[5, 0, 0, 0], [0, 3, 1, 0]]), 1.0)
    >>> two > one  # a parent that tells 0 from more
    True
    """
    return _summed(_laws(CountStatistic.of(np.asarray(table)), rows))


def count_score(table: NDArray[np.generic], rows: float, penalty: float) -> float:
    """The marginal likelihood, or (rows = 0) the largest likelihood less a penalty a parameter."""
    if rows:
        return count_log_marginal(table, rows)
    of = CountStatistic.of(np.asarray(table))
    if not of.n.sum() > 0:
        return -math.inf
    return max(p.height - penalty * p.free for p in _profiles(of))


def _summed(laws: list[_Law]) -> float:
    return float(logsumexp([law.height for law in laws]) - math.log(_LAWS))


def _laws(of: CountStatistic, rows: float) -> list[_Law]:
    """The laws; configurations lean on the mean and the share of extra zeros of all.

    Parents explain zeros, so of rows that show no extra ones when taken together none are sought.
    """
    pooled = of.pooled
    one = tuple(float(a[0]) for a in (pooled.n, pooled.total, pooled.zeros))
    mean, extra = _pooled(*one, of.often.tobytes())
    laws = [_poisson(of, rows, mean, None), _negative(of, rows, mean, None)]
    price = 0.5 * math.log(max(one[0], 2.0))  # of a share that is taken from the rows
    for law, (share, centre) in extra:
        found = (_poisson if law == "poisson" else _negative)(of, rows, centre, share)
        laws.append(replace(found, height=found.height - price))
    return laws


@lru_cache(maxsize=256)
def _pooled(
    n: float, total: float, zeros: float, often: bytes
) -> tuple[float, tuple[tuple[str, tuple[float, float]], ...]]:
    """The mean of all rows, and the share of extra zeros and the mean of the others by each law
    whose rows show some."""
    one = np.array([[n], [total], [zeros]])
    of = CountStatistic(one[0], one[1], one[2], np.frombuffer(often))
    mean = (total + 0.5) / (n + 1)
    vague = max((total + 0.5) / (n - zeros + 1), mean)
    out = []
    for name, law in (("poisson", _poisson), ("negative", _negative)):
        with_zeros = law(of, 1.0, vague, 0.5)
        if with_zeros.height > law(of, 1.0, mean, None).height - _CLEAR:
            out.append((name, _centre(of, with_zeros)))
    return mean, tuple(out)


def _centre(of: CountStatistic, law: _Law) -> tuple[float, float]:
    """The share of extra zeros among all rows, and the mean of the others."""
    n, s, zeros = float(of.n[0]), float(of.total[0]), float(of.zeros[0])
    assert law.share is not None
    z, log = log_terms(law.sizes, n, s, zeros, 1.0, law.mean, law.share)
    log = law.logs[:, None] + log - logsumexp(log, axis=1, keepdims=True)
    w = np.exp(log - log.max())
    w = w.sum(axis=0) / w.sum()
    share = float(w @ ((0.5 + z) / (1 + n)))
    return share, float(w @ ((law.mean + s) / (1 + n - z)))


def _poisson(of: CountStatistic, rows: float, mean: float, share: float | None) -> _Law:
    height = log_given_size(of, _POISSON, rows, mean, share)
    return _Law(mean, share, _POISSON, np.zeros(1), float(height[0]))


def _negative(of: CountStatistic, rows: float, mean: float, share: float | None) -> _Law:
    x, logs = _integrated(lambda x: log_given_size(of, np.exp(x), rows, mean, share))
    height = float(logsumexp(logs)) - math.log(SIZES[1] - SIZES[0])
    return _Law(mean, share, np.exp(x), logs, height)


def _integrated(log_of: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
    """Nodes where a function of ln r is high, and ln of what each adds to its integral."""
    x = np.linspace(*SIZES, _NODES)
    while True:
        log = log_of(x)
        near = np.flatnonzero(log > log.max() - _DEEP)
        low, high = max(near[0] - 1, 0), min(near[-1] + 1, len(x) - 1)
        wide = np.full(len(x), x[1] - x[0])
        wide[[0, -1]] /= 2
        if high - low > _NODES // 2:
            return x, log + np.log(wide)
        x = np.linspace(x[low], x[high], _NODES)


# --- maximum likelihood -------------------------------------------------------------------


@dataclass(frozen=True)
class _Profile:
    """The most likely parameters of one law."""

    mean: Floats
    size: float
    share: Floats
    height: float
    free: float


def _most_likely(
    child: Variable, parents: tuple[Variable, ...], of: CountStatistic, learned: Learned
) -> CountTable:
    """By maximum likelihood, the law by BIC; a configuration without rows is like all."""
    half = 0.5 * math.log(max(float(of.n.sum()), 2.0))
    best = max(_profiles(of), key=lambda p: p.height - half * p.free)
    shape = tuple(p.arity for p in parents)
    mean, share = _like_all(of, best.mean, best.share)
    return CountTable.of_law(
        child, parents, mean.reshape(shape), best.size, share.reshape(shape), learned
    )


def _like_all(of: CountStatistic, mean: Floats, share: Floats) -> tuple[Floats, Floats]:
    """The same, of configurations without rows those of all."""
    w, empty = of.n / of.n.sum(), of.n == 0
    return np.where(empty, w @ mean, mean), np.where(empty, w @ share, share)


def _profiles(of: CountStatistic) -> list[_Profile]:
    out = []
    for extra in (False, True):
        each = float((2 if extra else 1) * len(of.n))
        mean, share, height = _means(of, math.inf, extra)
        out.append(_Profile(mean, math.inf, share, height, each))
        size = _best_size(of, extra)
        mean, share, height = _means(of, size, extra)
        out.append(_Profile(mean, size, share, height, each + 1))
    return out


def most_likely(of: CountStatistic) -> tuple[Floats, float, Floats]:
    """The most likely means, size and shares of extra zeros; without rows those of all.

    >>> mean, size, share = most_likely(CountStatistic.of(np.array([[9, 1, 2, 3, 2, 1, 0]])))
    >>> mean.round(2).tolist(), share.round(2).tolist()
    ([2.82], [0.47])
    """
    size = _best_size(of, True)
    mean, share, _ = _means(of, size, True)
    mean, share = _like_all(of, mean, share)
    return mean, size, share


def _best_size(of: CountStatistic, extra: bool) -> float:
    def deep(x: float) -> float:
        return -_means(of, math.exp(x), extra)[2]

    grid = np.linspace(*SIZES, _NODES)
    at = int(np.argmin([deep(x) for x in grid]))
    bounds = grid[max(at - 1, 0)], grid[min(at + 1, _NODES - 1)]
    found = minimize_scalar(deep, bounds=bounds, method="bounded", options={"xatol": 1e-7})
    return math.exp(float(found.x))


def _means(of: CountStatistic, size: float, extra: bool) -> tuple[Floats, Floats, float]:
    """The most likely means and shares of extra zeros given the size, and ln P(rows)."""
    n = np.maximum(of.n, 1e-300)
    mean, share = np.asarray(of.total / n), np.zeros(len(n))
    shown = (of.zeros / n > np.exp(_zero(mean, size))) & (of.total > 0)
    if extra and shown.any():
        # zeros are matched whatever the mean, which is then that of the numbers above 0:
        # μ/(1 − P(0)) = s/(n − n₀), and rises with μ
        beyond = of.total[shown] / np.maximum(of.n - of.zeros, 1e-300)[shown]
        mean[shown] = _above_zero(mean[shown], beyond, size)
        none = np.exp(_zero(mean[shown], size))
        share[shown] = np.clip((of.zeros / n)[shown] - none, 0.0, 1.0) / np.maximum(
            1 - none, 1e-300
        )
    x = np.flatnonzero(of.often).astype(np.float64)
    rising = 0.0 if math.isinf(size) else gammaln(x + size) - gammaln(size)
    height = float(of.often[of.often != 0] @ (rising - gammaln(x + 1)))
    rest = of.n - of.zeros
    more = xlogy(of.total, mean) if math.isinf(size) else of.total * _odds(mean, size)
    height += float((more + rest * _zero(mean, size)).sum())
    with np.errstate(divide="ignore"):
        zero = np.log(np.maximum(share + (1 - share) * np.exp(_zero(mean, size)), 1e-300))
        height += float((of.zeros * zero + xlogy(rest, 1 - share)).sum())
    return mean, share, height


def _above_zero(low: Floats, above: Floats, size: float) -> Floats:
    """The means of laws whose numbers above 0 have the means `above`: Newton's steps between ends
    that close in on it."""
    high, mean = above, (low + above) / 2
    for _ in range(60):
        log = _zero(mean, size)
        there, slope = -np.expm1(log), np.exp(log) / (1.0 if math.isinf(size) else 1 + mean / size)
        off = mean - there * above
        low, high = np.where(off > 0, low, mean), np.where(off > 0, mean, high)
        step = mean - off / (1 - slope * above)
        inside = (step > low) & (step < high)
        new = np.where(inside, step, (low + high) / 2)
        if (np.abs(new - mean) <= 1e-15 * above).all():
            break
        mean = new
    return mean


def _zero(mean: Floats, size: float) -> Floats:
    """ln P(0) of the law."""
    return -mean if math.isinf(size) else -size * np.log1p(mean / size)


def _odds(mean: Floats, size: float) -> Floats:
    """ln μ/(r + μ); 0 where nothing came."""
    with np.errstate(divide="ignore"):
        return np.where(mean > 0, -np.log1p(size / np.maximum(mean, 1e-300)), 0.0)
