"""Text files: what stands before the first row, remarks, quotes, damage."""

import csv
import io
import os

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.data.columns.numerals import looks_like_date
from credo.data.sources.unpack import Recoded
from credo.errors import CredoError, LimitError, TableError

# --- What stands before the first row of a text file, and dates as programs write them ---


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
def test_a_first_row_of_empty_cells_is_a_row(tmp_path, name):
    mark = "\t" if name == "a.tsv" else ","
    path = tmp_path / name
    path.write_text(f"{mark}\n1{mark}2\n1{mark}3\n")
    assert len(cr.read(path, columns=["a", "b"])) == 3
    path.write_text("\n\n1\n2\n1\n")
    table = cr.read(path, columns=["a"])
    assert (len(table), table.schema.column("a").missing) == (5, 2)


def test_a_header_of_tabs_alone_is_a_header(put):
    path = put("\t\n1\t2\n1\t3\n", "a.tsv")
    assert cr.read(path, {"column_1": "discrete"}).schema.names == ("column_1", "column_2")
    path.write_text("  \n\na\tb\n1\t2\n1\t3\n")
    assert len(cr.read(path, {"a": "discrete"})) == 2


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "sep=;\r"])
@pytest.mark.parametrize("options", [{}, {"memory": 1}])
def test_excels_line_for_the_delimiter(put, line, options):
    path = put(f"{line}\na;b\n1,5;2\n1,5;3\n".encode(), "e.csv")
    table = cr.read(path, {"a": "discrete"}, **options)
    assert table.schema.names == ("a", "b")
    assert table.schema["a"].states == ("1,5",)
    path.write_bytes(f"{line}\na;b\n1;2\n1;2;3\n".encode())
    with pytest.raises(TableError, match=r"Line 4 of e\.csv has 3 cells"):
        cr.read(path)


def test_a_column_that_files_disagree_on_can_be_left_out(tmp_path):
    pq.write_table(pa.table({"a": [1, 2], "y": [1, 2]}), tmp_path / "g1.parquet")
    pq.write_table(pa.table({"a": ["1", "x"], "y": [1, 2]}), tmp_path / "g2.parquet")
    with pytest.raises(TableError, match=r"schema=\{'a': 'drop'\} leaves it out"):
        cr.read(tmp_path / "*.parquet")
    assert len(cr.read(tmp_path / "*.parquet", {"a": "drop"})) == 4


def test_missing_cells_of_columns_that_cannot_be_used_are_counted():
    table = pa.table(
        {
            "l": pa.array([None] * 3, pa.list_(pa.int64())),
            "b": pa.array([b"x", None, None]),
            "y": [1, 2, 1],
        }
    )
    columns = cr.read(table).schema
    assert (columns.column("l").kind, columns.column("l").missing) == ("empty", 3)
    assert (columns.column("b").kind, columns.column("b").missing) == ("unsupported", 2)


DATES = [
    "2020-01-05 10:00:00+00",
    "2020-01-05 10:00:00 UTC",
    "1/5/2020 1:05",
    "2020-1-5",
    "2020/1/5",
    "1/5/20",
    "01/05/2020 10:00 PM",
    "5-Jan-2020",
    "January 5, 2020",
]


@pytest.mark.parametrize("date", DATES)
def test_dates_as_programs_write_them(tmp_path, date):
    path = tmp_path / "d.csv"
    rows = "".join(f'"{date.replace("5", str(1 + i % 3))}",{i % 2}\n' for i in range(60))
    path.write_text("v,y\n" + rows)
    assert cr.read(path).schema.column("v").kind == "date"


@pytest.mark.parametrize("text", ["1-2", "2024-13-01", "2020.1.5", "1/2/3", "29.02/2024", "mar 5"])
def test_what_is_no_date(text):
    assert not looks_like_date(text)


def test_where_a_sep_line_is_none(put):
    path = put("sep=a\nu\nv\nu\n", "e.csv")
    assert cr.read(path).schema.names == ("sep=a",)
    path.write_text("sep=;\n")
    with pytest.raises(TableError, match="is empty: it has no header"):
        cr.read(path)
    path = put("sep=;\na;b\nu;1\nv;2\nu;1\n", "e.tsv")
    assert cr.read(path).schema.names == ("a", "b")


def test_blank_lines_around_a_sep_line_and_odd_quotes(put):
    path = put("\nsep=;\n\n\na;b\n1;x\n2;y\n1;x\n", "e.csv")
    assert cr.read(path).schema.names == ("a", "b")
    path.write_text("\nsep=;\n1\n2\n1\n")
    assert len(cr.read(path, columns=["a"])) == 5
    path.write_text('sep=;"\na;b\n')
    with pytest.raises(TableError, match="quote"):
        cr.read(path)


WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32")


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize(
    "text",
    [
        "\n\na;b\nx;1\ny;2\nx;1\n",
        "\r\n \r\na;b\r\nx;1\r\ny;2\r\nx;1\r\n",
        "sep=;\na;b\nx;1\ny;2\nx;1\n",
        '\n"sep=;"\n\na;b\nx;1\ny;2\nx;1\n',
    ],
)
def test_what_stands_before_the_header_of_a_wide_file(put, encoding, text):
    path = put(text.encode(encoding))
    table = cr.read(path)
    assert table.schema.names == ("a", "b")
    assert table.values("a").tolist() == ["x", "y", "x"]
    assert table.values("b").tolist() == [1, 2, 1]
    path.write_bytes((text + "z\n").encode(encoding))
    line = text.count("\n") + 1
    with pytest.raises(TableError, match=f"Line {line} of t.csv has 1 cell"):
        cr.read(path)


@pytest.mark.parametrize("encoding", WIDE)
def test_a_nul_and_a_cut_in_a_wide_file_are_refused(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\nx,1\né\0,2\nx,1\n".encode(encoding))
    with pytest.raises(TableError, match=r"A character of t\.csv is a NUL"):
        cr.read(path)
    path.write_bytes("a,b\nx,1\ny,2\nx,1\n".encode(encoding)[:-1])
    with pytest.raises(TableError, match=r"t\.csv is not utf-"):
        cr.read(path)


@pytest.mark.parametrize("encoding", WIDE)
def test_wide_files_in_pieces_of_any_size_are_utf_8(encoding):
    text = "aé日🙂\n" * 50
    for size in (4, 8, 64, 10_000, -1):
        recoded = Recoded(io.BytesIO(text.encode(encoding)), encoding)
        pieces = []
        while piece := recoded.read(size):
            assert size < 0 or len(piece) <= size
            pieces.append(piece)
        assert b"".join(pieces).decode().removeprefix("\ufeff") == text


@pytest.mark.parametrize("blank", ["\n", "\n\n\n", "\r\n\r\n"])
def test_blank_lines_below_the_header_are_not_the_end_of_the_file(tmp_path, blank):
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n{blank}x,u\ny,v\n", newline="")
    assert cr.read(path).rows == 2


# --- Remarks in text files, and quotes that end before their cell does: named with their line ---


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            "# made by hand\na,b\n1,x\n2,y\n",
            "The first line of t.csv starts with '#' and was taken for the header of 1 cell, but "
            "line 2 of t.csv has 2 cells. If it is a remark,",
        ),
        (
            "a,b\n1,x\n# half\n2,y\n",
            "Line 3 of t.csv starts with '#' and has 1 cell, but the header has 2. If it is a "
            "remark, delete it, or skip such lines with ragged='skip'.",
        ),
    ],
)
def test_a_remark_is_named(put, content, text):
    with pytest.raises(TableError) as caught:
        cr.read(put(content))
    assert text in str(caught.value)


@pytest.mark.parametrize("memory", [None, 1])
def test_rows_that_are_all_skipped_are_told(put, memory):
    path = put("# made by hand\na,b\n1,x\n2,y\n")
    with pytest.raises(TableError) as caught:
        cr.read(path, ragged="skip", memory=memory)
    assert str(caught.value) == (
        "No line of t.csv has as many cells as its header, 1, so all were skipped; the header "
        "starts with #. Check that the first line is the header."
    )


@pytest.mark.parametrize(
    "cells",
    [
        ['"x"y', "z", "z", "xy"],
        ['"he said ""hi"" to"', "z", '"x,1"y', '"x"y'],
        ['"two\nlines"', '"x"y', "z", "z"],
        ['5" pipe', '"z"', "z", "z"],
        ['"x"y', "z", '5" pipe', '"a ""b"" c"'],
    ],
)
def test_text_after_a_closing_quote_is_kept(put, cells):
    path = put("a,b\n" + "\n".join(f"{i % 2},{cell}" for i, cell in enumerate(cells)) + "\n")
    with path.open(newline="") as file:
        wanted = [row[1] for row in csv.reader(file)][1:]
    assert list(cr.read(path)["b"]) == wanted


def test_a_ragged_line_is_found_behind_such_a_cell(put):
    with pytest.raises(TableError, match=r"Line 3 of t\.csv has 3 cells, but the header has 2"):
        cr.read(put('a,b\n1,"x"y\n2,z,3\n1,z\n'))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\nx,1\ny,"open\nz,2\n', 3),
        ('a,b\n"x"y,1\nx"y,1\nz,2\ny,"open\n', 5),
        ('a,b\n5" pipe,1\ny,"open\nz,2\n', 3),
        ('a,b\nz,1\n"x,1\n"y",2\n', 3),
        ('a,b\n"x"y,1\n\nz,2\ny,"open', 5),
        ('a,"b\n1,"2"\n', 1),
    ],
)
def test_an_open_quote_is_refused_among_such_cells(put, text, line):
    for memory in (None, 1):
        with pytest.raises(TableError, match=rf"Line {line} of t\.csv opens a quote that is not"):
            cr.read(put(text), memory=memory)


# --- Damaged Arrow and Parquet files are refused with their column, and never followed ---


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


def test_dates_beyond_the_calendar_are_set_aside(tmp_path):
    path = tmp_path / "inf.parquet"
    duckdb.sql(
        "copy (select * from (values ('infinity'::timestamp, 'infinity'::date, 'a'), "
        f"('2020-01-01', '2020-01-01', 'b')) t(until, day, x)) to '{path}'"
    )
    table = cr.read(path)
    assert [table.schema.column(n).kind for n in ("until", "day")] == ["unsupported", "unsupported"]
    for kind in ("discrete", "continuous"):
        with pytest.raises(TableError, match=r"date32\[day\] beyond what Python holds"):
            cr.read(path, {"day": kind})
    for far in (2**31 - 1, -(2**31)):
        given = pa.table({"day": pa.array([far, 0, 1], pa.date32()), "x": ["a", "b", "a"]})
        assert cr.read(given).schema.column("day").kind == "unsupported"


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


@pytest.mark.parametrize("mark", [" ", ",", ";", "\t"])
def test_row_names_without_a_name_as_r_writes_them(mark, tmp_path) -> None:
    rows = [["mpg", "kind of car"], *([f"Car {i}", f"{i}.5", "a b"] for i in range(30))]
    lines = [mark.join(c if c[:1].isdigit() else f'"{c}"' for c in row) for row in rows]
    path = tmp_path / "rows.txt"
    path.write_text("\n" + "\n".join(lines) + "\n")
    table = cr.read(path, schema={"kind of car": "discrete"})
    assert table.schema.names == ("mpg", "kind of car") and len(table) == 30
    assert "column_1" in table.schema.set_aside and table["mpg"][2] == 2.5
    path.write_text("\n".join([*lines, f'"Car"{mark}1']))
    with pytest.raises(CredoError, match=r"Line 32 of rows\.txt has 2 cells, but the header has 3"):
        cr.read(path)
