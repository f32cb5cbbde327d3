"""A plan: which tables a list of families needs, made once and run on every block of a source."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import LimitError, TableError
from credo.core.schema import Schema, Variable
from credo.core.threads import checked_threads
from credo.stats.adding_up import added_up
from credo.stats.block import Block
from credo.stats.counting import (
    Kernel,
    Path,
    count_dense,
    count_moments,
    count_sparse,
)
from credo.stats.counts import MAX_CELLS, Counts
from credo.stats.family import Families, is_one_family
from credo.stats.given import total_of
from credo.stats.moments import Moments
from credo.stats.squares import refuse_small_weights
from credo.stats.tally import Statistic, Tally

_DENSE_CELLS = 1 << 16  # up to this many cells a table is dense whatever the number of rows

_KEPT = 1 << 12  # a plan of more tables is not kept for the next tally


def tally_block(
    block: Block,
    families: Any,
    *,
    threads: int | None = None,
    kernel: Kernel = "auto",
    path: Path = "auto",
) -> Tally:
    """Count the families of one block in one pass."""
    asked = block.asked
    plan = Plan.of(block.schema, families, block.rows, asked[0])
    if plan.n_dense <= _KEPT:
        asked[0] = plan
    return plan.tally(plan.count(block, threads=threads, kernel=kernel, path=path))


class Partial:
    """What the blocks seen so far add to a tally: tables in the plan's order, without names."""

    __slots__ = ("dense", "gaps", "moments", "sparse", "weight")

    def __init__(
        self,
        dense: NDArray[Any],
        sparse: list[Counts],
        moments: list[Moments],
        weight: int | float,
        gaps: frozenset[str],
    ) -> None:
        self.dense, self.sparse, self.moments = dense, sparse, moments
        self.weight, self.gaps = weight, gaps

    def add(self, other: Partial) -> Partial:
        """Add another block's tables to these, in place."""
        self.dense = self.dense + other.dense
        self.sparse = [a + b for a, b in zip(self.sparse, other.sparse, strict=True)]
        self.moments = [a.merged(b) for a, b in zip(self.moments, other.moments, strict=True)]
        self.weight = self.weight + other.weight
        self.gaps |= other.gaps
        return self

    @property
    def size(self) -> int:
        """How much there is to add where not all tables are dense."""
        return sum(len(s.values) for s in self.sparse) + sum(len(m.n) for m in self.moments)


def gathered(partials: Iterable[Partial]) -> Partial | None:
    """All parts added up, the first of them in place."""
    return added_up(partials, lambda part: part.size, Partial.add)


class Plan:
    """The tables that some families need. Families with the same variables share a table.

    All dense tables lie in one array, of which a family's table is a view. Names are put to them
    when somebody asks.
    """

    def __init__(
        self, schema: Schema, core: _core.FamilyPlan, families: Families | None = None
    ) -> None:
        self.schema = schema
        self.core = core
        self.n_dense, self.all_dense = core.n_dense, core.all_dense
        self.sparse: tuple[tuple[str, ...], ...] = ()  # the names of each sparse table's variables
        self.mixed: tuple[tuple[str, ...], ...] = ()
        if not self.all_dense:
            self.sparse = _names(schema.names, core.sparse)
            self.mixed = _names(schema.names, core.mixed)
        self._families = families
        self._positions: dict[tuple[str, ...], _core.Sets] | None = None

    @classmethod
    def of(cls, schema: Schema, families: Any, rows: int, last: Plan | None = None) -> Plan:
        """The plan for a source of this many rows; unknown names and too much are refused. It is
        the last one of the same schema where that is of the same families.
        """
        if not isinstance(families, Families):
            one = is_one_family(families)  # a pair would be read as a list of two
            made = None if one else cls._made(schema, families, rows, None, last)
            if made is not None:
                return made
            families = Families.of(families)  # which says what is wrong, or takes it all the same
        kept: Plan | None = families.plan_for(schema, rows)
        if kept is not None:
            return kept
        made = cls._made(schema, tuple(families), rows, families)
        if made is None:
            for family in families:
                for name in family.names:
                    schema[name]  # which says what is wrong
            raise AssertionError("families of known variables could not be planned")
        families.keep_plan(schema, rows, made)
        return made

    @classmethod
    def _made(
        cls,
        schema: Schema,
        given: Any,
        rows: int,
        families: Families | None = None,
        last: Plan | None = None,
    ) -> Plan | None:
        """A plan; None where the families are not a list of well-formed ones of known names."""
        most = min(max(4 * rows, _DENSE_CELLS), MAX_CELLS)
        before = None if last is None else last.core
        core = _core.plan_families(given, schema._index, schema._arities, most, before)
        if core is None:
            return None
        if core is before:
            return last
        if core.cells > MAX_CELLS:
            raise LimitError(
                f"The {core.n_dense:,} tables asked for would have {core.cells:,} cells "
                f"together; at most {MAX_CELLS:,} are allowed.",
                hint="Tally fewer families at a time.",
            )
        return cls(schema, core, families)

    @property
    def families(self) -> Families:
        """The families, those that are the same only once."""
        if self._families is None:
            schema, core = self.schema, self.core
            self._families = Families.trusted(lambda: core.spelled(schema.names))
        return self._families

    @cached_property
    def axes(self) -> list[tuple[Variable, ...]]:
        """The variables of each family's statistic: the parents, then the child."""
        return self.core.axes(self.schema.variables)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables the families are made of."""
        return tuple(dict.fromkeys(v.name for axes in self.axes for v in axes))

    @cached_property
    def dense(self) -> tuple[tuple[str, ...], ...]:
        """The names of each dense table's variables."""
        return _names(self.schema.discrete, self.core.dense)

    def positions(self, block: Block) -> _core.FamilyPlan | _core.Sets:
        """The dense sets as positions among the block's discrete columns."""
        if block.schema is self.schema:
            return self.core
        if self._positions is None:
            self._positions = {}
        columns = block.schema.discrete
        found = self._positions.get(columns)
        if found is None:
            at = {name: i for i, name in enumerate(columns)}
            found = _core.Sets([[at[n] for n in names] for names in self.dense])
            self._positions[columns] = found
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
        dense = self._dense(block, threads, kernel, path, compact)
        if self.all_dense:
            return Partial(dense, [], [], block.weight, block.names_with_gaps)
        sparse = [count_sparse(block, names) for names in self.sparse]
        moments = [count_moments(block, names, threads) for names in self.mixed]
        return Partial(dense, sparse, moments, block.weight, block.names_with_gaps)

    def _dense(
        self, block: Block, threads: int, kernel: Kernel, path: Path, compact: bool
    ) -> NDArray[Any]:
        """All dense tables; from gathered rows where many tables are asked and that pays."""
        n = self.n_dense
        if not n:
            return np.zeros(0)
        if compact and kernel == "auto" and n >= 16 and block.compact is not None:
            block = block.compact
        return count_dense(block, self.positions(block), threads, kernel, path)

    def finish(self, partials: Iterable[Partial]) -> Tally:
        """The tally of all blocks. A table becomes counts with names when it is asked for."""
        total = gathered(partials)
        if total is None:
            raise TableError("There are no rows to tally.")
        return self.tally(total)

    def tally(self, total: Partial) -> Tally:
        """What all blocks add up to, by family."""
        for moments in total.moments:  # of all parts: one alone may hold what floats cannot
            refuse_small_weights(moments.n)
            moments.check_range()
        counted = Counted(self, total)
        return Tally(self.families, counted.statistic, total.weight, counted)


class Counted:
    """The tables of a plan, counted: where each family's statistic is taken from."""

    __slots__ = ("_dense", "_others", "_plan", "_total")

    def __init__(self, plan: Plan, total: Partial) -> None:
        self._plan, self._total = plan, total
        self._others: list[Statistic] = [*total.sparse, *total.moments]
        self._dense = total.dense
        self._dense.flags.writeable = False  # and so are its views, which the counts hold

    def statistic(self, family: int) -> Statistic:
        """The statistic of one family, from the table it shares with others."""
        total, axes, core = self._total, self._plan.axes[family], self._plan.core
        other = core.other(family)
        if other >= 0:
            found, wanted = self._others[other], tuple([v.name for v in axes])
            return found if found.names == wanted else found.marginal(wanted)
        values = core.view(self._dense, family)
        skipped: int | float = 0
        if total.gaps and not total.gaps.isdisjoint([v.name for v in axes]):
            skipped = max(total.weight - total_of(values), 0)
        return Counts.trusted(axes, values, skipped)

    def statistics(self) -> list[Statistic | None] | None:
        """The counts of all families, or None if one is not dense or has skipped rows."""
        plan = self._plan
        if self._total.gaps or not plan.all_dense:
            return None
        made: Any = plan.core.counts(Counts, plan.schema.variables, self._dense)
        return made  # type: ignore[no-any-return]

    def arrays(self) -> list[NDArray[Any]] | None:
        """The tables of all families, or None if one of them is not dense."""
        plan = self._plan
        return plan.core.views(self._dense) if plan.all_dense else None


def _names(names: tuple[str, ...], sets: _core.Sets) -> tuple[tuple[str, ...], ...]:
    return tuple([tuple([names[i] for i in s]) for s in sets.lists()]) if len(sets) else ()
