"""Text files with a delimiter: CSV and TSV, with errors that name the line or the byte.

The head of a file is looked at first: its encoding, its delimiter, its header. Then every
cell is read as text, so that nothing is converted by rules that are not ours.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as csv_

from credo.core.errors import InputError, TableError
from credo.data.columns.commas import with_points
from credo.data.sources.feed import Batch, Feed, distinct_names, refuse_too_wide
from credo.data.sources.recode import squeezed
from credo.data.sources.records import Rest, regular_batches
from credo.data.sources.text_faults import (
    BLOCK,
    Dialect,
    all_skipped,
    block_of,
    csv_error,
    first_open,
    first_stray,
    unclosed,
)
from credo.data.sources.text_head import (
    cut_elsewhere,
    delimiter_of,
    has_rows,
    header_of,
    numbers_for_names,
)
from credo.data.sources.unpack import HEAD, decode_head, gone, read_head, start_of_text

__all__ = ["TextOptions", "csv_feed"]


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
    refuse_too_wide(path.name, len(given))
    empty = not options.columns and len(raw) < HEAD and not has_rows(text, delimiter)
    names, notes = distinct_names(given)
    notes += cut_elsewhere(text, delimiter) if len(names) == 1 else ()
    notes += () if options.columns else numbers_for_names(given)
    if delimiter == " " and options.delimiter is None:
        notes += ("white space was taken for what stands between cells",)
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
        blanks,
    )

    def batches(wanted: Sequence[str], words: Sequence[str] | None = None) -> Iterator[Batch]:
        if empty:
            return
        at = [position[n] for n in wanted]
        skipped[0] = 0
        if options.decimal == "," and any("." in w or "," in w for w in words or ()):
            words = None  # which are compared with what the cells have when they have points
        scanned = _scan(
            dialect,
            at,
            skipped if options.ragged == "skip" else None,
            stray,
            words,
            options.decimal,
        )
        made = (dict(zip(wanted, batch, strict=True)) for batch in scanned)
        some = False
        for batch in with_points(made, path.name) if options.decimal == "," else made:
            some = some or any(map(len, batch.values()))
            yield batch
        if skipped[0] and wanted and not some:
            raise all_skipped(dialect)

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
        numbers=batches,
        late_notes=late_notes,
    )


def _scan(
    dialect: Dialect,
    at: Sequence[int],
    skipped: list[int] | None,
    stray: list[int] | None = None,
    words: Sequence[str] | None = None,
    point: str = ".",
) -> Iterator[Any]:
    """Batches of the columns at these positions, in file order; every cell as text, or those of
    many different numbers as such, where the words for missing are given.
    """
    try:
        with dialect.opened() as stream:
            left: tuple[bytes, bool] | None = (b"", dialect.header)
            look = False  # whether text may follow a closing quote, and nobody has looked yet
            if stream.encoding == "utf-8":
                left = yield from regular_batches(
                    stream,
                    dialect.delimiter,
                    dialect.width,
                    at,
                    header=dialect.header,
                    block=block_of(dialect.width),
                    words=words,
                    point=point,
                )
            if left is not None:
                # Arrow drops one byte-order mark; the file's own is gone, another is a cell's
                first = left[0] or stream.read(BLOCK)
                mark = codecs.BOM_UTF8 if first.startswith(codecs.BOM_UTF8) else b""
                rest = Rest(mark + first, stream, dialect.delimiter)
                source = pa.PythonFile(rest, mode="r")
                yield from _irregular(
                    dialect, source, at, skipped, header=left[1], encoding=stream.encoding
                )
                look = rest.odd and stray == []
            if look or stream.quotes % 2:
                line = first_open(dialect, odd=stream.quotes % 2 == 1)
                if line:
                    raise unclosed(dialect.path.name, line)
            if look and stray is not None:
                stray.append(first_stray(dialect))
    except pa.ArrowInvalid as error:
        raise csv_error(dialect, str(error)) from None
    except FileNotFoundError:
        raise gone(dialect.path) from None
    except (EOFError, OSError, zlib.error) as error:
        raise TableError(f"{dialect.path.name} is damaged: {error}.") from None


def _irregular(
    dialect: Dialect,
    source: Any,
    at: Sequence[int],
    skipped: list[int] | None,
    *,
    header: bool,
    encoding: str,
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
        block_size=block_of(dialect.width),
        use_threads=False,  # the read-ahead thread is enough, and holds fewer blocks
        encoding=encoding,
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
