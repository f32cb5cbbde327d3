"""Laws of clustering: order of rows, scale, monotone steps, trees, sums that merge."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import is_monotonic, is_valid_linkage

import credo as cr
from credo.train.clusters.lloyd import Points, lloyd, nearest, sums_of
from credo.train.clusters.quality import adjusted_rand

LINKS = ["single", "complete", "average", "ward"]


def points(seed, n, d):
    return np.random.default_rng(seed).normal(size=(n, d))


def climb(x, start, w=None):
    run = lloyd(Points(x, w), start)
    return run.labels, run.centres, run.steps


def columns(x):
    return {f"x{j}": x[:, j] for j in range(x.shape[1])}


@pytest.mark.parametrize("method", LINKS)
@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(5, 40), st.integers(1, 4))
def test_the_order_of_rows_does_not_change_the_groups(method, seed, n, d):
    x = points(seed, n, d)
    order = np.random.default_rng(seed + 1).permutation(n)
    a = cr.cluster(columns(x), method, k=3)
    b = cr.cluster(columns(x[order]), method, k=3)
    assert adjusted_rand(a.labels[order], b.labels) == 1.0
    np.testing.assert_allclose(np.sort(a.tree.heights), np.sort(b.tree.heights), rtol=1e-9)
    assert sorted(a.sizes) == sorted(b.sizes)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(6, 40))
def test_the_order_of_rows_does_not_change_k_means_from_the_same_start(seed, n):
    x = points(seed, n, 2)
    order = np.random.default_rng(seed + 1).permutation(n)
    start = x[:3]
    options = {"k": 3, "start": start, "scale": "none", "tol": 0.0}
    a, b = cr.cluster(columns(x), **options), cr.cluster(columns(x[order]), **options)
    assert adjusted_rand(a.labels[order], b.labels) == 1.0
    assert a.quality["within"] == pytest.approx(b.quality["within"], rel=1e-9)


@pytest.mark.parametrize("method", ["k-means", "average", "ward"])
@settings(max_examples=10)
@given(st.integers(0, 10_000), st.floats(-3, 3), st.floats(-100, 100))
def test_units_do_not_matter_when_columns_are_scaled(method, seed, power, shift):
    x = points(seed, 25, 2)
    y = x * [10.0**power, 1.0] + [shift, 0.0]
    options = {"restarts": 3} if method == "k-means" else {}
    a, b = (cr.cluster(columns(z), method, k=3, scale="sd", **options) for z in (x, y))
    assert adjusted_rand(a.labels, b.labels) == 1.0


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(0, 20), st.integers(0, 20))
def test_sums_of_parts_add_up(seed, n, m):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n + m, 2))
    x[rng.random(x.shape) < 0.2] = np.nan
    w = rng.uniform(0.1, 3, n + m)
    centres = rng.normal(size=(3, 2))
    labels, squares = nearest(x, centres)
    whole = sums_of(x, labels, w, centres)
    assert whole.objective == pytest.approx((w * squares).sum())
    a = sums_of(x[:n], labels[:n], w[:n], centres)
    b = sums_of(x[n:], labels[n:], w[n:], centres)
    for part in (a + b, b + a):
        for name in ("weight", "total", "rows", "objective"):
            np.testing.assert_allclose(getattr(part, name), getattr(whole, name), atol=1e-12)


@pytest.mark.parametrize("method", LINKS)
@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 25))
def test_a_tree_is_valid_and_its_cuts_are_nested(method, seed, n, d):
    tree = cr.cluster(columns(points(seed, n, d)), method, k=1).tree
    assert is_valid_linkage(tree.links) and is_monotonic(tree.links)
    for k in range(1, n):
        coarse, fine = tree.cut(k=k), tree.cut(k=k + 1)
        assert len(np.unique(coarse)) == k
        for c in range(k + 1):
            assert len(np.unique(coarse[fine == c])) == 1


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_sizes_fall_and_labels_are_canonical(seed):
    groups = cr.cluster(columns(points(seed, 30, 2)), k=5, rng=seed, restarts=1)
    assert list(groups.sizes) == sorted(groups.sizes, reverse=True)
    assert sum(groups.sizes) == 30
    firsts = [int(np.argmax(groups.labels == c)) for c in range(5)]
    for a, b in zip(range(4), range(1, 5), strict=True):
        assert groups.sizes[a] > groups.sizes[b] or firsts[a] < firsts[b]
    for tellings in groups.profiles:
        assert all(t.bits >= 0 for t in tellings)


@settings(max_examples=6)
@given(st.integers(0, 10_000))
def test_mixed_rows_with_gaps_have_groups_and_no_nan(seed):
    rng = np.random.default_rng(seed)
    n = 25
    rows = {
        "x": [None if rng.random() < 0.2 else float(v) for v in rng.normal(size=n)],
        "c": [None if rng.random() < 0.2 else str(v) for v in rng.choice(list("abc"), n)],
        "y": rng.normal(size=n),
    }
    for method in ("k-means", "average", "spectral"):
        groups = cr.cluster(rows, method, k=3)
        assert all(np.isfinite(v) for v in groups.quality.values())
        assert "nan" not in str(groups)
        assert set(groups.labels.tolist()) == {0, 1, 2}
        assert groups.assign(rows).shape == (n,)


@pytest.mark.parametrize("method", [*LINKS, "spectral"])
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(6, 40), st.integers(1, 3))
def test_rows_that_were_clustered_keep_their_labels(method, seed, n, d):
    x = points(seed, n, d)
    groups = cr.cluster(columns(x), method, k=3)
    order = np.random.default_rng(seed).permutation(n)
    assert groups.assign(columns(x[order])).tolist() == groups.labels[order].tolist()
