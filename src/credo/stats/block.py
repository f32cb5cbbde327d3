"""A block of encoded rows, and the one pass that turns it into statistics.

A discrete column is an array of state codes (the arity stands for missing), a continuous one
an array of floats (NaN for missing). Counting goes through the native kernels; which kernel
runs never changes the answer.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.errors import LimitError, TableError
from credo.schema import Schema, Variable
from credo.stats.configurations import frozen, grouped
from credo.stats.counts import MAX_CELLS, Counts
from credo.stats.family import Family, families_of
from credo.stats.moments import Moments
from credo.stats.rows import Rows
from credo.stats.tally import Statistic, Tally

__all__ = ["Block", "Plan", "tally_block"]

Kernel = Literal["auto", "popcount", "histogram", "sparse"]
Path = Literal["auto", "avx512", "avx2", "plain"]

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
        found = self.native.unique(list(range(len(self.discrete))), limit=limit)
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
    kernel: Kernel = "auto",
    path: Path = "auto",
) -> Tally:
    """Count the families of one block in one pass."""
    plan = Plan.of(block.schema, families, block.rows)
    return plan.finish([plan.count(block, threads=threads, kernel=kernel, path=path)])


NameSet = frozenset[str]


@dataclass
class Partial:
    """What one block adds to a tally: tables in the plan's order, before they get names."""

    dense: list[NDArray[Any]]
    sparse: list[Counts]
    moments: list[Moments]
    weight: int | float
    gaps: set[str]

    def add(self, other: Partial) -> None:
        """Add another block's tables to these, in place."""
        self.dense = [_added(a, b) for a, b in zip(self.dense, other.dense, strict=True)]
        self.sparse = [a + b for a, b in zip(self.sparse, other.sparse, strict=True)]
        self.moments = [a + b for a, b in zip(self.moments, other.moments, strict=True)]
        self.weight += other.weight
        self.gaps |= other.gaps


def _added(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    if a.dtype == b.dtype:
        a += b
        return a
    total: NDArray[Any] = a + b
    return total


@dataclass(frozen=True)
class Plan:
    """Which tables a list of families needs, and how each is kept. Made once for a source."""

    schema: Schema
    families: tuple[Family, ...]
    dense: tuple[tuple[str, ...], ...]
    sparse: tuple[tuple[str, ...], ...]
    mixed: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, schema: Schema, families: Any, rows: int) -> Plan:
        """The plan for a source of this many rows; unknown names and too much are refused."""
        wanted = families_of(families)
        sets: dict[NameSet, tuple[str, ...]] = {}
        for family in wanted:
            sets.setdefault(frozenset(family.names), family.names)
        dense, sparse, mixed = [], [], []
        for names in sets.values():
            variables = [schema[n] for n in names]
            if not all(v.is_discrete for v in variables):
                mixed.append(names)
            elif prod(v.arity for v in variables) <= max(4 * rows, _DENSE_CELLS):
                dense.append(names)
            else:
                sparse.append(names)
        _refuse_too_many_cells(schema, dense)
        # Variables that many sets share come first, so that the kernel's prefixes are shared.
        often = Counter(n for names in dense for n in names)
        ordered = [
            tuple(sorted(names, key=lambda n: (-often[n], schema.index(n)))) for names in dense
        ]
        return cls(schema, wanted, tuple(ordered), tuple(sparse), tuple(mixed))

    @property
    def names(self) -> tuple[str, ...]:
        """The variables the families are made of."""
        return tuple(dict.fromkeys(n for f in self.families for n in f.names))

    def count(
        self,
        block: Block,
        *,
        threads: int | None = None,
        kernel: Kernel = "auto",
        path: Path = "auto",
    ) -> Partial:
        """One pass over one block."""
        threads = threads or os.cpu_count() or 1
        return Partial(
            _count_dense(block, self.dense, threads, kernel, path) if self.dense else [],
            [_count_sparse(block, names) for names in self.sparse],
            [_moments(block, names, threads) for names in self.mixed],
            block.weight,
            {n for n, gap in zip(block.schema.names, block.gaps, strict=True) if gap},
        )

    def finish(self, partials: Iterable[Partial]) -> Tally:
        """The tally of all blocks."""
        total: Partial | None = None
        for partial in partials:
            if total is None:
                total = partial
            else:
                total.add(partial)
        if total is None:
            raise TableError("There are no rows to tally.")
        found: dict[NameSet, Statistic] = {}
        for names, table in zip(self.dense, total.dense, strict=True):
            variables = tuple(self.schema[n] for n in names)
            skipped = _skipped(total.weight, table, total.gaps.intersection(names))
            values = table.reshape([v.arity for v in variables])
            found[frozenset(names)] = Counts(variables, values, None, skipped)
        others: list[Statistic] = [*total.sparse, *total.moments]
        for statistic in others:
            found[frozenset(statistic.names)] = statistic
        named = {}
        for family in self.families:
            statistic = found[frozenset(family.names)]
            in_order = statistic.names == family.names
            named[family] = statistic if in_order else statistic.marginal(family.names)
        return Tally(named, total.weight)


def _refuse_too_many_cells(schema: Schema, dense: Sequence[Sequence[str]]) -> None:
    cells = sum(prod(schema[n].arity for n in names) for names in dense)
    if cells > MAX_CELLS:
        raise LimitError(
            f"The {len(dense):,} tables asked for would have {cells:,} cells together; "
            f"at most {MAX_CELLS:,} are allowed.",
            hint="Tally fewer families at a time.",
        )


def _count_dense(
    block: Block, sets: Sequence[Sequence[str]], threads: int, kernel: Kernel, path: Path
) -> list[NDArray[Any]]:
    """All dense tables from one call of the kernels."""
    if kernel == "auto" and len(sets) >= 16 and block.compact is not None:
        block = block.compact
    at = {block.schema.variables[i].name: k for k, i in enumerate(block.discrete)}
    positions = [[at[n] for n in names] for names in sets]
    weights: Any = block.weights
    tables: list[NDArray[Any]] = block.native.count(positions, weights, kernel, path, threads)
    return tables


def _count_sparse(block: Block, names: Sequence[str]) -> Counts:
    """One table of many cells: only those that were seen."""
    at = {block.schema.variables[i].name: k for k, i in enumerate(block.discrete)}
    where, values = block.native.count_sparse([at[n] for n in names], block.weights)
    variables = tuple(block.schema[n] for n in names)
    gaps = [n for n in names if block.gaps[block.schema.index(n)]]
    return Counts(variables, values, where, _skipped(block.weight, values, gaps))


def _skipped(weight: int | float, counts: NDArray[Any], gaps: Collection[str]) -> int | float:
    """The weight of the rows not counted: none, unless a variable has gaps."""
    left: int | float = weight - counts.sum().item() if gaps else 0
    return max(left, 0)


def _moments(block: Block, names: Sequence[str], threads: int) -> Moments:
    """Weight, mean and scatter of the continuous names by configuration of the discrete ones."""
    discrete = tuple(block.schema[n] for n in names if block.schema[n].is_discrete)
    continuous = tuple(block.schema[n] for n in names if not block.schema[n].is_discrete)
    group, where = _groups(block, discrete)
    columns = [block.arrays[block.schema.index(v.name)] for v in continuous]
    weights = None if block.weights is None else block.weights.astype(np.float64)
    gaps = [v.name for v in (*discrete, *continuous) if block.gaps[block.schema.index(v.name)]]
    n, mean, scatter = _core.moments(columns, group, len(where), weights, threads)
    seen = n > 0
    return Moments(
        discrete,
        continuous,
        np.ascontiguousarray(where[seen]),
        n[seen],
        mean[seen],
        scatter[seen],
        _skipped(block.weight, n.astype(np.int64) if isinstance(block.weight, int) else n, gaps),
    )


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
