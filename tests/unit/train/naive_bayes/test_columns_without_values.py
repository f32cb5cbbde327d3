"""Columns that vary together, of which one has no value: the others are learned as without it."""

import warnings

import numpy as np
import pandas as pd
import pytest

from credo.errors import CredoWarning
from credo.estimators import NaiveBayes

RNG = np.random.default_rng(5)
Y = RNG.choice(["p", "q"], 80)
X = RNG.normal(size=(80, 3)) + 0.7 * (Y == "q")[:, None]
X[:, 2] += X[:, 0]
EMPTY = X.copy()
EMPTY[:, 1] = np.nan
NO_VALUE = "column 'x1' has no value: it tells nothing"


def full(**options):
    return NaiveBayes(covariance="full", **options)


def test_the_other_columns_vary_together_as_without_it():
    with pytest.warns(CredoWarning, match=NO_VALUE) as told:
        clf = full().fit(EMPTY, Y)
    assert len(told) == 1 and "collinear" not in str(told[0].message)
    alone = full().fit(EMPTY[:, [0, 2]], Y)
    assert clf.predict_proba(X) == pytest.approx(alone.predict_proba(X[:, [0, 2]]), abs=1e-12)
    assert clf.kinds_ == dict.fromkeys(["x0", "x1", "x2"], "gaussian")
    assert clf.model_.network().dag.parents("x2") == ("y", "x0")


@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
@pytest.mark.parametrize(
    "columns, beside", [(["x0", "x1"], []), (["x0", "x1", "x2"], ["x0", "x2"])]
)
def test_groups_by_name(columns, beside):
    clf = NaiveBayes(covariance=[columns]).fit(EMPTY, Y)
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])[["x0", "x2"]]
    alone = NaiveBayes(covariance=[beside] if beside else "diagonal").fit(frame, Y)
    assert clf.predict_proba(X) == pytest.approx(alone.predict_proba(frame), abs=1e-12)


def test_rows_of_which_none_is_whole_are_told_of():
    crossed = X.copy()
    crossed[:40, 1], crossed[40:, 0] = np.nan, np.nan
    says = "no row has a value in each of 'x0', 'x1', 'x2': together they tell nothing"
    with pytest.warns(CredoWarning, match=says) as told:
        clf = full().fit(crossed, Y)
    assert "collinear" not in str(told[0].message) and "has no value" not in str(told[0].message)
    shares = np.array([(Y == "p").mean(), (Y == "q").mean()])
    assert clf.predict_proba(X) == pytest.approx(np.tile(shares, (80, 1)))


@pytest.mark.parametrize("gap", [None, (5, 0)])
def test_rows_without_a_class_by_em(gap):
    x, y = EMPTY.copy(), Y.astype(object)
    y[::3] = None
    if gap:
        x[gap] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CredoWarning)
        clf = full(unlabelled="em").fit(x, y)
    alone = full(unlabelled="em").fit(x[:, [0, 2]], y)
    assert clf.predict_proba(X) == pytest.approx(alone.predict_proba(X[:, [0, 2]]), abs=1e-10)
