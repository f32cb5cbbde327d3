"""Rows from experiments: a row in which X was set says nothing of X's own family.

    P(rows | graph) = Π_i Π_{rows in which i was not set} P(x_i | parents(x_i))

Setting X cuts it from its parents, so such a row is left out of the tally of X's family and counts
for every other (Cooper & Yoo 1999). It is a mask in the tally: each child is counted on the rows in
which it was not set, of a stream batch by batch.

A soft experiment changes X's family and does not cut it: the family then has a table of its own in
those rows, and a graph is scored by both (Tian & Pearl 2001).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.schema import Schema
from credo.data import Kept, Stream, Table, spooled
from credo.stats.adding_up import added_up
from credo.stats.family import Families
from credo.stats.tally import Tally
from credo.train.parameters.told import Told, told_by

__all__ = ["Experiments", "experiments", "spooled_rows"]

Mask = NDArray[np.bool_]
Set = tuple[str, ...]


class Experiments:
    """Rows that say what was set in each of them; a source that counts a child where it was not.

    >>> import credo as cr
    >>> table = cr.read({"x": [0, 1, 1, 0], "y": [0, 1, 1, 1], "set": ["", "", "x", "y"]})
    >>> rows = experiments(table, "set")
    >>> rows.tally(["x", ("y", ["x"])])["x"].total, rows.targets
    (3, (('x',), ('y',)))
    """

    def __init__(self, whole: Table | Stream, told: Told, soft: bool = False) -> None:
        self.whole, self.told, self.soft = whole, told, soft
        self.names = tuple(n for n in whole.schema.names if n not in told.columns)
        self.masks: dict[str, Mask] = {}
        if isinstance(whole, Table):
            self.table: Table | Stream = whole.select(self.names)
            self.masks = {n: m for n, m in told.masks(whole, 0).items() if m.any()}
        else:
            self.table = Kept.of(whole, self.names, whole.rows, (), None)
        self._sizes = self._counted()  # the rows of each set
        self._parts: dict[frozenset[Set], Table | Stream] = {}
        for name in self.names:
            if self._sizes and all(name in set_ for set_ in self._sizes):
                raise InputError(
                    f"{name!r} was set in every row, so nothing can be learned of it.",
                    hint="Leave it to the experiment: give rows in which it was not set, or leave "
                    "it out of the graph.",
                )

    def _counted(self) -> Counter[Set]:
        if isinstance(self.whole, Table):
            return Counter(_sizes(self.names, self.masks, self.whole.rows))
        found: Counter[Set] = Counter()
        at = 0
        for part in self.whole.batches(list(self.told.columns) or self.names[:1]):
            found.update(_sizes(self.names, self.told.masks(part, at), part.rows))
            at += part.rows
        return found

    @property
    def schema(self) -> Schema:
        """The variables, without those that tell what was set."""
        return self.table.schema

    @property
    def rows(self) -> int:
        """All rows."""
        return self.table.rows

    def __len__(self) -> int:
        return self.rows

    @property
    def targets(self) -> tuple[Set, ...]:
        """The sets of variables that were set together in some row, in the order of columns."""
        return tuple(set_ for set_ in self.sets if set_)

    @property
    def sets(self) -> list[Set]:
        """The same with the empty one, if something was set in not every row."""
        place = {n: i for i, n in enumerate(self.names)}
        return sorted(self._sizes, key=lambda names: [place[n] for n in names])

    @property
    def observed(self) -> Table | Stream | None:
        """The rows in which nothing was set; None if there are none."""
        return self.part([()]) if () in self._sizes else None

    def groups(self) -> list[tuple[Set, Table | Stream]]:
        """The rows by what was set in them."""
        return [(set_, self.part([set_])) for set_ in self.sets]

    def of(self, child: str) -> Table | Stream:
        """The rows in which a variable was not set."""
        return self.part([s for s in self.sets if child not in s])

    def under(self, child: str) -> list[Table | Stream]:
        """The rows in which a variable was set, by what was set with it."""
        return [self.part([s]) for s in self.sets if child in s]

    def part(self, sets: Sequence[Set]) -> Table | Stream:
        """The rows in which one of some sets was set, kept."""
        key = frozenset(sets)
        if key == frozenset(self.sets):
            return self.table
        if key not in self._parts:
            if isinstance(self.whole, Table):
                assert isinstance(self.table, Table)
                kept = _among(self.masks, self.whole.rows, key)
                self._parts[key] = self.table.take(kept)
            else:
                size = sum(self._sizes[s] for s in key)
                self._parts[key] = Kept.of(
                    self.whole, self.names, size, self.told.columns,
                    partial(_kept, told=self.told, key=key),
                )  # fmt: skip
        return self._parts[key]

    def take(self, rows: Any) -> Experiments:
        """Some of the rows of a table, with what was set in them."""
        assert isinstance(self.whole, Table)
        masks = {n: m[rows] for n, m in self.masks.items()}
        table = self.whole.select(self.names).take(rows)
        return Experiments(table, Told((), lambda part, at: masks), self.soft)

    def load(self) -> Experiments:
        """The same in memory."""
        if isinstance(self.whole, Table):
            return self
        return Experiments(self.whole.load(), self.told, self.soft)

    def tally(self, families: Any, *, threads: int | None = None) -> Tally:
        """The statistics of families, each on the rows in which its child was not set."""
        wanted = Families.of(families)
        if isinstance(self.whole, Table):
            return _masked(self, wanted, threads)
        names = list(dict.fromkeys(n for f in wanted for n in f.names))
        total = added_up(self._tallies(wanted, names, threads), lambda t: 1, add)
        assert total is not None
        return total

    def _tallies(self, wanted: Families, names: list[str], threads: Any) -> Iterator[Tally]:
        """One pass over a stream: the masked tally of each batch."""
        assert isinstance(self.whole, Stream)
        at = 0
        beside = [n for n in self.told.columns if n not in names]
        for part in self.whole.batches([*names, *beside]):
            masks = self.told.masks(part, at)
            at += part.rows
            batch = _Batch(part.select(names), masks)
            yield _masked(batch, wanted, threads)


class _Batch:
    """A batch with its masks."""

    def __init__(self, table: Table, masks: dict[str, Mask]) -> None:
        self.table, self.masks = table, masks
        self._parts: dict[bytes, Table] = {}

    def of(self, child: str) -> Table:
        """The rows in which a variable was not set."""
        mask = self.masks.get(child)
        if mask is None or not mask.any():
            return self.table
        key = np.packbits(mask).tobytes()
        if key not in self._parts:
            self._parts[key] = self.table.take(~mask)
        return self._parts[key]


def _masked(rows: Any, wanted: Families, threads: int | None) -> Tally:
    """The tally of a table, each family on the rows in which its child was not set."""
    listed = list(wanted)
    parts = [rows.of(f.child) for f in listed]
    groups: dict[int, tuple[Table, list[Any]]] = {}
    for part, family in zip(parts, listed, strict=True):
        groups.setdefault(id(part), (part, []))[1].append(family)
    tallies = {k: part.tally(own, threads=threads) for k, (part, own) in groups.items()}
    of = [tallies[id(part)] for part in parts]
    return Tally(wanted, lambda i: of[i][listed[i]], rows.table.block.weight)


def _sizes(order: Sequence[str], masks: dict[str, Mask], rows: int) -> dict[Set, int]:
    """How many rows each set of variables was set in."""
    names = [n for n in order if n in masks]
    if not names:
        return {(): rows} if rows else {}
    whole = np.stack([masks[n] for n in names], axis=1)
    found, counts = np.unique(whole, axis=0, return_counts=True)
    return {
        tuple(n for n, on in zip(names, row, strict=True) if on): int(c)
        for row, c in zip(found, counts, strict=True)
    }


def _among(masks: dict[str, Mask], rows: int, key: frozenset[Set]) -> Mask:
    """The rows in which one of some sets was set, and nothing else."""
    out = np.zeros(rows, dtype=bool)
    for set_ in key:
        own = np.ones(rows, dtype=bool)
        for name, mask in masks.items():
            own &= mask if name in set_ else ~mask
        out |= own
    return out


def _kept(part: Table, at: int, *, told: Told, key: frozenset[Set]) -> Mask:
    return _among(told.masks(part, at), part.rows, key)


def experiments(source: Any, intervened: Any, soft: bool = False) -> Any:
    """A source with what was set in each row; the source itself where nothing is told."""
    if intervened is None:
        if soft:
            raise InputError("soft= says how variables were set: intervened= is needed.")
        return source
    if not isinstance(source, (Table, Stream)):
        raise InputError(
            f"intervened= goes with rows, got {type(source).__name__}.",
            hint="Read them first: cr.read(…).",
        )
    return Experiments(source, told_by(source, intervened), soft)


@contextmanager
def spooled_rows(source: Any) -> Iterator[Any]:
    """A source whose codes lie on disk while the block lasts, if it is a stream."""
    if not isinstance(source, Experiments):
        with spooled(source) as rows:
            yield rows
        return
    with spooled(source.whole) as rows:
        yield source if rows is source.whole else Experiments(rows, source.told, source.soft)
