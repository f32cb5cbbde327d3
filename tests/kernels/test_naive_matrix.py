"""The kernels of naive Bayes that take a matrix, and whole blocks of features, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credo import _core
from credo.train.naive_bayes.fit import log_shares

TYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32, np.float32, np.float64, bool]
SEEDS = st.integers(0, 2**32 - 1)


def laid_out(x, how):
    """The same numbers row by row, column by column, or with room between them."""
    if how == "columns":
        return np.asfortranarray(x)
    if how == "apart":
        wide = np.zeros((2 * len(x) + 1, 3 * x.shape[1] + 1), x.dtype)
        wide[1::2, 1::3] = x
        return wide[1::2, 1::3]
    return np.ascontiguousarray(x)


@given(SEEDS, st.sampled_from(TYPES), st.sampled_from(["rows", "columns", "apart"]))
def test_a_matrix_is_the_list_of_its_columns(seed, dtype, how):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(1, 400)), int(rng.integers(1, 12)), 3
    x = laid_out(rng.integers(0, 4, (n, d)).astype(dtype), how)
    group = rng.integers(0, k + 1, n).astype(np.uint32)
    columns = [x[:, j] for j in range(d)]
    w = rng.random(n)
    for window in ((0, 3, None, 3), (0, -1, None, 2)):
        one = _core.naive_counts(x, window, group, k, w, 2)
        np.testing.assert_array_equal(one, _core.naive_counts(columns, [window] * d, group, k, w))
    for found, other in (
        (_core.naive_moments(x, group, k, w), _core.naive_moments(columns, group, k, w, 2)),
        (_core.naive_totals(x, group, k, w), _core.naive_totals(columns, group, k, w, 2)),
        (_core.naive_ranges(x), _core.naive_ranges(columns)),
    ):
        for a, b in zip(found, other, strict=True):
            np.testing.assert_array_equal(a, b)
    some = np.flatnonzero(rng.random(d) < 0.6)
    part = _core.naive_moments((x, some), group, k)
    for a, b in zip(part, _core.naive_moments(x, group, k), strict=True):
        np.testing.assert_allclose(a, b[some], rtol=1e-13, atol=1e-13)


@given(
    SEEDS, st.integers(1, 40), st.sampled_from([2, 3, 8, 17]), st.sampled_from([0, 3, 700, 1100])
)
def test_states_of_a_matrix_in_few_rows_and_in_many(seed, d, states, n):
    """Few rows add the tables of columns, many look them up together: the same bits."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 20))
    x = rng.integers(0, states + 1, (n, d))  # the last was not seen in training
    tables = rng.normal(size=(d, states + 2, k))
    tables[:, states] = 0
    bias = rng.normal(size=k)
    empty = np.zeros((0, k))
    rows = np.full(d, states + 2)
    flat = np.ascontiguousarray(tables.reshape(-1, k))
    arrays = (np.zeros(d, np.int64), np.full(d, states), np.full(d, states),
              np.zeros(0, np.uint16), np.full(d, -1))  # fmt: skip
    makers = [lambda: _core.NaiveScorer(bias, rows, [], flat, empty, empty),
              lambda: _core.NaiveScorer(bias, [(j, states + 2) for j in range(d)], [], flat, empty,
                                        empty)]  # fmt: skip
    code = np.where(x == states, states + 1, x)
    expected = bias + tables[np.arange(d), code].sum(axis=1)
    found = []
    for make in makers:
        for windows in ((0, states, None, states), [(0, states, None, states)] * d, arrays):
            joint, _, strange, _, _ = make().score(x, windows, [], n, None, "joint", 1)
            np.testing.assert_allclose(joint, expected, atol=1e-11)
            assert strange == np.flatnonzero((x == states).any(axis=0)).tolist()
            found.append(joint)
    scorer = makers[0]()
    for first in range(0, n, 100):  # before the tables are multiplied out
        part = scorer.score(x[first : first + 100], arrays, [], len(x[first : first + 100]), None,
                            "joint", 1)  # fmt: skip
        found.append(np.concatenate([part[0], found[0][first + 100 :]]))
        np.testing.assert_array_equal(part[0], found[0][first : first + 100])
    for other in found[1:6]:
        np.testing.assert_array_equal(other, found[0])
    if n:
        best = scorer.score(np.asfortranarray(x), arrays, [], n, None, "best", 2)[0]
        np.testing.assert_array_equal(best, found[0].argmax(axis=1))


@given(SEEDS, st.integers(1, 25), st.sampled_from([5, 900]), st.sampled_from(TYPES))
def test_numbers_above_zero_or_not(seed, d, n, dtype):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 7))
    low = 0 if np.dtype(dtype).kind in "ub" else -2
    x = rng.integers(low, 3, (n, d)).astype(dtype)
    tables = rng.normal(size=(d, 4, k))
    empty = np.zeros((0, k))
    flat = np.ascontiguousarray(tables.reshape(-1, k))
    scorer = _core.NaiveScorer(np.zeros(k), np.full(d, 4), [], flat, empty, empty)
    joint, _, strange, _, _ = scorer.score(x, (0, -1, None, 2), [], n, None, "joint", 1)
    assert not strange
    expected = tables[np.arange(d), (x > 0).astype(int)].sum(axis=1)
    np.testing.assert_allclose(joint, expected, atol=1e-12)


@given(SEEDS, st.sampled_from(["rows", "columns", "apart"]), st.sampled_from(TYPES), st.booleans())
def test_counts_of_a_matrix(seed, how, dtype, ruled):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(1, 300)), int(rng.integers(1, 40)), int(rng.integers(1, 30))
    x = laid_out(rng.poisson(1, (n, d)).astype(dtype), how)
    known = x.astype(float)
    weights, bias = rng.normal(size=(d, k)), rng.normal(size=k)
    if ruled:
        weights[rng.random(weights.shape) < 0.05] = -np.inf
    empty = np.zeros((0, k))
    scorer = _core.NaiveScorer(bias, [], [], empty, empty, empty, weights)
    for present in (False, True):
        y = (known > 0).astype(float) if present else known
        with np.errstate(invalid="ignore"):
            terms = np.where(y[:, :, None] == 0, 0.0, y[:, :, None] * weights).sum(axis=1)
        joint, _, _, _, fine = scorer.score([], [], [], n, None, "joint", 1, x, present, False)
        assert fine
        np.testing.assert_allclose(joint, bias + terms, atol=1e-9)
        best = scorer.score([], [], [], n, None, "best", 2, x, present)[0]
        np.testing.assert_array_equal(best, joint.argmax(axis=1))
        group = rng.integers(0, 2, n).astype(np.uint32)
        totals, fine = _core.naive_totals(x, group, 2, None, 2, present, False)
        assert fine
        np.testing.assert_allclose(totals, [y[group == c].sum(axis=0) for c in range(2)])


@pytest.mark.parametrize("how", ["rows", "columns", "apart"])
@pytest.mark.parametrize("present", [False, True])
def test_a_missing_count_is_wrong_where_there_are_no_gaps(how, present):
    x = np.ones((300, 5))
    x[270, 2] = np.nan
    x, group = laid_out(x, how), np.zeros(300, np.uint32)
    totals, fine = _core.naive_totals(x, group, 1, None, 1, present)
    assert fine and totals.tolist() == [[300, 300, 299, 300, 300]]
    assert not _core.naive_totals(x, group, 1, None, 1, present, False)[1]
    empty = np.zeros((0, 2))
    scorer = _core.NaiveScorer(np.zeros(2), [], [], empty, empty, empty, np.ones((5, 2)))
    assert scorer.score([], [], [], 300, None, "best", 1, x, present)[4]
    assert not scorer.score([], [], [], 300, None, "best", 1, x, present, False)[4]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_columns_that_become_rows_keep_every_number(dtype):
    """Infinity, NaN and numbers too large for the quick way."""
    rng = np.random.default_rng(0)
    x = rng.integers(-5, 6, (70, 6)).astype(dtype)
    if dtype is np.int64:
        x[3, 1], x[68, 5], x[9, 2] = 2**60, -(2**55), 2**51
    else:
        x[3, 1] = np.nan
    group = np.zeros(70, np.uint32)
    rows, columns = (_core.naive_moments(m, group, 1) for m in (x, np.asfortranarray(x)))
    for a, b in zip(rows, columns, strict=True):
        np.testing.assert_array_equal(a, b)
    assert rows[1][:, 0] == pytest.approx(np.nanmean(x.astype(float), axis=0))
    if dtype is not np.int64:
        x[69, 4] = np.inf
        one = np.ones((6, 2))
        empty = np.zeros((0, 2))
        scorer = _core.NaiveScorer(np.zeros(2), [], [], empty, one, one)
        for how in ("rows", "columns", "apart"):
            assert scorer.score([], [], laid_out(x, how), 70, None, "joint", 1)[3] == [4]


@given(SEEDS)
def test_moments_of_two_parts(seed):
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    parts, rows = [], []
    for _ in range(2):
        x = rng.normal(1e6, 3, (30, d))
        group = rng.integers(0, k + 1, 30)
        rows.append((x, group))
        parts.append(_core.naive_moments(x, group.astype(np.uint32), k))
    both = _core.naive_merged(*parts[0], *parts[1])
    for a, b in zip(both, _core.naive_merged(*parts[1], *parts[0]), strict=True):
        np.testing.assert_array_equal(a, b)  # to the last bit
    x, group = (np.concatenate(p) for p in zip(*rows, strict=True))
    for c in range(k):
        mine = x[group == c]
        assert (both[0][:, c] == len(mine)).all()
        if len(mine):
            np.testing.assert_allclose(both[1][:, c], mine.mean(axis=0), rtol=1e-14)
            squares = ((mine - mine.mean(axis=0)) ** 2).sum(axis=0)
            np.testing.assert_allclose(both[2][:, c], squares, rtol=1e-6, atol=1e-6)


@given(SEEDS)
def test_moments_of_a_part_with_fewer_classes(seed):
    """Added at their places: as if the part had all classes, to the last bit."""
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 1200)), int(rng.integers(1, 6))
    where = rng.permutation(k)[: int(rng.integers(1, k + 1))].astype(np.int64)
    a = _core.naive_moments(rng.normal(3, 2, (7, d)), rng.integers(0, k, 7).astype(np.uint32), k)
    x, own = rng.normal(size=(4, d)), rng.integers(0, len(where), 4)
    b = _core.naive_moments(x, own.astype(np.uint32), len(where))
    spread = _core.naive_moments(x, where[own].astype(np.uint32), k)
    for some, every in zip(
        _core.naive_merged(*a, *b, where), _core.naive_merged(*a, *spread), strict=True
    ):
        np.testing.assert_array_equal(some, every)
    for wrong in (np.array([k]), np.array([-1])):
        part = _core.naive_moments(x, np.zeros(4, np.uint32), 1)
        with pytest.raises(ValueError, match="no class at a place"):
            _core.naive_merged(*a, *part, wrong.astype(np.int64))


@given(SEEDS, st.booleans(), st.booleans())
def test_gaussians(seed, sample, shrunk):
    """Means, variances and floors in a few lines of NumPy; see credo.train.naive_bayes.fit."""
    rng = np.random.default_rng(seed)
    d, k, share = int(rng.integers(1, 8)), int(rng.integers(1, 5)), 1e-3
    n = rng.integers(0, 4, (d, k)).astype(float)
    mean = np.where(n > 0, rng.normal(0, 5, (d, k)), 0.0)
    scatter = np.where(n > 1, rng.random((d, k)) * rng.choice([0.0, 1e-4, 1.0], (d, k)), 0.0)
    if rng.random() < 0.3:
        mean[:], scatter[:] = 7.0, 0.0
        mean[n == 0] = 0
    prior = rng.random(d) * shrunk
    found, variance, floored, constant = _core.naive_gaussians(
        n, mean, scatter, share, sample, prior
    )
    assert (found is None) == bool((n > 0).all())
    found = mean if found is None else found
    for j in range(d):
        total, within = n[j].sum(), scatter[j].sum()
        middle = (n[j] * mean[j]).sum() / total if total else 0.0
        pooled = within + (n[j] * (mean[j] - middle) ** 2).sum()
        if total and pooled < 1e-20:
            pooled = 0.0
        assert constant[j] == (pooled == 0)
        scale = (within if within > 0 else pooled) / max(total, 1)
        floor = scale * share if scale > 0 else max(middle**2, 1) * 1e-18
        for c in range(k):
            freedom = n[j, c] - sample
            expected = scatter[j, c] / freedom if freedom > 0 else 0.0
            if n[j, c] == 0 and total:
                expected = pooled / total
            assert floored[j, c] == (expected < floor)
            if shrunk and n[j, c]:
                expected = (scatter[j, c] + prior[j] * scale) / (n[j, c] + prior[j])
            assert variance[j, c] == pytest.approx(max(expected, floor), rel=1e-9)
            assert found[j, c] == pytest.approx(mean[j, c] if n[j, c] else middle, abs=1e-12)


def test_what_does_not_fit_is_refused():
    x, group = np.zeros((3, 2)), np.zeros(3, np.uint32)
    with pytest.raises(ValueError, match="not in the matrix"):
        _core.naive_moments((x, np.array([2])), group, 1)
    with pytest.raises(ValueError, match="as many rows as the first"):
        _core.naive_moments(x, group[:2], 1)
    with pytest.raises(ValueError, match="needs its window"):
        one = np.zeros(1, np.int64)
        _core.naive_counts(x, (one, one, one, np.zeros(0, np.uint16), one), group, 1)
    with pytest.raises(ValueError, match="must fit its window"):
        two = np.full(2, 3)
        _core.naive_counts(x, (two, two, two, np.zeros(1, np.uint16), two), group, 1)
    with pytest.raises(ValueError, match="one shape"):
        _core.naive_merged(x, x, x, x[:2], x[:2], x[:2])


@given(SEEDS, st.booleans(), st.booleans())
def test_log_shares(seed, whole, each):
    """The same as a few lines of NumPy, for classes without counts and no smoothing, too."""
    rng = np.random.default_rng(seed)
    d, k, w = int(rng.integers(1, 300)), int(rng.integers(1, 6)), int(rng.integers(1, 9))
    n = rng.integers(0, 4, (d, k, w)) * (rng.random((d, k, 1)) < 0.8)
    n = n if whole else n * rng.choice([1.0, 0.3, 1e-310], (d, k, 1))
    smoothing = rng.choice([0.0, 1.0, 0.5, 1e-310, 1e300], d if each else 1).repeat(
        1 if each else d
    )
    states = rng.integers(w, w + 3, d).astype(float)
    theta, fresh = _core.naive_log_shares(n, smoothing, states)
    with np.errstate(divide="ignore"):
        expected, new = log_shares(n.astype(float), smoothing[:, None], states[:, None])
    np.testing.assert_allclose(theta, expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(fresh, new, rtol=1e-13, atol=1e-13)


@given(SEEDS)
def test_usual_moments(seed):
    """All cells are looked at, whatever the size: one that is strange is found anywhere."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(0, 7)), int(rng.integers(0, 4))
    n = rng.integers(0, 4, shape).astype(float)
    mean, scatter = rng.normal(size=shape), rng.random(shape) + 1e-9
    scatter[rng.random(shape) < 0.3] = 0
    mean[n <= 1] *= rng.choice([0.0, 1.0])
    assert _core.naive_usual_moments(n, mean, scatter)
    if mean.size:
        where = np.unravel_index(int(rng.integers(mean.size)), shape)
        n[where] = 2
        for number, square in (
            (np.nan, 1.0), (-np.inf, 1.0), (1.0, 1e-300), (1.0, -1.0), (1.0, np.inf),
            (1.0, np.nan), (1e-200, 0.0), (0.0, 0.0),
        ):  # fmt: skip
            mean[where], scatter[where] = number, square
            assert not _core.naive_usual_moments(n, mean, scatter)
