"""Graph, lines and missing cells drawn in turn: against weighed completions and every graph."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import logsumexp, multigammaln
from tests.unit.train.averaging.test_average import every_dag

import credo as cr
from credo.train.averaging import averaging, chains

NAMES = ("x", "y", "z")
SETS = [s for k in range(4) for s in itertools.combinations(range(3), k)]


def gappy(seed, rows=25, holes=5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    y = 0.5 * x + rng.normal(size=rows)
    cells = np.stack([x, y, 0.5 * y + rng.normal(size=rows)], axis=1)
    at = rng.choice(rows * 3, holes, replace=False)
    cells[at // 3, at % 3] = np.nan
    return cells


def read(cells):
    return {n: [None if v != v else v for v in c] for n, c in zip(NAMES, cells.T, strict=True)}


def subset(scatter, rows, s, n=3, freedom=5.0, scale=0.5):
    """ln P(columns s of the rows), BGe with one imagined row at their mean (Geiger & Heckerman)."""
    k = len(s)
    if not k:
        return np.zeros(len(scatter))
    own = freedom - n + k
    t = scatter[:, s][:, :, s] + scale * np.eye(k)
    return (
        -0.5 * rows * k * math.log(math.pi) - 0.5 * k * math.log(1 + rows)
        + multigammaln((own + rows) / 2, k) - multigammaln(own / 2, k)
        + 0.5 * own * k * math.log(scale) - 0.5 * (own + rows) * np.linalg.slogdet(t)[1]
    )  # fmt: skip


def by_weighing(cells, draws=100_000):
    """P(edge | seen) from completions drawn from a wide Gaussian, each weighed by BGe's sum."""
    rng = np.random.default_rng(0)
    rows = len(cells)
    whole = cells[~np.isnan(cells).any(axis=1)]
    mean, cov = whole.mean(axis=0), np.cov(whole.T)
    filled = np.repeat(cells[None], draws, axis=0)
    log = np.zeros(draws)
    for i in np.flatnonzero(np.isnan(cells).any(axis=1)):
        g = np.isnan(cells[i])
        solved = np.linalg.solve(cov[~g][:, ~g], np.column_stack([cov[~g][:, g]]))
        centre = mean[g] + (cells[i, ~g] - mean[~g]) @ solved
        root = np.linalg.cholesky(1.5 * (cov[g][:, g] - cov[g][:, ~g] @ solved))
        e = rng.standard_normal((draws, int(g.sum())))
        filled[:, i, g] = centre + e @ root.T
        log += 0.5 * (e**2).sum(axis=1)
    away = filled - filled.mean(axis=1, keepdims=True)
    scatter = np.einsum("dri,drj->dij", away, away)
    f = {s: subset(scatter, rows, s) for s in SETS}
    p = {}
    for dag in every_dag(NAMES):
        total = log.copy()
        for c, name in enumerate(NAMES):
            above = tuple(i for i in range(3) if NAMES[i] in dag.parents(name))
            total += f[tuple(sorted((*above, c)))] - f[above]
        p[dag] = logsumexp(total)
    top = logsumexp(list(p.values()))
    return {dag: math.exp(v - top) for dag, v in p.items()}


@pytest.mark.slow
def test_gaussian_edges_are_those_of_weighed_completions():
    cells = gappy(0)
    wanted = by_weighing(cells)
    post = cr.average(
        read(cells), missing="data-augmentation", numbers="gaussian", error=0.015, seconds=300
    )
    assert post.record.details["settled"]
    for a, b in itertools.permutations(NAMES, 2):
        p = sum(q for dag, q in wanted.items() if (a, b) in dag.edges)
        assert abs(post.edge(a, b) - p) < 4 * post.edge(a, b).error


@pytest.mark.slow
def test_mixed_edges_are_those_of_summed_states_and_integrated_numbers():
    """Three states and a number are missing: eight completions, and a grid."""
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 2, 20)
    x = rng.normal(size=20) + 0.9 * kind
    kinds = ["ab"[k] for k in kind]
    grid = np.linspace(x.mean() - 5 * x.std(), x.mean() + 5 * x.std(), 61)
    dags = [cr.Dag([], ["k", "x"]), cr.Dag([("k", "x")], ["k", "x"])]
    logs = []
    for states in itertools.product("ab", repeat=3):
        for v in grid:
            table = cr.read({"k": [*states, *kinds[3:]], "x": [*x[:4], v, *x[5:]]})
            logs.append([float(cr.score(d, table, "bdeu", ess=1)) for d in dags])
    total = logsumexp(np.array(logs), axis=0)
    wanted = math.exp(total[1] - logsumexp(total))
    post = cr.average(
        {"k": [None] * 3 + kinds[3:], "x": [*x[:4], None, *x[5:]]},
        missing="data-augmentation", numbers="gaussian", error=0.015, seconds=300,
    )  # fmt: skip
    assert post.record.details["settled"]
    assert abs(post.edge("k", "x") - wanted) < 4 * post.edge("k", "x").error


def test_numbers_and_states_with_gaps_are_averaged_saved_and_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(chains, "_FEWEST", 8)
    monkeypatch.setattr(averaging, "_CELLS_FIRST", 4)
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 2, 30)
    x = rng.normal(size=30) + kind
    y = x + rng.normal(size=30)
    cells = {
        "k": [None if i < 6 else "ab"[k] for i, k in enumerate(kind)],
        "x": [None if 4 < i < 10 else v for i, v in enumerate(x)], "y": y.tolist(),
    }  # fmt: skip
    post = cr.average(cells, missing="data-augmentation", numbers="gaussian", error=0.5, chains=2)
    assert post.record.details["missing"] == "data-augmentation"
    answer = post.ask("P(k=b | y=1)", interval=0.9)
    assert answer.low < answer < answer.high
    assert any("include how sure the gaps are" in n for n in answer.notes)
    assert post.network().cpt("y").learned.observed.n.sum() == pytest.approx(30)
    post.save(tmp_path / "post.credo")
    assert str(cr.load(tmp_path / "post.credo").ask("P(k=b | y=1)", interval=0.9)) == str(answer)


def test_numbers_with_gaps_are_averaged_checked_and_learned_with_edges():
    cells = read(gappy(0))
    post = cr.average(cells, numbers="gaussian")
    assert post.record.details["score"] == "bdeu"
    assert any("how sure the gaps are is left out" in n for n in post.record.notes)
    net = cr.learn(cells, numbers="gaussian", edges=True)
    assert set(net.record.details["edge_probabilities"]) == set(net.dag.edges)
    report = cr.check(net, cells, draws=20, edges=0, sections=["graph"])
    assert report.of("graph")
