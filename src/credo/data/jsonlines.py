"""JSON lines as a feed: a column for every key, cells with the values of Python's json module.

A key may come in the last line for the first time, so the whole file is looked at before the first
batch is given. What was parsed is kept while it is small; a larger file is parsed again for
each pass. A text stays a text, whatever it looks like; a column of several types stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from credo.data.feed import Batch, Feed, distinct_names, refuse_too_wide
from credo.data.json_objects import Block, Unbounded, object_blocks
from credo.errors import TableError

__all__ = ["KEPT", "json_feed"]

KEPT = 64 * 2**20
"""The most bytes of parsed cells that are kept between the first look and the first pass."""

_KINDS: dict[frozenset[type], str] = {
    frozenset(): "null",
    frozenset({bool}): "bool",
    frozenset({int}): "int",
    frozenset({float}): "float",
    frozenset({int, float}): "float",
    frozenset({str}): "str",
}
_ARROW = {
    "null": pa.null(),
    "bool": pa.bool_(),
    "int": pa.int64(),
    "float": pa.float64(),
    "str": pa.string(),
}
_MIXED = "of several types"


def json_feed(path: Path, compression: str, encoding: str | None = None, kept: int = KEPT) -> Feed:
    """The feed of a file of JSON lines (or of one JSON array of objects)."""
    look = _Look(path, kept)
    for block in object_blocks(path, compression, encoding):
        look.add(block)
    if not look.rows:
        raise TableError(f"{path.name} has no rows.")
    given = list(look.types)
    kinds = {key: _kind(types) for key, types in look.types.items()}
    parts = look.parts(kinds)
    names, notes = distinct_names(given)
    key_of = dict(zip(names, given, strict=True))

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        if parts is not None:
            for rows, part in parts:
                yield {n: _kept_cells(part, key_of[n], kinds, rows) for n in wanted}
            return
        for block in object_blocks(path, compression, encoding):
            columns = ((n, key_of[n], _column(block.rows, key_of[n])) for n in wanted)
            yield {n: _cells(path, block, key, values, kinds[key]) for n, key, values in columns}

    width = sum(8 if kind in ("int", "float") else 1 for kind in kinds.values())
    types = {n: kinds[key_of[n]] for n in names if kinds[key_of[n]] != "null"}
    return Feed(path.name, names, batches, look.rows, look.rows * width, types=types, notes=notes)


class _Look:
    """The first look at a file: its keys, the types of their values, its rows."""

    def __init__(self, path: Path, kept: int) -> None:
        self.path = path
        self.rows = 0
        self.types: dict[str, set[type]] = {}
        self._room = kept
        self._parts: list[tuple[int, dict[str, tuple[str, Any]]]] | None = []

    def add(self, block: Block) -> None:
        """Take one block."""
        self.rows += len(block.rows)
        keys = dict.fromkeys(chain.from_iterable(block.rows))
        refuse_too_wide(self.path.name, len(self.types.keys() | keys))
        part: dict[str, tuple[str, Any]] = {}
        for key in keys:
            values = _column(block.rows, key)
            types = set(map(type, values)) - {type(None)}
            types = {float if t is Unbounded else t for t in types}
            self.types.setdefault(key, set()).update(types)
            if self._parts is not None:
                kind = _kind(types)
                cells = _cells(self.path, block, key, values, kind)
                part[key] = kind, cells
                self._room -= cells.nbytes if isinstance(cells, pa.Array) else 64 * len(cells)
        if self._room < 0:
            self._parts = None
        elif self._parts is not None:
            self._parts.append((len(block.rows), part))

    def parts(self, kinds: dict[str, str]) -> list[tuple[int, dict[str, Any]]] | None:
        """The cells kept, unless a column that is mixed in all has lost its types in a part."""
        if self._parts is None:
            return None
        out = []
        for rows, part in self._parts:
            if any(
                kinds[k] == _MIXED and kind not in (_MIXED, "null") for k, (kind, _) in part.items()
            ):
                return None
            out.append((rows, {key: cells for key, (_, cells) in part.items()}))
        return out


def _kind(types: set[type]) -> str:
    return _KINDS.get(frozenset(types), _MIXED)


def _column(rows: list[dict[str, Any]], key: str) -> list[Any]:
    try:
        return list(map(itemgetter(key), rows))
    except KeyError:  # a row without the key
        return [row.get(key) for row in rows]


def _cells(path: Path, block: Block, key: str, values: list[Any], kind: str) -> Any:
    """One column of a block, as Arrow has it, or as objects where that would lose something."""
    if kind == _MIXED:
        return _objects(values)
    try:
        cells = pa.array(values, _ARROW[kind], from_pandas=True)
    except UnicodeEncodeError as error:
        raise TableError(
            f"{path.name} holds {error.object!r} under {key!r}, which is not whole Unicode text.",
            hint="Mend the escape: a \\ud800 to \\udbff needs its second half.",
        ) from None
    except (pa.ArrowInvalid, OverflowError):  # beyond 64 bits, or beyond what a float holds
        return _objects(values)
    if kind == "float" and pc.any(pc.is_inf(cells)).as_py():
        return _objects(_column(block.as_written(), key))
    return cells


def _kept_cells(part: dict[str, Any], key: str, kinds: dict[str, str], rows: int) -> Any:
    """A column of a part that was kept, in the type of the whole column."""
    cells = part.get(key)
    kind = _ARROW.get(kinds[key])
    if cells is None:
        return _objects([None] * rows) if kind is None else pa.nulls(rows, kind)
    if kind is None or isinstance(cells, np.ndarray):
        return cells if isinstance(cells, np.ndarray) else _objects(cells.to_pylist())
    try:
        return cells.cast(kind)
    except pa.ArrowInvalid:  # whole numbers that a float cannot hold
        return _objects(cells.to_pylist())


def _objects(values: list[Any]) -> Any:
    return np.fromiter(values, dtype=object, count=len(values))
