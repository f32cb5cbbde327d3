"""Spectral clustering of tables with equal rows: they are together, in whatever order rows come."""

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError
from credo.train.clusters.distinct import different
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
    ties = two.model.solve.args[0]  # (F + Fᵀ) / 2, where the rows of F count 7 copies in all
    assert ties.sum() * 2 == pytest.approx(7 * 40)
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
