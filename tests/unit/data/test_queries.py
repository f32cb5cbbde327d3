"""Queries over files, which DuckDB runs."""

import subprocess
import sys

import pandas as pd
import pytest

import credo as cr
from credo.errors import TableError
from credo.estimators import NaiveBayes


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
