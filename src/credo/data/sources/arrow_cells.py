"""The cells of one column of Python, NumPy or pandas as an Arrow array.

Arrow makes one type of what it is given, and sometimes another than was meant. Where it would
change a cell, the cells stay the Python objects that they are.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa

from credo.core.errors import TableError
from credo.core.state_values import is_missing
from credo.data.columns.cells import told
from credo.data.sources.engines import python_cells


def is_untyped(values: Any) -> bool:
    """Whether cells have a type only as a whole column: a list, or an array of objects."""
    kind = getattr(values, "dtype", None)
    return not isinstance(values, pa.Array) and (kind is None or kind == np.dtype(object))


def arrow_cells(values: Any, name: str, before: int = 0) -> Any:
    """One column's cells as an Arrow array; as objects where Arrow has no type for the mix.
    `before` are the rows above these, so that an error can name one.

    >>> arrow_cells([1, None], "x").to_pylist(), arrow_cells([1, "a"], "x").tolist()
    ([1, None], [1, 'a'])
    """
    if isinstance(values, pa.Array) or _is_objects(values):
        return values
    if hasattr(values, "to_arrow") and type(values).__module__.startswith("polars"):
        return values.to_arrow()
    if isinstance(values, np.ndarray) and not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))  # Arrow takes no other bytes
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(values)
        if values.dtype.kind in "mM":
            mask = mask | np.isnat(values.data)
        return pa.array(np.ascontiguousarray(values.data), mask=mask, from_pandas=True)
    kind = getattr(values, "dtype", None)
    types = set(map(type, values)) if is_untyped(values) else set()
    if _is_odd(kind) or _holds_odd(types):
        return _objects(values)
    if type(kind).__name__ == "SparseDtype" or _is_long(kind):
        values = np.asarray(values, dtype=np.float64 if _is_long(kind) else None)
    if isinstance(values, np.ndarray) and values.dtype.kind == "V":
        raise TableError(f"Column {name!r} holds cells of type {values.dtype}, not single values.")
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return pa.array(np.ascontiguousarray(values), from_pandas=True)
    try:
        array = pa.array(values, from_pandas=True)
    except UnicodeError:
        _refuse_broken(values, name, before)
        raise
    except (pa.ArrowInvalid, TypeError, pa.ArrowNotImplementedError, OverflowError):
        _refuse_broken(values, name, before)
        return _objects(values)
    if types and not _keeps(array.type, values, types):
        return _objects(values)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _refuse_broken(values: Any, name: str, before: int) -> None:
    """Refuse texts that hold half of a character, naming the first."""
    for row, cell in enumerate(values, start=before + 1):
        if isinstance(cell, str) and not (cell.isascii() or _is_whole(cell)):
            raise TableError(
                f"Row {row:,} of column {name!r} holds {told(str(cell))}, which is not whole "
                "Unicode text.",
                hint="Mend the cell: a character from U+D800 to U+DFFF is half of one.",
            )


def _is_whole(text: str) -> bool:
    """Whether a text can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_objects(values: Any) -> bool:
    return isinstance(values, _Objects)


class _Objects(np.ndarray[Any, Any]):
    """Cells of mixed types, after the whole column has been looked at."""


def _objects(values: Any) -> Any:
    return python_cells(values).view(_Objects)


def _is_odd(kind: Any) -> bool:
    """Whether a pandas type has values, or categories, that Arrow would take apart (intervals)."""
    if type(kind).__name__ == "CategoricalDtype":
        return type(kind.categories).__name__ in ("IntervalIndex", "PeriodIndex", "MultiIndex")
    return type(kind).__name__ in ("IntervalDtype", "PeriodDtype")


def _is_long(kind: Any) -> bool:
    """Whether a type is of floats that are longer than Arrow's."""
    return isinstance(kind, np.dtype) and kind.kind == "f" and kind.itemsize > 8


def _keeps(kind: Any, values: Any, types: set[type]) -> bool:
    """Whether the type that Arrow found keeps the cells of a list or objects as they are, which are
    of these types.
    """
    if pa.types.is_integer(kind):  # a UUID beside whole numbers is none
        return all(issubclass(t, (int, float, np.number)) or _is_gap(t) for t in types)
    if pa.types.is_decimal(kind):  # it would write 1.5 beside 2.25 as 1.50
        return all(is_missing(v) or _is_decimal(v, kind.scale) for v in values)
    if pa.types.is_temporal(kind):
        return _times_alike(values)
    if pa.types.is_floating(kind):  # whole numbers beside NaN stay whole; True is not the number 1
        floats = any(isinstance(v, (float, np.floating)) and v == v for v in values)
        return floats and {bool, np.bool_}.isdisjoint(types)
    if pa.types.is_list(kind):  # a tuple can be a state, and a list cannot
        return not any(issubclass(t, tuple) for t in types)
    if pa.types.is_binary(kind):  # a text beside bytes is none
        return not any(issubclass(t, str) for t in types)
    return True


def _is_gap(kind: type) -> bool:
    return kind is type(None) or kind.__name__ in ("NAType", "NaTType")


def _is_decimal(value: Any, scale: int) -> bool:
    return isinstance(value, Decimal) and value.as_tuple().exponent == -scale


def _times_alike(values: Any) -> bool:
    """Whether Arrow keeps all of the dates and times: it would cut the hour off where a date comes
    first, take every zone for the first one, and leave out that of a time, and nanoseconds.
    """
    kinds = {
        (type(v), getattr(v, "tzinfo", None), _has_nanoseconds(v))
        for v in values
        if not is_missing(v)
    }
    return len(kinds) <= 1 and not any(
        fine or (issubclass(kind, dt.time) and zone is not None) for kind, zone, fine in kinds
    )


def _has_nanoseconds(value: Any) -> bool:
    """Whether a timestamp or a duration of pandas has some."""
    return bool(getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0))


def _holds_odd(types: set[type]) -> bool:
    """Whether a list or an object column holds what Arrow would change: a complex number of NumPy
    would be its real part, a member of an enum its number or text, a boolean of NumPy beside
    numbers 0 or 1.
    """
    if np.bool_ in types and not types <= {np.bool_, bool, type(None)}:
        return True
    return any(issubclass(t, (np.complexfloating, Enum)) for t in types)
