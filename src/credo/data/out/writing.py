"""Rows out: batches of a table to a file, in memory for one batch only.

The ending says the form: Parquet and Arrow keep states as dictionaries and codes; CSV and JSON
lines are text. A file is replaced whole, so that half a table is never left under its name.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.core.schema import Schema
from credo.core.state_values import json_state, readable
from credo.data.out.atomic import replacing
from credo.data.out.frames import frame_of

if TYPE_CHECKING:
    from credo.data.table import Table

__all__ = ["ROW_ENDINGS", "row_form", "text_rows", "write_rows"]

ROW_ENDINGS = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}

_LINES = 1 << 15  # lines made at a time, so that their texts stay in the cache

Write = Callable[["Table"], None]


def row_form(path: str | os.PathLike[str]) -> str:
    """The form of a file of rows, from its ending.

    >>> row_form("rows.parquet")
    'parquet'
    >>> row_form("rows.xlsx")
    Traceback (most recent call last):
    credo.errors.InputError: The ending of 'rows.xlsx' is not that of a file of rows. \
Use .parquet, .arrow, .feather, .csv, .tsv, .jsonl or .ndjson.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"A path must be a text, got {path!r}.")
    name = Path(path).name
    form = ROW_ENDINGS.get(Path(name.lower()).suffix)
    if form is None:
        *most, last = ROW_ENDINGS
        raise InputError(
            f"The ending of {name!r} is not that of a file of rows.",
            hint=f"Use {', '.join(most)} or {last}.",
        )
    return form


def write_rows(path: str | os.PathLike[str], schema: Schema, batches: Iterable[Table]) -> None:
    """Write batches of rows with one schema to a file, replaced whole.

    >>> import credo as cr, os, tempfile
    >>> table = cr.read({"x": ["b", "a"], "n": [1.5, 2.25]})
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.csv")
    >>> write_rows(path, table.schema, [table, table])
    >>> print(open(path).read(), end="")
    x,n
    b,1.5
    a,2.25
    b,1.5
    a,2.25
    """
    form, schema = row_form(path), schema.unscaled
    with replacing(Path(path)) as out, _writer(form, out, schema) as write:
        for batch in batches:
            write(batch)


@contextlib.contextmanager
def _writer(form: str, out: BinaryIO, schema: Schema) -> Iterator[Write]:
    if form in ("csv", "tsv", "jsonl"):
        head, lines = text_rows(form, schema)
        out.write(head)

        def write(batch: Table) -> None:
            for some in lines(batch):
                out.write(some)

        yield write
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = frame_of(_nothing(schema), "arrow").schema
    if form == "parquet":
        with pq.ParquetWriter(out, types, compression="zstd", write_statistics=False) as parquet:
            yield lambda batch: parquet.write_table(frame_of(batch, "arrow"))
    else:
        with pa.ipc.new_file(out, types) as arrow:
            yield lambda batch: arrow.write_table(frame_of(batch, "arrow"))


def _nothing(schema: Schema) -> Table:
    """A table of no rows."""
    from credo.data.table import Table
    from credo.stats.block import Block

    kinds = [np.dtype(np.int8 if v.is_discrete else np.float64) for v in schema.variables]
    return Table(Block(schema, tuple(np.empty(0, dtype=k) for k in kinds)))


# --- text -----------------------------------------------------------------------------------


def text_rows(form: str, schema: Schema) -> tuple[bytes, Callable[[Table], Iterator[bytes]]]:
    """The first line of a text file of rows, if it has one, and what turns rows into lines.

    Each state becomes its text once, with what stands before and after it; a row is their texts
    end to end.
    """
    lines, schema = form == "jsonl", schema.unscaled
    between = ", " if lines else "\t" if form == "tsv" else ","
    head = "" if lines else between.join(_cell(n, between) for n in schema.names) + "\n"
    last = len(schema) - 1
    around = []
    for i, variable in enumerate(schema.variables):
        name = f"{json.dumps(variable.name, ensure_ascii=False)}: " if lines else ""
        before = ("{" if lines and i == 0 else "") + name
        after = between if i < last else "}\n" if lines else "\n"
        around.append((before, after))
    cell = _json if lines else partial(_cell, between=between)
    gap = "null" if lines else ""
    states = [
        _packed([f"{before}{cell(s)}{after}" for s in v.states] + [f"{before}{gap}{after}"])
        if v.is_discrete
        else None
        for v, (before, after) in zip(schema.variables, around, strict=True)
    ]

    def some(batch: Table, rows: slice) -> bytes:
        codes, texts, ends = [], [], []
        for array, packed, (before, after) in zip(batch.block.arrays, states, around, strict=True):
            part = array[rows]
            if packed is None:
                packed = _numbers(part, before, gap, after)
                part = np.arange(len(part), dtype=np.uint32)
            codes.append(np.ascontiguousarray(part))
            texts.append(packed[0])
            ends.append(packed[1])
        return _core.join_rows(codes, texts, ends)

    def pieces(batch: Table) -> Iterator[bytes]:
        plain = batch.unscaled
        return (some(plain, slice(k, k + _LINES)) for k in range(0, len(batch), _LINES))

    return head.encode(), pieces


def _packed(texts: list[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Texts end to end, and where each ends; 16 bytes more, as the kernel wants them."""
    encoded = [t.encode() for t in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return np.frombuffer(b"".join(encoded) + bytes(16), dtype=np.uint8), ends


def _numbers(
    part: NDArray[np.float64], before: str, gap: str, after: str
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The shortest texts that are read as the same numbers, packed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = pc.cast(pa.array(part, from_pandas=True), pa.string())
    whole = pc.binary_join_element_wise(before, pc.fill_null(numbers, gap), after, "")
    _, ends, texts = whole.buffers()
    used = np.frombuffer(ends, dtype=np.int32)[whole.offset : whole.offset + len(whole) + 1]
    data = np.frombuffer(texts, dtype=np.uint8)
    return np.concatenate([data, np.zeros(16, dtype=np.uint8)]), used.astype(np.int64)


def _cell(value: Any, between: str) -> str:
    """A cell as the csv module writes it: quoted where it must be."""
    text = io.StringIO()
    csv.writer(text, delimiter=between, lineterminator="").writerow([_written(value), ""])
    return text.getvalue()[: -len(between)]


def _written(value: Any) -> Any:
    return readable(value) if isinstance(value, bytes) else value


def _json(state: Any) -> str:
    if isinstance(state, Decimal) and state.is_finite():
        return str(state)  # a number with all of its digits
    return json.dumps(json_state(state), ensure_ascii=False)
