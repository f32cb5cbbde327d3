"""How good a grouping is, and what its clusters are."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import silhouette_score

import credo as cr
from credo.errors import LimitError
from credo.train.clusters import profiles as module
from credo.train.clusters import space as space_module
from credo.train.clusters.geometry import geometry_of, unmade_of
from credo.train.clusters.profiles import Profiling, edges_of
from credo.train.clusters.quality import share_explained, silhouette, squares_of
from credo.train.clusters.space import Space, space_of

# --- How good a grouping is: sums of squares from counts, silhouettes from the rows they need ---


def described(table, labels, k):
    profiling = Profiling(table.schema, k, edges_of(table))
    return profiling.profiles(profiling(table, labels))


def mixed_rows(n=400, gaps=False):
    rng = np.random.default_rng(3)
    x, c = rng.normal(size=n) * 40 + 1e5, rng.choice(list("abcdefg"), n).astype(object)
    if gaps:
        x[::7], c[::5] = np.nan, None
    return {"x": x, "y": rng.normal(size=n), "c": c, "d": rng.choice(list("uv"), n)}


def within(points, labels, k, weights=None):
    """Squares about the clusters' means, over the cells that are there, in plain NumPy."""
    there = ~np.isnan(points)
    w = there * (np.ones(len(points)) if weights is None else weights)[:, None]
    x, total = np.where(there, points, 0.0), 0.0
    for own in (labels == c for c in range(k)):
        mean = (w[own] * x[own]).sum(axis=0) / np.maximum(w[own].sum(axis=0), 1e-300)
        total += (w[own] * (x[own] - mean) ** 2).sum()
    return total


@pytest.mark.parametrize("scale", ["sd", "range", "none"])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
def test_sums_of_squares_are_those_of_the_points(scale, gaps, weights):
    table = cr.read(mixed_rows(gaps=gaps))
    space, rng = space_of(table, scale), np.random.default_rng(0)
    w = {None: None, "whole": rng.integers(1, 5, 400).astype(float), "fractions": rng.random(400)}
    labels = rng.integers(0, 4, 400)
    labels[labels == 2] = 3  # a cluster without a row
    found, total = squares_of(space, table, labels, 4, w[weights])
    points = space.points(table)
    assert found == pytest.approx(within(points, labels, 4, w[weights]), rel=1e-9)
    one = np.zeros(400, dtype=np.intp)
    assert total == pytest.approx(within(points, one, 1, w[weights]), rel=1e-9)


@pytest.mark.parametrize("method", ["k-means", "ward", "average", "spectral", "latent-class"])
def test_the_quality_is_that_of_the_points(method):
    groups = cr.cluster(mixed_rows(), method, k=3)
    points = groups.space.points(groups.used)
    inside = within(points, groups.labels, 3)
    total = within(points, np.zeros(400, dtype=np.intp), 1)
    assert groups.quality["within"] == pytest.approx(inside, rel=1e-9)
    assert groups.quality["explained"] == pytest.approx(share_explained(inside, total), rel=1e-9)


def test_a_silhouette_makes_points_of_the_rows_drawn(monkeypatch):
    rng = np.random.default_rng(0)
    made = []
    points = Space.points

    def counted(self, table, *copies):
        made.append(table.rows)
        return points(self, table, *copies)

    states = [f"z{i}" for i in rng.integers(0, 60, 20_000)]
    groups = cr.cluster(
        {"zip": states, "x": rng.normal(size=20_000)},
        "k-means",
        k=2,
        restarts=1,
        schema={"zip": "discrete"},
    )
    whole = silhouette(groups.geometry, groups.labels, 2)
    monkeypatch.setattr(Space, "points", counted)
    assert (groups.quality["silhouette"], groups.quality["silhouette_error"]) == whole
    assert 0 < sum(made) <= 3_000  # 2,000 rows against 500 of each cluster


@pytest.mark.parametrize("rows", [{"x": np.arange(50.0) / 4}, mixed_rows(50, gaps=True)])
def test_rows_made_as_they_are_taken_are_the_same(rows):
    table, labels = cr.read(rows), np.arange(50) % 3
    now, later = geometry_of(table), unmade_of(table)
    assert (later.name, later.rows) == (now.name, 50)
    some = [3, 4, 40]
    assert (later.take(some).to(later.take(some)) == now.take(some).to(now.take(some))).all()
    assert silhouette(later, labels, 3) == silhouette(now, labels, 3)


def test_classes_of_many_states_need_no_points(monkeypatch):
    rng = np.random.default_rng(0)
    rows = {"zip": [f"z{i}" for i in rng.integers(0, 900, 5_000)], "x": rng.normal(size=5_000)}

    def none(*_):
        raise AssertionError("no row has to become a point")

    groups = cr.cluster(rows, "latent-class", k=2, schema={"zip": "discrete"})
    monkeypatch.setattr(Space, "points", none)
    assert "within" in str(groups) and 0 < groups.quality["explained"] < 1
    found = cr.which_k(rows, "latent-class", k=[2, 3], by="silhouette", schema={"zip": "discrete"})
    assert found.k in (2, 3)


def test_points_that_do_not_fit_say_what_else_does(monkeypatch):
    monkeypatch.setattr(space_module, "free_memory", lambda given=None: 3e6)
    monkeypatch.setattr(space_module, "_FEW", 0)
    rng = np.random.default_rng(0)
    states = {"c": [f"z{i}" for i in rng.integers(0, 200, 3000)]}
    with pytest.raises(LimitError, match=r"0\.024 GB .*each state.*0\.003 GB.*latent-class"):
        cr.cluster(states, k=2, schema={"c": "discrete"})
    numbers = rng.normal(size=(3000, 100))
    with pytest.raises(LimitError, match=r"2 times at once.*sample of the rows") as told:
        cr.cluster(numbers, "ward", k=2)
    assert "state" not in str(told.value)
    with pytest.raises(LimitError, match="5 times at once"):
        cr.cluster(numbers, k=2)


def test_rows_of_many_states_are_drawn_in_part():
    rng = np.random.default_rng(0)
    rows = {"zip": [f"z{i}" for i in rng.integers(0, 4_500, 6_000)], "x": rng.normal(size=6_000)}
    groups = cr.cluster(rows, "latent-class", k=2, schema={"zip": "discrete"}, restarts=1)
    from credo.plot.clusters import _points

    points, labels = _points(groups)
    assert points.size <= 1 << 22 and len(labels) == len(points) >= 500


THREADS = """
import numpy as np
import credo as cr
rng = np.random.default_rng(0)
x = rng.normal(size=(3000, 3)) + 3 * rng.integers(0, 3, 3000)[:, None]
weights = rng.random(3000) + 0.1
for w in (None, weights):
    groups = cr.cluster(x, k=4, restarts=1, weights=w)
    print(groups.quality["silhouette"].hex(), groups.quality["within"].hex())
x[::5, 0] = np.nan
x, weights = np.tile(x, (5, 1)), np.tile(weights, 5)
print(cr.cluster(x, k=3, restarts=1, weights=weights).quality["within"].hex())
"""


@pytest.mark.slow
def test_the_last_digit_is_the_same_on_any_number_of_threads():
    found = set()
    for threads in ("1", "2", "4"):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        done = subprocess.run(
            [sys.executable, "-c", THREADS],
            env=os.environ | dict.fromkeys(names, threads),
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(done.stdout)
    assert len(found) == 1


@pytest.mark.parametrize("weights", [None, "whole"])
def test_silhouettes_are_scikit_learns_with_a_class_that_holds_no_row(weights):
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(200, 2)), rng.choice([0, 2, 3], 200)
    w = None if weights is None else rng.integers(1, 4, 200)
    copies = np.ones(200, dtype=int) if w is None else w
    every = np.repeat(x, copies, axis=0)
    truth = silhouette_score(cdist(every, every), np.repeat(labels, copies), metric="precomputed")
    geometry = geometry_of(cr.read({"x": x[:, 0], "y": x[:, 1]}))
    assert silhouette(geometry, labels, 4, w)[0] == pytest.approx(truth, rel=1e-12)


# --- What many clusters are: the numbers of the definition, each column looked at once ---


def table_and_labels(k=30, n=900):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n) + 1e4
    x[::11] = np.nan
    rows = {"x": x, "y": rng.gamma(2.0, size=n), "c": rng.choice(list("abcd"), n)}
    labels = rng.integers(0, k, n)
    labels[labels == 7] = 8  # a cluster without a row
    return cr.read(rows), labels


def test_profiles_are_those_of_the_definition():
    table, labels = table_and_labels()
    found = described(table, labels, 30)
    edges = edges_of(table)
    for name in table.schema.names:
        values = table.block.arrays[table.schema.index(name)]
        number = name != "c"
        there = ~np.isnan(values) if number else np.ones(len(values), dtype=bool)
        codes = np.searchsorted(edges[name], values[there]) if number else values[there]
        q = np.bincount(codes) / there.sum()
        for c in range(30):
            told = next(t for t in found[c] if t.column == name)
            own = labels[there] == c
            if not own.any():
                assert told.bits == 0 and not told.inside
                continue
            p = np.bincount(codes[own], minlength=len(q)) / own.sum()
            on = p > 0
            assert told.bits == pytest.approx((p[on] * np.log2(p[on] / q[on])).sum(), abs=1e-12)
            if number:
                x = values[there]
                want = {"mean": x[own].mean(), "sd": x[own].std()}
                assert told.inside == pytest.approx(want, rel=1e-9)
                assert told.whole == pytest.approx({"mean": x.mean(), "sd": x.std()}, rel=1e-9)
            else:
                assert list(told.inside.values()) == pytest.approx(p.tolist())
                assert list(told.whole.values()) == pytest.approx(q.tolist())
    for tellings in found:
        bits = [t.bits for t in tellings]
        assert bits == sorted(bits, reverse=True)


def test_clusters_are_merged_once(monkeypatch):
    table, labels = table_and_labels()
    calls, merged = [], module._merged
    monkeypatch.setattr(module, "_merged", lambda a, b: calls.append(1) or merged(a, b))
    described(table, labels, 30)
    assert len(calls) <= 2 + 30  # the part of each column, then the clusters
