"""Some objects of a JSON file, one after the other, and their columns.

Lines that are plain come from the kernel as columns (`Plain`), all others as Python's objects
(`Objects`). The cells are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from credo import _core
from credo.data.arrays import text_array
from credo.data.json_values import Unbounded, lines_of, objects_of, values_of
from credo.errors import TableError

__all__ = ["MIXED", "Block", "Objects", "Plain", "in_type", "kind_of", "plain_block"]

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
MIXED = "of several types"
"""The kind of a column whose cells must stay Python's objects."""

_NESTED = 16  # the kernel's bit for lists and objects; those below are its others
_TYPES = [
    {t for bit, t in zip((1, 2, 4, 8), (bool, int, float, str), strict=True) if mask & bit}
    for mask in range(16)
]


def kind_of(types: set[type]) -> str:
    """What a column of these types is.

    >>> kind_of({int, float}), kind_of({int, str})
    ('float', 'of several types')
    """
    return _KINDS.get(frozenset(types), MIXED)


class Block(Protocol):
    """Some objects of a file; `types` has those of the values that each key has, null aside."""

    @property
    def rows(self) -> int: ...
    @property
    def types(self) -> dict[str, set[type]]: ...
    def cells(self, key: str, kind: str) -> Any:
        """A column as Arrow has it, or as objects where that would lose something."""


@dataclass(frozen=True)
class Objects:
    """Python's objects; `as_written` gives them with every infinite number as an `Unbounded`."""

    objects: list[dict[str, Any]]
    as_written: Callable[[], list[dict[str, Any]]]
    label: str = ""

    @property
    def rows(self) -> int:
        return len(self.objects)

    @cached_property
    def types(self) -> dict[str, set[type]]:
        keys = dict.fromkeys(chain.from_iterable(self.objects))
        found = {key: set(map(type, _column(self.objects, key))) for key in keys}
        return {
            key: {float if t is Unbounded else t for t in types if t is not type(None)}
            for key, types in found.items()
        }

    def cells(self, key: str, kind: str) -> Any:
        values = _column(self.objects, key)
        if kind == MIXED:
            return _array_of(values)
        try:
            cells = pa.array(values, _ARROW[kind], from_pandas=True)
        except UnicodeEncodeError as error:
            raise TableError(
                f"{self.label} holds {error.object!r} under {key!r}, which is not whole Unicode "
                "text.",
                hint="Mend the escape: a \\ud800 to \\udbff needs its second half.",
            ) from None
        except (pa.ArrowInvalid, OverflowError):  # beyond 64 bits, or beyond what a float holds
            return _array_of(values)
        if kind == "float" and pc.any(pc.is_inf(cells)).as_py():
            return _array_of(_column(self.as_written(), key))
        return cells


@dataclass(frozen=True)
class Plain:
    """Columns of the kernel, and the lines that they are of."""

    rows: int
    types: dict[str, set[type]]
    columns: dict[str, Any]
    lines: memoryview

    def cells(self, key: str, kind: str) -> Any:
        if kind == MIXED and self.types.get(key) == {int, float}:  # which are whole was lost
            return _array_of(_column(objects_of(lines_of(self.lines)), key))
        return in_type(self.columns.get(key), kind, self.rows)


def plain_block(
    records: _core.JsonRecords, lines: memoryview, most: int
) -> tuple[int, int, Plain] | None:
    """The bytes and the number of the first lines, and their block of at most so many objects; None
    where they are not plain.
    """
    found = records.read(np.frombuffer(lines, dtype=np.uint8), most)
    if found is None:
        return None
    used, count, rows, columns = found
    types, made = {}, {}
    for key, mask, there, cells in columns:
        made[key] = _arrow(cells, there, mask, rows)
        types[key] = _TYPES[mask & 15]
        if mask == _NESTED:
            values = values_of(made[key].to_pylist())
            if values is None:
                return None
            made[key] = _array_of(values)
            types[key] = set(map(type, values)) - {type(None)}
    return used, count, Plain(rows, types, made, lines[:used])


def _arrow(cells: Any, there: Any, mask: int, rows: int) -> Any:
    if not mask:
        return pa.nulls(rows)
    if isinstance(cells, tuple):
        codes, offsets, data = cells
        return text_array(codes, offsets, data, there)
    kind = _ARROW[kind_of(_TYPES[mask])]
    return pa.Array.from_buffers(kind, rows, [pa.py_buffer(there), pa.py_buffer(cells)])


def in_type(cells: Any, kind: str, rows: int) -> Any:
    """A column of a block, None if it has none, as the kind that it is in the whole file.

    >>> in_type(pa.array([1, 2]), "float", 2).to_pylist()
    [1.0, 2.0]
    """
    arrow = _ARROW.get(kind)
    if cells is None:
        return _array_of([None] * rows) if arrow is None else pa.nulls(rows, arrow)
    if isinstance(cells, np.ndarray):
        return cells
    if arrow is None:
        return _array_of(cells.to_pylist())
    if pa.types.is_dictionary(cells.type):
        return cells
    try:
        return cells.cast(arrow)
    except pa.ArrowInvalid:  # whole numbers that a float cannot hold
        return _array_of(cells.to_pylist())


def _column(objects: list[dict[str, Any]], key: str) -> list[Any]:
    try:
        return list(map(itemgetter(key), objects))
    except KeyError:  # an object without the key
        return [row.get(key) for row in objects]


def _array_of(values: list[Any]) -> Any:
    return np.fromiter(values, dtype=object, count=len(values))
