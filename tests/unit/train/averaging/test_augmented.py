"""Graph, tables and missing cells drawn in turn: against the sum over all completions and graphs."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from tests.unit.train.averaging.test_average import every_dag

import credo as cr
from credo.core.errors import InputError

STATES = {"a": 2, "b": 3, "c": 2}
NAMES = tuple(STATES)


def family_counts(rows, child, parents):
    counts = np.zeros([STATES[n] for n in (*parents, child)])
    for row in rows:
        counts[tuple(row[n] for n in (*parents, child))] += 1
    return counts


def log_marginal(counts, alpha):
    """ln P of a family's column under a Dirichlet of alpha in each cell."""
    rows = counts.reshape(-1, counts.shape[-1])
    total = 0.0
    for row in rows:
        total += math.lgamma(alpha * len(row)) - math.lgamma(alpha * len(row) + row.sum())
        total += sum(math.lgamma(alpha + n) - math.lgamma(alpha) for n in row)
    return total


def by_enumeration(cells, ess=1.0):
    """P(graph | observed) and P(row | observed), summed over every completion and graph."""
    rows = [dict(zip(NAMES, r, strict=True)) for r in zip(*cells.values(), strict=True)]
    holes = [(i, n) for i, row in enumerate(rows) for n in NAMES if row[n] is None]
    dags = list(every_dag(NAMES))
    sets = {(n, s) for n in NAMES for k in range(3)
            for s in combinations([m for m in NAMES if m != n], k)}  # fmt: skip
    alpha = {(n, s): ess / math.prod(STATES[m] for m in (n, *s)) for n, s in sets}
    points = list(product(*(range(STATES[n]) for n in NAMES)))
    logs, tables = [], []
    for fill in product(*(range(STATES[n]) for _, n in holes)):
        for (i, n), s in zip(holes, fill, strict=True):
            rows[i][n] = s
        counts = {f: family_counts(rows, *f) for f in sets}
        own = {f: log_marginal(counts[f], alpha[f]) for f in sets}
        mean = {f: counts[f] + alpha[f] for f in sets}
        mean = {f: m / m.sum(axis=-1, keepdims=True) for f, m in mean.items()}
        for dag in dags:
            families = [(n, tuple(m for m in NAMES if m in dag.parents(n))) for n in NAMES]
            logs.append(sum(own[f] for f in families))
            tables.append([
                math.prod(
                    mean[n, s][tuple(dict(zip(NAMES, x, strict=True))[m] for m in (*s, n))]
                    for n, s in families
                )
                for x in points
            ])  # fmt: skip
    w = np.exp(np.array(logs) - max(logs))
    w /= w.sum()
    p = {}
    for dag, share in zip(dags, w.reshape(-1, len(dags)).sum(axis=0), strict=True):
        p[dag] = float(share)
    return p, dict(zip(points, w @ np.array(tables), strict=True))


def gappy(seed, rows=18, holes=5):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, rows)
    b = np.where(rng.random(rows) < 0.7, a, rng.integers(0, 3, rows))
    c = np.where(rng.random(rows) < 0.7, b % 2, rng.integers(0, 2, rows))
    cells = {n: v.tolist() for n, v in zip(NAMES, (a, b, c), strict=True)}
    for at in rng.choice(rows * 3, holes, replace=False).tolist():
        cells[NAMES[at % 3]][at // 3] = None
    return cells, cr.read(cells, schema={n: list(range(k)) for n, k in STATES.items()})


@pytest.fixture(scope="module")
def drawn():
    cells, table = gappy(0)
    return cells, table, cr.average(table, missing="data-augmentation", error=0.02, rng=0)


def test_edges_and_rows_are_those_of_every_completion_and_graph(drawn):
    cells, _, post = drawn
    wanted, rows = by_enumeration(cells)
    assert post.record.details["settled"]
    for a in NAMES:
        for b in NAMES:
            if a != b:
                p = sum(q for dag, q in wanted.items() if (a, b) in dag.edges)
                assert post.edge(a, b).error < 0.021
                assert abs(post.edge(a, b) - p) < 4 * post.edge(a, b).error
    for x, p in rows.items():
        cell = dict(zip(NAMES, x, strict=True))
        assert math.exp(post.log_likelihood({n: [s] for n, s in cell.items()})) == pytest.approx(
            p, abs=0.006
        )
    joint = {x[0]: 0.0 for x in rows}
    for x, p in rows.items():
        joint[x[0]] += p if x[2] == 1 else 0.0
    given = joint[1] / sum(p for x, p in rows.items() if x[0] == 1)
    found = post.ask("P(c=1 | a=1)", interval=0.95)
    assert found == pytest.approx(given, abs=0.02)
    assert found.low < given < found.high
    assert any("include how sure the gaps are" in n for n in found.notes)


def test_graphs_are_told_once_and_one_graph_has_the_tables_of_all_completions(drawn, tmp_path):
    _, table, post = drawn
    graphs = list(post.graphs)
    assert len({dag for dag, _ in graphs}) == len(graphs) <= 25
    assert sum(p for _, p in graphs) == pytest.approx(1.0)
    assert f"{len(graphs)} graphs over 3 variables" in str(post)
    assert post.best.dag == graphs[0][0]
    for net in (post.best, post.network()):
        for name in NAMES:  # every row is in the counts of its family, once
            assert net.cpt(name).learned.observed.total == pytest.approx(table.rows)
    post.save(tmp_path / "post.credo")
    again = cr.load(tmp_path / "post.credo")
    assert str(again.ask("P(c=1 | a=1)", interval=0.9)) == str(
        post.ask("P(c=1 | a=1)", interval=0.9)
    )


def test_the_seed_decides_weights_count_and_whole_tables_are_as_before(drawn):
    _, table, _ = drawn
    a, b = (
        cr.average(table, missing="data-augmentation", error=0.05, chains=2, rng=5, threads=t)
        for t in (1, 2)
    )
    np.testing.assert_array_equal(a.edge_p, b.edge_p)
    np.testing.assert_array_equal(a.members, b.members)
    cells, _ = gappy(0)
    rows = [dict(zip(NAMES, r, strict=True)) for r in zip(*cells.values(), strict=True)]
    weighted = cr.read(
        {n: [r[n] for r in rows] for n in NAMES}, weights=[2] * len(rows),
        schema={n: list(range(k)) for n, k in STATES.items()},
    )  # fmt: skip
    twice = cr.average(weighted, missing="data-augmentation", error=0.05, chains=2)
    assert twice.best.cpt("a").learned.observed.total == pytest.approx(2 * len(rows))
    whole = cr.average(table.take(slice(0, 3)), missing="data-augmentation")
    assert whole.complete == (not any(table.take(slice(0, 3)).block.gaps))


def test_what_cannot_be_augmented_is_refused_in_a_sentence(drawn):
    cells, table, _ = drawn
    set_ = [int(i == next(k for k, v in enumerate(cells["a"]) if v is not None))
            for i in range(table.rows)]  # fmt: skip
    n = np.random.default_rng(0).poisson(30, 200)
    calls = {"k": ["a", "b", None, "a"] * 50, "n": n}
    for call, said in (
        (
            lambda: cr.average(calls, missing="data-augmentation", numbers={"n": "counts"}),
            "'n' counts",
        ),
        (
            lambda: cr.average({"x": [0.5, None, 2.25], "y": [1.5, 1.0, 0.5]}, "bge"),
            "needs whole rows",
        ),
        (
            lambda: cr.average(table, "bic", missing="data-augmentation"),
            "'bdeu', 'k2' or 'bge', got 'bic'",
        ),
        (lambda: cr.average(table, missing="data-augmentation", method="exact"), "no exact sums"),
        (lambda: cr.average(table, missing="data-augmentation", prior="order"), "no exact sums"),
        (lambda: cr.average(table, missing="drop"), "missing must be"),
        (
            lambda: cr.average(table, missing="data-augmentation", intervened={"a": set_}),
            "nothing was set",
        ),
    ):
        with pytest.raises(InputError, match=said):
            call()
