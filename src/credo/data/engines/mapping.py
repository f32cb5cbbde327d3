"""A frame with columns added where its rows lie: lazily, in order, of the same kind.

A function of a pandas frame or an Arrow table and the number of its part gives the new columns, or
new values of some that are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from credo.core.errors import InputError

Filled = Callable[[Any, int], Mapping[str, Any]]


def with_columns(frame: Any, fill: Filled, added: Mapping[str, type]) -> Any:
    """The frame with what a function gives for each part; `added` are new columns and their types.

    Without new columns the function gives values for columns that are there.
    """
    package = type(frame).__module__.partition(".")[0]
    names = list(frame.columns)
    twice = [name for name in added if name in names]
    if twice:
        raise InputError(
            f"The frame has a column {twice[0]!r} already, which the answer would be called.",
            hint="Rename it first.",
        )
    return _on_dask(frame, fill, added) if package == "dask" else _on_spark(frame, fill, added)


# --- Dask -----------------------------------------------------------------------------------


def _on_dask(frame: Any, fill: Filled, added: Mapping[str, type]) -> Any:
    import pandas as pd

    meta = frame._meta.copy()
    for name, kind in added.items():
        meta[name] = pd.Series(dtype=_PANDAS[kind])
    return frame.map_partitions(_pandas_part, fill, dict(added), dict(meta.dtypes), meta=meta)


_PANDAS = {float: "float64", int: "int64", bool: "bool", str: "object"}


def _pandas_part(
    part: Any,
    fill: Filled,
    added: Mapping[str, type],
    dtypes: Mapping[str, Any],
    partition_info: Mapping[str, Any] | None = None,
) -> Any:
    number = (partition_info or {}).get("number", 0)
    part = part.copy()
    found = fill(part, number) if len(part) else {n: np.zeros(0) for n in added}
    for name, values in found.items():
        part[name] = values
    return part.astype({n: d for n, d in dtypes.items() if n in found})


# --- Spark ----------------------------------------------------------------------------------


def _on_spark(frame: Any, fill: Filled, added: Mapping[str, type]) -> Any:
    from pyspark.sql.types import (
        BooleanType,
        DoubleType,
        LongType,
        StringType,
        StructField,
        StructType,
    )

    kinds = {float: DoubleType(), int: LongType(), bool: BooleanType(), str: StringType()}
    new = [StructField(name, kinds[kind]) for name, kind in added.items()]
    fields = [StructField(f.name, f.dataType, True) for f in frame.schema.fields]
    return frame.mapInArrow(
        partial(_arrow_part, _Part(fill, dict(added))), StructType(fields + new)
    )


@dataclass(frozen=True)
class _Part:
    fill: Filled
    added: Mapping[str, type]


_ARROW = {float: pa.float64(), int: pa.int64(), bool: pa.bool_(), str: pa.string()}


def _arrow_part(part: _Part, batches: Iterator[Any]) -> Iterator[Any]:
    from pyspark import TaskContext

    context = TaskContext.get()
    number = 0 if context is None else int(context.partitionId())
    for i, batch in enumerate(batches):
        table = pa.Table.from_batches([batch])
        seed = number * 1_000_003 + i
        found = part.fill(table, seed) if batch.num_rows else {n: [] for n in part.added}
        for name, values in found.items():
            if name in part.added:
                table = table.append_column(name, pa.array(values, _ARROW[part.added[name]]))
            else:
                at = table.column_names.index(name)
                cells = pa.array(values, table.schema.field(at).type, from_pandas=True)
                table = table.set_column(at, name, cells)
        yield from table.to_batches()
