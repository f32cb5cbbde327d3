"""What an engine computes as a feed: DuckDB relations, polars frames and queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    kinds = dict(zip(names, relation.types, strict=True))
    declared = {
        name: Declared(tuple(dict(kind.children)["values"]), ordered=True)
        for name, kind in kinds.items()
        if kind.id == "enum"
    }
    huge = {name for name, kind in kinds.items() if kind.id in ("hugeint", "uhugeint")}

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        reader = relation.to_arrow_reader(batch_rows(len(names)))
        for batch in record_batches(reader, names, wanted):
            yield {n: whole_numbers(c) if n in huge else c for n, c in batch.items()}

    # to count the rows would be to run the query once more
    return Feed("DuckDB relation", names, batches, declared=declared, notes=notes)


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


def python_cells(values: Any) -> Any:
    """Cells as an array of Python objects, each kept as it is."""
    return np.fromiter(iter(values), dtype=object, count=len(values))


def feed_of_polars(frame: Any) -> Feed:
    """The batches of a polars frame, eager or lazy."""
    import polars as pl

    if isinstance(frame, pl.Series):
        frame = frame.to_frame()
    lazy = isinstance(frame, pl.LazyFrame)
    schema = frame.collect_schema()
    declared = {
        name: Declared(tuple(kind.categories.to_list()), ordered=True)
        for name, kind in schema.items()
        if isinstance(kind, pl.Enum)
    }

    rows = frame.select(pl.len()).collect().item() if lazy else frame.height
    odd = {n for n, kind in schema.items() if kind == pl.Object}  # Arrow has none

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        chosen, size = frame.select(list(wanted)), batch_rows(len(wanted))
        parts: Any = [chosen]
        if lazy and _is_scan(chosen):  # which would be read ahead without end
            parts = (chosen.slice(start, size).collect() for start in range(0, rows, size))
        elif lazy:
            parts = chosen.collect_batches(chunk_size=size, maintain_order=True)
        for part in parts:
            table = part.select(n for n in wanted if n not in odd).to_arrow()
            for start in range(0, part.height, BATCH):
                piece, own = table.slice(start, BATCH), part.slice(start, BATCH)
                yield {
                    n: python_cells(own[n].to_list()) if n in odd else piece[n].combine_chunks()
                    for n in wanted
                }

    return Feed(
        "polars lazy frame" if lazy else "polars frame",
        tuple(schema.names()),
        batches,
        rows=rows,
        in_memory=not lazy,
        declared=declared,
    )


def _is_scan(query: Any) -> bool:
    """Whether a query is some columns of files or of a frame, in which rows are found by number."""
    first, *others = query.explain().strip().splitlines()
    scan = first.startswith(("Parquet SCAN", "Ipc SCAN", "DF ["))
    return scan and all(o.strip().startswith(("PROJECT ", "ESTIMATED ROWS")) for o in others)
