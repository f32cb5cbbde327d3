"""Hard EM on nasty scales: W is the true sum of squares, and no step raises it.

The twin sums (x − μ)² in extended precision, from the labels and centres that are given back.
"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import credo as cr
from credo.train.clusters.lloyd import Points, lloyd

SHAPES = {
    "one row far out": lambda x, rng: np.vstack([x, np.full((1, x.shape[1]), 1e12)]),
    "two far groups": lambda x, rng: x + np.where(rng.random((len(x), 1)) < 0.5, 1e12, -1e12),
    "a huge column": lambda x, rng: x * 10.0 ** rng.integers(-9, 10, x.shape[1]),
    "a wide spread": lambda x, rng: x * 10.0 ** rng.uniform(-9, 9, (len(x), 1)),
    "far from 0": lambda x, rng: x + 10.0 ** rng.integers(6, 13),
    "tenths, rows far out": lambda x, rng: np.vstack([x.round(1), np.full((2, x.shape[1]), 1e9)]),
    "copies": lambda x, rng: x[rng.integers(0, 6, len(x))] + 1e8 * rng.integers(0, 2),
    "tight": lambda x, rng: np.vstack([v + 1e-7 * x for v in (0.1, 0.3, 0.7)]),
}

cases = given(
    st.sampled_from(sorted(SHAPES)),
    st.integers(0, 10_000),
    st.integers(8, 80),
    st.integers(1, 9),
    st.integers(1, 5),
    st.booleans(),
)


def table(shape, seed, n, d, k, weighted):
    rng = np.random.default_rng(seed)
    x = SHAPES[shape](rng.normal(size=(n, d)), rng)
    w = rng.uniform(0.01, 3, len(x)) if weighted else None
    return x, w, x[rng.choice(len(x), k, replace=False)], rng


def within(x, labels, centres, w):
    away = x.astype(np.longdouble) - centres.astype(np.longdouble)[labels]
    squares = np.nansum(away * away, axis=1)
    return float(squares.sum() if w is None else (w * squares).sum())


def true_and_falling(objective, x, labels, centres, w):
    assert objective[-1] == pytest.approx(within(x, labels, centres, w), rel=1e-10)
    before, after = np.array(objective[:-1]), np.array(objective[1:])
    assert (after <= before * (1 + 1e-10)).all()


@settings(max_examples=60)
@cases
def test_the_steps_never_rise(shape, seed, n, d, k, weighted):
    x, w, start, _ = table(shape, seed, n, d, k, weighted)
    for most in (1, 2, 300):
        run = lloyd(Points(x, w), start, max_iter=most)
        true_and_falling(run.steps.objective, x, run.labels, run.centres, w)
        assert len(run.steps.moved) == (len(run.steps.objective) + 1) // 2 <= most + 1
    squares = ((x[:, None].astype(np.longdouble) - run.centres) ** 2).sum(axis=2)
    own = squares[np.arange(len(x)), run.labels]
    assert (own <= squares.min(axis=1) * (1 + 1e-10) + 1e-10 * run.objective / len(x)).all()


@settings(max_examples=60)
@cases
def test_steps_over_gaps_never_rise(shape, seed, n, d, k, weighted):
    x, w, start, rng = table(shape, seed, n, d, k, weighted)
    x[rng.random(x.shape) < 0.1] = np.nan
    kept = ~np.isnan(x).all(axis=1)
    x, w = x[kept], None if w is None else w[kept]
    assume(np.isnan(x).any() and len(np.unique(x, axis=0)) > k)
    columns = {f"x{j}": c for j, c in enumerate(x.T)}
    rows = cr.read(columns, dict.fromkeys(columns, "continuous"), weights=w)
    assume(not any("missing" in note for note in rows.schema.notes))
    try:
        groups = cr.cluster(rows, k=k, start=start, scale="none", tol=0.0)
    except cr.errors.InputError as refused:  # rows that differ in their gaps alone
        assert "fewer than" in str(refused)
        return
    model = groups.partition.model
    true_and_falling(model.steps.objective, x, groups.partition.labels, model.centres, w)


@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("weighted", [False, True])
def test_passes_over_a_stream_never_rise(shape, weighted, tmp_path):
    x, w, _, _ = table(shape, 3, 70, 3, 3, weighted)
    path = tmp_path / "rows.csv"
    w = np.ones(len(x)) if w is None else w
    names = ["x0", "x1", "x2", "n"]
    np.savetxt(path, np.column_stack([x, w]), "%.17g", ",", header=",".join(names), comments="")
    stream = cr.read(path, dict.fromkeys(names[:3], "continuous"), weights="n", memory="2kB")
    groups = cr.cluster(stream, k=3, scale="none", tol=0.0, restarts=1)
    part = groups.partition
    true_and_falling(part.trace, x, part.labels, part.model.centres, w)


def test_a_row_far_out_leaves_the_groups_of_the_others():
    """Found with a trace that rose and went round in circles until the limit of iterations."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(30, 2)) + at for at in ((0, 0), (9, 0), (0, 9))])
    x = np.vstack([x, [[1e12, 1e12]]])
    groups = cr.cluster({"a": x[:, 0], "b": x[:, 1]}, k=4, scale="none", tol=0.0)
    assert sorted(groups.sizes) == [1, 30, 30, 30]
    trace = groups.partition.model.steps.objective
    assert all(b <= a * (1 + 1e-10) for a, b in pairwise(trace))
    assert "no row moves" in groups.record.reason
    assert groups.quality["within"] < 1000
