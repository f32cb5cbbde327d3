"""The door: canonical labels, profiles, quality, which k, stability, words, bad input."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, silhouette_score

import credo as cr
from credo.errors import CredoError, InputError, SchemaError, TableError
from credo.train.clusters.geometry import geometry_of
from credo.train.clusters.quality import adjusted_rand, silhouette
from credo.train.clusters.task import METHODS

THREE = {
    "x": [0.0, 0.2, 0.1, 5.0, 5.2, 5.1, 5.3, 9.0, 9.1],
    "y": [1.0, 1.1, 0.9, 4.0, 4.2, 4.1, 4.3, 0.0, 0.1],
}


@pytest.mark.parametrize("method", [m for m in METHODS if m != "latent-class"])
def test_every_method_finds_three_groups(method):
    options = {"neighbours": 3} if method == "spectral" else {}
    if method == "gaussian":
        options = {"covariance": "spherical"}
    groups = cr.cluster(THREE, method, k=3, **options)
    assert groups.labels.tolist() == [1, 1, 1, 0, 0, 0, 0, 2, 2]
    assert groups.sizes == (4, 3, 2) and groups.k == 3
    assert groups.groups == ([3, 4, 5, 6], [0, 1, 2], [7, 8])
    assert groups.assign(THREE).tolist() == groups.labels.tolist()
    assert groups.quality["explained"] > 0.95 and groups.quality["silhouette"] > 0.9
    assert groups.record.seed == 0 and groups.record.seconds > 0
    assert not groups.labels.flags.writeable
    text, page = str(groups), groups._repr_html_()
    assert text.startswith(f"{method}: 3 clusters in 9 rows of dict of columns")
    assert "quality: within" in text and "<table>" in page and "nan" not in text.lower()
    if groups.membership is not None:
        np.testing.assert_allclose(groups.membership.sum(axis=1), 1)
        assert (groups.membership.argmax(axis=1) == groups.labels).all()
        np.testing.assert_allclose(groups.assign_membership(THREE), groups.membership, atol=1e-9)
    else:
        with pytest.raises(InputError, match="without probabilities"):
            groups.assign_membership(THREE)


def test_latent_classes_by_the_door():
    rows = {"a": ["u", "u", "v", "v", "u"] * 8, "b": ["p", "p", "q", "q", "p"] * 8}
    groups = cr.cluster(rows, "latent-class")
    assert groups.k == 2 and groups.sizes == (24, 16)
    assert groups.record.details["candidates"].by == "bic"
    assert set(groups.quality) >= {"bic", "icl", "silhouette", "log-likelihood"}
    found = cr.which_k(rows, "latent-class", by="icl")
    assert found.k == 2 and "cheeseman-stutz" in found.names
    assert cr.which_k(rows, "latent-class", k=[1, 2, 3]).k == 2


@pytest.mark.parametrize("method", ["k-means", "single", "complete", "average", "ward"])
def test_k_is_chosen(method):
    options = {"restarts": 2} if method == "k-means" else {}
    groups = cr.cluster(THREE, method, k_max=5, **options)
    assert groups.k == 3
    found = groups.record.details["candidates"]
    assert found.k == 3 and 3 in found.rows and f"◀ by {found.by}" in str(found)
    assert "<table>" in found._repr_html_() and "k = 3" in repr(found)
    assert found[3] == found.rows[3]
    by_hand = cr.which_k(THREE, method, k=[2, 3, 4], by="silhouette", **options)
    assert by_hand.k == 3 and by_hand[3]["silhouette"] > 0.9


def test_the_gap_statistic():
    rng = np.random.default_rng(0)
    three = {"x": np.concatenate([rng.normal(m, 0.3, 25) for m in (0, 4, 9)])}
    found = cr.which_k(three, k=range(2, 5), by="gap", restarts=3)
    assert found.k == 3 and 1 in found.rows
    even = {"x": rng.uniform(size=60), "y": rng.uniform(size=60)}
    assert cr.cluster(even, by="gap", k_max=2, restarts=3).k == 1
    with pytest.raises(InputError, match="needs every cell"):
        cr.cluster({"x": [1.0, 2.0, None, 4.0, 5.5]}, by="gap", k_max=3)


def test_silhouettes_are_scikit_learns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3)) + 3 * rng.integers(0, 3, 300)[:, None]
    table = cr.read(x, columns=list("abc"))
    groups = cr.cluster(table, k=3, scale="none")
    truth = silhouette_score(x, groups.labels)
    assert groups.quality["silhouette"] == pytest.approx(truth, rel=1e-9)
    total = sum(
        ((x[groups.labels == c] - x[groups.labels == c].mean(0)) ** 2).sum() for c in range(3)
    )
    assert groups.quality["within"] == pytest.approx(total, rel=1e-12)


def test_a_drawn_silhouette_says_its_error():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4500, 2)) + 4 * rng.integers(0, 3, 4500)[:, None]
    table = cr.read(x, columns=["a", "b"])
    groups = cr.cluster(table, k=3)
    points = groups.geometry.points
    truth = silhouette_score(points, groups.labels)
    q = groups.quality
    assert 0 < q["silhouette_error"] < 0.02
    assert abs(q["silhouette"] - truth) < 4 * q["silhouette_error"]
    assert "±" in str(groups).split("silhouette")[1][:20]


def test_a_row_alone_has_no_silhouette():
    geometry = geometry_of(cr.read({"x": [0.0, 1.0, 9.0]}))
    assert silhouette(geometry, np.array([0, 0, 1]), 2)[0] == pytest.approx(
        silhouette_score([[0.0], [1.0], [9.0]], [0, 0, 1])
    )


def test_adjusted_rand_is_scikit_learns():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.integers(0, 4, 50), rng.integers(0, 3, 50)
        assert adjusted_rand(a, b) == pytest.approx(adjusted_rand_score(a, b), abs=1e-12)
    one = np.zeros(5, dtype=np.intp)
    assert adjusted_rand(one, one) == 1.0


def test_profiles_are_relative_entropies():
    rows = {"x": [0.0, 0.1, 0.2, 0.3, 9.0, 9.1], "c": ["a", "a", "b", "b", "b", "b"]}
    groups = cr.cluster(rows, "average", k=2, columns=["x"])
    c = {t.column: t for t in groups.profiles[0]}["c"]
    p, q = np.array([0.5, 0.5]), np.array([1 / 3, 2 / 3])
    assert c.bits == pytest.approx(float((p * np.log2(p / q)).sum()))
    assert c.inside == {"a": 0.5, "b": 0.5} and c.state == "a"
    x = {t.column: t for t in groups.profiles[0]}["x"]
    assert x.inside == pytest.approx({"mean": 0.15, "sd": float(np.std([0, 0.1, 0.2, 0.3]))})
    assert groups.profiles[0][0].bits >= groups.profiles[0][1].bits
    assert groups.columns == ("x",) and groups.profiles.bits.shape == (2, 2)
    assert "cluster" in str(groups.profiles) and repr(groups.profiles).startswith("Profiles(2")
    assert "<table>" in groups.profiles._repr_html_() and len(list(groups.profiles)) == 2


def test_columns_that_are_all_missing_in_a_cluster():
    rows = {"x": [0.0, 0.1, 9.0, 9.1], "z": [1.0, 2.5, None, None], "c": ["a", "b", None, None]}
    groups = cr.cluster(rows, "average", k=2, columns=["x"])
    assert "nothing seen" in str(groups.profiles)
    assert "nan" not in str(groups)
    assert [t.bits for t in groups.profiles[1]][-1] == 0.0


def test_stability():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(40, 2)), 8 + rng.normal(size=(40, 2))])
    table = {"x": x[:, 0], "y": x[:, 1]}
    sure = cr.cluster(table, k=2, stability=5, restarts=2)
    unsure = cr.cluster(table, k=5, stability=5, restarts=2)
    assert sure.stability.mean == pytest.approx(1.0) and unsure.stability.mean < 0.95
    assert sure.stability.sd == 0 and len(sure.stability.agreement) == 5
    assert "stability: adjusted Rand 1.000 ± 0.000 over 5 resamples" in str(sure)
    assert "stability" in sure._repr_html_()
    assert cr.cluster(table, "ward", k=2, stability=2).stability.mean == pytest.approx(1.0)
    with pytest.raises(InputError, match="could not be repeated"):
        cr.cluster({"x": [1.0, 2.0, 3.5, 8.0]}, k=4, stability=2)


def test_the_same_seed_gives_the_same_groups():
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=200), "y": rng.normal(size=200)}
    for method in ("k-means", "spectral", "gaussian"):
        a, b = (cr.cluster(table, method, k=3, rng=7) for _ in range(2))
        assert np.array_equal(a.labels, b.labels)
    a, b = (cr.cluster(table, k=4, rng=np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(a.labels, b.labels) and a.record.seed == b.record.seed


def test_constant_and_empty_columns_are_told():
    table = cr.read(
        {"x": [0.0, 0.1, 9.0, 9.1], "one": [1.0] * 4, "none": [None] * 4},
        schema={"one": "continuous", "none": "continuous"},
    )
    for method in ("k-means", "average"):
        groups = cr.cluster(table, method, k=2)
        assert groups.sizes == (2, 2)
        assert "one is constant and tells nothing" in groups.record.notes
        assert "none is left out: every cell is missing" in groups.record.notes
        assert "nan" not in str(groups)
    with pytest.raises(InputError, match="Every cell of the columns"):
        cr.cluster(table, k=2, columns=["none"])


def test_duplicates():
    rows = {"x": [1.0, 1.0, 1.0, 2.0, 2.0]}
    for method in ("k-means", "single", "complete", "average", "ward"):
        assert cr.cluster(rows, method, k=2).sizes == (3, 2)
        groups = cr.cluster({"x": [1.0, 1.0, 1.0, 2.0, 2.0], "y": [3.5] * 5}, method, k=2)
        assert groups.sizes == (3, 2)


@pytest.mark.parametrize("method", METHODS)
def test_more_clusters_than_rows(method):
    with pytest.raises(InputError, match="k must be at most the number of rows, 9, got 10"):
        cr.cluster(THREE, method, k=10)


def test_what_cannot_be_clustered():
    with pytest.raises(TableError):
        cr.cluster({"x": []}, k=2)
    with pytest.raises(InputError, match="at least two rows"):
        cr.cluster({"x": [1.0]}, k=1)
    with pytest.raises(InputError, match="nothing to cluster"):
        cr.cluster()
    with pytest.raises(InputError, match=r"method must be one of .* Did you mean 'k-means'"):
        cr.cluster(THREE, "k-meens")
    with pytest.raises(InputError, match="k must be a whole number"):
        cr.cluster(THREE, k=0)
    with pytest.raises(InputError, match="k must be a whole number"):
        cr.cluster(THREE, k="three")
    with pytest.raises(InputError, match="height= cuts a tree"):
        cr.cluster(THREE, height=1.0)
    with pytest.raises(InputError, match="not both"):
        cr.cluster(THREE, "ward", k=2, height=1.0)
    with pytest.raises(InputError, match="by= chooses k"):
        cr.cluster(THREE, k=2, by="silhouette")
    with pytest.raises(InputError, match="chooses k by 'gap', 'silhouette'"):
        cr.cluster(THREE, by="bic")
    with pytest.raises(InputError, match="has Euclid's distance only"):
        cr.cluster(THREE, k=2, distance="gower")
    with pytest.raises(InputError, match="distance must be"):
        cr.cluster(THREE, "average", k=2, distance="cosine")
    with pytest.raises(InputError, match="scale must be"):
        cr.cluster(THREE, k=2, scale="log")
    with pytest.raises(InputError, match=r"has no option .max_itr'. Did you mean 'max_iter'"):
        cr.cluster(THREE, k=2, max_itr=3)
    with pytest.raises(InputError, match=r"average has no option 'restarts'. It has none"):
        cr.cluster(THREE, "average", k=2, restarts=3)
    with pytest.raises(CredoError, match="'z'"):
        cr.cluster(THREE, k=2, columns=["x", "z"])
    with pytest.raises(InputError, match="No column is left"):
        cr.cluster(THREE, k=2, aside=["x", "y"])
    with pytest.raises(InputError, match="rng must be"):
        cr.cluster(THREE, k=2, rng=-1)
    with pytest.raises(InputError, match="needs every cell, and 'x'"):
        cr.cluster({"x": [1.0, None, 2.5], "y": [1.0, 2.5, 3.0]}, "ward", k=2, distance="euclidean")
    with pytest.raises(InputError, match="too few to choose"):
        cr.cluster({"x": [1.0, 2.5]})
    with pytest.raises(InputError, match="Each k must be"):
        cr.which_k(THREE, k=[2, 40])
    with pytest.raises(InputError, match="range or list"):
        cr.which_k(THREE, k=3)


def test_text_columns_are_set_aside_and_said():
    rows = {
        "x": [0.0, 0.1, 9.0] * 10,
        "note": [f"a long sentence about {i} things" for i in range(30)],
    }
    groups = cr.cluster(rows, k=2)
    assert groups.columns == ("x",) and "note" in groups.table.schema.set_aside
    with pytest.raises(SchemaError, match="set aside"):
        cr.cluster(rows, k=2, columns=["note"])


def test_new_rows_must_have_the_columns_and_states():
    groups = cr.cluster({"x": [0.0, 0.1, 9.0, 9.1], "c": list("aabb")}, k=2)
    with pytest.raises(CredoError, match="'c'"):
        groups.assign({"x": [1.0]})
    with pytest.raises(CredoError, match="'z'"):
        groups.assign({"x": [1.0], "c": ["z"]})


def test_large_numbers_are_refused_in_words():
    with pytest.raises(InputError, match="too large"):
        cr.cluster({"x": [1e200, -1e200, 3e200]}, k=2)
