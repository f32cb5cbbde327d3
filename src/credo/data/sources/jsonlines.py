"""JSON lines as a feed: a column for every key, cells with the values of Python's json module.

A key may come in the last line for the first time, so the whole file is looked at before the first
batch is given. What was parsed is kept while it is small; a larger file is parsed again for
each pass. A text stays a text, whatever it looks like; a column of several types stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from credo.core.errors import TableError
from credo.data.columns.cells import whole_numbers
from credo.data.sources.feed import Batch, Feed, distinct_names, refuse_too_wide
from credo.data.sources.json_blocks import MIXED, Block, in_type, kind_of
from credo.data.sources.json_objects import object_blocks

__all__ = ["KEPT", "json_feed"]

KEPT = 64 * 2**20
"""The most bytes of parsed cells that are kept between the first look and the first pass."""

_Part = dict[str, tuple[str, Any]]  # the columns of a block: what they are in it, and their cells


def json_feed(path: Path, compression: str, encoding: str | None = None, kept: int = KEPT) -> Feed:
    """The feed of a file of JSON lines (or of one JSON array of objects)."""
    look = _Look(path, kept)
    for block in object_blocks(path, compression, encoding):
        look.add(block)
    if not look.rows:
        raise TableError(f"{path.name} has no rows.")
    given = list(look.types)
    kinds = {key: kind_of(types) for key, types in look.types.items()}
    parts = look.parts(kinds)
    names, notes = distinct_names(given)
    key_of = dict(zip(names, given, strict=True))

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        keys = {n: key_of[n] for n in wanted}
        if parts is not None:
            for rows, part in parts:
                cells = {n: part.get(key, (None, None))[1] for n, key in keys.items()}
                yield {n: in_type(c, kinds[keys[n]], rows) for n, c in cells.items()}
            return
        for block in object_blocks(path, compression, encoding):
            yield {n: block.cells(key, kinds[key]) for n, key in keys.items()}

    def whole_among(name: str) -> set[int]:
        key = key_of[name]
        if look.types[key] != {int, float}:
            return set()
        blocks = object_blocks(path, compression, encoding)
        return set().union(*(whole_numbers(block.cells(key, MIXED)) for block in blocks))

    width = sum(8 if kind in ("int", "float") else 1 for kind in kinds.values())
    types = {n: kinds[key_of[n]] for n in names if kinds[key_of[n]] != "null"}
    return Feed(
        path.name,
        names,
        batches,
        look.rows,
        look.rows * width,
        types=types,
        notes=notes,
        whole_among=whole_among,
    )


class _Look:
    """The first look at a file: its keys, the types of their values, its rows."""

    def __init__(self, path: Path, kept: int) -> None:
        self.path = path
        self.rows = 0
        self.types: dict[str, set[type]] = {}
        self._room = kept
        self._parts: list[tuple[int, _Part]] | None = []

    def add(self, block: Block) -> None:
        """Take one block."""
        self.rows += block.rows
        refuse_too_wide(self.path.name, len(self.types.keys() | block.types))
        for key, types in block.types.items():
            self.types.setdefault(key, set()).update(types)
        part: _Part = {}
        for key, types in block.types.items():
            if self._room < 0:
                self._parts = None
                return
            kind = kind_of(types)
            cells = block.cells(key, kind)
            part[key] = kind, cells
            self._room -= cells.nbytes if isinstance(cells, pa.Array) else 64 * len(cells)
        if self._parts is not None:
            self._parts.append((block.rows, part))

    def parts(self, kinds: dict[str, str]) -> list[tuple[int, _Part]] | None:
        """The cells kept, unless a column that is mixed in all has lost its types in a part."""
        if self._parts is None or self._room < 0:
            return None
        for _, part in self._parts:
            for key, (kind, _) in part.items():
                if kinds[key] == MIXED and kind not in (MIXED, "null"):
                    return None
        return self._parts
