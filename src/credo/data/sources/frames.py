"""Tables in memory and Arrow streams as feeds: pandas, polars, Arrow, DuckDB, NumPy, Python."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa

from credo.core.errors import InputError, TableError
from credo.core.render import many
from credo.data.columns.infer import Declared
from credo.data.sources.arrow_cells import arrow_cells, is_untyped
from credo.data.sources.declared import array_declared, declared_by
from credo.data.sources.engines import feed_of_polars, feed_of_relation
from credo.data.sources.feed import (
    BATCH,
    ROWS_ARE_DUE,
    Batch,
    Feed,
    batch_rows,
    distinct_names,
    record_batches,
    refuse_too_wide,
)


def feed_of_frame(x: Any, columns: Sequence[str] | None) -> Feed:
    """The feed of anything that is not a path; refused with the list of what is accepted."""
    if isinstance(x, np.ndarray):
        return _from_numpy(x, columns)
    if columns is not None:
        raise InputError(
            "columns= names the columns of a 2-D NumPy array; other tables have names."
        )
    if isinstance(x, Mapping):
        return _from_columns(dict(x), "dict of columns")
    if isinstance(x, (list, tuple)):
        return _from_records(x)
    module = type(x).__module__.split(".")[0]
    if module == "pandas":
        return _from_pandas(x)
    if module == "polars" and type(x).__name__ in ("DataFrame", "LazyFrame", "Series"):
        return feed_of_polars(x)
    if module == "narwhals" and hasattr(x, "to_native"):
        return feed_of_frame(x.to_native(), None)
    if module in ("duckdb", "_duckdb"):
        return feed_of_relation(x)
    if isinstance(x, (pa.Table, pa.RecordBatch)):
        return _from_arrow_table(x)
    if isinstance(x, pa.RecordBatchReader):
        return _from_reader(x, "Arrow stream")
    if module == "pyarrow" and hasattr(x, "scanner"):
        return _from_dataset(x)
    if isinstance(x, (pa.Array, pa.ChunkedArray)):
        raise InputError(
            f"A table is needed, and this is one column, of type {type(x).__name__}.",
            hint="Give it a name: {'x': column}.",
        )
    if hasattr(x, "__arrow_c_stream__"):
        return _from_reader(pa.RecordBatchReader.from_stream(x), f"{module} table")
    if hasattr(x, "__arrow_c_array__"):
        return _from_arrow_table(pa.record_batch(x), f"{module} table")
    return _from_narwhals(x)


# --- Arrow --------------------------------------------------------------------------------


def _from_arrow_table(table: Any, label: str = "Arrow table") -> Feed:
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    names, notes = distinct_names(table.column_names, label)
    declared = declared_by(table.schema, lambda i: table.column(i).chunks, label)
    return Feed(
        label,
        names,
        lambda wanted: record_batches(table.to_batches(BATCH), names, wanted, label),
        rows=table.num_rows,
        in_memory=True,
        declared={names[i]: d for i, d in declared.items()},
        notes=notes,
    )


def _from_reader(reader: Any, label: str) -> Feed:
    names, notes = distinct_names(reader.schema.names, label)
    first = list(islice(reader, 1))  # its dictionaries show their order
    declared = declared_by(reader.schema, lambda i: [batch.column(i) for batch in first], label)

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        return record_batches(chain(first, reader), names, wanted, label)

    return Feed(
        label,
        names,
        batches,
        once=True,
        declared={names[i]: d for i, d in declared.items()},
        notes=notes,
    )


def _from_dataset(dataset: Any) -> Feed:
    """The batches of a dataset, of which little is decoded before it is asked for."""
    import pyarrow.dataset as ds

    names, notes = distinct_names(dataset.schema.names)
    given = dict(zip(names, dataset.schema.names, strict=True))
    options: dict[str, Any] = {"batch_readahead": 1, "fragment_readahead": 1}
    if isinstance(getattr(dataset, "format", None), ds.ParquetFileFormat):
        options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(
            pre_buffer=False, use_buffered_stream=True
        )

    def scanned(columns: list[str]) -> Any:
        rows = batch_rows(len(columns))
        return dataset.scanner(columns=columns, batch_size=rows, **options).to_batches()

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        columns = [given[n] for n in wanted]
        return record_batches(scanned(columns), list(wanted), wanted, label)

    def first(i: int) -> list[Any]:  # the first row of each file shows its categories
        try:
            parts = list(dataset.get_fragments())
        except ValueError:  # a filter hides them
            parts = [dataset]
        name = dataset.schema.names[i]
        return [c for p in parts for c in p.head(1, columns=[name]).column(0).chunks]

    label = "Arrow dataset"
    declared = declared_by(dataset.schema, first, label)
    return Feed(
        label,
        names,
        batches,
        rows=dataset.count_rows(),
        declared={names[i]: d for i, d in declared.items()},
        notes=notes,
    )


# --- pandas and others --------------------------------------------------------------------


def _from_pandas(frame: Any) -> Feed:
    import pandas as pd

    if isinstance(frame, pd.Series):
        frame = frame.to_frame()
    if not isinstance(frame, pd.DataFrame):
        raise _not_a_table(frame)
    if isinstance(frame.columns, pd.MultiIndex):
        given = [" ".join(str(p) for p in c if str(p)) for c in frame.columns]
    else:
        given = list(frame.columns)
    names, notes = distinct_names(given, "pandas frame")
    at = {name: i for i, name in enumerate(names)}
    kinds = {name: frame.dtypes.iloc[i] for name, i in at.items()}
    declared = {n: said for n, kind in kinds.items() if (said := _categories(kind)) is not None}

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        # Objects have a type only as a whole column; other columns are converted bit by bit.
        whole = {n: arrow_cells(frame.iloc[:, i], n) for n, i in at.items() if _is_object(frame, i)}
        for start in range(0, len(frame), BATCH):
            part = frame.iloc[start : start + BATCH]
            yield {
                n: whole[n][start : start + BATCH]
                if n in whole
                else arrow_cells(part.iloc[:, at[n]], n)
                for n in wanted
            }

    return Feed(
        "pandas frame", names, batches, len(frame), in_memory=True, declared=declared, notes=notes
    )


def _is_object(frame: Any, column: int) -> bool:
    return bool(frame.dtypes.iloc[column] == np.dtype(object))


def _from_narwhals(x: Any) -> Feed:
    import narwhals as nw

    try:
        frame = nw.from_native(x)
    except TypeError:
        raise _not_a_table(x) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect("pyarrow")
    return _from_arrow_table(frame.to_arrow(), f"{type(x).__module__.split('.')[0]} frame")


def _not_a_table(x: Any) -> InputError:
    hint = (
        "Give a path, a pandas, polars, Arrow or DuckDB table, a dict of columns, "
        "a list of dicts, a NumPy array, or anything with __arrow_c_stream__."
    )
    if isinstance(x, bytes):
        hint = "A path is a text: give os.fsdecode(…) of these bytes if they are one."
    elif isinstance(x, io.IOBase):
        hint = "Give the path of its file, or what pandas.read_csv(…) makes of it."
    elif type(x).__module__.startswith("credo.model"):
        hint = ROWS_ARE_DUE
    elif isinstance(x, Iterator):
        hint = "Give list(…) of it, if it yields paths, or a dict for each row."
    of = type(x).__module__.removeprefix("builtins").removeprefix("_io")
    name = f"{of}.{type(x).__name__}".removeprefix(".")
    return InputError(f"A table of type {name} cannot be read.", hint=hint)


# --- plain Python and NumPy ---------------------------------------------------------------


def _from_columns(columns: dict[Any, Any], label: str) -> Feed:
    names, notes = distinct_names(list(columns), label)
    values = {n: _column(v, n) for n, v in zip(names, columns.values(), strict=True)}
    lengths = {n: len(v) for n, v in values.items()}
    if len(set(lengths.values())) > 1:
        a, b = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise TableError(
            f"The columns differ in length: {a!r} has {many(lengths[a], 'row')} and "
            f"{b!r} has {lengths[b]:,}."
        )
    rows = next(iter(lengths.values()), 0)
    declared = {}
    for (name, value), given in zip(values.items(), columns.values(), strict=True):
        said = _categories(getattr(value, "dtype", None)) or array_declared(given)
        if said is not None:
            declared[name] = said

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        # Lists and objects have a type only as a whole column.
        cells = {n: arrow_cells(v, n) if is_untyped(v) else v for n, v in values.items()}
        for start in range(0, rows, BATCH):
            yield {n: arrow_cells(cells[n][start : start + BATCH], n) for n in wanted}

    return Feed(label, names, batches, rows, in_memory=True, declared=declared, notes=notes)


def _column(values: Any, name: str) -> Any:
    if isinstance(values, (set, frozenset, Mapping)):
        raise InputError(
            f"Column {name!r} must be a sequence of cells, got a {type(values).__name__}."
        )
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        if hasattr(values, "__iter__") and not isinstance(values, (str, bytes)):
            return list(values)
        raise InputError(f"Column {name!r} must be a sequence of cells, got {values!r}.")
    if isinstance(values, pa.ChunkedArray):
        if pa.types.is_dictionary(values.type):  # of which every chunk may have another
            values = values.cast(values.type.value_type)
        return values.combine_chunks()
    if hasattr(values, "iloc"):
        return values.reset_index(drop=True)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise InputError(f"Column {name!r} must have one axis, got the shape {values.shape}.")
    return values


def _from_records(rows: Sequence[Any]) -> Feed:
    for i, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise InputError(
                f"A list must hold one dict per row; item {i} is {type(row).__name__}.",
                hint="For a list of columns, give a dict of columns.",
            )
    names = list(dict.fromkeys(k for row in rows for k in row))
    refuse_too_wide("list of dicts", len(names))
    columns = {name: [row.get(name) for row in rows] for name in names}
    return _from_columns(columns, "list of dicts")


def _from_numpy(array: np.ndarray[Any, Any], columns: Sequence[str] | None) -> Feed:
    if array.dtype.names is not None:
        if array.ndim != 1:
            raise InputError(f"A structured array must have one axis, got {array.ndim}.")
        return _from_columns({n: _field(array[n]) for n in array.dtype.names}, "structured array")
    if isinstance(array, np.matrix):
        array = np.asarray(array)
    if array.ndim != 2:
        raise InputError(f"A NumPy array must have two axes (rows, columns), got {array.ndim}.")
    if columns is None:
        raise InputError(
            f"The {array.shape[1]} columns of a NumPy array need names.",
            hint="Give columns=['a', 'b', …].",
        )
    if len(columns) != array.shape[1]:
        have, came = many(array.shape[1], "column"), many(len(columns), "name")
        raise InputError(f"The array has {have}, but {came} came.")
    if len(set(columns)) < len(columns):
        raise InputError("A name stands twice in columns=.")
    return _from_columns({n: array[:, i] for i, n in enumerate(columns)}, "NumPy array")


def _field(values: np.ndarray[Any, Any]) -> Any:
    """A field of a structured array; one whose cells are arrays or records as lists."""
    if values.ndim == 1 and values.dtype.kind != "V":
        return values
    return [list(cell) for cell in values.tolist()]


def _categories(kind: Any) -> Declared | None:
    """What a type of pandas or polars says of its categories."""
    if type(kind).__name__ == "CategoricalDtype":
        states = (c.item() if isinstance(c, np.generic) else c for c in kind.categories.tolist())
        return Declared(tuple(states), bool(kind.ordered))
    if type(kind).__name__ == "Enum" and type(kind).__module__.startswith("polars"):
        return Declared(tuple(kind.categories.to_list()), ordered=True)
    return None
