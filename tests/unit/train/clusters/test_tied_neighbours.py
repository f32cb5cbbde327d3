"""Rows as near as the last neighbour share its tie: no order of columns or names decides."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import credo as cr
from credo.train.clusters import affinity
from credo.train.clusters.geometry import geometry_of


def ties(x, k, copies=None):
    """How many rows of each node are among the k nearest of each."""
    table = cr.read(x, columns=[f"c{j}" for j in range(x.shape[1])])
    known = geometry_of(table, "euclidean", "none")
    copies = np.ones(len(x)) if copies is None else copies
    found, cut = affinity._shared(known, known, copies, k, itself=True)
    return found.toarray(), cut


def test_equally_near_rows_share_what_is_left():
    x = np.array([[0.0, 0.5], [1.0, 0.5], [-1.0, 0.5], [0.0, 1.5], [0.0, 7.5]])
    found, cut = ties(x, 3)
    np.testing.assert_allclose(found[0], [1, 2 / 3, 2 / 3, 2 / 3, 0])
    np.testing.assert_allclose(found.sum(axis=1), 3)
    assert cut == 0
    copied, _ = ties(x, 3, np.array([1.0, 2, 1, 1, 1]))
    np.testing.assert_allclose(copied[0], [1, 1, 0.5, 0.5, 0])  # two of the four rows are copies


def test_without_ties_they_are_scikit_learns():
    from sklearn.neighbors import kneighbors_graph

    x = np.random.default_rng(0).normal(size=(200, 3))
    found, cut = ties(x, 10)
    np.testing.assert_array_equal(found, kneighbors_graph(x, 10, include_self=True).toarray())
    assert cut == 0


def test_too_many_are_told():
    """A star of 300 rows, all as far from the middle."""
    turn = np.linspace(0, 2 * np.pi, 300, endpoint=False)
    x = np.vstack([[0.0, 0.0], np.column_stack([np.cos(turn), np.sin(turn)])])
    found, cut = ties(x, 10)
    assert cut == 1 and (found[0] > 0).sum() == affinity._MOST
    np.testing.assert_allclose(found.sum(axis=1), 10)
    groups = cr.cluster(x, "spectral", k=2, scale="none")
    told = "1 rows have more than 256 different rows as near as their 10 nearest"
    assert any(told in note for note in groups.partition.notes)


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
