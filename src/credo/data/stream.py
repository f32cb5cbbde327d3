"""A stream: a table too big for memory, read batch by batch each time it is tallied.

The answer is the same to the last count as from a table in memory (means, variances and sums of
fractional weights to rounding): each batch is encoded with the schema found in a first pass,
tallied, and the tallies are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError, TableError
from credo.core.frozen import taken_apart
from credo.core.progress import Report, track
from credo.core.render import many
from credo.core.scales import Scale
from credo.core.schema import Schema
from credo.data.columns.cells import Tokens
from credo.data.columns.encoder import Encoder
from credo.data.sources.feed import Feed, memory_limit
from credo.data.table import Table, warn_continuous_left_out
from credo.data.weights import RowNumbers, Weights
from credo.stats.adding_up import added_up
from credo.stats.block import Block
from credo.stats.plan import Plan
from credo.stats.rows import Rows, code_type
from credo.stats.tally import Tally

T = TypeVar("T")


class _NotPickled(InputError, TypeError):
    """What pickle and its users expect of a value that cannot be pickled is a TypeError."""


@dataclass(frozen=True, eq=False, repr=False)
class Stream:
    """A source that reads its rows again for every tally, in bounded memory.

    Made by `credo.read` when a file would not fit the memory limit. `report`, if given, is
    called with (rows done, rows in all) instead of showing a progress bar.

    >>> import credo as cr
    >>> stream = cr.read(cr.examples.path("play_tennis"), memory="100 B")
    >>> print(stream)
    play_tennis.csv: 14 rows, read batch by batch
    >>> stream.tally(["Wind"]) == cr.examples.play_tennis().tally(["Wind"])
    True
    """

    feed: Feed = field(repr=False)
    schema: Schema
    rows: int
    missing: tuple[Any, ...] = field(repr=False, default=())
    weighting: Weights = field(repr=False, default_factory=Weights)
    report: Report | None = field(repr=False, default=None)

    def __len__(self) -> int:
        return self.rows

    def batches(self, names: Sequence[str] | None = None) -> Iterator[Table]:
        """The rows as small tables of the variables named (all when none are)."""
        for part, _ in self.numbered(names):
            yield part

    def numbered(self, names: Sequence[str] | None = None) -> Iterator[tuple[Table, RowNumbers]]:
        """The same batches, each with where its rows stood in the source."""
        schema = self.schema if names is None else self.schema.select(names)
        if not schema.names:
            raise InputError("The stream has no variable of the kind asked for.")
        self.feed.refuse_changed()
        kept_rows = 0
        for table, numbers in encoded(
            self.feed,
            schema,
            self.missing,
            self.weighting,
            self.feed.rows or self.rows,
            self.report,
        ):
            kept_rows += len(table)
            yield table, numbers
        self.feed.refuse_changed()
        if kept_rows != self.rows:
            raise TableError(
                f"{self.feed.label} had {self.rows:,} rows when it was first read and has "
                f"{kept_rows:,} now.",
                hint="Read it again.",
            )

    def scaled(self, scales: Mapping[str, Scale | None]) -> Stream:
        """The stream with other scales of some numbers, batch by batch; see `Table.scaled`."""
        return replace(self, schema=self.schema.scaled(scales))

    @property
    def unscaled(self) -> Stream:
        """The stream with every number as it is."""
        return self.scaled(dict.fromkeys(self.schema.scales)) if self.schema.scales else self

    @property
    def numbers(self) -> RowNumbers | None:
        """Where the rows stood in the source, if some are left out for their weight of 0.

        The source is read once more to see.
        """
        if self.weighting.column is None and self.weighting.array is None:
            return None
        numbers = RowNumbers()
        for _, places in self.numbered(self.schema.names[:1]):
            numbers.extend(places)
        return numbers if numbers.left_out else None

    def fold(
        self,
        of_table: Callable[[Table], T],
        merge: Callable[[T, T], T] = add,
        names: Sequence[str] | None = None,
        size: Callable[[T], int] = lambda _: 1,
    ) -> T | None:
        """What a function of small tables adds up to over all rows, in their order; `size` says
        how much work a merge of two values is.

        >>> import credo as cr
        >>> stream = cr.read(cr.examples.path("play_tennis"), memory="100 B")
        >>> stream.fold(len)
        14
        """
        return added_up(map(of_table, self.batches(names)), size, merge)

    def tally(self, families: Any = None, *, threads: int | None = None) -> Tally:
        """Count many families in one pass over the rows, reading only their columns."""
        wanted = self.schema.names if families is None else families
        plan = Plan.of(self.schema, wanted, self.rows)
        return plan.finish(
            plan.count(part.block, threads=threads, compact=False)
            for part in self.batches(plan.names or self.schema.names[:1])
        )

    def unique(self) -> Rows:
        """The weighted unique rows over the discrete variables, gathered batch by batch.

        A warning names the continuous variables, which are left out.
        """
        warn_continuous_left_out(self.schema)
        total: Rows | None = self.fold(Table.unique, add, self.schema.discrete, len)
        assert total is not None
        return total

    def take(self, places: NDArray[Any], names: Sequence[str] | None = None) -> Table:
        """The rows at some places, counted from 0 and in ascending order, as a table."""
        parts, done = list[Table](), 0
        for table in self.batches(names):
            low, high = np.searchsorted(places, [done, done + len(table)])
            parts.append(table.take(places[low:high] - done))
            done += len(table)
        return Table.joined(parts)

    def redrawn(self, seed: int) -> Stream:
        """A bootstrap sample of the rows; only codes on disk can be drawn again and again."""
        raise InputError(
            "The bootstrap of a stream keeps its codes in the folder for temporary files, which "
            "has no room for them.",
            hint="Set TMPDIR to a folder that has, or use table.load().",
        )

    def left_behind(self, message: str, hint: str) -> Stream:
        """What of it can be pickled: all but its source. Who asks for rows is told so.

        >>> import credo as cr
        >>> stream = cr.read(cr.examples.path("play_tennis"), memory="100 B")
        >>> print(stream.left_behind("The rows were left behind.", "Read them again."))
        play_tennis.csv: 14 rows, read batch by batch
        """
        feed = Feed(self.feed.label, self.feed.names, partial(_refuse, message, hint), self.rows)
        return _Unread(feed, self.schema, self.rows, places=self.numbers)

    def load(self) -> Table:
        """All rows as a table in memory; refused where they would not fit."""
        row = sum(np.dtype(code_type(v.arity)).itemsize if v.is_discrete else 8
                  for v in self.schema.variables)  # fmt: skip
        need, limit = row * self.rows, memory_limit(None)
        if need > 2 * limit:  # which is half of what is free
            raise LimitError(
                f"{self.feed.label} has {self.rows:,} rows, which would take {need / 1e9:,.1f} GB "
                "of memory.",
                hint="Read a part of the rows.",
            )

        parts, numbers = list[Table](), RowNumbers()
        for table, places in self.numbered():
            parts.append(table)
            numbers.extend(places)
        whole = Table.joined(parts)
        block = Block(self.schema, whole.block.arrays, whole.weights)
        return Table(block, numbers if numbers.left_out else None, whole.raw)

    def __repr__(self) -> str:
        size = f"{many(self.rows, 'row')}, {many(len(self.schema), 'variable')}"
        return f"Stream({self.feed.label}, {size})"

    def __reduce__(self) -> Any:
        raise _NotPickled(
            "A stream reads from its source and cannot be pickled; pickle the path and read it "
            "again, or pickle stream.load()."
        )

    def __str__(self) -> str:
        return f"{self.feed.label}: {many(self.rows, 'row')}, read batch by batch"

    def _repr_html_(self) -> str:
        return self.schema._repr_html_()


@dataclass(frozen=True, eq=False, repr=False)
class _Unread(Stream):
    """A stream without its source; `places` says where its rows stood, if some are left out."""

    places: RowNumbers | None = None

    @property
    def numbers(self) -> RowNumbers | None:
        """Where the rows stood in the source."""
        return self.places

    def left_behind(self, message: str, hint: str) -> Stream:
        """The same: there is no source to leave behind."""
        return self

    def __reduce__(self) -> Any:
        return taken_apart(self)


def encoded(
    feed: Feed,
    schema: Schema,
    missing: tuple[Any, ...],
    weighting: Weights,
    total: int | None = None,
    report: Report | None = None,
) -> Iterator[tuple[Table, RowNumbers]]:
    """The batches of a feed as tables of the schema, each with where its rows stood."""
    tokens = Tokens(missing, feed.text)
    encoders = [Encoder(v, tokens) for v in schema.unscaled.variables]
    done = 0
    for batch in track(
        feed.read(weighting.with_column(schema.names)),
        f"reading {feed.label}",
        total=total,
        size=lambda b: len(next(iter(b.values()))),
        report=report,
    ):
        rows = len(next(iter(batch.values())))
        kept, weights, there = weighting.split(batch, done)
        numbers = RowNumbers()
        numbers.add(done, rows, there)
        arrays = tuple(e.encode(kept[e.variable.name], numbers.of) for e in encoders)
        done += rows
        table = Table(Block(schema.unscaled, arrays, weights))
        yield table.scaled(schema.scales, numbers.of) if schema.scales else table, numbers


def _refuse(message: str, hint: str, names: Sequence[str]) -> Iterator[Any]:
    raise InputError(message, hint=hint)
