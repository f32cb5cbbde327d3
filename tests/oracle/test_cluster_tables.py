"""Real tables: the groups that are known to be there."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

import credo as cr
from credo.train.clusters.quality import adjusted_rand


def agreement(groups, name):
    return adjusted_rand(groups.labels, groups.table.codes(name).astype(np.intp))


def test_iris(shared_tables):
    table = cr.read(shared_tables / "iris.csv")
    x = np.stack([table.values(n) for n in table.schema.continuous], axis=1)
    plain = cr.cluster(table, k=3, scale="none", aside="target", tol=0.0)
    peer = KMeans(3, n_init=20, tol=0, random_state=0).fit(x)
    assert plain.quality["within"] == pytest.approx(peer.inertia_, rel=1e-9)
    assert plain.quality["within"] == pytest.approx(78.851441, rel=1e-6)
    assert agreement(plain, "target") == pytest.approx(0.730238, abs=1e-6)
    for method in ("single", "complete", "average", "ward"):
        groups = cr.cluster(table, method, scale="none", aside="target")
        np.testing.assert_allclose(
            groups.tree.heights, linkage(x, method)[:, 2], rtol=1e-9, atol=1e-12
        )
    assert agreement(cr.cluster(table, "gaussian", k=3, aside="target"), "target") > 0.85
    assert cr.cluster(table, "single", aside="target", scale="none").k == 2


def test_wine(shared_tables):
    table = cr.read(shared_tables / "wine.csv")
    groups = cr.cluster(table, k="auto", k_max=5, aside="target")
    assert groups.k == 3 and agreement(groups, "target") > 0.85
    x = StandardScaler().fit_transform(
        np.stack([table.values(n) for n in table.schema.continuous], axis=1)
    )
    assert groups.quality["within"] == pytest.approx(
        KMeans(3, n_init=20, random_state=0).fit(x).inertia_, rel=1e-6
    )
    assert agreement(cr.cluster(table, "spectral", aside="target"), "target") > 0.75
    assert cr.cluster(table, k=3, aside="target", stability=3, restarts=3).stability.mean > 0.85


def test_penguins_have_gaps_and_states(shared_tables):
    table = cr.read(shared_tables / "penguins.csv")
    for method in ("k-means", "average", "complete", "ward", "spectral", "latent-class"):
        groups = cr.cluster(table, method, k=3, aside=["species"])
        assert sum(groups.sizes) == len(table)
        if method in ("k-means", "ward", "latent-class"):
            assert agreement(groups, "species") > 0.45
        assert all(np.isfinite(v) for v in groups.quality.values())


def test_votes_zoo_and_mushrooms_are_all_states(shared_tables):
    votes = cr.read(shared_tables / "house_votes_84.csv")
    for method in ("k-means", "latent-class"):
        assert agreement(cr.cluster(votes, method, k=2, aside="Class"), "Class") > 0.5
    orders = [np.random.default_rng(s).permutation(len(votes)) for s in range(9)]
    shuffled = [cr.cluster(votes.take(o), "complete", k=2, aside="Class") for o in orders]
    assert (
        np.median([agreement(g, "Class") for g in shuffled]) > 0.3
    )  # merges tie, so orders differ
    zoo = cr.read(shared_tables / "zoo.csv")
    for method in ("average", "latent-class", "k-means"):
        assert agreement(cr.cluster(zoo, method, k=7, aside="type"), "type") > 0.6
    mushrooms = cr.read(shared_tables / "mushroom.csv.gz")
    target = mushrooms.schema.names[0]
    target = "class" if "class" in mushrooms.schema else target
    some = mushrooms.take(slice(0, None, 8))
    groups = cr.cluster(some, "average", k=12, aside=target)
    share = sum(np.bincount(some.codes(target)[groups.labels == c]).max() for c in range(12)) / len(
        some
    )
    assert share > 0.85  # most groups are all edible or all poisonous


@pytest.mark.parametrize("k", [2, 3, 4])
def test_spectral_groups_do_not_hang_on_the_order_of_columns(shared_tables, k):
    """Votes are yes and no, and many rows are as near as the tenth: Rand was 0.765 for k = 3."""
    table = cr.read(shared_tables / "house_votes_84.csv")
    one = cr.cluster(table, "spectral", k=k)
    other = cr.cluster(table.select(table.schema.names[::-1]), "spectral", k=k)
    assert adjusted_rand(one.labels, other.labels) == pytest.approx(1)
