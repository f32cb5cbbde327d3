"""k-means: scikit-learn's objective, hard EM that never rises, gaps, weights, streams."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import threadpoolctl
from sklearn.cluster import KMeans

import credo as cr
from credo.errors import InputError
from credo.train.clusters.lloyd import Points, Spread, lloyd, nearest
from credo.train.clusters.quality import adjusted_rand


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 3)) * 5
    return np.concatenate([c + rng.normal(size=(60, 3)) for c in centres])


def climb(x, start, w=None):
    run = lloyd(Points(x, w), start)
    return run.labels, run.centres, run.steps


def columns(x):
    return {f"x{j}": x[:, j] for j in range(x.shape[1])}


@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_is_scikit_learns_from_the_same_start(blobs, weighted):
    start = blobs[[0, 70, 130, 3]]
    w = np.random.default_rng(1).uniform(0.5, 2, len(blobs)) if weighted else None
    peer = KMeans(4, init=start, n_init=1, tol=0).fit(blobs, sample_weight=w)
    ours = cr.cluster(columns(blobs), k=4, start=start, scale="none", tol=0.0, weights=w)
    assert ours.quality["within"] == pytest.approx(peer.inertia_, rel=1e-12)
    assert adjusted_rand(ours.labels, peer.labels_.astype(np.intp)) == 1.0


def test_hard_em_never_rises_and_ends_where_scikit_learn_does(blobs):
    start = blobs[[0, 1, 2, 3]]
    groups = cr.cluster(columns(blobs), k=4, start=start, scale="none", tol=0.0)
    steps = groups.steps()
    assert (np.diff(steps.objective) <= 1e-9 * steps.objective[0]).all()
    assert steps.objective[-1] == pytest.approx(groups.quality["within"], rel=1e-12)
    assert steps.moved[0] == len(blobs) and steps.moved[-1] == 0
    assert groups.record.trace == steps.trace
    assert str(steps).splitlines()[1].split()[:2] == ["1", "E"]
    assert steps._repr_html_().startswith("<table>")


def test_gaps_are_left_out(blobs):
    rng = np.random.default_rng(3)
    holes = blobs.copy()
    holes[rng.random(blobs.shape) < 0.1] = np.nan
    whole = cr.cluster(columns(blobs), k=4)
    groups = cr.cluster(columns(holes), k=4)
    assert adjusted_rand(groups.labels, whole.labels) > 0.85
    assert any("left out" in n for n in groups.record.notes)
    # no cell missing: the same as without the path for gaps
    start = blobs[[0, 70, 130, 200]]
    labels, centres, steps = climb(blobs, start)
    padded = np.concatenate([blobs, np.full((1, 3), np.nan)])
    labels2, centres2, _ = climb(padded, start)
    np.testing.assert_allclose(centres, centres2, rtol=1e-12)
    np.testing.assert_array_equal(labels, labels2[:-1])
    assert (np.diff(steps.objective) <= 1e-9).all()


def test_an_empty_centre_is_put_on_the_farthest_row():
    x = np.array([[0.0], [0.1], [10.0]])
    labels, _, _ = climb(x, np.array([[0.0], [50.0]]))
    assert labels.tolist() == [0, 0, 1]


def test_states_become_coordinates():
    rows = {"colour": ["red"] * 5 + ["blue"] * 5, "x": [0.0] * 5 + [1.0] * 5}
    groups = cr.cluster(rows, "k-means", k=2, schema={"x": "continuous"})
    assert groups.sizes == (5, 5) and groups.quality["within"] == pytest.approx(0, abs=1e-12)
    assert groups.assign([{"colour": "blue", "x": None}]).tolist() == [1]


@pytest.mark.parametrize("scale", ["sd", "range", "none"])
def test_scales(scale):
    rows = {"x": [0.0, 1.0, 100.0, 101.0], "y": [5.0, 6.0, 5.0, 6.0]}
    groups = cr.cluster(rows, k=2, scale=scale, schema={"y": "continuous"})
    points = groups.model.space.points(groups.used)
    if scale == "sd":
        np.testing.assert_allclose(points.std(axis=0), 1)
    elif scale == "range":
        np.testing.assert_allclose(np.ptp(points, axis=0), 1)
    else:
        assert np.array_equal(points[:, 0], rows["x"])


def test_a_stream_is_clustered_as_the_table_is(tmp_path, blobs):
    path = tmp_path / "rows.csv"
    colour = np.where(blobs[:, 0] > 0, "red", "blue")
    lines = ["a,b,c,colour"] + [
        ",".join(map(str, r)) + f",{c}" for r, c in zip(blobs.tolist(), colour, strict=True)
    ]
    path.write_text("\n".join(lines))
    stream = cr.read(path, memory="1kB")
    assert isinstance(stream, cr.Stream)
    for scale in ("sd", "range"):
        a = cr.cluster(stream, k=4, scale=scale)
        b = cr.cluster(stream.load(), k=4, scale=scale, tol=0.0)
        assert adjusted_rand(a.labels.astype(np.intp), b.labels) == 1.0
        assert a.quality["within"] == pytest.approx(b.quality["within"], rel=1e-9)
        assert (np.diff(a.record.trace) <= 1e-9).all()
        assert a.labels.dtype == np.uint8
        for mine, theirs in zip(a.profiles, b.profiles, strict=True):
            assert {t.column: round(t.bits, 9) for t in mine} == {
                t.column: round(t.bits, 9) for t in theirs
            }
    assert "batch by batch" in str(a)
    with pytest.raises(InputError, match="compares every row"):
        cr.cluster(stream, "average", k=2)
    with pytest.raises(InputError, match="need the rows in memory"):
        cr.cluster(stream)
    with pytest.raises(InputError, match="no option 'start'"):
        cr.cluster(stream, k=2, start=[[1]])
    assert a.steps().trace == a.record.trace


def test_a_sample_that_is_smaller_than_the_stream(tmp_path, monkeypatch, blobs):
    from credo.train.clusters import spread as streamed

    monkeypatch.setattr(streamed, "SAMPLE", 50)
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n" + "\n".join(",".join(map(str, r)) for r in blobs.tolist()))
    stream = cr.read(path, memory="1kB")
    a = cr.cluster(stream, k=4, tol=0.0)
    b = cr.cluster(stream.load(), k=4, tol=0.0)
    assert a.quality["within"] == pytest.approx(b.quality["within"], rel=1e-9)
    assert a.partition.sample.rows == 50


def test_bad_starts():
    with pytest.raises(InputError, match=r"start must be 2 centres of 1 finite"):
        cr.cluster({"x": [1.0, 2.0, 3.5]}, k=2, start=[[1.0]])
    with pytest.raises(InputError, match="restarts must be a whole number"):
        cr.cluster({"x": [1.0, 2.0, 3.5]}, k=2, restarts=0)


@pytest.mark.parametrize("tol", [-1.0, "a", None, float("nan"), float("inf"), True])
def test_a_tolerance_is_a_number(blobs, tmp_path, tol):
    with pytest.raises(InputError, match="tol must be a number, 0 or more, got"):
        cr.cluster(columns(blobs), k=2, tol=tol)
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n" + "\n".join(",".join(map(str, r)) for r in blobs.tolist()))
    with pytest.raises(InputError, match="tol must be a number"):
        cr.cluster(cr.read(path, memory="1kB"), k=2, tol=tol)


def test_starts_and_end_are_scikit_learns_of_the_same_seed(blobs):
    seed = int(np.random.default_rng(5).integers(1 << 31))
    for w in (None, np.random.default_rng(6).uniform(0.5, 2, len(blobs))):
        peer = KMeans(5, n_init=7, random_state=seed).fit(blobs, sample_weight=w)
        ours = cr.cluster(columns(blobs), k=5, rng=5, restarts=7, scale="none", weights=w)
        assert ours.quality["within"] == pytest.approx(peer.inertia_, rel=1e-12)
        assert adjusted_rand(ours.labels, peer.labels_.astype(np.intp)) == 1.0
        assert ours.record.trace[-1] == ours.quality["within"]


def test_an_array_is_the_table_of_its_columns(blobs):
    seen = cr.cluster(blobs, k=4)
    read = cr.cluster(cr.read(blobs, columns=["x0", "x1", "x2"]), k=4)
    assert seen.table.schema == read.table.schema
    assert seen.table.schema.source == read.table.schema.source
    assert [c.rows for c in seen.table.schema.columns] == [len(blobs)] * 3
    np.testing.assert_array_equal(seen.labels, read.labels)
    changed = blobs.copy()
    table = cr.cluster(changed, k=4).table
    changed[0] = 1e6  # the table has numbers of its own
    assert table.values("x0")[0] == blobs[0, 0]
    single = cr.cluster(blobs.astype(np.float32), k=4)
    assert single.sizes == seen.sizes


def test_rows_without_a_cell_and_equal_rows_are_counted_in_words():
    with pytest.raises(InputError, match=r"only 1 different row, which .* Ask for k=1\.$"):
        cr.cluster(np.ones((6, 2)), k=2)
    rows = {"a": [None, 1.0, 1.1, 5.0, 5.2], "b": [None, 0.0, 0.2, 3.0, 3.1]}
    notes = cr.cluster(rows, k=2).record.notes
    assert "1 row has no cell (row 1): to be in a cluster says nothing of it" in notes


def test_a_start_may_lie_in_memory_as_it_likes():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3))
    x[:20] += 5
    first = x[[0, 30]]
    plain = cr.cluster(x, k=2, start=first)
    for start in (np.asfortranarray(first), pd.DataFrame(first), first.astype(">f8")):
        again = cr.cluster(x, k=2, start=start)
        assert again.labels.tolist() == plain.labels.tolist()
        assert np.array_equal(again.model.start, first)
    x[3, 1] = np.nan  # the steps that leave gaps out
    assert cr.cluster(x, k=2, start=np.asfortranarray(first)).k == 2


def test_a_centre_of_a_stream_that_loses_its_rows_goes_to_the_farthest_one(
    tmp_path, blobs, monkeypatch
):
    """Also where several do, and beside gaps; the objective never rises."""
    from dataclasses import replace

    from credo.train.clusters import spread

    path = tmp_path / "blobs.csv"
    lines = [",".join(f"{v:.6f}" for v in row) for row in blobs]
    lines[::9] = ["," + line.split(",", 1)[1] for line in lines[::9]]
    head = ",".join(f"x{j}" for j in range(blobs.shape[1]))
    path.write_text("\n".join([head, *lines]) + "\n")
    stream = cr.read(path, memory="1kB")
    usual = cr.cluster(stream, k=4)
    start = spread.partition_k_means

    def lost(*given, **named):
        found = start(*given, **named)
        centres = found.model.centres.copy()
        centres[1:3] = 1e6
        return replace(found, model=replace(found.model, centres=centres))

    monkeypatch.setattr(spread, "partition_k_means", lost)
    groups = cr.cluster(stream, k=4, tol=0.0)
    assert min(groups.sizes) > 0 and groups.k == 4
    trace = np.array(groups.record.trace)
    assert (trace[1:] <= trace[:-1] * (1 + 1e-10)).all()
    assert groups.quality["within"] <= usual.quality["within"] * 1.5


def test_names_that_options_had_are_answered_with_a_warning(blobs):
    now = cr.cluster(columns(blobs), k=4, restarts=2, max_iter=50, tol=0.0)
    with pytest.warns(DeprecationWarning, match="starts= is called restarts= now"):
        then = cr.cluster(columns(blobs), k=4, starts=2, iterations=50, tolerance=0.0)
    assert then.labels.tolist() == now.labels.tolist()


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
    whole = lloyd(Points(x, w), start)
    halves = Spread(lambda task, merge: merge(task(x[:70], w[:70]), task(x[70:], w[70:])))
    parts = lloyd(halves, start)
    np.testing.assert_array_equal(whole.labels, nearest(x, parts.centres)[0])
    assert whole.steps.moved == parts.steps.moved
    np.testing.assert_allclose(whole.steps.objective, parts.steps.objective, rtol=1e-12)
