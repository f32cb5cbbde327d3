"""Rows with gaps among columns that vary together, as EM counts them: by what is expected.

    E[x_m | x_o, c] = μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o)        for each class c
    Cov(x_m | x_o)  = Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om

Each row counts with its share of each class; a gap is filled with its expectation, and its
covariance is added to the scatter (Little & Rubin 2019, 11.2). Leaving such rows out would not
climb the likelihood in which gaps are summed out. A row that shows no column of the group says
nothing.

The climb starts from the cells that are there, each column by itself (Little & Rubin 2019, 11.2.1):
its mean in each class over the rows with that class, over all rows where a class shows none; its
variance within the classes, to which that of all its cells counts as one more row. So a column that
only rows without a class show, or a class that shows it once, starts wide and not at nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.data.columns.columns import Columns
from credo.model.naive_bayes.features import Normals
from credo.stats.by_class import Spread
from credo.stats.configurations import frozen
from credo.train.naive_bayes.rows import numbers_of_column, spreads_by_class

__all__ = ["available_moments", "expected_spread", "group_values"]

Floats = NDArray[np.float64]


def group_values(columns: Columns, names: Sequence[str]) -> Floats:
    """The cells of a group as numbers [row, column], NaN where one is missing."""
    found = [numbers_of_column(n, columns.by_name[n]) for n in names]
    return np.stack([np.asarray(a, dtype=np.float64) for a in found], axis=1)


def expected_spread(f: Normals, x: Floats, share: Floats) -> Spread:
    """The moments that are expected of rows [row, column] with shares [row, class].

    >>> one = np.ones(1)
    >>> f = Normals(("a", "b"), np.zeros((1, 2)), np.array([[[1.0, 0.5], [0.5, 1.0]]]), one, None)
    >>> s = expected_spread(f, np.array([[2.0, np.nan]]), np.ones((1, 1)))
    >>> s.mean.tolist(), s.scatter.tolist()
    ([[2.0, 1.0]], [[[0.0, 0.0], [0.0, 0.75]]])
    """
    k, d = f.mean.shape
    there = ~np.isnan(x)
    total = Spread(f.names, np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d)))
    for seen in np.unique(there, axis=0):
        if not seen.any():
            continue
        rows = (there == seen).all(axis=1)
        n, mean, scatter = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
        for c in range(k):
            w = share[rows, c]
            n[c] = w.sum()
            if not n[c] > 0:
                n[c] = 0.0
                continue
            filled, spare = _filled(x[rows], seen, f.mean[c], f.covariance[c])
            mean[c] = w @ filled / n[c]
            away = filled - mean[c]
            scatter[c] = (w[:, None] * away).T @ away + n[c] * spare
        total = total + Spread(f.names, frozen(n), frozen(mean), frozen(scatter))
    return total


def available_moments(
    names: Sequence[str],
    parts: Iterable[tuple[Columns, NDArray[np.uint32], NDArray[Any] | None]],
    k: int,
    threads: int,
) -> tuple[Floats, Floats]:
    """Means [class, column] and variances [column] to start from; the class k is none.

    >>> from credo.data.columns.columns import Column
    >>> cells = Columns(4, {"a": Column(np.array([0.0, 2.0, 4.0, 6.0]), None)})
    >>> group = np.array([0, 0, 1, 2], dtype=np.uint32)
    >>> mean, variance = available_moments(["a"], [(cells, group, None)], 2, 1)
    >>> mean.ravel().tolist(), variance.tolist()
    ([1.0, 4.0], [1.75])
    """
    found: dict[str, Spread] = {}
    for columns, group, weights in parts:
        w = None if weights is None else weights.astype(np.float64)
        for name, one in spreads_by_class(columns, names, group, k + 1, w, threads).items():
            assert isinstance(one, Spread)
            found[name] = found[name] + one if name in found else one
    means, variances = np.zeros((k, len(names))), np.zeros(len(names))
    for j, name in enumerate(names):
        one = found[name]
        total, middle, around = one.pooled()
        own = one.n[:k]
        means[:, j] = np.where(own > 0, one.mean[:k, 0], middle)
        wide = float(around[0, 0]) / max(total, 1e-300)
        variances[j] = (float(one.scatter[:k].sum()) + wide) / (float(own.sum()) + 1.0)
    return means, variances


def _filled(
    x: Floats, seen: NDArray[np.bool_], mean: Floats, covariance: Floats
) -> tuple[Floats, Floats]:
    """Rows with their gaps as expected, and the covariance of the gaps (0 elsewhere)."""
    filled, spare = x.copy(), np.zeros_like(covariance)
    gone = ~seen
    if gone.any():
        across = covariance[np.ix_(seen, gone)]
        slope = np.linalg.solve(covariance[np.ix_(seen, seen)], across)  # Σ_oo⁻¹ Σ_om
        filled[:, gone] = mean[gone] + (x[:, seen] - mean[seen]) @ slope
        spare[np.ix_(gone, gone)] = covariance[np.ix_(gone, gone)] - across.T @ slope
    return filled, spare
