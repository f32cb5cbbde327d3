"""What a network classifier knows of the rows so far: what the columns are, and the counts.

What a column is, and where numbers are cut, the first rows decide; states and classes that come
later join, so the counts are those of all rows in one table, in whatever parts they came.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoWarning, InputError, SchemaError, unknown_name
from credo.core.schema import Schema, Variable, state_key
from credo.data import Stream, Table
from credo.data.columns.columns import Column, Columns, columns_for
from credo.data.columns.identifiers import FEW_INTEGERS
from credo.data.columns.infer import typed_states
from credo.data.columns.once import comes_in_batches, feed_of_any
from credo.data.sources.feed import Feed
from credo.estimators.inputs import different_lengths, not_among_classes
from credo.estimators.network_first import settled_column
from credo.estimators.network_rows import KnownColumns, state_codes, trained_column
from credo.stats.block import Block
from credo.stats.by_class import union
from credo.stats.counts import Counts
from credo.stats.family_counts import FamilyCounts, joined_variable
from credo.stats.tally import Tally
from credo.train.naive_bayes.class_networks import class_families, class_network

__all__ = ["Counted", "counted_rows", "counted_stream", "more_columns", "more_counted", "parts_of"]


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
        families, empty = None, self.known.waiting
        if empty - known.waiting or known.schema.names != self.known.schema.names:
            families = class_families(self.method, _Some(known.schema), known.target.name)
        counts = self.counts.on(known.schema, families, empty)
        return replace(self, known=known, counts=counts)

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
        for name in cuts.keys() - mine.waiting - theirs.waiting:
            a, b = mine.cuts.get(name), theirs.cuts.get(name)
            if a is None or b is None or a.tolist() != b.tolist():
                raise SchemaError(
                    f"{name!r} is not cut at the same points in both classifiers.",
                    hint=f"Give both the same cut points, as in bins={{{name!r}: [10, 20]}}, or "
                    "use partial_fit.",
                )
        variables = tuple(
            theirs.schema[v.name]
            if v.name in mine.waiting
            else v
            if v.name in theirs.waiting
            else joined_variable(v, theirs.schema[v.name])
            for v in mine.schema.variables
        )
        schema = Schema(variables, source=mine.schema.source)
        known = KnownColumns(schema, cuts, mine.waiting & theirs.waiting)
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


# --- the first rows -----------------------------------------------------------------------


def counted_rows(method: Any, known: KnownColumns, block: Block) -> Counted:
    """The counts that a method needs, of rows in memory."""
    families = class_families(method, block, known.target.name)
    counts = FamilyCounts.of(known.schema, families, [block] if block.rows else [], rows=block.rows)
    return Counted(method, known, counts)


def counted_stream(method: Any, known: KnownColumns, stream: Stream) -> tuple[Counted, int]:
    """The same of a stream, batch by batch; and how many rows had no class."""
    families = class_families(method, _Some(known.schema), known.target.name)
    gone = 0

    def blocks() -> Iterator[Block]:
        nonlocal gone
        for part in stream.batches():
            block = known.cut(part.block)
            gone += len(part) - block.rows
            if block.rows:
                yield block

    counts = FamilyCounts.of(known.schema, families, blocks(), rows=stream.rows)
    return Counted(method, known, counts), gone


# --- more rows ----------------------------------------------------------------------------


def parts_of(x: Any, names: Sequence[str]) -> Iterator[Any]:
    """A table in parts that fit in memory, each with the columns named.

    >>> [type(part).__name__ for part in parts_of({"a": ["u"]}, ["a"])]
    ['dict']
    """
    if isinstance(x, Stream):
        yield from x.batches()
    elif comes_in_batches(x):
        feed = feed_of_any(x)
        for name in names:
            if name not in feed.names:
                raise unknown_name("Column", name, feed.names, f"in {feed.label}")
        for batch in feed.read(list(names)):
            yield _part_of(feed, batch, tuple(names))
    else:
        yield x


def _part_of(feed: Feed, batch: Mapping[str, Any], names: tuple[str, ...]) -> Feed:
    def again(wanted: Sequence[str]) -> Iterator[dict[str, Any]]:
        yield {n: batch[n] for n in wanted}

    return replace(feed, names=names, batches=again, in_memory=True)


def more_columns(
    x: Any, readings: Mapping[str, Variable | None]
) -> tuple[Columns, dict[str, Variable]]:
    """The columns of more rows, and the variables that have states which were not known.

    >>> a = Variable("a", "discrete", ("u", "w"))
    >>> columns, new = more_columns({"a": ["v", "u"]}, {"a": a})
    >>> new["a"].states, columns.by_name["a"].values.tolist()
    (('u', 'v', 'w'), [1, 0])
    """
    columns = columns_for(x, readings)
    for name in readings:
        if name not in columns.by_name:
            raise _not_there(name, columns)
    text = isinstance(x, Feed) and x.text
    new: dict[str, Variable] = {}
    for name, v in readings.items():
        if v is not None:
            states = _new_states(v, columns.by_name[name], text)
            if states:
                new[name] = _joined(v, states, columns.by_name[name])
    if new and not isinstance(x, Table):
        columns = columns_for(x, {n: new.get(n, v) for n, v in readings.items()})
    return columns, new


def _not_there(name: str, columns: Columns) -> Exception:
    if name in columns.aside:
        return InputError(
            f"The column {name!r} was set aside as it was read: {columns.aside[name]}.",
            hint=f"Read the table with schema={{{name!r}: 'discrete'}}.",
        )
    return unknown_name("Column", name, [*columns.names, *columns.others], "in the rows")


def _new_states(v: Variable, column: Column, text: bool) -> list[Any]:
    """The values of a column that are no states yet."""
    if column.variable is None:
        odd = column.values[state_codes(v, column) > v.arity]
        found: list[Any] = np.unique(odd).tolist() if len(odd) else []
        return [int(x) if float(x).is_integer() and not isinstance(x, bool) else x for x in found]
    if column.strange:
        found = list(column.strange)
        return _typed_like(v, found) if text else found
    if column.variable is v or column.variable.states == v.states:
        return []
    known = set(map(state_key, v.states))
    return [s for s in column.variable.states if state_key(s) not in known and not _has(v, s)]


def _has(v: Variable, state: Any) -> bool:
    try:
        v.code(state)
    except LookupError:
        return False
    return True


def _typed_like(v: Variable, texts: list[Any]) -> list[Any]:
    """Cells of a text file as values of the type that the known states have, if all of them can."""
    if any(isinstance(s, str) for s in v.states):
        return texts
    kind, states = typed_states([str(t) for t in texts])
    return list(states) if kind in ("bool", "int", "float") else texts


def _joined(v: Variable, states: Sequence[Any], column: Column) -> Variable:
    """A variable with more states; numbers that become many are told once."""
    grown = Variable(v.name, "discrete", union(v.states, states))
    if v.arity <= FEW_INTEGERS < grown.arity and column.variable is None:
        warnings.warn(
            f"{v.name!r} has {grown.arity} numbers by now, each a state of its own, since the "
            f"first rows had few; begin with more rows, or give bins={{{v.name!r}: […]}}.",
            CredoWarning,
            stacklevel=5,
        )
    return grown


def more_counted(
    counted: Counted,
    x: Any,
    labels: tuple[Variable, NDArray[Any]] | None,
    weights: NDArray[Any] | None,
    *,
    fixed: bool,
    bins: Any,
) -> tuple[Counted, int]:
    """The counts with more rows; and how many rows had no class.

    `labels` are the classes of the rows, if they do not stand in a column of x. With `fixed`
    classes, a new one is refused.
    """
    name, done, gone = counted.known.target.name, 0, 0
    names = [n for n in counted.known.schema.names if labels is None or n != name]
    for part in parts_of(x, names):
        known = counted.known
        readings = known.readings | ({name: known.target} if labels is None else {})
        columns, new = more_columns(part, readings)
        rows = slice(done, done + columns.rows)
        if labels is not None:
            own, group = labels[0], labels[1][rows]
            if len(group) != columns.rows:
                raise different_lengths(rows.stop, len(labels[1]))
            target = joined_variable(known.target, own)
            code = np.array([*map(target.code, own.states), target.arity])
            new, group = new | {name: target}, code[group]
        if fixed and name in new and new[name].arity > known.target.arity:
            raise not_among_classes(set(new[name].states) - set(known.target.states))
        known = known.with_variables(new)
        if labels is None:
            group = state_codes(known.target, columns.by_name[name])
        part_weights = part.weights if isinstance(part, Table) else None
        if weights is not None:
            part_weights = weights[rows]
        if known.waiting:
            known, columns = _settled(known, part, columns, bins, part_weights)
        block = known.block(columns, group, part_weights)
        gone += columns.rows - block.rows
        counted = counted.plus(known, block)
        done += columns.rows
    if labels is not None and done != len(labels[1]):
        raise different_lengths(done, len(labels[1]))
    return counted, gone


def _settled(
    known: KnownColumns, part: Any, columns: Columns, bins: Any, weights: Any
) -> tuple[KnownColumns, Columns]:
    """Columns that had no value before, if they have one in these rows."""
    found = dict(columns.by_name)
    for name in known.waiting:
        column = settled_column(part, name)
        settled = None if column is None else trained_column(name, column, bins, weights)
        if column is not None and settled is not None:
            known = known.with_variables({name: settled[0]}, settled[1])
            found[name] = column
    return known, replace(columns, by_name=found)
