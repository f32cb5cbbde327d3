"""Text files with a delimiter: CSV and TSV, with errors that name the line or the byte.

The head of a file is looked at first: its encoding, its delimiter, its header. Then Arrow reads
every cell as text, so that nothing is converted by rules that are not ours. What is wrong with a
file that Arrow refuses is looked up afterwards, in `text_faults`.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as csv_

from credo.core.errors import InputError, TableError
from credo.data.sources.arrays import bools
from credo.data.sources.feed import Batch, Feed, distinct_names, refuse_too_wide
from credo.data.sources.text_faults import (
    Dialect,
    all_skipped,
    block_of,
    csv_error,
    first_open,
    unclosed,
)
from credo.data.sources.text_head import (
    cut_elsewhere,
    delimiter_of,
    has_row_names,
    has_rows,
    header_of,
    numbers_for_names,
)
from credo.data.sources.unpack import HEAD, decode_head, gone, read_head, squeezed, start_of_text


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
                "The delimiter must be one character of ASCII, such as ',' or ';', "
                f"got {self.delimiter!r}."
            )


# --- CSV ----------------------------------------------------------------------------------


def csv_feed(path: Path, compression: str, options: TextOptions, *, tab: bool) -> Feed:
    """The feed of a CSV or TSV file: every cell is raw text."""
    raw = read_head(path, compression)
    encoding, text = decode_head(path, raw, options.encoding)
    if not text.strip():
        raise TableError(f"{path.name} is empty: it has no header and no rows.")
    one = options.columns is not None and len(options.columns) == 1
    start = start_of_text("" if one else " \t")
    said = start.match(text)
    delimiter = options.delimiter or (said and said.lastgroup and said[said.lastgroup])
    delimiter = delimiter or ("\t" if tab else delimiter_of(start.sub("", text), options.decimal))
    blanks = "" if one else " " if delimiter == "\t" else " \t"
    text = start_of_text(blanks).sub("", text)
    if delimiter == " ":
        text = squeezed(text.encode()).decode()
    if not text.strip(" \r\n"):
        raise TableError(f"{path.name} is empty: it has no header and no rows.")
    given = list(options.columns) if options.columns else header_of(path, text, delimiter)
    short = not options.columns and has_row_names(text, delimiter)
    given = ["", *given] if short else given
    refuse_too_wide(path.name, len(given))
    empty = not options.columns and len(raw) < HEAD and not has_rows(text, delimiter)
    names, notes = distinct_names(given)
    notes += cut_elsewhere(text, delimiter) if len(names) == 1 else ()
    notes += () if options.columns else numbers_for_names(given)
    if delimiter == " " and options.delimiter is None:
        notes += ("white space was taken for what stands between cells",)
    position = {n: i for i, n in enumerate(names)}
    skipped: list[int] = [0]
    dialect = Dialect(
        path,
        compression,
        encoding,
        delimiter,
        len(names),
        not options.columns,
        not options.columns and text.startswith("#"),
        short,
        blanks,
    )

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        if empty:
            return
        skipped[0] = 0
        some, done = False, 0
        at = [position[n] for n in wanted]
        for columns in _read(dialect, at, skipped if options.ragged == "skip" else None):
            batch = dict(zip(wanted, columns, strict=True))
            if options.decimal == ",":
                batch = {n: _pointed(c, n, path.name, done) for n, c in batch.items()}
            rows = max(map(len, columns), default=0)
            some, done = some or rows > 0, done + rows
            yield batch
        if skipped[0] and wanted and not some:
            raise all_skipped(dialect)

    def late_notes() -> tuple[str, ...]:
        n = skipped[0]
        return (f"{n:,} line{'s' * (n != 1)} with too many or too few cells skipped",) if n else ()

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


def _read(dialect: Dialect, at: Sequence[int], skipped: list[int] | None) -> Iterator[Any]:
    """Batches of the columns at these positions, in file order, every cell as text."""
    try:
        with dialect.opened() as stream:
            # Arrow drops one byte-order mark; the file's own is gone, another is a cell's
            first = stream.read(block_of(dialect.width))
            stream.put_back(codecs.BOM_UTF8 + first if first.startswith(codecs.BOM_UTF8) else first)
            yield from _parsed(dialect, stream, at, skipped)
            if stream.odd or stream.quotes % 2:
                line = first_open(dialect, odd=stream.quotes % 2 == 1)
                if line:
                    raise unclosed(dialect.path.name, line)
    except pa.ArrowInvalid as error:
        raise csv_error(dialect, str(error)) from None
    except UnicodeDecodeError as error:
        raise TableError(
            f"{dialect.path.name} is not {error.encoding} text.",
            hint="It may be cut off or damaged.",
        ) from None
    except FileNotFoundError:
        raise gone(dialect.path) from None
    except (EOFError, OSError, zlib.error) as error:
        raise TableError(f"{dialect.path.name} is damaged: {error}.") from None


def _parsed(
    dialect: Dialect, stream: Any, at: Sequence[int], skipped: list[int] | None
) -> Iterator[Any]:
    names = [f"c{i}" for i in range(dialect.width)]

    def on_ragged(row: Any) -> str:
        if skipped is None:
            return "error"
        skipped[0] += 1
        return "skip"

    read = csv_.ReadOptions(
        column_names=names,
        skip_rows=int(dialect.short),
        skip_rows_after_names=int(dialect.header and not dialect.short),
        block_size=block_of(dialect.width),
        use_threads=False,  # the read-ahead thread is enough, and holds fewer blocks
        encoding=stream.encoding,
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
    for batch in csv_.open_csv(pa.PythonFile(stream, mode="r"), read, parse, convert):
        yield batch.columns


# --- decimal commas -----------------------------------------------------------------------

_COMMA = r"^(\s*[+-]?[0-9]*),([0-9]+([eE][+-]?[0-9]+)?\s*)$"
_POINT = r"^\s*[+-]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"


def _pointed(cells: Any, name: str, label: str, done: int) -> Any:
    """A column with a point in place of each decimal comma. A cell with a point that would be a
    number elsewhere is refused: it may be a thousand and something, or a decimal that slipped in.

    >>> _pointed(pa.array(["1,72", "68", "a,b"]), "x", "t.csv", 0).to_pylist()
    ['1.72', '68', 'a,b']
    """
    found = bools(pc.match_substring_regex(cells, _POINT))
    if found.any():
        at = int(found.argmax())
        raise TableError(
            f"Row {done + at + 1:,} of column {name!r} of {label} holds {cells[at].as_py()!r}, a "
            "number with a point, while decimal=',' says that numbers have a comma.",
            hint="Mend the cell, or leave the column out of the file or by schema={…: 'drop'}.",
        )
    return pc.replace_substring_regex(cells, _COMMA, r"\1.\2")
