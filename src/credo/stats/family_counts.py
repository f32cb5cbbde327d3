"""The counts of some families, to which more rows are added: states that come later join.

    of(a ⧺ b) == of(a) + of(b)

also where one part has states that the other lacks (their counts there are 0). It answers a tally
of the families that it holds, so every learner takes it for a source.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import SchemaError, unknown_name
from credo.core.schema import Schema, Variable
from credo.stats.block import Block
from credo.stats.by_class import union
from credo.stats.counts import Counts
from credo.stats.family import Families
from credo.stats.moments import Moments
from credo.stats.plan import Partial, Plan, gathered
from credo.stats.rows import code_type
from credo.stats.tally import Statistic, Tally

Places = Mapping[str, NDArray[np.intp]]


def joined_variable(a: Variable, b: Variable) -> Variable:
    """One variable with the states of both.

    >>> joined_variable(Variable("x", "discrete", (1, 3)), Variable("x", "discrete", (2,))).states
    (1, 2, 3)
    """
    if a == b:
        return a
    if not (a.is_discrete and b.is_discrete):
        raise SchemaError(
            f"Column {a.name!r} holds states in one part and numbers in the other.",
            hint="Read both with the same schema=.",
        )
    return Variable(a.name, "discrete", union(a.states, b.states))


class FamilyCounts:
    """The statistics of some families over the rows seen so far; they merge with `+`.

    >>> import credo as cr
    >>> block = cr.examples.play_tennis().block
    >>> counts = FamilyCounts.of(block.schema, [("Wind", ["PlayTennis"])], [block])
    >>> (counts + counts).tally([("Wind", ["PlayTennis"])])["Wind", ["PlayTennis"]].total
    28
    """

    def __init__(self, plan: Plan, rows: int, total: Partial) -> None:
        self.plan, self.rows, self.total = plan, rows, total

    @classmethod
    def of(
        cls,
        schema: Schema,
        families: Any,
        blocks: Iterable[Block],
        *,
        rows: int = 0,
        threads: int | None = None,
    ) -> FamilyCounts:
        """Count blocks that have one schema; `rows` is about how many there are in all."""
        plan = Plan.of(schema, families, rows)
        total = gathered(plan.count(block, threads=threads) for block in blocks)
        return cls(plan, rows, _nothing(plan) if total is None else total)

    @property
    def schema(self) -> Schema:
        """The variables, with the states seen so far."""
        return self.plan.schema

    @property
    def families(self) -> Families:
        """The families that are counted."""
        return self.plan.families

    # --- more rows ------------------------------------------------------------------------

    def counted(self, block: Block, *, threads: int | None = None) -> FamilyCounts:
        """These counts and those of a block with the same variables."""
        return self._plus(self.plan.count(block, threads=threads))

    def _plus(self, part: Partial) -> FamilyCounts:
        old = self.total
        total = Partial(old.dense, old.sparse, old.moments, old.weight, old.gaps)
        total.add(part)
        return FamilyCounts(self.plan, self.rows, total)

    def __add__(self, other: object) -> FamilyCounts:
        if not isinstance(other, FamilyCounts):
            return NotImplemented
        if self.schema.names != other.schema.names or self.families != other.families:
            raise SchemaError("Counts can be added when they are of the same families.")
        pairs = zip(self.schema.variables, other.schema.variables, strict=True)
        schema = Schema(tuple(joined_variable(a, b) for a, b in pairs), source=self.schema.source)
        a = self.on(schema)
        return a._plus(other._moved(a.plan))

    def on(self, schema: Schema, families: Any = None, empty: Collection[str] = ()) -> FamilyCounts:
        """The same counts over variables that may have more states.

        Variables that are `empty` had no value in any row so far: they may become what they like,
        and others may be the `families` then.
        """
        if schema == self.schema:
            return self
        wanted = self.families if families is None else Families.of(families)
        plan = Plan.of(schema, wanted, self.rows)
        return FamilyCounts(plan, self.rows, self._moved(plan, empty))

    def _moved(self, plan: Plan, empty: Collection[str] = ()) -> Partial:
        """The statistics as another plan holds them; those with an empty variable are 0."""
        mine, old = self.plan, self.total
        alike = (plan.dense, plan.sparse, plan.mixed) == (mine.dense, mine.sparse, mine.mixed)
        if alike and plan.schema == mine.schema:
            return old
        places = {
            v.name: np.array([plan.schema[v.name].code(s) for s in v.states], dtype=np.intp)
            for v in self.schema.variables
            if v.is_discrete and v.name not in empty
        }
        new, tables = _nothing(plan), []
        for names in plan.dense:
            shape = [plan.schema[n].arity for n in names]
            table = np.zeros(shape, dtype=old.dense.dtype)
            if places.keys() >= set(names):
                where = np.ix_(*(places[n] for n in names))
                table[where] = self._of(names).dense().values
            tables.append(table.reshape(-1))
        dense = np.concatenate(tables) if tables else new.dense
        sparse = [
            _sparse(self._of(n), plan.schema, places) if places.keys() >= set(n) else nothing
            for n, nothing in zip(plan.sparse, new.sparse, strict=True)
        ]
        moments = [
            _moments(self._of(n), plan.schema, places) if not set(n) & set(empty) else nothing
            for n, nothing in zip(plan.mixed, new.moments, strict=True)
        ]
        gaps = old.gaps | frozenset(empty)
        return Partial(dense, sparse, moments, old.weight, gaps)

    # --- a source of tallies --------------------------------------------------------------

    @cached_property
    def _tally(self) -> Tally:
        return self.plan.finish([self.total])

    @cached_property
    def _by_set(self) -> dict[frozenset[str], Any]:
        return {frozenset(f.names): f for f in reversed(list(self.families))}

    def _of(self, names: tuple[str, ...]) -> Any:
        """The statistic of a set of variables, its axes in the order named."""
        found = self._tally[self._by_set[frozenset(names)]]
        return found if found.names == names else found.marginal(names)

    def tally(self, families: Any = None, *, threads: int | None = None) -> Tally:
        """The statistics of families whose variables were counted together."""
        wanted = self.families if families is None else Families.of(families)
        for family in wanted:
            if frozenset(family.names) not in self._by_set:
                raise unknown_name("The family", str(family), self.families, "among those counted")

        def made(position: int) -> Statistic:
            found: Statistic = self._of(wanted[position].names)
            return found

        return Tally(wanted, made, self.total.weight)

    def __repr__(self) -> str:
        return f"FamilyCounts({len(self.families):,} families of {self.total.weight:,} rows)"

    def __reduce__(self) -> Any:
        t = self.total
        whole = (t.dense, t.sparse, t.moments, t.weight, t.gaps, self.plan.dense)
        return _restored, (self.schema, self.families, self.rows, whole)


def _restored(schema: Schema, families: Families, rows: int, whole: Any) -> FamilyCounts:
    dense, sparse, moments, weight, gaps, *tables = whole
    plan = Plan.of(schema, families, rows)
    if tables != [plan.dense]:  # the numbers would be those of other cells
        raise SchemaError(
            "These counts were kept by another version of credo, which had its tables in another "
            "order.",
            hint="Count the rows again.",
        )
    return FamilyCounts(plan, rows, Partial(dense, sparse, moments, weight, gaps))


def _nothing(plan: Plan) -> Partial:
    """The statistics of no rows."""
    kinds = [code_type(v.arity) if v.is_discrete else np.float64 for v in plan.schema.variables]
    arrays = tuple(np.zeros(0, dtype=kind) for kind in kinds)
    return plan.count(Block(plan.schema, arrays))


def _sparse(found: Counts, schema: Schema, places: Places) -> Counts:
    """Counts of the cells that were seen, among more states."""
    found = found.sparse()
    assert found.configurations is not None
    where = [places[n][found.configurations[:, i]] for i, n in enumerate(found.names)]
    variables = tuple(schema[n] for n in found.names)
    codes = np.stack(where, axis=1).astype(np.uint32)
    return Counts.of_cells(variables, codes, found.values, found.skipped)


def _moments(found: Moments, schema: Schema, places: Places) -> Moments:
    """The moments by configurations of more states."""
    where = [places[v.name][found.configurations[:, i]] for i, v in enumerate(found.discrete)]
    codes = np.stack(where, axis=1).astype(np.uint32) if where else found.configurations
    discrete = tuple(schema[v.name] for v in found.discrete)
    return Moments.pooled(
        discrete, found.continuous, codes, found.n, found.mean, found.scatter, found.skipped
    )
