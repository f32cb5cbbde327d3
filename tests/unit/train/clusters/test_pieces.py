"""More pieces than clusters: joined by their nearest rows, whatever the order of the rows."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage

import credo as cr
from credo.train.clusters.geometry import geometry_of
from credo.train.clusters.quality import adjusted_rand
from credo.train.clusters.spectral import bridges

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


@pytest.mark.parametrize("way", ["tree", "gower"])
def test_bridges_are_single_link_of_the_pieces(way):
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


def test_more_pieces_than_k_max_are_said():
    rng = np.random.default_rng(3)
    centres = rng.uniform(0, 400, size=(15, 2))
    x = np.concatenate([rng.normal(at, 0.5, size=(30, 2)) for at in centres])
    groups = cr.cluster(x, "spectral")
    assert groups.k == 10
    words = "15 pieces, and no gap tells fewer apart: k = 10 is only the last that was tried; k=15"
    assert any(words in n for n in groups.record.notes)
    assert "the last tried, not by eigengap" in str(cr.which_k(x, "spectral"))
    assert cr.cluster(x, "spectral", k_max=20).sizes == (30,) * 15


def test_pieces_of_a_graph_are_joined_the_same_for_any_order():
    import networkx as nx

    whole = nx.disjoint_union_all([nx.complete_graph(n) for n in (4, 9, 5, 6, 12)])
    matrix = nx.to_scipy_sparse_array(whole)
    groups = cr.cluster(graph=matrix, method="spectral", k=3)
    assert groups.sizes == (15, 12, 9)  # 4 and 5, then both and 6, have the least ties
    said = "5 pieces, more than k = 3: those with the least ties were joined; k=5"
    assert any(said in n for n in groups.record.notes)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(36)
        again = cr.cluster(graph=matrix[order][:, order], method="spectral", k=3)
        assert adjusted_rand(groups.labels[order], again.labels) == 1.0
    assert cr.cluster(graph=matrix, method="spectral", k=5).sizes == (12, 9, 6, 5, 4)
    assert cr.which_k(graph=matrix, method="spectral", by="eigengap").k == 5
    few = cr.which_k(graph=matrix, method="spectral", by="eigengap", k=[2, 3])
    assert few.k == 3 and "5 pieces" in few.note


@pytest.mark.parametrize("seed", [16, 24, 33, 38, 50])
def test_equally_near_pieces_are_joined_the_same_for_any_order_of_columns(seed):
    """The order of columns decided which of equally near pieces were joined."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(4, 9)), int(rng.integers(30, 120))
    if seed % 2:
        words = {f"q{j}": rng.choice(list("abcd")[: rng.integers(2, 5)], n) for j in range(d)}
    else:
        words = {f"q{j}": rng.integers(0, 4, n) + 0.5 for j in range(4)}
    kinds = {} if seed % 2 else dict.fromkeys(words, "continuous")
    first = cr.cluster(words, "spectral", k=3, neighbours=2, schema=kinds)
    assert any("pieces, more than k = 3" in note for note in first.record.notes)
    for again in range(3):
        turned = np.random.default_rng(again).permutation(list(words))
        rows = {n: words[n] for n in turned}
        other = cr.cluster(rows, "spectral", k=3, neighbours=2, schema=kinds)
        assert adjusted_rand(first.labels, other.labels) == 1.0


@pytest.mark.parametrize("method", ["spectral", "single", "complete", "average"])
def test_equal_pieces_of_a_named_graph_are_joined_the_same_for_any_order(method):
    pairs = [(f"{p}{i}", f"{p}{j}") for p in "abcdefg" for i in range(3) for j in range(i)]
    first = cr.cluster(graph=pairs, method=method, k=4)
    groups = {frozenset(g) for g in first.groups}
    for seed in range(4):
        some = np.random.default_rng(seed).permutation(len(pairs))
        turned = [pairs[i][:: (-1) ** (i % 2)] for i in some]
        again = cr.cluster(graph=turned, method=method, k=4)
        assert {frozenset(g) for g in again.groups} == groups
