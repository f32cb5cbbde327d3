"""Groups that hang on the order of rows say so; leaves are named as rows are numbered."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import credo as cr


@pytest.mark.parametrize("method", ["complete", "average", "ward"])
def test_ties_that_leave_no_two_merges_at_one_height(method):
    groups = cr.cluster({"x": [0.0, 1.0, 2.0]}, method, k=2)
    assert "distances tie" in str(groups)


def test_groups_without_ties_say_nothing():
    x = np.random.default_rng(0).normal(size=(200, 3))
    assert "distances tie" not in str(cr.cluster(x, "average", k=3))


@pytest.mark.parametrize("leaves", [6, 4])
def test_leaves_have_the_numbers_of_rows(leaves):
    table = {"x": [0.0, 0.1, 0.2, 0.35, 50.0, 0.6], "w": [0, 0, 1, 1, 1, 1]}
    groups = cr.cluster(cr.read(table, weights="w"), "average", k=2)
    assert list(groups.row_numbers) == [3, 4, 5, 6]
    ax = groups.plot_tree(leaves=min(leaves, 4))
    assert {t.get_text() for t in ax.get_xticklabels()} == {"3", "4", "5", "6"}
    plt.close("all")
    ax = cr.cluster({"x": table["x"]}, "average", k=2).plot_tree(leaves=leaves)
    assert "5" in {t.get_text() for t in ax.get_xticklabels()}
    plt.close("all")
