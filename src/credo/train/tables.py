"""Tables from counts: every table of a network in one go.

    mean  θ = (α + n) / Σ(α + n)        map  θ = (α + n − 1) / Σ(α + n − 1)        mle  θ = n / Σn

All tables lie one after the other in one flat array, so that a network of a thousand small tables
costs a few passes over it. A row without counts is uniform under maximum likelihood, and so is one
whose posterior is flat under map; both are told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from credo.errors import InputError
from credo.schema import Variable
from credo.stats.counts import Counts

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
    n = np.concatenate([_added(s) for s in specs]).astype(np.float64, copy=False)
    ends = [0, *accumulate(_cells(s) for s in specs)]
    arity = np.array([s.child.arity for s in specs])
    rows = np.diff(ends) // arity
    starts = np.concatenate([[0], np.repeat(arity, rows).cumsum()[:-1]])
    row_ends = [0, *np.cumsum(rows).tolist()]
    width = np.repeat(arity, rows)
    seen = np.add.reduceat(n, starts)
    alpha = np.concatenate(
        [np.zeros(_cells(s)) if s.prior is None else np.ravel(s.prior) for s in specs]
    )
    post = alpha + n
    points = _points(specs, n, post, seen, starts, width, ends)
    with np.errstate(divide="ignore"):
        logs = np.where(n > 0, n * np.log(np.where(n > 0, points, 1.0)), 0.0)
    likelihood = np.add.reduceat(logs, ends[:-1])
    marginal = _log_marginals(alpha, n, starts, row_ends, ends, specs)
    zero = np.add.reduceat((n == 0).astype(np.int64), ends[:-1])
    empty = np.add.reduceat((seen == 0).astype(np.int64), row_ends[:-1])
    out = []
    for i, s in enumerate(specs):
        a, b = ends[i], ends[i + 1]
        shape = tuple(v.arity for v in (*s.parents, s.child))
        unseen = _NONE
        if empty[i]:
            unseen = np.flatnonzero(seen[row_ends[i] : row_ends[i + 1]] == 0)
        out.append(
            Fitted(
                points[a:b].reshape(shape),
                None if s.prior is None else post[a:b].reshape(shape),
                unseen,
                int(zero[i]) - len(unseen) * s.child.arity,
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


def _added(spec: TableSpec) -> NDArray[np.int64] | Floats:
    """The counts of all families that share the table, as one flat array."""
    first, *more = (c.dense().values for c in spec.counts)
    for other in more:
        first = first + other
    out: Floats = first.ravel()
    return out


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
        if s.estimate in ("mean", "map"):
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
    from scipy.special import gammaln

    use = (n > 0) & (alpha > 0)
    cell = np.zeros(len(n))
    cell[use] = gammaln(alpha[use] + n[use]) - gammaln(alpha[use])
    a = np.add.reduceat(alpha, starts)
    total = np.add.reduceat(n, starts)
    row = np.zeros(len(a))
    use = (total > 0) & (a > 0)
    row[use] = gammaln(a[use]) - gammaln(a[use] + total[use])
    sums = np.add.reduceat(cell, ends[:-1]) + np.add.reduceat(row, row_ends[:-1])
    return [None if s.prior is None else float(v) for s, v in zip(specs, sums, strict=True)]
