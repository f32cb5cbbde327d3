"""A plan: which tables a list of families needs, made once and run on every block of a source."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import accumulate, groupby
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo.errors import InputError, LimitError, TableError
from credo.schema import Schema, Variable
from credo.stats.block import Block
from credo.stats.counting import (
    Kernel,
    Path,
    count_dense,
    count_moments,
    count_sparse,
    skipped_weight,
)
from credo.stats.counts import MAX_CELLS, Counts
from credo.stats.family import Families
from credo.stats.moments import Moments
from credo.stats.tally import Statistic, Tally

__all__ = ["Partial", "Plan", "checked_threads", "tally_block"]

_DENSE_CELLS = 1 << 16  # up to this many cells a table is dense whatever the number of rows

NameSet = frozenset[str]


def checked_threads(threads: Any) -> int:
    """How many threads to use: those asked for, or one for each processor.

    >>> checked_threads(2)
    2
    """
    if threads is None:
        return os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise InputError(f"threads must be a whole number, 1 or more, got {threads!r}.")
    return int(threads)


def tally_block(
    block: Block,
    families: Any,
    *,
    threads: int | None = None,
    kernel: Kernel = "auto",
    path: Path = "auto",
) -> Tally:
    """Count the families of one block in one pass."""
    plan = Plan.of(block.schema, Families.of(families), block.rows)
    return plan.finish([plan.count(block, threads=threads, kernel=kernel, path=path)])


@dataclass
class Partial:
    """What the blocks seen so far add to a tally: tables in the plan's order, without names."""

    dense: NDArray[Any]
    sparse: list[Counts]
    moments: list[Moments]
    weight: int | float
    gaps: frozenset[str]
    stacks: dict[int, NDArray[Any]] = field(default_factory=dict)

    def add(self, other: Partial) -> None:
        """Add another block's tables to these, in place."""
        self.dense = self.dense + other.dense
        self.sparse = [a + b for a, b in zip(self.sparse, other.sparse, strict=True)]
        self.moments = [a + b for a, b in zip(self.moments, other.moments, strict=True)]
        self.weight += other.weight
        self.gaps |= other.gaps


class _Stack(NamedTuple):
    """The tables of one shape, which lie one after the other, with their axes in one order."""

    first: int
    last: int
    shape: tuple[int, ...]
    axes: tuple[int, ...]

    def of(self, dense: NDArray[Any]) -> NDArray[Any]:
        """All these tables as one array; a table is one entry along its first axis."""
        return dense[self.first : self.last].reshape(self.shape).transpose(self.axes)


class _Layout(NamedTuple):
    """Where a family's table is: in which of the stacks, and where in it; and its cells."""

    number: int
    stack: _Stack
    at: int
    cells: slice
    variables: tuple[Variable, ...]


def _skipped(total: Partial, cells: NDArray[Any], variables: tuple[Variable, ...]) -> int | float:
    return skipped_weight(total.weight, cells, total.gaps.intersection(v.name for v in variables))


@dataclass(frozen=True)
class Plan:
    """The tables that some families need. Families with the same variables share a table."""

    schema: Schema
    families: Families
    dense: tuple[tuple[str, ...], ...]
    sparse: tuple[tuple[str, ...], ...]
    mixed: tuple[tuple[str, ...], ...]
    _positions: dict[tuple[str, ...] | None, list[list[int]]] = field(
        default_factory=dict, compare=False, repr=False
    )
    _layouts: dict[int, _Layout] = field(default_factory=dict, compare=False, repr=False)
    _stacks: dict[_Stack, int] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, schema: Schema, families: Families, rows: int) -> Plan:
        """The plan for a source of this many rows; unknown names and too much are refused."""
        made: Plan | None = families.plan_for(schema, rows)
        if made is None:
            made = cls._made(schema, families, rows)
            families.keep_plan(schema, rows, made)
        return made

    @classmethod
    def _made(cls, schema: Schema, families: Families, rows: int) -> Plan:
        sets: dict[NameSet, tuple[str, ...]] = {}
        for family in families:
            sets.setdefault(frozenset(family.names), family.names)
        states = {v.name: v.arity if v.is_discrete else None for v in schema.variables}
        at = {name: i for i, name in enumerate(states)}
        dense: list[tuple[str, ...]] = []
        sparse: list[tuple[str, ...]] = []
        mixed: list[tuple[str, ...]] = []
        cells = 0
        most = min(max(4 * rows, _DENSE_CELLS), MAX_CELLS)
        for names in sets.values():
            arities = [states[n] if n in states else schema[n].arity for n in names]
            if None in arities:
                mixed.append(names)
                continue
            size = prod(arities)  # type: ignore[arg-type]
            if size <= most:
                dense.append(names)
                cells += size
            else:
                sparse.append(names)
        if cells > MAX_CELLS:
            raise LimitError(
                f"The {len(dense):,} tables asked for would have {cells:,} cells together; "
                f"at most {MAX_CELLS:,} are allowed.",
                hint="Tally fewer families at a time.",
            )
        # Variables that many sets share come first, so that the kernel's prefixes are shared.
        often = Counter(n for names in dense for n in names)
        rank = {n: (-often[n], at[n]) for n in often}
        ordered = [tuple(sorted(names, key=rank.__getitem__)) for names in dense]
        # Tables of one shape lie together, so that one view holds them all.
        ordered.sort(key=lambda names: [states[n] for n in names])
        return cls(schema, families, tuple(ordered), tuple(sparse), tuple(mixed))

    @property
    def names(self) -> tuple[str, ...]:
        """The variables the families are made of."""
        return tuple(dict.fromkeys(n for f in self.families for n in f.names))

    def positions(self, block: Block) -> list[list[int]]:
        """The dense sets as positions among the block's discrete columns."""
        columns = None if block.schema is self.schema else block.schema.discrete
        found = self._positions.get(columns)
        if found is None:
            at = {name: i for i, name in enumerate(block.schema.discrete)}
            found = self._positions[columns] = [[at[n] for n in names] for names in self.dense]
        return found

    def count(
        self,
        block: Block,
        *,
        threads: int | None = None,
        kernel: Kernel = "auto",
        path: Path = "auto",
        compact: bool = True,
    ) -> Partial:
        """One pass over one block."""
        threads = checked_threads(threads)
        positions = self.positions(block)
        return Partial(
            self._dense(block, positions, threads, kernel, path, compact),
            [count_sparse(block, names) for names in self.sparse],
            [count_moments(block, names, threads) for names in self.mixed],
            block.weight,
            block.names_with_gaps,
        )

    def _dense(
        self,
        block: Block,
        positions: list[list[int]],
        threads: int,
        kernel: Kernel,
        path: Path,
        compact: bool,
    ) -> NDArray[Any]:
        """All dense tables; from gathered rows where many tables are asked and that pays."""
        if not positions:
            return np.zeros(0)
        if compact and kernel == "auto" and len(positions) >= 16 and block.compact is not None:
            block = block.compact
        return count_dense(block, positions, threads, kernel, path)

    def finish(self, partials: Iterable[Partial]) -> Tally:
        """The tally of all blocks. A table becomes counts with names when it is asked for."""
        total: Partial | None = None
        for part in partials:
            if total is None:
                total = part
            else:
                total.add(part)
        if total is None:
            raise TableError("There are no rows to tally.")
        total.dense.flags.writeable = False  # and so are its views, which the counts hold
        make, arrays = partial(self._statistic, total), partial(self._arrays, total)
        return Tally(self.families, make, total.weight, arrays)

    def _statistic(self, total: Partial, family: int) -> Statistic:
        """The statistic of one family, from the table it shares with others."""
        layout = self._layouts.get(family)
        if layout is None:
            table = self._tables[family]
            if table >= len(self.dense):
                others: list[Statistic] = [*total.sparse, *total.moments]
                found, wanted = others[table - len(self.dense)], self.families[family].names
                return found if found.names == wanted else found.marginal(wanted)
            layout = self._layouts[family] = self._layout(table, self.families[family].names)
        number, which, at, cells, variables = layout
        stack = total.stacks.get(number)
        if stack is None:
            stack = total.stacks[number] = which.of(total.dense)
        skipped = _skipped(total, total.dense[cells], variables) if total.gaps else 0
        return Counts.trusted(variables, stack[at], skipped)

    def _arrays(self, total: Partial) -> list[NDArray[Any]] | None:
        """The tables of all families, or None if one of them is not dense."""
        if self.sparse or self.mixed:
            return None
        where = self._where  # which makes the list of stacks complete
        views: list[NDArray[Any]] = []
        for stack in self._stacks:
            views.extend(stack.of(total.dense))
        return [views[i] for i in where]

    @cached_property
    def _where(self) -> list[int]:
        """For each family, the position of its table among those of all stacks."""
        layouts = [
            self._layout(t, f.names) for t, f in zip(self._tables, self.families, strict=True)
        ]
        first = [0, *accumulate(stack.shape[0] for stack in self._stacks)]
        return [first[found.number] + found.at for found in layouts]

    def _layout(self, table: int, wanted: tuple[str, ...]) -> _Layout:
        names, starts = self.dense[table], self._starts
        first, last = self._alike[table]
        axes = (0, *[1 + names.index(n) for n in wanted])
        stack = _Stack(starts[first], starts[last], (last - first, *self._shapes[table]), axes)
        number = self._stacks.setdefault(stack, len(self._stacks))
        variables = tuple([self._variables[n] for n in wanted])
        cells = slice(starts[table], starts[table + 1])
        return _Layout(number, stack, table - first, cells, variables)

    @cached_property
    def _variables(self) -> dict[str, Variable]:
        return {v.name: v for v in self.schema.variables}

    @cached_property
    def _shapes(self) -> list[tuple[int, ...]]:
        """The shape of each dense table."""
        arity = {v.name: v.arity for v in self.schema.variables if v.is_discrete}
        return [tuple([arity[n] for n in names]) for names in self.dense]

    @cached_property
    def _alike(self) -> list[tuple[int, int]]:
        """For each dense table, the first of its shape and the one after the last."""
        out: list[tuple[int, int]] = []
        for _, group in groupby(self._shapes):
            first, last = len(out), len(out) + len(list(group))
            out += [(first, last)] * (last - first)
        return out

    @cached_property
    def _starts(self) -> list[int]:
        """Where each dense table begins among all of them, and where the last one ends."""
        return [0, *accumulate(map(prod, self._shapes))]

    @cached_property
    def _tables(self) -> list[int]:
        """The table of each family: dense ones first, then sparse, then mixed."""
        at = {frozenset(n): i for i, n in enumerate((*self.dense, *self.sparse, *self.mixed))}
        return [at[frozenset(f.names)] for f in self.families]
