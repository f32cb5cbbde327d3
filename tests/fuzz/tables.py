"""One target for each reader of tables: whatever the bytes, a table or an error of our own."""

from __future__ import annotations

import io
import tempfile
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import credo as cr
from credo.errors import CredoError

TABLES = ("csv", "jsonl", "arrow", "arrows", "parquet")

_TABLE = pa.table(
    {
        "s": ["ab", "cd", None, "xyzö"] * 6,
        "d": pa.array(["u", "v", None, "v"] * 6).dictionary_encode(),
        "f": [1.5, None, 2.5, 4.0] * 6,
        "n": [0, 1, 1, None] * 6,
        "b": [True, False, None, True] * 6,
        "t": pa.array([1, 2, 3, None] * 6, pa.timestamp("us", tz="Europe/Berlin")),
        "day": pa.array([1, 2, 3, None] * 6, pa.date32()),
        "c": pa.array([1, 2, 3, None] * 6, pa.decimal128(5, 2)),
        "long": pa.array([1, 2, 3, None] * 6, pa.decimal256(50, 10)),
        "span": pa.array([1, 2, 3, None] * 6, pa.duration("s")),
        "x": pa.array([b"a", b"b", None, b"a"] * 6),
        "l": [[1], [2, 3], None, []] * 6,
    }
)
_CSV = 'a,"b c",d\n1,x,2.5\n2,"y ""q"", z",NA\n,x,"3\n4"\n1,?,1e3\n' * 4
_WHITE = "id  size group\n1   2.5 a\n2\t3.5   b\n3 1.5 a\n"
_LINES = '{"a": 1, "b": "x", "c": null}\n{"a": 2.5, "b": true, "c": [1]}\n{"a": 1}\n' * 4


def table_seeds(form: str) -> list[bytes]:
    """Small valid files."""
    if form == "csv":
        utf_16 = "größe;b\n1;2\n3;4\n".encode("utf-16")
        return [_CSV.encode(), _WHITE.encode(), utf_16, _CSV.replace(",", ";").encode("utf-16-le")]
    if form == "jsonl":
        return [_LINES.encode(), f"[{','.join(_LINES.split(chr(10))[:-1])}]".encode()]
    out = []
    for table in (_TABLE, _TABLE.select(["s", "f", "c"])):
        sink = io.BytesIO()
        if form == "parquet":
            pq.write_table(table, sink)
        else:
            make = pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream
            with make(sink, table.schema) as writer:
                writer.write_table(table)
        out.append(sink.getvalue())
    return out


def table_target(form: str, data: bytes) -> None:
    """Read the bytes as a table, in memory and as a stream, and count it."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / f"t.{form}"
        path.write_bytes(data)
        for options in ({}, {"memory": "1B"}):
            try:
                table = cr.read(path, **options)
                assert all(v.name for v in table.schema.variables)
                assert str(table) and str(table.schema)
                table.tally()
            except CredoError as error:
                assert str(error)
