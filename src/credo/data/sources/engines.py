"""What an engine computes as a feed: DuckDB relations, polars frames and queries."""

from __future__ import annotations

import datetime as dt
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from credo.core.errors import InputError
from credo.data.columns.infer import Declared
from credo.data.sources.feed import BATCH, Batch, Feed, batch_rows, distinct_names, record_batches

_AS_TEXT = ("bit", "bignum", "time with time zone")  # Arrow gets DuckDB's own bytes, or no zone


def feed_of_relation(relation: Any) -> Feed:
    """The batches of a DuckDB relation."""
    if not hasattr(relation, "to_arrow_reader") or not hasattr(relation, "columns"):
        raise InputError(
            f"A DuckDB relation is expected, got {type(relation).__name__}.",
            hint="Use con.sql('select …') or con.table('…').",
        )
    names, notes = distinct_names(relation.columns)
    declared = {}
    for name, kind in zip(names, relation.types, strict=True):
        if kind.id == "enum":
            declared[name] = Declared(tuple(dict(kind.children)["values"]), ordered=True)

    made = {
        name: _DUCKDB_TYPES[kind.id]
        for name, kind in zip(names, relation.types, strict=True)
        if kind.id in _DUCKDB_TYPES
    }

    relation = _with_texts(relation)

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        reader = relation.to_arrow_reader(batch_rows(len(names)))
        for batch in record_batches(reader, names, wanted):
            yield {n: made[n](c) if n in made else c for n, c in batch.items()}

    # to count the rows would be to run the query once more
    return Feed("DuckDB relation", names, batches, declared=declared, notes=notes)


def _with_texts(relation: Any) -> Any:
    """The same relation, with texts in place of what Arrow cannot be given as it is."""
    as_text = [kind.id in _AS_TEXT for kind in relation.types]
    if not any(as_text):
        return relation
    quoted = ['"' + str(name).replace('"', '""') + '"' for name in relation.columns]
    parts = (
        f"#{i}{'::varchar' * text} as {name}"
        for i, (text, name) in enumerate(zip(as_text, quoted, strict=True), start=1)
    )
    return relation.project(", ".join(parts))


def feed_of_polars(frame: Any, limit: float) -> Feed:
    """The batches of a polars frame, eager or lazy; `limit` is the memory that a query may take."""
    import polars as pl

    if isinstance(frame, pl.Series):
        frame = frame.to_frame()
    answer = Answer(frame, limit) if isinstance(frame, pl.LazyFrame) else None
    schema = frame.collect_schema()
    declared = {
        name: Declared(tuple(kind.categories.to_list()), ordered=True)
        for name, kind in schema.items()
        if isinstance(kind, pl.Enum)
    }
    # Arrow has no whole numbers of 128 bits, and no Python objects
    huge = {n for n, kind in schema.items() if str(kind) in ("Int128", "UInt128")}
    odd = {n for n, kind in schema.items() if kind == pl.Object}

    def cells(part: Any, wanted: Sequence[str]) -> Iterator[Batch]:
        is_frame = isinstance(part, pl.DataFrame)
        table = part.select(n for n in wanted if n not in odd).to_arrow() if is_frame else part
        for start in range(0, part.height if is_frame else len(part), BATCH):
            rows = table.slice(start, BATCH).combine_chunks()
            batch = {n: rows.column(n).combine_chunks() for n in rows.column_names}
            batch |= {n: whole_numbers(batch[n]) for n in huge.intersection(batch)}
            for n in odd.intersection(wanted):
                batch[n] = python_cells(part.get_column(n).slice(start, BATCH).to_list())
            yield {n: batch[n] for n in wanted}

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        chosen = frame.select(list(wanted))
        chosen = chosen.with_columns(pl.col(n).cast(pl.Decimal(38, 0)) for n in wanted if n in huge)
        for part in answer.parts(chosen, wanted) if answer else _parts(chosen):
            yield from cells(part, wanted)

    return Feed(
        "polars lazy frame" if answer else "polars frame",
        tuple(schema.names()),
        batches,
        rows=answer.rows if answer else frame.height,
        in_memory=answer is None,
        declared=declared,
        late_notes=answer.notes if answer else tuple,
    )


def _parts(frame: Any) -> Iterator[Any]:
    return (frame.slice(start, BATCH) for start in range(0, frame.height, BATCH))


# --- what engines hand over in a type that is not the user's ------------------------------
#
# What engines hand over in a type that is not the user's: whole numbers of 128 bits come as
# decimals, UUIDs as texts. Here they become what they were.


_NO_UUID = "0" * 32


def python_cells(values: Any) -> Any:
    """Cells as an array of Python objects, each kept as it is."""
    return np.fromiter(iter(values), dtype=object, count=len(values))


def from_texts(cells: Any, parse: Callable[[str], Any]) -> Any:
    """What an engine could only write as texts, as the values that they are.

    >>> from_texts(pa.array(["12", None]), int).tolist()
    [12, None]
    """
    return python_cells([None if t is None else parse(t) for t in cells.to_pylist()])


def whole_numbers(cells: Any) -> Any:
    """Decimals without a fraction as whole numbers: of 64 bits, or Python's where they are larger.

    >>> whole_numbers(pa.array([1, None], pa.decimal128(38, 0))).to_pylist()
    [1, None]
    >>> whole_numbers(pa.array([10**20], pa.decimal128(38, 0))).tolist()
    [100000000000000000000]
    """
    try:
        return pc.cast(cells, pa.int64())
    except pa.ArrowInvalid:
        return python_cells([None if v is None else int(v) for v in cells.to_pylist()])


def uuids(cells: Any) -> Any:
    """The texts of UUIDs as UUIDs.

    >>> uuids(pa.array(["00000000-0000-0000-0000-00000000000a", None])).to_pylist()
    [UUID('00000000-0000-0000-0000-00000000000a'), None]
    """
    plain = pc.replace_substring(pc.fill_null(cells, _NO_UUID), "-", "")
    digits = "".join(plain.to_pylist())
    storage = pa.Array.from_buffers(
        pa.binary(16), len(cells), [None, pa.py_buffer(bytes.fromhex(digits))]
    )
    if cells.null_count:
        storage = pc.if_else(cells.is_valid(), storage, pa.scalar(None, pa.binary(16)))
    return pa.ExtensionArray.from_storage(pa.uuid(), storage)


# --- the answer of a polars query ---------------------------------------------------------
#
# The answer of a polars query, part by part, in memory that does not grow with its rows.
#
# A query that polars runs by itself reads ahead of who takes its batches, without end: measured on
# Parquet, half of the answer was in memory at once. What is a plain scan is therefore asked for one
# slice after the other. Any other query whose answer would not fit the limit as polars holds it is
# written once to a temporary Parquet file, which polars does in bounded memory, and read from
# there; so it is also run once, not anew for every tally.


_PLAIN = ("Parquet SCAN", "Ipc SCAN", "DF [")
_SLICED = ("PROJECT ", "ESTIMATED ROWS")
_CHUNK = 8192  # rows that polars passes on at once; by itself far more, and it holds many of them
_OTHER_BYTES = 32  # what polars takes for a text, a list or an object, at a guess


class Answer:
    """The rows of a lazy frame; `rows` is how many. `limit` is the memory that all of them may take
    where polars reads ahead.

    >>> import polars as pl
    >>> query = pl.LazyFrame({"a": [1, 2, 3]}).filter(pl.col("a") > 1)
    >>> answer = Answer(query, limit=1.0)
    >>> [part.to_pydict() for part in answer.parts(query, ["a"])]
    [{'a': [2, 3]}]
    >>> answer.notes()[0].startswith("polars ran the query once")
    True
    """

    def __init__(self, frame: Any, limit: float) -> None:
        import polars as pl

        self.frame = frame
        self.rows: int = frame.select(pl.len()).collect().item()
        self.limit = limit
        self._folder: Any = None  # gone when the answer is
        self._written: tuple[str, ...] = ()

    def parts(self, chosen: Any, names: Sequence[str]) -> Iterator[Any]:
        """Arrow tables, or polars frames, of what is chosen of the frame: the columns named."""
        size = batch_rows(len(names))
        if _is_plain(chosen):
            for start in range(0, self.rows, size):
                yield chosen.slice(start, size).collect()
        elif self._fits(chosen):
            yield from chosen.collect_batches(chunk_size=size, maintain_order=True)
        else:
            yield from self._from_file(chosen, names, size)

    def notes(self) -> tuple[str, ...]:
        """That there is a file, if there is one, for the report."""
        if self._folder is None:
            return ()
        megabytes = self._path.stat().st_size / 1e6
        return (
            "polars ran the query once, and its answer is read from a temporary file of "
            f"{megabytes:,.1f} MB",
        )

    @property
    def _path(self) -> Path:
        return Path(self._folder.name) / "answer.parquet"

    def _fits(self, chosen: Any) -> bool:
        """Whether the answer may be read straight: it fits, or there is no disk for it, or it has
        Python objects, which no file can hold.
        """
        import polars as pl

        kinds = chosen.collect_schema().dtypes()
        size = self.rows * sum(_bytes(kind) for kind in kinds)
        if size <= self.limit or pl.Object in kinds:
            return True
        return shutil.disk_usage(tempfile.gettempdir()).free < 2 * size

    def _from_file(self, chosen: Any, names: Sequence[str], size: int) -> Iterator[Any]:
        import polars as pl
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not set(names) <= set(self._written):
            self._folder = tempfile.TemporaryDirectory(prefix="credo-")
            with pl.Config(streaming_chunk_size=_CHUNK):
                chosen.sink_parquet(
                    self._path, compression="lz4", statistics=False, row_group_size=BATCH
                )
            self._written = tuple(names)
        with pq.ParquetFile(self._path, pre_buffer=False) as file:
            for batch in file.iter_batches(size, columns=list(names)):
                yield pa.Table.from_batches([batch])


def _is_plain(frame: Any) -> bool:
    """Whether a lazy frame is just some columns of files, or of a frame, in which rows are found by
    their number.
    """
    first, *others = frame.explain().strip().splitlines()
    return first.startswith(_PLAIN) and all(o.strip().startswith(_SLICED) for o in others)


def _bytes(kind: Any) -> float:
    """What polars takes for a cell of a type."""
    import polars as pl

    if kind == pl.Boolean:
        return 1 / 8
    if kind.is_integer() or kind.is_float():
        return int("".join(c for c in str(kind) if c.isdigit())) / 8
    return 8 if kind.is_temporal() else _OTHER_BYTES


_DUCKDB_TYPES: dict[str, Callable[[Any], Any]] = {
    "hugeint": whole_numbers,
    "uhugeint": whole_numbers,
    "uuid": uuids,
    "bit": lambda texts: texts,
    "bignum": lambda texts: from_texts(texts, int),
    "time with time zone": lambda texts: from_texts(texts, dt.time.fromisoformat),
}
