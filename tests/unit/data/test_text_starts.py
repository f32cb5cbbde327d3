"""What stands before the first row of a text file, and dates as programs write them."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.data.columns.numerals import looks_like_date
from credo.data.sources.unpack import Recoded
from credo.errors import TableError


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


WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")


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
def test_a_nul_and_a_cut_in_a_wide_file_are_named_by_their_byte(tmp_path, encoding):
    path = tmp_path / "t.csv"
    unit, mark = (2 if "16" in encoding else 4), encoding[-1] != "e"
    path.write_bytes("a,b\nx,1\né\0,2\nx,1\n".encode(encoding))
    with pytest.raises(TableError, match=f"Byte {unit * (9 + mark) + 1} of t.csv is a NUL"):
        cr.read(path)
    text = "a,b\nx,1\ny,2\nx,1\n"
    path.write_bytes(text.encode(encoding)[:-1])
    with pytest.raises(TableError, match=rf"Byte {unit * (15 + mark) + 1} of t.csv is not utf-"):
        cr.read(path)


@pytest.mark.parametrize("encoding", WIDE)
def test_wide_files_in_pieces_of_any_size_are_utf_8(tmp_path, encoding):
    text = "aé日🙂\n" * 50
    for size in (1, 2, 3, 5, 8, 64, 10_000, -1):
        recoded = Recoded(io.BytesIO(text.encode(encoding)), encoding, "t.csv")
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
