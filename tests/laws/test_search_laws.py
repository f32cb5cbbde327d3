"""Laws of searches: the exact one is exact, none passes it, and nothing accidental matters."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import credo as cr
from tests.structure_data import all_dags, discrete, random_table

SEARCHES = ["hill-climb", "tabu", "order", "ges", "chow-liu", "anneal"]


@pytest.mark.parametrize("score", ["bdeu", "bic", "k2", "fnml", "bds", "qnml", "aic"])
def test_exact_search_is_the_best_of_all_543_graphs(score):
    rng = np.random.default_rng(len(score))
    table = discrete(random_table(rng, 120, [2, 3, 2, 2]), [2, 3, 2, 2])
    best = max(cr.score(d, table, score) for d in all_dags(list(table.schema.names)))
    net = cr.learn(table, score, "exact")
    assert net.record.score == pytest.approx(best, rel=1e-12)
    assert net.record.details["proven"]
    for search in SEARCHES:
        found = cr.learn(table, score, search, **({"steps": 2000} if search == "anneal" else {}))
        assert found.record.score <= best + 1e-9 * abs(best)
        assert found.record.score == pytest.approx(cr.score(found, table, score), rel=1e-12)


def _every_graph(table, score):
    """For every labelled DAG over the table's columns its score, and its edges as [child, parent]."""
    names = list(table.schema.names)
    n = len(names)
    sets = [[m for m in range(2**n) if not m >> c & 1] for c in range(n)]
    inside = np.array([[m >> p & 1 for p in range(n)] for m in range(2**n)], dtype=bool)
    local = []
    for c, name in enumerate(names):
        graphs = [
            cr.Dag([(names[p], name) for p in np.flatnonzero(inside[m])], names) for m in sets[c]
        ]
        local.append(np.array([cr.score(g, table, score)[name, g.parents(name)] for g in graphs]))
    index = np.stack(np.meshgrid(*[np.arange(2 ** (n - 1))] * n, indexing="ij"), -1).reshape(-1, n)
    parents = np.stack([inside[np.array(sets[c])[index[:, c]]] for c in range(n)], axis=1)
    left = np.ones(
        (len(index), n), dtype=bool
    )  # acyclic: sources can be taken away until none is left
    for _ in range(n):
        left &= (parents & left[:, None, :]).any(axis=2)
    fine = ~left.any(axis=1)
    total = sum(local[c][index[fine, c]] for c in range(n))
    return total, parents[fine]


@pytest.mark.parametrize("score", ["bdeu"])
def test_exact_search_is_the_best_of_all_29281_graphs(score):
    rng = np.random.default_rng(3)
    arities = [2, 3, 2, 2, 3]
    table = discrete(random_table(rng, 200, arities), arities)
    total, _ = _every_graph(table, score)
    assert len(total) == 29_281
    net = cr.learn(table, score, "exact")
    assert net.record.score == pytest.approx(total.max(), rel=1e-12)
    turned = table.select(list(table.schema.names)[::-1])
    assert cr.learn(turned, score, "exact").record.score == net.record.score
    for search in SEARCHES[:4]:
        assert cr.learn(table, score, search).record.score <= total.max() * (1 - 1e-12)


@pytest.mark.parametrize("flat", [False, True])
def test_the_sampler_draws_graphs_by_their_posterior(flat):
    rng = np.random.default_rng(4)
    table = discrete(random_table(rng, 25, [2, 2, 2, 3], 0.5), [2, 2, 2, 3])
    names = list(table.schema.names)
    total, parents = _every_graph(table, "bdeu")
    assert len(total) == 543
    weights = np.exp(total - total.max()) if not flat else np.ones(543)
    exact = (weights[:, None, None] * parents).sum(axis=0) / weights.sum()
    score = (lambda counts: 0.0) if flat else "bdeu"
    net = cr.learn(
        table, score, "anneal", temperature=1.0, steps=300_000, thin=5, rng=1, parameters=None
    )
    shares = net.record.details["edge_probabilities"]
    assert net.record.details["samples"] == 60_000
    assert len(net.record.details["acceptance"]) == 100
    for c, child in enumerate(names):
        for p, parent in enumerate(names):
            if c != p:
                assert shares.get((parent, child), 0.0) == pytest.approx(exact[c, p], abs=0.02)


@pytest.mark.parametrize("score", ["bic", "bge"])
def test_exact_search_of_lines(score):
    rng = np.random.default_rng(5)
    a = rng.normal(size=80)
    b = a + rng.normal(size=80)
    c, d = a - b + rng.normal(size=80), rng.normal(size=80)
    table = cr.read({"a": a, "b": b, "c": c, "d": d})
    best = max(cr.score(g, table, score) for g in all_dags(["a", "b", "c", "d"]))
    assert cr.learn(table, score, "exact").record.score == pytest.approx(best, rel=1e-12)


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.sampled_from(["bdeu", "bic"]))
def test_order_of_columns_rows_states_and_names_are_accidents(seed, score):
    rng = np.random.default_rng(seed)
    arities = [2, 3, 2, 4, 2, 3]
    columns = random_table(rng, 300, arities)
    names = list(columns)
    new = {n: f"w{i}" for i, n in enumerate(rng.permutation(names))}
    rows = rng.permutation(300)
    states = {new[n]: rng.permutation(r).tolist() for n, r in zip(names, arities, strict=True)}
    turned = {new[n]: [int(v) for v in columns[n][rows]] for n in rng.permutation(names)}
    one = discrete(columns, arities)
    other = cr.read(turned, schema={n: states[n] for n in turned})
    for search in ("hill-climb", "tabu", "order"):
        a, b = cr.learn(one, score, search), cr.learn(other, score, search)
        assert {(new[x], new[y]) for x, y in a.dag.edges} == set(b.dag.edges)
        assert a.record.score == pytest.approx(b.record.score, rel=1e-12)


@settings(max_examples=30)
@given(
    st.integers(0, 2**32),
    st.sampled_from(["hill-climb", "tabu", "order", "exact", "anneal", "ges", "pc", "mmhc"]),
)
def test_random_rules_are_kept_and_scores_are_true(seed, search):
    rng = np.random.default_rng(seed)
    arities = [2, 3, 2, 2, 2]
    table = discrete(random_table(rng, 150, arities), arities)
    names = list(table.schema.names)
    order = list(rng.permutation(names))
    required = [(order[0], order[2])] if rng.random() < 0.7 else []
    forbidden = [
        (a, b)
        for a in names
        for b in names
        if a != b and rng.random() < 0.3 and (a, b) not in required
    ]
    most = int(rng.integers(1, 4))
    more = {"steps": 3000} if search == "anneal" else {}
    net = cr.learn(
        table, "bdeu", search, required=required, forbidden=forbidden, max_parents=most, **more
    )
    edges = set(net.dag.edges)
    assert set(required) <= edges and not edges & set(forbidden)
    assert all(len(net.dag.parents(n)) <= most for n in names)
    assert net.record.score == pytest.approx(cr.score(net, table, "bdeu"), rel=1e-12)


@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "qnml", "k2"])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_families_scored_from_one_table_around_a_child_are_those_scored_alone(score, weights):
    rng = np.random.default_rng(12)
    arities = [2, 3, 4, 2, 3, 2, 4, 3, 2, 2]
    columns = random_table(rng, 4000, arities, mixing=0.5)
    columns["v9"] = (columns["v1"] + columns["v4"] + (rng.random(4000) < 0.1)) % 2
    if weights != "none":
        drawn = rng.integers(1, 4, 4000)
        columns["w"] = drawn if weights == "whole" else drawn + 0.25
    more = {} if weights == "none" else {"weights": "w"}
    table = cr.read(columns, schema={f"v{i}": [*range(r)] for i, r in enumerate(arities)}, **more)
    found = cr.learn(table, score, "hill-climb")
    assert found.record.details["polished"] >= 0 and found.dag.edges
    again = cr.learn(table, score, "hill-climb", threads=3, rng=0)
    assert again.dag == found.dag and again.record.score == found.record.score
    assert found.record.score == pytest.approx(cr.score(found, table, score), rel=1e-11)
    for dag in (found.dag.remove(e) for e in found.dag.edges):
        assert cr.score(dag, table, score) < found.record.score + 1e-8


def test_hill_climbing_is_what_a_plain_loop_does():
    rng = np.random.default_rng(8)
    table = discrete(random_table(rng, 300, [2, 3, 2, 2, 3]), [2, 3, 2, 2, 3])
    names = list(table.schema.names)
    dag = cr.Dag.empty(names)
    now = cr.score(dag, table, "bic")
    while True:
        near = []
        for a in names:
            for b in names:
                if a != b:
                    for change in ("add", "remove", "reverse"):
                        try:
                            near.append(getattr(dag, change)((a, b)))
                        except cr.errors.CredoError:
                            continue
        best = max(near, key=lambda g: cr.score(g, table, "bic"))
        if not cr.score(best, table, "bic") > now + 1e-8:
            break
        dag, now = best, cr.score(best, table, "bic")
    found = cr.learn(table, "bic", "hill-climb", sideways=0, polish=0)
    trace = found.record.trace
    assert all(b > a for a, b in itertools.pairwise(trace))
    assert found.record.score == pytest.approx(now, rel=1e-9)  # ties aside
    wider = cr.learn(table, "bic", "hill-climb").record.trace
    assert all(b > a - 1e-8 for a, b in itertools.pairwise(wider))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("score", ["bdeu", "bic", "k2"])
def test_a_search_over_orders_never_ends_below_a_climb(seed, score):
    """It begins with one, and keeps the best graph: more variables than can be proven."""
    rng = np.random.default_rng([seed, len(score)])
    arities = rng.integers(2, 4, 15).tolist()
    table = discrete(random_table(rng, 150, arities), arities)
    start = cr.Dag([("v3", "v0"), ("v1", "v4")], table.schema.names)
    for rules in ({}, {"max_parents": 2}, {"start": start}):
        found = cr.learn(table, score, "order", **rules).record.score
        for search, options in (("hill-climb", {}), ("tabu", {}), ("hill-climb", {"polish": 0})):
            other = cr.learn(table, score, search, **rules, **options).record.score
            assert found >= other - 1e-9 * abs(other)
