"""The batches of an Arrow dataset in bounded memory: one file after the other.

A scanner of the whole dataset decodes as many row groups ahead as it likes. Here each fragment is
read by itself, and a Parquet file that has just the dataset's columns page by page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from credo.data.feed import batch_rows

__all__ = ["dataset_batches"]


def dataset_batches(dataset: Any, columns: list[str]) -> Iterator[Any]:
    """Record batches of some columns, in the order of the dataset.

    >>> import pyarrow as pa, pyarrow.dataset as ds
    >>> source = ds.dataset(pa.table({"a": [1, 2], "b": ["x", "y"]}))
    >>> [batch.to_pydict() for batch in dataset_batches(source, ["b"])]
    [{'b': ['x', 'y']}]
    """
    rows = batch_rows(len(columns))
    try:
        fragments = list(dataset.get_fragments())
    except (ValueError, AttributeError):  # a filtered dataset has no fragments of its own
        yield from dataset.scanner(columns=columns, batch_size=rows).to_batches()
        return
    for fragment in fragments:
        if type(fragment).__name__ == "ParquetFileFragment":
            yield from _parquet_batches(fragment, dataset.schema, columns, rows)
        else:
            yield from _scanned(fragment, dataset.schema, columns, rows)


def _scanned(fragment: Any, schema: Any, columns: list[str], rows: int) -> Iterator[Any]:
    scanner = fragment.scanner(schema=schema, columns=columns, batch_size=rows)
    yield from scanner.to_batches()


def _parquet_batches(fragment: Any, schema: Any, columns: list[str], rows: int) -> Iterator[Any]:
    """A Parquet file by pages; by row groups if its path or another file adds to its columns."""
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    with fragment.open() as source, pq.ParquetFile(source, pre_buffer=False) as file:
        plain = fragment.partition_expression.equals(ds.scalar(True))
        if plain and file.schema_arrow.equals(schema) and not any("." in c for c in schema.names):
            groups = [group.id for group in fragment.row_groups]
            for batch in file.iter_batches(rows, row_groups=groups, columns=columns):
                yield batch.select(columns)
            return
    for part in fragment.split_by_row_group():
        yield from _scanned(part, schema, columns, rows)
