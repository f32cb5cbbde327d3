"""The batches of an Arrow dataset in bounded memory: one file after the other.

A scanner of the whole dataset decodes as many row groups ahead as it likes. Here each fragment is
read by itself, and a Parquet file that has just the dataset's columns page by page; the filter of a
filtered dataset is applied to what the pages hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pyarrow as pa

from credo.data.sources.feed import batch_rows

__all__ = ["dataset_batches", "first_batches"]


def dataset_batches(dataset: Any, columns: list[str]) -> Iterator[Any]:
    """Record batches of some columns, in the order of the dataset.

    >>> import pyarrow as pa, pyarrow.dataset as ds
    >>> source = ds.dataset(pa.table({"a": [1, 2], "b": ["x", "y"]}))
    >>> [batch.to_pydict() for batch in dataset_batches(source, ["b"])]
    [{'b': ['x', 'y']}]
    >>> [batch.to_pydict() for batch in dataset_batches(source.filter(ds.field("a") > 1), ["b"])]
    [{'b': ['y']}]
    """
    for batches in _by_fragment(dataset, columns, batch_rows(len(columns))):
        yield from batches


def first_batches(dataset: Any, column: str) -> Iterator[Any]:
    """The first rows of one column in each file that has some: there are its categories.

    >>> import pyarrow as pa, pyarrow.dataset as ds
    >>> source = ds.dataset(pa.table({"a": [1, 2], "b": ["x", "y"]}))
    >>> [batch.to_pydict() for batch in first_batches(source, "b")]
    [{'b': ['x', 'y']}]
    """
    for batches in _by_fragment(dataset, [column], batch_rows(1)):
        yield from islice((batch for batch in batches if batch.num_rows), 1)


def _by_fragment(dataset: Any, columns: list[str], rows: int) -> Iterator[Iterator[Any]]:
    """The batches of each fragment; all together where this version of Arrow shows none."""
    fragments: list[Any] | None
    try:
        fragments, chosen = list(dataset.get_fragments()), None
    except (ValueError, AttributeError):  # a filtered dataset shows none of its fragments
        fragments, chosen = _filtered(dataset)
    if fragments is None:
        options = _one_by_one(getattr(dataset, "format", None))
        yield dataset.scanner(columns=columns, batch_size=rows, **options).to_batches()
        return
    for fragment in fragments:
        if type(fragment).__name__ == "ParquetFileFragment":
            yield _parquet_batches(fragment, dataset.schema, columns, rows, chosen)
        else:
            yield _scanned(fragment, dataset.schema, columns, rows, chosen)


def _filtered(dataset: Any) -> tuple[list[Any] | None, Any]:
    """The fragments of a filtered dataset and its filter, if this version of Arrow tells them."""
    try:
        chosen = dataset._scan_options["filter"]
        if set(dataset._scan_options) == {"filter"}:
            return list(dataset._get_fragments(chosen)), chosen
    except (AttributeError, KeyError, TypeError, ValueError):
        pass
    return None, None


def _one_by_one(form: Any) -> dict[str, Any]:
    """The settings of a scanner that reads hardly ahead: by itself it decodes 16 batches of 4 files
    before they are asked for, and keeps whole row groups of a Parquet file as they lie on disk.
    """
    import pyarrow.dataset as ds

    options: dict[str, Any] = {"batch_readahead": 1, "fragment_readahead": 1}
    if isinstance(form, ds.ParquetFileFormat):
        options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(
            pre_buffer=False, use_buffered_stream=True
        )
    return options


def _scanned(
    fragment: Any, schema: Any, columns: list[str], rows: int, chosen: Any
) -> Iterator[Any]:
    """A fragment as its scanner decodes it: a row group of a Parquet file at once."""
    scanner = fragment.scanner(schema=schema, columns=columns, batch_size=rows, filter=chosen)
    yield from scanner.to_batches()


def _parquet_batches(
    fragment: Any, schema: Any, columns: list[str], rows: int, chosen: Any
) -> Iterator[Any]:
    """A Parquet file by pages; by row groups if its path or another file adds to its columns.

    Row groups in which no row can pass the filter are left out by what the file says of them.
    """
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    if chosen is not None:
        fragment = fragment.subset(chosen, schema=schema)
    with fragment.open() as source, pq.ParquetFile(source, pre_buffer=False) as file:
        plain = fragment.partition_expression.equals(ds.scalar(True))
        if plain and file.schema_arrow.equals(schema) and not any("." in c for c in schema.names):
            groups = [group.id for group in fragment.row_groups]
            read = _with_needed(columns, chosen, schema)
            for batch in file.iter_batches(rows, row_groups=groups, columns=read):
                if chosen is None:
                    yield batch.select(columns)
                else:
                    kept = pa.Table.from_batches([batch]).filter(chosen)
                    yield from kept.select(columns).to_batches()
            return
    for part in fragment.split_by_row_group():
        yield from _scanned(part, schema, columns, rows, chosen)


def _with_needed(columns: list[str], chosen: Any, schema: Any) -> list[str]:
    """The columns asked for and those that a filter speaks of: every one whose name stands in it;
    all of them in their order where it may speak of columns by position, or of parts of one.
    """
    if chosen is None:
        return columns
    text = str(chosen)
    if "FieldPath(" in text or "FieldRef" in text:
        return list(schema.names)
    return [*columns, *(n for n in schema.names if n in text and n not in columns)]
