"""Columns that are set aside are named, and are the same ones whatever the door."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import credo as cr
from credo.errors import CredoWarning
from credo.estimators import NaiveBayes

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
COLUMNS = {
    "PatientId": RNG.permutation(5000)[:60],
    "room_number": RNG.integers(1, 5, 60),  # named like one, but they repeat
    "x": RNG.normal(size=60) + Y,
    "same": np.full(60, "k"),
    "who": np.array([f"p{i}" for i in range(60)]),
}
FRAME = pd.DataFrame(COLUMNS)
NAMED = FRAME.assign(y=np.where(Y, "b", "a"))
USED = {"room_number": "categorical", "x": "gaussian"}


def doors(path):
    rest = {"y": NAMED["y"].tolist()}
    return {
        "frame": lambda: NaiveBayes().fit(FRAME, Y),
        "polars": lambda: NaiveBayes().fit(pl.DataFrame(COLUMNS), Y),
        "dict": lambda: NaiveBayes().fit(FRAME.to_dict("list"), Y),
        "em": lambda: NaiveBayes(unlabelled="em").fit(FRAME, Y),
        "frame by name": lambda: NaiveBayes().fit(NAMED, "y"),
        "polars by name": lambda: NaiveBayes().fit(pl.DataFrame(COLUMNS | rest), "y"),
        "em by name": lambda: NaiveBayes(unlabelled="em").fit(NAMED, "y"),
        "file": lambda: NaiveBayes().fit(path, "y"),
        "em of a file": lambda: NaiveBayes(unlabelled="em").fit(path, "y"),
        "naive_bayes": lambda: cr.naive_bayes(NAMED, "y"),
        "naive_bayes of a file": lambda: cr.naive_bayes(path, "y"),
    }


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    out = tmp_path_factory.mktemp("rows") / "rows.csv"
    NAMED.to_csv(out, index=False)
    return str(out)


@pytest.mark.parametrize("door", doors(""))
def test_columns_set_aside_are_named_once(door, path):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = doors(path)[door]()
    names = found.kinds_ if hasattr(found, "kinds_") else dict.fromkeys(found.names)
    assert list(names) == list(USED)
    (one,) = [w for w in told if issubclass(w.category, CredoWarning)]
    for name in ("PatientId", "same", "who"):
        assert f"{name!r} (" in str(one.message)
    assert one.filename == __file__


@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
def test_arrays_and_given_kinds_are_used_as_they_are():
    numbers = FRAME[["PatientId", "x"]]
    found = NaiveBayes(numbers="gaussian").fit(numbers.to_numpy(), Y).kinds_
    assert found == {"x0": "gaussian", "x1": "gaussian"}
    for kind in ("gaussian", "categorical", "kernel"):
        clf = NaiveBayes(kinds={"PatientId": kind}, numbers="gaussian").fit(numbers, Y)
        assert clf.kinds_ == {"PatientId": kind, "x": "gaussian"}
        other = NaiveBayes(kinds=[kind, "gaussian"]).fit(numbers.to_numpy(), Y)
        np.testing.assert_allclose(
            clf.predict_proba(numbers), other.predict_proba(numbers.to_numpy()), rtol=1e-9
        )
