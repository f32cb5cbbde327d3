"""Tables from counts: every table of a network in one go.

    mean  θ = (α + n) / Σ(α + n)        map  θ = (α + n − 1) / Σ(α + n − 1)        mle  θ = n / Σn

All tables lie one after the other in one flat array, so that a network of a thousand small tables
costs a few passes over it. A row without counts is uniform under maximum likelihood, and so is one
whose posterior is flat under map; both are told.

A table with far more rows than were seen (parents with many states) takes part with its seen rows
and one that stands for all others, which are alike; it is spread out to its full size at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.model.distributions.log_rising import log_rising
from credo.stats.counts import Counts
from credo.train.parameters.ordered import smooth_neighbours

__all__ = ["Fitted", "TableSpec", "fit_tables", "table_log_likelihood"]

Floats = NDArray[np.float64]

_NONE = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True)
class TableSpec:
    """One table to be learned: the counts of the families that share it, and their prior."""

    child: Variable
    parents: tuple[Variable, ...]
    counts: tuple[Counts, ...]
    prior: Floats | None
    estimate: str


@dataclass(frozen=True)
class Fitted:
    """One table learned: its entries, its posterior pseudo-counts, and what the counts showed."""

    values: Floats
    posterior: Floats | None
    unseen: NDArray[np.intp]  # rows without counts
    zeros: int  # cells without counts in the rows that have some
    log_likelihood: float
    log_marginal: float | None


def fit_tables(specs: Sequence[TableSpec]) -> list[Fitted]:
    """Learn all tables."""
    if not specs:
        return []
    parts = [_part(s) for s in specs]
    n = np.concatenate([p.n for p in parts]).astype(np.float64, copy=False)
    ends = [0, *accumulate(len(p.n) for p in parts)]
    arity = np.array([s.child.arity for s in specs])
    rows = np.diff(ends) // arity
    starts = np.concatenate([[0], np.repeat(arity, rows).cumsum()[:-1]])
    row_ends = [0, *np.cumsum(rows).tolist()]
    width = np.repeat(arity, rows)
    seen = np.add.reduceat(n, starts)
    alpha = np.concatenate([p.alpha for p in parts])
    post = alpha + n
    for i, s in enumerate(specs):
        if s.estimate == "ordered":
            own = slice(ends[i], ends[i + 1])
            seen_here, imagined = (x[own].reshape(-1, s.child.arity) for x in (n, alpha))
            post[own] = smooth_neighbours(seen_here, imagined).ravel()
    points = _points(specs, n, post, seen, starts, width, ends)
    with np.errstate(divide="ignore"):
        logs = np.where(n > 0, n * np.log(np.where(n > 0, points, 1.0)), 0.0)
    likelihood = np.add.reduceat(logs, ends[:-1])
    marginal = _log_marginals(alpha, n, starts, row_ends, ends, specs)
    zero = np.add.reduceat((n == 0).astype(np.int64), ends[:-1])
    empty = np.add.reduceat((seen == 0).astype(np.int64), row_ends[:-1])
    out = []
    for i, (s, part) in enumerate(zip(specs, parts, strict=True)):
        a, b = ends[i], ends[i + 1]
        shape = tuple(v.arity for v in (*s.parents, s.child))
        unseen = _NONE
        if empty[i]:
            unseen = part.spread_rows(seen[row_ends[i] : row_ends[i + 1]] == 0)
        out.append(
            Fitted(
                part.spread(points[a:b], s.child.arity).reshape(shape),
                None if s.prior is None else part.spread(post[a:b], s.child.arity).reshape(shape),
                unseen,
                int(zero[i]) - int(empty[i]) * s.child.arity,
                float(likelihood[i]),
                marginal[i],
            )
        )
    return out


def table_log_likelihood(counts: Counts, values: Floats) -> float:
    """Σ n ln θ of one family; −inf where a cell of probability 0 was seen."""
    n = counts.dense().values
    seen = n > 0
    with np.errstate(divide="ignore"):
        return float((n[seen] * np.log(values[seen])).sum())


def _cells(spec: TableSpec) -> int:
    out = spec.child.arity
    for parent in spec.parents:
        out *= parent.arity
    return out


@dataclass(frozen=True)
class _Part:
    """The counts and pseudo-counts of one table, flat: of all its rows, or of those seen.

    `at` are the rows that were seen; the last row here then stands for all `rows` others.
    """

    n: NDArray[Any]
    alpha: Floats
    at: NDArray[np.intp] | None = None
    rows: int = 0

    def spread(self, found: Floats, arity: int) -> Floats:
        """The numbers of all rows."""
        if self.at is None:
            return found
        short = found.reshape(-1, arity)
        out: Floats = np.empty((self.rows, arity))
        out[:] = short[-1]
        out[self.at] = short[:-1]
        return out

    def spread_rows(self, which: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The places of the rows that are marked."""
        if self.at is None:
            return np.flatnonzero(which)
        marked = np.full(self.rows, which[-1])
        marked[self.at] = which[:-1]
        return np.flatnonzero(marked)


def _part(spec: TableSpec) -> _Part:
    """What all families that share the table were counted to be, and the prior beside it."""
    rows = _cells(spec) // spec.child.arity
    if all(c.configurations is not None for c in spec.counts) and _rows_alike(spec.prior):
        short = _seen_only(spec, rows)
        if short is not None:
            return short
    first, *more = (c.dense().values for c in spec.counts)
    for other in more:
        first = first + other
    prior = np.zeros(first.size) if spec.prior is None else np.ravel(spec.prior)
    return _Part(first.ravel(), prior)


def _rows_alike(prior: Floats | None) -> bool:
    """Whether the pseudo-counts are a view of one row, the same for all parents' states."""
    return prior is None or not any(prior.strides[:-1])


def _seen_only(spec: TableSpec, rows: int) -> _Part | None:
    """The rows that were seen and one more, where those are few."""
    arity = spec.child.arity
    where, counts = [], []
    for c in spec.counts:
        assert c.configurations is not None
        where.append(np.ravel_multi_index(tuple(c.configurations.T.astype(np.intp)), c.shape))
        counts.append(c.values)
    flat = np.concatenate(where)
    at, row = np.unique(flat // arity, return_inverse=True)
    if 2 * (len(at) + 1) > rows:
        return None
    n = np.zeros((len(at) + 1, arity), dtype=np.result_type(*counts))
    np.add.at(n, (row.ravel(), flat % arity), np.concatenate(counts))
    alpha = np.zeros(arity)
    if spec.prior is not None:
        alpha = spec.prior[(0,) * len(spec.parents)]
    return _Part(n.ravel(), np.tile(alpha, len(n)), at, rows)


def _points(
    specs: Sequence[TableSpec],
    n: Floats,
    post: Floats,
    seen: Floats,
    starts: NDArray[np.intp],
    width: NDArray[np.intp],
    ends: list[int],
) -> Floats:
    """The entries: of each table by its own estimate."""
    weights = n.copy()
    for i, s in enumerate(specs):
        if s.estimate in ("mean", "map", "ordered"):
            part = slice(ends[i], ends[i + 1])
            weights[part] = post[part]
            if s.estimate == "map":
                weights[part] -= 1.0
                _refuse_no_mode(s, weights[part])
    total = np.add.reduceat(weights, starts)
    flat = total <= 0
    if flat.any():
        total = np.where(flat, width, total)
        weights = np.where(np.repeat(flat, width), 1.0, weights)
    out: Floats = weights / np.repeat(total, width)
    return out


def _refuse_no_mode(spec: TableSpec, weights: Floats) -> None:
    if (weights < 0).any() and spec.child.arity > 1:
        at = int(np.argmin(weights))
        state = spec.child.states[at % spec.child.arity]
        raise InputError(
            f"The posterior of the table of {spec.child.name!r} has no mode: a pseudo-count of "
            f"{state!r} is {weights[at] + 1:.4g}, below 1, so the density grows without bound.",
            hint="Use estimate='mean', or a prior of 1 or more a cell, such as cr.Laplace(1).",
        )


def _log_marginals(
    alpha: Floats,
    n: Floats,
    starts: NDArray[np.intp],
    row_ends: list[int],
    ends: list[int],
    specs: Sequence[TableSpec],
) -> list[float | None]:
    """ln p(rows) with the tables integrated out: Γ ratios, row by row."""
    if all(s.prior is None for s in specs):
        return [None] * len(specs)
    use = (n > 0) & (alpha > 0)
    cell = np.zeros(len(n))
    cell[use] = log_rising(alpha[use], n[use])
    a = np.add.reduceat(alpha, starts)
    total = np.add.reduceat(n, starts)
    row = np.zeros(len(a))
    use = (total > 0) & (a > 0)
    row[use] = -log_rising(a[use], total[use])
    sums = np.add.reduceat(cell, ends[:-1]) + np.add.reduceat(row, row_ends[:-1])
    return [None if s.prior is None else float(v) for s, v in zip(specs, sums, strict=True)]
