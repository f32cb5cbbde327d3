"""What `missing=` means, over every kind of table: cells that equal a word of it; in a text file, cells
that are written so, and every way to write a number or a boolean."""

import datetime as dt
import json

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import credo as cr
from credo.cli import app

DAY = dt.date(1970, 1, 1)


def typed(cells, folder):
    """Tables whose cells have types."""
    other = [("u", "v")[i % 2] for i in range(len(cells))]
    arrow = pa.table({"x": cells, "o": other})
    pq.write_table(arrow, folder / "t.parquet")
    yield "dict", {"x": cells, "o": other}
    yield "records", [{"x": c, "o": o} for c, o in zip(cells, other, strict=True)]
    yield "objects", pd.DataFrame({"x": pd.Series(cells, dtype=object), "o": other})
    yield "pandas", pd.DataFrame({"x": cells, "o": other})
    yield "polars", pl.DataFrame({"x": cells, "o": other})
    yield "arrow", arrow
    yield "parquet", folder / "t.parquet"
    yield "duckdb", duckdb.from_arrow(arrow)
    if not isinstance(cells[0], dt.date):
        rows = [{"x": c, "o": o} for c, o in zip(cells, other, strict=True)]
        (folder / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
        yield "json", folder / "t.jsonl"


@pytest.mark.parametrize(
    ("cells", "word", "gone"),
    [
        ([True, False, True, False], True, 2),
        ([True, False, True, False], 1, 0),
        ([True, False, True, False], "True", 0),
        ([1, 2, 1, 3, 2, 2], 1, 2),
        ([1, 2, 1, 3, 2, 2], 1.0, 2),
        ([1, 2, 1, 3, 2, 2], True, 0),
        ([1, 2, 1, 3, 2, 2], "1", 0),
        ([1.5, -9.0, 2.5, -9.0], -9, 2),
        (["true", "b", "true", "c"], True, 0),
        (["1", "b", "1", "c"], 1, 0),
        (["1", "b", "1", "c"], "1", 2),
        ([DAY, dt.date(2020, 1, 1), DAY, dt.date(2021, 1, 1)], DAY, 2),
        ([DAY, dt.date(2020, 1, 1), DAY, dt.date(2021, 1, 1)], 0, 0),
    ],
    ids=repr,
)
def test_cells_with_types_are_missing_where_they_equal_a_word(cells, word, gone, tmp_path):
    for name, given in typed(cells, tmp_path):
        for kind in ("discrete", "continuous"):
            if kind == "continuous" and isinstance(cells[0], str):
                continue
            for memory in (None, "1B"):
                source = cr.read(given, {"x": kind}, missing=[word], memory=memory)
                assert source.schema.column("x").missing == gone, (name, kind, memory)


@pytest.mark.parametrize(
    ("cells", "word", "gone"),
    [
        (["true", "false", "TRUE", " True "], True, 3),
        (["true", "false", "TRUE", "false"], False, 2),
        (["true", "b", "true", "c"], True, 2),
        (["true", "false", "TRUE", "false"], "true", 1),
        (["1", "2", "1.0", "3"], 1, 2),
        (["1", "2", "1.0", "3"], "1", 1),
        (["1", "2", "1.0", "3"], True, 0),
        (["a", "b", " a", "c"], "a", 2),
        (["a", "b", " a", "c"], " a ", 2),
    ],
    ids=repr,
)
def test_cells_of_a_text_file_are_missing_where_they_are_written_so(put, cells, word, gone):
    path = put("x,o\n" + "".join(f"{c},{'uv'[i % 2]}\n" for i, c in enumerate(cells)))
    for memory in (None, "1B"):
        source = cr.read(path, {"x": "discrete"}, missing=[word], memory=memory)
        assert source.schema.column("x").missing == gone


def test_a_boolean_is_missing_in_a_text_column_of_numbers(put):
    path = put("x,o\n1.5,u\nTrue,v\n2.5,u\nfalse,v\n")
    table = cr.read(path, {"x": "continuous"}, missing=[True, False])
    assert table.schema.column("x").missing_as == {"True": 1, "false": 1}


def test_a_word_of_the_command_line_has_the_type_of_the_cells(tmp_path):
    path = tmp_path / "t.parquet"
    cells = {"n": [1.5, -9.0, 2.5, 3.5], "k": [1, -9, 2, 1], "t": ["a", "b", "a", "-9"]}
    pq.write_table(pa.table({**cells, "b": [True, False, None, False]}), path)
    words = ["--missing", "-9", "--missing", "TRUE"]
    done = CliRunner().invoke(app, ["schema", str(path), *words, "--json"])
    found = {c["name"]: c["missing"] for c in json.loads(done.stdout)["columns"]}
    assert found == {"n": 1, "k": 1, "t": 1, "b": 2}


REGIONS = "r,z\nNA,x\nEU,y\nUS,x\nNA,y\n?,x\n"


@pytest.mark.parametrize("memory", [None, "1B"])
def test_a_state_that_is_named_is_no_usual_word_for_missing(put, memory):
    path = put(REGIONS, "regions.csv")
    states = ["NA", "EU", "US", "?"]
    table = cr.read(path, schema={"r": states}, memory=memory)
    assert table.tally(["r"]).arrays()[0].tolist() == [2, 1, 1, 1]
    assert table.schema.column("r").missing == 0
    told = cr.read(path, schema={"r": states}, missing=["NA"], memory=memory)  # as the user says
    assert told.tally(["r"]).arrays()[0].tolist() == [0, 1, 1, 1]
    blank = put("r,z\n,x\nEU,y\nUS,x\n?,x\n", "blank.csv")
    empty = cr.read(blank, schema={"r": ["", "EU", "US"]}, memory=memory)
    assert empty.tally(["r"]).arrays()[0].tolist() == [1, 1, 1]
    assert empty.tally(["r"])["r"].skipped == 1


def test_a_models_own_states_are_no_words_for_missing(put):
    rows = {"r": ["NA", "EU", "US", "NA", "EU"], "z": list("xyxxy")}
    model = cr.fit("[r][z|r]", cr.read(rows), prior=cr.BDeu(1))
    path = put("r,z\nNA,\nEU,\n,\n", "new.csv")
    found = model.predict_proba(path, "z")
    assert found[0, 0] == pytest.approx(model.p("z", {"r": "NA"})["x"], rel=1e-12)
    assert found[2, 0] == pytest.approx(model.p("z")["x"], rel=1e-12)
    bayes = cr.naive_bayes(rows, "z")
    assert bayes.predict_proba(path)[0, 0] == bayes.predict_proba({"r": ["NA"]})[0, 0]


def test_states_written_on_the_command_line_are_no_words_for_missing(put):
    path = put(REGIONS, "regions.csv")
    done = CliRunner().invoke(app, ["schema", str(path), "--states", "r=NA,EU,US,?", "--json"])
    assert done.exit_code == 0
    found = json.loads(done.output)["variables"][0]
    assert found["states"] == ["NA", "EU", "US", "?"] and found["missing_rate"] == 0
