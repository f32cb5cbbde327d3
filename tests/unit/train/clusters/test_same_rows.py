"""Rows that are the same are in one cluster, gaps or none, in whatever order they come."""

from __future__ import annotations

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError
from credo.train.clusters.distinct import different, different_rows
from credo.train.clusters.quality import adjusted_rand
from credo.train.clusters.spectral import eigen

AFFINITIES = ({}, {"affinity": "rbf"}, {"affinity": "rbf", "landmarks": 20})


def votes(seed: int = 0, rows: int = 200) -> dict[str, list]:
    """Yes, no and gaps: few different distances, and many rows that are the same."""
    rng = np.random.default_rng(seed)
    party = rng.integers(0, 3, rows)
    likes = np.array([[0.9, 0.1, 0.8, 0.2], [0.2, 0.9, 0.3, 0.7], [0.6, 0.6, 0.1, 0.9]])
    yes = rng.random((rows, 4)) < likes[party]
    cells = np.where(rng.random((rows, 4)) < 0.1, None, np.where(yes, "y", "n"))
    return {f"v{j}": cells[:, j].tolist() for j in range(4)}


@pytest.mark.parametrize("options", AFFINITIES)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_order_of_rows_changes_nothing(options, k):
    table = cr.read(votes())
    first = cr.cluster(table, "spectral", k=k, **options)
    assert first.assign(table).tolist() == first.labels.tolist()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(table.rows)
        again = cr.cluster(table.take(order), "spectral", k=k, **options)
        assert adjusted_rand(first.labels[order], again.labels) == 1.0


@pytest.mark.parametrize("scale", ["sd", "range", "none"])
def test_the_order_of_numbers_changes_nothing_either(scale):
    x = np.random.default_rng(1).normal(size=(150, 3)).round(1) * [1.0, 3.0, 20.0]
    first = cr.cluster(x, "spectral", k=4, scale=scale)
    order = np.random.default_rng(2).permutation(len(x))
    again = cr.cluster(x[order], "spectral", k=4, scale=scale)
    assert adjusted_rand(first.labels[order], again.labels) == 1.0


@pytest.mark.parametrize("options", [{}, {"affinity": "rbf"}])
def test_equal_rows_are_never_apart(options):
    x = np.repeat(np.random.default_rng(0).normal(size=(20, 2)), 5, axis=0)
    x = x[np.random.default_rng(1).permutation(100)]
    assert cr.cluster(x, "spectral", k=20, **options).sizes == (5,) * 20
    table = cr.read(votes())
    found = different(table)
    for k in (4, 10, found.rows - 1):
        labels = cr.cluster(table, "spectral", k=k, **options).labels
        for node in range(found.rows):
            assert len(set(labels[found.each == node].tolist())) == 1


def test_the_spectrum_of_copies_is_that_of_all_rows():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(30, 2))
    copies = rng.integers(1, 5, 30)
    every = np.repeat(x, copies, axis=0)
    groups = cr.cluster(every, "spectral", k=3, affinity="rbf", gamma=2.0, scale="none")
    d = np.linalg.norm(every[:, None] - every[None], axis=2)
    near = np.exp(-2.0 * d * d)
    np.fill_diagonal(near, 0.0)  # a row has no affinity to itself, but to its copies
    values, vectors = eigen(near, 3, 0)
    found, coordinates = groups.model.vectors(3)
    np.testing.assert_allclose(found[:3], values, atol=1e-12)
    spread = coordinates[:, :3][groups.model.nodes.each]
    signs = np.sign((spread * vectors).sum(axis=0))
    np.testing.assert_allclose(spread * signs, vectors, atol=1e-10)


def test_ties_count_copies_as_rows():
    from scipy.sparse.csgraph import connected_components

    heaps = np.repeat([[0.1, 0.7], [1.3, -0.2], [2.9, 0.4]], 50, axis=0)
    assert cr.cluster(heaps, "spectral").sizes == (50, 50, 50)  # each row has ties to its copies
    x = np.random.default_rng(4).normal(size=(40, 2))
    two = cr.cluster(np.repeat(x, 2, axis=0), "spectral", k=2, neighbours=7)
    ties = two.model.solve.args[0]  # (F + Fᵀ) / 2: four pairs hold the 7 nearest rows
    assert ties.sum() == pytest.approx(4 * 40)
    assert connected_components(ties)[0] == two.model.pieces


@pytest.mark.parametrize("by", [None, "silhouette"])
def test_few_landmarks_try_as_many_clusters_as_they_can_tell(by):
    x = np.random.default_rng(0).normal(size=(300, 2))
    found = cr.which_k(x, "spectral", by=by, affinity="rbf", landmarks=5)
    assert list(found.rows) == [2, 3, 4, 5] and found.k in (2, 3, 4)
    groups = cr.cluster(x, "spectral", by=by, affinity="rbf", landmarks=5)
    assert groups.k == found.k
    assert any("tell 5 directions apart" in n for n in groups.record.notes)
    with pytest.raises(InputError, match=r"5 directions, too few for k = 6. Ask for k=5, or use"):
        cr.cluster(x, "spectral", k=6, affinity="rbf", landmarks=5)
    with pytest.raises(InputError, match="too few for k = 7"):
        cr.which_k(x, "spectral", k=[2, 7], by=by, affinity="rbf", landmarks=5)


def test_landmarks_without_a_gap_choose_nothing():
    x = np.random.default_rng(0).normal(size=(300, 2))
    with pytest.raises(InputError, match=r"2 directions, too few for a gap.*give k="):
        cr.cluster(x, "spectral", affinity="rbf", landmarks=2)


def test_many_rows_of_few_kinds():
    v = np.repeat(np.arange(12.0), [6000] + [1] * 11)
    assert 2 <= cr.which_k({"v": v}, "spectral", affinity="rbf", schema={"v": "continuous"}).k <= 10


THREE = np.repeat([[0.1, 0.7], [1.3, -0.2], [2.9, 0.4]], 50, axis=0)
METHODS = (
    "k-means", "single", "complete", "average", "ward", "spectral", "gaussian", "latent-class",
)  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_more_clusters_than_different_rows_are_refused(method: str) -> None:
    groups = cr.cluster(THREE, method, k=3)
    assert groups.sizes == (50, 50, 50)
    assert groups.assign(THREE).tolist() == groups.labels.tolist()
    with pytest.raises(InputError, match="only 3 different rows, which cannot make 4 clusters"):
        cr.cluster(THREE, method, k=4)


def test_another_cut_of_a_tree_is_refused_too() -> None:
    groups = cr.cluster(THREE, "average", k=3)
    with pytest.raises(InputError, match="only 3 different rows"):
        groups.cut(k=4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by", [None, "silhouette"])
def test_auto_never_chooses_empty_clusters(method: str, by: str | None) -> None:
    groups = cr.cluster(THREE, method, by=by)
    assert groups.sizes == (50, 50, 50)


def test_a_mixture_with_empty_classes_does_not_win() -> None:
    x = np.random.default_rng(3).normal(size=(40, 2)).round()
    for seed in range(3):
        for method in ("gaussian", "latent-class"):
            groups = cr.cluster(x, method, rng=seed)
            assert min(groups.sizes) > 0
            candidates = groups.record.details["candidates"]
            best = max(candidates.rows, key=lambda k: candidates.rows[k]["bic"])
            passed_over = [n for n in groups.record.notes if "would hold no row" in n]
            assert (best == groups.k) == (not passed_over)


def test_gaps_are_the_same_gap_and_zero_is_zero() -> None:
    nan = np.nan
    x = np.array([[nan, 1.5], [nan, 1.5], [0.0, 1.5], [-0.0, 1.5], [nan, 2.5]])
    table = cr.read(x, {"a": "continuous", "b": "continuous"}, columns=["a", "b"])
    assert different_rows(table, 5) == 3
    assert different_rows(table, 2) == 2


def test_a_stream_of_equal_rows_is_refused(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "0.5,1.5\n2.5,3.5\n" * 40)
    kinds = {"a": "continuous", "b": "continuous"}
    with pytest.raises(InputError, match="only 2 different rows"):
        cr.cluster(cr.read(path, kinds, memory="100 B"), k=3)


LINKS = ["single", "complete", "average", "ward"]


def with_gaps(seed: int, rows: int = 60) -> cr.Table:
    """States and numbers of few values, a third of the cells missing, some rows without any."""
    rng = np.random.default_rng(seed)
    cells = rng.choice(["a", "b", "c"], (rows, 3)).astype(object)
    cells[rng.random(cells.shape) < 0.35] = None
    x = np.where(rng.random(rows) < 0.35, np.nan, rng.integers(0, 3, rows) + 0.5)
    cells[:4], x[:4] = None, np.nan
    return cr.read({**{f"s{j}": cells[:, j].tolist() for j in range(3)}, "x": x})


@pytest.mark.parametrize("method", LINKS)
@pytest.mark.parametrize("seed", range(4))
def test_linkage_keeps_equal_rows_with_gaps_together(method: str, seed: int) -> None:
    table = with_gaps(seed)
    found = different(table)
    assert found.rows < table.rows
    for k in (2, 5, found.rows):
        groups = cr.cluster(table, method, k=k)
        pairs = set(zip(found.each.tolist(), groups.labels.tolist(), strict=True))
        assert len(pairs) == found.rows
        assert groups.assign(table).tolist() == groups.labels.tolist()


@pytest.mark.parametrize("method", LINKS)
def test_heights_are_those_of_the_distances(method: str) -> None:
    from scipy.cluster.hierarchy import linkage

    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3))
    x[rng.random(x.shape) < 0.2] = np.nan
    x = x[~np.isnan(x).all(axis=1)]
    groups = cr.cluster(x, method, k=3)
    d = groups.geometry.to(groups.geometry)
    wanted = linkage(d[np.triu_indices(len(d), 1)], method)
    np.testing.assert_allclose(groups.tree.heights, wanted[:, 2], atol=1e-12)


def test_rows_without_a_cell_are_not_told_as_apart_from_each_other() -> None:
    nan = np.nan
    groups = cr.cluster({"x": [nan, 1.0, 2.0, 9.0, 9.5, nan, nan]}, "average", k=3)
    assert groups.sizes == (3, 2, 2) and groups.labels[[0, 5, 6]].tolist() == [0, 0, 0]
    assert any(n.startswith("12 pairs of rows have no column") for n in groups.record.notes)


@pytest.mark.parametrize("seed", [128, 248, 330])
def test_k_means_labels_ties_as_it_assigns_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 40)), int(rng.integers(1, 4))
    x = rng.integers(0, 4, (n, d)) + 1e6 + 0.5  # many equal distances
    groups = cr.cluster(x, k=5, rng=seed)
    assert groups.assign(x).tolist() == groups.labels.tolist()


def test_k_means_makes_no_cluster_of_rows_without_a_cell() -> None:
    x = np.array([0.5, 3.5, 1.5, 2.5, np.nan])[np.random.default_rng(0).integers(0, 5, 30)]
    with pytest.raises(InputError, match="found 4 clusters, fewer than 5"):
        cr.cluster({"x": x}, k=5, schema={"x": "continuous"})


def test_rows_that_differ_in_their_gaps_alone_are_one_cluster():
    rows = {"a": [1.5, 1.5, 1.5], "b": [2.5, None, 2.5], "c": [0.5, 0.5, None]}
    with pytest.raises(InputError, match=r"found 1 cluster, fewer than 2: .* Ask for k=1\.$"):
        cr.cluster(cr.read(rows, dict.fromkeys(rows, "continuous")), k=2)
