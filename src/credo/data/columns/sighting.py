"""A table of which no column is decided yet: numbers as they lie in memory, other cells in coders.

`columns_of` says what each column is and lets go of those it sets aside. Who may see more rows
later must not: what a column is, all rows together say. Here every column is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import TableError
from credo.core.schema import Schema
from credo.data.columns.cells import Tokens
from credo.data.columns.coder import Coder
from credo.data.columns.columns import Column, Columns, columns_of, matrix_columns, split_columns
from credo.data.columns.identifiers import FEW_INTEGERS, named_like_rows
from credo.data.columns.infer import Decision, Declared, decide
from credo.data.columns.noted import more_than
from credo.data.columns.once import coders_for
from credo.data.reading import MISSING, feed_of, wanted_of
from credo.data.sources.feed import Feed
from credo.data.sources.text import TextOptions
from credo.data.stream import Stream
from credo.data.table import Table
from credo.data.weights import Weights

__all__ = ["Sighted", "sighted"]

_HEAD = 64  # cells


@dataclass(frozen=True, eq=False, slots=True)
class Sighted:
    """The columns of a table: `plain` ones are numbers, or decided by a table that was read."""

    rows: int
    names: tuple[str, ...]
    plain: Columns
    coders: Mapping[str, Coder] = field(default_factory=dict)
    declared: Mapping[str, Declared] = field(default_factory=dict)
    wanted: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    numbers: frozenset[str] = frozenset()
    """Columns in coders only for their gaps: the frame says that they are whole numbers."""

    def without(self, name: str) -> Sighted:
        """The other columns."""
        names = tuple(n for n in self.names if n != name)
        coders = {n: c for n, c in self.coders.items() if n != name}
        return replace(self, names=names, coders=coders)

    def schema(self) -> Schema:
        """The columns in coders as `read` would report them."""
        found = [self.decision(n) for n in self.coders]
        variables = tuple(d.variable for d in found if d.variable is not None)
        return Schema(variables, tuple(d.column for d in found), self.label)

    def decision(self, name: str, word: Any = None) -> Decision:
        """What a column in a coder is by the rules, or by the user's word."""
        profile = self.coders[name].profile()
        return decide(profile, self.wanted.get(name, word), self.declared.get(name))

    def column(self, name: str, word: Any = None) -> Column | None:
        """A column as it is by the rules, or by the user's word; None if it is set aside."""
        if name not in self.coders:
            return self.plain.by_name[name]
        coder = self.coders[name]
        if word == "discrete" and coder.rows == coder.missing:
            return Column(np.full(self.rows, np.nan))  # no state is known yet
        variable = self.decision(name, word).variable
        if variable is None:
            return None
        return Column(coder.finish(variable), variable if variable.is_discrete else None)


def sighted(
    x: Any,
    wanted: Mapping[str, Any] | None = None,
    *,
    every: bool = False,
    called: Sequence[str] | None = None,
) -> Sighted:
    """The columns of a table; with `every` those of numbers are looked at by the rules too.

    Of the whole numbers of a frame the rules say what they are where the name is one for numbers of
    rows, such as *id*, and where they are few and stored as decimals, as those with a gap are in
    pandas. Those of an array are `called` by place.

    >>> found = sighted({"a": ["u", "u"], "b": np.array([1.5, 2.5])})
    >>> found.names, tuple(found.coders), found.decision("a").column.kind
    (('a', 'b'), ('a',), 'constant')
    """
    rows_numbered = frozenset() if every else _may_number_rows(x)
    if not (wanted or every or rows_numbered):
        matrix = matrix_columns(x, called)
        if matrix is not None and (type(x) is np.ndarray or not _has_few_whole(matrix)):
            return Sighted(matrix.rows, matrix.names, matrix)
    wanted = dict(wanted or {})
    if isinstance(x, (Table, Stream)):
        plain = columns_of(x)
        return Sighted(plain.rows, plain.names, plain)
    if every:
        return _in_coders(feed_of(x, TextOptions(), None), wanted)
    names, rows, raw, rest = split_columns(x, called)
    read = wanted.keys() | {n for n in rows_numbered if n in raw and raw[n].dtype.kind in "iu"}
    if not isinstance(x, np.ndarray):
        read |= {n for n, a in raw.items() if _are_few_whole(a)}
    numbers = {n: Column(a) for n, a in raw.items() if n not in read}
    unread = [n for n in names if n not in numbers]
    if not unread:
        return Sighted(rows, tuple(names), Columns(rows, {n: numbers[n] for n in names}))
    found = _in_coders(rest(unread, as_feed=True), {n: w for n, w in wanted.items() if n in unread})
    if numbers and found.rows != rows:
        raise TableError(f"The columns differ in length: {rows:,} and {found.rows:,} rows.")
    coders = {n: found.coders[n] for n in names if n in found.coders}
    plain = Columns(found.rows, numbers)
    return Sighted(
        found.rows, tuple(names), plain, coders, found.declared, found.wanted, found.label,
        _numbers_with_gaps(x, coders) - rows_numbered,
    )  # fmt: skip


def _has_few_whole(columns: Columns) -> bool:
    numbers = columns.matrix
    return numbers is not None and numbers.dtype.kind == "f" and any(map(_are_few_whole, numbers.T))


def _are_few_whole(a: NDArray[Any]) -> bool:
    """Whether decimals are a few whole numbers, gaps aside; mostly the first cells tell.

    >>> _are_few_whole(np.array([1.0, np.nan, 2.0])), _are_few_whole(np.array([1.0, 2.5]))
    (True, False)
    """
    if a.dtype.kind != "f":
        return False
    for cells in (a[:_HEAD], a):
        there = cells[~np.isnan(cells)]
        if not np.isfinite(there).all() or (there % 1 != 0).any():
            return False
        if more_than(there, FEW_INTEGERS):
            return False
    return len(there) > 0


def _may_number_rows(x: Any) -> frozenset[str]:
    """The columns of a frame that are named like numbers of rows: what they are, the rules say."""
    if type(x).__name__ != "DataFrame":
        return frozenset()
    package = type(x).__module__.split(".")[0]
    if package not in ("pandas", "polars"):
        return frozenset()
    return _named_like_rows(tuple(x.columns.tolist() if package == "pandas" else x.columns))


@lru_cache(maxsize=8)
def _named_like_rows(names: tuple[Any, ...]) -> frozenset[str]:
    return frozenset(n for n in names if isinstance(n, str) and n and named_like_rows(n))


def _numbers_with_gaps(x: Any, coders: Mapping[str, Coder]) -> frozenset[str]:
    """Columns of whole numbers of a polars frame: null in one part, they are plain in another."""
    if type(x).__module__.split(".")[0] != "polars":
        return frozenset()
    schema = x.collect_schema()
    return frozenset(n for n in coders if schema[n].is_integer())


def _in_coders(feed: Feed, wanted: Mapping[str, Any]) -> Sighted:
    if not feed.names:
        raise TableError(f"{feed.label} has no columns.")
    tokens = Tokens(MISSING if feed.text else (), feed.text)
    words = wanted_of(wanted or None, feed.names)
    weighting = Weights.of(None, feed.names, text=feed.text)
    coders, numbers = coders_for(feed, words, weighting, tokens, keep=True, every_state=True)
    rows = 0
    for batch in feed.read(list(coders)):
        here = len(next(iter(batch.values())))
        numbers.add(rows, here, None)
        for name, coder in coders.items():
            coder.add(batch[name])
        rows += here
    if rows == 0:
        raise feed.without_rows()
    none = Columns(rows, {})
    return Sighted(rows, tuple(feed.names), none, coders, feed.declared, words, feed.label)
