"""A filled table beside the columns that the model does not have: the file as it was, gaps filled.

Columns keep their place and order. In a text file that becomes a text file only the filled cells
change; elsewhere the columns of the model have the model's values.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.cli.reading import text_options
from credo.core.errors import InputError
from credo.core.state_values import json_state, readable

__all__ = ["WholeRows", "holes_of"]

_TEXT = ("csv", "tsv")


def holes_of(table: Any) -> dict[str, NDArray[np.bool_]]:
    """Where cells are missing, for each column that has such cells."""
    out = {}
    for v, array in zip(table.schema.variables, table.block.arrays, strict=True):
        gone = array == v.arity if v.is_discrete else np.isnan(array)
        if gone.any():
            out[v.name] = gone
    return out


class WholeRows:
    """All columns of the file that a table was read from, row by row as the table has them."""

    def __init__(self, reading: dict[str, Any], table: Any) -> None:
        import pyarrow as pa

        from credo.data.sources.files import feed_of_path

        feed = feed_of_path(reading["table"], text_options(reading))
        self.names, self.text = feed.names, feed.text
        parts: dict[str, list[Any]] = {n: [] for n in feed.names}
        for batch in feed.batches(feed.names):
            for name, column in batch.items():
                parts[name].append(_arrow(column))
        columns = {n: pa.chunked_array(_alike(p)) for n, p in parts.items()}
        numbers = getattr(table, "numbers", None)
        if numbers is not None and numbers.left_out:
            kept = pa.array([numbers.of(i) - 1 for i in range(len(table))])
            columns = {n: c.take(kept) for n, c in columns.items()}
        self.columns = columns
        self.rows = len(next(iter(columns.values())))

    def others(self, net: Any) -> list[str]:
        """The columns that the model does not have."""
        return [n for n in self.names if n not in net.schema]

    def filled(self, table: Any, holes: dict[str, NDArray[np.bool_]], form: str) -> dict[str, Any]:
        """Every column, with the gaps of the model's columns filled, for a file of some form."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.rows != len(table):
            raise InputError(
                f"The file has {self.rows:,} rows now, and had {len(table):,} when it was read.",
                hint="Fill it again when nothing writes to it.",
            )
        typed = table.to("arrow")
        as_text = self.text and form in _TEXT
        out: dict[str, Any] = {}
        for name in self.names:
            raw = self.columns[name]
            if name not in table.schema:
                empty = self.text and not as_text
                out[name] = pc.if_else(pc.equal(raw, ""), None, raw) if empty else raw
            elif as_text and name in holes:
                new = pa.array([_text(x) for x in typed[name].to_pylist()], pa.string())
                out[name] = pc.if_else(pa.array(holes[name]), new, raw.combine_chunks())
            elif name in holes or (self.text and not as_text):
                out[name] = typed[name]
            else:
                out[name] = raw
        return out


def write_columns(columns: dict[str, Any], path: str) -> None:
    """Columns as a file of rows, replaced whole; the ending says the form."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from credo.data.out.atomic import replacing

    form = form_of(path)
    with replacing(Path(path)) as out:
        if form == "parquet":
            pq.write_table(pa.table(columns), out, compression="zstd")
        elif form == "arrow":
            table = pa.table(columns)
            with pa.ipc.new_file(out, table.schema) as writer:
                writer.write_table(table)
        else:
            for some in _lines(columns, form):
                out.write(some.encode())


def form_of(path: str) -> str:
    """The form of a file of rows; .json is taken as lines."""
    from credo.data.out.writing import row_form

    return "jsonl" if path.lower().endswith(".json") else row_form(path)


def _lines(columns: dict[str, Any], form: str) -> Iterator[str]:
    names = list(columns)
    for first in range(0, len(next(iter(columns.values()))), 1 << 14):
        part = [c.slice(first, 1 << 14).to_pylist() for c in columns.values()]
        text = io.StringIO()
        if form == "jsonl":
            for cells in zip(*part, strict=True):
                row = dict(zip(names, cells, strict=True))
                text.write(json.dumps(row, ensure_ascii=False, default=json_state) + "\n")
        else:
            writer = csv.writer(text, delimiter="\t" if form == "tsv" else ",", lineterminator="\n")
            if not first:
                writer.writerow(names)
            writer.writerows([_text(x) for x in cells] for cells in zip(*part, strict=True))
        yield text.getvalue()


def _text(value: Any) -> str:
    """A cell as a text file has it: the shortest text of a number.

    >>> _text(22.0), _text(0.1), _text(None), _text("a")
    ('22', '0.1', '', 'a')
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return readable(value)


def _arrow(column: Any) -> Any:
    """A column of a feed as an Arrow array of its values."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.DictionaryArray):
        return column.dictionary_decode()
    if isinstance(column, pa.Array):
        return column
    values = np.asarray(column).tolist()
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if x is None else str(x) for x in values])


def _alike(parts: Sequence[Any]) -> list[Any]:
    """The parts of a column with one type."""
    import pyarrow as pa

    kinds = {p.type for p in parts if not pa.types.is_null(p.type)}
    if len(kinds) < 2:
        kind = kinds.pop() if kinds else pa.null()
    else:
        numbers = all(pa.types.is_integer(k) or pa.types.is_floating(k) for k in kinds)
        kind = pa.float64() if numbers else pa.string()
    return [p if p.type == kind else p.cast(kind) for p in parts]
