"""The kernels of naive Bayes against a few lines of NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from credo import _core

TYPES = [
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
    np.float32,
    np.float64,
]


@given(st.integers(0, 2**32 - 1), st.sampled_from(TYPES), st.integers(1, 3), st.integers(0, 700))
def test_counts(seed, dtype, step, n):
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    wide = rng.integers(0, 6, (n * step, d)).astype(dtype)
    columns = [wide[::step, j] for j in range(d)]
    group = rng.integers(0, k + 1, n).astype(np.uint32)  # k: left out
    lut = np.array([0, 1, 4, 2], dtype=np.uint16)  # 3 states; 4 is not seen, missing is 3
    windows = [(1, 4, lut, 3)] * d
    for weights in (None, rng.integers(1, 5, n), rng.random(n)):
        found = _core.naive_counts(columns, windows, group, k, weights, 2).reshape(d, k, 5)
        expected = np.zeros((d, k, 5))
        for j in range(d):
            for r in range(n):
                v = int(columns[j][r]) - 1
                code = int(lut[v]) if 0 <= v < 4 else 4
                if group[r] < k:
                    expected[j, group[r], code] += 1 if weights is None else weights[r]
        assert np.allclose(found, expected, rtol=1e-12)


@given(st.integers(0, 2**32 - 1), st.sampled_from(TYPES), st.booleans())
def test_moments(seed, dtype, weighted):
    rng = np.random.default_rng(seed)
    n, k, d = int(rng.integers(1, 600)), int(rng.integers(1, 4)), int(rng.integers(1, 6))
    x = (rng.normal(50, 9, (n, d))).astype(dtype)
    if x.dtype.kind == "f":
        x[rng.random((n, d)) < 0.2] = np.nan
    group = rng.integers(0, k + 1, n).astype(np.uint32)
    w = rng.random(n) if weighted else None
    found = _core.naive_moments([x[:, j] for j in range(d)], group, k, w, 2)
    for c in range(k):
        for j in range(d):
            here = (group == c) & (x[:, j] == x[:, j])
            v, wt = x[here, j].astype(float), (np.ones(n) if w is None else w)[here]
            assert found[0][j, c] == pytest.approx(wt.sum())
            if len(v):
                mean = np.average(v, weights=wt)
                assert found[1][j, c] == pytest.approx(mean)
                assert found[2][j, c] == pytest.approx((wt * (v - mean) ** 2).sum(), abs=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(1, 19), st.booleans())
def test_scores(seed, k, apart):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 600))
    codes = rng.integers(0, 5, (n, 3)).astype(np.uint8)  # 3 states, missing, not seen
    reals = rng.normal(size=(n, 2))
    reals[rng.random((n, 2)) < 0.2] = np.nan
    bias = rng.normal(size=k)
    tables = rng.normal(size=(2 * 5 + 25, k))
    mean, variance = rng.normal(size=(2, k)), rng.random((2, k)) + 0.5
    extra = rng.normal(size=(n, k))
    scorer = _core.NaiveScorer(bias, [(0, 5), (1, 5)], [(0, 2, 5, 5)], tables, mean, variance)
    windows = [(0, 5, None, 3)] * 3
    columns = [codes[:, j].copy() if apart else codes[:, j] for j in range(3)]
    expected = bias + tables[codes[:, 0]] + tables[5 + codes[:, 1]] + extra
    expected = expected + tables[10 + codes[:, 0] * 5 + codes[:, 2]]
    for j in range(2):
        x = reals[:, j, None]
        density = norm.logpdf(x, mean[j], np.sqrt(variance[j]))
        expected += np.where(np.isnan(x), 0.0, density)
    given_reals = [reals[:, j] for j in range(2)]

    def run(answer, threads=1):
        return scorer.score(columns, windows, given_reals, n, extra, answer, threads)

    joint, bad, strange, infinite, _ = run("joint")
    assert bad == -1 and infinite == []
    assert strange == [j for j in range(3) if (codes[:, j] == 4).any()]
    assert np.allclose(joint, expected, atol=1e-12)
    top = expected.max(axis=1, keepdims=True)
    p = np.exp(expected - top)
    p /= p.sum(axis=1, keepdims=True)
    assert np.allclose(run("posterior")[0], p, atol=1e-14)
    assert np.allclose(run("log")[0], np.log(p), atol=1e-12)
    assert np.array_equal(run("best")[0], joint.argmax(axis=1))
    assert np.array_equal(run("posterior", 2)[0], run("posterior")[0])
    again = joint.copy()
    _core.naive_finish(again, "posterior")
    assert np.allclose(again, p, atol=1e-14)


def test_exponentials_are_right_to_the_last_places():
    x = np.concatenate([np.linspace(-750, 0, 20001), -np.geomspace(1e-300, 1, 500)])
    joint = np.stack([np.zeros_like(x), x], axis=1)
    _core.naive_finish(joint, "posterior")
    expected = np.exp(x) / (1 + np.exp(x))
    ok = x > -708
    assert np.abs(joint[ok, 1] / expected[ok] - 1).max() < 1e-15
    assert (joint[x < -708, 1] == 0).all()


@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.booleans())
def test_rows_that_lie_together_give_what_columns_give(seed, d, whole):
    """An array of rows is read as it lies; its columns apart, or of another type, are the same."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(0, 700)), 3
    group = rng.integers(0, k + 1, n).astype(np.uint32)
    if whole:
        x = rng.integers(-3, 5, (n, d))
        x[rng.random(x.shape) < 0.01] = rng.choice([-(2**63), 2**63 - 1])
        windows = [(-2, 4, None, 4) if j % 3 else (0, -1, None, 2) for j in range(d)]
        apart = [np.ascontiguousarray(x[:, j]) for j in range(d)]
        found = [
            _core.naive_counts(columns, windows, group, k, None, 2)
            for columns in ([x[:, j] for j in range(d)], apart)
        ]
        np.testing.assert_array_equal(found[0], found[1])
        return
    x = rng.normal(size=(n, d))
    x[rng.random(x.shape) < 0.1] = np.nan
    apart = [np.ascontiguousarray(x[:, j]) for j in range(d)]
    together = _core.naive_moments([x[:, j] for j in range(d)], group, k, None, 1)
    for a, b in zip(together, _core.naive_moments(apart, group, k, None, 2), strict=True):
        np.testing.assert_array_equal(a, b)


def test_logarithms_are_right_to_the_last_places():
    """ln of 1 and of every sum of classes, through the posteriors of many classes."""
    for k in (1, 2, 3, 5, 17, 40):
        joint = np.random.default_rng(k).normal(size=(1000, k)) * 5
        expected = joint - joint.max(axis=1, keepdims=True)
        expected = expected - np.log(np.exp(expected).sum(axis=1, keepdims=True))
        _core.naive_finish(joint, "log", 1)
        np.testing.assert_allclose(joint, expected, rtol=4e-15, atol=4e-15)


def test_an_infinite_cell_and_an_impossible_row_are_found():
    zero = np.array([[0.0, 0.0], [-np.inf, -np.inf], [0.0, 0.0], [0.0, 0.0]])
    one = np.ones((1, 2))
    scorer = _core.NaiveScorer(np.zeros(2), [(0, 4)], [], zero, one, one)
    codes, x = np.array([0, 1, 0], np.uint8), np.array([1.0, 2.0, np.inf])
    _, bad, _, infinite, _ = scorer.score([codes], [(0, 4, None, 2)], [x], 3, None, "posterior", 1)
    assert bad == 1 and infinite == [0]


def test_wrong_arrays_are_refused():
    empty = np.zeros((0, 2))
    with pytest.raises(ValueError, match="a row for each code"):
        _core.NaiveScorer(np.zeros(2), [(0, 4)], [], empty, empty, empty)
    with pytest.raises(ValueError, match="must fit its codes"):
        _core.naive_counts([np.zeros(3)], [(0, 9, None, 2)], np.zeros(3, np.uint32), 1)
    with pytest.raises(ValueError, match="out of range"):
        _core.sparse_joint(
            np.array([0, 1]), np.array([5]), np.array([1.0]), np.zeros((2, 2)), np.zeros(2)
        )
    with pytest.raises(ValueError, match="integers, floats or booleans"):
        _core.naive_ranges([np.array([1j])])


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([np.int32, np.int64]),
    st.sampled_from([np.int32, np.int64, np.float32, np.float64]),
    st.integers(1, 9),
)
def test_sparse(seed, index, value, k):
    import scipy.sparse as sp

    rng = np.random.default_rng(seed)
    n, v = int(rng.integers(1, 40)), int(rng.integers(1, 30))
    x = rng.poisson(0.3, (n, v))
    rows = sp.csr_array(x)
    parts = (rows.indptr.astype(index), rows.indices.astype(index), rows.data.astype(value))
    group = rng.integers(0, k + 1, n).astype(np.uint32)
    table, bias = rng.normal(size=(v, k)), rng.normal(size=k)
    for present, threads in ((False, 1), (True, 2), (False, 3)):
        y = (x > 0).astype(float) if present else x
        totals, fine = _core.sparse_totals(*parts, v, group, k, None, present, threads)
        assert fine
        assert np.allclose(totals, [y[group == c].sum(axis=0) for c in range(k)])
        joint, fine = _core.sparse_joint(*parts, table, bias, present, threads)
        assert fine and np.allclose(joint, bias + y @ table)


def test_kernel_density():
    from scipy.special import logsumexp

    rng = np.random.default_rng(0)
    points, w = np.sort(rng.normal(size=50)), rng.random(50)
    x = np.r_[rng.normal(size=20), 40.0, -1e5, np.nan]
    found = _core.log_kernel_density(x, points, w, 0.3)
    z = (x[:-1, None] - points) / 0.3
    expected = logsumexp(-0.5 * z * z, b=w, axis=1) - np.log(w.sum() * 0.3 * np.sqrt(2 * np.pi))
    assert np.allclose(found[:-1], expected, rtol=1e-12) and found[-1] == 0


@given(st.integers(0, 2**32 - 1), st.sampled_from(TYPES), st.booleans(), st.integers(1, 9))
def test_totals_and_counts(seed, dtype, apart, d):
    """Sums of counts by class, and ln P of counts, from rows and from columns of every type."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(0, 600)), int(rng.integers(1, 7))
    x = rng.poisson(2, (n, d)).astype(dtype)
    if x.dtype.kind == "f":
        x[rng.random((n, d)) < 0.1] = np.nan
    known = np.nan_to_num(x).astype(float)
    group = rng.integers(0, k + 1, n).astype(np.uint32)
    columns = [np.ascontiguousarray(x[:, j]) if apart else x[:, j] for j in range(d)]
    for w in (None, rng.random(n)):
        totals, fine = _core.naive_totals(columns, group, k, w, 2)
        weighed = known if w is None else known * w[:, None]
        assert fine and np.allclose(totals, [weighed[group == c].sum(axis=0) for c in range(k)])
    weights = rng.normal(size=(d, k))
    if d > 1:
        weights[0, 0] = -np.inf
    empty = np.zeros((0, k))
    scorer = _core.NaiveScorer(np.zeros(k), [], [], empty, empty, empty, weights)
    joint, _, _, _, fine = scorer.score([], [], [], n, None, "joint", 1, columns)
    with np.errstate(invalid="ignore"):
        terms = np.where(known[:, :, None] == 0, 0.0, known[:, :, None] * weights)
    assert fine and np.allclose(joint, terms.sum(axis=1))


@pytest.mark.parametrize("bad", [-1.0, np.inf, -np.inf])
def test_what_is_no_count_is_found(bad):
    x = np.ones((700, 5))
    x[650, 3] = bad
    columns = [x[:, j] for j in range(5)]
    assert not _core.naive_totals(columns, np.zeros(700, np.uint32), 1)[1]
    whole = np.ones((700, 5), dtype=np.int64)
    whole[650, 1] = -1
    assert not _core.naive_totals([whole[:, j] for j in range(5)], np.zeros(700, np.uint32), 1)[1]
    whole[650, 1] = 2**52 + 2
    totals, fine = _core.naive_totals([whole[:, j] for j in range(5)], np.zeros(700, np.uint32), 1)
    assert fine and totals[0, 1] == 2**52 + 2 + 699
    begin, at = np.array([0, 1]), np.array([0])
    value = np.array([bad])
    assert not _core.sparse_totals(begin, at, value, 1, np.zeros(1, np.uint32), 1)[1]
    assert not _core.sparse_joint(begin, at, value, np.zeros((1, 9)), np.zeros(9))[1]
    assert not _core.sparse_joint(begin, at, value, np.zeros((1, 3)), np.zeros(3))[1]


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16]),
    st.sampled_from([-(2**62), -(2**31), -200, 0, 3, 2**31 - 5, 2**40]),
)
def test_numbers_side_by_side_are_encoded_like_any_others(seed, dtype, low):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 600))
    limits = np.iinfo(dtype)
    near = np.clip(low + rng.integers(-4, 9, n), limits.min, limits.max)
    x = np.where(rng.random(n) < 0.2, rng.choice([limits.min, limits.max], n), near).astype(dtype)
    spread = np.zeros((n, 3), dtype)
    spread[:, 1] = x
    group = np.zeros(n, np.uint32)
    for window in ((low, 5, None, 5), (0, -1, None, 2)):
        found = [_core.naive_counts([c], [window], group, 1) for c in (x, spread[:, 1])]
        np.testing.assert_array_equal(*found)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["multinomial", "bernoulli", "complement"]))
def test_text_table(seed, form):
    """The weights of words in a few lines of NumPy; see credo.train.naive_bayes.text."""
    rng = np.random.default_rng(seed)
    k, v = int(rng.integers(1, 6)), int(rng.choice([0, 1, 63, 64, 200, 20_000]))
    l = rng.choice([1.0, 0.01, 0]) * rng.choice([1.0, 2.5], v)  # noqa: E741
    if form != "multinomial":
        l = np.maximum(l, 1e-3)  # noqa: E741
    weight = rng.integers(1, rng.choice([50, 5000]), k).astype(float)
    n = np.floor(rng.random((k, v)) ** 9 * (weight[:, None] + 1))
    n[:, rng.random(v) < 0.3] = 0
    if form == "multinomial" and rng.random() < 0.3:
        n[0] = 0
    table, bias = _core.text_table(n, form, weight, l)
    expected = np.zeros(k)
    with np.errstate(divide="ignore"):
        if form == "multinomial":
            total = n.sum(axis=1, keepdims=True) + l.sum()
            twin = np.log(n + l) - np.log(np.where(total > 0, total, 1))
            twin[total[:, 0] == 0] = -np.log(max(v, 1))
        elif form == "bernoulli":
            gone = weight[:, None] - n + l
            twin = np.log(n + l) - np.log(gone)
            expected = np.log(gone / (weight[:, None] + 2 * l)).sum(axis=1)
        else:
            other = n.sum(axis=0) + l - n
            twin = -np.log(other / other.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(table, twin.T, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(bias, expected, rtol=1e-11, atol=1e-11)
