"""Columns whose first rows look like something else than all rows together."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.errors import CredoError, CredoWarning, InputError, SchemaError, TableError
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
    ("first", "later"),
    [
        ([None] * 6, ["a", "b", "a", "b", "b", "a"]),
        (["a"] * 6, ["a", "b", "a", "b", "b", "a"]),
        ([f"k{i}" for i in range(30)], ["k1", "k2"] * 40),
        (["one two three four five", "two three four five six"], ["one two three four five"] * 4),
        (["a", "b"] * 5, [f"k{i}" for i in range(90)]),
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5] * 4),
        ([1, 1, 2, 2, 3], list(range(40))),
        ([1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]),
    ],
    ids=["empty", "constant", "identifier", "text", "many", "numbers", "too many", "consecutive"],
)
def test_a_column_that_changes(form, first, later):
    cells = [*first, *later]
    n = len(cells)
    y = np.array(["u", "v", "v"] * n)[:n]
    table = {"x": cells, "z": [str(i % 2) for i in range(n)]}
    cut = len(first)
    part = lambda a, b: FORMS[form]({k: v[a:b] for k, v in table.items()})  # noqa: E731
    whole = NaiveBayes().fit(part(0, n), y)
    parts = NaiveBayes().partial_fit(part(0, cut), y[:cut]).partial_fit(part(cut, n), y[cut:])
    same(parts, whole, part(0, n))
    a, b = NaiveBayes().fit(part(0, cut), y[:cut]), NaiveBayes().fit(part(cut, n), y[cut:])
    same(a.merge(b), whole, part(0, n))
    same(b.merge(a), whole, part(0, n))


@quiet
def test_whole_numbers_of_an_array():
    """Eight values in ten rows are numbers, in a thousand they are states."""
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 8, (1000, 3)), rng.integers(0, 2, 1000)
    x[:10, 0] = [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]
    whole = NaiveBayes().fit(x, y)
    parts = NaiveBayes().partial_fit(x[:10], y[:10])
    assert parts.kinds_["x0"] == "gaussian" and whole.kinds_["x0"] == "categorical"
    same(parts.partial_fit(x[10:], y[10:]), whole, x)
    a, b = NaiveBayes().fit(x[:10], y[:10]), NaiveBayes().fit(x[10:], y[10:])
    same(a.merge(b), whole, x)


def test_few_values_first_and_many_later():
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 3, (60, 2)), rng.integers(0, 2, 60)
    x[40:, 0] = np.arange(100, 120)
    x[40:, 1] = np.arange(30, 50)
    whole = NaiveBayes().fit(x, y)
    assert set(whole.kinds_.values()) == {"gaussian"}
    parts = NaiveBayes().partial_fit(x[:40], y[:40])
    assert set(parts.kinds_.values()) == {"categorical"}
    parts = pickle.loads(pickle.dumps(parts))
    same(parts.partial_fit(x[40:], y[40:]), whole, x)
    same(parts.partial_fit(x[:1], y[:1]), NaiveBayes().fit(np.vstack([x, x[:1]]), [*y, y[0]]), x)


@quiet
def test_whole_numbers_before_decimals():
    """An array of whole numbers and one of decimals are decimals together."""
    x, y = np.array([[0], [1], [1], [0]]), [0, 1, 1, 0]
    later, z = np.array([[0.5], [1.5]]), [0, 1]
    whole = NaiveBayes().fit(np.vstack([x, later]), [*y, *z])
    same(NaiveBayes().partial_fit(x, y).partial_fit(later, z), whole, later)
    same(NaiveBayes().fit(x, y).merge(NaiveBayes().fit(later, z)), whole, later)
    same(NaiveBayes().fit(later, z).merge(NaiveBayes().fit(x, y)), whole, later)


@quiet
def test_a_class_by_its_name_may_be_alone_or_missing_in_a_part():
    table = {"x": list("abab"), "i": [None, None, 3, 4], "y": ["u", "u", None, "v"]}
    whole = NaiveBayes().fit(table, "y")
    parts = NaiveBayes()
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
            "late": [None] * 30 + list("abc" * 20),
            "same": ["k"] * 30 + list("kl" * 30),
            "few": [*range(8), *[0] * 22, *rng.integers(0, 8, 60)],
            "many": [0, 1] * 15 + rng.integers(0, 90, 60).tolist(),
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

    whole = NaiveBayes().fit(file("all", table), "y")
    pieces = [file(str(i), table[i : i + 30]) for i in (0, 30, 60)]
    parts = NaiveBayes()
    for piece in pieces:
        parts.partial_fit(piece, "y")
    rows = table.drop(columns="y").to_dict("list")
    same(parts, whole, rows)
    a, b = NaiveBayes().partial_fit(pieces[1], "y"), NaiveBayes().partial_fit(pieces[2], "y")
    same(a.merge(NaiveBayes().partial_fit(pieces[0], "y")).merge(b), whole, rows)
    models = [cr.naive_bayes(p, "y") for p in pieces[1:]]
    both = cr.naive_bayes(file("both", table[30:]), "y")
    total = models[0] + models[1]
    assert total.names == both.names
    assert np.abs(total.predict_proba(rows) - both.predict_proba(rows)).max() < 1e-12


def test_each_column_set_aside_is_told_once():
    with pytest.warns(CredoWarning, match="'x0'") as told:
        clf = NaiveBayes().partial_fit([[None, 1.5]], ["u"])
    assert len([w for w in told if "set aside" in str(w.message)]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", CredoWarning)
        clf.partial_fit([[None, 2.5]], ["v"])
        clf.partial_fit([["a", 2.5], ["b", 3.5]], ["v", "u"])
    assert clf.kinds_ == {"x0": "categorical", "x1": "gaussian"}


@quiet
def test_rows_of_which_no_column_can_be_used():
    with pytest.raises(TableError, match="Every cell of the table is missing"):
        NaiveBayes().fit([[None], [None]], [0, 1])
    clf = NaiveBayes().partial_fit({"a": [None, None, None]}, [0, 1, 1])
    assert clf.kinds_ == {}
    np.testing.assert_allclose(clf.predict_proba({"a": ["u", "v"]}), [[1 / 3, 2 / 3]] * 2)


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
def test_numbers_beside_text_are_named():
    clf = NaiveBayes().partial_fit({"a": [i / 8 for i in range(30)]}, [0, 1, 1] * 10)
    with pytest.raises(SchemaError, match="'a' holds numbers in some rows and 'x' in others"):
        clf.partial_fit({"a": ["x", "z"]}, [0, 1])


@quiet
def test_columns_that_only_one_part_has():
    clf = NaiveBayes().partial_fit({"a": ["u", "v"], "b": ["p", "q"]}, [0, 1])
    with pytest.raises((SchemaError, InputError), match="'b'"):
        clf.partial_fit({"a": ["u", "v"]}, [0, 1])
    with pytest.raises((SchemaError, InputError), match="'b'"):
        clf.merge(NaiveBayes().fit({"a": ["u", "v"]}, [0, 1]))


@quiet
@pytest.mark.parametrize("rows", [[[1, 2], [3, 4], [5, 6], [7, 9]], [["a", 1.5], ["b", 2.5]] * 2])
def test_which_columns_vary_together_must_be_known_before_the_first_part(rows):
    y = [0, 1, 0, 1]
    rows = np.array(rows) if isinstance(rows[0][0], int) else rows
    NaiveBayes(covariance="full").fit(rows, y)  # all rows at once say what they are
    with pytest.raises(InputError, match=r"before the first rows what .*'x0'") as error:
        NaiveBayes(covariance="full").partial_fit(rows, y)
    assert "kinds=" in error.value.hint
    decimals = np.random.default_rng(0).normal(size=(20, 2))
    labels = np.arange(20) % 2
    parts = NaiveBayes(covariance="full").partial_fit(decimals[:9], labels[:9])
    parts.partial_fit(decimals[9:], labels[9:])
    whole = NaiveBayes(covariance="full").fit(decimals, labels)
    np.testing.assert_allclose(
        parts.predict_log_proba(decimals), whole.predict_log_proba(decimals), rtol=1e-9
    )


@quiet
@pytest.mark.parametrize("kinds", ["auto", "categorical"])
def test_a_polars_column_with_nulls_in_one_part_only(kinds):
    n = 40
    numbers = {"id": list(range(1, n + 1)), "same": [3] * n, "few": [1, 2, 3, 4] * (n // 4)}
    if kinds == "auto":
        numbers["flat"] = [2.5] * n
    gaps = {k: [None if 25 <= i < 30 else v for i, v in enumerate(c)] for k, c in numbers.items()}
    rows = pl.DataFrame({**gaps, "sure": ["u", "v"] * (n // 2)})
    y = np.array(["a", "b", "b", "a", "b"] * (n // 5))
    whole = NaiveBayes(kinds=kinds).fit(rows, y)
    for cut in (10, 27):
        parts = NaiveBayes(kinds=kinds).partial_fit(rows[:cut], y[:cut])
        same(parts.partial_fit(rows[cut:], y[cut:]), whole, rows)
        halves = [
            NaiveBayes(kinds=kinds).fit(rows[p], y[p]) for p in (slice(0, cut), slice(cut, n))
        ]
        same(halves[0].merge(halves[1]), whole, rows)


@pytest.mark.parametrize("kinds", ["auto", "bernoulli", "categorical", "counts"])
def test_wide_arrays_row_by_row_are_the_whole(kinds):
    """More columns than one block of the kernels, and rows of one class at a time."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(12, 1100)) if kinds == "auto" else rng.integers(0, 3, (12, 1100))
    y = np.array(list("abcbacabcabc"))
    weight = rng.integers(1, 4, 12)
    parts = NaiveBayes(kinds=kinds).partial_fit(x[:5], y[:5], ["a", "b", "c"], weight[:5])
    for i in range(5, 12):
        parts.partial_fit(x[i : i + 1], y[i : i + 1], sample_weight=weight[i : i + 1])
    whole = NaiveBayes(kinds=kinds).fit(x, y, weight)
    assert parts.classes_.tolist() == whole.classes_.tolist()
    assert parts.class_count_.tolist() == whole.class_count_.tolist()
    np.testing.assert_allclose(parts.predict_log_proba(x), whole.predict_log_proba(x), rtol=1e-9)


def test_options_that_do_not_fit_are_refused_when_rows_come():
    """Not at the first question: the model is learned late, its options are looked at at once."""
    for wrong in ({"smoothing": -1}, {"smoothing": {"x9": 1}}, {"class_prior": [1, 2, 3]}):
        with pytest.raises((ValueError, CredoError)):
            NaiveBayes(**wrong).partial_fit([["u"], ["v"]] * 4, [0, 1] * 4)
