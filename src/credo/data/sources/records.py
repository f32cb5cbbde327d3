"""The records of a text file, straight to codes and numbers, as long as they are regular.

Most files are: every line as wide as the header, quotes only around a cell. Their labels and
numbers never become texts one by one. Where a file is not regular the bytes that are left go to
Arrow's parser, which reads the rest or says what is wrong.
"""

from __future__ import annotations

import io
from collections.abc import Generator, Sequence
from typing import Any, Protocol

import numpy as np

from credo import _core
from credo.data.columns.number_cells import cells_of_block
from credo.data.sources.arrays import text_array

__all__ = ["Rest", "regular_batches"]


class _Bytes(Protocol):
    def read(self, size: int = -1) -> bytes: ...


class Rest(io.RawIOBase):
    """Bytes that were read but not used, and then what is left of a stream.

    `odd` says that a quote was met in the middle of a cell: text may follow a closing one.
    """

    def __init__(self, first: bytes, stream: _Bytes, delimiter: str) -> None:
        self._first = first
        self._stream = stream
        edges = b"\r\n" + delimiter.encode()  # what stands beside the quotes of a cell
        self._kinds = bytes(
            ord("q" if c == ord('"') else "e" if c in edges else "x") for c in range(256)
        )
        self._last = b""
        self.odd = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._next(size)
        if not self.odd:
            self.odd = b"xqx" in (self._last + data).translate(self._kinds)
            self._last = data[-2:]
        return data

    def _next(self, size: int) -> bytes:
        if self._first:
            cut = len(self._first) if size < 0 else size
            out, self._first = self._first[:cut], self._first[cut:]
            return out if size >= 0 else out + self._stream.read()
        return self._stream.read(size)


def regular_batches(
    stream: _Bytes,
    delimiter: str,
    width: int,
    wanted: Sequence[int],
    *,
    header: bool,
    block: int,
    words: Sequence[str] | None = None,
    point: str = ".",
) -> Generator[list[Any], None, tuple[bytes, bool] | None]:
    """Batches of the wanted columns, in their order, as Arrow arrays; with words for missing, those
    of many different numbers as `NumberCells`.

    Returns None at the end of the file; where it is not regular, the bytes read but not used,
    and whether the header is still among them.
    """
    rising = sorted(set(wanted))
    at = {position: i for i, position in enumerate(rising)}
    spelled = None if words is None else list(words)
    records = _core.CsvRecords(delimiter, width, rising, spelled, point)
    asked: list[int] = []  # columns of numbers whose texts somebody wanted
    left = head = b""
    if header:
        while b"\n" not in left and len(left) <= block and (data := stream.read(block)):
            left += data
        line = left.find(b"\n") + 1  # the header is one line, or not regular
        used, found, regular, _ = _core.CsvRecords(delimiter, width, []).read(
            _array(left[:line]), False
        )
        if not regular or found != 1 or used != line:
            return left, True
        head, left = left[:line], left[line:]
    any_rows = False
    while True:
        more = stream.read(block)
        data = left + more if left else more
        if not data:
            return None if any_rows else (head, header)  # a file without rows is not for us
        while asked:
            records.want_texts([asked.pop()])
        array = _array(data)
        used, found, regular, columns = records.read(array, not more)
        any_rows |= found > 0
        if found:
            made = [c and text_array(*c) for c in columns]
            numbers = [i for i, c in enumerate(columns) if c is None]
            if words is not None and numbers:
                how = delimiter, width, rising
                cells = cells_of_block(records, numbers, words, array[:used], how, asked)
                for i, column in zip(numbers, cells, strict=True):
                    made[i] = column
            yield [made[at[position]] for position in wanted]
        left = data[used:]
        if not regular or len(left) > block:
            return (left, False) if any_rows else (head + left, header)


def _array(data: bytes) -> Any:
    return np.frombuffer(data, dtype=np.uint8)
