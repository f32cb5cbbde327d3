"""Rows in another container than those of training: by place where names are missing, else by name."""

import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import credo as cr
from credo.errors import CredoWarning, InputError
from credo.estimators import NaiveBayes

pytestmark = pytest.mark.filterwarnings("ignore:X (does not have|has feature names)")

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
NUMBERS = np.c_[RNG.normal(Y, 1.0), RNG.normal(-Y, 2.0), RNG.integers(0, 3, 60) + Y]
OBJECTS = np.array(
    [["u" if v > 1 else "w", x, None if z > 2 else z] for x, z, v in NUMBERS], object
)

FORMS = {
    "array": lambda x: x,
    "lists": lambda x: x.tolist(),
    "pandas": lambda x: pd.DataFrame(x, columns=["a", "b", "c"]),
    "pandas with numbers as names": pd.DataFrame,
    "polars": lambda x: pl.DataFrame(x.tolist(), schema=["a", "b", "c"], orient="row"),
    "dict": lambda x: {n: x[:, i].tolist() for i, n in enumerate("abc")},
    "arrow": lambda x: pa.table({n: x[:, i].tolist() for i, n in enumerate("abc")}),
}
NAMED = ("pandas", "polars", "dict", "arrow")
OPTIONS = {
    "auto": {},
    "kernel": {"kinds": "kernel"},
    "full": {"kinds": "gaussian", "covariance": "full"},
    "em": {"unlabelled": "em", "kinds": "gaussian"},
}


@pytest.mark.parametrize("how", sorted(OPTIONS))
@pytest.mark.parametrize("learned", sorted(FORMS))
def test_numbers_by_place(learned, how):
    y = Y.astype(float)
    if how == "em":
        y[::7] = np.nan
    clf = NaiveBayes(**OPTIONS[how]).fit(FORMS[learned](NUMBERS), y)
    expected = clf.predict_proba(FORMS[learned](NUMBERS))
    assert np.ptp(expected[:, 0]) > 0.5
    for asked, form in FORMS.items():
        if learned not in NAMED and asked in ("dict", "arrow"):
            continue  # by name, and there was none
        np.testing.assert_array_equal(clf.predict_proba(form(NUMBERS)), expected, asked)
        if how not in ("kernel", "em"):
            one = clf.predict_interval(form(NUMBERS[:3]), draws=200)
            np.testing.assert_array_equal(
                one, clf.predict_interval(FORMS[learned](NUMBERS[:3]), draws=200)
            )


@pytest.mark.parametrize(
    "learned,asked", list(itertools.permutations(["lists", "array", "pandas", "dict"], 2))
)
def test_mixed_cells_by_place(learned, asked):
    clf = NaiveBayes().fit(FORMS[learned](OBJECTS), Y)
    if asked == "dict" and learned != "pandas":
        with pytest.raises(InputError, match="no column of the model"):
            clf.predict_proba(FORMS[asked](OBJECTS))
        return
    expected = clf.predict_proba(FORMS[learned](OBJECTS))
    np.testing.assert_array_equal(clf.predict_proba(FORMS[asked](OBJECTS)), expected)


@pytest.mark.parametrize(
    "first,then", [("array", "pandas"), ("pandas", "array"), ("dict", "lists")]
)
def test_more_rows_by_place(first, then):
    a, b = FORMS[first], FORMS[then]
    x = NUMBERS + np.c_[Y * 0, Y * 0, NUMBERS[:, 0]]  # a few whole ones are states of a table only
    clf = NaiveBayes().partial_fit(a(x[:30]), Y[:30]).partial_fit(b(x[30:]), Y[30:])
    whole = NaiveBayes().fit(a(x), Y)
    np.testing.assert_allclose(clf.predict_proba(a(x)), whole.predict_proba(a(x)))


def test_whole_numbers_with_gaps_are_judged_as_those_of_a_text_file(tmp_path):
    frame = pd.DataFrame({"sex": [1, 0, None, 1] * 9, "x": RNG.normal(size=36), "y": [0, 1] * 18})
    frame.to_csv(tmp_path / "t.csv", index=False)
    clf = NaiveBayes(numbers="gaussian").fit(frame[["sex", "x"]], frame["y"])
    path = NaiveBayes(numbers="gaussian").fit(tmp_path / "t.csv", "y")
    assert clf.kinds_ == path.kinds_ == {"sex": "categorical", "x": "gaussian"}
    parts = NaiveBayes()
    for part in (frame[:5], frame[5:]):
        parts.partial_fit(part[["sex", "x"]], part["y"])
    np.testing.assert_allclose(
        parts.predict_proba(frame[["sex", "x"]]), clf.predict_proba(frame[["sex", "x"]])
    )


def test_names_that_are_not_there():
    clf = NaiveBayes().fit(FORMS["pandas"](NUMBERS), Y)
    with pytest.raises(
        InputError, match=r"no column of the model\. Its features are 'a', 'b', 'c'"
    ):
        clf.predict_proba({"x": [1.0], "y": [2.0]})
    with pytest.warns(
        CredoWarning, match=r"taken as missing: 'c' \(did you mean 'cc'\?\)\."
    ) as told:
        p = clf.predict_proba({"a": [1.0], "b": [2.0], "cc": [2]})
    assert len(told) == 1
    np.testing.assert_array_equal(p, clf.predict_proba({"a": [1.0], "b": [2.0], "c": [None]}))
    table = cr.read({"a": [1.5, 2.5], "b": [0.5, 0.1], "c": [2, 2]})
    with pytest.warns(CredoWarning, match=r"'c' \(set aside as it was read: every cell is 2\)"):
        clf.predict_proba(table)
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(pd.DataFrame({"a": [1.0], "b": [2.0]}))


def test_other_columns_are_left_out_after_a_fit_by_name():
    frame = FORMS["pandas"](NUMBERS).assign(
        row_id=[f"p{i}" for i in range(60)], same="k", y=np.where(Y, "yes", "no")
    )
    sources = {"pandas": frame, "table": cr.read(frame), "polars": pl.from_pandas(frame)}
    for learned, source in sources.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CredoWarning)
            clf = NaiveBayes().fit(source, "y")
        expected = clf.predict_proba(frame[["a", "b", "c"]])
        for asked in sources.values():
            np.testing.assert_array_equal(clf.predict_proba(asked), expected, learned)
        turned = frame[frame.columns[::-1]].assign(new=1)
        np.testing.assert_array_equal(clf.predict_proba(turned), expected)
        np.testing.assert_array_equal(
            clf.predict_proba(frame[["a", "b", "c"]].to_numpy()), expected
        )
    assert clf.score(frame, frame["y"]) > 0.7


def test_a_merged_estimator_knows_its_names():
    frame = FORMS["pandas"](NUMBERS)
    one, two = NaiveBayes(numbers="gaussian"), NaiveBayes(numbers="gaussian")
    both = one.fit(frame[:30], Y[:30]).merge(two.fit(frame[30:], Y[30:]))
    np.testing.assert_array_equal(both.predict_proba(NUMBERS), both.predict_proba(frame))
