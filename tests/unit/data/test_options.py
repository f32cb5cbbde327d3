"""What the options of reading mean: words for missing, decimal commas, options that do not apply."""

import pickle
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import credo as cr
from credo.cli import app
from credo.errors import CredoWarning, InputError, SchemaError, TableError

SURVEY = "a,b\n,u\nNone,v\nx,u\ny,v\nNA,u\n"


@pytest.mark.parametrize(
    ("missing", "states"),
    [
        (None, ("None", "x", "y")),
        ("None", ("NA", "x", "y")),
        (["NA", "None"], ("x", "y")),
        ([], ("", "NA", "None", "x", "y")),
    ],
)
def test_an_empty_cell_stays_missing_unless_the_list_is_empty(put, missing, states):
    path = put(SURVEY)
    assert cr.read(path, missing=missing).schema["a"].states == states
    stream = cr.read(path, missing=missing, memory="1B")
    assert stream.schema["a"].states == states and stream.load().rows == 5


def test_the_advice_on_a_word_for_missing_can_be_followed(put):
    path = put(SURVEY)
    note = cr.read(path).schema.column("a").notes[0]
    assert "missing=['NA', 'NaN', 'null', '?', 'None'] keeps the usual words" in note
    words = ["NA", "NaN", "null", "?", "None"]
    assert cr.read(path, missing=words).schema["a"].states == ("x", "y")
    said = CliRunner().invoke(app, ["schema", str(path)]).output
    assert "--missing '+None'" in " ".join(said.split())
    done = CliRunner().invoke(app, ["schema", str(path), "--missing", "+None", "--json"])
    assert '"x",\n        "y"' in done.output and '"None",' not in done.output


def test_words_by_column_are_refused(put):
    for given in ({"a": [1]}, 5, b"NA"):
        with pytest.raises(InputError, match="missing= must be a list of cells"):
            cr.read(put(SURVEY), missing=given)


# --- decimal commas -------------------------------------------------------------------------

GERMAN = "size;weight;sex\n1,72;68,8;m\n1,80;90;f\n1,65;55,5;f\n1,72;70,2;m\n"


def test_a_decimal_comma_is_named_and_read(put):
    path = put(GERMAN)
    with pytest.warns(CredoWarning) as told:
        table = cr.read(path)
    assert [str(w.message) for w in told] == [
        f"Column {name!r} was set aside: its numbers have a decimal comma (such as {cell!r}); "
        "read the file with decimal=','."
        for name, cell in (("size", "1,65"), ("weight", "55,5"))
    ]
    assert table.schema.names == ("sex",)
    assert {table.schema.column(n).kind for n in ("size", "weight")} == {"doubtful"}
    for memory in (None, "1B"):
        table = cr.read(path, decimal=",", memory=memory)
        assert table.schema.continuous == ("size", "weight")
    table = cr.read(path, decimal=",")
    assert table.values("size").tolist() == [1.72, 1.80, 1.65, 1.72]
    assert table.values("weight").tolist() == [68.8, 90, 55.5, 70.2]
    done = CliRunner().invoke(app, ["schema", str(path), "--decimal", ",", "--json"])
    assert done.exit_code == 0 and '"kind": "doubtful"' not in done.output
    with pytest.raises(TableError, match="read it with decimal=','"):
        cr.read(path, {"size": "continuous", "weight": "drop"})


def test_many_decimal_commas_are_read_as_points_would_be(put):
    x = np.random.default_rng(0).normal(size=30_000).round(6)
    rows = [f"{v};{i % 2}" for i, v in enumerate(x)]
    points = cr.read(put("x;y\n" + "\n".join(rows) + "\n", "p.csv"))
    path = put("x;y\n" + "\n".join(rows).replace(".", ",") + "\n")
    assert cr.read(path, decimal=",").values("x").tolist() == points.values("x").tolist()
    with pytest.warns(CredoWarning, match="its numbers have a decimal comma"):
        cr.read(path)


def test_a_point_in_a_file_of_commas_is_refused(put):
    with pytest.raises(TableError, match=r"Row 2 of column 'x' of t.csv holds '1.234', a number"):
        cr.read(put("x;y\n1,5;a\n1.234;b\n"), decimal=",")
    with pytest.raises(InputError, match="decimal must be"):
        cr.read(put("x\n1\n"), decimal=";")
    with pytest.raises(InputError, match="cannot both be ','"):
        cr.read(put("x\n1\n"), decimal=",", delimiter=",")


# --- options for other files ----------------------------------------------------------------


@pytest.mark.parametrize(
    "option", [{"delimiter": ";"}, {"ragged": "skip"}, {"columns": ["a"]}, {"decimal": ","}]
)
def test_options_of_text_files_are_refused_for_others(tmp_path, put, option):
    pq.write_table(pa.table({"a": ["x", "y"]}), tmp_path / "t.parquet")
    for path in (tmp_path / "t.parquet", put('{"a": 1}\n{"a": 2}\n', "t.jsonl")):
        with pytest.raises(InputError, match=f"{next(iter(option))}= says how .* {path.name} is"):
            cr.read(path, **option)
    with pytest.raises(InputError, match="a query is none"):
        cr.read(f"select * from '{tmp_path}/t.parquet'", **option)


# --- one right sentence for each ------------------------------------------------------------


def test_columns_that_are_too_few_name_the_right_cure(put):
    with pytest.raises(TableError, match=r"has 2 cells, but columns= has 1 name\. Give columns= a"):
        cr.read(put("1,2\n3,4\n"), columns=["a"])


def test_an_encoding_that_is_not_the_files(put):
    for encoding in ("utf-16", "utf-32"):
        with pytest.raises(TableError, match=rf"t\.csv is not {encoding} text"):
            cr.read(put("a,b\n1,x\n2,y\n"), encoding=encoding)


def test_memory_is_a_number_of_bytes(put):
    for given in (True, "lots", [1]):
        with pytest.raises(InputError, match=r"memory must be .* a text like '2GB'"):
            cr.read(put(SURVEY), memory=given)


def test_a_stream_says_that_it_cannot_be_pickled(put):
    with pytest.raises(InputError, match="cannot be pickled; pickle the path"):
        pickle.dumps(cr.read(put(SURVEY), memory="1B"))


# --- cells of other types -------------------------------------------------------------------


def test_bytes_are_states_when_asked_for(tmp_path):
    table = pa.table({"d": [b"ab", b"cd", None, b"ab"], "y": ["u", "v", "u", "v"]})
    pq.write_table(table, tmp_path / "t.parquet")
    for given in (table, tmp_path / "t.parquet"):
        assert cr.read(given).schema.set_aside == {"d": "cells of type binary"}
        with pytest.raises(
            SchemaError, match=r"schema=\{'d': 'discrete'\} to use its bytes as states"
        ):
            cr.read(given).schema["d"]
        for memory in (None, "1B"):
            read = cr.read(given, {"d": "discrete"}, memory=memory)
            assert read.schema["d"].states == (b"ab", b"cd")
            assert read.schema["d"].code("cd") == 1
            texts = cr.read(given, {"d": ["cd", "ab"]}, memory=memory)
            assert texts.tally(["d"])["d"].values.tolist() == [1, 2]
            assert read.tally(["d"])["d"].values.tolist() == [2, 1]
        with pytest.raises(TableError, match="which cannot be continuous"):
            cr.read(given, {"d": "continuous"})
    odd = cr.read({"d": [b"a", b"\xff"]}, {"d": "discrete"})
    assert odd.values("d").tolist() == [b"a", b"\xff"]


def test_uuids_are_states(tmp_path):
    ids = [uuid.UUID(int=i % 2) for i in range(6)]
    table = cr.read({"d": ids, "y": list("uvuvuu")})
    assert table.schema["d"].states == tuple(ids[:2])
    assert table.schema["d"].code(str(ids[1])) == 1
    many = cr.read({"d": [uuid.UUID(int=i) for i in range(40)], "y": list("uv") * 20})
    assert many.schema.column("d").kind == "identifier"


def test_lists_have_one_cure():
    table = {"d": [[1, 2], [3], [1, 2]], "y": ["u", "v", "u"]}
    with pytest.raises(SchemaError, match="Make columns of single values of it before reading"):
        cr.read(table).schema["d"]
    for kind in ("discrete", "continuous"):
        with pytest.raises(TableError, match=r"Row 1 of column 'd' holds \[1, 2\], which"):
            cr.read(table, {"d": kind})


def test_states_from_an_array_are_those_of_python():
    table = {"a": ["x", "y", "x"], "n": [1, 2, 1]}
    schema = cr.read(table, {"a": np.array(["y", "x"]), "n": np.array([2, 1])}).schema
    states = schema["a"].states + schema["n"].states
    assert states == ("y", "x", 2, 1) and [type(s) for s in states] == [str, str, int, int]


def test_a_word_for_missing_in_the_weights_is_a_missing_weight(put):
    path = put("a,w\nx,1\ny,NA\n")
    with pytest.raises(TableError, match="Row 2 of the weights column 'w' is missing"):
        cr.read(path, weights="w")


@pytest.mark.parametrize(
    ("word", "meant"), [("categorical", "discrete"), ("Numeric", "continuous"), ("skip", "drop")]
)
def test_a_kind_as_other_libraries_call_it_is_told_ours(word, meant):
    with pytest.raises(cr.errors.SchemaError, match=f"Did you mean '{meant}'"):
        cr.read({"a": [1, 2]}, {"a": word})


# --- words that are none --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("rot13", "The encoding 'rot13' is none of text files. Try 'utf-8'"),
        ("base64", "The encoding 'base64' is none of text files"),
        ("idna", "The encoding 'idna' is none of text files"),
        ("undefined", "The encoding 'undefined' is none of text files"),
        ("utf-9", "The encoding 'utf-9' is not known"),
        ("a\0b", "is not known"),
        (8, "The encoding 8 is not known"),
    ],
)
def test_an_encoding_that_is_none_is_refused_by_its_name(put, encoding, told):
    for path in (put(SURVEY), put('{"a": 1}\n{"a": 2}\n', "t.jsonl")):
        with pytest.raises(InputError, match=told):
            cr.read(path, encoding=encoding)


def test_a_delimiter_is_an_ascii_character(put):
    for delimiter in ("¦", ";;", ""):
        with pytest.raises(
            InputError, match="must be one character of ASCII, such as ',' or ';', got"
        ):
            cr.read(put(SURVEY), delimiter=delimiter)


def test_a_link_that_leads_nowhere_is_told(tmp_path):
    loop, broken = tmp_path / "loop.csv", tmp_path / "broken.csv"
    loop.symlink_to("loop.csv")
    broken.symlink_to("gone.csv")
    with pytest.raises(TableError, match=r"loop\.csv is a link that leads nowhere\.$"):
        cr.read(loop)
    with pytest.raises(TableError, match=r"broken\.csv is a link that leads nowhere"):
        cr.read(broken)


def test_half_a_character_is_no_name_of_a_column(put):
    told = r"Column 2 of .* has a name that is no text: 'b\\ud800' holds half of a character"
    bad = "b\ud800"
    line = '{"a": "x", "b\\ud800": 1}\n'
    tables = (
        {"a": ["x", "y"], bad: [1, 2]},
        [{"a": "x", bad: 1}, {"a": "y", bad: 2}],
        pd.DataFrame([["x", 1], ["y", 2]], columns=pd.Index(["a", bad], dtype=object)),
        put(line * 2, "t.jsonl"),
    )
    for table in tables:
        with pytest.raises(TableError, match=told):
            cr.read(table)
    assert cr.read({"a": ["x", "y"], "😀": [1, 2]}).schema.names == ("a", "😀")
