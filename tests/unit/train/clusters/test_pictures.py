"""Pictures of clusters: what is on them."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest

import credo as cr
from credo.errors import InputError

ROWS = {"x": [0.0, 0.1, 5.0, 5.2, 9.0, 9.1], "y": [1.0, 1.1, 3.0, 3.3, 0.0, 0.1]}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_scatter_has_every_row():
    ax = cr.cluster(ROWS, k=3).plot()
    assert sum(len(c.get_offsets()) for c in ax.collections) == 6
    assert len(ax.collections) == 3 and "% of the variance" in ax.get_xlabel()
    one = cr.cluster({"x": [0.0, 0.1, 5.0, 5.1]}, k=2).plot()
    assert len(one.collections) == 2


def test_scatter_of_mixed_rows_and_of_many_rows():
    rows = {"x": [0.0, None, 5.0, 5.1], "c": ["a", "a", "b", None]}
    assert len(cr.cluster(rows, "average", k=2).plot().collections) == 2
    rng = np.random.default_rng(0)
    ax = cr.cluster(
        {"x": rng.normal(size=6000), "y": rng.normal(size=6000)}, k=2, restarts=1
    ).plot()
    assert sum(len(c.get_offsets()) for c in ax.collections) == 5000


def test_the_tree_and_its_cut():
    groups = cr.cluster(ROWS, "average", k=3)
    ax = groups.plot_tree()
    line = ax.lines[0].get_ydata()[0]
    assert groups.tree.heights[2] < line < groups.tree.heights[3]
    assert cr.plot.dendrogram(groups.tree).get_ylabel() == "height of the merge"
    many = cr.cluster({"x": np.random.default_rng(0).normal(size=200)}, "ward", k=3)
    assert "brackets" in many.plot_tree().get_xlabel()
    with pytest.raises(InputError, match="no tree"):
        cr.cluster(ROWS, k=3).plot_tree()


def test_profiles_and_heat_map():
    rows = {**ROWS, "c": list("aabbcc")}
    for method in ("k-means", "complete"):
        groups = cr.cluster(rows, method, k=3)
        assert len(groups.plot_profiles().patches) == 9
        ax = groups.plot_heat_map()
        assert [t.get_text() for t in ax.get_xticklabels()] == ["x", "y", "c=a", "c=b", "c=c"]


def test_candidates():
    found = cr.which_k(ROWS, k=range(2, 5), restarts=2)
    ax = found.plot()
    assert ax.get_ylabel() == "silhouette" and "k = 3" in ax.get_title()
    assert (
        cr.plot.candidates(cr.cluster(ROWS, k_max=3, restarts=1), name="within").get_ylabel()
        == "within"
    )
    assert cr.plot.candidates(cr.which_k(ROWS, "ward")).get_ylabel() == "gap in height"
    gap = cr.which_k(ROWS, k=[2], by="gap", restarts=1).plot()
    assert gap.containers
    with pytest.raises(InputError, match="no candidates"):
        cr.plot.candidates(cr.cluster(ROWS, k=2))
    with pytest.raises(InputError, match="have no 'bic'"):
        cr.plot.candidates(found, name="bic")


def test_a_graph_has_names_on_its_tree():
    groups = cr.cluster(graph=[("Ann", "Bob"), ("Cid", "Dan")], method="average", k=2)
    names = {t.get_text() for t in groups.plot_tree().get_xticklabels()}
    assert names == {"Ann", "Bob", "Cid", "Dan"}
    with pytest.raises(InputError, match="graph alone"):
        groups.plot()


def test_branches_have_the_colours_of_the_scatter():
    from matplotlib.colors import to_hex

    rows = {"x": [0.0, 5.0, 5.2, 5.1, 9.0, 9.1]}  # sizes 3, 2, 1: not the order of the leaves
    groups = cr.cluster(rows, "average", k=3)
    dots = [to_hex(c.get_facecolor()[0], keep_alpha=False) for c in groups.plot().collections]
    branches = {
        to_hex(c.get_color()[0], keep_alpha=False): len(c.get_segments())
        for c in groups.plot_tree().collections
    }
    grey = to_hex("grey")
    assert branches == {dots[0]: 2, dots[1]: 1, grey: 2}


def test_rows_of_a_stream_are_drawn_from_its_sample(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2)) + 9 * np.repeat([0, 1], 40)[:, None]
    path = tmp_path / "rows.csv"
    np.savetxt(path, x, delimiter=",", header="a,b", comments="")
    groups = cr.cluster(cr.read(path, memory="100 B"), k=2)
    assert isinstance(groups.table, cr.Stream)
    ax = groups.plot()
    assert sorted(len(c.get_offsets()) for c in ax.collections) == [40, 40]
    for dots in ax.collections:  # one group is left, the other right of the middle
        assert len(np.unique(np.sign(dots.get_offsets()[:, 0]))) == 1
    picture = groups.plot_heat_map().images[0].get_array()
    assert picture.shape == (80, 2)


@pytest.mark.parametrize("method", ["gaussian", "latent-class"])
def test_mixtures_are_drawn_too(method):
    groups = cr.cluster(ROWS, method, k=2)
    assert sum(len(c.get_offsets()) for c in groups.plot().collections) == 6
    assert groups.plot_heat_map().get_ylabel() == "rows, by cluster"
    assert len(groups.plot_profiles().patches) == 4


def test_the_names_of_many_columns_do_not_lie_on_each_other():
    x = np.random.default_rng(0).normal(size=(20, 300))
    ax = cr.cluster(x, "ward", k=2).plot_heat_map()
    shown = [t.get_text() for t in ax.get_xticklabels()]
    assert shown == [f"x{i}" for i in range(0, 300, 8)]
    assert ax.get_xticks().tolist() == list(range(0, 300, 8))
    plt.close(ax.figure)


@pytest.mark.parametrize("leaves", [None, "a", 0, -1, 1, 2.5, True])
def test_leaves_are_a_whole_number(leaves):
    groups = cr.cluster(ROWS, "average", k=3)
    with pytest.raises(InputError, match="leaves must be a whole number of 2 or more"):
        groups.plot_tree(leaves=leaves)
    assert not plt.get_fignums()


@pytest.mark.parametrize("most", [None, "a", 0, 2.5])
def test_most_is_a_whole_number(most):
    with pytest.raises(InputError, match="most must be a whole number of 1 or more"):
        cr.cluster(ROWS, k=3).plot_profiles(most=most)
    assert not plt.get_fignums()


def test_a_tree_too_deep_to_draw_is_refused_and_a_flat_one_drawn():
    chain = cr.cluster({"x": np.cumsum(np.arange(1600.0))}, "single", k=2)
    with pytest.raises(InputError, match=r"leaves=1,500 the tree has 1,499 merges within"):
        chain.plot_tree(leaves=1500)
    assert not plt.get_fignums()
    assert chain.plot_tree(leaves=400).get_ylabel() == "height of the merge"
    flat = cr.cluster(np.random.default_rng(0).normal(size=(1600, 2)), "ward", k=2)
    ax = flat.plot_tree(leaves=1500)  # whose names would lie on each other
    assert ax.get_ylabel() == "height of the merge" and not len(ax.get_xticks())
    assert chain.plot_tree(leaves=np.int64(2)).get_ylabel() == "height of the merge"


def test_very_many_clusters_are_told_by_a_scale_of_colours():
    x = np.random.default_rng(0).normal(size=(300, 4))
    groups = cr.cluster(x, "ward", k=60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of a legend that leaves no room for the picture
        ax = groups.plot()
        ax.figure.canvas.draw()
        assert ax.get_legend() is None and len(ax.collections) == 60
        assert ax.figure.axes[1].get_ylabel() == "cluster"
        bars = groups.plot_profiles(most=3)
        bars.figure.canvas.draw()
    assert bars.images[0].get_array().shape == (3, 60)
    best = np.argsort(-groups.profiles.bits.max(axis=0), kind="stable")[:3]
    assert np.array_equal(bars.images[0].get_array(), groups.profiles.bits[:, best].T)
    assert [t.get_text() for t in bars.get_yticklabels()] == [f"x{i}" for i in best]
    assert bars.get_xlabel() == "cluster" and "bits" in bars.figure.axes[1].get_ylabel()
    few = cr.cluster(x, "ward", k=20).plot()
    assert len(few.get_legend().get_texts()) == 20
