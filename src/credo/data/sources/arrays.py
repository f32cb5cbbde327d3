"""Arrow arrays from and to NumPy and Python, straight through their buffers.

Arrow's own `array` and `to_numpy` import pandas when it is installed, which costs a third of a
second and 40 MB.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import TableError, shown


def _view(array: Any, dtype: Any) -> NDArray[Any]:
    """The values of a fixed-width array without nulls, not copied."""
    buffer = array.buffers()[1]
    if buffer is None or len(array) == 0:
        return np.zeros(0, dtype=dtype)
    return np.frombuffer(buffer, dtype=dtype, count=len(array) + array.offset)[array.offset :]


def text_array(codes: Any, offsets: Any, data: Any, there: Any = None) -> Any:
    """Texts as the kernels give them: codes into them, or None and a text for each row. `there`
    has a bit for each row that is not null.

    >>> codes, ends, data = np.int32([1, 0]), np.int32([0, 1, 3]), np.frombuffer(b"abc", np.uint8)
    >>> text_array(codes, ends, data).to_pylist(), text_array(None, ends, data).to_pylist()
    (['bc', 'a'], ['a', 'bc'])
    """
    nulls = None if there is None else pa.py_buffer(there)
    buffers = pa.py_buffer(offsets), pa.py_buffer(data)
    if codes is None:
        return pa.StringArray.from_buffers(len(offsets) - 1, *buffers, nulls)
    made = pa.StringArray.from_buffers(len(offsets) - 1, *buffers)
    kind = pa.int8() if codes.dtype == np.int8 else pa.int32()
    where = pa.Array.from_buffers(kind, len(codes), [nulls, pa.py_buffer(codes)])
    return pa.DictionaryArray.from_arrays(where, made)


def int32s(array: Any) -> NDArray[np.int32]:
    """Integers without nulls, as 32-bit ones.

    >>> int32s(pa.array([1, 2], type=pa.int8())).tolist()
    [1, 2]
    """
    if array.type != pa.int32():
        array = array.cast(pa.int32())
    return _view(array, np.int32)


def bytes_of(array: Any) -> NDArray[np.uint8]:
    """Small positions of a dictionary without nulls, not copied.

    >>> bytes_of(pa.array([1, 2], type=pa.int8())).tolist()
    [1, 2]
    """
    return _view(array, np.uint8)


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


def texts(values: Sequence[str]) -> Any:
    """Python texts as an Arrow array.

    >>> texts(["a", "日本"]).to_pylist()
    ['a', '日本']
    """
    joined = "".join(values)
    data = joined.encode("utf-8", "surrogatepass")
    parts = (
        values if len(data) == len(joined) else [v.encode("utf-8", "surrogatepass") for v in values]
    )
    offsets = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum(np.fromiter(map(len, parts), np.int32, len(values)), out=offsets[1:])
    return pa.StringArray.from_buffers(len(values), pa.py_buffer(offsets), pa.py_buffer(data))


def value_type(kind: Any) -> Any:
    """The type of the plain values in dictionaries, runs and extensions.

    >>> value_type(pa.dictionary(pa.int8(), pa.string()))
    DataType(string)
    """
    if isinstance(kind, pa.BaseExtensionType):
        return value_type(kind.storage_type)
    wrapped = pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind)
    return value_type(kind.value_type) if wrapped else kind


def plain(array: Any) -> Any:
    """The same cells in a type that all of Arrow's functions know: runs and views are laid out.

    >>> plain(pa.array(["a"], pa.string_view())).type
    DataType(large_string)
    """
    kind = array.type
    if pa.types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(array))
    if pa.types.is_string_view(kind):
        return array.cast(pa.large_string())
    if pa.types.is_binary_view(kind):
        return array.cast(pa.large_binary())
    if pa.types.is_dictionary(kind) and "view" in str(kind.value_type):
        return pa.DictionaryArray.from_arrays(array.indices, plain(array.dictionary))
    return array


def rows_there(array: Any, there: NDArray[np.bool_]) -> Any:
    """The cells of the rows that are there.

    >>> rows_there(pa.array(["a", "b"], pa.string_view()), np.array([False, True])).to_pylist()
    ['b']
    """
    array = plain(array)
    try:
        return array.filter(pa.array(there))
    except pa.ArrowNotImplementedError:  # lists and structs of views: piece by piece
        ends = np.flatnonzero(np.diff(there, prepend=False, append=False)).reshape(-1, 2)
        pieces = [array.slice(start, stop - start) for start, stop in ends.tolist()]
        return pa.concat_arrays([array.slice(0, 0), *pieces])


def is_plain_text(array: Any) -> bool:
    """Whether an array is of texts kept one after the other, none of them null."""
    plain = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
    return bool(plain and array.null_count == 0)


def text_buffers(array: Any) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Where each text of an array ends and the next begins, and the bytes of all.

    >>> ends, data = text_buffers(pa.array(["b", "ab"]))
    >>> ends.tolist(), data.tobytes()
    ([0, 1, 3], b'bab')
    """
    wide = pa.types.is_large_string(array.type)
    _, offsets, data = array.buffers()
    text = np.zeros(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    if not len(array) or offsets is None:
        return np.zeros(1, dtype=np.int32), text
    ends = array.offset + len(array) + 1
    at: NDArray[Any] = np.frombuffer(offsets, dtype=np.int64 if wide else np.int32, count=ends)
    return at[array.offset :], text


def encoded_texts(array: Any) -> tuple[NDArray[np.int32], Any]:
    """A code for each text, numbered as they are first met, and where each is first met.

    The same as Arrow's `dictionary_encode`, several times as fast on short labels.

    >>> codes, first = encoded_texts(pa.array(["b", "a", "b"]))
    >>> codes.tolist(), first.to_pylist()
    ([0, 1, 0], [0, 1])
    """
    at, text = text_buffers(array)
    if not len(array):
        return np.zeros(0, dtype=np.int32), pa.array([], type=pa.int32())
    codes, first = _core.encode_texts(at, text)
    return codes, pa.Array.from_buffers(pa.int32(), len(first), [None, pa.py_buffer(first)])


def first_places(where: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Where each of n values first stands in a batch; the batch's length for one that does not.

    >>> first_places(np.array([2, 0, 2, 0]), 3).tolist()
    [1, 4, 0]
    """
    first = np.full(n + 1, len(where))
    start, size = 0, 1_000  # few values have all been met after few rows
    while start < len(where) and first[:n].max(initial=0) == len(where):
        part = where[start : start + size]
        met = np.full(n + 1, len(where))
        met[part[::-1]] = np.arange(start + len(part) - 1, start - 1, -1)
        np.minimum(first, met, out=first)
        start, size = start + len(part), 4 * size
    return first[:n]


# --- sound columns ------------------------------------------------------------------------
#
# Cells that come from a file or another program are checked before they are used. Arrow trusts
# what a batch says of itself: where each text begins, which entry of a dictionary a row has. In a
# damaged file these are wrong, and to follow them is to read beyond the memory that is there. One
# look at every column finds it first.


_NO_TEXT = re.compile("[\0\ud800-\udfff]")


def sound(cells: Any, name: str, label: str) -> Any:
    """The column as it came; refused where its texts or positions cannot be followed.

    >>> cells = pa.DictionaryArray.from_arrays(pa.array([0, 7]), pa.array(["x"]), safe=False)
    >>> sound(cells, "a", "rows.arrow")
    Traceback (most recent call last):
    credo.errors.TableError: Column 'a' of rows.arrow is damaged: a row has position 7 of a \
dictionary of 1. Write the table again from its source.
    """
    try:
        if not _has_its_positions(cells):
            cells.validate(full=True)
    except (pa.ArrowException, ValueError, OverflowError, IndexError) as error:
        raise TableError(
            f"Column {name!r} of {label} is damaged: {_why(cells, str(error))}.",
            hint="Write the table again from its source.",
        ) from None
    return cells


def refuse_no_text(label: str, names: Sequence[str]) -> None:
    """Refuse a column whose name has a NUL, or half of a character of UTF-16: no text file can hold
    them, and an engine that reads UTF-16 as something else makes names of NULs.

    >>> refuse_no_text("The table", ["a", "b\\0"])
    Traceback (most recent call last):
    credo.errors.TableError: Column 2 of The table has a name that is no text: 'b\\x00' holds a \
NUL. Give it another name; a file in UTF-16 is read by its path.
    """
    at = next((i for i, name in enumerate(names) if _NO_TEXT.search(name)), None)
    if at is None:
        return
    nul = "\0" in names[at]
    raise TableError(
        f"Column {at + 1:,} of {label} has a name that is no text: {shown(names[at])} holds "
        f"{'a NUL' if nul else 'half of a character'}.",
        hint="Give it another name" + ("; a file in UTF-16 is read by its path." if nul else "."),
    )


def _has_its_positions(cells: Any) -> bool:
    """Whether a look at the largest position shows that a dictionary has them all: what Arrow finds
    too, in ten times the time. (What a null has for a position says nothing; Arrow knows.)
    """
    if not pa.types.is_dictionary(cells.type) or cells.type.index_type != pa.int32():
        return False
    cells.validate()
    cells.dictionary.validate(full=True)
    positions = int32s(cells.indices).view(np.uint32)  # a negative one is a large one
    return not len(positions) or int(positions.max()) < len(cells.dictionary)


def _why(cells: Any, said: str) -> str:
    """What is wrong, in our words."""
    if "UTF8" in said:
        return "a text is not UTF-8"
    if pa.types.is_dictionary(cells.type) and "out of bounds" in said:
        found = re.search(r"out of bounds: (-?[0-9]+)", said)
        position = f"position {found[1]}" if found else "a position"
        return f"a row has {position} of a dictionary of {len(cells.dictionary):,}"
    return said.splitlines()[0].rstrip(".") if said else "it cannot be followed"
