"""JSON lines: one object a line, read by DuckDB. Cells keep their JSON types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.data.feed import BATCH, Batch, Feed, distinct_names
from credo.data.frames import record_batches
from credo.data.unpack import read_head
from credo.errors import TableError

__all__ = ["json_feed"]


def json_feed(path: Path, compression: str) -> Feed:
    """The feed of a file of JSON lines (or of one JSON array of objects)."""
    import duckdb

    head = read_head(path, compression)
    packed = {".gz": "gzip", ".zst": "zstd"}.get(compression, "none")
    source = (
        f"read_json({_quoted(str(path))}, format='auto', sample_size=-1, compression='{packed}')"
    )

    def refuse(error: Exception) -> TableError:
        text = re.sub(r"^[A-Za-z ]+Error: ", "", str(error).splitlines()[0])
        return TableError(
            f"{path.name} is not a file of JSON lines: {text.strip().rstrip('. ')}.",
            hint='Each line must hold one object, such as {"a": 1}.',
        )

    try:
        with duckdb.connect() as connection:
            relation = connection.sql(f"SELECT * FROM {source}")
            given = list(relation.columns)
            mixed = {n for n, t in zip(given, relation.types, strict=True) if str(t) == "JSON"}
            found = connection.sql(f"SELECT count(*) FROM {source}").fetchall()
    except duckdb.Error as error:
        raise refuse(error) from None
    if given == ["json"] and not head.lstrip().startswith((b"{", b"[")):
        raise TableError(
            f"{path.name} is not a file of JSON lines: its lines are not objects.",
            hint='Each line must hold one object, such as {"a": 1}.',
        )
    names, notes = distinct_names(given)

    odd = {n for n, g in zip(names, given, strict=True) if g in mixed}

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        columns = ", ".join('"' + given[names.index(n)].replace('"', '""') + '"' for n in wanted)
        try:
            with duckdb.connect() as connection:
                reader = connection.sql(f"SELECT {columns} FROM {source}").to_arrow_reader(BATCH)
                for batch in record_batches(reader, list(wanted), wanted):
                    yield {n: _values(c) if n in odd else c for n, c in batch.items()}
        except duckdb.Error as error:
            raise refuse(error) from None

    size = path.stat().st_size * (12 if compression else 1)
    return Feed(path.name, names, batches, rows=found[0][0], bytes=size, notes=notes)


def _values(cells: Any) -> NDArray[Any]:
    """Cells of several JSON types, each as the value it is."""
    values = [None if t is None else json.loads(t) for t in cells.to_pylist()]
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
