"""Naive Bayes and network classifiers as SQL, run in DuckDB: equal to predict_proba."""

import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import pytest

import credo as cr
from credo.estimators import NaiveBayes, NetworkClassifier

pytestmark = pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")


def answers(text, rows):
    con = duckdb.connect()
    con.register("rows", rows)
    found = con.execute(text).fetchall()
    return np.array([[np.nan if v is None else v for v in row] for row in found], float)


def same(model, rows):
    got = answers(model.to_sql("duckdb"), rows)
    np.testing.assert_allclose(got, model.predict_proba(rows), atol=1e-9)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    rows = pd.DataFrame({
        "colour": rng.choice(["red", "blue", "it's"], 400),
        "Größe (cm)": rng.normal(y, 1.0),
        "select": rng.gamma(1 + y),
        "n": rng.integers(1, 5, 400) + (y == 2),
        "flag": rng.random(400) < 0.2 + 0.2 * y,
        "day": rng.choice(np.array([dt.date(2024, 2, 29), dt.date(2025, 1, 1)], object), 400),
    })  # fmt: skip
    rows = rows.mask(rng.random(rows.shape) < 0.15)
    rows["n"], rows["flag"] = rows["n"].astype("Int64"), rows["flag"].astype("boolean")
    return rows.drop(columns="day"), np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize(
    "how",
    [
        {}, {"numbers": "gaussian"}, {"numbers": "binned"}, {"covariance": "full",
        "numbers": "gaussian"}, {"unseen": "smooth"}, {"class_prior": [0.2, 0.3, 0.5]},
        {"kinds": {"n": "bernoulli"}}, {"kinds": {"n": "counts"}}, {"min_states": {"colour": 9}},
    ],
    ids=str,
)  # fmt: skip
def test_naive_bayes_of_every_kind(frame, how):
    rows, y = frame
    model = NaiveBayes(**how).fit(rows, y)
    same(model, rows)
    new = rows[:20].copy()
    new.loc[:9, "colour"] = "green"
    same(model, new)
    some = ["colour", "n"]
    got = answers(model.to_sql("duckdb", columns=some), rows[some])
    np.testing.assert_allclose(got, model.model_.predict_proba(rows[some]), atol=1e-9)


@pytest.mark.parametrize(
    "how", [{}, {"bins": None}, {"bins": 3}, {"method": "naive-bayes"}], ids=str
)
def test_tan(frame, how):
    rows, y = frame
    model = NetworkClassifier(**how).fit(rows, y)
    same(model, rows)
    new = rows[:20].copy()
    new.loc[:9, "colour"] = "green"  # taken as missing
    same(model, new)


def test_an_unseen_state_that_is_an_error_is_null(frame):
    rows, y = frame
    new = rows[:2].copy()
    new["colour"] = ["green", None]
    for model in (NaiveBayes(unseen="error").fit(rows, y),
                  NetworkClassifier(unseen="error").fit(rows, y)):  # fmt: skip
        got = answers(model.to_sql("duckdb"), new)
        assert np.isnan(got[0]).all()
        np.testing.assert_allclose(got[1:], model.predict_proba(new[1:]), atol=1e-9)


def test_more_numbers_together_than_are_listed():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    rows = pd.DataFrame(rng.normal(size=(300, 5)) + y[:, None] * 0.5, columns=list("abcde"))
    model = NaiveBayes(numbers="gaussian", covariance="full").fit(rows, y)
    same(model, rows)
    rows.loc[0, "a"] = np.nan
    rows.loc[1] = np.nan
    got = answers(model.to_sql("duckdb"), rows)
    assert np.isnan(got[0]).all() and not np.isnan(got[1:]).any()
    np.testing.assert_allclose(got[1:], model.predict_proba(rows)[1:], atol=1e-9)


def test_blocks_and_zeros():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (60, 4))
    y = rng.integers(0, 2, 60)
    model = NaiveBayes(smoothing=0).fit(X, y).model_
    same(model, pd.DataFrame(X, columns=["x0", "x1", "x2", "x3"]))
    model = cr.naive_bayes({"x": ["a", "a", "b", "c"], "y": [0, 0, 1, 1]}, "y", smoothing=0)
    rows = pd.DataFrame({"x": ["a", "b", None]})
    assert answers(model.to_sql("duckdb"), rows).tolist() == [[1, 0], [0, 1], [0.5, 0.5]]


def test_dates_and_far_numbers():
    days = [dt.date(2024, 2, 29), dt.date(2025, 1, 1)] * 20
    y = [0, 1] * 18 + [1, 0] * 2
    x = list(np.linspace(0, 1, 40))
    table = cr.read({"day": days, "x": x, "y": y}, schema={"day": "discrete", "y": "discrete"})
    model = cr.naive_bayes(table, "y", numbers="gaussian")
    rows = pd.DataFrame({"day": [days[0], days[1], None], "x": [1e200, -1e200, 0.3]})
    con = duckdb.connect()
    con.execute("CREATE TABLE rows (day DATE, x DOUBLE)")
    con.executemany("INSERT INTO rows VALUES (?, ?)", [(d, x) for d, x in zip(rows["day"], rows["x"], strict=True)])  # fmt: skip
    got = np.array(con.execute(model.to_sql("duckdb")).fetchall())
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got[2], model.predict_proba(rows)[2], atol=1e-9)


def test_refusals(frame):
    rows, y = frame
    model = NaiveBayes(kinds={"select": "kernel"}).fit(rows, y)
    with pytest.raises(cr.errors.InputError, match="'select' is a kernel density, with a bump"):
        model.to_sql("duckdb")
    small = rows[["colour", "flag"]]
    with pytest.raises(cr.errors.InputError, match="Aode is an average of networks"):
        NetworkClassifier("aode").fit(small, y).to_sql("duckdb")
    with pytest.raises(cr.errors.InputError, match="unseen='smooth' of a network has no short"):
        NetworkClassifier(unseen="smooth").fit(small, y).to_sql("duckdb")
    for model in (NaiveBayes().fit(small, y), NetworkClassifier().fit(small, y)):
        with pytest.raises(cr.errors.UnknownNameError, match="'z' is not the class of the model"):
            model.to_sql("duckdb", target="z")
        assert model.to_sql("duckdb", target="y") == model.to_sql("duckdb")
