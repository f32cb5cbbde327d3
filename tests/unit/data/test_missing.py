"""What is missing, and what a row weighs: words, masks, weights."""

import datetime as dt
import json
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import credo as cr
from credo.cli import app
from credo.errors import CredoWarning, InputError, TableError
from credo.estimators import GaussianMixture, LatentClasses, NaiveBayes, NetworkClassifier

# --- What `missing=` means, over every kind of table: cells that equal a word of it; in a text
#     file, cells that are written so, and every way to write a number or a boolean ---


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


# --- What a mask hides is missing at every door that takes arrays, whatever lies under it ---


GONE = [(3, 1), (40, 0)]
CLASS = np.repeat([0, 1], 30)


def plain():
    rng = np.random.default_rng(0)
    return np.r_[rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 6]


def with_nan():
    x = plain()
    for cell in GONE:
        x[cell] = np.nan
    return x


def masked():
    x = np.ma.masked_array(plain(), mask=False)
    for cell in GONE:
        x[cell] = 999.0
        x[cell] = np.ma.masked
    assert 999.0 in x.data
    return x


def columns(x):
    return {"a": x[:, 0], "b": x[:, 1]}


WHOLE = columns(plain())
LEARNED = {
    "cluster": lambda x: cr.cluster(x, k=2).labels,
    "cluster, named": lambda x: cr.cluster(x, k=2, columns=["p", "q"]).labels,
    "cluster, gaussian": lambda x: cr.cluster(x, "gaussian", k=2).membership,
    "which_k": lambda x: cr.which_k(x).k,
    "gaussian_mixture": lambda x: cr.mixture(x, 1).gaussians.means,
    "latent_classes": lambda x: cr.mixture(x, 2).gaussians.means,
    "GaussianMixture": lambda x: GaussianMixture(2, random_state=0).fit(x).means_,
    "LatentClasses": lambda x: LatentClasses(2, random_state=0).fit(x).predict_proba(plain()),
    "NaiveBayes": lambda x: NaiveBayes().fit(x, CLASS).predict_proba(plain()),
    "NaiveBayes, in parts": lambda x: NaiveBayes().partial_fit(x, CLASS).predict_proba(plain()),
    "NaiveBayes, weighted": lambda x: (
        NaiveBayes().fit(x, CLASS, CLASS + np.arange(60) % 2).predict_proba(plain())
    ),
    "NetworkClassifier": lambda x: NetworkClassifier().fit(x, CLASS).predict_proba(plain()),
}
BY_NAME = {
    "gaussian_mixture": lambda x: cr.mixture(x, 1).gaussians.means,
    "GaussianMixture": lambda x: GaussianMixture(2, random_state=0).fit(x).means_,
    "LatentClasses": lambda x: LatentClasses(2, random_state=0).fit(x).predict_proba(WHOLE),
    "NaiveBayes": lambda x: NaiveBayes().fit(x, CLASS).predict_proba(WHOLE),
    "NetworkClassifier": lambda x: NetworkClassifier().fit(x, CLASS).predict_proba(WHOLE),
}


@pytest.mark.parametrize("door", LEARNED)
def test_learning_from_an_array(door):
    np.testing.assert_array_equal(LEARNED[door](masked()), LEARNED[door](with_nan()))


@pytest.mark.parametrize("door", BY_NAME)
def test_learning_from_columns(door):
    np.testing.assert_array_equal(
        BY_NAME[door](columns(masked())), BY_NAME[door](columns(with_nan()))
    )


@pytest.mark.parametrize("model", [NaiveBayes, NetworkClassifier, GaussianMixture, LatentClasses])
def test_answers(model):
    made = model(2, random_state=0) if model in (GaussianMixture, LatentClasses) else model()
    asked = [(plain(), masked(), with_nan()), (WHOLE, columns(masked()), columns(with_nan()))]
    for rows, hidden, gone in asked:
        fitted = made.fit(rows, CLASS)
        np.testing.assert_array_equal(fitted.predict_proba(hidden), fitted.predict_proba(gone))
    lists = made.fit(plain(), CLASS).predict_proba(list(masked()))
    np.testing.assert_array_equal(lists, made.predict_proba(with_nan()))


def test_answers_of_models():
    mixture, named = cr.mixture(plain(), 2), cr.mixture(WHOLE, 2)
    bayes = cr.naive_bayes(WHOLE | {"y": [str(c) for c in CLASS]}, "y")
    groups = cr.cluster(plain(), k=2)
    for ask in (mixture.responsibilities, mixture.log_likelihood, groups.assign):
        np.testing.assert_array_equal(ask(masked()), ask(with_nan()))
    for ask in (named.responsibilities, bayes.predict_proba):
        np.testing.assert_array_equal(ask(columns(masked())), ask(columns(with_nan())))


def test_whole_numbers_and_states():
    x = np.ma.masked_array([[1, 2], [1, 3], [8, 2], [9, 999]], mask=False)
    x[3, 1] = np.ma.masked
    found = cr.mixture(x, 1, covariance="diagonal")
    assert found.gaussians.means.round(9).tolist() == [[4.75, 2.333333333]]
    assert GaussianMixture(1, covariance_type="diag").fit(x).means_.shape == (1, 2)
    s = np.ma.masked_array(np.array(["u", "v", "u", "?"]), mask=[0, 0, 0, 1])
    model = NaiveBayes().fit({"s": s}, [0, 1, 0, 1])
    np.testing.assert_array_equal(
        model.predict_proba({"s": s}), model.predict_proba({"s": ["u", "v", "u", None]})
    )


def test_masked_weights_and_centres_are_refused():
    w = np.ma.masked_array(np.ones(60), mask=False)
    w[5] = np.ma.masked
    for model in (GaussianMixture(1), NaiveBayes(), NetworkClassifier()):
        with pytest.raises(InputError, match="sample_weight contains NaN"):
            model.fit(plain(), CLASS, sample_weight=w)
    with pytest.raises(InputError, match="start must be 2 centres"):
        cr.cluster(
            plain(), k=2, start=np.ma.masked_array([[0.0, 0], [6, 6]], mask=[[0, 0], [0, 1]])
        )


def test_a_masked_class_is_a_missing_class():
    y = np.ma.masked_array(CLASS, mask=False)
    y[7] = np.ma.masked
    gone = [None if i == 7 else int(c) for i, c in enumerate(CLASS)]
    found = []
    for labels in (y, gone):
        with pytest.warns(CredoWarning, match="1 rows without a class were left out"):
            found.append(NaiveBayes().fit(plain(), labels).predict_proba(plain()))
    np.testing.assert_array_equal(*found)


# --- Weights are numbers, in whatever form they come; what could be taken for one is refused ---


NO_NUMBERS = {
    "dates": [dt.date(2020, 1, 1), dt.date(2020, 1, 2)],
    "datetimes": [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)],
    "times": [dt.time(6), dt.time(12)],
    "durations": [dt.timedelta(1), dt.timedelta(2)],
    "pandas durations": pd.to_timedelta([1, 2]),
    "NumPy dates": np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
    "bytes": [b"1", b"2"],
    "an array of bytes": np.array([b"1", b"2"]),
    "texts": ["1", "2"],
    "an array of texts": np.array(["1", "2"]),
    "a text among numbers": [1, "2"],
    "categories": pd.Categorical(["1", "2"]),
    "complex numbers": [1 + 0j, 2 + 0j],
    "an array of complex numbers": np.array([1 + 0j, 2 + 0j]),
    "lists": [[1, 2], [3]],
    "polars dates": pl.Series([dt.date(2020, 1, 1), dt.date(2020, 1, 2)]),
    "Arrow texts": pa.array(["1", "2"]),
}


@pytest.mark.parametrize("memory", [None, 1])
@pytest.mark.parametrize("cells", NO_NUMBERS.values(), ids=NO_NUMBERS.keys())
def test_what_is_no_number_is_no_weight_in_any_form(cells, memory):
    with pytest.raises(InputError, match="weights must be"):
        cr.read({"a": ["x", "y"]}, weights=cells, memory=memory)
    with pytest.raises(TableError, match=r"weights must be numbers|A weight is a number"):
        cr.read({"a": ["x", "y"], "w": cells}, weights="w", memory=memory)


@pytest.mark.parametrize(
    "cells",
    [
        [2, 0.5],
        [Decimal("2"), Decimal("0.5")],
        [Fraction(2), Fraction(1, 2)],
        [2, Decimal("0.5")],
        np.array([2, 0.5], dtype=np.float32),
        np.array([2, 0.5], dtype=object),
        np.ma.array([2, 0.5], mask=[0, 0]),
        pd.Series([2, 0.5], dtype="Float64"),
        pd.Categorical([2.0, 0.5]),
        pl.Series([2.0, 0.5]),
        pa.chunked_array([[2.0], [0.5]]),
    ],
)
def test_numbers_of_every_type_are_weights(cells):
    table = {"a": ["x", "y"]}
    assert cr.read(table, weights=cells).weights.tolist() == [2, 0.5]
    assert cr.read(table | {"w": cells}, weights="w").weights.tolist() == [2, 0.5]


def test_the_texts_of_a_text_file_and_booleans_are_weights(put):
    path = put("a,w\nx,2\ny,0.5\nx,1\n")
    assert cr.read(path, weights="w").weights.tolist() == [2, 0.5, 1]
    truths = [True, False, True]
    for cells in (truths, np.array(truths), pa.array(truths)):
        table = {"a": ["x", "y", "z"], "w": cells}
        assert cr.read(table, weights="w").weights.tolist() == [1, 1]
        assert cr.read({"a": ["x", "y", "z"]}, weights=cells).weights.tolist() == [1, 1]


def test_weights_beyond_all_numbers_and_none_at_all_are_told():
    with pytest.raises(TableError, match="Row 2 of the weights is inf"):
        cr.read({"a": ["x", "y"]}, weights=[1, float("inf")])
    with pytest.raises(TableError, match="Row 1 of the weights column 'w' is missing"):
        cr.read({"a": ["x", "y"], "w": [None, None]}, weights="w")
