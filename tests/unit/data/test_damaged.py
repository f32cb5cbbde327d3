"""Damaged Arrow and Parquet files are refused with their column, and never followed."""

import datetime
import os

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.errors import CredoError, LimitError, TableError

TABLE = pa.table({"a": ["ab", "cd", None, "ab"], "b": ["u", "v", "u", "v"]})


def write_ipc(path, table, stream=False):
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as out, make(out, table.schema) as writer:
        writer.write_table(table)
    return path


def bad_utf8():
    offsets = pa.py_buffer(np.array([0, 1, 2, 3], "i4"))
    return pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"a\xffb"))


def bad_positions():
    where = pa.array([0, 7, 1], pa.int8())
    return pa.DictionaryArray.from_arrays(where, pa.array(["x", "y"]), safe=False)


@pytest.mark.parametrize("stream", [False, True])
def test_an_offset_beyond_the_texts_is_refused_not_followed(tmp_path, stream):
    path = write_ipc(tmp_path / "b.arrow", TABLE, stream)
    data = bytearray(path.read_bytes())
    at = data.find(np.array([0, 2, 4, 4, 6], "i4").tobytes())
    data[at + 4 : at + 8] = np.array([1_500_000_000], "i4").tobytes()
    path.write_bytes(data)
    with pytest.raises(TableError, match=r"Column 'a' of b.arrow is damaged: .*1500000000"):
        cr.read(path)


@pytest.mark.parametrize("place", ["memory", "reader", "b.arrow"])
@pytest.mark.parametrize(
    ("made", "why"),
    [(bad_utf8, "a text is not UTF-8"), (bad_positions, "a row has position 7 of a dictionary")],
)
def test_cells_that_cannot_be_followed_name_their_column(tmp_path, place, made, why):
    table = pa.table({"ok": [1, 2, 2], "bad": made()})
    given = {
        "memory": lambda: table,
        "reader": lambda: table.to_reader(),
        "b.arrow": lambda: write_ipc(tmp_path / "b.arrow", table),
    }[place]()
    with pytest.raises(TableError, match=f"Column 'bad' of .* is damaged: {why}"):
        cr.read(given)


def test_text_in_parquet_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"s": ["alpha", "beta", "alpha"]}), path, compression="none")
    path.write_bytes(path.read_bytes().replace(b"alpha", b"al\xffha"))
    with pytest.raises(TableError, match=r"t\.parquet"):
        cr.read(path)


@pytest.mark.parametrize("form", ["arrow", "arrows", "parquet"])
def test_whatever_bytes_are_changed_the_error_is_ours(tmp_path, form):
    table = pa.table(
        {
            "s": ["ab", "cd", None, "xyzö"] * 3,
            "d": pa.array(["u", "v", None, "v"] * 3).dictionary_encode(),
            "f": [1.5, None, 2.5, 4.0] * 3,
            "t": pa.array([1, 2, 3, None] * 3, pa.timestamp("us")),
            "c": pa.array([1, 2, 3, None] * 3, pa.decimal128(5, 2)),
        }
    )
    path = tmp_path / f"t.{form}"
    if form == "parquet":
        pq.write_table(table, path)
    else:
        write_ipc(path, table, stream=form == "arrows")
    whole = path.read_bytes()
    for seed in range(150):
        rng = np.random.default_rng(seed)
        data = bytearray(whole)
        for at in rng.integers(0, len(data), rng.integers(1, 4)):
            data[at] = rng.integers(0, 256)
        path.write_bytes(data)
        try:
            source = cr.read(path)
            source.tally()
            str(source), str(source.schema)
        except CredoError as error:
            assert str(error)


def test_dates_beyond_the_calendar_are_dates(tmp_path):
    path = tmp_path / "inf.parquet"
    duckdb.sql(
        "copy (select * from (values ('infinity'::timestamp, 'infinity'::date, 'a'), "
        f"('2020-01-01', '2020-01-01', 'b')) t(until, day, x)) to '{path}'"
    )
    table = cr.read(path)
    assert [table.schema.column(n).kind for n in ("until", "day")] == ["date", "date"]
    states = cr.read(path, {"day": "discrete"}).schema["day"].states
    assert datetime.date(2020, 1, 1) in states and "2147483647 days since 1970" in states
    with pytest.raises(TableError, match="'2147483647 days since 1970', which is not finite"):
        cr.read(path, {"day": "continuous"})
    for far in (2**31 - 1, -(2**31)):
        given = pa.table({"day": pa.array([far, 0, 1], pa.date32()), "x": ["a", "b", "a"]})
        assert cr.read(given).schema.column("day").kind == "date"


def test_a_stream_whose_file_is_gone_says_so(tmp_path):
    for name in ("t.csv", "t.jsonl", "t.parquet", "t.arrow"):
        path = tmp_path / name
        if name == "t.csv":
            path.write_text("a,b\n" + "x,1\ny,2\n" * 50)
        elif name == "t.jsonl":
            path.write_text('{"a": "x", "b": 1}\n{"a": "y", "b": 2}\n' * 50)
        elif name == "t.parquet":
            pq.write_table(TABLE, path)
        else:
            write_ipc(path, TABLE)
        stream = cr.read(path, memory="1B")
        whole, stat = path.read_bytes(), path.stat()
        path.write_bytes(whole[:-1] + whole[-1:])  # as long, and with its time set back
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        with pytest.raises(TableError, match=f"{name} was written again after it was first read"):
            stream.tally()
        os.remove(path)
        with pytest.raises(TableError, match=f"{name} is not there any more"):
            stream.tally()


def test_memory_that_runs_out_is_one_sentence_whatever_the_engine_calls_it(tmp_path, monkeypatch):
    path = write_ipc(tmp_path / "t.arrow", TABLE)
    told = "cannot be read: there is not enough memory"

    def no_room(*args, **options):
        raise pa.ArrowMemoryError("malloc of size 1152921504606846976 failed")

    monkeypatch.setattr(pa.ipc, "open_file", no_room)
    with pytest.raises(LimitError, match=f"t.arrow {told}"):
        cr.read(path)
    with duckdb.connect(config={"memory_limit": "20MB", "temp_directory": ""}) as small:
        rows = small.sql("select list(i::varchar || 'x') as l, 1 as a from range(9000000) t(i)")
        with pytest.raises(MemoryError, match=f"DuckDB relation {told}"):
            cr.read(rows)


def test_without_room_for_a_thread_rows_are_read_in_this_one(put, monkeypatch):
    path = put("a,b\n" + "x,1\ny,2\n" * 50)

    def no_room(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", no_room)
    assert len(cr.read(path)) == 100
