"""A block of encoded rows, and the one pass that turns it into statistics.

A discrete column is an array of state codes (the arity stands for missing), a continuous one
an array of floats (NaN for missing). Counting goes through the native kernels; which kernel
runs never changes the answer.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.errors import LimitError
from credo.schema import Schema, Variable
from credo.stats.configurations import frozen, grouped
from credo.stats.counts import MAX_CELLS, Counts
from credo.stats.family import Family, families_of
from credo.stats.moments import Moments
from credo.stats.rows import Rows
from credo.stats.tally import Statistic, Tally

__all__ = ["Block", "tally_block"]

_DENSE_CELLS = 1 << 20  # up to this many cells a table is dense whatever the number of rows
_COMPACT_ROWS = 50_000  # below this many rows, gathering equal rows is not worth a thought
_COMPACT_GAIN = 16  # popcounting raw rows is about this much faster per row than adding weights


@dataclass(frozen=True, eq=False)
class Block:
    """Encoded rows: one array per variable, and weights if the rows have any."""

    schema: Schema
    arrays: tuple[NDArray[Any], ...]
    weights: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "arrays", tuple(frozen(a) for a in self.arrays))
        if self.weights is not None:
            object.__setattr__(self, "weights", frozen(self.weights))

    @property
    def rows(self) -> int:
        """The number of rows in memory."""
        return len(self.arrays[0]) if self.arrays else 0

    @property
    def weight(self) -> int | float:
        """The weight of all rows: their number when they have no weights."""
        if self.weights is None:
            return self.rows
        weight: int | float = self.weights.sum().item()
        return weight

    @cached_property
    def discrete(self) -> tuple[int, ...]:
        """The positions of the discrete variables."""
        return tuple(i for i, v in enumerate(self.schema.variables) if v.is_discrete)

    @cached_property
    def gaps(self) -> tuple[bool, ...]:
        """Whether each variable has missing cells."""
        return tuple(
            bool((a == v.arity).any()) if v.is_discrete else bool(np.isnan(a).any())
            for v, a in zip(self.schema.variables, self.arrays, strict=True)
        )

    @cached_property
    def native(self) -> _core.Columns:
        """The discrete columns as the kernels see them; bitmaps are built there on demand."""
        return _core.Columns(
            [self.arrays[i] for i in self.discrete],
            [self.schema.variables[i].arity for i in self.discrete],
            [self.gaps[i] for i in self.discrete],
        )

    @cached_property
    def compact(self) -> Block | None:
        """The same rows gathered into weighted unique ones, if they are few enough to pay."""
        if self.weights is not None or len(self.discrete) < len(self.arrays):
            return None
        if self.rows < _COMPACT_ROWS or not self._sample_repeats():
            return None
        limit = self.rows // _COMPACT_GAIN
        found = self.native.unique(list(range(len(self.discrete))), None, limit)
        if found is None:
            return None
        first, weight = found
        return Block(self.schema, tuple(a[first] for a in self.arrays), weight)

    def _sample_repeats(self) -> bool:
        """Whether equal rows are common among a few thousand spread over the block."""
        step = max(self.rows // 4096, 1)
        sample = np.stack([self.arrays[i][::step][:4096] for i in self.discrete], axis=1)
        unique, _ = grouped(sample)
        return len(unique) * 4 < len(sample)

    def unique(self) -> Rows:
        """The weighted unique rows over the discrete variables."""
        return Rows.of(
            [self.schema.variables[i] for i in self.discrete],
            [self.arrays[i] for i in self.discrete],
            self.weights,
        )


def tally_block(
    block: Block,
    families: Any,
    *,
    threads: int | None = None,
    kernel: str = "auto",
    path: str = "auto",
    total_rows: int | None = None,
) -> Tally:
    """Count the families in one pass. `total_rows` is given when the block is part of more."""
    wanted = families_of(families)
    rows = block.rows if total_rows is None else total_rows
    threads = threads or os.cpu_count() or 1
    sets: dict[frozenset[str], list[Family]] = {}
    for family in wanted:
        for name in family.names:
            block.schema.index(name)  # an unknown name is refused here
        sets.setdefault(frozenset(family.names), []).append(family)
    found: dict[Family, Statistic] = {}
    dense, sparse, mixed = _sorted_by_storage(block, sets, rows)
    if dense:
        _refuse_too_many_cells(block, dense)
        for names, counts in _count_dense(block, dense, threads, kernel, path).items():
            for family in sets[names]:
                found[family] = counts.marginal(family.names)
    for names in sparse:
        counts = _count_sparse(block, sets[names][0])
        for family in sets[names]:
            found[family] = counts.marginal(family.names)
    for names in mixed:
        moments = _moments(block, sets[names][0].names, threads)
        for family in sets[names]:
            found[family] = moments.marginal(family.names)
    return Tally({f: found[f] for f in wanted}, block.weight)


NameSet = frozenset[str]


def _sorted_by_storage(
    block: Block, sets: dict[NameSet, list[Family]], rows: int
) -> tuple[list[NameSet], list[NameSet], list[NameSet]]:
    dense: list[NameSet] = []
    sparse: list[NameSet] = []
    mixed: list[NameSet] = []
    for names in sets:
        variables = [block.schema[n] for n in names]
        if not all(v.is_discrete for v in variables):
            mixed.append(names)
        elif prod(v.arity for v in variables) <= max(4 * rows, _DENSE_CELLS):
            dense.append(names)
        else:
            sparse.append(names)
    return dense, sparse, mixed


def _refuse_too_many_cells(block: Block, dense: Sequence[NameSet]) -> None:
    cells = sum(prod(block.schema[n].arity for n in names) for names in dense)
    if cells > MAX_CELLS:
        raise LimitError(
            f"The {len(dense):,} tables asked for would have {cells:,} cells together; "
            f"at most {MAX_CELLS:,} are allowed.",
            hint="Tally fewer families at a time.",
        )


def _count_dense(
    block: Block, dense: Sequence[NameSet], threads: int, kernel: str, path: str
) -> dict[NameSet, Counts]:
    """All dense tables from one call of the kernels."""
    if kernel == "auto" and len(dense) >= 16 and block.compact is not None:
        block = block.compact
    at = {block.schema.variables[i].name: k for k, i in enumerate(block.discrete)}
    # Variables that many sets share come first, so that the kernel's prefixes are shared.
    often = Counter(n for names in dense for n in names)
    orders = [sorted(names, key=lambda n: (-often[n], at[n])) for names in dense]
    tables = block.native.count(
        [[at[n] for n in order] for order in orders], block.weights, kernel, path, threads
    )
    weight = block.weight
    out = {}
    for names, order, table in zip(dense, orders, tables, strict=True):
        variables = tuple(block.schema[n] for n in order)
        gaps = any(block.gaps[block.schema.index(n)] for n in order)
        skipped = weight - table.sum().item() if gaps else 0
        values = table.reshape([v.arity for v in variables])
        out[names] = Counts(variables, values, None, skipped)
    return out


def _count_sparse(block: Block, family: Family) -> Counts:
    """One table of many cells: only those that were seen."""
    at = {block.schema.variables[i].name: k for k, i in enumerate(block.discrete)}
    where, values = block.native.count_sparse([at[n] for n in family.names], block.weights)
    variables = tuple(block.schema[n] for n in family.names)
    return Counts(variables, values, where, block.weight - values.sum().item())


def _moments(block: Block, names: Sequence[str], threads: int) -> Moments:
    """Weight, mean and scatter of the continuous names by configuration of the discrete ones."""
    discrete = tuple(block.schema[n] for n in names if block.schema[n].is_discrete)
    continuous = tuple(block.schema[n] for n in names if not block.schema[n].is_discrete)
    group, where = _groups(block, discrete)
    columns = [block.arrays[block.schema.index(v.name)] for v in continuous]
    weights = None if block.weights is None else block.weights.astype(np.float64)
    n, mean, scatter = _core.moments(columns, group, len(where), weights, threads)
    seen = n > 0
    return Moments(
        discrete,
        continuous,
        np.ascontiguousarray(where[seen]),
        n[seen],
        mean[seen],
        scatter[seen],
        _whole(block.weight - float(n.sum()), block),
    )


def _whole(weight: float, block: Block) -> int | float:
    """A weight of rows as the integer it is, unless the rows have fractional weights."""
    fractional = block.weights is not None and block.weights.dtype.kind == "f"
    return max(weight, 0.0) if fractional else round(weight)


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
