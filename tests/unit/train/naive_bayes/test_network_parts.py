"""NetworkClassifier in parts: classes, kinds, refusals, files, streams and merging."""

import pickle

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

import credo as cr
from credo.errors import CredoError, CredoWarning, InputError, SchemaError, UnknownNameError
from credo.estimators import NetworkClassifier

METHODS = ("tan", "aode", "naive-bayes")
ROWS = [["u", "s"], ["v", "t"], ["w", "t"], ["u", "t"], ["v", "s"]]
Y = ["no", "yes", "no", "maybe", "yes"]


def table_of(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    out = {"y": np.array(["a", "b", "c"])[y].tolist()}
    for j in range(3):
        x = (rng.integers(0, 4, n) + (rng.random(n) < 0.4) * y) % 4
        out[f"c{j}"] = [
            None if g else "stuv"[v] for v, g in zip(x, rng.random(n) < 0.1, strict=True)
        ]
    out["r"] = rng.normal(size=n) + y
    out["k"] = rng.integers(0, 5, n) * 2
    return out


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One table in three Parquet files and in one."""
    folder, table = tmp_path_factory.mktemp("parts"), table_of()
    whole = pa.table(table)
    for i, first in enumerate((0, 500, 2000)):
        pq.write_table(whole.slice(first, (500, 1500, 1000)[i]), folder / f"part{i}.parquet")
    return folder, table


# --- classes ------------------------------------------------------------------------------


def test_classes_join_as_they_come():
    clf = NetworkClassifier().partial_fit(ROWS[:2], Y[:2])
    assert clf.classes_.tolist() == ["no", "yes"]
    clf.partial_fit(ROWS[2:], Y[2:])
    assert clf.classes_.tolist() == ["maybe", "no", "yes"]
    assert clf.class_count_.tolist() == [1, 2, 2]


def test_classes_that_are_given_are_all_there_are():
    every = ["no", "yes", "maybe"]
    clf = NetworkClassifier().partial_fit(ROWS[:2], Y[:2], classes=every)
    assert clf.classes_.tolist() == ["maybe", "no", "yes"]
    assert clf.predict_proba(ROWS[:1])[0, 0] == 0
    clf.partial_fit(ROWS[2:], Y[2:])
    expected = NetworkClassifier().fit(ROWS, Y).predict_proba(ROWS)
    np.testing.assert_allclose(clf.predict_proba(ROWS), expected, atol=1e-12)
    fixed = NetworkClassifier().partial_fit(ROWS[:2], Y[:2], classes=["no", "yes"])
    with pytest.raises(InputError, match="y holds the class 'maybe', which was not among"):
        fixed.partial_fit(ROWS, Y)
    assert fixed.class_count_.tolist() == [1, 1]  # as before
    with pytest.raises(InputError, match="y holds the class 'yes', which was not among"):
        NetworkClassifier().partial_fit(ROWS[:2], Y[:2], classes=["no"])


def test_rows_without_a_class_are_told_and_left_out():
    clf = NetworkClassifier("aode").fit(ROWS[:3], Y[:3])
    expected = clf.predict_proba(ROWS)
    with pytest.warns(CredoWarning, match="2 rows without a class were left out"):
        clf.partial_fit([["u", "s"], ["u", "s"]], [None, None])
    assert (clf.predict_proba(ROWS) == expected).all()
    with pytest.raises(InputError, match="Every label in y is missing"):
        NetworkClassifier().partial_fit(ROWS[:1], [None])


def test_the_model_is_made_when_it_is_asked_for(monkeypatch):
    from credo.estimators import network_counts

    asked = []
    learn = network_counts.class_network
    monkeypatch.setattr(
        network_counts, "class_network", lambda *a, **k: (asked.append(1), learn(*a, **k))[1]
    )
    clf = NetworkClassifier()
    for row, label in zip(ROWS, Y, strict=True):
        clf.partial_fit([row], [label])
    assert not asked
    clf.predict(ROWS)
    clf.predict_proba(ROWS)
    assert len(asked) == 1


# --- what a column is ---------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_numbers_are_cut_where_the_first_rows_say(method):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    clf = NetworkClassifier(method).partial_fit(x[:200], y[:200]).partial_fit(x[200:], y[200:])
    first = NetworkClassifier(method).fit(x[:200], y[:200])
    assert {n: c.tolist() for n, c in clf.cuts_.items()} == {
        n: c.tolist() for n, c in first.cuts_.items()
    }
    same = NetworkClassifier(method, bins=first.cuts_).fit(x, y)
    np.testing.assert_allclose(clf.predict_proba(x), same.predict_proba(x), atol=1e-12)


def test_cut_points_that_are_given():
    x, y = np.arange(20.0).reshape(10, 2), [0, 1] * 5
    clf = NetworkClassifier(bins={"x0": [4.5, 9]}).fit(x, y)
    assert clf.network_.variable("x0").states == ("≤ 4.5", "(4.5, 9]", "> 9")
    assert clf.network_.variable("x1").states == ("≤ 9", "> 9")  # it tells nothing: its median
    whole = NetworkClassifier(bins={"x0": [9]}).fit(x.astype(int), y)  # not states
    assert whole.network_.variable("x0").states == ("≤ 9", "> 9")
    frame = {"a": [1, 2, 3, 1, 2, 3, 1, 2, 3], "y": list("uvuvuvuvu")}
    by_name = NetworkClassifier(bins={"a": [1.5]}).fit(frame, "y")
    assert by_name.network_.variable("a").states == ("≤ 1.5", "> 1.5")
    for bins, told in (
        ({"x0": [2, 1]}, "cut points of 'x0' in bins= must be rising numbers"),
        ({"x0": "ab"}, "must be rising numbers"),
        ({"x9": [1]}, "The column 'x9' is not among the features"),
        (1, "bins must be a whole number of 2 or more"),
    ):
        with pytest.raises(CredoError, match=told):
            NetworkClassifier(bins=bins).fit(x, y)
    with pytest.raises(InputError, match="'x0' holds text, so it has no cut points"):
        NetworkClassifier(bins={"x0": [1]}).fit(ROWS, Y)


def test_many_numbers_that_were_few_at_first_are_told():
    x, y = np.arange(60).reshape(60, 1), np.arange(60) % 2
    clf = NetworkClassifier().partial_fit(x[:15], y[:15])
    with pytest.warns(CredoWarning, match=r"'x0' has 30 numbers by now.*bins=\{'x0'"):
        clf.partial_fit(x[15:30], y[15:30])
    clf.partial_fit(x[30:], y[30:])  # told once


def test_a_column_without_a_value_in_the_first_rows_is_set_aside():
    first = {"a": ["u", "v", "u"], "late": [None] * 3, "y": [0, 1, 1]}
    later = {"a": ["u", "v", "u"], "late": ["s", "t", "s"], "y": [0, 1, 1]}
    with pytest.warns(CredoWarning, match=r"set aside: 'late' \(every cell is missing\)"):
        clf = NetworkClassifier("aode").partial_fit(first, "y")
    clf.partial_fit(later, "y")
    assert clf.feature_names_in_.tolist() == ["a"]
    x = {"a": first["a"] + later["a"], "y": first["y"] + later["y"]}
    expected = NetworkClassifier("aode").fit(x, "y").predict_proba(x)
    np.testing.assert_allclose(clf.predict_proba(x), expected, atol=1e-12)


# --- refusals -----------------------------------------------------------------------------


def test_more_rows_must_have_the_columns():
    clf = NetworkClassifier().partial_fit({"a": ["u", "v"], "b": ["s", "t"], "y": [0, 1]}, "y")
    before = pickle.dumps(clf.class_count_)
    with pytest.raises(UnknownNameError, match="Column 'b' is not in"):
        clf.partial_fit({"a": ["u"], "y": [0]}, "y")
    with pytest.raises(InputError, match="The class was called 'y' in the first rows, got 'z'"):
        clf.partial_fit({"a": ["u"], "b": ["s"], "z": [0]}, "z")
    constant = cr.read({"a": ["u", "u"], "b": ["s", "t"], "y": [0, 1]})
    with pytest.raises(InputError, match=r"'a' was set aside as it was read: .*schema=\{'a'"):
        clf.partial_fit(constant, "y")
    with pytest.raises(InputError, match="inconsistent numbers of samples: 2 rows and 3 classes"):
        clf.partial_fit({"a": ["u", "v"], "b": ["s", "t"]}, [0, 1, 0])
    with pytest.raises(InputError, match="inconsistent numbers of samples"):
        clf.partial_fit({"a": ["u", "v"], "b": ["s", "t"]}, [0])
    with pytest.raises(InputError, match=r"weights are given to credo\.read"):
        clf.partial_fit({"a": ["u"], "b": ["s"], "y": [0]}, "y", sample_weight=[1])
    assert pickle.dumps(clf.class_count_) == before
    with pytest.raises(InputError, match="The class 'r' is continuous"):
        NetworkClassifier().partial_fit({"a": ["u", "v"], "r": [0.5, 1.5]}, "r")
    with pytest.raises(ValueError, match="0 sample"):
        NetworkClassifier().fit(ROWS, Y).partial_fit(np.zeros((0, 2), object), [])
    text = NetworkClassifier().partial_fit([[1.5], [2.5]], [0, 1])
    with pytest.raises(CredoError, match="is not a number"):
        text.partial_fit(np.array([["a"]], dtype=object), [0])
    with pytest.raises(InputError, match="is infinite: a value must be finite"):
        text.partial_fit([[np.inf]], [0])


def test_what_cannot_be_merged():
    a = NetworkClassifier().fit([[1.5, 1], [2.5, 0], [3.5, 1]], [0, 1, 0])
    b = NetworkClassifier().fit([[7.5, 1], [8.5, 0], [9.5, 1]], [0, 1, 0])
    with pytest.raises(SchemaError, match=r"'x0' is not cut at the same points.*bins=\{'x0'"):
        a.merge(b)
    with pytest.raises(InputError, match="merged by the same structure, got 'tan' and 'aode'"):
        a.merge(NetworkClassifier("aode").fit([[1.5], [2.5]], [0, 1]))
    with pytest.raises(SchemaError, match="know different columns: 'x1' is in one only"):
        a.merge(NetworkClassifier().fit([[1.5], [2.5]], [0, 1]))
    with pytest.raises(SchemaError, match="states in one part and numbers in the other"):
        one = NetworkClassifier(bins=None).fit([[1], [2]], [0, 1])
        one.merge(NetworkClassifier(bins=None).fit([[1.5], [2.5]], [0, 1]))
    with pytest.raises(Exception, match="not fitted"):
        a.merge(NetworkClassifier())


def test_merging_leaves_both_as_they_were():
    one, two = (NetworkClassifier("aode").fit(ROWS[s], Y[s]) for s in (slice(3), slice(3, 5)))
    both = one.merge(two)
    expected = NetworkClassifier("aode").fit(ROWS, Y)
    assert (both.predict_proba(ROWS) == expected.predict_proba(ROWS)).all()
    assert one.class_count_.tolist() == [2, 1]
    assert both.partial_fit(ROWS, Y).class_count_.tolist() == [2, 4, 4]
    assert clone(both).get_params() == one.get_params()


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_columns_does_not_matter_to_merging(method):
    frame = pd.DataFrame(table_of(300)).drop(columns="r")
    other = frame[frame.columns[::-1]]
    one = NetworkClassifier(method).fit(frame[:100], "y")
    two = NetworkClassifier(method).fit(other[100:], "y")
    expected = NetworkClassifier(method).fit(frame, "y").predict_proba(frame)
    np.testing.assert_allclose(one.merge(two).predict_proba(frame), expected, atol=1e-12)
    named = NetworkClassifier(method).fit(other.rename(columns={"y": "z"}), "z")
    with pytest.raises(SchemaError, match="know different columns: 'y' is in one only"):
        one.merge(named)


def test_a_network_that_is_given_is_used_as_it_is():
    net = NetworkClassifier().fit(ROWS, Y).network_
    clf = NetworkClassifier(net).partial_fit(ROWS[:2], Y[:2]).partial_fit(ROWS[2:], Y[2:])
    assert clf.classes_.tolist() == ["maybe", "no", "yes"]
    expected = NetworkClassifier(net).fit(ROWS, Y).predict_proba(ROWS)
    assert (clf.predict_proba(ROWS) == expected).all()
    assert (clf.merge(clf).predict_proba(ROWS) == expected).all()


# --- files and streams --------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_streams_are_learned_as_tables_are(files, method, monkeypatch):
    folder, _ = files
    table = cr.read(str(folder / "*.parquet"))
    expected = NetworkClassifier(method).fit(table, "y")
    monkeypatch.setattr(cr.data.Stream, "load", None)  # never all rows at once
    stream = cr.read(str(folder / "*.parquet"), memory="10KB")
    for clf in (
        NetworkClassifier(method).fit(stream, "y"),
        NetworkClassifier(method).partial_fit(stream, "y"),
        NetworkClassifier(method).fit(duckdb.sql(f"select * from '{folder}/*.parquet'"), "y"),
    ):
        assert clf.cuts_["r"].tolist() == expected.cuts_["r"].tolist()
        assert (clf.predict_proba(table) == expected.predict_proba(table)).all()


def test_weights_of_streams_and_tables(tmp_path):
    table = table_of(400)
    table["w"] = (np.arange(400) % 3).tolist()
    path = tmp_path / "w.parquet"
    pq.write_table(pa.table(table), path)
    read = cr.read(path, weights="w")
    stream = cr.read(path, weights="w", memory="1KB")
    expected = NetworkClassifier().fit(read, "y").predict_proba(read)
    assert (NetworkClassifier().fit(stream, "y").predict_proba(read) == expected).all()
    clf = NetworkClassifier().fit(read, "y")
    clf.partial_fit(stream, "y")
    assert clf.class_count_.sum() == 2 * read.weights.sum()


def test_a_stream_with_more_rows_than_are_looked_at(files, monkeypatch):
    from credo.estimators import network_bins

    folder, _ = files
    monkeypatch.setattr(network_bins, "LOOKED_AT", 600)
    table = cr.read(str(folder / "*.parquet"))
    stream = cr.read(str(folder / "*.parquet"), memory="10KB")
    cuts = NetworkClassifier(bins=5).fit(stream, "y").cuts_["r"]
    assert cuts.tolist() == NetworkClassifier(bins=5).fit(stream, "y").cuts_["r"].tolist()
    shares = np.searchsorted(np.sort(table.values("r")), cuts, side="right") / len(table)
    np.testing.assert_allclose(shares, [0.2, 0.4, 0.6, 0.8], atol=0.08)
    same = NetworkClassifier(bins={"r": cuts}).fit(table, "y").predict_proba(table)
    assert (NetworkClassifier(bins=5).fit(stream, "y").predict_proba(table) == same).all()
