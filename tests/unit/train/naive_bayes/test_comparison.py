"""Comparing and calibrating: weights, small tables, and every kind of table."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import credo as cr
from credo.checking.sections.reliability import report_of
from credo.errors import CredoWarning, InputError
from credo.estimators import (
    NaiveBayes,
    NetworkClassifier,
    calibration_report,
    compare,
    learning_curves,
    recalibrated,
)
from credo.estimators.comparison import LinearGaussianTwin

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 200)
COLUMNS = {
    "a": np.where(RNG.random(200) < 0.3 + 0.4 * Y, "u", "v"),
    "n": RNG.normal(size=200) + Y,
    "k": RNG.integers(0, 3, 200),
}
W = RNG.integers(1, 4, 200)


def test_a_weighted_report_is_that_of_repeated_rows():
    for k in (2, 3):
        p = RNG.dirichlet(np.ones(k), 200)
        codes = RNG.integers(0, k, 200)
        many = np.repeat(np.arange(200), W)
        one, two = report_of(p, codes, weights=W), report_of(p[many], codes[many])
        for name in ("accuracy", "log_loss", "brier", "error", "slope"):
            assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-9)
        assert one.curve == pytest.approx(two.curve)


def test_weighted_twins_are_those_of_repeated_rows():
    x, many = RNG.normal(size=(200, 2)) + COLUMNS["n"][:, None], np.repeat(np.arange(200), W)
    y = COLUMNS["n"]
    one = LinearGaussianTwin().fit(x, y, W.astype(float))
    two = LinearGaussianTwin().fit(x[many], y[many], np.ones(len(many)))
    for a, b in zip(one.predict(x), two.predict(x), strict=True):
        assert a == pytest.approx(b)


def test_weights_count_for_a_continuous_target():
    table = cr.read(pd.DataFrame({"x": COLUMNS["n"], "z": COLUMNS["n"] + Y, "w": W}), weights="w")
    found = compare(table, "z", cv=4)["linear regression"]
    from credo.estimators.folds import folds_of

    x, z, w = COLUMNS["n"][:, None], COLUMNS["n"] + Y, W.astype(float)
    error = np.empty(200)
    for train, test in folds_of(None, 200, 4)[0]:
        model = LinearRegression().fit(x[train], z[train], sample_weight=w[train])
        error[test] = (z[test] - model.predict(x[test])) ** 2
    assert found["RMSE"] == pytest.approx(np.sqrt(np.average(error, weights=w)))


def test_weights_count_in_judging_classes():
    frame = pd.DataFrame(COLUMNS | {"y": Y, "w": np.where(Y == 1, 1, 50)})
    found = compare(cr.read(frame, weights="w"), "y", methods=["naive Bayes"], cv=4)
    assert found["naive Bayes"]["accuracy"] > 0.95  # nearly all of the weight is one class


def test_small_tables_have_fewer_folds(shared_tables):
    path = shared_tables / "gender_measurements.csv"
    with pytest.warns(CredoWarning, match="Compared by 4 folds instead of 5"):
        compare(path, "sex", methods=["TAN"])
    with pytest.raises(
        InputError, match=r"between 2 and 4 \(the rows of the largest class\), got 5"
    ):
        compare(path, "sex", cv=5)
    with pytest.raises(InputError, match="too few rows to cross-validate: no class has two"):
        compare({"x": ["u", "v"], "y": ["a", "b"], "z": [1, 2]}, "y")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"methods": []}, "methods must be a list with one method or more"),
        ({"methods": "TAN"}, "methods must be a list"),
        ({"repeats": 0}, "repeats must be a whole number above 0, got 0"),
        ({"repeats": "a"}, "repeats must be a whole number above 0, got 'a'"),
    ],
)
def test_options_that_make_no_sense(options, says):
    ask = learning_curves if "repeats" in options else compare
    with pytest.raises(InputError, match=says):
        ask(COLUMNS | {"y": Y}, "y", **options)


@pytest.mark.parametrize("estimator", [NaiveBayes(), NetworkClassifier()], ids=["nb", "tan"])
def test_every_kind_of_table_is_calibrated_alike(estimator):
    frame = pd.DataFrame(COLUMNS)
    expected = calibration_report(estimator, frame, Y)
    mended = recalibrated(estimator, "sigmoid").fit(frame, Y).predict_proba(frame)
    whole = cr.read(COLUMNS | {"class": Y})
    kinds = [(COLUMNS, Y), (cr.read(COLUMNS), Y), (whole, "class")]
    for X, y in kinds:
        assert calibration_report(estimator, X, y).title == expected.title
        fitted = recalibrated(estimator, "sigmoid").fit(X, y)
        assert fitted.predict_proba(COLUMNS) == pytest.approx(mended)
        assert fitted.predict_proba({n: v[:1] for n, v in COLUMNS.items()}) == pytest.approx(
            mended[:1]
        )


@pytest.mark.parametrize("estimator", [NaiveBayes(), NetworkClassifier()], ids=["nb", "tan"])
def test_mended_predictions_of_every_kind_of_table(estimator, tmp_path):
    frame = pd.DataFrame(COLUMNS | {"class": Y})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame[:1].to_csv(tmp_path / "one.csv", index=False)
    fitted = recalibrated(estimator, "sigmoid").fit(tmp_path / "rows.csv", "class")
    expected = fitted.predict_proba(COLUMNS)
    arrow = pa.Table.from_pandas(frame)
    for rows in (
        tmp_path / "rows.csv",
        str(tmp_path / "rows.csv"),
        cr.read(tmp_path / "rows.csv"),
        duckdb.from_arrow(arrow),
        arrow.to_reader(),
        pl.from_pandas(frame).lazy(),
    ):
        assert fitted.predict_proba(rows) == pytest.approx(expected, abs=1e-12)
    one = tmp_path / "one.csv"  # every column has one value: none of them is set aside
    assert fitted.predict_proba(one) == pytest.approx(expected[:1], abs=1e-12)
    assert fitted.predict(one).tolist() == [expected[0].argmax()]


def test_others_want_rows_in_memory(tmp_path):
    numbers = np.array([COLUMNS["n"], COLUMNS["k"]]).T
    fitted = recalibrated(LogisticRegression()).fit(numbers, Y)
    with pytest.raises(InputError, match="LogisticRegression takes rows to predict that are in m"):
        fitted.predict(str(tmp_path / "rows.csv"))
