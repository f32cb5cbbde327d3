"""Spectral clustering: scikit-learn's groups, eigengaps, landmarks, ties of neighbours, pieces."""

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

import credo as cr
from credo.errors import InputError, LimitError
from credo.train.clusters.affinity import _nearest, spectrum_of
from credo.train.clusters.geometry import geometry_of
from credo.train.clusters.quality import adjusted_rand
from credo.train.clusters.spectral import bridges, eigen


def columns(x):
    return {f"x{j}": x[:, j] for j in range(x.shape[1])}


@pytest.fixture(scope="module")
def moons():
    return make_moons(400, noise=0.06, random_state=0)


def test_neighbours_separate_what_k_means_cannot(moons):
    x, y = moons
    groups = cr.cluster(columns(x), "spectral", k=2)
    assert adjusted_rand(groups.labels, y) == 1.0
    assert adjusted_rand(cr.cluster(columns(x), k=2).labels, y) < 0.6
    fresh, truth = make_moons(300, noise=0.06, random_state=1)
    assert adjusted_rand(groups.assign(columns(fresh)), truth) > 0.98
    peer = SpectralClustering(2, affinity="nearest_neighbors", n_neighbors=10, random_state=0)
    assert adjusted_rand(groups.labels, peer.fit_predict(x).astype(np.intp)) == 1.0


def test_the_affinity_of_all_pairs_is_scikit_learns():
    x, y = make_circles(200, noise=0.03, factor=0.4, random_state=0)
    groups = cr.cluster(columns(x), "spectral", k=2, affinity="rbf", gamma=30.0, scale="none")
    peer = SpectralClustering(2, gamma=30.0, random_state=0).fit_predict(x)
    assert adjusted_rand(groups.labels, peer.astype(np.intp)) == 1.0
    assert adjusted_rand(groups.labels, y) == 1.0
    assert groups.assign(columns(x)).tolist() == groups.labels.tolist()


def test_landmarks_say_their_error_and_shrink_it():
    x, y = make_circles(300, noise=0.03, factor=0.4, random_state=0)
    told = []
    for m in (30, 150):
        groups = cr.cluster(
            columns(x), "spectral", k=2, affinity="rbf", gamma=8.0, landmarks=m, scale="sd"
        )
        note = next(n for n in groups.record.notes if "landmarks" in n)
        told.append(float(note.split("affinities ")[1].split(" ")[0]))
        assert groups.assign(columns(x)).tolist() == groups.labels.tolist()
    assert told[1] < 0.3 * told[0]
    assert adjusted_rand(groups.labels, y) == 1.0
    # every row a landmark: the affinity itself
    every = cr.cluster(columns(x), "spectral", k=2, affinity="rbf", gamma=8.0, landmarks=300)
    d = every.geometry.to(every.geometry)
    near = np.exp(-8.0 * d * d)
    np.fill_diagonal(near, 0.0)
    values, _ = eigen(near, 3, 0)
    np.testing.assert_allclose(every.model.vectors(3)[0], values, atol=1e-6)


@pytest.mark.parametrize("small", [10, 1500], ids=["by products", "whole"])
def test_landmarks_leave_a_row_s_affinity_to_itself_out_as_the_exact_embedding_does(
    small, monkeypatch
):
    import credo.train.clusters.spectral as solver

    monkeypatch.setattr(solver, "_SMALL", small)
    rng = np.random.default_rng(0)
    x = 9 * np.array([[0, 0], [1, 0], [0, 1]])[rng.integers(0, 3, 240)] + rng.normal(size=(240, 2))
    x = np.concatenate([x, x[:30]])  # some rows twice
    spectra = [spectrum_of(cr.read(columns(x)), affinity="rbf", landmarks=m) for m in (None, 240)]
    (values, exact), (others, found) = (s.vectors(3) for s in spectra)
    np.testing.assert_allclose(others[:3], values[:3], atol=1e-9)
    for j in range(3):
        a, b = exact[:, j], found[:, j]
        np.testing.assert_allclose(b * np.sign(a @ b), a, atol=1e-6 * np.abs(a).max())


def test_an_outlier_among_the_landmarks_is_no_group_of_its_own():
    rng = np.random.default_rng(0)
    g = rng.integers(0, 3, 400)
    x = 9 * np.array([[0, 0], [1, 0], [0, 1]])[g] + rng.normal(size=(400, 2))
    x[0] = [-12.0, -12.0]  # near none, but nearest to those at 0
    x[1] = [-500.0, -500.0]  # near nothing at all
    groups = cr.cluster(columns(x), "spectral", k=3, affinity="rbf", landmarks=400)
    assert min(groups.sizes) > 100
    assert adjusted_rand(groups.labels[2:], g[2:]) == 1.0
    assert groups.assign(columns(x)).tolist() == groups.labels.tolist()


@pytest.mark.parametrize("flat", [False, True])
def test_sparse_eigenvectors_are_the_dense_ones(flat, monkeypatch):
    from scipy import sparse

    import credo.train.clusters.spectral as solver

    monkeypatch.setattr(solver, "_SMALL", 10)
    rng = np.random.default_rng(0)
    n = 160
    inside = [(i, j) for i in range(n) for j in range(i) if (i < 60) == (j < 60)]
    a, b = np.array(inside)[rng.random(len(inside)) < 0.15].T
    w = sparse.coo_array((rng.uniform(0.5, 1, len(a)), (a, b)), shape=(n, n))
    w = (w + w.T).tocsr()
    values, vectors = eigen(w, 5, 0, flat)
    dense, _ = eigen(w.toarray(), 5, 0)
    np.testing.assert_allclose(values, dense, atol=1e-6)
    np.testing.assert_allclose(values[:2], 1, atol=1e-9)  # two pieces
    d = np.asarray(w.sum(axis=1)).ravel()
    for mu, v in zip(values, vectors.T, strict=True):  # W v = μ D v
        assert np.abs(w @ v - mu * d * v).max() < 1e-3 * np.abs(d * v).max()
    ones, known = eigen(w, 1, 0, flat)  # fewer than there are pieces
    assert ones.tolist() == pytest.approx([1.0]) and known.shape == (n, 1)


def test_a_graph_in_pieces_is_its_own_answer(moons):
    x = np.concatenate([moons[0], moons[0] + 20])
    groups = cr.cluster(columns(x[::2]), "spectral", neighbours=15, k_max=5)
    assert groups.k in (2, 4) and any("pieces" in n for n in groups.record.notes)


def test_mixed_columns_by_gower():
    rows = {"x": [0.0, 0.1, 0.2, 9.0, 9.1, 9.2], "c": ["a", "a", None, "b", "b", "b"]}
    for options in ({"affinity": "neighbours", "neighbours": 3}, {"affinity": "rbf"}):
        groups = cr.cluster(rows, "spectral", k=2, **options)
        assert groups.sizes == (3, 3)
        assert groups.assign(rows).tolist() == groups.labels.tolist()


def test_bad_options(moons):
    table = columns(moons[0])
    with pytest.raises(InputError, match="affinity must be"):
        cr.cluster(table, "spectral", k=2, affinity="cosine")
    with pytest.raises(InputError, match="belong to affinity='rbf'"):
        cr.cluster(table, "spectral", k=2, gamma=1.0)
    with pytest.raises(InputError, match="neighbours= belongs to affinity='neighbours'"):
        cr.cluster(table, "spectral", k=2, affinity="rbf", neighbours=5)
    with pytest.raises(InputError, match="gamma must be"):
        cr.cluster(table, "spectral", k=2, affinity="rbf", gamma=-1)
    with pytest.raises(LimitError, match="landmarks=500"):
        cr.cluster(table, "spectral", k=2, affinity="rbf", memory="1MB")
    with pytest.raises(LimitError, match="fewer landmarks"):
        cr.cluster(table, "spectral", k=2, affinity="rbf", landmarks=300, memory="100kB")
    notes = cr.cluster(table, "spectral", k=2, weights=np.full(400, 2.0)).record.notes
    assert any("counts every row once" in n for n in notes)


def test_a_small_table_has_fewer_neighbours():
    two = cr.cluster({"x": [1.0, 2, 3, 8, 9, 10]}, "spectral", k=2)
    assert two.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert "each row is tied to its 3 nearest rows, itself among them" in two.record.notes
    for rows, ties in ((4, 2), (5, 2), (10, 5), (19, 9), (20, 10), (50, 10)):
        x = np.arange(rows) + 20.0 * (np.arange(rows) >= rows // 2)
        groups = cr.cluster({"x": x}, "spectral", k=2)
        assert sorted(groups.sizes) == [rows // 2, rows - rows // 2]
        assert any(f"its {ties} nearest" in note for note in groups.record.notes)


@pytest.mark.parametrize("seed", [2, 14, 18, 20, 22])
def test_an_rbf_is_scikit_learns_with_outliers_too(seed):
    rng = np.random.default_rng(seed)
    n, k, d = (int(rng.integers(*between)) for between in ((20, 120), (2, 5), (1, 4)))
    x = rng.normal(size=(n, d)) + 6 * rng.integers(0, k, n)[:, None] * rng.normal(size=d)
    wanted = SpectralClustering(k, gamma=0.5, random_state=0).fit_predict(x)
    found = cr.cluster(x, "spectral", k=k, scale="none", affinity="rbf", gamma=0.5)
    assert adjusted_rand(found.labels, wanted) == 1.0


def test_a_row_near_no_other_is_a_piece():
    x = np.concatenate([np.random.default_rng(0).normal(size=30), [1e3]])
    groups = cr.cluster(x[:, None], "spectral", k=2, affinity="rbf", gamma=1.0, scale="none")
    assert groups.sizes == (30, 1) and groups.assign(np.array([[1e3 + 1.0]])).tolist() in ([0], [1])
    two = cr.cluster(np.array([[0.5], [1.5]]), "spectral", k=2, affinity="rbf")
    assert two.sizes == (1, 1)


def wide_groups():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 3, 300)
    return rng.normal(size=(300, 20)) + 4 * np.eye(3)[z] @ rng.normal(size=(3, 20)), z


def test_many_columns_far_from_0_have_the_same_neighbours():
    x, z = wide_groups()
    for rows in (x, x + 1e9):
        groups = cr.cluster(rows, "spectral", k=3)
        assert adjusted_rand(groups.labels, z) == 1.0
        assert adjusted_rand(groups.assign(rows + 1e-3), z) == 1.0
    few = cr.cluster(x[:18, :2] + 1e9, "spectral", k=2)  # of few rows all squares are made, too
    assert few.labels.tolist() == cr.cluster(x[:18, :2], "spectral", k=2).labels.tolist()


def test_the_nearest_are_scikit_learns():
    from sklearn.neighbors import kneighbors_graph

    x = np.random.default_rng(0).normal(size=(200, 3))
    table = cr.read(x, columns=["a", "b", "c"])
    for distance in ("euclidean", "gower"):
        known = geometry_of(table, distance, "none")
        found = _nearest(known, known, np.ones(200), 10).toarray()
        metric = "euclidean" if distance == "euclidean" else "manhattan"
        wanted = kneighbors_graph(x, 10, include_self=True, metric=metric)
        np.testing.assert_array_equal(found, wanted.toarray())
    copied = _nearest(known, known, np.full(200, 4.0), 10)  # three rows of four copies hold ten
    assert copied.sum() == 600


def test_all_states_as_near_as_the_last_are_tied():
    """In whatever order the states have their names."""
    rows = {c: list(s) for c, s in zip("abcd", ("uvuuu", "uuvuu", "uuuvu", "uuuuv"), strict=True)}
    known = geometry_of(cr.read(rows), "gower")
    found = _nearest(known, known, np.ones(5), 2).toarray()
    assert found[:, 0].all() and found.diagonal().all()
    assert found[0].sum() == 5 and (found[1:].sum(axis=1) == 2).all()


@pytest.mark.parametrize("seed", range(8))
def test_columns_rows_and_names_in_any_order(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(60, 250)), 2 + seed % 3
    group = rng.integers(0, 3, n)
    own, any_ = np.array(["u", "v", "w"])[group], rng.choice(["u", "v", "w"], (6, n))
    frame = pd.DataFrame({f"c{j}": np.where(rng.random(n) < 0.7, own, any_[j]) for j in range(6)})
    order = rng.permutation(n)
    other = frame[rng.permutation(frame.columns)].iloc[order].replace({"u": "zz", "v": "aa"})
    one, two = cr.cluster(frame, "spectral", k=k), cr.cluster(other, "spectral", k=k)
    assert adjusted_rand_score(one.labels[order], two.labels) == 1
    new = pd.DataFrame({f"c{j}": rng.choice(["u", "v", "w"], 30) for j in range(6)})
    renamed = new[other.columns].replace({"u": "zz", "v": "aa"})
    assert adjusted_rand_score(one.assign(new), two.assign(renamed)) == 1


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
