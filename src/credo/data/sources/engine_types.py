"""What engines hand over in a type that is not the user's: whole numbers of 128 bits come as
decimals, UUIDs as texts. Here they become what they were.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["from_texts", "python_cells", "uuids", "whole_numbers"]

_NO_UUID = "0" * 32


def python_cells(values: Any) -> Any:
    """Cells as an array of Python objects, each kept as it is."""
    return np.fromiter(iter(values), dtype=object, count=len(values))


def from_texts(cells: Any, parse: Callable[[str], Any]) -> Any:
    """What an engine could only write as texts, as the values that they are.

    >>> from_texts(pa.array(["12", None]), int).tolist()
    [12, None]
    """
    return python_cells([None if t is None else parse(t) for t in cells.to_pylist()])


def whole_numbers(cells: Any) -> Any:
    """Decimals without a fraction as whole numbers: of 64 bits, or Python's where they are larger.

    >>> whole_numbers(pa.array([1, None], pa.decimal128(38, 0))).to_pylist()
    [1, None]
    >>> whole_numbers(pa.array([10**20], pa.decimal128(38, 0))).tolist()
    [100000000000000000000]
    """
    try:
        return pc.cast(cells, pa.int64())
    except pa.ArrowInvalid:
        return python_cells([None if v is None else int(v) for v in cells.to_pylist()])


def uuids(cells: Any) -> Any:
    """The texts of UUIDs as UUIDs.

    >>> uuids(pa.array(["00000000-0000-0000-0000-00000000000a", None])).to_pylist()
    [UUID('00000000-0000-0000-0000-00000000000a'), None]
    """
    plain = pc.replace_substring(pc.fill_null(cells, _NO_UUID), "-", "")
    digits = "".join(plain.to_pylist())
    storage = pa.Array.from_buffers(
        pa.binary(16), len(cells), [None, pa.py_buffer(bytes.fromhex(digits))]
    )
    if cells.null_count:
        storage = pc.if_else(cells.is_valid(), storage, pa.scalar(None, pa.binary(16)))
    return pa.ExtensionArray.from_storage(pa.uuid(), storage)
