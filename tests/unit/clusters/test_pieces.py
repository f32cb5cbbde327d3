"""More pieces than clusters: joined by their nearest rows, whatever the order of the rows."""

import sys

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage

import credo as cr
from credo.train.clusters.geometry import geometry_of
from credo.train.clusters.pieces import bridges
from credo.train.clusters.quality import adjusted_rand

HEAPS = (((0, 0), 40), ((3, 0), 30), ((20, 0), 50), ((21, 4), 20), ((40, 9), 25))


def heaps():
    rng = np.random.default_rng(1)
    return np.concatenate([rng.normal(at, 0.3, size=(n, 2)) for at, n in HEAPS])


@pytest.mark.parametrize("k", [2, 3, 4])
def test_pieces_are_joined_the_same_for_any_order(k):
    x = heaps()
    groups = cr.cluster(x, "spectral", k=k)
    assert groups.sizes == {2: (140, 25), 3: (70, 70, 25), 4: (70, 50, 25, 20)}[k]
    assert any(f"5 pieces, more than k = {k}" in n and "k=5" in n for n in groups.record.notes)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(x))
        again = cr.cluster(x[order], "spectral", k=k)
        assert adjusted_rand(groups.labels[order], again.labels) == 1.0
    assert groups.assign(x + 1e-6).tolist() == groups.labels.tolist()


@pytest.mark.parametrize("way", ["tree", "pairs", "gower"])
def test_bridges_are_single_link_of_the_pieces(way, monkeypatch):
    if way == "pairs":
        monkeypatch.setitem(sys.modules, "quitefastmst", None)
    x = heaps()
    piece = np.repeat(np.arange(5), [n for _, n in HEAPS])
    distance = "gower" if way == "gower" else "euclidean"
    table = cr.read({"a": x[:, 0], "b": x[:, 1]})
    geometry = geometry_of(table, distance, "none")
    d = geometry.to(geometry)
    least = [d[np.ix_(piece == i, piece == j)].min() for i in range(5) for j in range(i + 1, 5)]
    for k in range(1, 6):
        wanted = fcluster(linkage(least, "single"), k, "maxclust")
        into = np.arange(5)
        for a, b in bridges(geometry, piece, k).reshape(-1, 2):
            into[into == into[piece[b]]] = into[piece[a]]
        assert len(set(into)) == k and adjusted_rand(into, wanted - 1) == 1.0
