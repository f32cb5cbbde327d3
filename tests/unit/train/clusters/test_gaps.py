"""k-means of rows with gaps: its sums of squares, and numbers far from 0."""

from __future__ import annotations

import numpy as np
import pytest
import threadpoolctl

import credo as cr
from credo.train.clusters.gappy import gappy_rows
from credo.train.clusters.lloyd import distances, lloyd


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
    wanted = [[float(np.nansum((row - c) ** 2)) for c in centres] for row in x]
    assert np.allclose(distances(x, centres), wanted, rtol=1e-12)


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
    groups = cr.cluster(x, k=4, scale="none", tolerance=0.0)
    assert groups.sizes == (31, 30, 29, 1)  # one lacks the cell that would tell


# --- the steps over rows with gaps ----------------------------------------------------------


def holed(seed, n=400, d=4, k=4, share=0.1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) + 3 * rng.normal(size=(k, d))[rng.integers(0, k, n)]
    x[rng.random(x.shape) < share] = np.nan
    x = x[~np.isnan(x).all(axis=1)]
    return x - np.nanmean(x, axis=0), rng


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("weighted", [False, True])
def test_fast_steps_are_the_plain_ones(seed, weighted):
    """Every step of `lloyd`, from the same start: rows that moved, objective, labels, centres."""
    x, rng = holed(seed, share=[0.001, 0.1, 0.4][seed % 3], d=[2, 4, 9][seed % 3])
    x = np.round(x) if seed % 2 else x  # rows as near to two centres
    w = rng.integers(1, 4, len(x)).astype(float) if weighted else None
    first = np.nan_to_num(x[rng.choice(len(x), 4, replace=False)])
    labels, centres, steps = gappy_rows(x, w).climb(first, 300, 0.0)
    plain_labels, plain_centres, plain = lloyd(x, first, w)
    if seed % 2 == 0:  # else equally near centres may take turns
        assert steps.moved == plain.moved
        np.testing.assert_array_equal(labels, plain_labels)
        np.testing.assert_allclose(centres, plain_centres, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(steps.objective, plain.objective, rtol=1e-12)
    assert steps.objective[-1] <= plain.objective[-1] * (1 + 1e-2)
    assert (np.diff(steps.objective) <= 1e-12 * steps.objective[0]).all()


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


def test_any_number_of_threads_gives_the_same_labels():
    x, _ = holed(0, n=20_000, d=8, share=0.01)
    found = []
    for many in (1, 2):
        with threadpoolctl.threadpool_limits(many):
            found.append(cr.cluster(x, k=5, starts=2))
    np.testing.assert_array_equal(found[0].labels, found[1].labels)
    assert found[0].partition.trace == found[1].partition.trace


def test_a_centre_that_loses_its_rows_takes_the_farthest():
    x, _ = holed(3)
    start = np.vstack([np.zeros(4), np.ones(4), np.full(4, 1e3), np.full(4, 2e3)])
    labels, centres, steps = gappy_rows(x, None).climb(start, 300, 1e-4)
    assert np.bincount(labels, minlength=4).all() and np.isfinite(centres).all()
    assert (np.diff(steps.trace) <= 0).all()


def test_a_row_far_out_is_no_fault():
    x, _ = holed(5)
    x[0, 0] = 1e100
    labels, centres, _ = gappy_rows(x, None).climb(np.nan_to_num(x[:3]), 50, 1e-4)
    seen = ~np.isnan(x[:, 0])
    assert np.isfinite(centres).all() and (labels[seen] == labels[0]).sum() == 1
    assert len(set(labels[seen].tolist())) == 3
