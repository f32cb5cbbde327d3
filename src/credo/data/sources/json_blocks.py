"""Some objects of a JSON file, one after the other, and their columns.

What is plain comes from the kernel as columns (`Plain`), all else as Python's objects (`Objects`).
The cells are the same.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import TableError
from credo.data.sources.arrays import text_array

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
_EXACT = 2**53  # up to here a float is every whole number
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
    """Python's objects, as `AS_WRITTEN` gives them."""

    objects: list[dict[str, Any]]
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
            return _array_of(values)
        return cells


@dataclass(frozen=True)
class Plain:
    """Columns of the kernel: as Arrow has them, or of several types."""

    rows: int
    types: dict[str, set[type]]
    columns: dict[str, Any]

    def cells(self, key: str, kind: str) -> Any:
        column = self.columns.get(key)
        if isinstance(column, _Mixed):
            return column.floats() if kind == "float" else column.objects()
        return in_type(column, kind, self.rows)


@dataclass(frozen=True)
class _Mixed:
    """Values of several types: the kernel's bit of each, numbers or places among the texts."""

    kinds: NDArray[np.uint8]
    values: NDArray[np.int64]
    texts: list[Any]  # what is nested is no text any more
    there: NDArray[np.uint8] | None

    def objects(self) -> Any:
        out = _array_of([None] * len(self.kinds))
        for bit, made in (
            (1, lambda v: v.astype(bool).tolist()),
            (2, lambda v: v.tolist()),
            (4, lambda v: v.view(np.float64).tolist()),
            (24, lambda v: [self.texts[i] for i in v]),
        ):
            where = np.flatnonzero(self.kinds & bit)
            out[where] = _array_of(made(self.values[where]))
        return out

    def floats(self) -> Any:
        whole = self.kinds == 2
        if (np.abs(self.values[whole]) > _EXACT).any():
            return self.objects()
        data = np.where(whole, self.values.astype(np.float64), self.values.view(np.float64))
        return _fixed(pa.float64(), data, self.there, len(data))


def plain_block(
    records: _core.JsonRecords, text: memoryview, most: int
) -> tuple[int, int, bool, Plain] | None:
    """The bytes and the line ends of the first objects, at most so many, whether what follows is
    plain, and their block. None where something nested is not JSON.
    """
    used, lines, rows, plain, found = records.read(np.frombuffer(text, dtype=np.uint8), most)
    types: dict[str, set[type]] = {}
    columns: dict[str, Any] = {}
    for key, mask, there, cells in found:
        types[key] = _TYPES[mask % _NESTED].copy()
        column = columns[key] = _column_of(cells, there, mask, rows)
        if mask < _NESTED:
            continue
        values = _parsed(column)
        if values is None:
            return None
        types[key] |= set(map(type, values)) - {type(None)}
        columns[key] = column if isinstance(column, _Mixed) else _array_of(values)
    return used, lines, plain, Plain(rows, types, columns)


def _column_of(cells: Any, there: Any, mask: int, rows: int) -> Any:
    if not mask:
        return pa.nulls(rows)
    if not isinstance(cells, tuple):
        return _fixed(_ARROW[kind_of(_TYPES[mask])], cells, there, rows)
    if len(cells) == 3:
        codes, offsets, data = cells
        return text_array(codes, offsets, data, there)
    kinds, values, offsets, data = cells
    return _Mixed(kinds, values, text_array(None, offsets, data).to_pylist(), there)


def _parsed(column: Any) -> list[Any] | None:
    """What is nested in a column, parsed: of one of several types in its place."""
    if not isinstance(column, _Mixed):
        return values_of(column.to_pylist())
    where = column.values[column.kinds == _NESTED].tolist()
    values = values_of([column.texts[i] for i in where])
    for i, value in zip(where, values or (), strict=values is not None):
        column.texts[i] = value
    return values


def _fixed(kind: Any, data: Any, there: Any, rows: int) -> Any:
    """Cells of fixed width, from their buffers."""
    nulls = None if there is None else pa.py_buffer(there)
    return pa.Array.from_buffers(kind, rows, [nulls, pa.py_buffer(data)])


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


# --- values as the json module gives them -------------------------------------------------


class Unbounded(float):
    """A number beyond what a float holds: infinite, but told as it is written.

    >>> Unbounded("1e309"), Unbounded("1e309") == float("inf")
    (1e309, True)
    """

    def __new__(cls, text: str) -> Unbounded:
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str

    def __repr__(self) -> str:
        return self.text


class Repeated(ValueError):
    """An object has a key twice; which value is meant cannot be known."""


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of its keys and values.

    >>> once_each([("a", 1), ("b", 2)])
    {'a': 1, 'b': 2}
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        raise Repeated(next(key for key in made if keys.count(key) > 1))
    return made


def _number(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else Unbounded(text)


def _constant(text: str) -> float:
    return math.nan if text == "NaN" else Unbounded(text)


AS_WRITTEN = json.JSONDecoder(
    object_pairs_hook=once_each, parse_float=_number, parse_constant=_constant
)
"""Gives every infinite number as an `Unbounded`."""


def lines_of(data: memoryview) -> list[str]:
    """The lines of some bytes that end with one.

    >>> lines_of(memoryview(b"{}\\n{}\\n"))
    ['{}', '{}']
    """
    return str(data, "utf-8").split("\n")[:-1]


def values_of(texts: list[str | None]) -> list[Any] | None:
    """The lists and objects that texts with balanced brackets stand for, None for None; nothing
    where one of them is not JSON.

    >>> values_of(["[1]", None, "{}"]), values_of(["[1}"])
    ([[1], None, {}], None)
    """
    # a text begins and ends where no bracket is open, so it cannot run into the next
    every = ",".join("null" if text is None else text for text in texts)
    try:
        found: list[Any] = json.loads(f"[{every}]", object_pairs_hook=once_each)
    except (ValueError, RecursionError):
        return None
    return found
