"""Folders, queries and databases."""

import subprocess
import sys

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.data.sources import folders
from credo.errors import InputError, LimitError, TableError, UnknownNameError
from credo.estimators import NaiveBayes

# --- Folders of files are one table, and name columns of it ---


ROWS = pa.table(
    {
        "y": ["a", "b"] * 6,
        "year": [2020, 2021, 2021, 2020] * 3,
        "place": ["north sea", "south", None] * 4,
        "n": [1.5, 2.5, 4.5] * 4,
    }
)
FAMILY = ("y", ["year", "place"])


@pytest.fixture
def parts(tmp_path):
    pq.write_to_dataset(ROWS, tmp_path / "rows", partition_cols=["year", "place"])
    (tmp_path / "rows" / "_SUCCESS").write_text("")
    (tmp_path / "rows" / ".crc").write_text("")
    (tmp_path / "rows" / "README.md").write_text("about")
    return tmp_path / "rows"


@pytest.mark.parametrize("memory", [None, "1B"])
@pytest.mark.parametrize("glob", ["", "*/*/*.parquet", "**/*.parquet", "year=*/*/*.parquet"])
def test_folders_are_columns_as_arrow_has_them(parts, glob, memory):
    source = cr.read(str(parts / glob) if glob else parts, memory=memory)
    whole = cr.read(
        ds.dataset(parts, format="parquet", partitioning="hive", exclude_invalid_files=True)
    )
    assert set(source.schema.names) == set(whole.schema.names) == set(ROWS.column_names)
    assert source.schema["year"].states == (2020, 2021)
    assert source.schema["place"].states == ("north sea", "south")
    found, expected = source.tally([FAMILY])[FAMILY], whole.tally([FAMILY])[FAMILY]
    assert found == expected and found.skipped == expected.skipped == 4
    assert source.tally(["year"])["year"].values.tolist() == [6, 6]
    assert not source.schema.notes


def test_text_files_have_texts_in_their_folders(tmp_path):
    for month, rows in (("07", "a,b\n1,x\n2,y\n"), ("08", "a,b\n2,x\n1,x\n"), ("12", "a,b\n")):
        (tmp_path / f"month={month}").mkdir()
        (tmp_path / f"month={month}" / "t.csv").write_text(rows)
    table = cr.read(tmp_path)
    assert table.schema["month"].states == ("07", "08")
    assert table.values("month").tolist() == ["07", "07", "08", "08"]
    assert cr.read(tmp_path, {"month": "drop"}).schema.names == ("a", "b")


def test_a_column_of_the_files_stays_theirs(tmp_path):
    for year in (2020, 2021):
        (tmp_path / f"year={year}").mkdir()
        pd.DataFrame({"year": [1, 2], "x": ["u", "v"]}).to_parquet(tmp_path / f"year={year}" / "p.parquet")  # fmt: skip
    assert cr.read(tmp_path).schema["year"].states == (1, 2)


def test_a_folder_without_partitions_is_its_files(tmp_path):
    (tmp_path / "deeper").mkdir()
    (tmp_path / "b.jsonl").write_text('{"x": 1}\n{"x": 0}\n')
    (tmp_path / "deeper" / "a.jsonl").write_text('{"x": 1}\n{"x": 1}\n')
    assert cr.read(tmp_path).values("x").tolist() == [1, 0, 1, 1]


def test_files_in_other_folders_are_refused(parts):
    pq.write_table(pa.table({"y": ["a"], "n": [0.5]}), parts / "year=2020" / "more.parquet")
    with pytest.raises(TableError, match="'place' is in only one of them"):
        cr.read(parts)


def test_which_files_are_the_table_must_be_clear(parts, monkeypatch):
    (parts / "year=2020" / "t.csv").write_text("a\n1\n")
    with pytest.raises(TableError, match=r"of several kinds \(.* .parquet, 1 .csv\)") as caught:
        cr.read(parts)
    assert f"{parts}/**/*.parquet" in caught.value.hint
    monkeypatch.setattr(folders, "MANY", 2)
    with pytest.raises(LimitError, match="a folder of more than 2 files"):
        cr.read(parts)


@pytest.mark.parametrize("memory", [None, "1B"])
def test_a_column_that_both_folders_and_files_have_is_told(tmp_path, memory):
    for a in (1, 2):
        (tmp_path / f"a={a}").mkdir()
        (tmp_path / f"a={a}" / "p.csv").write_text("a,b\nx,u\ny,v\n")
    told = "the column 'a' is that of the files; what their folders say of it is left out"
    for given in (tmp_path, str(tmp_path / "*" / "p.csv"), str(tmp_path / "a=*" / "p.csv")):
        schema = cr.read(given, memory=memory).schema
        assert schema["a"].states == ("x", "y") and told in schema.notes
    assert told not in cr.read(tmp_path / "a=1" / "p.csv", memory=memory).schema.notes


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path, monkeypatch):
    for a, text in ((1, "b\nu\nv\n"), (2, "c\nu\nv\n")):
        (tmp_path / f"a={a}").mkdir()
        (tmp_path / f"a={a}" / "p.csv").write_text(text)
    said = r"^a=2/p\.csv has other columns than a=1/p\.csv: 'b' is in only one of them"
    for given in (tmp_path, str(tmp_path / "*" / "*.csv"), sorted(tmp_path.glob("*/p.csv"))):
        with pytest.raises(TableError, match=said):
            cr.read(given)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TableError, match=said):
        cr.read("*/p.csv")
    with pytest.raises(TableError, match=r"p\.csv has other columns than .*a=1/p\.csv"):
        cr.read([tmp_path / "a=1" / "p.csv", "a=2/p.csv"])


# --- Queries over files, which DuckDB runs ---


@pytest.fixture
def files(tmp_path):
    frame = pd.DataFrame(
        {
            "age": [31, 64, 70, 58, 45, 52] * 40,
            "smoker": ["yes", "no", "yes", "yes", "no", "no"] * 40,
            "year": [2020, 2021, 2022] * 80,
        }
    )
    frame.iloc[:120].to_parquet(tmp_path / "a.parquet")
    frame.iloc[120:].to_parquet(tmp_path / "b.parquet")
    return tmp_path, frame


def test_a_query_is_the_table_it_answers(files):
    folder, frame = files
    query = f"select smoker, age >= 60 as old from '{folder}/*.parquet' where year > 2020"
    part = frame[frame.year > 2020]
    expected = cr.read(pd.DataFrame({"smoker": part.smoker, "old": part.age >= 60}))
    for text in (query, f"\n  WITH t AS ({query}) SELECT * FROM t"):
        table = cr.read(text)
        assert table.schema.variables == expected.schema.variables and len(table) == len(part)
        family = ("old", ["smoker"])
        found = table.tally([family])["old", "smoker"].values
        assert found.tolist() == expected.tally([family])["old", "smoker"].values.tolist()


def test_a_query_streams_and_learns(files):
    folder, frame = files
    query = f"from '{folder}/*.parquet' select smoker, age, year"
    stream = cr.read(query, memory=100)
    assert type(stream).__name__ == "Stream" and stream.schema["smoker"].states == ("no", "yes")
    by_query = NaiveBayes().fit(query, "smoker")
    by_frame = NaiveBayes().fit(frame[["smoker", "age", "year"]], "smoker")
    rows = frame[["age", "year"]]
    assert by_query.predict(rows).tolist() == by_frame.predict(rows).tolist()


def test_queries_that_cannot_be_run(files, tmp_path):
    folder, _ = files
    with pytest.raises(TableError, match=r"DuckDB cannot run the query: .*agee") as error:
        cr.read(f"select agee from '{folder}/a.parquet'")
    assert "in quotes" in error.value.hint
    with pytest.raises(TableError, match="DuckDB cannot run the query"):
        cr.read("select * from nowhere")
    frame = pd.DataFrame({"a": [1]})  # a variable here is no table there
    with pytest.raises(TableError, match="DuckDB cannot run the query"):
        cr.read("select * from frame")
    assert len(frame) == 1


def test_a_file_may_be_named_like_a_query(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "from here.csv").write_text("a,b\n1,u\n2,v\n1,u\n")
    assert cr.read("from here.csv").schema.names == ("a", "b")


def test_a_query_on_the_command_line(files):
    def credo(*words):
        return subprocess.run(
            [sys.executable, "-m", "credo", *words], capture_output=True, text=True
        )

    folder, _ = files
    done = credo("schema", f"select * from '{folder}/*.parquet' where year > 2020")
    assert done.returncode == 0 and "160" in done.stdout and "smoker" in done.stdout
    bad = credo("schema", "select * from nowhere")
    assert bad.returncode == 2 and "DuckDB cannot run the query" in bad.stderr


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select * from '{t}'; copy (select 42) to '{out}'", "got 2 statements"),
        ("with x as (copy (select 42) to '{out}') select * from x", "this holds a COPY"),
        ("with x as (select 1) insert into t select * from x", "this is an INSERT"),
        ("with x as (insert into t values (1) returning *) select * from x", "holds an INSERT"),
        ("select * from query('select 42')", "the function query is not taken"),
        ("select * from (select write_log('hello'))", "the function write_log is not taken"),
        ("select * from enable_profiling(save_location='{out}')", "locked"),
        ("select * from enable_logging(storage='file', storage_path='{out}')", "locked"),
        ("select * from (pivot '{t}' on year)", "Name them: pivot"),
    ],
)
def test_a_query_only_reads(files, query, said):
    folder, _ = files
    before = sorted(folder.iterdir())
    with pytest.raises(TableError) as error:
        cr.read(query.format(t=folder / "a.parquet", out=folder / "evil.csv"))
    assert said in str(error.value)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    "query",
    [
        "from '{t}' select smoker;",
        "with recursive r as (select 1 as n union all select n + 1 from r where n < 3) "
        "select smoker, n from '{t}', r",
        "select smoker, (select max(age) from '{t}') - age as younger from '{t}' union all "
        "from '{t}' select smoker, age",
        "from '{t}' pivot (count(*) for year in (2020, 2021)) ",
        "with m as materialized (from '{t}') from m semi join (select 2020 as year) using (year)",
    ],
)
def test_every_form_of_a_select_is_taken(files, query):
    folder, _ = files
    assert len(cr.read(query.format(t=folder / "a.parquet"))) > 0


# --- DuckDB's own files ---


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.sql(
            "create table visits as select i % 3 as n, i % 2 = 0 as b from range(90) t(i)"
        )
    return path


def with_more(path):
    with duckdb.connect(str(path)) as connection:
        connection.sql("create view even as select n from visits where b")
        connection.sql('create schema s; create table s."odd ""name" as select \'x\' as u')
    return path


def test_the_only_table_is_read(shop):
    table = cr.read(shop)
    with duckdb.connect(str(shop), read_only=True) as connection:
        expected = cr.read(connection.table("visits"))
        assert table.schema.variables == expected.schema.variables and len(table) == 90
        assert table.tally([("b", ["n"])]) == expected.tally([("b", ["n"])])
    stream = cr.read(str(shop), memory=100)
    assert str(stream) == "shop.duckdb, visits: 90 rows, read batch by batch"
    assert stream.tally([("b", ["n"])]) == table.tally([("b", ["n"])])
    assert len(cr.read([shop, shop])) == 180


def test_a_table_or_view_is_named(shop):
    assert len(cr.read(f"{shop}/visits")) == 90
    with_more(shop)
    assert len(cr.read(f"{shop}/even")) == 45
    assert cr.read(f'{shop}/s.odd "name', schema={"u": "discrete"}).schema.names == ("u",)
    with pytest.raises(TableError, match=r"has 3 tables: even, visits, s.odd") as error:
        cr.read(shop)
    assert error.value.hint == f"Name one: {shop}/even"
    with pytest.raises(UnknownNameError, match=r"Table 'visit' is not in shop.duckdb.*'visits'"):
        cr.read(f"{shop}/visit")


def test_what_cannot_be_read(shop, tmp_path):
    with pytest.raises(InputError, match=r"shop\.duckdb is none"):
        cr.read(shop, delimiter=";")
    with pytest.raises(TableError, match="There is no file"):
        cr.read(tmp_path / "other.duckdb" / "visits")
    (tmp_path / "bad.duckdb").write_text("no database\n" * 100)
    with pytest.raises(TableError, match=r"DuckDB cannot open bad.duckdb: .*not a valid"):
        cr.read(tmp_path / "bad.duckdb")
    with duckdb.connect(str(tmp_path / "none.duckdb")):
        pass
    with pytest.raises(TableError, match=r"none.duckdb has no tables\."):
        cr.read(tmp_path / "none.duckdb")
    with duckdb.connect(str(shop)) as connection:
        connection.sql("create view late as select * from visits")
        connection.sql("drop table visits")
        with pytest.raises(TableError, match=r"cannot open shop\.duckdb") as error:
            cr.read(shop)
        assert "open elsewhere" in error.value.hint
    with pytest.raises(TableError, match="DuckDB cannot read 'late'"):
        cr.read(shop)


def test_nothing_is_written(shop):
    before = shop.read_bytes()
    cr.read(shop)
    assert shop.read_bytes() == before and [p.name for p in shop.parent.iterdir()] == [
        "shop.duckdb"
    ]
