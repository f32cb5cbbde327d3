"""What a first user tried and what came of it; every one of these was wrong once."""

import copy
import json
import pickle

import duckdb
import numpy as np
import polars as pl
import pytest

import credo as cr
from credo.errors import InputError, TableError


def test_a_text_is_one_missing_token_and_no_list_of_names(put):
    path = put("x,y\nNA,1\n2,2\nNA,1\n3,2\n")
    assert cr.read(path, missing="NA").schema.column("x").missing == 2
    with pytest.raises(InputError, match="columns= must be a list of names, got 'ab'"):
        cr.read(path, columns="ab")
    with pytest.raises(InputError, match="missing= must be a list of cells, got 5"):
        cr.read(path, missing=5)


def test_everything_that_holds_data_can_be_pickled_and_copied():
    table = cr.read({"a": ["x", "y", "x"], "b": [0.5, 1.5, 2.5]}, weights=[1, 2, 1])
    tally = table.tally(["a", ("b", ["a"])])
    for value in (table.schema, tally, tally["a"], tally["b", ["a"]], table.select(["a"]).unique()):
        again = pickle.loads(pickle.dumps(value))
        assert again == value and copy.deepcopy(value) == value
    again = pickle.loads(pickle.dumps(table))
    assert again.tally(["a"]) == table.tally(["a"]) and again.schema == table.schema
    families = cr.Families.of([("a", ["b"])])
    assert pickle.loads(pickle.dumps(families)) == families
    with pytest.raises(TypeError, match="pickle the path"):
        pickle.dumps(cr.read(cr.examples.path("pneumonia"), memory=1))


def test_no_families_and_sums_of_tallies():
    table = cr.examples.pneumonia()
    stream = cr.read(cr.examples.path("pneumonia"), memory=1)
    assert len(stream.tally([])) == 0 and stream.tally([]) == table.tally([])
    one = table.tally(["Fev"])
    assert sum([one, one, one]) == one + one + one
    assert sum([one["Fev"], one["Fev"]]) == one["Fev"] + one["Fev"]
    rows = table.unique()
    assert sum([rows, rows]) == rows + rows


def test_moments_merge_to_the_last_bit():
    rng = np.random.default_rng(0)
    g, h = rng.integers(0, 3, 300), rng.integers(0, 2, 300)
    table = cr.read({"x": rng.normal(size=300), "g": g, "h": h})
    parts = [table.take(slice(a, a + 100)).tally([("x", ["g"]), "g"]) for a in (0, 100, 200)]
    assert sum(parts) == table.tally([("x", ["g"]), "g"])
    assert not parts[0].close_to(parts[1]) and not parts[0].close_to(3)
    m = table.tally([("x", ["g"])])["x", ["g"]]
    assert m[1] == m[{"g": 1}]
    with pytest.raises(InputError, match="Expected 2 labels"):
        table.tally([("x", ["g", "h"])])["x", ["g", "h"]][1]


@pytest.mark.parametrize("rows", [0, [0, 9], "a", None, [True, False], 5])
def test_rows_that_cannot_be_taken(rows):
    with pytest.raises(InputError, match="Rows are taken by a slice, a mask of 3"):
        cr.read({"a": [0, 1, 0]}).take(rows)


def test_numbers_with_one_odd_cell_are_no_identifier(tmp_path):
    path = tmp_path / "t.csv"
    numbers = [f"{i / 7:.4f}" for i in range(1000)] + ["nan"]
    path.write_text("x,y\n" + "".join(f"{x},{i % 2}\n" for i, x in enumerate(numbers)))
    with pytest.warns(cr.errors.CredoWarning, match="row 1001 holds 'nan', which is not a number"):
        assert cr.read(path).schema.column("x").kind == "doubtful"
    prices = [f"${i},{i:03d}" for i in range(1, 100)]
    path.write_text("x;y\n" + "".join(f"{x};{i % 2}\n" for i, x in enumerate(prices)))
    with pytest.warns(cr.errors.CredoWarning, match=r"'\$1,001', which is not a number"):
        cr.read(path)


def test_other_words_for_missing_and_odd_cells_are_noticed(put):
    path = put("a,b,c\nNone,2024-01-02,yes\nx,2024-13-01,1\n-,02.01.2024,no\nx,2024-01-05,0\n")
    text = str(cr.read(path).schema)
    assert "'None', which is kept as a state; name it in missing= if it is missing" in text
    assert "'2024-13-01', which is not a date" in text
    assert "'02.01.2024', which is written in another way than other dates" in text
    assert "'0, 1, no, yes' are kept apart as states" in text


def test_clock_times_are_set_aside(put):
    path = put("t,y\n" + "".join(f"{i // 60}:{i % 60:02d},{i % 2}\n" for i in range(300)))
    assert cr.read(path).schema.column("t").kind == "date"


def test_a_long_cell_is_not_called_an_open_quote(put):
    path = put("a,b\n" + "x" * 9_000_000 + ",1\ny,2\n")
    with pytest.raises(TableError, match=r"Line 2 of t.csv is longer than 4 MiB"):
        cr.read(path)


def test_what_engines_say_is_told_in_one_sentence():
    broken = (
        pl.LazyFrame({"a": [1]}).select(pl.col("a"), pl.lit(1).alias("b")).filter(pl.col("zzz") > 1)
    )
    with pytest.raises(TableError, match="cannot be read"):
        cr.read(broken)
    con = duckdb.connect()
    with pytest.raises(TableError, match="cannot be read"):
        cr.read(
            con.sql("select case when i > 1 then error('boom') else i end as a from range(5) t(i)")
        )
    with pytest.raises(TableError, match=r"Column 'a' holds a text that is not whole Unicode"):
        cr.read({"a": ["\ud800", "x", "x"], "b": [0, 1, 0]})
    with pytest.raises(TableError, match="There is no file"):
        cr.read("a" * 10_000)
    with pytest.raises(TableError, match="The path is empty"):
        cr.read("")
    with pytest.raises(InputError, match="must be a sequence of cells, got a set"):
        cr.read({"a": {1, 2}, "b": [1, 2]})


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda t: cr.read({"a": [1]}, memory=[]), "memory must be more than 0"),
        (lambda t: cr.read({"a": [1]}, memory="0"), "memory must be more than 0"),
        (lambda t: cr.read({"a": [1]}, delimiter=";"), "are for text files"),
        (lambda t: cr.read(cr.examples.path("pneumonia"), delimiter="\n"), "one character"),
        (lambda t: t.tally(threads=1.5), "threads must be a whole number"),
        (lambda t: t.tally(threads=-1), "threads must be a whole number"),
        (lambda t: t.schema[["a"]], "is not in the table"),
        (lambda t: t.values(["a"]), "is not in the table"),
        (lambda t: t.select(None), "list of variable names"),
        (lambda t: t.tally(["a"])["a"].marginal(None), "list of names is needed"),
        (lambda t: t.unique().counts(None), "list of names is needed"),
        (lambda t: cr.Variable("a", "discrete", None), "must be a list"),
        (lambda t: cr.Variable("a", "discrete", "abc"), "must be a list"),
        (lambda t: cr.Schema(None), "made of variables"),
        (lambda t: cr.Schema(["a"]), "made of variables"),
        (lambda t: cr.Counts(None, [1]), "must be variables"),
        (lambda t: cr.Counts((t.schema["a"],), ["x", "y"]), "must be numbers"),
        (lambda t: cr.Counts((t.schema["a"],), [1, 2], None, "x"), "skipped weight"),
    ],
)
def test_wrong_arguments_are_refused_in_our_words(call, text):
    with pytest.raises(cr.errors.CredoError, match=text):
        call(cr.read({"a": ["x", "y", "x"]}))


def test_reprs_and_prints_are_short():
    rng = np.random.default_rng(0)
    table = cr.read({f"v{i}": rng.integers(0, 2, 50) for i in range(30)})
    assert len(repr(table.schema)) < 120
    names = table.schema.names
    tally = table.tally([(a, [b]) for a in names for b in names if a != b])
    assert "… 850 more families" in str(tally) and len(str(tally)) < 4000
    stream = cr.read(cr.examples.path("pneumonia"), memory=1)
    assert repr(stream) == "Stream(pneumonia.csv, 12 rows, 5 variables)"
    assert json.dumps(str(table.schema))
