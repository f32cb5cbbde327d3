"""Text files with a delimiter: CSV and TSV, with errors that name the line or the byte.

The head of a file is looked at first: its encoding, its delimiter, its header. Then every
cell is read as text, so that nothing is converted by rules that are not ours.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as csv_

from credo.data.commas import with_points
from credo.data.feed import MAX_COLUMNS, Batch, Feed, distinct_names, refuse_too_wide
from credo.data.numerals import numbers_of
from credo.data.records import Rest, regular_batches
from credo.data.unpack import (
    BLANK_LINES,
    HEAD,
    Watched,
    decode_head,
    first_bad_byte,
    gone,
    read_head,
)
from credo.errors import InputError, LimitError, TableError

__all__ = ["TextOptions", "csv_feed"]

_BLOCK = 4 * 2**20  # bytes parsed at a time; no record can be longer
_LONG = -1  # in place of the number of cells: the line is too long to be parsed
_DELIMITERS = (",", ";", "\t", "|")
_STRAY = "expected after"  # in what the csv module says of text after a closing quote


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How to read a text file; None means: look at the file."""

    delimiter: str | None = None
    encoding: str | None = None
    ragged: str = "error"
    columns: Sequence[str] | None = None
    decimal: str = "."

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise InputError(f"decimal must be '.' or ',', got {self.decimal!r}.")
        if self.decimal == self.delimiter:
            raise InputError(f"decimal= and delimiter= cannot both be {self.decimal!r}.")
        if self.ragged not in ("error", "skip"):
            raise InputError(f"ragged must be 'error' or 'skip', got {self.ragged!r}.")
        if self.delimiter is not None and (
            not isinstance(self.delimiter, str)
            or len(self.delimiter) != 1
            or self.delimiter in '\r\n"'
            or not self.delimiter.isascii()
        ):
            raise InputError(
                f"The delimiter must be one character such as ',' or ';', got {self.delimiter!r}."
            )


# --- CSV ----------------------------------------------------------------------------------


def csv_feed(path: Path, compression: str, options: TextOptions, *, tab: bool) -> Feed:
    """The feed of a CSV or TSV file: every cell is raw text."""
    raw = read_head(path, compression)
    encoding, text = decode_head(path, raw, options.encoding)
    if not text.strip():
        raise TableError(f"{path.name} is empty: it has no header and no rows.")
    text = BLANK_LINES.sub("", text)
    delimiter = options.delimiter or ("\t" if tab else _delimiter(text, options.decimal))
    given = list(options.columns) if options.columns else _header(path, text, delimiter)
    refuse_too_wide(path.name, len(given))
    empty = not options.columns and len(raw) < HEAD and not _has_rows(text, delimiter)
    names, notes = distinct_names(given)
    notes += _cut_elsewhere(text, delimiter) if len(names) == 1 else ()
    notes += () if options.columns else _numbers_for_names(given)
    position = {n: i for i, n in enumerate(names)}
    skipped: list[int] = [0]
    stray: list[int] = []  # the line where text first follows a closing quote, once looked for
    dialect = Dialect(
        path,
        compression,
        encoding,
        delimiter,
        len(names),
        not options.columns,
        not options.columns and text.startswith("#"),
    )

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        if empty:
            return
        at = [position[n] for n in wanted]
        skipped[0] = 0
        scanned = _scan(dialect, at, skipped if options.ragged == "skip" else None, stray)
        made = (dict(zip(wanted, batch, strict=True)) for batch in scanned)
        some = False
        for batch in with_points(made, path.name) if options.decimal == "," else made:
            some = some or any(map(len, batch.values()))
            yield batch
        if skipped[0] and wanted and not some:
            raise _all_skipped(dialect)

    def late_notes() -> tuple[str, ...]:
        n, line = skipped[0], stray[0] if stray else 0
        told = [f"{n:,} line{'s' * (n != 1)} with too many or too few cells skipped"] if n else []
        if line:
            told.append(
                f"text follows a closing quote (first in line {line:,}); such cells are read "
                "without those quotes"
            )
        return tuple(told)

    return Feed(
        path.name,
        names,
        batches,
        rows=0 if empty else None,
        bytes=path.stat().st_size * (12 if compression else 1),
        text=True,
        notes=notes,
        late_notes=late_notes,
    )


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one text file is written."""

    path: Path
    compression: str
    encoding: str
    delimiter: str
    width: int
    header: bool
    remark: bool = False  # the header starts with #


def _scan(
    dialect: Dialect, at: Sequence[int], skipped: list[int] | None, stray: list[int] | None = None
) -> Iterator[Any]:
    """Batches of the columns at these positions, every cell as text, in file order."""
    try:
        with Watched(dialect.path, dialect.compression, dialect.encoding) as stream:
            left: tuple[bytes, bool] | None = (b"", dialect.header)
            if dialect.encoding == "utf-8":
                left = yield from regular_batches(
                    stream,
                    dialect.delimiter,
                    dialect.width,
                    at,
                    header=dialect.header,
                    block=_BLOCK,
                )
            if left is not None:
                # Arrow drops one byte-order mark; the file's own is gone, another is a cell's
                first = left[0] or stream.read(_BLOCK)
                mark = codecs.BOM_UTF8 if first.startswith(codecs.BOM_UTF8) else b""
                rest = Rest(mark + first, stream, dialect.delimiter)
                source = pa.PythonFile(rest, mode="r")
                yield from _irregular(dialect, source, at, skipped, header=left[1])
                if rest.odd and stray == []:
                    stray.append(_first_stray(dialect))
            if stream.quotes % 2:
                line, cells, _ = _first_ragged(dialect, only_quotes=True)
                if line and not cells:
                    raise _unclosed(dialect.path.name, line)
    except pa.ArrowInvalid as error:
        raise _csv_error(dialect, str(error)) from None
    except FileNotFoundError:
        raise gone(dialect.path) from None
    except (EOFError, OSError, zlib.error) as error:
        raise TableError(f"{dialect.path.name} is damaged: {error}.") from None


def _irregular(
    dialect: Dialect, source: Any, at: Sequence[int], skipped: list[int] | None, *, header: bool
) -> Iterator[Any]:
    """What Arrow's parser reads of a file, or of the rest of one."""
    names = [f"c{i}" for i in range(dialect.width)]

    def on_ragged(row: Any) -> str:
        if skipped is None:
            return "error"
        skipped[0] += 1
        return "skip"

    read = csv_.ReadOptions(
        column_names=names,
        skip_rows_after_names=int(header),
        block_size=_BLOCK,
        use_threads=False,  # the read-ahead thread is enough, and holds fewer blocks
        encoding=dialect.encoding,
    )
    parse = csv_.ParseOptions(
        delimiter=dialect.delimiter,
        newlines_in_values=True,
        ignore_empty_lines=dialect.width > 1,
        invalid_row_handler=on_ragged,
    )
    convert = csv_.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        include_columns=[names[i] for i in at],
        strings_can_be_null=False,
    )
    for batch in csv_.open_csv(source, read, parse, convert):
        yield batch.columns


def _csv_error(dialect: Dialect, text: str) -> TableError:
    """The parser's account of a bad file, as one sentence that names the line or byte."""
    name = dialect.path.name
    ragged = re.search(r"Expected (\d+) columns, got (\d+)", text)
    if ragged:
        line, cells, first = _first_ragged(dialect)
        if cells == 0:
            return _unclosed(name, line)
        where = f"Line {line:,} of {name}" if line else f"A line of {name}"
        found = _cells(cells or int(ragged[2]))
        if dialect.remark or first.startswith("#"):
            return _remark(dialect, where, found)
        if not dialect.header and line <= 1:
            return TableError(
                f"{where} has {found}, but columns= has {_names(dialect.width)}.",
                hint="Give columns= a name for each cell.",
            )
        return TableError(
            f"{where} has {found}, but the header has {ragged[1]}.",
            hint="Mend the line, or skip such lines with ragged='skip'.",
        )
    if "straddl" in text or "quote" in text or "truncated" in text:
        line, cells, _ = _first_ragged(dialect)
        if cells == _LONG:
            return TableError(
                f"Line {line:,} of {name} is longer than {_BLOCK // 2**20} MiB.",
                hint="Cells of that size cannot be states; leave the column out of the file.",
            )
        return _unclosed(name, line)
    if "UTF8" in text:
        byte = first_bad_byte(dialect.path, dialect.compression)
        where = f"Byte {byte:,} of {name}" if byte else name
        return TableError(
            f"{where} is not utf-8 text.",
            hint="Give its encoding, for example encoding='latin-1'.",
        )
    first = text.splitlines()[0].removeprefix("CSV parse error: ")
    if first.startswith("Empty CSV file"):
        return TableError(f"{name} has a header but no rows.")
    return TableError(f"{name} cannot be read: {first}.")


def _remark(dialect: Dialect, where: str, found: str) -> TableError:
    """The refusal of a line that starts with #, as remarks do."""
    if dialect.remark:
        text = (
            f"The first line of {dialect.path.name} starts with '#' and was taken for the header "
            f"of {_cells(dialect.width)}, but {where[0].lower()}{where[1:]} has {found}."
        )
        return TableError(text, hint="If it is a remark, delete every such line above the header.")
    text = f"{where} starts with '#' and has {found}, but the header has {dialect.width:,}."
    hint = "If it is a remark, delete it, or skip such lines with ragged='skip'."
    return TableError(text, hint=hint)


def _all_skipped(dialect: Dialect) -> TableError:
    """The refusal of a file of whose rows none is as wide as its header."""
    return TableError(
        f"No line of {dialect.path.name} has as many cells as its header, {dialect.width:,}, so "
        f"all were skipped{'; the header starts with #' * dialect.remark}.",
        hint="Check that the first line is the header.",
    )


def _cells(n: int) -> str:
    return f"{n:,} cell{'s' * (n != 1)}"


def _names(n: int) -> str:
    return f"{n:,} name{'s' * (n != 1)}"


def _unclosed(name: str, line: int) -> TableError:
    where = f"Line {line:,} of {name}" if line else name
    return TableError(
        f"{where} opens a quote that is not closed.",
        hint='Close it with ", or double the quote inside the cell ("").',
    )


def _first_ragged(
    dialect: Dialect, *, only_quotes: bool = False, strict: bool = True
) -> tuple[int, int, str]:
    """The line of the first record that is not as wide as the header, its cells, and the first.

    Zero cells say that the record opens a quote and never closes it.
    """
    line = 1
    with _records(dialect, strict=strict) as (stream, reader):
        try:
            for record in reader:
                line += stream.blank_lines if line == 1 else 0
                if record and len(record) != dialect.width and not only_quotes:
                    return line, len(record), record[0]
                line = reader.line_num + 1 + stream.blank_lines
        except csv.Error as error:
            if _STRAY in str(error) and not only_quotes:
                return _first_ragged(dialect, strict=False)
            # past the limit inside a quote that was opened, or in a cell that is just long
            long = "field limit" in str(error) and stream.quotes % 2 == 0
            return line, _LONG if long else 0, ""
        except TableError:
            pass
    return 0, 0, ""


def _first_stray(dialect: Dialect) -> int:
    """The first line with a cell such as "x"y, which is read as xy; 0 if there is none."""
    with _records(dialect) as (stream, reader):
        try:
            for _ in reader:
                pass
        except csv.Error as error:
            if _STRAY in str(error):
                return int(reader.line_num) + stream.blank_lines
        except TableError:
            pass
    return 0


@contextmanager
def _records(dialect: Dialect, *, strict: bool = True) -> Iterator[tuple[Watched, Any]]:
    """The records of a file as Python's csv module reads them."""
    with (
        _fields_up_to(_BLOCK),
        Watched(dialect.path, dialect.compression, dialect.encoding) as stream,
    ):
        text = io.TextIOWrapper(io.BufferedReader(stream), dialect.encoding, "replace", newline="")
        yield stream, csv.reader(text, delimiter=dialect.delimiter, strict=strict)


@contextmanager
def _fields_up_to(size: int) -> Iterator[None]:
    """The csv module's limit on the size of a cell, for a while; it is the process's own."""
    before = csv.field_size_limit(size)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _header(path: Path, text: str, delimiter: str) -> list[str]:
    with _fields_up_to(HEAD):
        return _first_record(path, text, delimiter)


def _first_record(path: Path, text: str, delimiter: str) -> list[str]:
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        header = next(reader)
    except (csv.Error, StopIteration):
        if len(text) >= HEAD // 4:
            count = text.count(delimiter)
            raise LimitError(
                f"The header of {path.name} does not end within {HEAD // 2**20} MiB "
                f"({count:,}+ cells); at most {MAX_COLUMNS:,} columns are read.",
                hint="Check for a quote in the first line that is not closed.",
            ) from None
        raise TableError(
            f"Line 1 of {path.name} opens a quote that is not closed.",
            hint='Close it with ", or double the quote inside the cell ("").',
        ) from None
    return header


def _has_rows(text: str, delimiter: str) -> bool:
    """Whether anything follows the header."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return sum(1 for _, record in zip(range(3), reader, strict=False) if record) > 1


def _delimiter(text: str, decimal: str = ".") -> str:
    """The delimiter that cuts the first lines into the most cells, and most of them alike."""
    possible = [d for d in _DELIMITERS if d != decimal]
    best, cells = possible[0], 1
    for delimiter in possible:
        widths = _widths(text, delimiter)
        if widths and widths[0] > cells and widths.count(widths[0]) > len(widths) / 2:
            best, cells = delimiter, widths[0]
    return best


def _widths(text: str, delimiter: str) -> list[int]:
    """How many cells each of the first lines has."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        widths = [len(r) for _, r in zip(range(20), reader, strict=False) if r]
    except csv.Error:
        return []
    if len(text) >= HEAD // 4 and len(widths) > 1:
        widths.pop()  # the head may cut its last line
    return widths


def _numbers_for_names(header: Sequence[str]) -> tuple[str, ...]:
    """What to notice of a header of numbers, which may be the first row of a file without one.

    >>> _numbers_for_names(["a", "1"]), len(_numbers_for_names(["5.1", "3.5"]))
    ((), 1)
    """
    told = [name.strip() for name in header if name.strip()]
    counted = [str(i + k) for k in (0, 1) for i in range(len(header))]
    if not told or np.isnan(numbers_of(told)).any() or set(told) <= set(counted):
        return ()
    some = ", ".join(told[:3]) + ", …" * (len(told) > 3)
    return (
        f"the names in the first line are numbers ({some}); "
        "if it is a row of the table, name the columns with columns=",
    )


def _cut_elsewhere(text: str, delimiter: str) -> tuple[str, ...]:
    """What to notice of a file with one column, all of whose lines another character cuts alike.

    Blanks are never taken for a delimiter unasked: the words of a sentence have them too.
    """
    for other in (*_DELIMITERS, " "):
        widths = set(_widths(text, other)) if other != delimiter else set()
        if len(widths) == 1 and min(widths) > 1:
            return (
                f"the file has one column, but {other!r} cuts each of its first lines into "
                f"{min(widths)} cells; if it should, read it with delimiter={other!r}",
            )
    return ()
