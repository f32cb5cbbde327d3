"""A distributed table: the rows stay where they are, and statistics of them come back.

It is a stream whose batches are encoded and counted on the workers of an engine. Whatever asks for
rows one by one gets them through this process, a few parts at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, TableError
from credo.core.render import many
from credo.core.schema import Schema
from credo.core.threads import checked_threads
from credo.data.engines.parts import Parts
from credo.data.sources.feed import Feed
from credo.data.stream import Stream, encoded
from credo.data.table import Table, warn_continuous_left_out
from credo.data.weights import RowNumbers, Weights
from credo.stats.adding_up import added_up
from credo.stats.family import Families
from credo.stats.plan import Partial, Plan
from credo.stats.rows import Rows
from credo.stats.tally import Tally

T = TypeVar("T")


@dataclass(frozen=True)
class Encoding:
    """How the cells of a part become tables: what a worker has to know."""

    schema: Schema
    missing: tuple[Any, ...]
    weighting: Weights
    seed: int | None = None
    """Of a bootstrap: the rows of tables kept before are drawn anew, alike in every pass."""

    def tables(self, part: Any, number: int) -> Iterator[Table]:
        """The tables of a part; those kept before have just to be narrowed."""
        if isinstance(part, Feed):
            for table, _ in encoded(part, self.schema, self.missing, self.weighting):
                yield table
            return
        for i, table in enumerate(part):
            narrow = table.select(self.schema.names)
            if self.seed is not None:
                narrow = narrow.redrawn(self.seed, number, i)
            yield narrow.rescaled(self.schema.scales)


@dataclass(frozen=True)
class Folding:
    """A task: a function of each table of a part, and what these values add up to."""

    encoding: Encoding
    of_table: Callable[[Table], Any]
    merge: Callable[[Any, Any], Any]
    size: Callable[[Any], int]

    def __call__(self, part: Any, number: int) -> Any:
        """The value of the part, None where it has no rows."""
        tables = (t for t in self.encoding.tables(part, number) if len(t))
        return added_up(map(self.of_table, tables), self.size, self.merge)


@dataclass(frozen=True)
class Counting:
    """A task: the tables of some families. The plan is made on the worker, once a process."""

    schema: Schema
    families: tuple[Any, ...]
    rows: int

    def __call__(self, table: Table) -> Partial:
        """The tables of one batch."""
        # the threads of an engine are its own affair: it counts as many tasks at once as it has
        return _plan(self.schema, self.families, self.rows).count(
            table.block, threads=1, compact=False
        )


def _size(partial: Partial) -> int:
    return partial.size


_LAST: list[tuple[Any, Plan]] = []


def _plan(schema: Schema, families: tuple[Any, ...], rows: int) -> Plan:
    """The plan of a task; the last one is kept for the next part."""
    for (known, asked, n), plan in _LAST:
        if n == rows and asked == families and known == schema:
            return plan
    made = Plan.of(schema, Families.of(families), rows)
    _LAST[:] = [((schema, families, rows), made)]
    return made


@dataclass(frozen=True)
class _Keeping:
    """A task: the value of a part, to be kept; nothing of a part without rows."""

    folding: Folding

    def __call__(self, part: Any, number: int) -> list[Any]:
        value = self.folding(part, number)
        return [] if value is None else [value]


@dataclass(frozen=True)
class OfKept:
    """A task: a function of the value that was kept of a part, and of the part's number."""

    of_value: Callable[[Any, int], Any]

    def __call__(self, part: Any, number: int) -> Any:
        """The value of the function."""
        return self.of_value(part[0], number) if part else None


@dataclass(frozen=True)
class _AtPlaces:
    """A task: the rows at some places; `first` says where the rows of each part begin."""

    encoding: Encoding
    places: Any
    first: Any

    def __call__(self, part: Any, number: int) -> Table | None:
        found, at = [], self.first[number]
        for table in self.encoding.tables(part, number):
            low, high = np.searchsorted(self.places, [at, at + len(table)])
            found.append(table.take(self.places[low:high] - at))
            at += len(table)
        return Table.joined(found) if found else None


@dataclass(frozen=True)
class _Taken:
    """A task: the tables themselves, for who has to see rows."""

    encoding: Encoding

    def __call__(self, part: Any, number: int) -> list[Table]:
        return list(self.encoding.tables(part, number))


def _one(value: Any) -> int:
    return 1


@dataclass(frozen=True, eq=False, repr=False)
class Distributed(Stream):
    """A source whose rows lie with an engine; made by `credo.read` of a Dask or Spark frame.

    >>> import credo as cr
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool:
    ...     source = cr.read(cr.examples.path("play_tennis"), on=pool)
    ...     print(source)
    ...     source.tally(["Wind"]) == cr.examples.play_tennis().tally(["Wind"])
    play_tennis.csv on 1 part: 14 rows
    True
    """

    parts: Parts = field(kw_only=True, repr=False)
    kept: bool = field(kw_only=True, default=False)
    """Whether the workers hold codes, rather than cells that are encoded in every pass."""
    seed: int | None = field(kw_only=True, default=None)

    def _encoding(self, names: Sequence[str] | None = None) -> Encoding:
        schema = self.schema if names is None else self.schema.select(names)
        if not schema.names:
            raise InputError("The source has no variable of the kind asked for.")
        return Encoding(schema, self.missing, self.weighting, self.seed)

    def fold(
        self,
        of_table: Callable[[Table], T],
        merge: Callable[[T, T], T] = add,
        names: Sequence[str] | None = None,
        size: Callable[[T], int] = _one,
    ) -> T | None:
        """What a function of small tables adds up to, computed where the rows are."""
        encoding = self._encoding(names)
        columns = self.weighting.with_column(encoding.schema.names)
        task = Folding(encoding, of_table, merge, size)
        return self.parts.gathered(task, columns, merge, size, self.report)

    @contextmanager
    def holding(
        self,
        of_table: Callable[[Table], T],
        merge: Callable[[T, T], T],
        names: Sequence[str] | None = None,
    ) -> Iterator[Parts]:
        """Parts that hold what a function of small tables adds up to over their rows."""
        encoding = self._encoding(names)
        columns = self.weighting.with_column(encoding.schema.names)
        task = _Keeping(Folding(encoding, of_table, merge, _one))
        with self.parts.keeping(task, columns) as kept:
            yield kept

    def take(self, places: NDArray[Any], names: Sequence[str] | None = None) -> Table:
        """The rows at some places, counted from 0 and in ascending order, as a table."""
        encoding = self._encoding(names)
        columns = self.weighting.with_column(encoding.schema.names)
        some = self._encoding(self.schema.names[:1])
        only = self.weighting.with_column(some.schema.names)
        counts = self.parts.in_order(Folding(some, len, add, _one), only, report=self.report)
        first = np.cumsum([0, *(n or 0 for n in counts)])
        task = _AtPlaces(encoding, places, first)
        found = self.parts.in_order(task, columns, report=self.report)
        return Table.joined([table for table in found if table is not None])

    def tally(self, families: Any = None, *, threads: int | None = None) -> Tally:
        """Count many families in one pass over the rows, on the workers."""
        checked_threads(threads)
        plan = Plan.of(self.schema, self.schema.names if families is None else families, self.rows)
        names = plan.names or self.schema.names[:1]
        narrow = self.schema.select(names)
        spelled = tuple((f.child, tuple(f.parents)) for f in plan.families)
        task = Counting(narrow, spelled, self.rows)
        own = _plan(narrow, spelled, self.rows)
        total = self.fold(task, Partial.add, names, _size)
        tally = own.finish([] if total is None else [total])
        self._refuse_other_rows(tally)
        return tally

    def _refuse_other_rows(self, tally: Tally) -> None:
        if self.weighting.column is None and self.seed is None and tally.rows != self.rows:
            raise TableError(
                f"{self.feed.label} had {self.rows:,} rows when it was first read and has "
                f"{tally.rows:,} now.",
                hint="Read it again; a frame that draws at random is another one in every pass.",
            )

    def numbered(self, names: Sequence[str] | None = None) -> Iterator[tuple[Table, RowNumbers]]:
        """The rows as small tables, through this process; each with where its rows stood."""
        for table in self.batches(names):
            yield table, RowNumbers()

    def batches(self, names: Sequence[str] | None = None) -> Iterator[Table]:
        """The rows as small tables, through this process, a few parts at a time."""
        encoding = self._encoding(names)
        columns = self.weighting.with_column(encoding.schema.names)
        for tables in self.parts.in_order(
            _Taken(encoding), columns, large=True, report=self.report
        ):
            yield from (t for t in tables if len(t))

    @property
    def numbers(self) -> RowNumbers | None:
        """Where the rows stood: parts have no numbers for all of their rows."""
        return None

    def unique(self) -> Rows:
        """The weighted unique rows over the discrete variables, gathered part by part."""
        warn_continuous_left_out(self.schema)
        total: Rows | None = self.fold(Table.unique, add, self.schema.discrete, len)
        assert total is not None
        return total

    @contextmanager
    def coded(self) -> Iterator[Distributed]:
        """The same rows encoded once and kept on the workers, a byte a cell mostly, while the block
        lasts: for work of many passes.
        """
        encoding = self._encoding()
        columns = self.weighting.with_column(encoding.schema.names)
        with self.parts.keeping(_Taken(encoding), columns) as kept:
            yield replace(self, parts=kept, kept=True)

    def redrawn(self, seed: int) -> Distributed:
        """A bootstrap sample of rows that are kept encoded: each counts as often as a Poisson
        number of mean 1.
        """
        if not self.kept:
            raise InputError("Rows are drawn anew from those that source.coded() keeps.")
        return replace(self, seed=seed, report=lambda done, total: None)

    def __str__(self) -> str:
        where = "" if self.parts.count is None else f" on {many(self.parts.count, 'part')}"
        return f"{self.feed.label}{where}: {many(self.rows, 'row')}"

    def __repr__(self) -> str:
        size = f"{many(self.rows, 'row')}, {many(len(self.schema), 'variable')}"
        return f"Distributed({self.feed.label}, {size})"
