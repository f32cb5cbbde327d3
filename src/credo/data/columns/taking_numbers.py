"""Taking cells: a batch of one column as numbers.

What is a number is decided here alone; texts are read strictly, and what is none is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from credo.core.state_values import is_missing
from credo.data.columns.cells import Tokens, Unsupported, cell_text, number_of, type_name
from credo.data.columns.numerals import as_bool, numbers_of, text_numbers
from credo.data.columns.taking import (
    holds_others,
    is_number_by_type,
    objects_of,
    positions_of,
    python_values,
    storage_of,
    take_states,
)
from credo.data.sources.arrays import floats, plain, value_type

EXACT = 2.0**53
"""Beyond it whole numbers that differ may be the same as floats."""

_PER_DAY = {"s": 86_400.0, "ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}


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
    as_floats: bool = True
    """Whether the cells are these floats: of decimals and large whole numbers they are near."""

    def shown(self, index: int) -> str:
        """A bad cell as text."""
        if isinstance(self.cells, pa.Array):
            return cell_text(python_values(self.cells[index : index + 1])[0])
        return cell_text(self.cells[index])


def take_numbers(cells: Any, tokens: Tokens, by_type: bool = False, asked: bool = False) -> Numbers:
    """A batch as numbers; texts are read strictly, dates are days since 1970. With `by_type` only
    what is a number by its type is one. Where numbers were asked for, the booleans of a text file
    are 1 and 0, as those of every other table are.
    """
    if not isinstance(cells, np.ndarray):
        cells = storage_of(cells)
    if by_type and not isinstance(cells, np.ndarray) and holds_others(cells):
        cells = np.array([*python_values(cells), None], dtype=object)[:-1]
    if isinstance(cells, np.ndarray):
        return _object_numbers(cells, tokens, by_type)
    if _is_text(cells):
        return _text_numbers(cells, tokens, asked)
    as_floats = not pa.types.is_decimal(cells.type)
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
            as_floats = not len(exact) or bool(np.abs(values[~np.isnan(values)]).max() < EXACT)
    else:
        raise Unsupported(name)
    missing = int(np.isnan(values).sum())
    return Numbers(values, bad, cells, missing, types, exact, missing_as, as_floats=as_floats)


def _is_text(cells: Any) -> bool:
    kind = value_type(cells.type)
    checks = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(check(kind) for check in checks)


def _text_numbers(cells: Any, tokens: Tokens, asked: bool) -> Numbers:
    """Texts as numbers; each text of a dictionary is read once."""
    cells = plain(cells)
    listed = pa.types.is_dictionary(cells.type)
    labels = cells.dictionary if listed else cells
    found = text_numbers(labels, tokens.words)
    values, bad, gone, decimal = found.values, found.bad, found.gone, found.decimal
    if tokens.any_truths:
        at = np.flatnonzero(bad)
        hit = at[tokens.are_truths(labels.take(pa.array(at)).to_pylist())]
        bad[hit], gone[hit] = False, True
    if asked and tokens.text:
        for i in np.flatnonzero(bad).tolist():
            truth = as_bool(labels[i].as_py().strip())
            if truth is not None:
                values[i], bad[i] = truth, False
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
        decimal = np.append(decimal, False)[where]
    _add(missing_as, tokens.clear_numbers(values))
    at = np.flatnonzero(bad)
    types = {"float", "str"} if len(at) else {"float"}
    missing = int((np.isnan(values) & ~bad).sum())
    whole = not (decimal & ~np.isnan(values)).any()
    return Numbers(values, at, cells, missing, types, None, missing_as, whole)


def _clear(values: NDArray[np.float64], cells: Any, tokens: Tokens) -> dict[str, int]:
    """Make the numbers NaN whose cells are tokens; say which, and how many."""
    if not tokens:
        return {}
    taken = take_states(cells, tokens)
    values[taken.where == len(taken.values)] = np.nan
    return taken.missing_as


def _object_numbers(cells: NDArray[Any], tokens: Tokens, by_type: bool) -> Numbers:
    values, where, types = objects_of(cells)
    lut = np.full(len(values) + 1, np.nan)
    for i, value in enumerate(values):
        if not by_type or is_number_by_type(value):
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
    floats_all = all(map(is_float, filter(is_number_by_type, values)))
    return Numbers(
        numbers, np.flatnonzero(bad), cells, missing, types, None, missing_as, as_floats=floats_all
    )


def is_float(value: Any) -> bool:
    """Whether a number is a float, or a whole number that is one exactly.

    >>> is_float(0.1), is_float(3), is_float(2**60 + 1)
    (True, True, False)
    """
    if isinstance(value, (int, np.integer)):
        return abs(int(value)) < EXACT
    return isinstance(value, (float, np.floating))


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


def _numeric(cells: Any) -> Any:
    """Cells in a type from which numbers are made: decimals as whole numbers or floats."""
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


def whole_dates(cells: Any) -> NDArray[np.int64] | None:
    """Dates, times or durations without their nulls as the whole numbers they are kept as; None of
    other cells.

    >>> whole_dates(pa.array([0, None], pa.date32())).tolist(), whole_dates(pa.array([1]))
    ([0], None)
    """
    if isinstance(cells, np.ndarray) or type_name(cells.type) != "date":
        return None
    kept = storage_of(cells).drop_null()
    return int_values(kept.cast(pa.int32()) if kept.type.bit_width == 32 else kept.cast(pa.int64()))


def _days(cells: Any) -> NDArray[np.float64]:
    """Dates, times and durations as days."""
    kind = cells.type
    if pa.types.is_date32(kind):
        return _endless(floats(pc.cast(cells, pa.int32())), 2.0**31 - 1)
    if pa.types.is_date64(kind):
        return floats(pc.cast(cells, pa.int64())) / _PER_DAY["ms"]
    wide = pa.int32() if pa.types.is_time32(kind) else pa.int64()
    counts = floats(pc.cast(cells, wide))
    if pa.types.is_timestamp(kind) and kind.unit != "ns":  # in which it is a date of 2262
        counts = _endless(counts, 2.0**63)
    return counts / _PER_DAY[kind.unit]


def _endless(counts: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    """Days and the like, infinite where they are the most that there can be: so DuckDB hands over
    the dates that it calls infinity.
    """
    counts[np.abs(counts) >= most] *= np.inf
    return counts


def are_floats(cells: Any) -> bool:
    """Whether a batch of numbers is of floats alone: nothing is lost where they are kept so.

    >>> are_floats(pa.array([1.5, None])), are_floats(np.array([1.5, 2], dtype=object))
    (True, False)
    """
    if isinstance(cells, np.ndarray):
        return all(isinstance(c, (float, np.floating)) or is_missing(c) for c in cells)
    kind = value_type(cells.type)
    return bool(pa.types.is_floating(kind) or pa.types.is_null(kind))


def numbers_of_cells(
    values: Sequence[Any], text: bool, types: set[str], asked: bool = False
) -> NDArray[np.float64]:
    """Different cells as numbers, NaN where they are none: a frame's texts are none. Where numbers
    were asked for, the booleans of a text file are 1 and 0.

    >>> numbers_of_cells(["1.5", "true"], True, {"str"}, asked=True).tolist()
    [1.5, 1.0]
    """
    if text:
        numbers = numbers_of(values)
        for i in np.flatnonzero(np.isnan(numbers)).tolist() if asked else ():
            truth = as_bool(values[i].strip())
            numbers[i] = np.nan if truth is None else truth
        return numbers
    if not (types <= {"int", "float", "bool"} or types <= {"int", "float", "str"}):
        return np.full(len(values), np.nan)
    given = [np.nan if isinstance(v, str) else number_of(v) for v in values]
    numbers = np.array(given, dtype=np.float64)
    numbers[np.isinf(numbers)] = np.nan  # decimals and fractions that are too large
    return numbers
