"""The batches of an Arrow dataset in bounded memory: one file after the other.

A scanner of the whole dataset decodes as many row groups ahead as it likes. Here each fragment is
read by itself, and a Parquet file that has just the dataset's columns page by page. A filtered
dataset shows none of its fragments: its scanner is held to a few row groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from credo.data.sources.feed import batch_rows


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
    each = None if _fragments(dataset) is None else 1  # where files do not show, all is looked at
    for batches in _by_fragment(dataset, [column], batch_rows(1)):
        yield from islice((batch for batch in batches if batch.num_rows), each)


def _fragments(dataset: Any) -> list[Any] | None:
    """The files and the like that a dataset is of; None where a filter hides them."""
    try:
        return list(dataset.get_fragments())
    except ValueError:
        return None


def _by_fragment(dataset: Any, columns: list[str], rows: int) -> Iterator[Iterator[Any]]:
    """The batches of each fragment; all together where a filter hides them."""
    fragments = _fragments(dataset)
    if fragments is None:
        options = _one_by_one(getattr(dataset, "format", None))
        yield dataset.scanner(columns=columns, batch_size=rows, **options).to_batches()
        return
    for fragment in fragments:
        if type(fragment).__name__ == "ParquetFileFragment":
            yield _parquet_batches(fragment, dataset.schema, columns, rows)
        else:
            yield _scanned(fragment, dataset.schema, columns, rows)


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


def _scanned(fragment: Any, schema: Any, columns: list[str], rows: int) -> Iterator[Any]:
    """A fragment as its scanner decodes it: a row group of a Parquet file at once."""
    yield from fragment.scanner(schema=schema, columns=columns, batch_size=rows).to_batches()


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
