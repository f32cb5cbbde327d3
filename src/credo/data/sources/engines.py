"""What an engine computes as a feed: DuckDB relations, polars frames and queries."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from credo.core.errors import InputError
from credo.data.columns.infer import Declared
from credo.data.sources.engine_types import from_texts, python_cells, uuids, whole_numbers
from credo.data.sources.feed import BATCH, Batch, Feed, batch_rows, distinct_names, record_batches
from credo.data.sources.polars_answers import Answer

__all__ = ["feed_of_polars", "feed_of_relation"]

_DUCKDB_TYPES: dict[str, Callable[[Any], Any]] = {
    "hugeint": whole_numbers,
    "uhugeint": whole_numbers,
    "uuid": uuids,
    "bit": lambda texts: texts,
    "bignum": lambda texts: from_texts(texts, int),
    "time with time zone": lambda texts: from_texts(texts, dt.time.fromisoformat),
}
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
