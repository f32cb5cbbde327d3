"""Counting a block: the calls of the native kernels, for each kind of statistic.

Which kernel runs never changes the answer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.schema import Variable
from credo.stats.block import Block
from credo.stats.configurations import frozen, grouped
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.stats.squares import weights_too_small

__all__ = ["Kernel", "Path", "count_dense", "count_moments", "count_sparse", "skipped_weight"]

_LEAST_WEIGHT = 1e-200  # of all rows of a group; of less, squares could vanish
_SMALL = 1e-140  # means and squares below it may be of values whose squares are 0

Kernel = Literal["auto", "popcount", "records", "histogram", "sparse"]
Path = Literal["auto", "avx512", "avx2", "plain"]


def count_dense(
    block: Block,
    positions: _core.FamilyPlan | _core.Sets,
    threads: int,
    kernel: Kernel,
    path: Path,
) -> NDArray[Any]:
    """All dense tables, one after the other; a set is positions of discrete columns."""
    weights: Any = block.weights
    tables: NDArray[Any] = block.native.count_tables(positions, weights, kernel, path, threads)
    return tables


def count_sparse(block: Block, names: Sequence[str]) -> Counts:
    """One table of many cells: only those that were seen."""
    at = {block.schema.variables[i].name: k for k, i in enumerate(block.discrete)}
    where, values = block.native.count_sparse([at[n] for n in names], block.weights)
    variables = tuple(block.schema[n] for n in names)
    gaps = [n for n in names if block.gaps[block.schema.index(n)]]
    skipped = skipped_weight(block.weight, values, gaps)
    return Counts.trusted(variables, frozen(values), skipped, frozen(where))


def skipped_weight(weight: int | float, counts: NDArray[Any], gaps: Collection[str]) -> int | float:
    """The weight of the rows not counted: none, unless a variable has gaps."""
    left: int | float = weight - counts.sum().item() if gaps else 0
    return max(left, 0)


def count_moments(
    block: Block, names: Sequence[str], threads: int
) -> tuple[Moments, dict[str, tuple[float, float]]]:
    """Weight, mean and scatter of the continuous names by configuration of the discrete ones, and
    the range of those whose squares may be too small for floats: all blocks together tell.
    """
    discrete = tuple(block.schema[n] for n in names if block.schema[n].is_discrete)
    continuous = tuple(block.schema[n] for n in names if not block.schema[n].is_discrete)
    group, where = _groups(block, discrete)
    columns = [block.arrays[block.schema.index(v.name)] for v in continuous]
    weights = None if block.weights is None else block.weights.astype(np.float64)
    gaps = [v.name for v in (*discrete, *continuous) if block.gaps[block.schema.index(v.name)]]
    if len(where):
        n, mean, scatter = _core.moments(columns, group, len(where), weights, threads)
    else:  # no row has all of the discrete ones
        n, mean, scatter = (np.zeros((0,) + (len(columns),) * i) for i in range(3))
    seen = n > 0
    if n[seen].min(initial=1.0) < _LEAST_WEIGHT:
        raise weights_too_small(float(n.sum()))
    counted = n.astype(np.int64) if isinstance(block.weight, int) else n
    arrays = (np.ascontiguousarray(where[seen]), n[seen], mean[seen], scatter[seen])
    skipped = skipped_weight(block.weight, counted, gaps)
    made = Moments.made(discrete, continuous, arrays, skipped, checked=False)
    small = (np.abs(made.mean) < _SMALL).all(axis=0)
    small &= (np.diagonal(made.scatter, axis1=1, axis2=2) < _SMALL).all(axis=0)
    return made, {continuous[i].name: _range(columns[i]) for i in np.flatnonzero(small)}


def _range(column: NDArray[np.float64]) -> tuple[float, float]:
    """The least and the greatest number of a column; of none, one that joins any other."""
    there = column[~np.isnan(column)]
    return float(there.min(initial=np.inf)), float(there.max(initial=-np.inf))


def _groups(
    block: Block, discrete: tuple[Variable, ...]
) -> tuple[NDArray[np.uint32] | None, NDArray[np.uint32]]:
    """The group of each row (the number of groups where a cell is missing), and the groups."""
    if not discrete:
        return None, np.zeros((1, 0), dtype=np.uint32)
    codes = [block.arrays[block.schema.index(v.name)] for v in discrete]
    cells = prod(v.arity for v in discrete)
    gone = np.zeros(block.rows, dtype=bool)
    for v, c in zip(discrete, codes, strict=True):
        gone |= c == v.arity
    if cells <= max(4 * block.rows, 65_536):
        group = np.zeros(block.rows, dtype=np.uint32)
        for v, c in zip(discrete, codes, strict=True):
            group *= np.uint32(v.arity)
            group += c.astype(np.uint32)
        group[gone] = cells
        where = np.stack(np.unravel_index(np.arange(cells), [v.arity for v in discrete]), axis=1)
        return group, where.astype(np.uint32)
    matrix = np.stack([c.astype(np.uint32) for c in codes], axis=1)
    unique, inverse = grouped(matrix[~gone])
    group = np.full(block.rows, len(unique), dtype=np.uint32)
    group[~gone] = inverse
    return group, unique
