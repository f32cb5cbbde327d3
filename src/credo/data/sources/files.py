"""Paths and globs as feeds: CSV, TSV, JSON lines (also .gz, .zst), Parquet, Arrow IPC, DuckDB.

Arrow reads CSV, and hands a Parquet column's dictionary pages over without making text of them; a
kernel reads JSON lines, and Python's json module what is not plain there. docs/design.md says why.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from credo.core.errors import CredoError, InputError, TableError, near_file, out_of_memory, shown
from credo.data.columns.cells import type_name
from credo.data.columns.infer import Declared
from credo.data.sources.arrays import sound
from credo.data.sources.declared import declared_by, merged
from credo.data.sources.feed import (
    ROWS_ARE_DUE,
    Batch,
    Feed,
    batch_rows,
    distinct_names,
    foreign,
    record_batches,
)
from credo.data.sources.folders import (
    below,
    files_in,
    open_parts,
    with_folders,
)
from credo.data.sources.jsonlines import KEPT, json_feed
from credo.data.sources.queries import (
    ENDINGS,
    feed_of_database,
    feed_of_query,
    is_query,
    table_of_database,
)
from credo.data.sources.text import TextOptions, csv_feed
from credo.data.sources.unpack import FileStamp, gone

_COMPRESSED = (".gz", ".zst")
FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    ".dat": "csv",
    ".data": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".arrows": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
    **dict.fromkeys(ENDINGS, "database"),
}


_OTHERS = {
    (".xlsx", ".xls", ".xlsm", ".ods"): "Save its sheet as CSV, or give pandas.read_excel({!r}).",
    (".dta",): "Save it as CSV or Parquet, or give pandas.read_stata({!r}).",
    (".sav",): "Save it as CSV or Parquet, or give pandas.read_spss({!r}).",
    (".sas7bdat", ".xpt"): "Save it as CSV or Parquet, or give pandas.read_sas({!r}).",
    (".rds", ".rda", ".rdata"): "Write it from R as CSV (write.csv) or Parquet (arrow).",
    (".sqlite", ".sqlite3", ".db"): "Export one of its tables as CSV.",
    (".orc",): "Give pyarrow.orc.read_table({!r}).",
    (".npy",): "Give numpy.load({!r}) with columns=[…].",
    (".zip", ".tar", ".tgz", ".7z", ".bz2", ".xz"): "Unpack it first.",
}
"""Other files that hold tables, and the way from there to here."""


def is_path(x: Any) -> bool:
    """Whether something names files: a path or a glob, or a list of them.

    >>> is_path("rows/*.csv"), is_path(["a.csv", "b.csv"]), is_path([{"a": 1}]), is_path([])
    (True, True, False, False)
    """
    if isinstance(x, (list, tuple)):
        return bool(x) and all(isinstance(p, (str, os.PathLike)) for p in x)
    return isinstance(x, (str, os.PathLike))


def feed_of_path(given: Any, options: TextOptions) -> Feed:
    """The feed of a file, or of all files of a folder or that a glob matches, in the order of their
    names; a list of them is read in its own order, and a text may be a query over files.
    """
    if is_query(given):
        _refuse_options("a query", options, "query")
        return feed_of_query(given)
    named = None if isinstance(given, (list, tuple)) else table_of_database(os.fspath(given))
    if named is not None:
        _refuse_options(named[0].name, options, "database")
        return feed_of_database(*named)
    listed = isinstance(given, (list, tuple))
    texts = [os.fspath(p) for p in (given if listed else [given])]
    text = texts[0] + ", …" * (len(texts) > 1)
    found = [(p, open_parts(t, p)) for t in texts for p in matching(t)]
    paths = [p for p, _ in found]
    stamps = tuple(FileStamp.of(p) for p in paths if p.is_file())
    feeds = [open_file(p, options, len(paths)) for p in paths]
    feeds = with_folders(feeds, [told for _, told in found])
    first = feeds[0]
    label = first.label if len(feeds) == 1 else f"{len(feeds)} files {text}"
    if all(feed.rows == 0 for feed in feeds):
        if len(feeds) == 1:
            raise first.without_rows()
        raise TableError(f"{label} have {'a header' if first.text else 'columns'} but no rows.")
    if len(feeds) == 1:
        return replace(first, files=stamps)
    differ: dict[str, tuple[str, str, str]] = {}  # columns whose types are not the same in all
    called = below(paths)
    for where, feed in zip(called, feeds, strict=True):
        if set(feed.names) != set(first.names):
            odd = sorted(set(feed.names) ^ set(first.names))[0]
            raise TableError(
                f"{where} has other columns than {called[0]}: {odd!r} is in only one of them.",
                hint="All files of one table must have the same columns.",
            )
        if feed.text != first.text:
            raise TableError(
                f"{where} and {called[0]} are files of different kinds.",
                hint="Read text files and others one after the other.",
            )
        for name, kind in feed.types.items():
            other = first.types.get(name, kind)
            if kind != other and {kind, other} != {"int", "float"}:
                differ.setdefault(name, (kind, where, other))

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        for name in wanted:
            if name in differ:
                kind, where, other = differ[name]
                raise TableError(
                    f"Column {name!r} is {kind} in {where} and {other} in {called[0]}.",
                    hint="All files of one table must have columns of the same types; "
                    f"schema={{{name!r}: 'drop'}} leaves it out.",
                )
        for feed in feeds:
            yield from feed.batches(wanted)

    known = [f.rows for f in feeds]
    sizes = [f.bytes for f in feeds]
    return replace(
        first,
        label=label,
        batches=batches,
        files=stamps,
        rows=None if None in known else sum(r or 0 for r in known),
        bytes=None if None in sizes else sum(s or 0 for s in sizes),
        declared=merged([f.declared for f in feeds if f.rows != 0]),
        late_notes=lambda: tuple(
            f"{where}: {note}"
            for where, f in zip(called, feeds, strict=True)
            for note in f.late_notes()
        ),
    )


def matching(text: str) -> list[Path]:
    """The files that a path, a folder or a glob names."""
    if "://" in text:
        raise InputError(
            f"{text!r} is an address; credo reads local files.", hint="Download it first."
        )
    if not text.strip():
        raise TableError("The path is empty.")
    if "\n" in text.strip() and not os.path.exists(text):
        raise TableError(
            f"A path is one line, and this text has {text.strip().count(chr(10)) + 1:,}: "
            f"{shown(text)}.",
            hint="If it is the table itself, write it to a file first, or give "
            "pandas.read_csv(io.StringIO(…)).",
        )
    path = Path(os.path.expanduser(text))
    try:
        there = path.exists()
    except OSError as error:
        raise TableError(f"There is no file {text[:60]}…: {error.strerror}.") from None
    if there:
        if path.is_dir():
            return files_in(path, text, FORMATS)
        return [path]
    if any(c in text for c in "*?["):
        found = sorted(glob.glob(str(path), recursive=True))
        files = [Path(p) for p in found if Path(p).is_file()]
        if files:
            return files
        hint = ROWS_ARE_DUE if re.fullmatch(r"(\[[^][]+\])+", text) else ""
        raise TableError(f"No file matches {text}.", hint=hint)
    if path.is_symlink():
        raise TableError(f"{text} is a link that leads nowhere.")
    raise TableError(f"There is no file {text}.", hint=near_file(path))


def open_file(
    path: Path, options: TextOptions, files: int, groups: tuple[int, ...] | None = None
) -> Feed:
    """The feed of one file, or of some row groups of a Parquet file."""
    suffix, compression = path.suffix.lower(), ""
    if suffix in _COMPRESSED:
        compression, suffix = suffix, path.with_suffix("").suffix.lower()
    form = FORMATS.get(suffix)
    if form is None:
        raise _unknown_ending(path)
    if path.stat().st_size == 0:
        raise TableError(f"{path.name} is empty: it has no header and no rows.")
    if form in ("csv", "tsv"):
        return csv_feed(path, compression, options, tab=form == "tsv")
    _refuse_options(path.name, options, form)
    if form == "json":
        return json_feed(path, compression, options.encoding, KEPT // files)
    if compression:
        raise TableError(
            f"{path.name}: Parquet, Arrow and DuckDB files are compressed inside.",
            hint=f"Unpack it, or write it without {compression}.",
        )
    if form == "database":
        return feed_of_database(path)
    parquet = partial(_parquet_feed, groups=groups)
    return _arrow_errors(path, parquet if form == "parquet" else _ipc_feed)


def _unknown_ending(path: Path) -> TableError:
    known = f"Known are {', '.join(FORMATS)}; those of text also with .gz or .zst."
    ending = path.suffix.lower()
    ways = [way.format(str(path)) for endings, way in _OTHERS.items() if ending in endings]
    hint = " ".join([*ways, known])
    return TableError(f"{path.name} has an ending that is not known.", hint=hint)


def _refuse_options(label: str, options: TextOptions, form: str) -> None:
    """Refuse what says how a CSV file is written where there is none; JSON has an encoding."""
    given = [
        f"{f.name}="
        for f in fields(options)
        if getattr(options, f.name) != f.default and (f.name, form) != ("encoding", "json")
    ]
    if given:
        raise InputError(
            f"{' and '.join(given)} {'says' if len(given) == 1 else 'say'} how a file with a "
            "delimiter (.csv, .tsv) is written; "
            f"{label} is none.",
            hint="Leave it out." if len(given) == 1 else "Leave them out.",
        )


def _arrow_errors(path: Path, open_feed: Callable[[Path], Feed]) -> Feed:
    """Errors of the file's own reader, at opening and at every batch, as ours."""

    def refuse(error: Exception) -> CredoError:
        if isinstance(error, FileNotFoundError):
            return gone(path)
        if out_of_memory(error):
            return foreign(path.name, error)
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        if isinstance(error, UnicodeError):
            text = "a name in it is not UTF-8"
        return TableError(
            f"{path.name} cannot be read: {text.rstrip('.')}.",
            hint="It may be cut off or damaged.",
        )

    try:
        feed = open_feed(path)
    except CredoError:
        raise
    except Exception as error:  # a damaged file can make its reader fail in any way
        raise refuse(error) from None

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        try:
            yield from feed.batches(wanted)
        except CredoError:
            raise
        except Exception as error:
            raise refuse(error) from None

    return replace(feed, batches=batches)


def _parquet_feed(path: Path, groups: tuple[int, ...] | None = None) -> Feed:
    import pyarrow.parquet as pq

    opened = pq.ParquetFile(path)
    schema = opened.schema_arrow
    names, _ = distinct_names(schema.names)
    given = dict(zip(names, schema.names, strict=True))
    texts = [
        f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)
    ]

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        with pq.ParquetFile(path, read_dictionary=texts, pre_buffer=False) as file:
            if len(set(schema.names)) < len(schema.names):  # repeated names: by position
                rows = batch_rows(len(names))
                found = file.iter_batches(rows, row_groups=groups)
                yield from record_batches(found, names, wanted, path.name)
                return
            columns = [given[n] for n in wanted]
            rows = batch_rows(len(columns))
            for batch in file.iter_batches(rows, row_groups=groups, columns=columns):
                at = {name: i for i, name in enumerate(batch.schema.names)}
                yield {n: sound(batch.column(at[given[n]]), n, path.name) for n in wanted}

    def first(i: int) -> list[Any]:
        found = opened.iter_batches(1, columns=[schema.names[i]])
        return [batch.column(0) for batch in islice(found, 1)]

    meta = opened.metadata
    rows = meta.num_rows if groups is None else sum(meta.row_group(i).num_rows for i in groups)
    return _typed_feed(path, schema, batches, rows, declared_by(schema, first, path.name))


def _ipc_feed(path: Path) -> Feed:
    _refuse_feather_1(path)

    def open_any() -> tuple[Any, Any]:
        source = pa.memory_map(str(path))
        try:
            file = pa.ipc.open_file(source)
            return file.schema, (file.get_batch(i) for i in range(file.num_record_batches))
        except pa.ArrowInvalid:
            source.seek(0)
            stream = pa.ipc.open_stream(source)
            return stream.schema, stream

    schema, opened = open_any()
    names, _ = distinct_names(schema.names)
    encoded = any(pa.types.is_dictionary(f.type) for f in schema)
    first = list(islice(opened, 1)) if encoded else []
    declared = declared_by(schema, lambda i: [batch.column(i) for batch in first], path.name)

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        return record_batches(open_any()[1], names, wanted, path.name)

    rows = sum(b.num_rows for b in open_any()[1])
    return _typed_feed(path, schema, batches, rows, declared)


def _refuse_feather_1(path: Path) -> None:
    """Refuse Feather as it was before 2020: its reader ends the process at a damaged file."""
    with open(path, "rb") as file:
        if file.read(4) == b"FEA1":
            raise TableError(
                f"{path.name} is a Feather file of version 1, and only version 2 is read.",
                hint=f"Write it again, as pyarrow.feather.write_feather(table, …) does, or give "
                f"pyarrow.feather.read_table({str(path)!r}).",
            )


def _typed_feed(
    path: Path,
    schema: Any,
    batches: Callable[[Sequence[str]], Iterator[Batch]],
    rows: int,
    declared: dict[int, Declared],
) -> Feed:
    """A feed of a file that says what its columns are; `declared` by the columns' positions."""
    names, notes = distinct_names(schema.names)
    return Feed(
        path.name,
        names,
        batches,
        rows,
        rows * _row_bytes(schema),
        declared={names[i]: d for i, d in declared.items()},
        types=_types(names, schema),
        notes=notes,
    )


def _types(names: Sequence[str], schema: Any) -> dict[str, str]:
    """What kind of cells each column has, as the file says."""
    kinds = (f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in schema)
    return {n: type_name(k) for n, k in zip(names, kinds, strict=True) if not pa.types.is_null(k)}


def _row_bytes(schema: Any) -> int:
    """What a row takes in memory: 8 bytes for a number, 1 for anything that has states."""
    wide = (pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal)
    return sum(8 if any(is_wide(f.type) for is_wide in wide) else 1 for f in schema)
