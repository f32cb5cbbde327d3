"""What a column is, the first rows say, or `kinds=`; states may join, other cells are refused."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.errors import CredoError, CredoWarning, SchemaError, TableError
from credo.estimators import NaiveBayes

quiet = pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")


def same(a, b, rows):
    assert a.kinds_ == b.kinds_ and a.model_.names == b.model_.names
    assert a.classes_.tolist() == b.classes_.tolist()
    np.testing.assert_array_equal(a.class_count_, b.class_count_)
    np.testing.assert_allclose(a.predict_proba(rows), b.predict_proba(rows), rtol=0, atol=1e-12)


FORMS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "dict": dict, "arrow": pa.table}


@quiet
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("first", "later", "kind"),
    [
        (["a"] * 6, ["a", "b", "a", "b", "b", "a"], "categorical"),
        (["a", "b"] * 5, [f"k{i}" for i in range(90)], "categorical"),
        ([1, 1, 2, 2, 3], list(range(40)), "categorical"),
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5] * 4, "gaussian"),
        ([1.5, 2.5, 3.5, 0.5], [1, 2, 3, 2], "gaussian"),
    ],
    ids=["constant", "more states", "many numbers", "few numbers", "whole"],
)
def test_the_first_rows_say_what_a_column_is(form, first, later, kind):
    cells = [*first, *later]
    n, cut = len(cells), len(first)
    y = np.array(["u", "v", "v"] * n)[:n]
    table = {"x": cells, "z": [str(i % 2) for i in range(n)]}
    part = lambda a, b: FORMS[form]({k: v[a:b] for k, v in table.items()})  # noqa: E731
    whole = NaiveBayes(kinds={"x": kind}).fit(part(0, n), y)
    parts = NaiveBayes().partial_fit(part(0, cut), y[:cut])
    assert parts.kinds_ == {"x": kind, "z": "categorical"}
    same(parts.partial_fit(part(cut, n), y[cut:]), whole, part(0, n))
    a, b = (
        NaiveBayes(kinds={"x": kind}).fit(part(*ends), y[slice(*ends)])
        for ends in ((0, cut), (cut, n))
    )
    same(a.merge(b), whole, part(0, n))
    same(b.merge(a), whole, part(0, n))


@quiet
def test_a_column_without_a_value_in_the_first_rows_is_set_aside():
    first, later = {"a": [None] * 4, "b": ["u", "v"] * 2}, {"a": ["p", "q"], "b": ["u", "v"]}
    with pytest.warns(CredoWarning, match=r"set aside: 'a' \(every cell is missing\)"):
        clf = NaiveBayes().partial_fit(first, [0, 1, 1, 0])
    assert clf.partial_fit(later, [0, 1]).kinds_ == {"b": "categorical"}
    clf = NaiveBayes(kinds={"a": "categorical"}).partial_fit(first, [0, 1, 1, 0])
    clf.partial_fit(later, [0, 1])
    whole = NaiveBayes(kinds={"a": "categorical"})
    rows = {n: first[n] + later[n] for n in first}
    same(clf, whole.fit(rows, [0, 1, 1, 0, 0, 1]), later)


@quiet
def test_two_that_decided_otherwise_cannot_be_merged():
    x = np.arange(30)[:, None]
    few, many = NaiveBayes().fit(x % 2, x[:, 0] % 3), NaiveBayes().fit(x, x[:, 0] % 3)
    assert few.kinds_ == {"x0": "categorical"} and many.kinds_ == {"x0": "binned"}
    with pytest.raises(SchemaError, match=r"different kinds.*same columns, kinds= and numbers="):
        few.merge(many)


def test_whole_numbers_of_an_array():
    """Eight values in ten rows are numbers, in a thousand they are states."""
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 8, (1000, 3)), rng.integers(0, 2, 1000)
    x[:10] = np.array([0, 1, 2, 3, 4, 5, 6, 7, 0, 1])[:, None]
    whole = NaiveBayes(kinds="gaussian").fit(x, y)
    parts = NaiveBayes().partial_fit(x[:10], y[:10])
    assert set(parts.kinds_.values()) == {"gaussian"}
    same(parts.partial_fit(x[10:], y[10:]), whole, x)


def test_few_values_first_and_many_later():
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 3, (60, 2)), rng.integers(0, 2, 60)
    x[40:, 0] = np.arange(100, 120)
    parts = NaiveBayes().partial_fit(x[:40], y[:40])
    parts = pickle.loads(pickle.dumps(parts))
    with pytest.warns(CredoWarning, match=r"'x0' has 23 numbers by now.*kinds=\{'x0': 'gauss"):
        parts.partial_fit(x[40:], y[40:])
    same(parts, NaiveBayes(kinds="categorical").fit(x, y), x)


@quiet
def test_a_cell_that_does_not_fit_is_refused():
    """Text among numbers; the estimator stays as it was."""
    clf = NaiveBayes().partial_fit({"a": [i / 8 for i in range(30)]}, [0, 1, 1] * 10)
    with pytest.raises(TableError, match="Row 2 of column 'a' holds 'z', which is not a number"):
        clf.partial_fit({"a": ["1", "z"]}, [0, 1])
    assert clf.class_count_.tolist() == [10, 20]
    x, later = np.array([[0], [1], [1], [0]]), np.array([[0.5], [1.5]])
    clf = NaiveBayes().partial_fit(x, [0, 1, 1, 0]).partial_fit(later, [0, 1])
    assert clf.model_.feature("x0").variable.states == (0, 0.5, 1, 1.5)


@quiet
def test_a_class_by_its_name_may_be_alone_or_missing_in_a_part():
    table = {"x": list("abab"), "i": [1, 2, 3, 4], "y": ["u", "u", None, "v"]}
    kinds = {"i": "gaussian"}
    whole = NaiveBayes(kinds=kinds).fit(table, "y")
    parts = NaiveBayes(kinds=kinds)
    for i in range(4):
        parts.partial_fit({n: c[i : i + 1] for n, c in table.items()}, "y")
    same(parts, whole, {"x": ["a", "b"], "i": [3, 4]})
    assert parts.model_.statistic.unlabelled == 1
    assert parts.feature_names_in_.tolist() == ["x", "i"]


@quiet
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_are_parts_of_one_table(tmp_path, kind):
    rng = np.random.default_rng(3)
    n = 90
    table = pd.DataFrame(
        {
            "same": ["k"] * 30 + list("kl" * 30),
            "few": [*range(8), *[0] * 22, *rng.integers(0, 8, 60)],
            "many": rng.integers(0, 90, n),
            "id": [f"r{i}" for i in range(n)],
            "real": rng.normal(size=n).round(2),
            "y": ["u"] * 30 + rng.choice(["u", "v"], 60).tolist(),
        }
    )

    def file(name, part):
        path = str(tmp_path / f"{name}.{kind}")
        if kind == "csv":
            part.to_csv(path, index=False)
        else:
            pq.write_table(pa.Table.from_pandas(part, preserve_index=False), path)
        return path

    pieces = [file(str(i), table[i : i + 30]) for i in (0, 30, 60)]
    parts = NaiveBayes()
    for piece in pieces:
        parts.partial_fit(piece, "y")
    assert parts.kinds_ == {
        "same": "categorical", "few": "gaussian", "many": "gaussian", "real": "gaussian"
    }  # fmt: skip
    whole = NaiveBayes(kinds=parts.kinds_).fit(file("all", table), "y")
    rows = table.drop(columns="y").to_dict("list")
    same(parts, whole, rows)
    models = [cr.naive_bayes(p, "y", kinds=parts.kinds_) for p in pieces[1:]]
    both = cr.naive_bayes(file("both", table[30:]), "y", kinds=parts.kinds_)
    total = models[0] + models[1]
    assert total.names == both.names
    assert np.abs(total.predict_proba(rows) - both.predict_proba(rows)).max() < 1e-12


def test_rows_of_which_no_column_can_be_used():
    for learn in (NaiveBayes().fit, NaiveBayes().partial_fit):
        with pytest.raises(TableError, match=r"Every cell of .* is missing"):
            learn([[None], [None]], [0, 1])


@quiet
def test_a_kind_that_is_given_is_final():
    clf = NaiveBayes(kinds={"a": "categorical"})
    clf.partial_fit({"a": [None, None], "b": [1.5, 2.5]}, ["u", "v"])
    clf.partial_fit({"a": ["p", "p"], "b": [1.5, 2.5]}, ["u", "v"])
    clf.partial_fit({"a": ["p", "q"], "b": [1.5, 2.5]}, ["u", "v"])
    whole = NaiveBayes(kinds={"a": "categorical"})
    whole.fit({"a": [None, None, "p", "p", "p", "q"], "b": [1.5, 2.5] * 3}, ["u", "v"] * 3)
    same(clf, whole, {"a": ["p", "q"], "b": [1.0, 2.0]})
    x = np.arange(30)[:, None]
    clf = NaiveBayes(kinds="categorical").fit(x, x[:, 0] % 2)
    other = NaiveBayes(kinds="gaussian").fit(x, x[:, 0] % 2)
    with pytest.raises(SchemaError, match="different kinds"):
        clf.merge(other)


@quiet
def test_the_first_rows_say_which_columns_vary_together():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    x[:20, 2] = np.nan  # no value in the first rows: it stands alone
    parts = NaiveBayes(covariance="full").partial_fit(x[:20], y[:20]).partial_fit(x[20:], y[20:])
    whole = NaiveBayes(covariance=[["x0", "x1"]], numbers="gaussian").fit(x, y)
    assert [f.names for f in parts.model_.features] == [("x0", "x1"), ("x2",)]
    np.testing.assert_allclose(parts.predict_log_proba(x), whole.predict_log_proba(x), rtol=1e-9)


def test_options_that_do_not_fit_are_refused_when_rows_come():
    """Not at the first question: the model is learned late, its options are looked at at once."""
    for wrong in ({"smoothing": -1}, {"smoothing": {"x9": 1}}, {"class_prior": [1, 2, 3]}):
        with pytest.raises((ValueError, CredoError)):
            NaiveBayes(**wrong).partial_fit([["u"], ["v"]] * 4, [0, 1] * 4)
