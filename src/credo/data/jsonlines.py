"""JSON lines: one object a line, read by DuckDB. Cells keep their JSON types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from credo.data.feed import BATCH, Batch, Feed, distinct_names
from credo.data.frames import record_batches
from credo.data.unpack import read_head
from credo.errors import TableError

__all__ = ["json_feed"]


def json_feed(path: Path, compression: str) -> Feed:
    """The feed of a file of JSON lines (or of one JSON array of objects)."""
    import duckdb

    read_head(path, compression)
    packed = {".gz": "gzip", ".zst": "zstd"}.get(compression, "none")
    source = (
        f"read_json({_quoted(str(path))}, format='auto', sample_size=-1, compression='{packed}')"
    )

    def refuse(error: Exception) -> TableError:
        text = re.sub(r"^[A-Za-z ]+Error: ", "", str(error).splitlines()[0])
        return TableError(
            f"{path.name} is not a file of JSON lines: {text.rstrip('.')}.",
            hint='Each line must hold one object, such as {"a": 1}.',
        )

    try:
        with duckdb.connect() as connection:
            given = list(connection.sql(f"SELECT * FROM {source}").columns)
            found = connection.sql(f"SELECT count(*) FROM {source}").fetchall()
    except duckdb.Error as error:
        raise refuse(error) from None
    if given == ["json"]:
        raise TableError(
            f"{path.name} is not a file of JSON lines: its lines are not objects.",
            hint='Each line must hold one object, such as {"a": 1}.',
        )
    names, notes = distinct_names(given)

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        columns = ", ".join('"' + given[names.index(n)].replace('"', '""') + '"' for n in wanted)
        try:
            with duckdb.connect() as connection:
                reader = connection.sql(f"SELECT {columns} FROM {source}").to_arrow_reader(BATCH)
                yield from record_batches(reader, list(wanted), wanted)
        except duckdb.Error as error:
            raise refuse(error) from None

    size = path.stat().st_size * (12 if compression else 1)
    return Feed(path.name, names, batches, rows=found[0][0], bytes=size, notes=notes)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
