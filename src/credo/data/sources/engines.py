"""What an engine computes as a feed: DuckDB relations, polars frames and queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from credo.core.errors import InputError
from credo.data.columns.infer import Declared
from credo.data.sources.feed import BATCH, Batch, Feed, batch_rows, distinct_names, record_batches


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

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        reader = relation.to_arrow_reader(batch_rows(len(names)))
        for batch in record_batches(reader, names, wanted):
            yield {n: made[n](c) if n in made else c for n, c in batch.items()}

    # to count the rows would be to run the query once more
    return Feed("DuckDB relation", names, batches, declared=declared, notes=notes)


def feed_of_polars(frame: Any) -> Feed:
    """The batches of a polars frame, eager or lazy."""
    import polars as pl

    if isinstance(frame, pl.Series):
        frame = frame.to_frame()
    lazy = isinstance(frame, pl.LazyFrame)
    count = frame.select(pl.len()).collect().item() if lazy else frame.height
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
        table = part.select(n for n in wanted if n not in odd).to_arrow()
        for start in range(0, part.height, BATCH):
            rows = table.slice(start, BATCH).combine_chunks()
            batch = {n: rows.column(n).combine_chunks() for n in rows.column_names}
            batch |= {n: whole_numbers(batch[n]) for n in huge.intersection(batch)}
            for n in odd.intersection(wanted):
                batch[n] = python_cells(part.get_column(n).slice(start, BATCH).to_list())
            yield {n: batch[n] for n in wanted}

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        chosen = frame.select(list(wanted))
        chosen = chosen.with_columns(pl.col(n).cast(pl.Decimal(38, 0)) for n in wanted if n in huge)
        for part in _answers(chosen, count, len(wanted)) if lazy else _parts(chosen):
            yield from cells(part, wanted)

    return Feed(
        "polars lazy frame" if lazy else "polars frame",
        tuple(schema.names()),
        batches,
        rows=count,
        in_memory=not lazy,
        declared=declared,
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
# A query that polars runs by itself reads ahead of who takes its batches, without end: measured on
# Parquet, half of the answer was in memory at once. What is a plain scan is therefore asked for one
# slice after the other.


_PLAIN = ("Parquet SCAN", "Ipc SCAN", "DF [")
_SLICED = ("PROJECT ", "ESTIMATED ROWS")


def _answers(query: Any, rows: int, width: int) -> Iterator[Any]:
    """The frames of a lazy frame, one after the other."""
    size = batch_rows(width)
    if _is_plain(query):
        return (query.slice(start, size).collect() for start in range(0, rows, size))
    found: Iterator[Any] = query.collect_batches(chunk_size=size, maintain_order=True)
    return found


def _is_plain(frame: Any) -> bool:
    """Whether a lazy frame is just some columns of files, or of a frame, in which rows are found by
    their number.
    """
    first, *others = frame.explain().strip().splitlines()
    return first.startswith(_PLAIN) and all(o.strip().startswith(_SLICED) for o in others)


_DUCKDB_TYPES: dict[str, Callable[[Any], Any]] = {
    "hugeint": whole_numbers,
    "uhugeint": whole_numbers,
    "uuid": uuids,
}
