"""The bad tables that credo promises to answer: each is refused, or reported, in one sentence."""

import gzip
import time
import tracemalloc
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.data.sources import unpack
from credo.errors import CredoWarning, InputError, LimitError, SchemaError, TableError

# --- refused in one sentence --------------------------------------------------------------

LONG = "a,b\n" + "1,x\n0,y\n" * 200_000
NULS = (b"a\0,b", b"\0,b", b"a,\0", b"a\0b,c")
REFUSED_FILES = [
    *((text, {}, r"t.csv is empty: it has no header and no rows") for text in ("", "\n\n", "\ufeff")),
    *((text, {}, r"t.csv has a header but no rows") for text in ("a,b", "a,b\n", "a,b\r\n")),
    ("a,b\n,NA\n?,null\n", {}, r"Every cell of t.csv is missing"),
    (LONG.encode() + b"1,\xff\n", {}, rf"Byte {len(LONG) + 3:,} of t.csv is not utf-8 text"),
    (LONG.encode() + b"1,\x00\n", {}, rf"Byte {len(LONG) + 3:,} of t.csv is a NUL"),
    (b"a,b\n1,2\n3,\x00\n", {}, r"Byte 11 of t.csv is a NUL"),
    *((head + b"\n1,2\n3,4\n", {"encoding": encoding}, f"Byte {head.index(0) + 1} of t.csv is a NUL")
      for head in NULS for encoding in (None, "latin-1")),
    ('a,b\n1,"open\n2,3\n', {}, r"Line 2 of t.csv opens a quote"),
    ('a,"b\n1,2\n2,3\n', {}, r"Line 1 of t.csv opens a quote"),
    ("a,w\n0,1\n1,-3\n", {"weights": "w"}, r"Row 2 of the weights column 'w' is -3"),
    ("a,w\n0,1\n1,x\n", {"weights": "w"}, r"Row 2 of column 'w' holds 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "options", "said"), REFUSED_FILES, ids=range(len(REFUSED_FILES))
)
def test_a_bad_file_is_refused_in_one_sentence(put, content, options, said):
    with pytest.raises(TableError, match=said):
        cr.read(put(content), **options)


@pytest.mark.parametrize(
    ("table", "schema", "columns", "said"),
    [
        ({"a": [], "b": []}, None, None, "dict of columns has columns but no rows"),
        (np.empty((0, 2)), None, ["a", "b"], "NumPy array has columns but no rows"),
        ({"a": [1, 1, 1]}, None, None, r"No column of dict of columns can be used: 'a' \(every cell is 1\)"),
        ({"a": ["1", "2"]}, {"a": [1, 2]}, None, r"The cell is a text and the state 1 is a number: give"),
        ({"a": [1, 2]}, {"a": ["1", "2"]}, None, r"The cell is a number and the state '1' is a text: give"),
        ("~nobody-here/x.csv", None, None, r"There is no file ~nobody-here/x.csv"),
    ],
)  # fmt: skip
def test_a_bad_table_is_refused_in_one_sentence(table, schema, columns, said):
    with pytest.raises(TableError, match=said):
        cr.read(table, schema, columns=columns)


def test_an_unknown_ending_lists_what_can_be_packed(put):
    with pytest.raises(TableError, match=r"\.ipc.*; those of text also with \.gz or \.zst"):
        cr.read(put("x", "t.xls"))


# --- ragged rows --------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "cells"), [("4,5", 2), ("4,5,6,7", 4)])
def test_ragged_rows_name_the_line(put, line, cells):
    path = put(f"a,b,c\n1,2,3\n{line}\n6,7,8\n")
    with pytest.raises(TableError) as error:
        cr.read(path)
    assert str(error.value) == (
        f"Line 3 of t.csv has {cells} cells, but the header has 3. "
        "Mend the line, or skip such lines with ragged='skip'."
    )


def test_ragged_rows_are_skipped_only_by_option_and_counted(put):
    path = put("a,b,c\n1,2,3\n4,5\n1,2,3,4\n6,7,8\n")
    table = cr.read(path, ragged="skip")
    assert len(table) == 2
    assert "2 lines with too many or too few cells skipped" in str(table.schema)


# --- too little ---------------------------------------------------------------------------


def test_one_row_reads_and_says_so(put):
    table = cr.read(put("a,b\nx,1\n"))
    assert table.schema.names == ("a", "b")
    assert "the table has one row" in str(table.schema)


# --- headers ------------------------------------------------------------------------------


def test_duplicate_and_unnamed_headers_are_kept_apart_and_reported(put):
    table = cr.read(put("x,,x\n1,a,0\n0,b,1\n1,a,1\n"))
    assert table.schema.names == ("x", "column_2", "x_2")
    assert table.values("x_2").tolist() == [0, 1, 1]
    assert "column 2 has no name and is called 'column_2'" in str(table.schema)
    assert "column 3 repeats the name 'x' and is called 'x_2'" in str(table.schema)


# --- encodings ----------------------------------------------------------------------------


def test_byte_order_mark_and_utf16_are_recognised(put):
    text = "größe,b\nklein,1\ngroß,0\n"
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
        table = cr.read(put(text.encode(encoding)))
        assert table.schema["größe"].states == ("groß", "klein"), encoding


def test_latin_1_names_the_byte_and_reads_when_told(put):
    path = put("a,b\n1,x\n0,Größe\n".encode("latin-1"))
    with pytest.raises(TableError, match=r"Byte 13 of t.csv is not utf-8 text. Give its encoding"):
        cr.read(path)
    assert cr.read(path, encoding="latin-1").schema["b"].states == ("Größe", "x")
    with pytest.raises(InputError, match="encoding 'klingon' is not known"):
        cr.read(path, encoding="klingon")


# --- quotes -------------------------------------------------------------------------------


def test_unclosed_quote_over_5_mb_names_the_opening_line_in_bounded_memory(put):
    path = put(b'a,b\n1,2\n3,"open ' + b"x,y\n" * 1_500_000)
    tracemalloc.start()
    with pytest.raises(TableError, match=r"Line 3 of t.csv opens a quote that is not closed"):
        cr.read(path)
    assert tracemalloc.get_traced_memory()[1] < 64e6
    tracemalloc.stop()


def test_quotes_commas_and_line_breaks_inside_cells(put):
    table = cr.read(put('a,b\r\n"x,y",1\r\n"he said ""hi""",0\r\n"two\nlines",1\r\n'))
    assert set(table.schema["a"].states) == {"x,y", 'he said "hi"', "two\nlines"}


def test_line_ends_of_every_kind(put):
    for content in (
        b"a,b\r\n1,2\r\n3,4\n5,6\r\n",
        b"a,b\r1,2\r3,4\r5,6\r",
        b"a,b\n1,2\n\n3,4\n5,6",
    ):
        assert len(cr.read(put(content))) == 3


# --- size ---------------------------------------------------------------------------------


def test_100_000_columns_state_the_limit_at_once(put):
    n = 100_000
    path = put(",".join(f"c{i}" for i in range(n)) + "\n" + ",".join("1" * n) + "\n")
    start = time.monotonic()
    with pytest.raises(LimitError, match=r"100,000 columns; at most 20,000 are read"):
        cr.read(path)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("source", ["dict", "records", "numpy", "arrow", "pandas", "polars"])
def test_too_many_columns_are_refused_whatever_they_come_as(source):
    cells = {f"c{i}": [1, 2] for i in range(20_001)}
    names = None
    match source:
        case "dict":
            table = cells
        case "records":
            table = [dict.fromkeys(cells, 1), dict.fromkeys(cells, 2)]
        case "numpy":
            table, names = np.array(list(cells.values())).T, list(cells)
        case "arrow":
            table = pa.table(cells)
        case "pandas":
            table = pytest.importorskip("pandas").DataFrame(np.zeros((2, 20_001)))
        case "polars":
            table = pytest.importorskip("polars").DataFrame(cells)
    with pytest.raises(LimitError, match=r"20,001 columns; at most 20,000 are read"):
        cr.read(table, columns=names)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["a,b\n1,2\n3,4\n", "возраст,имя\nмного,да\nмало,нет\n"])
def test_utf_16_without_a_byte_order_mark(put, encoding, text):
    path = put(text.encode(encoding))
    assert list(cr.read(path).schema.names) == text.split("\n")[0].split(",")
    with pytest.raises(TableError, match=r"Column 1 of .* has a name that is no text: .* a NUL"):
        cr.read(f"select * from read_csv('{path}', strict_mode=false, encoding='latin-1')")


def test_gzip_bomb_is_refused(put, monkeypatch):
    assert (unpack.MAX_RATIO, unpack.MAX_UNPACKED) == (200, 32 * 2**20)
    path = put(gzip.compress(b"a,b\n" + b"1,2\n" * 10_000_000), "bomb.csv.gz")
    unpacked = []
    real = unpack._open

    def counted(*where):
        file = real(*where)
        read = file.read
        file.read = lambda size=-1: unpacked.append(data := read(size)) or data
        return file

    monkeypatch.setattr(unpack, "_open", counted)
    with pytest.raises(LimitError, match="unpacks to more than 200 times its size"):
        cr.read(path)
    assert sum(map(len, unpacked)) < 46 * 2**20  # while it is unpacked, not at its end


# --- numbers that are none ----------------------------------------------------------------


@pytest.mark.parametrize("cell", ["inf", "-inf", "1e309", "0x10", "1_000", '"1,5"'])
def test_a_doubtful_cell_is_named_and_never_becomes_nan(put, cell):
    rows = [f"{i / 7:.3f}" for i in range(50)]
    rows[16] = cell
    path = put("x,y\n" + "".join(f"{r},{i % 2}\n" for i, r in enumerate(rows)))
    with pytest.warns(CredoWarning, match="Column 'x' was set aside: row 17 holds"):
        table = cr.read(path)
    plain = cell.strip('"')
    assert f"row 17 holds {plain!r}, which is not a number" in str(table.schema)
    assert "x" not in table.schema or plain in table.schema["x"].states
    with pytest.raises(TableError, match="Row 17 of column 'x' holds"):
        cr.read(path, {"x": "continuous"})
    kept = cr.read(path, {"x": "continuous"}, missing=[plain])
    assert np.isnan(kept.values("x")[16]) and kept.schema.column("x").missing == 1


def test_a_doubtful_cell_in_a_long_column(put):
    rows = [f"{i / 7:.5f}" for i in range(30_000)]
    rows[22_222] = "1,5"
    path = put("x;y\n" + "".join(f"{r};{i % 2}\n" for i, r in enumerate(rows)))
    with pytest.warns(CredoWarning, match=r"'x' was set aside: row 22223 holds '1,5'"):
        table = cr.read(path)
    assert table.schema.column("x").kind == "doubtful"


def test_infinity_in_a_frame_is_named():
    x = np.linspace(0, 1, 100)
    x[41] = np.inf
    with pytest.warns(
        CredoWarning, match=r"'x' was set aside: row 42 holds 'inf', which is not finite"
    ):
        table = cr.read({"x": x, "y": [0, 1] * 50})
    assert table.schema.names == ("y",)
    with pytest.raises(TableError, match="Row 42 of column 'x' holds 'inf'"):
        cr.read({"x": x}, {"x": "continuous"})


def test_the_missing_list_is_visible_and_settable(put):
    path = put("a,b\nNone,NA\nx,?\nNone,NA\nx,?\n")
    table = cr.read(path, {"b": "discrete"}, missing=[])
    assert table.schema["a"].states == ("None", "x")
    assert table.schema["b"].states == ("?", "NA")
    table = cr.read(path, missing=["x", "?"], schema={"a": "discrete", "b": "discrete"})
    assert table.schema["a"].states == ("None",)
    assert table.schema.column("b").missing_as == {"?": 2}
    assert "2 (50 %) as ? ×2" in str(table.schema)


# --- weights ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ([1, -1, 1], "Row 2 of the weights is -1"),
        ([1, float("nan"), 1], "Row 2 of the weights is missing"),
        ([1, float("inf"), 1], "Row 2 of the weights is inf"),
        ([0, 0, 0], "Every weight is 0"),
        ([1, 1], "2 weights"),
        ([1, 1, 1, 1], "4 weights for 3 rows"),
        (["a", "b", "c"], "must be numbers"),
        ("w", r"weights column 'w' is not in the table"),
        ([[1], [1], [1]], "one axis"),
    ],
)
def test_bad_weights_are_refused(weights, text):
    with pytest.raises(cr.errors.CredoError, match=text):
        cr.read({"a": [0, 1, 0]}, weights=weights)


# --- advice that works --------------------------------------------------------------------


def test_an_empty_column_needs_states_and_the_error_says_so():
    cells = {"e": [None, None], "y": [0, 1]}
    schema = cr.read(cells).schema
    with pytest.raises(
        SchemaError, match=r"schema=\{'e': \['no', 'yes'\]\} \(its states, or 'cont"
    ):
        schema["e"]
    with pytest.raises(SchemaError, match=r"name them: schema=\{'e': \['no', 'yes'\]\}"):
        cr.read(cells, {"e": "discrete"})
    assert cr.read(cells, {"e": ["no", "yes"]}).schema["e"].arity == 2
    assert cr.read(cells, {"e": "continuous"}).schema["e"].kind == "continuous"


def test_files_that_are_no_text_are_called_what_they_are(put, tmp_path):
    with zipfile.ZipFile(tmp_path / "z.csv", "w") as archive:
        archive.writestr("t.csv", "a,b\n1,2\n")
    with pytest.raises(TableError, match=r"z\.csv is a zip archive"):
        cr.read(tmp_path / "z.csv")
    with pytest.raises(TableError, match=r"g\.jsonl is a gzip file, not text\. Unpack it, or give"):
        cr.read(put(gzip.compress(b'{"a": 1}\n'), "g.jsonl"))
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "p.csv")
    with pytest.raises(TableError, match=r"p\.csv is a Parquet file, not text"):
        cr.read(tmp_path / "p.csv")
    assert cr.read(put("PAR1,ARROW1\n1,0\n0,1\n")).schema.names == ("PAR1", "ARROW1")


@pytest.mark.parametrize("content", [b"\0" * 1000, b"\0" * 3, b"\0\0a,b\n1,2\n"])
def test_nuls_are_no_text(put, content):
    for name in ("t.csv", "t.jsonl"):
        with pytest.raises(TableError, match=r"Byte 1 of t.* is a NUL, which text cannot hold"):
            cr.read(put(content, name))


def test_utf_32_is_recognised(put):
    table = cr.read(put("größe,b\nklein,1\ngroß,0\n".encode("utf-32")))
    assert table.schema["größe"].states == ("groß", "klein")


def test_one_is_not_many():
    table = cr.read({"a": [0, 1]})
    assert repr(table) == "Table(2 rows, 1 variable)"
    assert repr(table.schema) == "Schema(1 variable: a)"


# --- the schema the user gives ------------------------------------------------------------


def test_a_schema_that_does_not_fit_is_refused(put):
    path = put("age,stage\n50,I\n60,II\n70,IV\n")
    with pytest.raises(
        cr.errors.UnknownNameError,
        match=r"Column 'ages' is not in the table. Did you mean 'age' or 'stage'\?",
    ):
        cr.read(path, {"ages": "continuous"})
    with pytest.raises(SchemaError, match="must be 'discrete', 'continuous', 'drop'"):
        cr.read(path, {"age": "number"})
    with pytest.raises(
        TableError,
        match=r"Row 3 of column 'stage' holds 'IV', which is not one of its states \('I', 'II', 'III'\)",
    ):
        cr.read(path, {"stage": ["I", "II", "III"]})
    with pytest.raises(SchemaError, match="given twice"):
        cr.read(path, {"stage": ["I", "I"]})
    with pytest.raises(SchemaError, match="must be a list"):
        cr.read(path, {"stage": 3})
    with pytest.raises(InputError, match="mapping or a Schema"):
        cr.read(path, ["age"])
    with pytest.raises(
        TableError, match="Row 1 of column 'stage' holds 'I', which is not a number"
    ):
        cr.read(path, {"stage": "continuous"})


def test_memory_and_threads_that_make_no_sense(put):
    path = put("a\n0\n1\n")
    for memory in ("lots", -1, 0):
        with pytest.raises(InputError, match="memory must be"):
            cr.read(path, memory=memory)
    with pytest.raises(InputError, match="threads must be a whole number above 0"):
        cr.tally(path, ["a"], threads=0)


def test_reading_a_table_again():
    table = cr.read({"a": [0, 1]})
    assert cr.read(table) is table
    with pytest.raises(InputError, match="has been read already"):
        cr.read(table, {"a": "continuous"})


def test_cells_that_are_lists_are_set_aside_or_name_the_row():
    table = cr.read({"a": ["x", [1], 2], "b": [0, 1, 0]})
    assert table.schema.set_aside == {"a": "cells of type lists or dicts"}
    with pytest.raises(
        TableError, match=r"Row 2 of column 'a' holds \[1\], which cannot be a state"
    ):
        cr.read({"a": ["x", [1], 2]}, {"a": "discrete"})


@pytest.mark.parametrize("memory", [None, "10B"])
def test_a_file_of_several_may_have_a_header_alone(tmp_path, memory):
    for name, text in {"1": "b,a\n", "2": "a,b\n1,x\n2,y\n1,x\n", "3": "a,b"}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    counts = cr.tally(cr.read(tmp_path / "*.csv", memory=memory), ["a"])["a"]
    assert list(counts) == [2, 1]
    with pytest.raises(TableError, match=r"2 files .* have a header but no rows"):
        cr.read([tmp_path / "1.csv", tmp_path / "3.csv"])
