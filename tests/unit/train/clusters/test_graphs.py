"""Graphs of ties: trees that are SciPy's on the whole matrix, communities, refusals."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform

import credo as cr
from credo.errors import InputError
from credo.train.clusters.graphs import tree_of_ties
from credo.train.clusters.quality import adjusted_rand
from credo.train.clusters.ties import modularity, ties_of

PAIRS = [("Ann", "Bob"), ("Bob", "Cid"), ("Ann", "Cid"), ("Dan", "Eve"), ("Eve", "Fay"),
         ("Dan", "Fay"), ("Cid", "Dan")]  # fmt: skip


@pytest.mark.parametrize("method", ["single", "average", "complete", "spectral"])
def test_two_circles_of_friends(method):
    options = {} if method == "spectral" else {"ties": "shared"}
    groups = cr.cluster(graph=PAIRS, method=method, k=2, **options)
    assert groups.groups == (["Ann", "Bob", "Cid"], ["Dan", "Eve", "Fay"])
    assert groups.quality["modularity"] == pytest.approx(0.357143, abs=1e-6)
    assert "6 nodes" in str(groups) and "Ann, Bob, Cid" in str(groups)
    with pytest.raises(InputError, match="cannot be assigned"):
        groups.assign([{"x": 1}])
    with pytest.raises(InputError, match="has no columns"):
        groups.profiles


def test_every_form_of_a_graph_is_the_same():
    graph = nx.Graph()
    graph.add_edges_from(PAIRS)
    matrix = nx.to_numpy_array(graph)
    forms = [graph, matrix, csr_array(matrix), [(a, b, 1.0) for a, b in PAIRS], PAIRS]
    found = [cr.cluster(graph=g, method="average", k=2).labels.tolist() for g in forms]
    assert all(f == found[0] for f in found)
    heavy = nx.Graph()
    heavy.add_weighted_edges_from([("a", "b", 2.0), ("b", "c", 0.5)])
    assert ties_of(heavy).strengths.tolist() == [2.0, 0.5]
    assert ties_of([("a", "b"), ("b", "a"), ("a", "a")]).strengths.tolist() == [2.0]


@pytest.mark.parametrize("method", ["single", "average", "complete"])
@pytest.mark.parametrize("share", [0.15, 0.8])
def test_trees_are_scipys_on_the_whole_matrix(method, share):
    rng = np.random.default_rng(4)
    n = 30
    pairs = [
        (i, j, rng.uniform(0.1, 1)) for i in range(n) for j in range(i) if rng.random() < share
    ]
    ties = ties_of(pairs, n)
    d = np.ones((n, n)) - np.eye(n)
    top = max(p[2] for p in pairs)
    for i, j, s in pairs:
        d[i, j] = d[j, i] = 1 - s / top
    truth = linkage(squareform(d), method)
    np.testing.assert_allclose(tree_of_ties(ties, method).heights, truth[:, 2], atol=1e-12)


def test_the_karate_club():
    graph = nx.karate_club_graph()
    truth = np.array([graph.nodes[n]["club"] == "Officer" for n in graph], dtype=np.intp)
    groups = cr.cluster(graph=graph, method="spectral", k=2)
    assert adjusted_rand(groups.labels, truth) > 0.8
    chosen = cr.cluster(graph=graph, method="average")
    rows = chosen.record.details["candidates"].rows
    assert chosen.quality["modularity"] == pytest.approx(
        max(r["modularity"] for r in rows.values())
    )
    communities = [set(g) for g in chosen.groups]
    assert chosen.quality["modularity"] == pytest.approx(
        nx.community.modularity(graph, communities)
    )
    again = chosen.cut(k=2)
    assert again.k == 2 and again.nodes == chosen.nodes
    assert again.quality["modularity"] == pytest.approx(modularity(ties_of(graph), again.labels, 2))
    assert cr.cluster(graph=graph, method="average", by="height").k >= 2
    assert cr.cluster(graph=graph, method="spectral", by="eigengap").k >= 2
    assert cr.cluster(graph=graph, method="average", height=0.9).k > 2


def test_rows_of_which_only_tied_ones_merge():
    rows = {"x": [0.0, 5.0, 0.1, 5.1, 0.2, 5.2]}
    line = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    groups = cr.cluster(rows, "ward", k=2, graph=line)
    change = np.flatnonzero(np.diff(groups.labels))
    assert len(change) == 1  # one stretch of the line each
    assert "only clusters that are tied merge" in groups.record.notes
    free = cr.cluster(rows, "ward", k=2)
    assert free.labels.tolist() == [0, 1, 0, 1, 0, 1]
    by_graph = cr.cluster(
        rows, "spectral", k=2, graph=[(0, 2), (2, 4), (1, 3), (3, 5), (4, 5, 0.1)]
    )
    assert by_graph.labels.tolist() == [0, 1, 0, 1, 0, 1] and len(by_graph.profiles) == 2
    pieces = cr.cluster(rows, "average", k=2, graph=[(0, 2), (2, 4), (1, 3), (3, 5)])
    assert any("pieces" in n for n in pieces.record.notes)


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ([], "at least two nodes"),
        (np.zeros((0, 0)), "at least two nodes"),
        ([("a", "a")], "at least two nodes"),
        ([("a", "b", 0.0)], "has no ties"),
        ([("a",)], "Tie 1 must be two nodes"),
        (["ab"], "Tie 1 must be two nodes"),
        ([("a", "b", -1.0)], "strength of 0 or more"),
        ([("a", "b", float("nan"))], "strength of 0 or more"),
        ([("a", ["b"])], "hashable"),
        ("edges.csv", "must be pairs"),
        (np.ones((2, 3)), "must be square"),
        (np.ones((4, 2)), r"pairs as a list: edges.tolist\(\)"),
        ([[1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3, 4]], "Tie 4 .* must be square"),
        ([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, "x"], [0, 0, 1, 0]], "must hold numbers"),
        ([[0, 1, 0, 0], [2, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], "must be symmetric"),
        ([("a", "b"), ("b", None)], "Tie 2 lacks a node"),
        ([("a", "b"), ("b", float("nan"))], "Tie 2 lacks a node"),
        (np.array([["0", "1"], ["1", "0"]]), "must hold numbers"),
        (np.array([[0, 1], [1, 0]], dtype=object), "must hold numbers, got object"),
        (np.array([[0, 1j], [1j, 0]]), "must hold numbers, got complex"),
        (pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"]}), "DataFrame. Give its rows as a list"),
        (pl.DataFrame({"a": ["x", "y"], "b": ["y", "z"]}), "DataFrame. Give its rows as a list"),
        (np.array([[0, 1], [2, 0]]), "must be symmetric"),
        (np.array([[0, -1], [-1, 0]]), "0 or more"),
    ],
)
def test_bad_graphs(graph, words):
    with pytest.raises(InputError, match=words):
        cr.cluster(graph=graph, method="average", k=2)


@pytest.mark.parametrize("nodes", [3, 4, 6])
@pytest.mark.parametrize("method", ["average", "spectral"])
def test_a_matrix_may_be_a_list_of_lists(nodes, method):
    matrix = np.triu(np.random.default_rng(0).integers(1, 4, (nodes, nodes)), 1)
    matrix = matrix + matrix.T
    wanted = cr.cluster(graph=matrix, method=method, k=2)
    for given in (matrix.tolist(), matrix.astype(float).tolist(), list(matrix)):
        found = cr.cluster(graph=given, method=method, k=2)
        assert found.nodes == tuple(range(nodes)) and str(found) == str(wanted)
    rows = {"x": np.arange(nodes) + 0.5}
    assert cr.cluster(rows, method, k=2, graph=matrix.tolist()).k == 2


def test_three_ties_with_strengths_stay_ties():
    ties = [[0, 1, 2.0], [1, 2, 1.0], [2, 0, 0.5]]
    assert cr.cluster(graph=ties, method="average", k=2).labels.tolist() == [0, 0, 1]
    assert cr.cluster(graph=[[1, 2, 3], [2, 3, 1], [3, 1, 2]], method="average", k=2).k == 2


def test_what_a_graph_cannot_do():
    with pytest.raises(InputError, match="takes no graph="):
        cr.cluster(graph=PAIRS, k=2)
    with pytest.raises(InputError, match="ward needs the columns"):
        cr.cluster(graph=PAIRS, method="ward", k=2)
    with pytest.raises(InputError, match="number of nodes, 6, got 7"):
        cr.cluster(graph=PAIRS, method="average", k=7)
    with pytest.raises(InputError, match="no option 'restarts'"):
        cr.cluster(graph=PAIRS, method="average", k=2, restarts=3)
    with pytest.raises(InputError, match="'given' or 'shared'"):
        cr.cluster(graph=PAIRS, method="average", k=2, ties="all")
    with pytest.raises(InputError, match="modularity or height"):
        cr.cluster(graph=PAIRS, method="average", by="bic")
    with pytest.raises(InputError, match="rows are 0 to 2"):
        cr.cluster({"x": [1.0, 2.5, 3.0]}, "average", k=2, graph=[(0, 9)])


def test_rows_of_weight_0_leave_with_their_ties():
    rows = {"x": [0.0, 50.0, 5.0, 0.1, 5.1, 0.2, 5.2], "w": [1, 0, 1, 1, 1, 1, 1]}
    ties = [(0, 3), (3, 5), (2, 4), (4, 6), (0, 1), (1, 2), (5, 6, 0.1)]
    groups = cr.cluster(rows, "average", k=2, graph=ties, weights="w")
    without = cr.cluster(
        {"x": [0.0, 5.0, 0.1, 5.1, 0.2, 5.2]}, "average", k=2,
        graph=[(0, 2), (2, 4), (1, 3), (3, 5), (4, 5, 0.1)],
    )  # fmt: skip
    assert groups.labels.tolist() == without.labels.tolist() == [0, 1, 0, 1, 0, 1]
    assert groups.tree.links.tolist() == without.tree.links.tolist()
    square = np.zeros((7, 7))
    for a, b, *s in ties:
        square[a, b] = square[b, a] = s[0] if s else 1.0
    matrix = cr.cluster(rows, "spectral", k=2, graph=square, weights="w")
    assert matrix.labels.tolist() == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"distance": "gower"}, "Euclid's distance only"),
        ({"k": 2, "height": 1.0}, "not both"),
        ({"k": 2, "by": "height"}, "k is given"),
        ({"method": "spectral", "distance": "euclidean"}, "no use for distance='euclidean'"),
        ({"method": "spectral", "scale": "sd"}, "no use for scale='sd'"),
    ],
)
def test_with_a_graph_nothing_is_ignored_in_silence(given, words):
    rows = {"x": [0.0, 5.0, 0.1, 5.1]}
    with pytest.raises(InputError, match=words):
        cr.cluster(rows, **({"method": "average"} | given), graph=[(0, 1), (1, 2), (2, 3)])


def test_gaps_and_a_graph_are_refused_with_what_helps():
    with pytest.raises(InputError, match=r"'x' has missing ones. Fill them .* leave graph= out"):
        cr.cluster({"x": [0.0, None, 1.5]}, "average", k=2, graph=[(0, 1), (1, 2)])


@pytest.mark.filterwarnings("ignore:the number of connected components")
@pytest.mark.parametrize("method", ["single", "complete", "average", "ward"])
def test_pieces_are_joined_as_scikit_learn_joins_them(method):
    from sklearn.cluster import AgglomerativeClustering

    rng = np.random.default_rng(4)
    x = rng.normal(size=(60, 3))
    ties = [(i, i + 1) for i in range(59) if i % 15 != 14]
    groups = cr.cluster(x, method, k=3, graph=ties, scale="none")
    peer = AgglomerativeClustering(
        3, connectivity=ties_of(ties, 60).matrix, linkage=method, compute_distances=True
    ).fit(x)
    assert adjusted_rand(groups.labels, peer.labels_.astype(np.intp)) == 1.0
    np.testing.assert_allclose(groups.tree.heights, peer.distances_)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sizes", [(50, 40, 30), (500, 400, 300)])
def test_nodes_without_a_tie_take_no_eigenvector(sizes):
    from scipy.sparse import block_diag

    p = np.full((3, 3), 0.02 if sum(sizes) < 500 else 0.002) + np.diag([0.3, 0.3, 0.3])
    blocks = nx.stochastic_block_model(sizes, p, seed=1)
    matrix = block_diag([nx.to_scipy_sparse_array(blocks), csr_array((5, 5))]).tocsr()
    truth = np.repeat([0, 1, 2], sizes)
    groups = cr.cluster(graph=matrix, method="spectral", k=3)
    assert adjusted_rand(groups.labels[:-5], truth) == 1.0
    assert groups.labels[-5:].tolist() == [0] * 5
    assert any(n.startswith("5 nodes have no tie") for n in groups.record.notes)
    assert cr.cluster(graph=matrix, method="spectral").k == 3
    few = csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(4, 4))
    with pytest.raises(InputError, match="number of nodes that have a tie, 2, got 3"):
        cr.cluster(graph=few, method="spectral", k=3)


@pytest.mark.parametrize("method", ["single", "average", "complete", "spectral"])
def test_stability_of_a_graph_is_that_of_its_parts(method):
    graph = nx.stochastic_block_model([40, 40], [[0.5, 0.02], [0.02, 0.5]], seed=2)
    options = {} if method == "spectral" else {"ties": "shared"}
    groups = cr.cluster(graph=graph, method=method, k=2, stability=4, **options)
    assert "4 resamples of 80 % of the nodes" in str(groups)
    chance = np.random.default_rng(0)
    wanted = []
    for _ in range(4):  # by hand
        kept = np.sort(chance.choice(80, 64, replace=False))
        chance.integers(1 << 31)
        part = nx.to_scipy_sparse_array(graph)[kept][:, kept]
        again = cr.cluster(graph=part, method=method, k=2, **options)
        wanted.append(adjusted_rand(groups.labels[kept], again.labels))
    assert groups.stability.agreement == pytest.approx(wanted, abs=1e-9)
    if method == "spectral":
        assert groups.stability.mean > 0.95


def test_stability_of_rows_of_which_only_tied_ones_merge():
    x = np.concatenate([np.arange(20) / 10, 50 + np.arange(20) / 10])
    ties = [(i, j) for i in range(40) for j in range(i) if i - j < 8]
    groups = cr.cluster(x[:, None], "ward", k=2, graph=ties, stability=3)
    assert groups.stability.agreement == (1.0, 1.0, 1.0)
    assert "of 80 % of the rows" in str(groups.stability)


def test_numbers_of_clusters_of_a_graph_side_by_side():
    graph = nx.karate_club_graph()
    found = cr.which_k(graph=graph, method="average", k=range(2, 6), ties="shared")
    assert found.by == "modularity" and list(found.rows) == [2, 3, 4, 5]
    for k, row in found.rows.items():
        groups = cr.cluster(graph=graph, method="average", k=k, ties="shared")
        assert row["modularity"] == pytest.approx(groups.quality["modularity"])
    assert cr.which_k(graph=graph, method="spectral", by="eigengap").by == "eigengap"
    with pytest.raises(InputError, match="nothing to cluster"):
        cr.which_k()


@pytest.mark.parametrize("method", ["average", "ward", "spectral"])
def test_weights_beside_a_graph_are_told(method):
    rows = {"x": [0.0, 0.1, 5.0, 5.1], "w": [2, 1, 1, 3]}
    groups = cr.cluster(rows, method, k=2, graph=[(0, 1), (1, 2), (2, 3)], weights="w")
    assert any("counts every row once" in n for n in groups.record.notes)
    assert sum(groups.sizes) == 7


@pytest.mark.parametrize("method", ["single", "average", "complete"])
def test_a_tree_of_a_graph_is_one_of_nodes(method):
    tree = cr.cluster(graph=PAIRS, method=method, k=2).tree
    assert str(tree).startswith(f"{method} link of 6 nodes: heights 0 to ")
    assert repr(tree) == f"Tree({method} link, 6 nodes)"
    tied = cr.cluster({"x": [0.0, 1.0, 5.0]}, method, graph=[(0, 1), (1, 2)], k=2).tree
    assert str(tied).startswith(f"{method} link of 3 rows")


def test_equal_modularities_do_not_fall_by_rounding():
    """Two numbers of clusters had the same modularity, and the order of the ties chose."""
    rng = np.random.default_rng(934)
    n, e = int(rng.integers(2, 25)), int(rng.integers(1, 50))
    rng.integers(0, 4)
    pairs = []
    for a, b in rng.integers(0, n, (e, 2)).tolist():
        plain = rng.random() < 0.5
        ends = (str(a), str(b))
        pairs.append(ends if plain else (*ends, float(rng.choice([0, 0.5, 1, 2]))))
    found = [cr.which_k(graph=p, method="complete") for p in (pairs, pairs[::-1])]
    assert [f.k for f in found] == [9, 9]
    assert found[0][9]["modularity"] == pytest.approx(found[0][10]["modularity"], rel=1e-14)
