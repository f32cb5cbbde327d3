"""Taking cells: a batch of one column as its different values, or as numbers.

The one place that decides what a cell is: null, a token for missing, a value, a number, or
something that cannot be either. Columns that are not known yet and columns whose variable is
known are taken by the same rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from credo import _core
from credo.data.arrays import bytes_of, encoded_texts, floats, int32s, is_plain_text
from credo.data.cells import Tokens, Unhashable, Unsupported, cell_key, number_of, type_name
from credo.data.numerals import parse_floats
from credo.schema import is_missing

__all__ = ["Numbers", "States", "holds_floats", "take_numbers", "take_states"]

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

    def shown(self, index: int) -> str:
        """A bad cell as text."""
        cell = self.cells[index]
        return str(cell.as_py() if isinstance(cell, pa.Scalar) else cell)


def holds_floats(cells: Any) -> bool:
    """Whether a batch is of decimals: numbers that are not whole by their type."""
    if isinstance(cells, np.ndarray):
        types = {t for t in set(map(type, cells)) if t is not type(None)}
        are_numbers = all(issubclass(t, (int, float)) and t is not bool for t in types)
        return are_numbers and any(
            isinstance(c, float) and not is_missing(c) for c in cells if type(c) is not int
        )
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    whole = pa.types.is_decimal(kind) and kind.scale == 0
    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind)) and not whole


# --- as states ----------------------------------------------------------------------------


def take_states(cells: Any, tokens: Tokens, bytes_too: bool = False) -> States:
    """The different values of a batch that are not missing; `bytes_too` takes bytes as UTF-8."""
    if isinstance(cells, np.ndarray):
        values, where, types = _objects(cells)
        taken = States(values, where, int((where == len(values)).sum()), types)
    else:
        taken = _arrow_states(_as_text(cells) if bytes_too else cells)
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


def _arrow_states(cells: Any) -> States:
    cells = _simple(cells)
    if pa.types.is_null(cells.type):
        return States([], np.zeros(len(cells), dtype=np.int32), len(cells), set())
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    name = type_name(kind)
    if name.startswith("unsupported"):
        raise Unsupported(name)
    listed = pa.types.is_dictionary(cells.type)
    if not listed and is_plain_text(cells):
        where, first = encoded_texts(cells)
        return States(cells.take(first).to_pylist(), where, 0, {name})
    if not listed:
        cells = pc.dictionary_encode(cells)
    values = _python_values(cells.dictionary)
    indices = cells.indices
    nulls = indices.null_count
    if indices.type == pa.int8() and not nulls:
        return States(values, bytes_of(indices), nulls, {name}, listed=listed)
    if indices.type != pa.int32():
        indices = indices.cast(pa.int32())
    if nulls:
        indices = pc.fill_null(indices, len(values))
    return States(values, int32s(indices), nulls, {name}, listed=listed)


def _as_text(cells: Any) -> Any:
    """Bytes as the text they are in UTF-8; other cells as they are."""
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if not _is_binary(kind):
        return cells
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    try:
        return cells.cast(pa.large_binary()).cast(pa.large_string())
    except pa.ArrowInvalid:
        for i, cell in enumerate(cells.to_pylist()):
            if cell is not None and not _is_utf8(cell):
                raise Unhashable(i, cell) from None
        raise


def _is_binary(kind: Any) -> bool:
    checks = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(check(kind) for check in (*checks, pa.types.is_binary_view))


def _is_utf8(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True


def _python_values(cells: Any) -> list[Any]:
    """Arrow values as Python has them; a date beyond its calendar as a text that tells it apart.

    >>> _python_values(pa.array([0, 2**31 - 1], pa.date32()))
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
    return values


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
        try:
            code = codes.setdefault(cell_key(cell), len(values))
        except TypeError:
            raise Unhashable(i, cell) from None
        if code == len(values):
            values.append(cell)
        where[i] = code
    where[where < 0] = len(values)
    kinds = {type(c): c for c in cells if not is_missing(c)}
    return values, where, {_python_type(c) for c in kinds.values()}


def _python_type(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (int, np.integer)):
        return "int"
    if isinstance(value, (float, np.floating)):
        return "float"
    return "date" if hasattr(value, "isoformat") else "str"


# --- as numbers ---------------------------------------------------------------------------


def take_numbers(cells: Any, tokens: Tokens) -> Numbers:
    """A batch as numbers; texts are read strictly, dates are days since 1970."""
    if isinstance(cells, np.ndarray):
        return _object_numbers(cells, tokens)
    cells = _simple(cells)
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    name = type_name(cells.type)
    exact = None
    if pa.types.is_null(cells.type):
        values, types = np.full(len(cells), np.nan), set()
        bad = np.zeros(0, dtype=np.intp)
        missing_as: dict[str, int] = {}
    elif name == "str":
        trimmed, missing_as = tokens.clear_texts(cells)
        values, bad = parse_floats(trimmed)
        types = {"float"} if not len(bad) else {"float", "str"}
        _add(missing_as, tokens.clear_numbers(values))
    elif name in ("int", "float", "bool", "date"):
        values = _days(cells) if name == "date" else floats(cells)
        types = {name}
        missing_as = tokens.clear_numbers(values)
        bad = np.flatnonzero(np.isinf(values))
        if name == "int":
            exact = int_values(cells)
    else:
        raise Unsupported(name)
    missing = int(np.isnan(values).sum()) - (len(bad) if name == "str" else 0)
    return Numbers(values, bad, cells, missing, types, exact, missing_as)


def _object_numbers(cells: NDArray[Any], tokens: Tokens) -> Numbers:
    values, where, types = _objects(cells)
    lut = np.array([*(number_of(v) for v in values), np.nan], dtype=np.float64)
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


def _simple(cells: Any) -> Any:
    """The same values in a simpler type: whole decimals as integers, a UUID as its text."""
    if isinstance(cells, pa.ExtensionArray):
        if cells.type.extension_name == "arrow.uuid":
            return pa.array([None if u is None else str(u) for u in cells.to_pylist()], pa.string())
        cells = cells.storage
    if pa.types.is_dictionary(cells.type) and pa.types.is_floating(cells.type.value_type):
        cells = cells.dictionary_decode()
    if pa.types.is_decimal(cells.type) and cells.type.scale == 0:
        try:
            return pc.cast(cells, pa.int64())
        except pa.ArrowInvalid:
            return pc.cast(cells, pa.float64())
    if pa.types.is_decimal(cells.type):
        return pc.cast(cells, pa.float64())
    return cells


def _days(cells: Any) -> NDArray[np.float64]:
    """Dates, times and durations as days."""
    kind = cells.type
    if pa.types.is_date32(kind):
        return floats(pc.cast(cells, pa.int32()))
    if pa.types.is_date64(kind):
        return floats(pc.cast(cells, pa.int64())) / _PER_DAY["ms"]
    wide = pa.int32() if pa.types.is_time32(kind) else pa.int64()
    return floats(pc.cast(cells, wide)) / _PER_DAY[kind.unit]
