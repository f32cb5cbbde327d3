"""Tables that lie in one array: a block of features is what the features one by one would be."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from credo import Variable
from credo.data.columns.columns import Column, Columns, columns_of, matrix_columns
from credo.errors import CredoWarning, ImpossibleError, InputError, UnknownNameError
from credo.estimators import NaiveBayes, TextNaiveBayes
from credo.estimators.inputs import encode_labels
from credo.model.naive_bayes.blocks import FeatureBlock
from credo.stats.window_counts import WindowCounts
from credo.train.naive_bayes.count import by_class
from credo.train.naive_bayes.fit import Options, train
from credo.train.naive_bayes.plan import plan_of

KINDS = ["categorical", "bernoulli", "gaussian", "counts", "auto"]
pytestmark = pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")


def table(kind, n, d, k, rng):
    y = rng.integers(0, k, n)
    if kind == "gaussian":
        x = rng.normal(size=(n, d)) + y[:, None]
        x[:, 0] = 3.0  # constant
        return x, y
    if kind == "counts":
        return rng.poisson(2, (n, d)), y
    x = rng.choice([-1, 0, 2, 5], (n, d))
    x[:, -1] = 4
    return x, y


def apart(columns):
    """The same columns, which nobody knows to lie in one array."""
    return Columns(columns.rows, {n: Column(c.values) for n, c in columns.by_name.items()})


def same(a, b):
    """Two models that are equal in every feature and note."""
    assert a.names == b.names and len(a.features) == len(b.features)
    for f, g in zip(a.features, b.features, strict=True):
        assert type(f) is type(g) and f.names == g.names
        for name in type(f).__dataclass_fields__:
            one, other = getattr(f, name), getattr(g, name)
            if isinstance(one, np.ndarray):
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
            else:
                assert one == other
    assert tuple(a.record.notes) == tuple(b.record.notes)
    np.testing.assert_array_equal(a.log_prior, b.log_prior)


@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS), st.booleans())
def test_a_block_is_the_features_one_by_one(seed, kind, weighted):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(1, 30)), int(rng.integers(1, 6)), int(rng.integers(1, 4))
    x, y = table(kind, n, d, k, rng)
    dtypes = [x.dtype, np.float32, np.float64] + ([np.int8] if x.dtype.kind == "i" else [])
    x = x.astype(dtypes[rng.integers(len(dtypes))])
    if x.dtype.kind == "f" and rng.random() < 0.5:
        x[rng.random(x.shape) < 0.2] = np.nan
    weights = rng.integers(1, 4, n) if weighted else None
    target = Variable("y", "discrete", tuple(range(k)))
    group = np.where(rng.random(n) < 0.1, k, y).astype(np.uint32)
    group[0] = 0
    columns = matrix_columns(x)
    models = []
    for given_ in (columns, apart(columns)):
        plan = plan_of(columns.names, kind)
        statistic = by_class(given_, group, target, plan, weights)
        models.append((train(statistic, Options(0.5)), dict(plan.kinds)))
    (a, kinds), (b, others) = models
    assert kinds == others
    assert not isinstance(b.statistic.counts, WindowCounts)
    same(a, b)
    assert a.statistic.weight.tolist() == b.statistic.weight.tolist()


@pytest.mark.parametrize("kind", ["categorical", "bernoulli", "gaussian", "counts"])
@pytest.mark.parametrize("to", [np.asarray, np.asfortranarray, pd.DataFrame, pl.DataFrame])
def test_answers_are_those_of_columns_apart(kind, to):
    rng = np.random.default_rng(3)
    x, y = table(kind, 700, 6, 3, rng)
    names = [f"x{j}" for j in range(6)]
    given_ = (
        to(x) if to in (np.asarray, np.asfortranarray) else to(dict(zip(names, x.T, strict=True)))
    )
    clf = NaiveBayes(kinds=kind).fit(given_, y)
    lists = NaiveBayes(kinds=kind).fit({n: v.copy() for n, v in zip(names, x.T, strict=True)}, y)
    for what in ("predict_log_proba", "predict_proba", "predict_joint_log_proba"):
        np.testing.assert_allclose(
            getattr(clf, what)(given_), getattr(lists, what)(dict(zip(names, x.T, strict=True))),
            rtol=1e-11, atol=1e-11,
        )  # fmt: skip
    assert (clf.predict(given_) == lists.predict(dict(zip(names, x.T, strict=True)))).all()
    one_by_one = np.concatenate([clf.predict_log_proba(given_[i : i + 1]) for i in range(40)])
    np.testing.assert_array_equal(one_by_one, clf.predict_log_proba(given_)[:40])


def test_a_model_that_was_made_stays_what_it_is():
    x, y = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]]), [0, 1, 0]
    clf = NaiveBayes(kinds="gaussian").partial_fit(x, y)
    model, before = clf.model_, clf.model_.features[0].mean.copy()
    clf.partial_fit(x + 5, y)
    assert model is not clf.model_ and (model.features[0].mean == before).all()
    block = model.statistic.moments
    for array in (block.n, block.mean, block.scatter):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1
    with pytest.raises(AttributeError):
        block.n = None


def test_blocks_are_sequences():
    x, y = np.arange(12).reshape(4, 3) % 5, [0, 1, 0, 1]
    for kind in ("categorical", "gaussian"):
        model = NaiveBayes(kinds=kind).fit(x, y).model_
        items = model.features
        assert len(items) == 3 and [f.names for f in items] == [("x0",), ("x1",), ("x2",)]
        assert items[-1].names == ("x2",) and [f.names[0] for f in items[1:]] == ["x1", "x2"]
        with pytest.raises(IndexError):
            items[3]
        assert model.feature("x1").names == ("x1",)


def test_numbers_far_apart_leave_the_block():
    """States in one narrow window are a block; when far ones come, the features stand alone."""
    near, far = np.array([[0, 1], [1, 1], [2, 0]]), np.array([[500, 1], [1, -400], [0, 0]])
    y = [0, 1, 0]
    whole = NaiveBayes(kinds="categorical").fit(np.concatenate([near, far]), y + y)
    parts = NaiveBayes(kinds="categorical").fit(near, y)
    assert isinstance(parts.model_.statistic.counts, WindowCounts)
    parts.partial_fit(far, y)
    assert not isinstance(parts.model_.statistic.counts, WindowCounts)
    same(parts.model_, whole.model_)
    parts.partial_fit(near, y)
    assert parts.class_count_.tolist() == [6, 3]


@pytest.mark.parametrize("strange", [1, 9, -3])
def test_states_that_were_not_seen(strange):
    """Between the states and beyond them, by each of the three rules."""
    x, y = np.array([[0, 0], [2, 1], [3, 0], [0, 1]]), [0, 1, 1, 0]
    rows = np.array([[strange, 1], [2, 0]])
    clf = NaiveBayes(kinds="categorical").fit(x, y)
    assert isinstance(clf.model_.features, FeatureBlock)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = clf.predict_proba(rows)
    assert [str(w.message) for w in caught if w.category is CredoWarning] == [
        f"States not seen in training were taken as missing: 'x0' ({strange})."
    ]
    assert found[0] == pytest.approx([clf.model_.p({"x1": 1})[c] for c in (0, 1)])
    clf.set_params(unseen="error")
    with pytest.raises(UnknownNameError, match=f"State {strange} is not one of 'x0'"):
        clf.predict(rows)
    clf.set_params(unseen="smooth")
    row = {"x0": strange, "x1": 1}
    expected = clf.model_.p(row, unseen="smooth")
    assert clf.predict_proba(rows)[0] == pytest.approx([expected[c] for c in (0, 1)])


def test_infinite_cells_and_impossible_rows_are_named():
    x, y = np.array([[1.0, 0.0, 2.0], [1.0, 1.0, 4.0], [1.0, 3.0, 3.0]]), [0, 1, 0]
    clf = NaiveBayes(kinds="gaussian").fit(x, y)
    rows = x.copy()
    rows[1, 2] = np.inf
    with pytest.raises(InputError, match="Row 2 of 'x2' is infinite"):
        clf.predict(rows)
    with pytest.raises(InputError, match="Row 2 of 'x2' is infinite"):
        clf.partial_fit(rows, y)
    rows[1, 2], rows[1, 0] = 4.0, np.inf  # x0 was constant, and is not looked at
    assert clf.predict(rows).tolist() == clf.predict(x).tolist()
    whole = NaiveBayes(0, kinds="categorical").fit([[0, 0], [1, 1]], [0, 1])
    with pytest.raises(ImpossibleError, match="Row 1 has probability zero in every class"):
        whole.predict([[0, 1]])
    with pytest.raises(InputError, match="The count 'x1' must not be negative; row 2 has -1"):
        NaiveBayes(kinds="counts").fit([[1, 2], [2, 1]], [0, 1]).predict([[1, 1], [1, -1]])
    with pytest.raises(InputError, match="'x1' must be finite and not negative"):
        NaiveBayes(kinds="counts").fit(np.array([[1, -2], [2, 1]]), [0, 1])
    tiny = np.array([[1e-160, 1.0], [-1e-160, 2.0], [0.0, 3.0]])
    with pytest.raises(InputError, match="'x0' are too close together"):
        NaiveBayes(kinds="gaussian").fit(tiny, [0, 0, 0])


def test_notes_are_told_when_they_are_asked_for():
    x = np.zeros((2, 500))
    x[1, :2] = 1.0
    with pytest.warns(CredoWarning, match=r"'x5' is constant: it tells nothing; and 494 more\."):
        clf = NaiveBayes(kinds="gaussian").fit(x, [0, 0])
    notes = clf.model_.record.notes
    assert len(notes) == 498 and notes[0].startswith("column 'x2' is constant")
    assert notes == tuple(notes) and hash(notes) == hash(tuple(notes))
    assert notes[-1] == notes[497] == list(notes)[497]
    assert pickle.loads(pickle.dumps(notes)) == notes
    one = NaiveBayes(kinds="categorical").fit(x.astype(int), ["a", None]).model_.record.notes
    assert one[0] == "column 'x0' has one state, 0: it tells nothing"
    assert one[-1] == "1 rows without a class were left out" and len(one) == 501


def test_many_threads_may_be_the_first_to_ask():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 6, (900, 12)), rng.integers(0, 3, 900)
    for kind in ("categorical", "gaussian"):
        expected = NaiveBayes(kinds=kind).fit(x, y).predict_log_proba(x)
        clf = NaiveBayes(kinds=kind).fit(x, y)
        sizes = [1, 900, 3, 700, 40, 900, 2, 600]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(clf.predict_log_proba, [x[:n] for n in sizes]))
        for n, answer in zip(sizes, found, strict=True):
            np.testing.assert_array_equal(answer, expected[:n])


def test_frames_that_are_one_array_and_frames_that_are_not():
    x = np.arange(6.0).reshape(3, 2)
    assert matrix_columns(x).matrix is x and matrix_columns(x.astype(object)) is None
    frame = pd.DataFrame(x, columns=["a", "b"])
    assert np.shares_memory(matrix_columns(frame).matrix, frame.to_numpy())
    assert matrix_columns(frame).names == ("a", "b")
    assert matrix_columns(frame.assign(c=1)) is None  # of two types
    assert matrix_columns(pd.DataFrame(x)) is None  # names that are no texts
    assert matrix_columns(pd.DataFrame(x, columns=["a", "a"])) is None
    assert matrix_columns(pl.DataFrame({"a": [1, None], "b": [1, 2]})) is None
    assert matrix_columns(pl.DataFrame({"a": [1, 2], "b": [1.0, 2]})) is None
    assert matrix_columns(pl.DataFrame({"a": [1.5, None], "b": [1.0, 2]})).names == ("a", "b")
    big = x.astype(">f8")
    assert matrix_columns(big) is None
    assert columns_of(big).by_name["x1"].values.tolist() == [1.0, 3.0, 5.0]
    clf = NaiveBayes(kinds="gaussian").fit(frame, [0, 1, 0])
    turned = frame[["b", "a"]]
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(turned)


@pytest.mark.parametrize("form", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float32, np.float64, bool])
def test_dense_documents_are_the_sparse_ones(form, dtype):
    rng = np.random.default_rng(2)
    x, y = rng.poisson(0.7, (300, 9)).astype(dtype), rng.integers(0, 3, 300)
    sparse = TextNaiveBayes(form).fit(sp.csr_array(x.astype(np.float64)), y)
    frame = pd.DataFrame(x, columns=[f"w{j}" for j in range(9)])
    weights = rng.integers(1, 4, 300)
    for dense in (x, np.asfortranarray(x), frame, x[:, ::-1][:, ::-1]):
        clf = TextNaiveBayes(form).fit(dense, y)
        np.testing.assert_allclose(clf.model_.table, sparse.model_.table, rtol=1e-12)
        for what in ("predict_log_proba", "predict_proba", "predict_joint_log_proba"):
            expected = getattr(sparse, what)(sp.csr_array(x.astype(np.float64)))
            np.testing.assert_allclose(getattr(clf, what)(dense), expected, atol=1e-11)
        assert (clf.predict(dense) == sparse.predict(sp.csr_array(x.astype(float)))).all()
    parts = TextNaiveBayes(form).partial_fit(x[:99], y[:99], [0, 1, 2], weights[:99])
    parts = pickle.loads(pickle.dumps(parts)).partial_fit(x[99:], y[99:], None, weights[99:])
    whole = TextNaiveBayes(form).fit(x, y, weights)
    np.testing.assert_allclose(parts.predict_proba(x), whole.predict_proba(x), atol=1e-12)


def test_dense_documents_that_are_none():
    x, y = np.array([[1.0, 2.0], [0.0, 1.0]]), [0, 1]
    clf = TextNaiveBayes().fit(x, y)
    for bad, why in ((np.nan, "contains NaN"), (np.inf, "infinity"), (-1.0, "Negative values")):
        rows = x.copy()
        rows[1, 0] = bad
        for ask in (lambda r: clf.predict(r), lambda r: TextNaiveBayes().fit(r, y)):
            with pytest.raises(ValueError, match=why):
                ask(rows)
    ruled = TextNaiveBayes(smoothing=0).fit(np.eye(2), y)
    with pytest.raises(ImpossibleError, match="Document 2 has probability zero"):
        ruled.predict(np.array([[1.0, 0.0], [1.0, 1.0]]))
    assert clf.explain([0.0, 3.0]).cells[0][:2] == ("x1", 3)
    with pytest.raises(ValueError, match="2 features"):
        clf.predict(np.ones((1, 3)))


@pytest.mark.parametrize(
    "y",
    [
        np.array([2.0, -1.0, 2.0]),
        np.array([0.5, 1e9, 0.5, 7.0]),
        np.array([1e15, 2.0]),
        np.array([1e300]),
        np.array([3, 1, 3], np.uint8),
        np.array([2**63 - 1, -(2**63)]),
        np.array([True, False, True]),
        np.array(["b", "a", "b"], dtype=object),
        np.array(["b", 1, "b", (2,)], dtype=object)[:1],
        np.array(["y", "x", "yy"]),
        ["b", "c", "a", "b"],
    ],
)
def test_labels_are_numbered_in_order(y):
    array = np.asarray(y)
    if array.dtype.kind == "f" and ((array != np.floor(array)) | (array > 1e200)).any():
        with pytest.raises(ValueError, match="Unknown label type"):
            encode_labels(y)
        return
    for gaps in (False, True):
        labels, codes = encode_labels(y, gaps)
        expected, places = np.unique(array, return_inverse=True)
        assert labels.tolist() == expected.tolist() and labels.dtype == expected.dtype
        assert codes.dtype == np.uint32 and codes.tolist() == places.tolist()


@pytest.mark.parametrize("first", [0, 1])
def test_a_column_without_a_value_in_one_part_gets_its_states_from_the_others(first: int) -> None:
    x = np.array([[np.nan, 1.0], [2.0, np.nan], [3.0, 1.0]])
    y = np.array([0, 1, 0])
    order = np.roll(np.arange(3), -first)
    parts = NaiveBayes(kinds="categorical")
    for i in order:
        parts.partial_fit(x[[i]], y[[i]], classes=[0, 1])
    whole = NaiveBayes(kinds="categorical").fit(x, y)
    assert parts.model_.features[0].variable.states == (2, 3)
    assert np.array_equal(parts.predict_proba(x), whole.predict_proba(x))
