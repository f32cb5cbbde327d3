"""The kernels of k-means and of points against NumPy, SciPy and scikit-learn, on every path."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import KMeans, kmeans_plusplus

from credo import _core
from credo.train.clusters.lloyd import lloyd

PATHS = _core.paths()


def rows(n, d, seed, weighted=False):
    rng = np.random.default_rng(seed)
    x = 4 * rng.normal(size=(6, d))[rng.integers(0, 6, n)] + rng.normal(size=(n, d)) + 100
    return x, rng.uniform(0.2, 3, n) if weighted else None


def drawn(native, k, seed, threads=1, path="auto"):
    chance = np.random.RandomState(seed)
    return native.start(k, chance.random_sample(1 + (k - 1) * (2 + int(np.log(k)))), threads, path)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d", "k"), [(7, 1, 2), (501, 3, 4), (403, 8, 9), (9000, 5, 13)])
def test_steps_are_their_twins(path, weighted, n, d, k):
    x, w = rows(n, d, n + d, weighted)
    start = x[np.random.default_rng(1).choice(n, k, replace=False)]
    labels, centres, objective, moved, settled = _core.LloydRows(x, w).climb(
        start, 300, 0.0, 1, path
    )
    twin_labels, twin_centres, twin = lloyd(x, start, w)
    assert settled and moved[-1] == 0
    np.testing.assert_array_equal(labels, twin_labels)
    np.testing.assert_allclose(centres, twin_centres, rtol=1e-12)
    np.testing.assert_allclose(objective, twin.objective, rtol=1e-9, atol=1e-9)
    assert tuple(moved) == twin.moved
    assert (np.diff(objective) <= 1e-12 * objective[0]).all()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("seed", range(4))
def test_the_end_is_scikit_learns_with_its_tolerance(path, seed):
    x, w = rows(3000, 6, seed, seed % 2 == 1)
    start = x[[0, 1, 2, 3, 4]]
    peer = KMeans(5, init=start, n_init=1, tol=1e-3).fit(x, sample_weight=w)
    labels, centres, objective, moved, _ = _core.LloydRows(x, w).climb(start, 300, 1e-3, 2, path)
    np.testing.assert_array_equal(labels, peer.labels_)
    np.testing.assert_allclose(centres, peer.cluster_centers_, rtol=1e-10)
    assert objective[-1] == pytest.approx(peer.inertia_, rel=1e-12)
    assert peer.n_iter_ - len(objective) // 2 in (0, 1)  # it counts a step at rest in full
    assert len(moved) == (len(objective) + 1) // 2


@pytest.mark.parametrize("path", PATHS)
def test_a_limit_ends_with_labels_of_the_last_centres(path):
    x, _ = rows(600, 4, 3)
    labels, centres, objective, moved, settled = _core.LloydRows(x).climb(x[:5], 2, 0.0, 1, path)
    squares = ((x[:, None] - centres) ** 2).sum(axis=2)
    np.testing.assert_array_equal(labels, squares.argmin(axis=1))
    assert objective[-1] == pytest.approx(squares.min(axis=1).sum(), rel=1e-12)
    assert not settled and len(moved) == 3 and len(objective) == 5


@pytest.mark.parametrize("path", PATHS)
def test_centres_without_rows_are_put_on_the_farthest(path):
    x = np.array([[0.0], [0.1], [10.0], [10.2], [30.0]])
    start = np.array([[0.0], [500.0], [600.0]])
    labels, _, objective, moved, _ = _core.LloydRows(x).climb(start, 300, 0.0, 1, path)
    twin_labels, _, twin = lloyd(x, start)
    np.testing.assert_array_equal(labels, twin_labels)
    np.testing.assert_allclose(objective, twin.objective, rtol=1e-12, atol=1e-12)
    assert tuple(moved) == twin.moved
    same = np.ones((4, 2))  # nothing is away from the centre: the others stay empty
    assert set(_core.LloydRows(same).climb(np.ones((2, 2)), 9, 0.0, 1, path)[0]) == {0}


@pytest.mark.parametrize("weighted", [False, True])
def test_any_number_of_threads_gives_the_same_bits(weighted):
    x, w = rows(50_000, 3, 0, weighted)
    native = _core.LloydRows(x, w)
    one, three = (native.climb(x[:7], 50, 0.0, t) for t in (1, 3))
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(drawn(native, 9, 0, 1), drawn(native, 9, 0, 3))


@pytest.mark.parametrize("weighted", [False, True])
def test_steps_from_differences_are_the_same_for_any_number_of_threads(weighted):
    x, w = rows(50_000, 3, 0, weighted)
    x[7] = 1e12  # products cannot vouch for such rows
    native = _core.LloydRows(x, w)
    one, three = (native.climb(x[:7], 50, 0.0, t) for t in (1, 3))
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)
    _, _, twin = lloyd(x, x[:7], w, iterations=50)
    np.testing.assert_allclose(one[2], twin.objective, rtol=1e-10)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("n", "d", "k"), [(10, 2, 1), (41, 3, 3), (3001, 8, 8), (9000, 2, 30)])
def test_starts_are_scikit_learns_of_the_same_seed(path, n, d, k):
    for seed in range(6):
        x, w = rows(n, d, seed, seed % 2 == 1)
        _, peer = kmeans_plusplus(x - x.mean(axis=0), k, sample_weight=w, random_state=seed)
        np.testing.assert_array_equal(drawn(_core.LloydRows(x, w), k, seed, 1, path), peer)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("n", "d", "k"), [(3, 1, 2), (50, 2, 3), (403, 5, 12), (9000, 2, 31)])
@pytest.mark.parametrize("far", [0.0, 1000.0])
def test_rows_as_near_to_a_second_centre(path, n, d, k, far):
    rng = np.random.default_rng(n)
    x = far + rng.integers(0, 5, size=(n, d)).astype(float)
    centres = far + rng.integers(0, 9, size=(k, d)) / 2  # halves: no square is rounded
    native = _core.LloydRows(x)
    squares = np.sort(((x[:, None] - centres) ** 2).sum(axis=2), axis=1)
    tied = np.flatnonzero(squares[:, 0] == squares[:, 1])
    for threads in (1, 3):
        np.testing.assert_array_equal(native.near_ties(centres, threads, path), tied)
    assert not len(native.near_ties(centres[:1], 1, path))  # there is no second
    apart = centres + rng.normal(scale=1e-3, size=centres.shape)
    squares = np.sort(((x[:, None] - apart) ** 2).sum(axis=2), axis=1)
    clear = np.flatnonzero(squares[:, 1] - squares[:, 0] > 1e-6 * squares.max())
    assert not np.isin(native.near_ties(apart, 1, path), clear).any()


def test_starts_among_equal_rows():
    assert len(drawn(_core.LloydRows(np.ones((5, 2))), 3, 0)) == 3


def test_rows_that_do_not_fit_are_refused():
    x = np.zeros((4, 2))
    with pytest.raises(ValueError, match="weight for each row"):
        _core.LloydRows(x, np.ones(3))
    with pytest.raises(ValueError, match="a row and a coordinate"):
        _core.LloydRows(np.zeros((0, 2)))
    native = _core.LloydRows(x)
    with pytest.raises(ValueError, match="coordinates of the rows"):
        native.climb(np.zeros((2, 3)), 9, 0.0)
    with pytest.raises(ValueError, match="an iteration"):
        native.climb(np.zeros((2, 2)), 0, 0.0)
    with pytest.raises(ValueError, match="coordinates of the rows"):
        native.near_ties(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="a thread"):
        native.near_ties(np.zeros((2, 2)), 0)
    with pytest.raises(ValueError, match="as many for each later one"):
        native.start(3, np.zeros(4))


# --- columns as points ------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 7, 8, 1023, 5000])
@pytest.mark.parametrize("far", [0.0, 1e9])
@pytest.mark.parametrize("weighted", [False, True])
def test_spread(n, far, weighted):
    rng = np.random.default_rng(n)
    x = far + rng.normal(size=n)
    w = rng.uniform(0.1, 3, n) if weighted else None
    low, high, mean, variance = _core.spread_of(x, w)
    centre = np.average(x, weights=w)
    centre += np.average(x - centre, weights=w)
    assert (low, high) == (x.min(), x.max())
    assert mean == pytest.approx(centre, rel=1e-14, abs=1e-14)
    assert variance == pytest.approx(np.average((x - centre) ** 2, weights=w), rel=1e-9, abs=1e-14)


def test_spread_of_numbers_too_large_is_not_finite():
    assert not np.isfinite(_core.spread_of(np.array([-1e200, 1e200]))[3])
    with pytest.raises(ValueError, match="needs a number"):
        _core.spread_of(np.zeros(0))
    with pytest.raises(ValueError, match="a weight a number"):
        _core.spread_of(np.zeros(2), np.ones(3))


@pytest.mark.parametrize(("n", "d"), [(0, 2), (1, 1), (63, 3), (200, 9)])
def test_points(n, d):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, d))
    columns = [np.ascontiguousarray(c) for c in x.T]
    centres, scales = rng.normal(size=d), rng.uniform(1, 2, d)
    np.testing.assert_array_equal(_core.points_of(columns), x)
    np.testing.assert_array_equal(_core.points_of(columns, centres, scales), (x - centres) / scales)


def test_columns_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="as many rows"):
        _core.points_of([np.zeros(2), np.zeros(3)])
    with pytest.raises(ValueError, match="come together"):
        _core.points_of([np.zeros(2)], np.zeros(1))
    with pytest.raises(ValueError, match="for each column"):
        _core.points_of([np.zeros(2)], np.zeros(2), np.ones(2))
    with pytest.raises(ValueError, match="need a column"):
        _core.points_of([])


# --- cuts of a tree ---------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["single", "average", "ward"])
def test_cuts_are_scipys(method):
    x, _ = rows(80, 2, 5)
    z = linkage(x, method)
    for k in (1, 2, 5, 40, 80):
        found = _core.labels_of_links(z, 80 - k)
        peer = fcluster(z, k, "maxclust")
        assert found.max() + 1 == k
        assert len({*zip(found.tolist(), peer.tolist(), strict=True)}) == k
        _, first = np.unique(found, return_index=True)
        assert (np.diff(first) > 0).all()  # numbered by their first rows


def test_cuts_of_what_is_no_tree_are_refused():
    with pytest.raises(ValueError, match="clusters before it"):
        _core.labels_of_links(np.array([[0.0, 9.0, 1.0, 2.0]]), 1)
    with pytest.raises(ValueError, match="n - 1 merges"):
        _core.labels_of_links(np.array([[0.0, 1.0, 1.0, 2.0]]), 2)
