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
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from credo.data.atomic import replacing
from credo.data.frames_out import frame_of
from credo.errors import InputError
from credo.schema import Schema, Variable

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
    form = row_form(path)
    with replacing(Path(path)) as out, _writer(form, out, schema) as write:
        for batch in batches:
            write(batch)


@contextlib.contextmanager
def _writer(form: str, out: BinaryIO, schema: Schema) -> Iterator[Write]:
    if form in ("csv", "tsv", "jsonl"):
        head, line = text_rows(form, schema)
        out.write(head)

        def write(batch: Table) -> None:
            out.write(line(batch))

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
    import numpy as np

    from credo.data.table import Table
    from credo.stats.block import Block

    kinds = [np.dtype(np.int8 if v.is_discrete else np.float64) for v in schema.variables]
    return Table(Block(schema, tuple(np.empty(0, dtype=k) for k in kinds)))


# --- text -----------------------------------------------------------------------------------


def text_rows(form: str, schema: Schema) -> tuple[bytes, Callable[[Table], bytes]]:
    """The first line of a text file of rows, if it has one, and a function from rows to lines.

    Each state becomes its text once; rows are joined from the columns' texts.
    """
    if form == "jsonl":
        opening, between, closing, head = "{", ", ", "}", b""
        cells = {
            v.name: [f"{json.dumps(v.name, ensure_ascii=False)}: {_json(s)}" for s in v.states]
            for v in schema.variables
        }
    else:
        opening, closing, between = "", "", "\t" if form == "tsv" else ","
        cells = {v.name: [_cell(s, between) for s in v.states] for v in schema.variables}
        head = (between.join(_cell(n, between) for n in schema.names) + "\n").encode()

    def some(batch: Table, rows: slice) -> bytes:
        import pyarrow as pa
        import pyarrow.compute as pc

        texts = [_texts(batch, v, cells[v.name], form, rows) for v in schema.variables]
        joined = pc.binary_join_element_wise(*texts, between)
        if opening:
            joined = pc.binary_join_element_wise(opening, joined, closing, "")
        ends = pa.array([0, len(joined)], pa.int32())
        whole = pc.binary_join(pa.ListArray.from_arrays(ends, joined), "\n")
        text: bytes = whole[0].as_buffer().to_pybytes()
        return text + b"\n"

    def lines(batch: Table) -> bytes:
        starts = range(0, len(batch), _LINES)
        return b"".join(some(batch, slice(k, k + _LINES)) for k in starts)

    return head, lines


def _texts(batch: Table, variable: Variable, cells: list[str], form: str, rows: slice) -> Any:
    """A column of texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = batch.block.arrays[batch.schema.index(variable.name)][rows]
    name = f"{json.dumps(variable.name, ensure_ascii=False)}: " if form == "jsonl" else ""
    gap = f"{name}null" if name else ""
    if variable.is_discrete:
        return pa.array([*cells, gap]).take(pa.array(array))
    numbers = pc.cast(pa.array(array, from_pandas=True), pa.string())
    named = pc.binary_join_element_wise(name, numbers, "") if name else numbers
    return pc.fill_null(named, gap)


def _cell(value: Any, between: str) -> str:
    """A cell as the csv module writes it: quoted where it must be."""
    text = io.StringIO()
    csv.writer(text, delimiter=between, lineterminator="").writerow([value, ""])
    return text.getvalue()[: -len(between)]


def _json(state: Any) -> str:
    plain = state.item() if hasattr(state, "item") else state
    if not isinstance(plain, (str, int, float, bool)):
        plain = str(plain)
    return json.dumps(plain, ensure_ascii=False)
