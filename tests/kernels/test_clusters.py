"""The kernels of clustering against NumPy and SciPy: Gower's distances, trees of merges."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from credo import _core


def rows(n, seed, gaps=0.2):
    rng = np.random.default_rng(seed)
    reals = [rng.random(n) for _ in range(2)]
    codes = [rng.integers(0, 3, n).astype(np.int32) for _ in range(2)]
    for r in reals:
        r[rng.random(n) < gaps] = np.nan
    for c in codes:
        c[rng.random(n) < gaps] = -1
    return reals, codes


def gower_twin(reals, codes, i, j):
    total = seen = 0.0
    for r in reals:
        if not np.isnan(r[i]) and not np.isnan(r[j]):
            total, seen = total + abs(r[i] - r[j]), seen + 1
    for c in codes:
        if c[i] >= 0 and c[j] >= 0:
            total, seen = total + (c[i] != c[j]), seen + 1
    return total / seen if seen else 1.0


@pytest.mark.parametrize("n", [2, 7, 700])
def test_gower_is_its_twin(n):
    reals, codes = rows(n, n, 0.4)
    found, lost = _core.gower_pairs(reals, codes, 1.0)
    rng = np.random.default_rng(0)
    square = squareform(found)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    if len(pairs) > 2000:
        pairs = [pairs[i] for i in rng.choice(len(pairs), 2000, replace=False)]
    for i, j in pairs:
        assert square[i, j] == pytest.approx(gower_twin(reals, codes, i, j), abs=1e-15)
    between, lost_between = _core.gower_between(reals, codes, reals, codes, 1.0)
    off = ~np.eye(n, dtype=bool)
    assert np.array_equal(between[off], square[off])
    assert lost_between >= 2 * lost


@pytest.mark.parametrize("states", [2, 255, 300])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("columns", [3, 260])
def test_gower_of_many_states_and_columns_is_its_twin(states, gaps, columns):
    """Bytes hold 255 states, and count 255 columns."""
    rng = np.random.default_rng(states)
    codes = [rng.integers(0, states, 9).astype(np.int32) for _ in range(columns)]
    codes[0][:] = np.arange(9) * (states - 1) // 8
    for c in codes[1:]:
        c[rng.random(9) < gaps] = -1
    reals = [rng.random(9)]
    found, lost = _core.gower_pairs(reals, codes, 1.0)
    pairs = [(i, j) for i in range(9) for j in range(i + 1, 9)]
    expected = [gower_twin(reals, codes, i, j) for i, j in pairs]
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    few = [c[:2].copy() for c in codes]
    near, _ = _core.gower_between([r[:2].copy() for r in reals], few, reals, codes, 1.0)
    np.testing.assert_array_equal(near, squareform(found)[:2])
    assert lost == 0


def test_gower_is_the_same_for_any_number_of_threads():
    reals, codes = rows(1500, 1)
    one = _core.gower_pairs(reals, codes, 1.0, 1)
    assert np.array_equal(one[0], _core.gower_pairs(reals, codes, 1.0, 3)[0])
    assert one[1] == _core.gower_pairs(reals, codes, 1.0, 3)[1]


def test_gower_refuses_columns_that_do_not_fit():
    with pytest.raises(ValueError, match="as many rows"):
        _core.gower_pairs([np.zeros(2), np.zeros(3)], [], 1.0)
    with pytest.raises(ValueError, match="need a column"):
        _core.gower_pairs([], [], 1.0)
    with pytest.raises(ValueError, match="same columns"):
        _core.gower_between([np.zeros(2)], [], [], [np.zeros(2, dtype=np.int32)], 1.0)


def test_what_is_no_tree_is_refused():
    with pytest.raises(ValueError, match="circle"):
        _core.links_of_tree(np.array([[0, 1], [0, 1]], dtype=np.int64), np.ones(2))
    with pytest.raises(ValueError, match="two of its rows"):
        _core.links_of_tree(np.array([[0, 9]], dtype=np.int64), np.ones(1))


@pytest.mark.parametrize("method", ["average", "complete"])
@pytest.mark.parametrize("seed", range(5))
def test_links_of_ties_are_scipys_on_the_whole_matrix(method, seed):
    rng = np.random.default_rng(seed)
    n = 25
    edges = np.array(
        [(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.9], dtype=np.int64
    )
    strengths = rng.uniform(0.05, 1.0, len(edges))
    d = np.ones((n, n)) - np.eye(n)
    d[edges[:, 0], edges[:, 1]] = d[edges[:, 1], edges[:, 0]] = 1 - strengths
    z = _core.links_of_ties(n, edges, strengths, method == "average", 1.0)
    truth = linkage(squareform(d), method)
    np.testing.assert_allclose(z[:, 2], truth[: len(z), 2], rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(z[:, :2], truth[: len(z), :2])


def test_ties_are_checked():
    one = np.array([[0, 0]], dtype=np.int64)
    with pytest.raises(ValueError, match="two nodes"):
        _core.links_of_ties(2, one, np.ones(1), True, 1.0)
    with pytest.raises(ValueError, match="above 0"):
        _core.links_of_ties(2, np.array([[0, 1]], dtype=np.int64), np.zeros(1), True, 1.0)
