"""Classes as people give them: with gaps of every kind, by name, none at first; and weights of 0."""

from enum import Enum

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from credo.errors import InputError
from credo.estimators import NaiveBayes
from credo.estimators.inputs import encode_labels

pytestmark = pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")

X = [["u"], ["v"], ["u"], ["v"], ["u"]]
TEXTS = ["b", None, "a", "b", "a"]
GAPS = {
    "None": TEXTS,
    "nan": ["b", float("nan"), "a", "b", "a"],
    "NumPy's nan": ["b", np.float64("nan"), "a", "b", "a"],
    "NA": ["b", pd.NA, "a", "b", "a"],
    "NaT": ["b", pd.NaT, "a", "b", "a"],
    "objects": np.array(["b", pd.NA, "a", "b", "a"], dtype=object),
    "string": pd.Series(TEXTS, dtype="string"),
    "string[pyarrow]": pd.Series(TEXTS, dtype="string[pyarrow]"),
    "category": pd.Series(TEXTS, dtype="category"),
    "polars": pl.Series(TEXTS),
    "frame": pd.DataFrame({"y": TEXTS}),
}
BOOLEANS = {
    "list": [True, None, False, True, False],
    "boolean": pd.Series([True, pd.NA, False, True, False], dtype="boolean"),
    "polars": pl.Series([True, None, False, True, False]),
}
NUMBERS = {
    "list": [1.0, float("nan"), 0.0, 1.0, 0.0],
    "Int64": pd.Series([1, pd.NA, 0, 1, 0], dtype="Int64"),
    "array": np.array([1, np.nan, 0, 1, 0]),
}


@pytest.mark.parametrize("weights", [None, [1, 1, 1, 1, 0]])
@pytest.mark.parametrize(
    ("y", "classes"),
    [
        *((y, ["a", "b"]) for y in GAPS.values()),
        *((y, [False, True]) for y in BOOLEANS.values()),
        *((y, [0, 1]) for y in NUMBERS.values()),
    ],
    ids=[*GAPS, *(f"bool {n}" for n in BOOLEANS), *(f"number {n}" for n in NUMBERS)],
)
def test_a_gap_is_no_class(y, classes, weights):
    clf = NaiveBayes().fit(X, y, sample_weight=weights)
    assert clf.classes_.tolist() == classes
    assert list(map(type, clf.classes_.tolist())) == list(map(type, classes))
    assert clf.class_count_.tolist() == ([2, 2] if weights is None else [1, 2])


@pytest.mark.parametrize("to", [dict, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("how", ["skip", "em"])
def test_whole_numbers_beside_gaps_are_classes_by_name(to, how):
    table = {"a": [r[0] for r in X], "y": [0.0, 1.0, np.nan, 1.0, 0.0]}
    clf = NaiveBayes(unlabelled=how).fit(to(table), "y")
    other = NaiveBayes(unlabelled=how).fit(to({"a": table["a"]}), np.array(table["y"]))
    assert clf.classes_.tolist() == [0, 1] and clf.class_count_.sum() == other.class_count_.sum()
    rows = {"a": ["u", "v"]}
    np.testing.assert_array_equal(clf.predict_proba(rows), other.predict_proba(rows))
    with pytest.raises(InputError, match=r"'y' is continuous.* schema=\{'y': 'discrete'\}"):
        NaiveBayes(unlabelled=how).fit(to({**table, "y": [0.5, 1.5, 2.5, 3.5, np.nan]}), "y")


def test_the_first_rows_may_have_no_class():
    whole = NaiveBayes().fit(X, ["a", "b", "a", "b", "b"])
    clf = NaiveBayes().partial_fit([["u"], ["w"]], [None, None], classes=["b", "a"])
    assert clf.classes_.tolist() == ["a", "b"] and clf.class_count_.tolist() == [0, 0]
    with pytest.raises(InputError, match="no row with a class"):
        clf.predict([["u"]])
    clf.partial_fit(X, ["a", "b", "a", "b", "b"])
    rows = [["u"], ["v"]]
    clf = NaiveBayes(kinds="categorical").partial_fit([["u"]], [None], classes=["a", "b"])
    clf.partial_fit(X, ["a", "b", "a", "b", "b"])
    np.testing.assert_allclose(clf.predict_proba(rows), whole.predict_proba(rows))
    clf = NaiveBayes().partial_fit({"f": ["u", "v"], "y": [None, None]}, "y", classes=["a", "b"])
    clf.partial_fit({"f": ["u", "v"], "y": ["a", "b"]}, "y")
    np.testing.assert_allclose(clf.predict_proba({"f": ["u"]}), [[2 / 3, 1 / 3]])


@pytest.mark.parametrize("series", [pd.Series, lambda y, name: pl.Series(name, y)])
def test_the_class_has_the_name_of_the_series(series):
    frame = pd.DataFrame({"f": list("uvuvu")})
    y = series([0, 1, 0, 1, 1], name="ill")
    weights = [1, 1, 0, 1, 1]
    for clf in (
        NaiveBayes().fit(frame, y),
        NaiveBayes().fit(frame, y, weights),
        NaiveBayes(unlabelled="em").fit(frame, y, weights),
        NaiveBayes().partial_fit(frame, y, classes=[0, 1]),
        NaiveBayes().partial_fit(frame, y).partial_fit(frame, y.to_list()),
        NaiveBayes().fit(frame, y).merge(NaiveBayes().fit(frame, y.to_list())),
    ):
        net = clf.model_.network()
        assert set(net.names) == {"ill", "f"}
        asked = [net.p("ill", given={"f": v})[1] for v in frame["f"]]
        np.testing.assert_allclose(asked, clf.predict_proba(frame)[:, 1])


def test_a_class_without_a_name_is_y():
    frame = pd.DataFrame({"f": list("uvuvu")})
    labels = [0, 1, 0, 1, 1]
    for y in (
        labels,
        np.array(labels),
        pd.Series(labels),
        pd.Series(labels, name=3),
        pl.Series(labels),
    ):
        assert NaiveBayes().fit(frame, y).model_.target.name == "y"
    both = (
        NaiveBayes().fit(frame, labels).merge(NaiveBayes().fit(frame, pd.Series(labels, name="z")))
    )
    assert both.model_.target.name == "y" and both.class_count_.tolist() == [4, 6]


def test_a_class_named_like_a_feature_needs_another_name_in_a_network():
    frame = pd.DataFrame({"f": list("uvuvu")})
    model = NaiveBayes().fit(frame, pd.Series([0, 1, 0, 1, 1], name="f")).model_
    assert model.predict_proba(frame).shape == (5, 2)
    with pytest.raises(InputError, match=r"both called 'f'.*network\(target='class'\)"):
        model.network()
    assert model.network(target="class").dag.parents("f") == ("class",)


def test_rows_of_weight_0_are_left_out_of_every_table():
    frame = pd.DataFrame({"a": ["u", "v", "u", "v", "w"], "b": [1.5, 2.5, 1.0, 2.0, 1.2]})
    y, weights = [0, 1, 0, 1, 0], [1, 2, 1, 1, 0]
    expected = (
        NaiveBayes().fit(frame[:4], y[:4], sample_weight=weights[:4]).predict_proba(frame[:4])
    )
    table = pa.Table.from_pandas(frame)
    relation = duckdb.sql("select * from frame")
    for rows in (relation, pl.from_pandas(frame).lazy(), table, table.to_reader(), frame):
        clf = NaiveBayes().fit(rows, y, sample_weight=weights)
        np.testing.assert_allclose(clf.predict_proba(frame[:4].to_dict("list")), expected)


class Colour(Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize("labels", [[Colour.RED, Colour.BLUE], np.array([1, "a"], dtype=object)])
def test_labels_without_an_order_are_refused_in_a_sentence(labels):
    with pytest.raises(InputError, match="must have an order"):
        encode_labels(labels)
