"""Taking cells: a batch of one column as its different values, or as numbers.

The one place that decides what a cell is: null, a token for missing, a value, a number, or
something that cannot be either. Columns that are not known yet and columns whose variable is
known are taken by the same rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from credo import _core
from credo.data.arrays import bytes_of, encoded_texts, floats, int32s, is_plain_text, plain
from credo.data.cells import Tokens, Unhashable, Unsupported, cell_key, number_of, type_name
from credo.data.json_values import Unbounded
from credo.data.numerals import text_numbers
from credo.state_values import is_missing

__all__ = [
    "Numbers",
    "States",
    "holds_floats",
    "holds_others",
    "positions_of",
    "python_values",
    "take_numbers",
    "take_states",
]

_PER_DAY = {"s": 86_400.0, "ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}


@dataclass(slots=True)
class States:
    """A batch as `values` and the position of each cell in it; past the end for missing."""

    values: list[Any]
    where: NDArray[Any]
    missing: int
    types: set[str]
    missing_as: dict[str, int] = field(default_factory=dict)
    listed: bool = False
    """Whether `values` is a dictionary, which may list values that no row has."""

    def has(self, index: int) -> bool:
        """Whether a row has this value."""
        return not self.listed or bool((self.where == index).any())


@dataclass(slots=True)
class Numbers:
    """A batch as floats, NaN for missing; `bad` are the cells that are no finite number."""

    values: NDArray[np.float64]
    bad: NDArray[np.intp]
    cells: Any
    missing: int
    types: set[str]
    exact: NDArray[Any] | None = None
    missing_as: dict[str, int] = field(default_factory=dict)
    whole: bool = False
    """Of texts: whether every number is written as a whole one."""

    def shown(self, index: int) -> str:
        """A bad cell as text."""
        cell = self.cells[index]
        return str(cell.as_py() if isinstance(cell, pa.Scalar) else cell)


_NUMBERS = (int, float, Decimal, Fraction)


def holds_floats(cells: Any) -> bool:
    """Whether a batch is of decimals: numbers that are not whole by their type."""
    if isinstance(cells, np.ndarray):
        types = {t for t in set(map(type, cells)) if t is not type(None)}
        are_numbers = bool not in types and all(issubclass(t, _NUMBERS) for t in types)
        return are_numbers and any(
            _python_type(c) == "float" and not is_missing(c) for c in cells if type(c) is not int
        )
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    return type_name(kind) == "float"


def holds_others(cells: Any) -> bool:
    """Whether a batch has cells that are no numbers by their type.

    >>> holds_others(pa.array([1.5, None])), holds_others(np.array([1, "a", None], dtype=object))
    (False, True)
    """
    if isinstance(cells, np.ndarray):
        return any(not _is_number(c) for c in cells if not is_missing(c))
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    return not pa.types.is_null(kind) and type_name(kind) not in ("int", "float")


def _is_number(cell: Any) -> bool:
    return _python_type(cell) in ("int", "float")


# --- as states ----------------------------------------------------------------------------


def take_states(cells: Any, tokens: Tokens, bytes_too: bool = False) -> States:
    """The different values of a batch that are not missing; `bytes_too` takes bytes as states."""
    if isinstance(cells, np.ndarray):
        values, where, types = _objects(cells)
        taken = States(values, where, int((where == len(values)).sum()), types)
    else:
        taken = _arrow_states(cells, bytes_too)
    values, where = taken.values, taken.where
    gone = [i for i, v in enumerate(values) if is_missing(v) or v in tokens]
    if gone:
        for i in gone:
            n = int((where == i).sum())
            taken.missing += n
            if n and not is_missing(values[i]):
                _add(taken.missing_as, {tokens.shown(values[i]): n})
        kept = sorted(set(range(len(values))).difference(gone))
        taken.where = _moved(where, kept, len(values))
        taken.values = [values[i] for i in kept]
    return taken


def _moved(where: NDArray[Any], keep: list[int], n: int) -> NDArray[np.int32]:
    """Positions among the values kept; those of the others are past the end."""
    lut = np.full(n + 1, len(keep), dtype=np.uint32)
    lut[keep] = np.arange(len(keep), dtype=np.uint32)
    out = np.empty(len(where), dtype=np.uint32)
    _core.take_codes(where, lut, out)
    return out.view(np.int32)


def _arrow_states(cells: Any, bytes_too: bool) -> States:
    is_uuid = isinstance(cells, pa.ExtensionArray) and type_name(cells.type) == "str"
    cells = _storage(cells)
    listed = pa.types.is_dictionary(cells.type)
    kind = cells.type.value_type if listed else cells.type
    if pa.types.is_null(kind):
        return States([], np.zeros(len(cells), dtype=np.int32), len(cells), set())
    name = "str" if is_uuid or (bytes_too and _is_binary(kind)) else type_name(kind)
    if name.startswith("unsupported"):
        raise Unsupported(name)
    if listed and pa.types.is_floating(kind):
        cells, listed = cells.dictionary_decode(), False
    if not listed and is_plain_text(cells):
        where, first = encoded_texts(cells)
        return States(cells.take(first).to_pylist(), where, 0, {name})
    if not listed:
        cells = pc.dictionary_encode(_encodable(cells))
    values = python_values(cells.dictionary)
    if is_uuid:
        values = [None if v is None else UUID(bytes=v) for v in values]
    where = positions_of(cells, len(values))
    return States(values, where, cells.indices.null_count, {name}, listed=listed)


def positions_of(cells: Any, past: int) -> NDArray[Any]:
    """Where each row stands in the dictionary of its column; `past` it if it is null.

    >>> positions_of(pa.array(["a", None, "a"]).dictionary_encode(), 1).tolist()
    [0, 1, 0]
    """
    indices = cells.indices
    nulls = indices.null_count
    if indices.type == pa.int8() and not nulls:
        return bytes_of(indices)
    if indices.type != pa.int32():
        indices = indices.cast(pa.int32())
    return int32s(pc.fill_null(indices, past) if nulls else indices)


def _encodable(cells: Any) -> Any:
    """The same values in a type of which Arrow makes dictionaries."""
    kind = cells.type
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return cells.cast(pa.decimal128(kind.precision, kind.scale))
    return cells


def _is_binary(kind: Any) -> bool:
    checks = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(check(kind) for check in (*checks, pa.types.is_binary_view))


def python_values(cells: Any) -> list[Any]:
    """Arrow values as Python has them; a date beyond its calendar as a text that tells it apart.

    >>> python_values(pa.array([0, 2**31 - 1], pa.date32()))
    [datetime.date(1970, 1, 1), '2147483647 days since 1970']
    """
    try:
        values: list[Any] = cells.to_pylist()
    except (OverflowError, ValueError):
        if not pa.types.is_temporal(cells.type):
            raise
        unit = "days" if pa.types.is_date32(cells.type) else getattr(cells.type, "unit", "ms")
        whole = cells.cast(pa.int32() if cells.type.bit_width == 32 else pa.int64()).to_pylist()
        values = [_date(c, f"{n} {unit} since 1970") for c, n in zip(cells, whole, strict=True)]
    if pa.types.is_interval(cells.type):
        values = [_duration(v) for v in values]
    return values


def _duration(value: Any) -> Any:
    """An interval of days and less as Python has it; one of months stays what it is."""
    if value is None or value.months or value.nanoseconds % 1000:
        return value
    return timedelta(days=value.days, microseconds=value.nanoseconds // 1000)


def _date(cell: Any, otherwise: str) -> Any:
    try:
        return cell.as_py()
    except (OverflowError, ValueError):
        return otherwise


def _objects(cells: NDArray[Any]) -> tuple[list[Any], NDArray[np.int32], set[str]]:
    """Python objects of mixed types, each kept as it is."""
    codes: dict[Any, int] = {}
    values: list[Any] = []
    where = np.empty(len(cells), dtype=np.int32)
    for i, cell in enumerate(cells):
        if is_missing(cell):
            where[i] = -1
            continue
        key = cell_key(cell)
        try:
            code = codes.setdefault(key, len(values))
        except TypeError:
            raise Unhashable(i, cell) from None
        if code == len(values):
            values.append(bool(cell) if key[0] else _own(key[1]))  # a number of NumPy as Python's
        where[i] = code
    where[where < 0] = len(values)
    kinds = {type(v): v for v in values}
    if any(issubclass(t, (complex, np.complexfloating)) for t in kinds):
        raise Unsupported("unsupported complex numbers")
    exact = {Decimal, Fraction}.intersection(kinds)  # of which some may be whole, and some not
    types = {_python_type(v) for t, v in kinds.items() if t not in exact}
    if exact:
        types |= {_python_type(v) for v in values if type(v) in exact}
    return values, where, types


def _own(value: Any) -> Any:
    """A value as the user has it: an infinite number of JSON as a float."""
    return float(value) if type(value) is Unbounded else value


def _python_type(value: Any) -> str:
    if isinstance(value, Enum):
        return "enum"
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (int, np.integer)):
        return "int"
    if isinstance(value, (float, np.floating)):
        return "float"
    if isinstance(value, Decimal):
        exponent = value.as_tuple().exponent
        return "int" if isinstance(exponent, int) and exponent >= 0 else "float"
    if isinstance(value, Fraction):
        return "int" if value.denominator == 1 else "float"
    durations = (timedelta, np.datetime64, np.timedelta64)
    is_date = hasattr(value, "isoformat") or isinstance(value, durations)
    return "date" if is_date or type(value).__name__ == "Period" else "str"


# --- as numbers ---------------------------------------------------------------------------


def take_numbers(cells: Any, tokens: Tokens, by_type: bool = False) -> Numbers:
    """A batch as numbers; texts are read strictly, dates are days since 1970. With `by_type` only
    what is a number by its type is one.
    """
    if by_type and not isinstance(cells, np.ndarray) and holds_others(cells):
        cells = np.array([*python_values(cells), None], dtype=object)[:-1]
    if isinstance(cells, np.ndarray):
        return _object_numbers(cells, tokens, by_type)
    if _is_text(cells):
        return _text_numbers(cells, tokens)
    cells = _numeric(cells)
    name = type_name(cells.type)
    exact = None
    if pa.types.is_null(cells.type):
        values, types = np.full(len(cells), np.nan), set()
        bad = np.zeros(0, dtype=np.intp)
        missing_as: dict[str, int] = {}
    elif name in ("int", "float", "bool", "date"):
        values = _days(cells) if name == "date" else floats(cells)
        types = {name}
        own = name in ("bool", "date")  # of which 0 and 1 are no cells
        missing_as = _clear(values, cells, tokens) if own else tokens.clear_numbers(values)
        bad = np.flatnonzero(np.isinf(values))
        if name == "int":
            exact = int_values(cells)
    else:
        raise Unsupported(name)
    missing = int(np.isnan(values).sum())
    return Numbers(values, bad, cells, missing, types, exact, missing_as)


def _is_text(cells: Any) -> bool:
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    checks = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(check(kind) for check in checks)


def _text_numbers(cells: Any, tokens: Tokens) -> Numbers:
    """Texts as numbers; each text of a dictionary is read once."""
    cells = plain(cells)
    listed = pa.types.is_dictionary(cells.type)
    labels = cells.dictionary if listed else cells
    found = text_numbers(labels, tokens.words)
    values, bad, gone = found.values, found.bad, found.gone
    if tokens.any_truths:
        at = np.flatnonzero(bad)
        hit = at[tokens.are_truths(labels.take(pa.array(at)).to_pylist())]
        bad[hit], gone[hit] = False, True
    where = positions_of(cells, len(labels)) if listed else None
    missing_as: dict[str, int] = {}
    words = np.flatnonzero(gone)
    if len(words) > labels.null_count:
        times = np.bincount(where, minlength=len(labels)) if where is not None else None
        for i in words.tolist():
            if (text := labels[i].as_py()) is not None:
                _add(missing_as, {tokens.shown(text): 1 if times is None else int(times[i])})
    if where is not None:
        values, bad = np.append(values, np.nan)[where], np.append(bad, False)[where]
        gone = np.append(gone, True)[where]
    _add(missing_as, tokens.clear_numbers(values))
    at = np.flatnonzero(bad)
    types = {"float", "str"} if len(at) else {"float"}
    missing = int((np.isnan(values) & ~bad).sum())
    return Numbers(values, at, cells, missing, types, None, missing_as, found.whole)


def _clear(values: NDArray[np.float64], cells: Any, tokens: Tokens) -> dict[str, int]:
    """Make the numbers NaN whose cells are tokens; say which, and how many."""
    if not tokens:
        return {}
    taken = take_states(cells, tokens)
    values[taken.where == len(taken.values)] = np.nan
    return taken.missing_as


def _object_numbers(cells: NDArray[Any], tokens: Tokens, by_type: bool) -> Numbers:
    values, where, types = _objects(cells)
    lut = np.full(len(values) + 1, np.nan)
    for i, value in enumerate(values):
        if not by_type or _is_number(value):
            lut[i] = number_of(value)
    missing_as: dict[str, int] = {}
    bad = np.zeros(len(cells), dtype=bool)
    for i, value in enumerate(values):
        if value in tokens:
            lut[i] = np.nan
            _add(missing_as, {tokens.shown(value): int((where == i).sum())})
        elif not np.isfinite(lut[i]):
            bad |= where == i
    numbers = lut[where]
    missing = int((np.isnan(numbers) & ~bad).sum())
    return Numbers(numbers, np.flatnonzero(bad), cells, missing, types, None, missing_as)


def _add(total: dict[str, int], more: dict[str, int]) -> None:
    for token, n in more.items():
        total[token] = total.get(token, 0) + n


def int_values(cells: Any) -> NDArray[Any]:
    """Whole numbers without their nulls, exactly."""
    kept = cells.drop_null()
    wide = pa.uint64() if pa.types.is_uint64(kept.type) else pa.int64()
    buffer = pc.cast(kept, wide)
    kind = np.uint64 if wide == pa.uint64() else np.int64
    if len(buffer) == 0:
        return np.zeros(0, dtype=kind)
    data = np.frombuffer(buffer.buffers()[1], dtype=kind, count=len(buffer) + buffer.offset)
    return data[buffer.offset :]


def _storage(cells: Any) -> Any:
    """The plain values that an extension type is kept as, or that are kept as runs."""
    if isinstance(cells, pa.ExtensionArray):
        if cells.type.extension_name == "pandas.period":
            raise Unsupported(type_name(cells.type))
        is_bool = cells.type.extension_name == "arrow.bool8"
        return pc.cast(cells.storage, pa.bool_()) if is_bool else cells.storage
    if pa.types.is_run_end_encoded(cells.type):
        return pc.run_end_decode(cells)
    return cells


def _numeric(cells: Any) -> Any:
    """Cells in a type from which numbers are made: decimals as whole numbers or floats, a UUID as
    the text that is none.
    """
    if isinstance(cells, pa.ExtensionArray) and type_name(cells.type) == "str":
        return pa.array([None if u is None else str(u) for u in cells.to_pylist()], pa.string())
    cells = _storage(cells)
    if pa.types.is_dictionary(cells.type):
        cells = plain(cells).dictionary_decode()
    if not pa.types.is_decimal(cells.type):
        return cells
    if cells.type.scale <= 0:
        try:
            return pc.cast(cells, pa.int64())
        except pa.ArrowInvalid:
            pass
    return pc.cast(cells, pa.float64())


def _days(cells: Any) -> NDArray[np.float64]:
    """Dates, times and durations as days."""
    kind = cells.type
    if pa.types.is_interval(kind):
        values = python_values(cells)
        if any(v is not None and not isinstance(v, timedelta) for v in values):
            raise Unsupported("unsupported intervals of months")
        day = timedelta(days=1)
        return np.array([np.nan if v is None else v / day for v in values], dtype=np.float64)
    if pa.types.is_date32(kind):
        return floats(pc.cast(cells, pa.int32()))
    if pa.types.is_date64(kind):
        return floats(pc.cast(cells, pa.int64())) / _PER_DAY["ms"]
    wide = pa.int32() if pa.types.is_time32(kind) else pa.int64()
    return floats(pc.cast(cells, wide)) / _PER_DAY[kind.unit]
