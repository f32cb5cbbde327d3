"""EM against enumeration: every iteration's log-likelihood and parameters, whatever the gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import credo as cr
from credo.train.em import far_step
from tests.kernels.em_twin import brute_step, brute_tables, gaussian_step, lines_of


@st.composite
def problems(draw: Any) -> tuple[cr.Network, list[dict[str, Any]], list[float]]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 5))
    names = [f"v{i}" for i in range(n)]
    arity = [int(rng.integers(2, 4)) for _ in names]
    tables, edges = {}, []
    for i, name in enumerate(names):
        parents = [j for j in range(i) if rng.random() < 0.5]
        edges += [(names[j], name) for j in parents]
        shape = [arity[j] for j in parents]
        tables[name] = rng.dirichlet(np.ones(arity[i]), size=shape or None)
    dag = cr.Dag(edges, nodes=names)
    states = {name: tuple(range(a)) for name, a in zip(names, arity, strict=True)}
    order = {n: list(dag.parents(n)) for n in names}
    tables = {
        n: tables[n].transpose([*(sorted(order[n]).index(p) for p in order[n]), len(order[n])])
        for n in names
    }
    net = cr.Network(dag, tables, states=states)
    rate = draw(st.sampled_from([0.0, 0.3, 0.7]))
    hidden = draw(st.sampled_from([None, names[0], names[-1]]))
    rows = []
    for _ in range(draw(st.integers(1, 12))):
        row: dict[str, Any] = {m: int(rng.integers(a)) for m, a in zip(names, arity, strict=True)}
        rows.append({m: None if rng.random() < rate or m == hidden else x for m, x in row.items()})
    if all(row[m] is None for row in rows for m in names):
        rows[0][names[1]] = 0
    weights = [float(w) for w in rng.integers(1, 4, len(rows))]
    if draw(st.booleans()):
        weights = [w + 0.25 for w in weights]
    return net, rows, weights


def table_of(net: cr.Network, rows: list[dict[str, Any]], weights: list[float]) -> Any:
    seen = [n for n in net.names if any(r[n] is not None for r in rows)]
    columns = {n: [r[n] for r in rows] for n in seen}
    schema = cr.Schema(tuple(net.variable(n) for n in seen))
    return cr.read({**columns, "w": weights}, schema=schema, weights="w")


@pytest.mark.parametrize("most", [256, 1])
@settings(max_examples=40)
@given(problems())
def test_every_iteration_equals_enumeration(most: int, problem: Any) -> None:
    net, rows, weights = problem
    table = table_of(net, rows, weights)
    old = far_step._STATES, far_step._WIDE
    far_step._STATES, far_step._WIDE = most, max(most, 8)
    try:
        at = net
        for max_iter in (1, 2, 3):
            log, counts = brute_step(at, rows, weights)
            found = cr.em(net, table, start=net, max_iter=max_iter, tol=0, threads=1)
            assert found.record.trace[max_iter - 1] == pytest.approx(log, rel=1e-10, abs=1e-10)
            at = cr.Network(net.dag, brute_tables(at, counts),
                            states={v.name: v.states for v in net.variables})  # fmt: skip
            for n in net.names:
                expected = at.cpt(n).on(found.cpt(n).child, found.cpt(n).parents).values
                assert np.abs(found.cpt(n).values - expected).max() < 1e-10
            last = brute_step(at, rows, weights)[0]
            assert found.record.score == pytest.approx(last, rel=1e-10, abs=1e-10)
    finally:
        far_step._STATES, far_step._WIDE = old


@settings(max_examples=30)
@given(problems())
def test_never_falls_and_stands_still_at_the_top(problem: Any) -> None:
    net, rows, weights = problem
    table = table_of(net, rows, weights)
    found = cr.em(net, table, start=net)
    trace = np.array(found.record.trace)
    assert (np.diff(trace) >= -1e-10 * np.abs(trace[1:])).all()
    assert found.log_likelihood(table) == pytest.approx(found.record.score, rel=1e-9, abs=1e-9)
    if found.record.reason.startswith("a step changed no parameter"):
        again = cr.em(net, table, start=found, max_iter=1)
        for n in net.names:
            seen = found.cpt(n).learned.observed.values.sum(axis=-1) > 1e-9
            change = np.abs(again.cpt(n).values - found.cpt(n).values)
            assert change[seen].max(initial=0) < 1e-8


@settings(max_examples=25)
@given(problems(), st.sampled_from(["mean", "map"]))
def test_a_prior_adds_its_pseudocounts(problem: Any, estimate: str) -> None:
    net, rows, weights = problem
    table = table_of(net, rows, weights)
    found = cr.em(net, table, prior=cr.Laplace(1.5), estimate=estimate, start=net, max_iter=1)
    _, counts = brute_step(net, rows, weights)
    add = 1.5 if estimate == "mean" else 0.5
    for n, expected in brute_tables(net, counts, add).items():
        mine = found.cpt(n).on(net.cpt(n).child, net.cpt(n).parents)
        assert np.abs(mine.values - expected).max() < 1e-10
        assert mine.counts is not None
        assert np.abs(mine.counts - counts[n] - 1.5).max() < 1e-9
    whole = cr.em(net, table, prior=cr.Laplace(1.5), estimate=estimate, start=net)
    trace = np.array(whole.record.trace)
    assert (np.diff(trace) >= -1e-10 * np.abs(trace[1:])).all()


@settings(max_examples=30)
@given(problems())
def test_without_gaps_one_step_is_the_fit(problem: Any) -> None:
    net, rows, weights = problem
    full = [{n: 0 if x is None else x for n, x in r.items()} for r in rows]
    table = table_of(net, full, weights)
    a, b = cr.em(net, table), cr.fit(net, table)
    for n in net.names:
        assert np.abs(a.cpt(n).values - b.cpt(n).values).max() < 1e-12
    assert a.record.score == pytest.approx(b.log_likelihood(table), rel=1e-12, abs=1e-12)


@settings(max_examples=15)
@given(problems())
def test_threads_change_no_bit(problem: Any) -> None:
    net, rows, weights = problem
    table = table_of(net, rows, weights)
    a = cr.em(net, table, start=net, threads=1)
    b = cr.em(net, table, start=net, threads=3)
    assert a == b and a.record.trace == b.record.trace


# --- continuous ---------------------------------------------------------------------------


@st.composite
def mixed_problems(draw: Any) -> tuple[cr.Network, list[dict[str, Any]]]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    c = cr.Variable("c", "discrete", ("a", "b"))
    d = cr.Variable("d", "discrete", (0, 1, 2))
    x, y, z = (cr.Variable(n, "continuous") for n in "xyz")
    locals_ = {
        "c": cr.Cpt(c, (), rng.dirichlet([3, 3])),
        "d": cr.Cpt(d, (c,), rng.dirichlet([2, 2, 2], size=2)),
        "x": cr.LinearGaussian(x, (c,), rng.normal(0, 2, 2), np.zeros((2, 0)), [0.5, 1.5]),
        "y": cr.LinearGaussian(
            y, (x, d), rng.normal(0, 1, 3), rng.normal(0, 1, (3, 1)), rng.uniform(0.3, 1, 3)
        ),
        "z": cr.LinearGaussian(z, (y, x), 0.3, rng.normal(0, 1, 2), 0.7),
    }
    net = cr.Network("[c][d|c][x|c][y|x:d][z|y:x]", locals_)
    rows: list[dict[str, Any]] = []
    rate = draw(st.sampled_from([0.0, 0.2, 0.5]))
    hidden = draw(st.sampled_from([None, "c", "y"]))
    for _ in range(60):
        row: dict[str, Any] = {"c": str(rng.choice(["a", "b"])), "d": int(rng.integers(3))}
        row |= {n: float(rng.normal(0, 2)) for n in "xyz"}
        rows.append({m: None if rng.random() < rate or m == hidden else v for m, v in row.items()})
    return net, rows


@settings(max_examples=20)
@given(mixed_problems())
def test_mixed_steps_equal_full_covariances(problem: Any) -> None:
    net, rows = problem
    seen = [n for n in net.names if any(r[n] is not None for r in rows)]
    schema = cr.Schema(tuple(net.variable(n) for n in seen))
    table = cr.read({n: [r[n] for r in rows] for n in seen}, schema=schema)
    log, sums = gaussian_step(net, rows)
    found = cr.em(net, table, start=net, max_iter=1, tol=0)
    assert found.record.trace[0] == pytest.approx(log, rel=1e-10)
    for n, by in lines_of(net, sums).items():
        local = found.cpt(n)
        names = [p.name for p in net.cpt(n).continuous]
        for at, (b, variance) in by.items():
            if sums[n][at][0, 0] < 6:  # too few rows may borrow the line of all
                continue
            slopes = [
                local.coefficients[at][[p.name for p in local.continuous].index(m)] for m in names
            ]
            assert np.allclose([local.intercept[at], *slopes], b, rtol=1e-7, atol=1e-7)
            assert local.variance[at] == pytest.approx(variance, rel=1e-7)
    last = gaussian_step(found, rows)[0]
    assert found.record.score == pytest.approx(last, rel=1e-9)
    more = cr.em(net, table, start=net, max_iter=60)
    trace = np.array(more.record.trace)
    assert (np.diff(trace) >= -1e-10 * np.abs(trace[1:])).all()
