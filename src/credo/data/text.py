"""Text files: CSV, TSV and JSON lines, read by DuckDB, with errors that name the line.

The head of a file is looked at first: its encoding, its delimiter, its header. Then DuckDB
reads every cell as text, so that nothing is converted by rules that are not ours.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from credo.data.feed import BATCH, Batch, Feed, distinct_names
from credo.data.frames import record_batches
from credo.errors import InputError, LimitError, TableError

__all__ = ["MAX_COLUMNS", "TextOptions", "csv_feed", "json_feed"]

MAX_COLUMNS = 20_000
"""A text file with more columns than this is refused."""

MAX_RATIO = 200
"""A compressed file that unpacks to more than this many times its size is refused …"""

MAX_UNPACKED = 512 * 2**20
"""… once it has passed this many bytes."""

_HEAD = 1 << 20
_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How to read a text file; None means: look at the file."""

    delimiter: str | None = None
    encoding: str | None = None
    ragged: str = "error"
    columns: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.ragged not in ("error", "skip"):
            raise InputError(f"ragged must be 'error' or 'skip', got {self.ragged!r}.")
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise InputError(f"The delimiter must be one character, got {self.delimiter!r}.")


# --- CSV ----------------------------------------------------------------------------------


def csv_feed(path: Path, compression: str, options: TextOptions, *, tab: bool) -> Feed:
    """The feed of a CSV or TSV file: every cell is raw text."""
    raw = _head(path, compression)
    encoding, text = _decode(path, raw, options.encoding)
    if not text.strip():
        raise TableError(f"{path.name} is empty: it has no header and no rows.")
    delimiter = options.delimiter or ("\t" if tab else _delimiter(text))
    given = list(options.columns) if options.columns else _header(path, text, delimiter)
    if len(given) > MAX_COLUMNS:
        raise LimitError(
            f"{path.name} has {len(given):,} columns; at most {MAX_COLUMNS:,} are read.",
            hint="Split the file, or turn it into a Parquet file.",
        )
    names, notes = distinct_names(given)
    size = path.stat().st_size
    skipped: list[int] = []
    scan = partial(
        _scan_csv,
        path,
        compression,
        encoding,
        delimiter,
        header=not options.columns,
        skip=options.ragged == "skip",
        width=len(names),
        skipped=skipped,
    )

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        at = [names.index(n) for n in wanted]
        unpacked = 0
        for batch in scan(at):
            unpacked += batch.nbytes
            if compression and unpacked > max(MAX_RATIO * size, MAX_UNPACKED):
                raise _bomb(path)
            yield {n: batch.column(i) for i, n in enumerate(wanted)}

    expansion = 12 if compression else 1
    return Feed(
        path.name,
        names,
        batches,
        bytes=size * expansion,
        text=True,
        notes=notes,
        late_notes=lambda: tuple(
            f"{n:,} line{'s' * (n != 1)} with too many or too few cells skipped" for n in skipped if n
        ),
    )


def _scan_csv(
    path: Path,
    compression: str,
    encoding: str,
    delimiter: str,
    at: Sequence[int],
    *,
    header: bool,
    skip: bool,
    width: int,
    skipped: list[int],
) -> Iterator[Any]:
    """Record batches of the columns at these positions, in the order of the file."""
    import duckdb

    settings = {
        "columns": "{" + ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width)) + "}",
        "auto_detect": "false",
        "header": "true" if header else "false",
        "delim": _quoted(delimiter),
        "quote": "'\"'",
        "escape": "'\"'",
        "encoding": _quoted(encoding),
        "compression": _quoted({".gz": "gzip", ".zst": "zstd"}.get(compression, "none")),
        "null_padding": "false",
        "max_line_size": "4194304",
    }
    if skip:
        settings |= {"ignore_errors": "true", "store_rejects": "true", "rejects_limit": "0"}
    wanted = ", ".join(f"c{i}" for i in at)

    def run(strict: bool) -> Iterator[Any]:
        options = ", ".join(f"{k}={v}" for k, v in settings.items())
        options += f", strict_mode={'true' if strict else 'false'}"
        with duckdb.connect() as connection:
            query = f"SELECT {wanted} FROM read_csv({_quoted(str(path))}, {options})"
            yield from connection.sql(query).to_arrow_reader(BATCH)
            if skip:
                bad = connection.sql("SELECT count(DISTINCT line) FROM reject_errors").fetchone()
                skipped[:] = [bad[0]] if bad else []

    started = False
    try:
        for batch in run(strict=True):
            started = True
            yield batch
    except duckdb.Error as error:
        if "invalid state" in str(error) and not started:
            # Lines that end now in one way, now in another: read without minding that.
            yield from run(strict=False)
            return
        raise _csv_error(path, compression, encoding, delimiter, str(error)) from None


def _csv_error(path: Path, compression: str, encoding: str, delimiter: str, text: str) -> TableError:
    """DuckDB's account of a bad file, in one sentence of ours."""
    line = re.search(r"CSV Error on Line: (\d+)", text)
    where = f"Line {int(line[1]):,} of {path.name}" if line else path.name
    ragged = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if ragged:
        return TableError(
            f"{where} has {ragged[2]} cells, but the header has {ragged[1]}.",
            hint="Mend the line, or skip such lines with ragged='skip'.",
        )
    if "quote" in text or "Maximum line size" in text or "maximum_line_size" in text:
        return TableError(
            f"{where} opens a quote that is not closed.",
            hint='Close it with ", or double the quote inside the cell ("").',
        )
    if "unicode" in text.casefold() or "utf" in text.casefold():
        byte = _bad_byte(path, compression)
        at = f"Byte {byte:,} of {path.name}" if byte is not None else where
        return TableError(
            f"{at} is not {encoding} text.", hint="Give its encoding, for example encoding='latin-1'."
        )
    first = text.splitlines()[0].removeprefix("Invalid Input Error: ")
    return TableError(f"{where} cannot be read: {first}")


def _header(path: Path, text: str, delimiter: str) -> list[str]:
    csv.field_size_limit(_HEAD)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        header = next(reader)
        if not any(c.strip() for c in header) and len(header) <= 1:
            header = next(reader)
    except (csv.Error, StopIteration):
        if len(text) >= _HEAD // 4:
            count = text.count(delimiter)
            raise LimitError(
                f"The header of {path.name} does not end within {_HEAD // 2**20} MiB "
                f"({count:,}+ cells); at most {MAX_COLUMNS:,} columns are read.",
                hint="Check for a quote in the first line that is not closed.",
            ) from None
        raise TableError(
            f"Line 1 of {path.name} opens a quote that is not closed.",
            hint='Close it with ", or double the quote inside the cell ("").',
        ) from None
    return header


def _delimiter(text: str) -> str:
    """The delimiter that cuts the first lines into the most cells, and always as many."""
    best, cells = ",", 1
    for delimiter in _DELIMITERS:
        try:
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            widths = [len(r) for _, r in zip(range(20), reader, strict=False) if r]
        except csv.Error:
            continue
        if len(text) >= _HEAD // 4 and len(widths) > 1:
            widths.pop()  # the head may cut its last line
        if widths and widths[0] > cells and widths.count(widths[0]) > len(widths) / 2:
            best, cells = delimiter, widths[0]
    return best


# --- encodings and compression ------------------------------------------------------------


def _open(path: Path, compression: str) -> Any:
    if compression == ".gz":
        return gzip.open(path, "rb")
    if compression == ".zst":
        import pyarrow as pa

        return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
    return open(path, "rb")


def _head(path: Path, compression: str) -> bytes:
    """The first bytes of the file, unpacked; a file that unpacks far too well is refused."""
    try:
        with _open(path, compression) as file:
            raw: bytes = file.read(_HEAD)
            if compression and path.stat().st_size * MAX_RATIO > MAX_UNPACKED:
                _check_expansion(path, compression)
    except (OSError, EOFError) as error:
        kind = "gzip" if compression == ".gz" else "zstd"
        raise TableError(f"{path.name} is not a whole {kind} file: {error}.") from None
    return raw


def _check_expansion(path: Path, compression: str) -> None:
    """Unpack a sample and compare with what it took of the file."""
    import zlib

    if compression != ".gz":
        return
    with open(path, "rb") as file:
        unpacker, taken, given = zlib.decompressobj(wbits=31), 0, 0
        while given < 16 * 2**20 and (chunk := file.read(65_536)):
            taken += len(chunk)
            given += len(unpacker.decompress(chunk))
    if given > MAX_RATIO * taken:
        raise _bomb(path)


def _bomb(path: Path) -> LimitError:
    return LimitError(
        f"{path.name} unpacks to more than {MAX_RATIO} times its size, like a decompression bomb.",
        hint="If the file is what it should be, unpack it first and read the result.",
    )


def _decode(path: Path, raw: bytes, encoding: str | None) -> tuple[str, str]:
    """The encoding as DuckDB calls it, and the head as text without its byte-order mark."""
    if encoding is None:
        if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            encoding = "utf-16"
        elif len(raw) > 3 and (raw[1:200:2].count(0) > 0.4 * len(raw[1:200:2])):
            encoding = "utf-16-le"
        elif len(raw) > 3 and (raw[0:200:2].count(0) > 0.4 * len(raw[0:200:2])):
            encoding = "utf-16-be"
    name = (encoding or "utf-8").casefold().replace("_", "-")
    if name in ("utf-8", "utf8", "utf-8-sig"):
        nul = raw.find(b"\0")
        if nul >= 0:
            raise TableError(f"Byte {nul + 1:,} of {path.name} is a NUL, which text cannot hold.")
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            if error.start < len(raw) - 4:
                raise TableError(
                    f"Byte {error.start + 1:,} of {path.name} is not utf-8 text.",
                    hint="Give its encoding, for example encoding='latin-1'.",
                ) from None
            text = raw[: error.start].decode("utf-8-sig")
        return "utf-8", text
    try:
        text = raw.decode(name, errors="ignore").removeprefix("\ufeff")
    except LookupError:
        raise InputError(f"The encoding {encoding!r} is not known.") from None
    known = {"utf-16": "utf-16", "utf-16-le": "utf-16", "utf-16-be": "utf-16", "latin-1": "latin-1"}
    known |= {"latin1": "latin-1", "iso-8859-1": "latin-1"}
    if name not in known:
        raise InputError(
            f"Text in {encoding!r} cannot be read.", hint="Known are utf-8, utf-16 and latin-1."
        )
    return known[name], text


def _bad_byte(path: Path, compression: str) -> int | None:
    """The position of the first byte that is not UTF-8, counted from 1."""
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8")()
    done = 0
    with _open(path, compression) as file:
        while chunk := file.read(_HEAD):
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                return int(done - pending + error.start + 1)
            done += len(chunk)
    return None


# --- JSON lines ---------------------------------------------------------------------------


def json_feed(path: Path, compression: str) -> Feed:
    """The feed of a file with one JSON object a line; cells keep their JSON types."""
    import duckdb

    _head(path, compression)
    source = (
        f"read_json({_quoted(str(path))}, format='auto', sample_size=-1, "
        f"compression={_quoted({'.gz': 'gzip', '.zst': 'zstd'}.get(compression, 'none'))})"
    )

    def refuse(error: Exception) -> TableError:
        text = re.sub(r"^[A-Za-z ]+Error: ", "", str(error).splitlines()[0])
        return TableError(
            f"{path.name} is not a file of JSON lines: {text.rstrip('.')}.",
            hint="Each line must hold one object, such as {\"a\": 1}.",
        )

    try:
        with duckdb.connect() as connection:
            given = connection.sql(f"SELECT * FROM {source}").columns
            found = connection.sql(f"SELECT count(*) FROM {source}").fetchone()
    except duckdb.Error as error:
        raise refuse(error) from None
    names, notes = distinct_names(given)
    if tuple(given) == ("json",):
        raise TableError(f"{path.name} is not a file of JSON lines: its lines are not objects.")

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        columns = ", ".join('"' + given[names.index(n)].replace('"', '""') + '"' for n in wanted)
        try:
            with duckdb.connect() as connection:
                query = f"SELECT {columns} FROM {source}"
                reader = connection.sql(query).to_arrow_reader(BATCH)
                yield from record_batches(reader, list(wanted), wanted)
        except duckdb.Error as error:
            raise refuse(error) from None

    size = path.stat().st_size * (12 if compression else 1)
    return Feed(
        path.name, names, batches, rows=found[0] if found else None, bytes=size, notes=notes
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
