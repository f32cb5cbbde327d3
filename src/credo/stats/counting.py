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
from credo.core.schema import Variable
from credo.stats.block import Block
from credo.stats.configurations import frozen, grouped
from credo.stats.counts import Counts
from credo.stats.given import total_of
from credo.stats.moments import Moments
from credo.stats.squares import with_small_squares

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
    return block.native.count_tables(positions, block.weights, kernel, path, threads)


def count_sparse(block: Block, names: Sequence[str]) -> Counts:
    """One table of many cells: only those that were seen."""
    variables = tuple(block.schema[n] for n in names)
    at = {block.schema.variables[i].name: k for k, i in enumerate(block.discrete)}
    positions = [at[n] for n in names]
    where, values = block.native.count_sparse(positions, block.weights)
    gaps = [n for n in names if block.gaps[block.schema.index(n)]]
    skipped = skipped_weight(block.weight, values, gaps)
    return Counts.trusted(variables, frozen(values), skipped, frozen(where))


def skipped_weight(
    weight: int | float, counted: NDArray[Any], gaps: Collection[str]
) -> int | float:
    """The weight of the rows not counted: none, unless a variable has gaps."""
    left: int | float = weight - total_of(counted) if gaps else 0
    return max(left, 0)


def count_moments(block: Block, names: Sequence[str], threads: int) -> Moments:
    """The moments of the continuous names by configuration of the discrete ones; who adds them up
    checks whether floats can hold their squares.
    """
    discrete = tuple(block.schema[n] for n in names if block.schema[n].is_discrete)
    continuous = tuple(block.schema[n] for n in names if not block.schema[n].is_discrete)
    group, where = _groups(block, discrete)
    columns = [block.arrays[block.schema.index(v.name)] for v in continuous]
    weights = None if block.weights is None else block.weights.astype(np.float64)
    gaps = [v.name for v in (*discrete, *continuous) if block.gaps[block.schema.index(v.name)]]
    if not len(where):  # no row has all of the discrete ones
        group, where = np.full(block.rows, 1, np.uint32), np.zeros((1, len(discrete)), np.uint32)
    n, mean, scatter = _core.moments(columns, group, len(where), weights, threads)
    with_small_squares(columns, n, mean, scatter)
    seen = np.flatnonzero(n)
    skipped = skipped_weight(block.weight, n, gaps)
    if isinstance(block.weight, int):
        skipped = int(skipped)
    found = np.ascontiguousarray(where[seen])
    arrays = (found, n[seen], mean[seen], scatter[seen])
    return Moments.trusted(discrete, continuous, arrays, skipped)


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
        cell = np.zeros(block.rows, dtype=np.int64)
        for v, c in zip(discrete, codes, strict=True):
            cell = cell * v.arity + c
        cell[gone] = cells
        seen = np.flatnonzero(np.bincount(cell, minlength=cells + 1)[:cells])
        place = np.full(cells + 1, len(seen), dtype=np.uint32)
        place[seen] = np.arange(len(seen))
        where = np.stack(np.unravel_index(seen, [v.arity for v in discrete]), axis=1)
        return place[cell], where.astype(np.uint32)
    matrix = np.stack([c.astype(np.uint32) for c in codes], axis=1)
    unique, inverse = grouped(matrix[~gone])
    group = np.full(block.rows, len(unique), dtype=np.uint32)
    group[~gone] = inverse
    return group, unique
