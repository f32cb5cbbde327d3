"""Cuts with the graph: a column's cuts again, given its Markov blanket.

With the graph fixed, what cuts of X change are the families that X is in (Friedman & Goldszmidt
1996; Chen, Wheeler & Kochenderfer 2017): X given its parents, less its own shares, which the fine
density has; and each child given X. Every term is a sum over intervals, so the best cuts among a
grid of quantiles are found by dynamic programming.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from credo.data import Table
from credo.model.graphs.dag import Dag
from credo.stats.histogram import fine_edges
from credo.train.numbers.densities import FineDensity
from credo.train.numbers.partition import best_partition

__all__ = ["revised_cuts"]

Floats = NDArray[np.float64]
Codes = NDArray[Any]

_GRID = 64  # quantiles among which cuts are looked for
_MOST = 12  # bins of a column
_CELLS = 4096  # of a family, beyond which it says nothing of the cuts
_AT_ONCE = 1 << 18  # numbers held at a time


def revised_cuts(
    name: str, numbers: Floats, fine: FineDensity, dag: Dag, scaled: Table
) -> list[float]:
    """The best cuts of a binned column given the graph, its neighbours as `scaled` has them.

    Where none is worth its price the cuts are those that tell most of another column, so that the
    next search can find an edge.
    """
    cuts, _ = _best_cuts(name, numbers, fine, dag, scaled)
    if cuts:
        return cuts
    others = [n for n in dag.nodes if n != name and n in scaled.schema]
    alone = [_best_cuts(name, numbers, fine, Dag([(name, n)]), scaled) for n in others]
    return max(alone, key=lambda found: found[1], default=([], 0.0))[0]


def _best_cuts(
    name: str, numbers: Floats, fine: FineDensity, dag: Dag, scaled: Table
) -> tuple[list[float], float]:
    """The best cuts given a graph, and what they gain over none."""
    there = ~np.isnan(numbers)
    weights = np.ones(int(there.sum())) if scaled.weights is None else scaled.weights[there]
    weights = np.asarray(weights, np.float64)
    around = fine.resolution / 2
    grid = fine_edges(numbers[there], weights, _GRID)
    if len(fine.atoms):
        near = np.abs(grid[:, None] - fine.atoms).min(axis=1)
        alone = [e for a in fine.atoms for e in (a - around, a + around)]
        grid = np.unique([*grid[near > around * 1.001], *alone])
    cell = np.searchsorted(grid, numbers[there], side="left")
    filled = np.bincount(cell, weights, minlength=len(grid) + 1) > 0
    at = np.flatnonzero(filled)
    if len(at) < 2:
        return [], 0.0
    grid, cell = grid[at[:-1]], np.searchsorted(at, cell)
    size = len(at)
    cost = np.full((size + 1, size + 1), np.inf)
    cost[np.triu_indices(size + 1, 1)] = 0.0
    own, totals = _own(name, dag, scaled, there, weights, cell, size)
    _add(cost, own, lambda n: xlogy(n.sum(axis=-1), n.sum(axis=-1)) - gammaln(n + 1).sum(axis=-1))
    for child in dag.children(name):
        _add_child(cost, name, child, dag, scaled, there, weights, cell, size)

    def price(k: int) -> float:
        return float((gammaln(totals + k) - gammaln(k)).sum() + np.log(k) + k * np.log(size) / 2)

    ends = best_partition(cost, price, _MOST)
    groups = pairwise([0, *ends, size])
    gain = (
        cost[0, size] + price(1) - sum(float(cost[a, b]) for a, b in groups) - price(len(ends) + 1)
    )
    return [float(grid[end - 1]) for end in ends], float(gain)


def _own(
    name: str, dag: Dag, scaled: Table, there: Any, weights: Floats, cell: Codes, size: int
) -> tuple[Floats, Floats]:
    """The weight [cell, configuration of the parents], and of each configuration."""
    context, configurations = _context(dag.parents(name), scaled, there)
    if context is None:
        context, configurations = np.zeros(len(cell), np.intp), 1
    counts = _counted(cell, context, weights, size, configurations)
    return counts, counts.sum(axis=0)


def _add_child(
    cost: Floats,
    name: str,
    child: str,
    dag: Dag,
    scaled: Table,
    there: Any,
    weights: Floats,
    cell: Codes,
    size: int,
) -> None:
    """What the cuts cost a child: its states, or its numbers, given them and its other parents."""
    others = [p for p in dag.parents(child) if p != name]
    states = [p for p in others if scaled.schema[p].is_discrete]
    context, configurations = _context(states, scaled, there)
    if context is None:
        return
    variable = scaled.schema[child]
    if variable.is_discrete:
        r = variable.arity
        y = scaled.codes(child)[there]
        seen = y < r
        if configurations * r > _CELLS:
            return
        counts = _counted(
            cell[seen], context[seen] * r + y[seen], weights[seen], size, configurations * r
        )

        def tables(n: Floats) -> Floats:
            n = n.reshape(*n.shape[:-1], configurations, r)
            out = gammaln(n.sum(axis=-1) + r) - gammaln(r) - gammaln(n + 1).sum(axis=-1)
            return np.asarray(out.sum(axis=-1))

        _add(cost, counts, tables)
        return
    y = _line(scaled, child)[there]
    lines = [p for p in others if not scaled.schema[p].is_discrete]
    y = _residual(y, [_line(scaled, p)[there] for p in lines])
    seen = ~np.isnan(y)
    parts = [
        _counted(cell[seen], context[seen], weights[seen] * power, size, configurations)
        for power in (np.ones(int(seen.sum())), y[seen], y[seen] ** 2)
    ]
    _add(cost, np.concatenate(parts, axis=1), _normals)


def _normals(moments: Floats) -> Floats:
    """−ln P of standardised numbers in each group: one imagined row of the column's own spread."""
    n, s, ss = np.split(moments, 3, axis=-1)
    a, b = 0.5 + n / 2, 0.5 + 0.5 * (ss - s * s / (1 + n))
    out = gammaln(a) - gammaln(0.5) + 0.5 * np.log(0.5) - a * np.log(np.maximum(b, 1e-12))
    out = out - 0.5 * np.log1p(n) - 0.5 * n * np.log(2 * np.pi)
    return -np.asarray(out.sum(axis=-1))


def _residual(y: Floats, lines: Sequence[Floats]) -> Floats:
    """Numbers less what a line in the others tells of them, in units of their spread."""
    seen = ~np.isnan(y)
    for x in lines:
        seen &= ~np.isnan(x)
    out = np.full(len(y), np.nan)
    if seen.sum() < len(lines) + 2:
        return out
    design = np.column_stack([np.ones(int(seen.sum())), *(x[seen] for x in lines)])
    left = y[seen] - design @ np.linalg.lstsq(design, y[seen], rcond=None)[0]
    out[seen] = left / (left.std() or 1.0)
    return out


def _line(scaled: Table, name: str) -> Floats:
    """The numbers of a column as the model has them."""
    out: Floats = scaled.block.arrays[scaled.schema.index(name)]
    return out


def _context(
    names: Sequence[str], scaled: Table, there: Any
) -> tuple[Codes, int] | tuple[None, int]:
    """The configuration of some columns in each row, those seen numbered; None: too many."""
    out = np.zeros(int(there.sum()), np.int64)
    for name in names:
        out = out * (scaled.schema[name].arity + 1) + scaled.codes(name)[there].astype(np.int64)
        different, out = np.unique(out, return_inverse=True)
        if len(different) > _CELLS:
            return None, 0
    return out, int(out.max(initial=0)) + 1


def _counted(cell: Codes, context: Codes, weights: Floats, size: int, wide: int) -> Floats:
    counts = np.bincount(cell * wide + context, weights, minlength=size * wide)
    return counts.reshape(size, wide).astype(np.float64)


def _add(cost: Floats, counts: Floats, of: Callable[[Floats], Floats]) -> None:
    """Add to the cost of each run of cells what its summed statistics cost."""
    below = np.concatenate([np.zeros((1, counts.shape[1])), np.cumsum(counts, axis=0)])
    first, last = np.triu_indices(len(below), 1)
    step = max(_AT_ONCE // counts.shape[1], 1)
    for k in range(0, len(first), step):
        i, j = first[k : k + step], last[k : k + step]
        cost[i, j] += of(below[j] - below[i])
