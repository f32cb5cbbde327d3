"""k-means of rows with gaps: its sums of squares, and numbers far from 0."""

from __future__ import annotations

import numpy as np
import pytest
import threadpoolctl

import credo as cr
from credo.train.clusters.lloyd import lloyd, nearest


def by_hand(x: np.ndarray, labels: np.ndarray, k: int) -> tuple[float, float]:
    """The sum of squares within clusters and about the mean, over the cells that are there."""
    inside = sum(
        float(np.nansum((x[labels == c] - np.nanmean(x[labels == c], axis=0)) ** 2))
        for c in range(k)
    )
    return inside, float(np.nansum((x - np.nanmean(x, axis=0)) ** 2))


def test_what_is_explained_is_in_the_scale_of_the_method() -> None:
    nan = np.nan
    x = np.array([[0.0, 0], [1, 0], [0, 1], [100, 100], [101, 100], [100, nan]])
    groups = cr.cluster(x, k=2)
    inside, total = by_hand(x, groups.labels, 2)
    assert groups.quality["within"] == pytest.approx(inside)
    assert groups.quality["explained"] == pytest.approx(1 - inside / total)
    assert groups.quality["explained"] > 0.9999


@pytest.mark.parametrize("scale", ["sd", "range", "none"])
def test_what_is_explained_with_gaps_under_every_scale(scale: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 3)) * [1, 5, 30] + 40 * np.repeat([0, 1], 30)[:, None]
    x[rng.random(x.shape) < 0.1] = np.nan
    groups = cr.cluster(x, k=2, scale=scale)
    by = {"sd": np.nanstd(x, axis=0), "none": 1.0}
    by["range"] = np.nanmax(x, axis=0) - np.nanmin(x, axis=0)
    inside, total = by_hand(x / by[scale], groups.labels, 2)
    assert groups.quality["within"] == pytest.approx(inside)
    assert groups.quality["explained"] == pytest.approx(1 - inside / total)


@pytest.mark.parametrize("far", [0.0, 1e6, 1e9, 1e12])
def test_gaps_far_from_0_change_no_group(far: float) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    x = rng.normal(size=(200, 2)) + 8 * y[:, None] + far
    x[5, 0] = np.nan
    groups = cr.cluster(x, k=2)
    assert groups.sizes == (100, 100)
    assert groups.labels.tolist() == y.tolist()
    assert groups.assign(x).tolist() == y.tolist()
    w = np.array(groups.steps().objective)
    assert (np.diff(w) <= 1e-9 * w[:-1]).all()


def test_a_start_far_from_0_is_given_back_as_it_came() -> None:
    x = np.array([[1e9, 1.0], [1e9 + 1, np.nan], [1e9 + 50, 2.0], [1e9 + 51, 2.5]])
    start = [[1e9, 1.0], [1e9 + 50, 2.0]]
    groups = cr.cluster(x, k=2, start=start)
    assert groups.model.start.tolist() == start
    assert groups.labels.tolist() == [0, 0, 1, 1]


def test_distances_over_the_cells_that_are_there() -> None:
    rng = np.random.default_rng(3)
    x, centres = rng.normal(size=(50, 4)) + 1e8, rng.normal(size=(3, 4)) + 1e8
    x[rng.random(x.shape) < 0.3] = np.nan
    wanted = np.array([[float(np.nansum((row - c) ** 2)) for c in centres] for row in x])
    labels, squares = nearest(x, centres)
    assert np.array_equal(labels, wanted.argmin(axis=1))
    assert np.allclose(squares, wanted.min(axis=1), rtol=1e-12)


@pytest.mark.parametrize("method", ["average", "k-means", "latent-class"])
def test_the_silhouette_of_rows_without_a_cell_is_scikit_learns(method: str) -> None:
    from sklearn.metrics import silhouette_score

    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 2)) + np.repeat([0.0, 6.0], 20)[:, None]
    x[[3, 7, 30]] = np.nan
    x[11, 0] = np.nan
    groups = cr.cluster(x, method, k=2)
    d = groups.geometry.to(groups.geometry)
    np.fill_diagonal(d, 0.0)
    wanted = silhouette_score(d, groups.labels, metric="precomputed")
    assert groups.quality["silhouette"] == pytest.approx(wanted)


def test_the_silhouette_of_weighted_rows_without_a_cell_is_that_of_copies() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=40) + np.repeat([0.0, 6.0], 20)
    x[[3, 30]] = np.nan
    w = rng.integers(1, 4, 40)
    weighted = cr.cluster({"x": x, "w": w}, "complete", k=2, weights="w")
    copies = cr.cluster({"x": np.repeat(x, w)}, "complete", k=2)
    assert weighted.quality["silhouette"] == pytest.approx(copies.quality["silhouette"])


def test_a_number_far_out_does_not_make_centres_of_rows_with_gaps():
    """Gaps stood at the mean, 1e10 from all rows: the rows that had one became groups."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(30, 2)) + at for at in ((0, 0), (9, 0), (0, 9))])
    x = np.vstack([x, [[1e12, 1e12]]])
    x[5, 0] = x[40, 1] = np.nan
    groups = cr.cluster(x, k=4, scale="none", tol=0.0)
    assert groups.sizes == (31, 30, 29, 1)  # one lacks the cell that would tell


def test_the_tolerance_is_that_of_rows_without_gaps():
    """One gap among many rows: as many steps as without it, not ten times as many."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 4))
    whole = cr.cluster(x, k=5, start=x[:5], scale="none")
    x[0, 0] = np.nan
    start = np.nan_to_num(x[:5])
    start[0, 0] = whole.partition.model.start[0, 0]
    one = cr.cluster(x, k=5, start=start, scale="none")
    assert abs(len(one.partition.trace) - len(whole.partition.trace)) <= 2
    assert (one.labels == whole.labels).mean() > 0.99


@pytest.mark.parametrize("gaps", [0.0, 0.01])
def test_any_number_of_threads_gives_the_same_labels(gaps):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 8)) + 3 * rng.normal(size=(4, 8))[rng.integers(0, 4, 20_000)]
    x[rng.random(x.shape) < gaps] = np.nan
    found = []
    for many in (1, 2):
        with threadpoolctl.threadpool_limits(many):
            found.append(cr.cluster(x, k=5, restarts=2))
    np.testing.assert_array_equal(found[0].labels, found[1].labels)
    assert found[0].partition.trace == found[1].partition.trace


def test_steps_are_those_of_parts():
    """Rows in two parts, with missing values and weights: the same steps to the last digits."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 4)) + 3 * rng.normal(size=(4, 4))[rng.integers(0, 4, 300)]
    x[rng.random(x.shape) < 0.1] = np.nan
    w = rng.uniform(0.5, 2, 300)
    start = np.nan_to_num(x[:4])
    whole = lloyd(lambda: [(x, w)], start)
    parts = lloyd(lambda: [(x[:70], w[:70]), (x[70:], w[70:])], start)
    np.testing.assert_array_equal(whole.labels, parts.labels)
    assert whole.steps.moved == parts.steps.moved
    np.testing.assert_allclose(whole.steps.objective, parts.steps.objective, rtol=1e-12)
