"""The cells of one column of Python, NumPy or pandas as an Arrow array.

Arrow makes one type of what it is given, and sometimes another than was meant. Where cells of a
list or of objects are not all of one plain type, they stay the Python objects that they are.
"""

from __future__ import annotations

import datetime as dt
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa

from credo.core.errors import TableError
from credo.core.state_values import is_missing
from credo.data.sources.engines import python_cells

_PLAIN: tuple[tuple[type, ...], ...] = (
    (str,),
    (bool, np.bool_),
    (int, np.integer),
    (int, float, np.integer, np.floating),
    (dt.datetime,),
    (dt.date,),
    (dt.timedelta,),
    (bytes,),
)


def is_untyped(values: Any) -> bool:
    """Whether cells have a type only as a whole column: a list, or an array of objects."""
    kind = getattr(values, "dtype", None)
    return not isinstance(values, pa.Array) and (kind is None or kind == np.dtype(object))


def arrow_cells(values: Any, name: str) -> Any:
    """One column's cells as an Arrow array; as objects where they are of several types.

    >>> arrow_cells([1, None], "x").to_pylist(), arrow_cells([1, "a"], "x").tolist()
    ([1, None], [1, 'a'])
    """
    if isinstance(values, (pa.Array, _Objects)):
        return values
    if hasattr(values, "to_arrow") and type(values).__module__.startswith("polars"):
        return values.to_arrow()
    kind: Any = getattr(values, "dtype", None)
    if type(kind).__name__ in ("IntervalDtype", "PeriodDtype") or (
        type(kind).__name__ == "CategoricalDtype"
        and type(kind.categories).__name__ in ("IntervalIndex", "PeriodIndex", "MultiIndex")
    ):
        return _objects(values)  # of which Arrow makes records
    if is_untyped(values) and not _one_plain_type(values):
        return _objects(values)
    mask = None
    if isinstance(values, np.ma.MaskedArray):
        mask, values = np.ma.getmaskarray(values), values.data
        mask = mask | np.isnat(values) if values.dtype.kind in "mM" else mask
    if type(kind).__name__ == "SparseDtype" or kind == np.longdouble:
        values = np.asarray(values)
    if isinstance(values, np.ndarray):
        if values.dtype.kind == "V":
            raise TableError(f"Column {name!r} holds cells of type {values.dtype}.")
        if values.dtype.kind in "biufmM":
            plain = np.float64 if values.dtype.char == "g" else values.dtype.newbyteorder("=")
            values = np.ascontiguousarray(values, dtype=plain)
    try:
        array = pa.array(values, mask=mask, from_pandas=True)
    except UnicodeError:
        raise TableError(
            f"Column {name!r} holds a text that is not whole Unicode.",
            hint="Mend the cell: a character from U+D800 to U+DFFF is half of one.",
        ) from None
    except (pa.ArrowInvalid, TypeError, pa.ArrowNotImplementedError, OverflowError):
        return _objects(values)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


class _Objects(np.ndarray[Any, Any]):
    """Cells of several types, after the whole column has been looked at."""


def _objects(values: Any) -> Any:
    return python_cells(values).view(_Objects)


def _one_plain_type(values: Any) -> bool:
    """Whether cells are of one type that Arrow keeps as it is; decimals and whole numbers are
    numbers together, but whole ones beside NaN alone stay whole.
    """
    types = {t for t in set(map(type, values)) if t is not type(None)}
    if any(t.__name__ in ("NAType", "NaTType") for t in types):
        types = {type(v) for v in values if not is_missing(v)}
    if any(issubclass(t, Enum) for t in types) or (types & {bool, np.bool_} and types - {bool}):
        return types == {np.bool_}
    if not any(all(issubclass(t, plain) for t in types) for plain in _PLAIN):
        return False
    if any(issubclass(t, dt.date) for t in types):
        zones = {getattr(v, "tzinfo", None) for v in values if not is_missing(v)}
        return len(types) == len(zones) == 1
    if float in types and len(types) > 1:
        return any(isinstance(v, (float, np.floating)) and v == v for v in values)
    return True
