"""The least spanning tree of points, against SciPy's single link and the distances of all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform

from credo import _core


def normal(rng, n, d):
    return rng.normal(size=(n, d))


def grid(rng, n, d):
    return rng.integers(0, 4, size=(n, d)).astype(float)


def sparse_grid(rng, n, d):
    return rng.integers(0, 30, size=(n, d)).astype(float)


def heaps(rng, n, d):
    return rng.normal(size=(8, d))[rng.integers(0, 8, n)] * 20 + rng.normal(size=(n, d))


def line(rng, n, d):
    return np.outer(rng.normal(size=n), np.ones(d))


def far(rng, n, d):
    return 1e9 + rng.normal(size=(n, d))


def check(x, threads=1, path="auto"):
    edges, lengths = _core.spanning_tree(x, threads, path)
    assert edges.shape == (len(x) - 1, 2) and (edges[:, 0] < edges[:, 1]).all()
    assert (np.diff(lengths) >= 0).all()
    apart = np.sqrt(((x[edges[:, 0]] - x[edges[:, 1]]) ** 2).sum(axis=1))
    np.testing.assert_allclose(lengths, apart, rtol=1e-14)
    np.testing.assert_allclose(lengths, linkage(x, "single")[:, 2], rtol=1e-14)
    links = _core.links_of_tree(edges, lengths)
    assert links[-1, 3] == len(x)
    return links


@pytest.mark.parametrize("make", [normal, grid, sparse_grid, heaps, line, far])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (33, 2), (700, 1), (1500, 2), (900, 5), (1200, 9)])
def test_lengths_are_single_links_heights(make, n, d):
    x = make(np.random.default_rng(n + d), n, d)
    links = check(x)
    for path in _core.paths():  # every instruction set and number of threads finds the same tree
        for threads in (1, 2):
            np.testing.assert_array_equal(check(x, threads, path), links)


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(600, 1800),
    d=st.integers(2, 8),
    states=st.integers(2, 40),
    skew=st.sampled_from([1.0, 4.0, 30.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_boxes_of_coordinates_that_tie(n, d, states, skew, seed):
    """Cuts beside equal coordinates, where they are even, one-sided or nearly all the same."""
    rng = np.random.default_rng(seed)
    x = np.floor(states * rng.random((n, d)) ** skew)
    x[:, 0] += np.floor(n * rng.random(n))  # enough points that differ
    links = check(x)
    np.testing.assert_array_equal(check(x, 2, "plain"), links)


@pytest.mark.parametrize("d", [2, 8, 30])
def test_both_ways_to_the_tree(d):
    """Thousands of points go by boxes; in 30 columns boxes do not help and pairs are looked at."""
    x = normal(np.random.default_rng(d), 4000, d)
    check(x)


def test_all_points_the_same():
    edges, lengths = _core.spanning_tree(np.full((2000, 3), 7.0))
    assert edges.tolist() == [[0, i] for i in range(1, 2000)] and not lengths.any()
    assert _core.spanning_tree(np.zeros((1, 2)))[0].shape == (0, 2)
    signs = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 1.0]])
    assert _core.spanning_tree(signs)[1].tolist() == [0.0, 2.0]


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e160, 1e300])
def test_units_do_not_matter(unit):
    x = normal(np.random.default_rng(1), 800, 3)
    _, lengths = _core.spanning_tree(x)
    _, scaled = _core.spanning_tree(x * unit)
    np.testing.assert_allclose(scaled, lengths * unit, rtol=1e-12)
    wide = np.array([[-1.5e308], [0.0], [1.5e308]])
    assert _core.spanning_tree(wide)[1].tolist() == [1.5e308, 1.5e308]


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 60),
    d=st.integers(1, 3),
    states=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
)
def test_ties_merge_the_same_in_any_tree(n, d, states, seed):
    """Which rows are together below each height is SciPy's, and the tree does not depend on which
    of several least spanning trees it was made from."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, states + 1, size=(n, d)).astype(float)
    links = check(x)
    np.testing.assert_array_equal(cophenet(links), cophenet(linkage(x, "single")))
    apart = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    order = sorted(rng.permutation(len(pairs)), key=lambda p: apart[pairs[p]])
    group, other = np.arange(n), []
    for p in order:  # Kruskal, ties in a random order
        i, j = pairs[p]
        if group[i] != group[j]:
            group[group == group[i]] = group[j]
            other.append((i, j))
    edges = np.array(other, dtype=np.int64).reshape(-1, 2)
    np.testing.assert_array_equal(
        _core.links_of_tree(edges, apart[edges[:, 0], edges[:, 1]]), links
    )
    assert squareform(cophenet(links)).shape == (n, n)


def test_bad_points_are_refused():
    with pytest.raises(ValueError, match="needs a row and a coordinate"):
        _core.spanning_tree(np.zeros((0, 2)))
    with pytest.raises(ValueError, match="'threads' parameter must be at least 1"):
        _core.spanning_tree(np.zeros((2, 2)), 0)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="must be finite"):
            _core.spanning_tree(np.array([[0.0], [bad]]))
