"""The bytes of a text file: unpacked, decoded, and watched for what text cannot hold."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from credo.core.errors import InputError, LimitError, TableError

MAX_RATIO = 200
"""A compressed file that unpacks to more than this many times its size is refused …"""

MAX_UNPACKED = 32 * 2**20
"""… once it has passed this many bytes."""

HEAD = 1 << 20

_END = r"(?:\r\n|\n|\r)"
_SEP = rf'(?:"sep=(?P<quoted>[,;|\t])"|sep=(?P<bare>[,;|\t])){_END}'


@lru_cache
def start_of_text(blanks: str) -> re.Pattern[str]:
    """What stands before the first row: lines of nothing but `blanks` (a tab may be a delimiter; an
    empty line may be a missing cell, where nothing is blank), and, if it is there, Excel's line
    `sep=;`.

    >>> start_of_text(" ").match("  \\nsep=;\\na;b\\n").lastgroup
    'bare'
    """
    lines = rf"(?:[{blanks}]*{_END})*" if blanks else ""
    return re.compile(rf"\A{lines}(?:{_SEP}{lines})?")


_NOT_TEXT = {
    b"PK\x03\x04": "a zip archive (as .xlsx files are)",
    b"\x1f\x8b": "a gzip file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"\xfd7zXZ\x00": "an xz file",
    b"PAR1\x15": "a Parquet file",
    b"ARROW1\x00\x00": "an Arrow file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"SQLite format 3\x00": "an SQLite database",
}


class Watched(io.RawIOBase):
    """The unpacked bytes of a file. Refuses a NUL in text, and a decompression bomb.

    Beside a delimiter, quotation marks are watched too: `quotes` is their number, which is even
    where all are closed; `odd` says that one stood in the middle of a cell, so that text may follow
    a closing one.
    """

    def __init__(
        self,
        path: Path,
        compression: str,
        encoding: str,
        *,
        delimiter: str = "",
        blanks: str = " \t",
        squeeze: bool = False,
    ) -> None:
        self.path = path
        self._blanks = blanks
        self._file = _open(path, compression)
        size = path.stat().st_size
        self._limit = max(MAX_RATIO * size, MAX_UNPACKED) if compression else None
        self.encoding, self._plain = encoding, not is_wide(encoding)
        """Of the bytes that are read: UTF-8 where the file has wide characters."""
        if is_wide(encoding):
            self._file, self.encoding = Recoded(self._file, encoding), "utf-8"
        if squeeze:
            self._file = Squeezed(self._file)
        self._done = 0
        self._left = b""
        self._last = b""
        edges = b"\r\n" + delimiter.encode()  # what stands beside the quotes of a cell
        self._kinds = bytes(
            ord("q" if c == ord('"') else "e" if c in edges else "x") for c in range(256)
        )
        self._quotes_matter = delimiter != ""
        self.quotes = 0
        self.odd = False
        self.blank_lines = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def put_back(self, data: bytes) -> None:
        """Have bytes read again."""
        self._left = data

    def read(self, size: int = -1) -> bytes:
        if self._left:
            cut = len(self._left) if size < 0 else size
            back, self._left = self._left[:cut], self._left[cut:]
            return back if size >= 0 else back + self.read()
        data: bytes = self._file.read(size)
        if not self._done:
            data = self._without_blank_lines(data)
        if b"\0" in data:
            at = f"Byte {self._done + data.index(0) + 1:,}" if self._plain else "A character"
            raise TableError(f"{at} of {self.path.name} is a NUL, which text cannot hold.")
        self._done += len(data)
        if self._quotes_matter:
            self._watch_quotes(data)
        if self._limit is not None and self._done > self._limit:
            raise LimitError(
                f"{self.path.name} unpacks to more than {MAX_RATIO} times its size, "
                "like a decompression bomb.",
                hint="If the file is what it should be, unpack it first and read the result.",
            )
        return data

    def _watch_quotes(self, data: bytes) -> None:
        if b'"' in data or b'"' in self._last:  # to see that there is none is quick
            self.quotes += data.count(b'"')
            self.odd = self.odd or b"xqx" in (self._last + data).translate(self._kinds)
        self._last = data[-2:] if len(data) > 1 else (self._last + data)[-2:]

    def _without_blank_lines(self, data: bytes) -> bytes:
        """The first bytes without a byte-order mark and without what stands before the header."""
        data = data.removeprefix(codecs.BOM_UTF8)
        found = start_of_text(self._blanks).match(data[:HEAD].decode("latin-1"))
        if found is not None and found.end() == HEAD:  # more of them may follow
            found = start_of_text(self._blanks).match(data.decode("latin-1"))
        before = b"" if found is None else data[: found.end()]
        self.blank_lines = before.count(b"\n") + before.replace(b"\r\n", b"").count(b"\r")
        self._done += len(before)
        return data[len(before) :]

    def close(self) -> None:
        self._file.close()
        super().close()


def gone(path: Path) -> TableError:
    """The error for a file that was there when it was first read."""
    return TableError(
        f"{path.name} is not there any more; a table that does not fit in memory is read again "
        "each time it is counted.",
        hint="Put the file back, or read the table with more memory=.",
    )


def _open(path: Path, compression: str) -> Any:
    if compression == ".gz":
        return gzip.open(path, "rb")
    if compression == ".zst":
        return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
    return open(path, "rb")


def read_head(path: Path, compression: str) -> bytes:
    """The first bytes of the file, unpacked."""
    try:
        with _open(path, compression) as file:
            head: bytes = file.read(HEAD)
            return head
    except (OSError, EOFError, zlib.error) as error:
        kind = "gzip" if compression == ".gz" else "zstd"
        raise TableError(f"{path.name} is not a whole {kind} file: {error}.") from None


def decode_head(path: Path, raw: bytes, encoding: str | None) -> tuple[str, str]:
    """The encoding, and the head as text without its byte-order mark."""
    for magic, what in _NOT_TEXT.items():
        if raw.startswith(magic):
            raise TableError(
                f"{path.name} is {what}, not text.",
                hint="Unpack it, or give the file the ending of its kind.",
            )
    name = codec(encoding) if encoding is not None else _guessed(raw)
    if not is_wide(name) and b"\0" in raw:
        nul = raw.index(b"\0") + 1
        raise TableError(f"Byte {nul:,} of {path.name} is a NUL, which text cannot hold.")
    if name == "utf-8":
        try:
            return name, raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            if error.start < len(raw) - 4 or len(raw) < HEAD:
                raise TableError(
                    f"Byte {error.start + 1:,} of {path.name} is not utf-8 text.",
                    hint="Give its encoding, for example encoding='latin-1'.",
                ) from None
            return name, raw[: error.start].decode("utf-8-sig")
    if is_wide(name) and b"\0" not in raw:
        raise TableError(
            f"{path.name} is not {name} text: none of its bytes is 0, as half of those of a line "
            "end are.",
            hint="Leave encoding= out, or give its own, for example encoding='utf-8'.",
        )
    return name, raw.decode(name, errors="ignore").removeprefix("\ufeff")


def codec(encoding: str) -> str:
    """The name Python has for an encoding.

    >>> codec("latin1"), codec("UTF8")
    ('iso8859-1', 'utf-8')
    """
    hint = "Try 'utf-8', 'utf-16' or 'latin-1'."
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError):
        raise InputError(f"The encoding {encoding!r} is not known.", hint=hint) from None
    try:
        b"a,1\n".decode(name, errors="ignore")
    except (LookupError, UnicodeError):
        raise InputError(f"The encoding {encoding!r} is none of text files.", hint=hint) from None
    return "utf-8" if name == "utf-8-sig" else name


def _guessed(raw: bytes) -> str:
    """UTF-32 and UTF-16 show by their byte-order marks, the last by its NULs too; else UTF-8."""
    if raw.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if len(raw) <= 3:
        return "utf-8"
    for odd, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        here, other = (raw[i:400:2].count(0) / len(raw[i:400:2]) for i in (odd, 1 - odd))
        ends = raw[:400].decode(name, "ignore").count("\n") == raw[:400].count(b"\n") > 0
        if (here > 0.4 and other < 0.1) or (here > 0 and other == 0 and ends):
            return name
    return "utf-8"


def first_bad_byte(path: Path, compression: str) -> int | None:
    """The position of the first byte that is not UTF-8, counted from 1."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    done = 0
    with _open(path, compression) as file:
        while chunk := file.read(HEAD):
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                return int(done - pending + error.start + 1)
            done += len(chunk)
    return None


# --- units of several bytes, and white space between cells --------------------------------
#
# Text as every reader here takes it: units of two or four bytes (UTF-16, UTF-32) as UTF-8, white
# space between cells as one blank.


def is_wide(encoding: str) -> bool:
    """Whether the characters of an encoding are units of several bytes.

    >>> is_wide("utf-16-le"), is_wide("utf-8")
    (True, False)
    """
    return encoding.startswith(("utf-16", "utf-32"))


class Recoded:
    """The bytes of a file of wide characters, as UTF-8."""

    def __init__(self, file: Any, encoding: str) -> None:
        self._text = io.TextIOWrapper(file, encoding, newline="")

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes; none at the end."""
        return self._text.read(size if size < 0 else max(size // 4, 1)).encode()

    def close(self) -> None:
        """Close the file."""
        self._text.close()


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


# --- which file it was --------------------------------------------------------------------
#
# A stamp tells a file from what is written in its place later.


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Which file it is, its size, and when it was last written: as it says itself, and as the file
    system does, which nobody can set back.
    """

    path: Path
    file: int
    size: int
    written: int
    changed_at: int

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """The stamp of a file as it is now; one that is gone is refused."""
        try:
            now = path.stat()
        except OSError:
            raise gone(path) from None
        return cls(path, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)

    def changed(self) -> bool:
        """Whether the file is another now."""
        return FileStamp.of(self.path) != self
