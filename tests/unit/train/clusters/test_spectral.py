"""Spectral clustering: scikit-learn's groups, eigengaps, landmarks with their error."""

import numpy as np
import pytest
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_circles, make_moons

import credo as cr
from credo.errors import InputError, LimitError
from credo.train.clusters.affinity import _nearest_rows, spectrum_of
from credo.train.clusters.geometry import geometry_of
from credo.train.clusters.quality import adjusted_rand
from credo.train.clusters.spectral import eigen


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
    import credo.train.clusters.affinity as landmarks

    monkeypatch.setattr(landmarks, "_SMALL", small)
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
    for affinity in ("neighbours", "rbf"):
        groups = cr.cluster(
            rows,
            "spectral",
            k=2,
            affinity=affinity,
            **({"neighbours": 3} if affinity == "neighbours" else {}),
        )
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


@pytest.mark.parametrize("itself", [True, False])
def test_one_row_far_away_does_not_hide_the_neighbours_of_others(itself):
    from scipy.spatial.distance import cdist

    x = np.vstack([wide_groups()[0], np.full((1, 20), 1e10)])
    known = geometry_of(cr.read(columns(x)))
    asked = known if itself else known.take(slice(0, 50))
    exact = np.argsort(cdist(asked.points, x), axis=1, kind="stable")[:, :7]
    assert np.array_equal(_nearest_rows(asked, known, 7, itself)[0], exact)
