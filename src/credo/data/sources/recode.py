"""Text as every reader here takes it: units of two or four bytes (UTF-16, UTF-32) as UTF-8, white
space between cells as one blank.
"""

from __future__ import annotations

import codecs
import re
from typing import Any

from credo.core.errors import TableError

__all__ = ["Recoded", "Squeezed", "is_wide", "squeezed"]

_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)  # UTF-32's begin so too


def is_wide(encoding: str) -> bool:
    """Whether the characters of an encoding are units of several bytes.

    >>> is_wide("utf-16-le"), is_wide("utf-8")
    (True, False)
    """
    return encoding.startswith(("utf-16", "utf-32"))


class Recoded:
    """The bytes of a file of wide characters, as UTF-8. A NUL, or what is no text, is refused with
    its byte in the file.
    """

    def __init__(self, file: Any, encoding: str, name: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._encoding = encoding
        self._name = name
        self._done = 0
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes; none at the end."""
        while not self._rest:
            # two bytes become three at most
            raw: bytes = self._file.read(size if size < 0 else max(size // 2, 4))
            self._rest = self._decoded(raw, final=size < 0 or not raw).encode()
            if not raw:
                break
        cut = len(self._rest) if size < 0 else size
        out, self._rest = self._rest[:cut], self._rest[cut:]
        return out

    def _decoded(self, raw: bytes, *, final: bool) -> str:
        start = self._done - len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(raw, final)
        except UnicodeDecodeError as error:
            raise TableError(
                f"Byte {start + error.start + 1:,} of {self._name} is not {self._encoding} text.",
                hint="It may be cut off or damaged.",
            ) from None
        self._done += len(raw)
        if "\0" in text:
            unit = 2 if self._encoding.startswith("utf-16") else 4
            before = text[: text.index("\0")].encode(f"utf-{8 * unit}-le")
            mark = unit if start == 0 and self._drops_mark(raw) else 0
            at = start + mark + len(before) + 1
            raise TableError(f"Byte {at:,} of {self._name} is a NUL, which text cannot hold.")
        return text

    def _drops_mark(self, raw: bytes) -> bool:
        """Whether the decoder left out a byte-order mark at the start of the file."""
        return self._encoding in ("utf-16", "utf-32") and raw.startswith(_MARKS)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def squeezed(data: bytes) -> bytes:
    """Lines in which one blank stands for blanks and tabs outside of quotes, and none at the ends.

    >>> squeezed(b'  a   "b  c"\\t1 \\n')
    b'a "b  c" 1\\n'
    """
    if b'"' in data:
        data = re.sub(rb'("(?:[^"\n]|"")*")|[ \t]+', lambda m: m[1] or b" ", data)
    else:
        data = re.sub(rb"[ \t]+", b" ", data)
    return re.sub(rb"(?m)^ | (?=\r?$)", b"", data)


class Squeezed:
    """The bytes of a file whose cells white space keeps apart, line by line with single blanks."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._line = b""  # of which the end is to come
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes; none at the end."""
        while not self._rest:
            raw: bytes = self._file.read(size)
            whole, end, line = (self._line + raw).rpartition(b"\n")
            if size < 0 or not raw:
                whole, line = whole + end + line, b""
            else:
                whole += end
            self._rest, self._line = squeezed(whole), line
            if not raw:
                break
        cut = len(self._rest) if size < 0 else size
        out, self._rest = self._rest[:cut], self._rest[cut:]
        return out

    def close(self) -> None:
        """Close the file."""
        self._file.close()
