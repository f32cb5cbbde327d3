"""Counts, moments and rows are values: checked at the door, their own arrays, one form."""

import copy
import dataclasses
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.core.schema import Variable
from credo.errors import InputError, LimitError
from credo.stats.rows import Rows

A = Variable("a", "discrete", ("x", "y"))
B = Variable("b", "discrete", (0, 1, 2))
X = Variable("x", "continuous")


def moments(n, mean, scatter, where=None):
    where = [[i] for i in range(len(n))] if where is None else where
    return cr.Moments((A,), (X,), where, n, mean, scatter)


def test_a_statistic_does_not_change_with_the_callers_array():
    values = np.array([1, 2])
    counts = cr.Counts((A,), values)
    values[0] = 99
    assert counts.values.tolist() == [1, 2] and not counts.values.flags.writeable
    view = np.array([1.0, 2.0])
    seen = view.view()
    seen.flags.writeable = False  # read-only, but not its memory
    counts = cr.Counts((A,), seen)
    view[0] = 99
    assert counts.values.tolist() == [1.0, 2.0]
    where, n, mean, scatter = np.array([[1]]), np.array([2.0]), np.ones((1, 1)), np.ones((1, 1, 1))
    held = cr.Moments((A,), (X,), where, n, mean, scatter)
    where[0], n[0], mean[0], scatter[0] = 0, 9, 9, 9
    assert held == moments([2.0], [[1.0]], [[[1.0]]], [[1]])
    codes, weights = np.array([0, 1]), np.array([3, 4])
    rows = Rows((A,), (codes,), weights)
    codes[0], weights[0] = 1, 9
    assert list(rows.items()) == [(("x",), 3), (("y",), 4)]


def test_sparse_counts_have_one_form():
    one = cr.Counts((A, B), [1, 2], [[0, 2], [1, 0]])
    assert cr.Counts((A, B), [2, 1], [[1, 0], [0, 2]]) == one
    assert cr.Counts((A, B), [2, 0, 1], [[1, 0], [0, 0], [0, 2]]) == one
    again = cr.Counts((A, B), [1, 1, 1], [[1, 0], [0, 2], [1, 0]])
    assert again == one and again.total == again.dense().total == 3
    assert cr.Counts((A,), [1, 2], [[0], [1]]) == cr.Counts((A,), [1, 2])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: cr.Counts((A,), [1, 2], [[0], [5]]), "codes of 'a' are 0 to 1, got 5"),
        (lambda: cr.Counts((A,), [1, 2], [[0], [-1]]), "codes of 'a' are 0 to 1, got -1"),
        (lambda: cr.Counts((A,), [1, 2], [[0.5], [1]]), "whole numbers"),
        (lambda: cr.Counts((A,), [1, 2], [[0]]), "one row of codes for each value"),
        (lambda: cr.Counts((A, A), [[1, 2], [3, 4]]), "Two axes of counts have the name 'a'"),
        (lambda: cr.Counts((A,), [1, 2], skipped=float("nan")), "skipped weight"),
        (lambda: cr.Counts((A,), [1, 2], skipped="3"), "skipped weight"),
        (lambda: moments([0], [[1]], [[[1]]]), "finite and above 0"),
        (lambda: moments([-1], [[1]], [[[1]]]), "finite and above 0"),
        (lambda: moments([float("nan")], [[1]], [[[1]]]), "finite and above 0"),
        (lambda: moments([2], [[1]], [[[-1]]]), "not be negative"),
        (lambda: moments([2], [["u"]], [[[1]]]), "must be numbers"),
        (lambda: moments([2], [[1]], [[[1]]], [[7]]), "codes of 'a' are 0 to 1, got 7"),
        (lambda: cr.Moments((), (X, X), [[]], [1], [[1, 1]], [np.eye(2)]), "the name 'x'"),
        (lambda: Rows((A,), ([0, 7],), [1, 1]), "codes of 'a' are 0 to 1, and 2 for missing"),
        (lambda: Rows((A,), ([0, 1],), [1, -1]), "above 0"),
    ],
)
def test_what_cannot_be_a_statistic_is_refused(make, said):
    with pytest.raises(InputError, match=said):
        make()


def test_lists_and_numpy_numbers_are_taken():
    counts = cr.Counts((A,), [1, 2], skipped=np.int64(3))
    assert counts.skipped == 3 and type(counts.skipped) is int
    merged = moments([2, 3], [[1], [2]], [[[1]], [[0]]], [[1], [0]])
    assert merged == moments([3, 2], [[2], [1]], [[[0]], [[1]]])
    twice = moments([2, 3], [[1], [2]], [[[1]], [[0]]], [[1], [1]])
    assert twice == moments([2], [[1]], [[[1]]], [[1]]) + moments([3], [[2]], [[[0]]], [[1]])
    assert Rows((A,), ([1, 0, 1],), [1, 1, 1]) == Rows((A,), ([0, 1],), [1, 2])


def test_whole_counts_never_turn_negative():
    with pytest.raises(LimitError, match="add up to"):
        cr.Counts((A,), [2**62, 2**62])
    half = cr.Counts((A,), [2**61, 2**61])
    assert half.total == 2**62
    with pytest.raises(LimitError, match=f"add up to {2**63:,}"):
        half + half
    with pytest.raises(LimitError, match="add up to"):
        half.sparse() + half.sparse()


def test_printed_statistics_say_what_they_leave_out():
    many = Variable("m", "discrete", tuple(range(100)))
    wide = cr.Counts((many, A), np.ones((100, 2), int))
    assert str(wide).endswith("\n… 40 more") and "… 40 more" in wide._repr_html_()
    assert "more" not in str(cr.Counts((B, A), np.ones((3, 2), int)))
    long = cr.Counts((many,), np.r_[np.ones(70, int), np.zeros(30, int)])
    assert str(long).endswith("\n… 10 more")
    some = cr.Moments((many,), (X,), np.arange(100)[:, None], np.ones(100),
                      np.zeros((100, 1)), np.zeros((100, 1, 1)), 5)  # fmt: skip
    assert str(some).endswith("\n… 40 more\n(5 rows skipped: a cell was missing)")


def test_weights_of_any_kind_add_up(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    codes = rng.integers(0, 3, (3_000, 2))
    for weights in (rng.integers(1, 9, 3_000), rng.random(3_000)):
        cells = np.column_stack([codes, weights]).tolist()
        lines = [f"{a:g},{b:g},{w!r}" for a, b, w in cells]
        path.write_text("\n".join(["a,b,w", *lines]) + "\n")
        table, stream = cr.read(path, weights="w"), cr.read(path, weights="w", memory="1B")
        whole = weights.dtype.kind == "i"
        assert not whole or (table.tally() == stream.tally() and table.unique() == stream.unique())
        assert table.tally().close_to(stream.tally())
        assert table.unique().close_to(stream.unique())
        parts = [table.take(slice(i, i + 1_000)) for i in (0, 1_000, 2_000)]
        one = parts[0].unique() + parts[1].unique() + parts[2].unique()
        other = parts[2].unique() + (parts[1].unique() + parts[0].unique())
        assert not whole or one == other == table.unique()
        assert one.close_to(other) and one.close_to(table.unique())
        assert not one.close_to(parts[0].unique())


G = cr.Variable("g", "discrete", ("a", "b"))


def test_totals_beyond_floats_are_infinite_not_an_error():
    counts = cr.Counts((G,), [1e308, 1e308])
    assert counts.total == np.inf and "inf" in repr(counts) and counts.close_to(counts)
    assert cr.Rows((G,), [[0, 1]], [1e308, 1e308]).total == np.inf
    assert cr.Moments.of({"x": [np.nan, np.nan]}, weights=[1e308, 1e308]).skipped == np.inf


def test_moments_that_are_given_must_be_numbers_and_symmetric():
    x, y = (cr.Variable(n, "continuous") for n in "xy")
    for scatter, words in [
        ([[1.0, np.nan], [np.nan, 1.0]], "must be numbers"),
        ([[1.0, 0.5], [0.2, 1.0]], "must be symmetric"),
        ([[1.0, 5.0], [5.0, 1.0]], "must be positive semi-definite"),
        ([[1.0, 1.0 + 1e-5], [1.0 + 1e-5, 1.0]], "must be positive semi-definite"),
    ]:
        with pytest.raises(InputError, match=words):
            cr.Moments((), (x, y), np.zeros((1, 0)), [3.0], [[0.0, 0.0]], [scatter])
    for scatter in ([[1.0, 1.0], [1.0, 1.0]], [[1e280, -1e280], [-1e280, 1e280]], np.zeros((2, 2))):
        cr.Moments((), (x, y), np.zeros((1, 0)), [3.0], [[0.0, 0.0]], [scatter])


def test_slices_of_fractional_counts_are_what_they_were_rounded_from():
    rng = np.random.default_rng(0)
    a, b = (cr.Variable(n, "discrete", tuple(range(4))) for n in "AB")
    parts = [cr.Counts((a, b), rng.random((4, 4))) for _ in range(5)]
    whole = sum(parts)
    for i in range(4):
        assert whole[{"A": i}] == sum(p[{"A": i}] for p in parts)
        assert whole.sparse()[{"A": i}].dense() == whole[{"A": i}]
    assert whole.marginal(["B", "A"]) == sum(p.marginal(["B", "A"]) for p in parts)
    assert whole.marginal([]).sparse().dense().total == whole.total
    again = pickle.loads(pickle.dumps(whole))
    assert again == whole and again + whole == whole + whole
    with pytest.raises(ValueError, match="read-only"):
        again.values[0, 0] = 99


def test_weights_too_small_are_judged_of_all_parts_together(tmp_path):
    path = tmp_path / "t.parquet"
    w = np.r_[np.full(300, 1.5), np.full(100, 1e-250)]
    rng = np.random.default_rng(0)
    frame = {"x": rng.normal(size=400), "g": ["a", "b"] * 200, "w": w}
    pq.write_table(pa.table(frame), path, row_group_size=50)
    families = ["x", ("x", ["g"])]
    table, stream = cr.read(path, weights="w"), cr.read(path, weights="w", memory="1 B")
    assert isinstance(stream, cr.Stream)
    assert table.tally(families).close_to(stream.tally(families))
    with pytest.raises(InputError, match="The weights are too small"):
        table.take(slice(300, None)).tally(families)


def test_statistics_stay_read_only_when_pickled_and_copied():
    moments = cr.Moments.of({"x": [1.0, 2.0]}, weights=[0.5, 1.5])
    rows = cr.Rows((G,), [[0, 1]], [1.5, 2.5])
    for again in (lambda v: pickle.loads(pickle.dumps(v)), copy.deepcopy, copy.copy):
        m, r = again(moments), again(rows)
        assert m == moments and r == rows and m + m == moments + moments and r + r == rows + rows
        for array in (m.n, m.mean, m.scatter, m.configurations, r.weights, *r.codes):
            assert not array.flags.writeable


def test_a_tally_cannot_be_changed():
    tally = cr.tally(cr.examples.pneumonia(), ["Fev"])
    for name in ("rows", "families", "more"):
        with pytest.raises(
            dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"
        ):
            setattr(tally, name, 99)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'rows'"):
        del tally.rows
    assert tally.rows == 12 and copy.deepcopy(tally) == tally


def test_a_family_is_found_whatever_its_parents_come_in():
    tally = cr.tally(cr.examples.pneumonia(), ["Fev", ("Fev", ["Pneu"]), ("Fev", ["Pneu", "Cou"])])
    for _ in range(2):  # at first, and when it was found before
        for parents in (["Pneu"], ["Pneu", "Cou"], ["Cou", "Pneu"], []):
            wanted = (*parents, "Fev")
            for given in (parents, tuple(parents), iter(parents), (p for p in parents)):
                assert tally["Fev", given].names == wanted
            assert tally[iter(["Fev", parents])].names == wanted


@pytest.mark.parametrize("tolerance", ["a", None, -1, np.nan, True])
def test_a_tolerance_is_a_number(tolerance):
    moments, table = cr.Moments.of({"x": [1.0, 2.0]}), cr.examples.pneumonia()
    counts, rows = cr.Counts((G,), [1, 2]), cr.Rows((G,), [[0, 1]], [1, 2])
    for value in (moments, counts, rows, cr.tally(table, ["Fev"])):
        with pytest.raises(InputError, match="The tolerance must be a number of 0 or more, got"):
            value.close_to(value, tolerance)
        assert value.close_to(value, np.float32(0.5)) and value.close_to(value, 0)
