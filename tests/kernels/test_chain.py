"""Linkage by chains of nearest neighbours, against fastcluster, SciPy and a twin in NumPy."""

import fastcluster
import numpy as np
import pytest
from scipy.cluster.hierarchy import is_monotonic, is_valid_linkage, linkage

from credo import _core

PATHS = _core.paths()
METHODS = ["complete", "average", "ward"]


def tables(seed):
    """Rows without ties, with copies, and on a grid, where nearly everything ties."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 260)), int(rng.integers(1, 9))
    free = rng.normal(size=(n, d))
    copied = free.copy()
    copied[rng.integers(0, n, n // 2)] = copied[rng.integers(0, n, n // 2)]
    return free, copied, rng.integers(0, 4, size=(n, d)).astype(float)


def apart(x, a, b, method):
    """How far two sets of rows are apart, from their rows."""
    if method == "ward":
        between = ((x[a].mean(axis=0) - x[b].mean(axis=0)) ** 2).sum()
        return np.sqrt(2 * len(a) * len(b) / (len(a) + len(b)) * between)
    d = np.sqrt(((x[a][:, None] - x[b][None]) ** 2).sum(axis=2))
    return d.max() if method == "complete" else d.mean()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["complete", "average"])
@pytest.mark.parametrize("seed", range(12))
def test_the_tree_is_fastclusters_to_the_last_digit(method, path, seed):
    for x in tables(seed):
        z = _core.links_of_points(x, method, path)
        assert np.array_equal(z, fastcluster.linkage(x, method))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [2, 3, 31, 32, 33, 64, 65, 700])
def test_the_tree_is_scipys(method, path, n):
    x = np.random.default_rng(n).normal(size=(n, 5))
    z, truth = _core.links_of_points(x, method, path), linkage(x, method)
    assert np.array_equal(z[:, [0, 1, 3]], truth[:, [0, 1, 3]])
    np.testing.assert_allclose(z[:, 2], truth[:, 2], rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
def test_every_merge_is_of_two_nearest(method, seed):
    """Whatever ties: each height is that of its two sets, and nothing else is nearer to either."""
    x = tables(seed)[2][:40]
    n = len(x)
    z = _core.links_of_points(x, method)
    assert is_valid_linkage(z) and is_monotonic(z)
    there = {i: [i] for i in range(n)}
    for t, (a, b, height, size) in enumerate(z):
        first, second = there.pop(int(a)), there.pop(int(b))
        assert apart(x, first, second, method) == pytest.approx(height, rel=1e-12, abs=1e-12)
        for other in there.values():
            for side in (first, second):
                assert apart(x, side, other, method) >= height * (1 - 1e-12) - 1e-12
        there[n + t] = first + second
        assert len(first) + len(second) == size


@pytest.mark.parametrize("method", METHODS)
def test_every_path_gives_the_same_digits(method):
    for x in tables(3):
        found = [_core.links_of_points(x, method, path) for path in PATHS]
        assert all(np.array_equal(found[0], z) for z in found)


@pytest.mark.parametrize("method", METHODS)
def test_rows_far_from_0_keep_their_digits(method):
    x = np.round(np.random.default_rng(0).normal(size=(80, 3)), 6)
    near = _core.links_of_points(x, method)[:, 2]
    far = _core.links_of_points(x + 1e6, method)[:, 2]
    np.testing.assert_allclose(far, near, rtol=1e-7)


def test_a_chain_as_long_as_the_table():
    """Gaps that shrink: the first chain runs through all rows before anything merges."""
    x = np.cumsum(np.linspace(2.0, 1.0, 300))[:, None]
    for method in METHODS:
        np.testing.assert_allclose(
            _core.links_of_points(x, method)[:, 2], linkage(x, method)[:, 2], rtol=1e-11
        )


def test_distances_past_every_number_still_end():
    x = np.array([[-1e200], [1e200], [0.0], [3e200]])
    assert is_valid_linkage(_core.links_of_points(x, "complete"))
    assert len(_core.links_of_points(x, "ward")) == 3


def test_what_makes_no_tree_is_refused():
    with pytest.raises(ValueError, match="two rows"):
        _core.links_of_points(np.zeros((1, 2)), "ward")
    with pytest.raises(ValueError, match="complete, average or ward"):
        _core.links_of_points(np.zeros((3, 2)), "single")
