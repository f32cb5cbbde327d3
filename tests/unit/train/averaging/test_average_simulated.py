"""What averages over graphs claim, simulated: errors that cover, calibrated edges, real tables."""

from __future__ import annotations

import numpy as np
import pytest
from tests.structure_data import discrete, random_table

import credo as cr

OFF = ~np.eye(6, dtype=bool)


@pytest.mark.slow
def test_stated_errors_cover():
    """Over 40 seeds an edge is within 2 errors of the sums about 19 times in 20, within 4 always."""
    rng = np.random.default_rng(0)
    table = discrete(random_table(rng, 80, [2, 3, 2, 2, 3, 2]))
    exact = cr.average(table, method="exact").edge_p[OFF]
    common = (exact > 0.02) & (exact < 0.98)
    z = []
    for seed in range(40):
        post = cr.average(table, method="sampled", error=0.02, rng=seed, threads=1)
        z.append((post.edge_p[OFF] - exact) / np.maximum(post.edge_error[OFF], 1e-12))
    z = np.array(z)[:, common]
    assert np.abs(z).max() < 4
    assert 0.91 < (np.abs(z) < 2).mean() <= 1.0
    assert abs(z.mean()) < 0.3


def drawn_truth(rng, n=5):
    """A graph drawn evenly from all, and tables drawn from BDeu(1)."""
    while True:  # evenly from all ways to join the pairs, until one has no cycle
        edges = []
        for i in range(n):
            for j in range(i + 1, n):
                way = rng.integers(3)
                if way:
                    edges.append((f"v{i}", f"v{j}") if way == 1 else (f"v{j}", f"v{i}"))
        try:
            dag = cr.Dag(edges, [f"v{i}" for i in range(n)])
            break
        except cr.errors.InputError:
            continue
    tables = {}
    for name in dag.nodes:
        k = len(dag.parents(name))
        alpha = 1.0 / 2 ** (k + 1)  # BDeu(1)
        rows = rng.gamma(alpha, size=(2,) * k + (2,)) + 1e-300
        tables[name] = rows / rows.sum(axis=-1, keepdims=True)
    states = {n: [0, 1] for n in dag.nodes}
    return dag, cr.Network(dag, tables, states=states), states


@pytest.mark.slow
def test_edge_probabilities_are_calibrated():
    """Truth drawn from the prior: of edges with probability p a share p is there (slope 1)."""
    rng = np.random.default_rng(1)
    p, there = [], []
    for i in range(2000):
        dag, net, states = drawn_truth(rng)
        rows = net.sample(20, rng=i)
        table = cr.read({n: list(rows[n]) for n in dag.nodes}, schema=states)
        post = cr.average(table, ess=1)
        for a in dag.nodes:
            for b in dag.nodes:
                if a != b:
                    p.append(float(post.edge(a, b)))
                    there.append((a, b) in dag.edges)
    p, there = np.array(p), np.array(there, dtype=float)
    slope = float(((p - p.mean()) * (there - there.mean())).sum() / ((p - p.mean()) ** 2).sum())
    assert abs(slope - 1) < 0.05
    assert abs(p.mean() - there.mean()) < 0.01


@pytest.mark.slow
def test_intervals_that_include_the_graph_cover():
    """P(v1=1 | v0=1) of a truth drawn from the prior lies in 95 % intervals 95 times in 100."""
    rng = np.random.default_rng(2)
    inside = []
    for i in range(600):
        dag, net, states = drawn_truth(rng, 3)
        rows = net.sample(50, rng=i)
        table = cr.read({n: list(rows[n]) for n in dag.nodes}, schema=states)
        post = cr.average(table, ess=1)
        try:
            truth = float(net.ask("P(v1=1 | v0=1)"))
        except cr.errors.CredoError:
            continue
        found = post.ask("P(v1=1 | v0=1)", interval=0.95, draws=400, rng=i)
        inside.append(found.low <= truth <= found.high)
    assert 0.93 < np.mean(inside) < 0.97


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rows"), [("asia", 500), ("zoo", 101)])
def test_real_tables_by_sums_and_by_chains(shared_tables, name, rows):
    path = shared_tables / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"{name} is not among the shared tables")
    table = cr.read(path).take(slice(0, rows))
    names = [v.name for v in table.schema.variables if v.is_discrete and v.arity > 1]
    table = table.select(names)
    exact = cr.average(table, method="exact", max_parents=3)
    walked = cr.average(table, method="sampled", max_parents=3, seconds=120)
    off = ~np.eye(len(names), dtype=bool)
    z = np.abs(walked.edge_p - exact.edge_p)[off] / np.maximum(walked.edge_error[off], 1e-9)
    assert z.max() < 4
    assert exact.record.details["numerical_error"] < 1e-9


@pytest.mark.slow
def test_child_by_sums_and_by_two_sets_of_chains(shared_tables):
    """20 columns: all graphs of at most 3 parents, summed in minutes, sampled in a second."""
    net = shared_tables.parent / "networks" / "child.bif.gz"
    if not net.exists():
        pytest.skip("child is not among the shared networks")
    rows = cr.load(net).sample(1000, rng=0)
    a, b = (
        cr.average(rows, max_parents=3, error=0.01, rng=seed, seconds=200, threads=1)
        for seed in (1, 2)
    )  # fmt: skip
    assert a.record.details["settled"] and b.record.details["settled"]
    off = ~np.eye(len(a.names), dtype=bool)
    exact = cr.average(rows, method="exact", max_parents=3)
    assert exact.record.details["numerical_error"] < 1e-9
    for one in (a, b):
        z = np.abs(one.edge_p - exact.edge_p)[off] / np.maximum(one.edge_error[off], 1e-9)
        assert z.max() < 4
    error = np.hypot(a.edge_error, b.edge_error)[off]
    assert (np.abs(a.edge_p - b.edge_p)[off] / error).max() < 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["20 %", "40 %", "at random"])
def test_intervals_that_include_graph_and_gaps_cover(kind):
    """The truth drawn from the prior, cells missing: by data augmentation over graphs."""
    rng = np.random.default_rng(3)
    inside, point = [], []
    for i in range(200):
        dag, net, states = drawn_truth(rng, 3)
        rows = net.sample(60, rng=i)
        cells = {n: np.array(rows[n], dtype=object) for n in dag.nodes}
        first = np.array(rows["v0"]) == 1
        for k, n in enumerate(dag.nodes):
            share = {"20 %": 0.2, "40 %": 0.4}.get(kind, np.where(first, 0.6, 0.2) * (k > 0))
            cells[n][rng.random(60) < share] = None
        table = cr.read({n: list(c) for n, c in cells.items()}, schema=states)
        post = cr.average(
            table, ess=1, missing="data-augmentation", error=0.05, chains=2, rng=i, threads=1
        )
        for question in ("P(v1=1)", "P(v2=1 | v1=1)", "P(v1=1 | v0=0)"):
            try:
                truth = float(net.ask(question))
            except cr.errors.CredoError:
                continue
            found = post.ask(question, interval=0.95, draws=400, rng=i)
            inside.append(found.low <= truth <= found.high)
            point.append(float(found) - truth)
    assert 0.93 < np.mean(inside) < 0.97
    assert abs(np.mean(point)) < 4 * np.std(point) / np.sqrt(len(point))
