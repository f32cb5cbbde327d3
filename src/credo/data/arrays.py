"""Arrow arrays as NumPy arrays, straight from their buffers.

Arrow's own `to_numpy` imports pandas when it is installed, which costs a third of a second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["bools", "floats", "int32s"]


def _view(array: Any, dtype: Any) -> NDArray[Any]:
    """The values of a fixed-width array without nulls, not copied."""
    buffer = array.buffers()[1]
    if buffer is None or len(array) == 0:
        return np.zeros(0, dtype=dtype)
    return np.frombuffer(buffer, dtype=dtype, count=len(array) + array.offset)[array.offset :]


def int32s(array: Any) -> NDArray[np.int32]:
    """Integers without nulls, as 32-bit ones.

    >>> int32s(pa.array([1, 2], type=pa.int8())).tolist()
    [1, 2]
    """
    if array.type != pa.int32():
        array = array.cast(pa.int32())
    return _view(array, np.int32)


def floats(array: Any) -> NDArray[np.float64]:
    """Numbers as floats that can be written to; NaN where null.

    >>> floats(pa.array([1, None])).tolist()
    [1.0, nan]
    """
    if array.type != pa.float64():
        array = pc.cast(array, pa.float64(), safe=False)
    if array.null_count:
        array = pc.fill_null(array, float("nan"))
    return np.array(_view(array, np.float64))


def bools(array: Any) -> NDArray[np.bool_]:
    """Booleans, False where null.

    >>> bools(pa.array([True, None])).tolist()
    [True, False]
    """
    array = pc.fill_null(array, False) if array.null_count else array
    return _view(pc.cast(array, pa.uint8()), np.uint8).astype(bool)
