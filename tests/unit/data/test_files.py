"""Files of every format, compressed or not, one or many."""

import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.data.sources.unpack import Squeezed
from credo.errors import TableError

TABLE = pa.table(
    {
        "smoke": ["yes", "no", None, "yes", "no", "yes"],
        "age": [51.5, 40.0, 33.25, None, 61.0, 28.5],
        "n": [0, 1, 1, 0, 1, 0],
    }
)
CSV = "smoke,age,n\nyes,51.5,0\nno,40.0,1\n,33.25,1\nyes,,0\nno,61.0,1\nyes,28.5,0\n"


JSON = "".join(
    json.dumps({k: v for k, v in row.items() if v is not None}) + "\n" for row in TABLE.to_pylist()
)
TEXTS = {"csv": CSV, "tsv": CSV.replace(",", "\t"), "jsonl": JSON}
PACKED = {
    "": bytes,
    "gz": gzip.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


def write(kind, folder):
    path = folder / f"t.{kind}"
    form, _, packing = kind.partition(".")
    match form:
        case "csv" | "tsv" | "jsonl":
            path.write_bytes(PACKED[packing](TEXTS[form].encode()))
        case "parquet":
            pq.write_table(TABLE, path)
        case "feather":
            feather.write_feather(TABLE, str(path))
        case _:
            with (pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream)(
                path, TABLE.schema
            ) as out:
                out.write_table(TABLE)
    return path


KINDS = [
    "csv", "tsv", "csv.gz", "csv.zst", "jsonl", "jsonl.gz", "jsonl.zst", "parquet", "arrow",
    "ipc", "arrows", "feather",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_reads_alike(kind, tmp_path):
    table = cr.read(write(kind, tmp_path))
    assert table.schema.names == ("smoke", "age", "n")
    assert table.values("smoke").tolist() == ["yes", "no", None, "yes", "no", "yes"]
    assert table.values("n").tolist() == [0, 1, 1, 0, 1, 0]
    np.testing.assert_array_equal(table.values("age"), [51.5, 40, 33.25, np.nan, 61, 28.5])


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_streams_to_the_same_tally(kind, tmp_path):
    path = write(kind, tmp_path)
    families = [("smoke", ["n"]), ("age", ["smoke"]), "n"]
    stream = cr.read(path, memory=1)
    assert isinstance(stream, cr.Stream)
    whole = cr.read(path)
    assert stream.schema == whole.schema
    assert stream.tally(families) == whole.tally(families)
    assert stream.load().tally(families) == whole.tally(families)


def test_a_glob_reads_all_files_in_the_order_of_their_names(tmp_path):
    for i in range(3):
        (tmp_path / f"p{i}.csv").write_text(f"a,b\n{i},x\n{i},y\n")
    table = cr.read(tmp_path / "p*.csv")
    assert table.values("a").tolist() == [0, 0, 1, 1, 2, 2]
    assert "3 files" in table.schema.source
    (tmp_path / "p3.csv").write_text("a,c\n1,1\n2,2\n")
    with pytest.raises(cr.errors.TableError, match=r"p3.csv has other columns than p0.csv: 'b'"):
        cr.read(str(tmp_path / "p*.csv"))


def test_a_list_of_paths_is_one_table_in_its_own_order(tmp_path):
    for i in range(3):
        (tmp_path / f"p{i}.csv").write_text(f"a,b\n{i},x\n{i},y\n")
    table = cr.read([tmp_path / "p2.csv", str(tmp_path / "p0.csv")])
    assert table.values("a").tolist() == [2, 2, 0, 0]
    assert "2 files" in table.schema.source
    table = cr.read((str(tmp_path / "p2.csv"), str(tmp_path / "p[01].csv")), ragged="skip")
    assert table.values("a").tolist() == [2, 2, 0, 0, 1, 1]
    assert cr.read([tmp_path / "p1.csv"], {"a": [1]}).rows == 2
    (tmp_path / "o.jsonl").write_text('{"a": 1, "b": "x"}\n')
    with pytest.raises(cr.errors.TableError, match="are files of different kinds"):
        cr.read([tmp_path / "p0.csv", tmp_path / "o.jsonl"])
    with pytest.raises(cr.errors.TableError, match="There is no file"):
        cr.read([tmp_path / "p0.csv", tmp_path / "none.csv"])
    with pytest.raises(cr.errors.InputError, match="one dict per row; item 1 is str"):
        cr.read([str(tmp_path / "p0.csv"), {"a": 1}])


def test_home_is_expanded(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "t.csv").write_text("a,b\n0,x\n1,y\n")
    assert cr.read("~/t.csv").rows == cr.read("~/*.csv").rows == cr.read(["~/t.csv"]).rows == 2


def test_columns_in_another_order_across_files(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n0,x\n1,y\n")
    (tmp_path / "2.csv").write_text("b,a\nx,1\ny,1\n")
    assert cr.read(tmp_path / "*.csv").values("a").tolist() == [0, 1, 1, 1]


def test_paths_that_are_not_there(tmp_path):
    (tmp_path / "patients.csv").write_text("a\n1\n")
    with pytest.raises(
        cr.errors.TableError, match=r"There is no file .*patient.csv. Did you mean 'patients.csv'\?"
    ):
        cr.read(tmp_path / "patient.csv")
    with pytest.raises(cr.errors.TableError, match="No file matches"):
        cr.read(str(tmp_path / "*.parquet"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(cr.errors.TableError, match="is a folder in which no file is a table"):
        cr.read(tmp_path / "empty")
    with pytest.raises(cr.errors.InputError, match="is an address"):
        cr.read("https://example.org/t.csv")
    (tmp_path / "t.xlsx").write_text("x")
    with pytest.raises(cr.errors.TableError, match="ending that is not known"):
        cr.read(tmp_path / "t.xlsx")
    (tmp_path / "t.parquet.gz").write_text("x")
    with pytest.raises(cr.errors.TableError, match="compressed inside"):
        cr.read(tmp_path / "t.parquet.gz")


@pytest.mark.parametrize("kind", ["parquet", "arrow", "ipc"])
def test_a_file_cut_anywhere_is_refused(kind, tmp_path):
    whole = write(kind, tmp_path).read_bytes()
    path = tmp_path / f"cut.{kind}"
    for keep in range(1, len(whole) - 1, 37):
        path.write_bytes(whole[:keep])
        try:
            cr.read(path)
        except cr.errors.TableError:
            continue
        assert kind == "ipc"  # an Arrow stream may end after any whole message


@pytest.mark.parametrize("kind", ["csv.gz", "csv.zst", "jsonl.gz"])
def test_a_compressed_file_cut_short_is_refused(kind, tmp_path):
    path = write(kind, tmp_path)
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(cr.errors.TableError):
        cr.read(path)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(put, delimiter):
    path = put(
        f"a{delimiter}b\n1{delimiter}x, y\n0{delimiter}z\n"
        if delimiter != ","
        else "a,b\n1,x\n0,z\n",
    )
    assert cr.read(path).schema.names == ("a", "b")


def test_options_for_text_files(put):
    path = put("1:x\n0:y\n1:x\n")
    table = cr.read(path, delimiter=":", columns=["a", "b"])
    assert table.schema.names == ("a", "b") and len(table) == 3
    with pytest.raises(cr.errors.InputError, match="one character"):
        cr.read(path, delimiter="::")
    with pytest.raises(cr.errors.InputError, match="'error' or 'skip'"):
        cr.read(path, ragged="drop")


def test_files_of_other_programs_are_refused_with_the_way_in(tmp_path):
    for name, way in {
        "t.xlsx": "Save its sheet as CSV, or give pandas.read_excel(",
        "t.duckdb": "DuckDB cannot open t.duckdb",
        "t.zip": "Unpack it first.",
        "t.xyz": "Known are .csv, .tsv",
    }.items():
        (tmp_path / name).write_text("x")
        with pytest.raises(cr.errors.TableError) as refused:
            cr.read(tmp_path / name)
        assert way in str(refused.value)


def test_slips_are_told_with_what_was_meant(tmp_path):
    with pytest.raises(cr.errors.SchemaError, match="Did you mean 'continuous'"):
        cr.read({"age": [1, 2]}, {"age": "continous"})
    with pytest.raises(cr.errors.InputError, match=r"A table is read by cr\.read"):
        cr.load(tmp_path / "rows.csv")
    with pytest.raises(cr.errors.InputError, match="For so many clusters: k=3"):
        cr.cluster({"age": [1.5, 2.5, 9.0]}, 3)
    with pytest.raises(cr.errors.UnknownNameError, match=r"Did you mean 1\?"):  # not 90, 80 or 70
        cr.number_game().observe([0])


@pytest.mark.parametrize("ending", ["txt", "dat", "data", "csv"])
def test_one_column_that_another_delimiter_would_cut_is_noticed(tmp_path, ending, put):
    path = put("a b\nu v\nw v\nu x\n", f"t.{ending}")
    told = str(cr.read(path).schema)
    assert "' ' cuts each of its first lines into 2 cells" in told and "delimiter=' '" in told
    assert cr.read(path, delimiter=" ").schema.names == ("a", "b")
    path.write_text("note\nall is well\nnot so well today\n")
    assert "cuts each" not in str(cr.read(path).schema)
    (tmp_path / "t.tsv").write_text("a;b\n1;2\n3;4\n")
    assert "delimiter=';'" in str(cr.read(tmp_path / "t.tsv").schema)


@pytest.mark.parametrize("ending", ["txt", "csv.gz"])
def test_white_space_between_cells_is_recognised(tmp_path, ending, put):
    path = tmp_path / f"t.{ending}"
    lines = [' "OBS"  "GPA" "the group" ', *(f"{i}\t {i / 7:.2f}   'A'  " for i in range(9))]
    text = "\n".join(lines).replace("'A'", '"A  b"').replace("8\t", " 8 ") + "\n"
    path.write_bytes(gzip.compress(text.encode()) if ending == "csv.gz" else text.encode())
    table = cr.read(path, {"OBS": "continuous", "the group": "discrete"})
    assert table.schema.names == ("OBS", "GPA", "the group")
    assert table.values("OBS").tolist() == list(range(9))
    assert set(table.values("the group")) == {"A  b"}
    assert "white space was taken for what stands between cells" in table.schema.notes
    path = put("".join(f"{i}  {i % 2} {i / 3:.3f}\n" for i in range(40)), "raw.txt")
    assert cr.read(path, columns=["a", "b", "c"]).schema.names == ("b", "c")
    path.write_text("a  b\n1  2\n3  4 5\n1  2\n")
    with pytest.raises(TableError, match=r"Line 3 of raw\.txt has 3 cells, but the header has 2"):
        cr.read(path, delimiter=" ")


def test_blocks_of_lines_with_blanks_are_as_the_whole(tmp_path):
    text = b"".join(b" %d   %d\r\n" % (i, i % 3) for i in range(200))
    whole = Squeezed(io.BytesIO(text)).read()
    for size in (1, 7, 64, 5_000):
        file, parts = Squeezed(io.BytesIO(text)), []
        while part := file.read(size):
            assert len(part) <= size
            parts.append(part)
        assert b"".join(parts) == whole
    assert whole.startswith(b"0 0\r\n1 1\r\n") and whole.endswith(b"199 1\r\n")


def test_parquet_dictionary_columns(tmp_path):
    path = tmp_path / "t.parquet"
    ordered = pa.DictionaryArray.from_arrays([1, 0, None], ["low", "high"], ordered=True)
    pq.write_table(pa.table({"level": ordered, "n": [0, 1, 1]}), path)
    table = cr.read(path)
    assert table.values("level").tolist() == ["high", "low", None]


def test_dates_are_set_aside_and_usable(put):
    path = put("day,x\n" + "".join(f"2024-01-{d:02d},{d % 2}\n" for d in range(1, 31)))
    table = cr.read(path)
    assert table.schema.column("day").kind == "date"
    with pytest.raises(cr.errors.SchemaError, match="'day' was set aside: dates, 30 different"):
        table.schema["day"]
    assert cr.read(path, {"day": "discrete"}).schema["day"].arity == 30
    import datetime

    table = cr.read(
        {"day": [datetime.date(1970, 1, 2), datetime.date(1970, 1, 4)]}, {"day": "continuous"}
    )
    assert table.values("day").tolist() == [1.0, 3.0]


def test_feather_of_version_1_is_told_from_a_damaged_file(put):
    path = put(b"FEA1" + bytes(60) + b"FEA1", "old.feather")
    with pytest.raises(TableError, match=r"old\.feather is a Feather file of version 1, and only"):
        cr.read(path)
    with pytest.raises(TableError, match=r"give pyarrow.feather.read_table\('.*old.feather'\)"):
        cr.read(path)


def test_names_in_single_quotes_lose_them(put):
    path = put("'GPA' 'PSI'\n2.66 0\n2.89 1\n3.28 0\n")
    assert cr.read(path).schema.names == ("GPA", "PSI")
    assert cr.read(put("'t was,b\nx,y\nz,u\n")).schema.names == ("'t was", "b")
