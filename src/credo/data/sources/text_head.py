"""The head of a text file: its delimiter and its header, and what to notice of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from credo.core.errors import LimitError, TableError
from credo.data.columns.numerals import numbers_of
from credo.data.sources.feed import MAX_COLUMNS
from credo.data.sources.unpack import HEAD, squeezed

_DELIMITERS = (",", ";", "\t", "|")
_HEAD_OF_BLANKS = 1 << 16  # characters
STRAY = "expected after"
"""In what the csv module says of text after a closing quote."""


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


def _lines(text: str) -> Iterator[str]:
    """The lines of a text with their ends, one by one: mostly only the first are asked for.

    >>> list(_lines("a\\r\\n\\rb"))
    ['a\\r\\n', '\\r', 'b']
    """
    return (found[0] for found in _LINE.finditer(text))


@contextmanager
def fields_up_to(size: int) -> Iterator[None]:
    """The csv module's limit on the size of a cell, for a while; it is the process's own."""
    before = csv.field_size_limit(size)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def header_of(path: Path, text: str, delimiter: str) -> list[str]:
    """The names in the first line of a file."""
    with fields_up_to(HEAD):
        return _unquoted(_first_record(path, text, delimiter))


def _unquoted(names: list[str]) -> list[str]:
    """Names without single quotes, if each has them.

    >>> _unquoted(["'GPA'", "'PSI'"]), _unquoted(["'t was", "b"])
    (['GPA', 'PSI'], ["'t was", 'b'])
    """
    quoted = all(len(n) > 2 and n[0] == n[-1] == "'" for n in names)
    return [n[1:-1] for n in names] if quoted else names


def _first_record(path: Path, text: str, delimiter: str) -> list[str]:
    reader = csv.reader(_lines(text), delimiter=delimiter, strict=True)
    try:
        header = next(reader)
    except (csv.Error, StopIteration) as error:
        if STRAY in str(error) and reader.line_num == 1:  # "x"y is read as in any line
            return next(csv.reader(_lines(text), delimiter=delimiter))
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


def has_rows(text: str, delimiter: str) -> bool:
    """Whether anything follows the header."""
    records = filter(None, csv.reader(_lines(text), delimiter=delimiter))
    return sum(1 for _ in zip(range(2), records, strict=False)) > 1


def has_row_names(text: str, delimiter: str) -> bool:
    """Whether each of the first rows begins with a quoted cell that the header lacks: R's
    `write.table` leaves the name of that column out.

    >>> has_row_names('"x" "y"\\n"1" 2 3\\n"2" 4 5\\n', " ")
    True
    """
    lines = [line for _, line in zip(range(20), _lines(text), strict=False) if line.strip()]
    return _is_short(_widths(text, delimiter)) and all(x.startswith('"') for x in lines[1:])


def _is_short(widths: Sequence[int]) -> bool:
    """Whether the header is one cell shorter than every row."""
    return len(widths) > 2 and widths[0] > 1 and set(widths[1:]) == {widths[0] + 1}


def delimiter_of(text: str, decimal: str = ".") -> str:
    """The delimiter that cuts the first lines into the most cells, and most of them alike; white
    space where no other cuts, all lines have as many cells, and a column holds numbers.

    >>> delimiter_of("a;b\\n1;2\\n"), delimiter_of("name age\\n Ann   21\\nBob 7\\n")
    (';', ' ')
    >>> delimiter_of("said\\nit rains\\nit snows\\n")
    ','
    """
    possible = [d for d in _DELIMITERS if d != decimal]
    best, cells = possible[0], 1
    for delimiter in possible:
        if delimiter not in text:
            continue  # it cuts nothing
        widths = _widths(text, delimiter)
        if has_row_names(text, delimiter):
            widths[0] += 1
        if widths and widths[0] > cells and widths.count(widths[0]) > len(widths) / 2:
            best, cells = delimiter, widths[0]
    return " " if cells == 1 and _are_cells_of_numbers(text) else best


def _are_cells_of_numbers(text: str) -> bool:
    """Whether white space cuts the first lines into equally many cells, one column being numbers:
    the words of a sentence have blanks between them too.
    """
    head = squeezed(text[:_HEAD_OF_BLANKS].encode()).decode()
    try:
        reader = csv.reader(_lines(head), delimiter=" ")
        rows = [r for _, r in zip(range(20), reader, strict=False) if r]
    except csv.Error:
        return False
    if len(text) > _HEAD_OF_BLANKS:
        rows = rows[:-1]
    if has_row_names(head, " "):
        rows[0].insert(0, "")
    if len(rows) < 3 or len({len(r) for r in rows}) > 1 or len(rows[0]) < 2:
        return False
    return any(not np.isnan(numbers_of(cells[1:])).any() for cells in zip(*rows, strict=True))


def _widths(text: str, delimiter: str) -> list[int]:
    """How many cells each of the first lines has."""
    try:
        reader = csv.reader(_lines(text), delimiter=delimiter)
        widths = [len(r) for _, r in zip(range(20), reader, strict=False) if r]
    except csv.Error:
        return []
    if len(text) >= HEAD // 4 and len(widths) > 1:
        widths.pop()  # the head may cut its last line
    return widths


def numbers_for_names(header: Sequence[str]) -> tuple[str, ...]:
    """What to notice of a header of numbers, which may be the first row of a file without one.

    >>> numbers_for_names(["a", "1"]), len(numbers_for_names(["5.1", "3.5"]))
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


def cut_elsewhere(text: str, delimiter: str) -> tuple[str, ...]:
    """What to notice of a file with one column, all of whose lines another character cuts alike.

    Blanks between words are not taken for a delimiter unasked: sentences have them too.
    """
    for other in (*_DELIMITERS, " "):
        widths = set(_widths(text, other)) if other != delimiter else set()
        if len(widths) == 1 and min(widths) > 1:
            return (
                f"the file has one column, but {other!r} cuts each of its first lines into "
                f"{min(widths)} cells; if it should, read it with delimiter={other!r}",
            )
    return ()
