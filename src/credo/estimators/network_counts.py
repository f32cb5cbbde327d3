"""What a network classifier knows of the rows so far: what the columns are, and the counts.

What a column is, and where numbers are cut, the first rows decide; states and classes that come
later join, so the counts are those of all rows in one table, in whatever parts they came.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, SchemaError
from credo.core.interval_states import interval_codes, interval_labels
from credo.core.schema import Schema, Variable
from credo.data import Column, Columns, Stream, Table
from credo.estimators.inputs import not_among_classes
from credo.estimators.network_bins import (
    Labels,
    as_numbers,
    check_bins,
    stream_cuts,
    trained_column,
)
from credo.estimators.rows import later_rows, state_codes
from credo.stats.block import Block
from credo.stats.counts import Counts
from credo.stats.family_counts import FamilyCounts, joined_variable
from credo.stats.plan import Partial, Plan
from credo.stats.tally import Tally
from credo.train.naive_bayes.cells import refuse_infinite
from credo.train.naive_bayes.class_networks import class_families, class_network
from credo.train.naive_bayes.learn import classed_rows

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KnownColumns:
    """What the columns are: the class, then the features; and where numbers are cut."""

    schema: Schema
    cuts: Mapping[str, Floats]

    @property
    def target(self) -> Variable:
        """The class."""
        return self.schema.variables[0]

    @property
    def features(self) -> tuple[Variable, ...]:
        """The features, in order."""
        return self.schema.variables[1:]

    @property
    def readings(self) -> dict[str, Variable | None]:
        """How the columns of more rows are read: None for those that are numbers."""
        return {
            v.name: v if v.is_discrete and v.name not in self.cuts else None for v in self.features
        }

    def with_variables(self, new: Mapping[str, Variable]) -> KnownColumns:
        """The same with other variables of the same names."""
        if not new:
            return self
        variables = tuple(new.get(v.name, v) for v in self.schema.variables)
        return KnownColumns(Schema(variables, source=self.schema.source), self.cuts)

    def block(self, columns: Columns, group: NDArray[Any], weights: Any) -> Block:
        """Rows as codes of the variables, less those without a class."""
        arrays = [group.astype(_width(self.target))]
        for v in self.features:
            column, cuts = columns.by_name[v.name], self.cuts.get(v.name)
            if cuts is None and v.is_discrete:
                arrays.append(state_codes(v, column).astype(_width(v)))
                continue
            numbers = column.values if cuts is None else as_numbers(v.name, column)
            arrays.append(number_column(v, Column(numbers), cuts).values)
        known = arrays[0] < self.target.arity
        if not known.all():
            weights = None if weights is None else weights[known]
            arrays = [a[known] for a in arrays]
        return Block(self.schema, tuple(map(np.ascontiguousarray, arrays)), weights)


def _width(v: Variable) -> type[np.unsignedinteger[Any]]:
    return np.uint32 if v.arity > 65533 else np.uint16


def number_column(v: Variable, column: Column, cuts: Floats | None) -> Column:
    """A column of numbers as floats, or cut into the bins of its variable. An infinite one is
    refused, in training as in prediction: it is no number of any bin.
    """
    refuse_infinite(v.name, column.values)
    numbers = column.values.astype(np.float64)
    return Column(numbers) if cuts is None else Column(interval_codes(numbers, cuts.tolist()), v)


@dataclass(frozen=True, eq=False)
class Counted:
    """The counts of some rows, and what their columns are."""

    method: Any
    known: KnownColumns
    counts: FamilyCounts

    @property
    def class_count(self) -> NDArray[Any]:
        """The weight of each class."""
        name = self.known.target.name
        found = self.counts.tally([(name, [])])[name, []]
        assert isinstance(found, Counts)
        return np.array(found.dense().values)

    def model(self, smoothing: float) -> Any:
        """The model of the rows so far; a feature that has one state tells nothing: it is left out.

        A graph that was given keeps it.
        """
        if not self.class_count.any():
            raise InputError("There is no row with a class to learn from.")
        source: Any = self.counts
        target, features = self.known.target.name, self.known.features
        telling = [v.name for v in features if not v.is_discrete or v.arity > 1]
        if 0 < len(telling) < len(features) and isinstance(self.method, str):
            source = _Some(self.known.schema.select([target, *telling]), self.counts)
        return class_network(self.method, source, target, smoothing=smoothing)

    # --- more rows ------------------------------------------------------------------------

    def on(self, known: KnownColumns) -> Counted:
        """The same counts over variables that may have more states, or another order."""
        if known is self.known:
            return self
        families = None
        if known.schema.names != self.known.schema.names:
            families = class_families(self.method, _Some(known.schema), known.target.name)
        return replace(self, known=known, counts=self.counts.on(known.schema, families))

    def plus(self, known: KnownColumns, block: Block) -> Counted:
        """These counts and those of a block, over variables that may have more states."""
        wider = self.on(known)
        return replace(wider, counts=wider.counts.counted(block)) if block.rows else wider

    def merged(self, other: Counted) -> Counted:
        """The counts of both, as if their rows had been one table."""
        mine, theirs = self.known, other.known
        odd = set(mine.schema.names) ^ set(theirs.schema.names)
        if odd:
            raise SchemaError(
                f"The two classifiers know different columns: {min(odd)!r} is in one only.",
                hint="Read both tables with the same schema=, or use partial_fit.",
            )
        cuts = {**mine.cuts, **theirs.cuts}
        for name in cuts:
            a, b = mine.cuts.get(name), theirs.cuts.get(name)
            if a is None or b is None or a.tolist() != b.tolist():
                raise SchemaError(
                    f"{name!r} is not cut at the same points in both classifiers.",
                    hint=f"Give both the same cut points, as in bins={{{name!r}: [10, 20]}}, or "
                    "use partial_fit.",
                )
        variables = tuple(joined_variable(v, theirs.schema[v.name]) for v in mine.schema.variables)
        known = KnownColumns(Schema(variables, source=mine.schema.source), cuts)
        one, two = self.on(known), other.on(known)
        return replace(one, counts=one.counts + two.counts)


@dataclass(frozen=True, eq=False)
class _Some:
    """A source of some of the variables of another."""

    schema: Schema
    whole: FamilyCounts | None = None

    def tally(self, families: Any) -> Tally:
        assert self.whole is not None
        return self.whole.tally(families)


def counted_rows(
    method: Any, columns: Columns, target: Variable, group: NDArray[Any], weights: Any, bins: Any
) -> tuple[Counted, int]:
    """The counts that a method needs of the first rows, in memory; and how many had no class.

    The rows with a class say what each column is; one without a value there is left out.
    """
    check_bins(bins, columns.names)
    there = group < target.arity
    every = bool(there.all())
    own = weights if weights is None or every else weights[there]
    labels = Labels(group if every else group[there], target.arity, own)
    variables, cuts = [target], dict[str, Floats]()
    for name, column in columns.by_name.items():
        if column.variable is None:
            refuse_infinite(name, column.values)  # while rows still have their own numbers
        values = np.ascontiguousarray(column.values if every else column.values[there])
        found = trained_column(name, Column(values, column.variable, column.strange), bins, labels)
        if found is not None:
            variables.append(found[0])
            cuts |= found[1]
    known = KnownColumns(Schema(tuple(variables)), cuts)
    block = known.block(columns, group, weights)
    families = class_families(method, block, target.name)
    counts = FamilyCounts.of(known.schema, families, [block] if block.rows else [], rows=block.rows)
    return Counted(method, known, counts), columns.rows - block.rows


def counted_stream(method: Any, stream: Stream, target: str, bins: Any) -> tuple[Counted, int]:
    """The same of a stream, batch by batch."""
    cuts = stream_cuts(stream, target, bins)
    cut = {n: Variable(n, "discrete", interval_labels(c.tolist())) for n, c in cuts.items()}
    names = [n for n in stream.schema.names if n != target]
    variables = (stream.schema[target], *(cut.get(n, stream.schema[n]) for n in names))
    known = KnownColumns(Schema(variables, source=stream.schema.source), cuts)
    families = class_families(method, _Some(known.schema), target)
    found = stream.fold(_Counting(known, families, stream.rows, target), _added)
    counts = FamilyCounts.of(known.schema, families, [], rows=stream.rows)
    total, gone = (None, 0) if found is None else found
    if total is None:
        return Counted(method, known, counts), gone
    return Counted(method, known, FamilyCounts(counts.plan, counts.rows, total)), gone


@dataclass(frozen=True)
class _Counting:
    """A task: the families of a table, and how many rows have no class."""

    known: KnownColumns
    families: Any
    rows: int
    target: str

    def __call__(self, table: Table) -> tuple[Partial | None, int]:
        ((columns, group, weights),) = classed_rows(table, self.target)
        block = self.known.block(columns, group, weights)
        if not block.rows:
            return None, columns.rows
        plan = Plan.of(self.known.schema, self.families, self.rows)
        return plan.count(block, threads=1), columns.rows - block.rows


def _added(
    a: tuple[Partial | None, int], b: tuple[Partial | None, int]
) -> tuple[Partial | None, int]:
    (one, gone), (two, more) = a, b
    return (one.add(two) if one is not None and two is not None else one or two), gone + more


def more_counted(
    counted: Counted,
    x: Any,
    called: Any,
    labels: str | tuple[Variable, NDArray[Any]],
    weights: NDArray[Any] | None,
    *,
    fixed: bool,
) -> tuple[Counted, int]:
    """The counts with more rows; and how many rows had no class.

    `labels` are the classes of the rows, or the name of their column. With `fixed` classes, a new
    one is refused.
    """
    gone = 0

    def known() -> tuple[Mapping[str, Variable | None], Variable]:
        return counted.known.readings, counted.known.target

    for part in later_rows(x, called, known, labels, weights, "bins={{{!r}: […]}}"):
        before = counted.known.target
        target = joined_variable(before, part.target)
        if fixed and target.arity > before.arity:
            raise not_among_classes(set(target.states) - set(before.states))
        group, new = part.group, part.new
        if target != part.target:
            group = np.array([*map(target.code, part.target.states), target.arity])[group]
        if target is not before:
            new = new | {target.name: target}
        now = counted.known.with_variables(new)
        block = now.block(part.columns, group, part.weights)
        gone += part.columns.rows - block.rows
        counted = counted.plus(now, block)
    return counted, gone
