"""Rows that are the same are in the same cluster, gaps or none, and are assigned to it again."""

from __future__ import annotations

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError
from credo.train.clusters.distinct import different

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
