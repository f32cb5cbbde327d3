"""k-means: scikit-learn's objective, hard EM that never rises, gaps, weights, streams."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

import credo as cr
from credo.errors import InputError
from credo.train.clusters.lloyd import lloyd
from credo.train.clusters.quality import adjusted_rand


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 3)) * 5
    return np.concatenate([c + rng.normal(size=(60, 3)) for c in centres])


def climb(x, start, w=None):
    run = lloyd(lambda: [(x, w)], start)
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


def test_weights_are_copies(blobs):
    times = np.random.default_rng(2).integers(1, 4, len(blobs))
    start = blobs[[0, 70, 130, 200]]
    heavy = cr.cluster(columns(blobs), k=4, start=start, scale="none", weights=times, tol=0.0)
    copied = cr.cluster(
        columns(np.repeat(blobs, times, axis=0)), k=4, start=start, scale="none", tol=0.0
    )
    assert heavy.sizes == copied.sizes
    assert heavy.quality["within"] == pytest.approx(copied.quality["within"], rel=1e-10)
    assert heavy.quality["silhouette"] == pytest.approx(copied.quality["silhouette"], rel=1e-9)


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
    mean = groups.model.space.mean_of(groups.model.centres[groups.order[0]])
    assert mean["colour"] == pytest.approx({"blue": 0.0, "red": 1.0}) and mean["x"] == 0.0
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
    with pytest.raises(InputError, match="needs the rows in memory"):
        cr.cluster(stream, "average", k=2)
    with pytest.raises(InputError, match="need the rows in memory"):
        cr.cluster(stream)
    with pytest.raises(InputError, match="no option 'start'"):
        cr.cluster(stream, k=2, start=[[1]])
    assert a.steps().trace == a.record.trace


def test_a_sample_that_is_smaller_than_the_stream(tmp_path, monkeypatch, blobs):
    from credo.train.clusters import k_means as streamed

    monkeypatch.setattr(streamed, "SAMPLE", 50)
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n" + "\n".join(",".join(map(str, r)) for r in blobs.tolist()))
    stream = cr.read(path, memory="1kB")
    a = cr.cluster(stream, k=4, tol=0.0)
    b = cr.cluster(stream.load(), k=4, tol=0.0)
    assert a.quality["within"] == pytest.approx(b.quality["within"], rel=1e-9)
    assert a.model.sample.rows == 50


def test_too_few_different_rows():
    with pytest.raises(InputError, match="only 2 different rows, which cannot make 3 clusters"):
        cr.cluster({"x": [1.0, 1.0, 2.0, 2.0, 1.0]}, k=3)


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

    from credo.train.clusters import k_means

    path = tmp_path / "blobs.csv"
    lines = [",".join(f"{v:.6f}" for v in row) for row in blobs]
    lines[::9] = ["," + line.split(",", 1)[1] for line in lines[::9]]
    head = ",".join(f"x{j}" for j in range(blobs.shape[1]))
    path.write_text("\n".join([head, *lines]) + "\n")
    stream = cr.read(path, memory="1kB")
    usual = cr.cluster(stream, k=4)
    start = k_means.partition_k_means

    def lost(*given, **named):
        found = start(*given, **named)
        centres = found.model.centres.copy()
        centres[1:3] = 1e6
        return replace(found, model=replace(found.model, centres=centres))

    monkeypatch.setattr(k_means, "partition_k_means", lost)
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
