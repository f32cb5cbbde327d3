"""Agglomerative clustering: SciPy's trees, cuts, Gower's distance, the guard, Ctrl-C."""

import tracemalloc

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from tests.interrupts import work_after_ctrl_c

import credo as cr
from credo.errors import InputError, LimitError
from credo.train.clusters.linkage import Tree, tree_of
from credo.train.clusters.quality import adjusted_rand

# --- Agglomerative clustering: SciPy's trees, cuts, Gower's distance, the guard ---


METHODS = ["single", "complete", "average", "ward"]


def columns(x):
    return {f"x{j}": x[:, j] for j in range(x.shape[1])}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("width", [1, 2, 5, 25])
def test_links_are_scipys(method, width):
    x = np.random.default_rng(width).normal(size=(120, width))
    groups = cr.cluster(columns(x), method, k=7, scale="none")
    truth = linkage(x, method)
    np.testing.assert_allclose(groups.tree.links, truth, rtol=1e-9, atol=1e-12)
    flat = fcluster(truth, 7, "maxclust").astype(np.intp)
    assert adjusted_rand(groups.labels, flat) == 1.0
    h = float(truth[-5:-3, 2].mean())
    at = cr.cluster(columns(x), method, height=h, scale="none")
    assert adjusted_rand(at.labels, fcluster(truth, h, "distance").astype(np.intp)) == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_gower_of_mixed_columns_with_gaps(method):
    table = cr.read(
        {
            "size": [1.0, 1.5, None, 9.0, 9.5, 8.0],
            "colour": ["red", "red", "red", "blue", None, "blue"],
        }
    )
    groups = cr.cluster(table, method, k=2)
    assert groups.labels.tolist() == [0, 0, 0, 1, 1, 1]
    if method != "ward":
        size = np.array([1.0, 1.5, np.nan, 9.0, 9.5, 8.0]) / 8.5
        colour = np.array([0, 0, 0, 1, -1, 1])
        d = np.zeros((6, 6))
        for i in range(6):
            for j in range(6):
                parts = [abs(size[i] - size[j])] if not np.isnan(size[i] - size[j]) else []
                parts += [float(colour[i] != colour[j])] if min(colour[i], colour[j]) >= 0 else []
                d[i, j] = np.mean(parts) if i != j and parts else float(i != j)
        truth = linkage(squareform(d), method)
        np.testing.assert_allclose(groups.tree.heights, truth[:, 2], rtol=1e-9)
        assert any("1 pairs of rows" in n for n in groups.record.notes)
    assert any("Gower" in n for n in groups.record.notes)
    assert groups.assign(table).tolist() == groups.labels.tolist()


def test_rows_without_a_cell_stay_apart_and_are_told():
    rows = {"x": [0.0, 0.1, None, 9.0], "c": ["a", "a", None, "b"]}
    groups = cr.cluster(rows, "average", k=3)
    assert groups.labels.tolist() == [0, 0, 1, 2]
    assert any("(row 3)" in n for n in groups.record.notes)


def test_ordered_states_are_ranks():
    import pandas as pd

    stage = pd.Categorical(["I", "II", "IV", "IV"], ["I", "II", "III", "IV"], ordered=True)
    groups = cr.cluster(pd.DataFrame({"stage": stage}), "single", k=2)
    np.testing.assert_allclose(groups.tree.heights, [0, 1 / 3, 2 / 3])


@pytest.mark.parametrize("method", METHODS)
def test_new_rows_go_where_the_method_finds_them_nearest(method):
    x = np.concatenate([np.zeros((20, 2)), np.full((5, 2), 10.0)])
    x += np.random.default_rng(0).normal(size=x.shape)
    groups = cr.cluster(columns(x), method, k=2, scale="none")
    assert groups.sizes == (20, 5)
    fresh = {"x0": [0.3, 9.0], "x1": [-0.2, 11.0]}
    assert groups.assign(fresh).tolist() == [0, 1]
    with pytest.raises(InputError, match="Row 2 has a missing cell"):
        groups.assign({"x0": [0.3, None], "x1": [-0.2, 11.0]})


def test_cuts():
    groups = cr.cluster({"x": [0.0, 0.1, 5.0, 5.2, 9.0]}, "average", k=2, scale="none")
    tree = groups.tree
    assert tree.cut(k=1).tolist() == [0] * 5 and tree.cut(k=5).tolist() == [0, 1, 2, 3, 4]
    assert tree.cut(height=0).tolist() == [0, 1, 2, 3, 4]
    assert tree.cut(height=1e9).tolist() == [0] * 5
    assert tree.cut("gap").tolist() == tree.cut(k=tree.gap_k()).tolist()
    again = groups.cut(k=3)
    assert again.k == 3 and again.sizes == (2, 2, 1) and again.tree is tree
    assert groups.cut("gap").k == tree.gap_k()
    assert "average link of 5 rows" in str(tree) and repr(tree) == "Tree(average link, 5 rows)"
    for bad in ({}, {"k": 2, "height": 1.0}):
        with pytest.raises(InputError, match="one of k=, height="):
            tree.cut(**bad)
    with pytest.raises(InputError, match="from 1 to 5"):
        tree.cut(k=6)
    with pytest.raises(InputError, match="must be a number"):
        tree.cut(height="low")
    with pytest.raises(InputError, match="cut by k="):
        tree.cut("depth")
    with pytest.raises(InputError, match="makes no tree"):
        cr.cluster({"x": [0.0, 0.1, 5.0]}, k=2).cut(k=1)


@pytest.mark.parametrize("mixed", [False, True])
def test_no_more_memory_than_the_guard_allows(mixed):
    n = 1200
    x = np.random.default_rng(2).normal(size=(n, 2))
    table = columns(x) | ({"s": ["a", "b"] * (n // 2)} if mixed else {})
    pairs = 4 * n * n
    table = cr.read(table)
    cr.cluster(table.take(slice(0, 50)), "average", k=2, memory=pairs)  # what is imported once
    tracemalloc.start()
    cr.cluster(table, "average", k=2, memory=pairs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (0.3 if mixed else 1.3) * pairs  # the arrays of a kernel are not traced


def test_the_guard_names_the_size_and_the_alternative():
    x = np.random.default_rng(0).normal(size=(2000, 2))
    with pytest.raises(
        LimitError, match=r"Average link of 2,000 rows .* 0\.016 GB.*'single', 'ward'"
    ):
        cr.cluster(columns(x), "average", k=2, memory="1MB")
    assert cr.cluster(columns(x), "single", k=2, memory="1MB").k == 2
    assert cr.cluster(columns(x), "ward", k=2, memory="1MB").k == 2
    mixed = {**columns(x), "c": ["a", "b"] * 1000}
    with pytest.raises(LimitError, match="'latent-class'"):
        cr.cluster(mixed, "single", k=2, memory="1MB")


def test_weights_are_told():
    rows = {"x": [0.0, 1.0, 5.0]}
    notes = cr.cluster(rows, "single", k=2, weights=[1, 2, 3]).record.notes
    assert "weights do not change single or complete link" in notes
    groups = cr.cluster(rows, "average", k=2, weights=[1, 2, 4])
    assert groups.sizes == (4, 3)
    assert any("counts every row once" in n for n in groups.record.notes)


def test_a_hundred_thousand_points_by_single_link():
    x = np.random.default_rng(0).normal(size=(100_000, 2))
    x[:1000] += 50
    groups = cr.cluster(columns(x), "single", k=2)
    assert groups.sizes == (99_000, 1000)


@pytest.mark.parametrize("method", ["complete", "average", "ward"])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_wide_points_and_equal_rows_are_scipys(method, shift):
    x = np.random.default_rng(0).normal(size=(120, 300)) + shift
    x[::3] = x[0]
    links, truth = tree_of(x, method), linkage(x, method)
    np.testing.assert_allclose(links[:, 2], truth[:, 2], rtol=1e-9, atol=1e-9)
    for k in (2, 20, 60):
        assert adjusted_rand(Tree(links, method).cut(k=k), Tree(truth, method).cut(k=k)) == 1.0


def test_wide_ward_of_numbers_whose_squares_are_nearly_too_large():
    x = np.random.default_rng(0).normal(size=(50, 200))
    links = tree_of(x, "ward")
    assert np.array_equal(tree_of(1e152 * x, "ward")[:, :2], links[:, :2])


# --- Ctrl-C stops single link at once, whichever way its spanning tree is found; and k-means ---


POINTS = """
import numpy as np
import credo as cr
rng = np.random.default_rng(0)
wide = rng.normal(size=(60_000, 30))
narrow = rng.normal(size=(300_000, 6))
"""


@pytest.mark.parametrize("points", ["wide", "narrow"])
def test_single_link_hears_ctrl_c(points):
    seconds, _ = work_after_ctrl_c(POINTS, f"cr.cluster({points}, 'single', k=3)")
    assert seconds < 1.0


def test_k_means_hears_ctrl_c():
    seconds, _ = work_after_ctrl_c(POINTS, "cr.cluster(narrow, k=64, tol=0.0, scale='none')")
    assert seconds < 1.0
