"""What is wrong with a text file, in one sentence that names the line or the byte.

The parsers stop somewhere; which line it is, and why, is looked up here by Python's csv module.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from credo.core.errors import TableError
from credo.data.sources.text_head import STRAY, fields_up_to
from credo.data.sources.unpack import Watched, first_bad_byte

BLOCK = 4 * 2**20


def block_of(width: int) -> int:
    """How many bytes of a file are read at a time: of many columns more, so that a block has some
    hundreds of rows.

    >>> block_of(10) == BLOCK, block_of(5_000) // 2**20, block_of(100_000) // 2**20
    (True, 39, 64)
    """
    return min(max(BLOCK, 8192 * width), 16 * BLOCK)


"""Bytes parsed at a time; no record can be longer."""

_LONG = -1  # in place of the number of cells: the line is too long to be parsed


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
    short: bool = False  # the header lacks the name of the first column
    blanks: str = " \t"  # a line of these alone before the first row is none

    def opened(self) -> Watched:
        """The file's bytes."""
        return Watched(
            self.path,
            self.compression,
            self.encoding,
            delimiter=self.delimiter,
            blanks=self.blanks,
            squeeze=self.delimiter == " ",
        )


def csv_error(dialect: Dialect, text: str) -> TableError:
    """The parser's account of a bad file, as one sentence that names the line or byte."""
    name = dialect.path.name
    ragged = re.search(r"Expected (\d+) columns, got (\d+)", text)
    if ragged:
        line, cells, first = first_ragged(dialect)
        if cells == 0:
            return unclosed(name, line)
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
        line, cells, _ = first_ragged(dialect)
        if cells == _LONG:
            return TableError(
                f"Line {line:,} of {name} is longer than {BLOCK // 2**20} MiB.",
                hint="Cells of that size cannot be states; leave the column out of the file.",
            )
        return unclosed(name, line)
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


def all_skipped(dialect: Dialect) -> TableError:
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


def unclosed(name: str, line: int) -> TableError:
    """The refusal of a file that opens a quote in a line, and never closes it."""
    where = f"Line {line:,} of {name}" if line else name
    return TableError(
        f"{where} opens a quote that is not closed.",
        hint='Close it with ", or double the quote inside the cell ("").',
    )


def first_ragged(dialect: Dialect, *, strict: bool = True) -> tuple[int, int, str]:
    """The line of the first record that is not as wide as the header, its cells, and the first.

    Zero cells say that the record opens a quote and never closes it.
    """
    line = 1
    with _records(dialect, strict=strict) as (stream, reader):
        try:
            for record in reader:
                line += stream.blank_lines if line == 1 else 0
                lacks = int(dialect.short and line == 1)
                if record and len(record) + lacks != dialect.width:
                    return line, len(record), record[0]
                line = reader.line_num + 1 + stream.blank_lines
        except csv.Error as error:
            if STRAY in str(error):
                return first_ragged(dialect, strict=False)
            # past the limit inside a quote that was opened, or in a cell that is just long
            long = "field limit" in str(error) and stream.quotes % 2 == 0
            return line, _LONG if long else 0, ""
        except TableError:
            pass
    return 0, 0, ""


def first_open(dialect: Dialect, *, odd: bool) -> int:
    """The line of the first quote that is never closed; 0 if there is none. Where the number of
    quotes is odd, one that text follows in a later line has closed none.
    """
    read = io.StringIO(newline="")  # the lines of one record

    def lines(text: Iterable[str]) -> Iterator[str]:
        for line in chain(text, ["\n"]):  # the last is a record of its own unless a quote is open
            read.write(line)
            yield line

    line = before = 1
    is_open = False
    with _texts(dialect) as (stream, text):
        reader = csv.reader(lines(text), delimiter=dialect.delimiter)
        try:
            for record in reader:
                is_open = bool(record)
                before = line + (stream.blank_lines if line == 1 else 0)
                line = reader.line_num + 1 + stream.blank_lines
                if odd and line - before > 1 and _is_stray(read.getvalue(), dialect.delimiter):
                    return before
                read.seek(0)
                read.truncate()
        except csv.Error:  # past the limit inside a quote that was opened, or in a long cell
            return line if stream.quotes % 2 else 0
        except TableError:
            return 0
    return before if is_open else 0


def _is_stray(record: str, delimiter: str) -> bool:
    """Whether text follows a closing quote in a record.

    >>> _is_stray('"x"y,1', ","), _is_stray('"x,1', ",")
    (True, False)
    """
    try:
        next(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        return STRAY in str(error)
    return False


@contextmanager
def _records(dialect: Dialect, *, strict: bool = True) -> Iterator[tuple[Watched, Any]]:
    """The records of a file as Python's csv module reads them."""
    with _texts(dialect) as (stream, text):
        yield stream, csv.reader(text, delimiter=dialect.delimiter, strict=strict)


@contextmanager
def _texts(dialect: Dialect) -> Iterator[tuple[Watched, io.TextIOWrapper]]:
    """The lines of a file as texts."""
    with (
        fields_up_to(BLOCK),
        dialect.opened() as stream,
    ):
        yield (
            stream,
            io.TextIOWrapper(io.BufferedReader(stream), stream.encoding, "replace", newline=""),
        )
