"""Laws of scores: equivalent graphs tie, the marginal likelihood is a distribution of tables."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import credo as cr
from tests.structure_data import discrete, random_dag, random_member, random_table


def test_equivalent_graphs_have_the_same_score_and_k2_does_not():
    rng = np.random.default_rng(6)
    names = [f"v{i}" for i in range(6)]
    table = discrete(random_table(rng, 400, [2, 3, 2, 4, 2, 3]), [2, 3, 2, 4, 2, 3])
    mix = rng.normal(size=(6, 6))
    lines = cr.read(dict(zip(names, (rng.normal(size=(300, 6)) @ mix).T, strict=True)))
    k2_differs = 0
    for _ in range(200):
        dag = random_dag(names, rng)
        other = random_member(dag, rng)
        assert dag.equivalent(other)
        for score in ("loglik", "aic", "bic", "bdeu", "qnml"):
            a, b = cr.score(dag, table, score), cr.score(other, table, score)
            assert a == pytest.approx(b, rel=1e-9)
        for score in ("loglik", "aic", "bic", "bge"):
            a, b = cr.score(dag, lines, score), cr.score(other, lines, score)
            assert a == pytest.approx(b, rel=1e-9)
        k2_differs += abs(cr.score(dag, table, "k2") - cr.score(other, table, "k2")) > 1e-6
    assert k2_differs > 20


@pytest.mark.parametrize("graph", ["[a][b]", "[a][b|a]", "[a|b][b]"])
@pytest.mark.parametrize(("score", "more"), [("bdeu", {"ess": 3}), ("k2", {}), ("bds", {"ess": 2})])
def test_the_marginal_likelihoods_of_all_tables_add_up_to_one(graph, score, more):
    if score == "bds" and graph != "[a][b]":
        pytest.skip("the prior of bds depends on the rows: it is no distribution of tables")
    schema = {"a": [0, 1], "b": [0, 1]}
    total = 0.0
    for rows in product(product((0, 1), repeat=2), repeat=4):
        table = cr.read({"a": [r[0] for r in rows], "b": [r[1] for r in rows]}, schema=schema)
        total += math.exp(cr.score(graph, table, score, **more))
    assert total == pytest.approx(1, abs=1e-12)


@given(st.integers(0, 2**32), st.sampled_from(["bdeu", "k2"]))
def test_the_score_is_the_product_of_sequential_predictions(seed, score):
    rng = np.random.default_rng(seed)
    rows = [tuple(map(int, r)) for r in rng.integers(0, 2, (8, 2))]
    alpha = 0.25 if score == "bdeu" else 1.0  # of each cell of b | a, ess 1
    above = {0: 0.5, 1: 0.5} if score == "bdeu" else {0: 1.0, 1: 1.0}
    seen_a, seen = {0: 0, 1: 0}, dict.fromkeys(product((0, 1), repeat=2), 0)
    log = 0.0
    for i, (a, b) in enumerate(rows):
        log += math.log((above[a] + seen_a[a]) / (sum(above.values()) + i))
        log += math.log((alpha + seen[a, b]) / (2 * alpha + seen_a[a]))
        seen_a[a] += 1
        seen[a, b] += 1
    schema = {"a": [0, 1], "b": [0, 1]}
    table = cr.read({"a": [r[0] for r in rows], "b": [r[1] for r in rows]}, schema=schema)
    assert cr.score("[a][b|a]", table, score) == pytest.approx(log, rel=1e-12)


@given(st.integers(0, 2**32))
def test_order_of_rows_columns_and_states_does_not_change_a_score(seed):
    rng = np.random.default_rng(seed)
    columns = random_table(rng, 60, [2, 3, 4])
    dag = random_dag(list(columns), rng)
    one = cr.score(dag, discrete(columns, [2, 3, 4]), "bdeu")
    rows = rng.permutation(60)
    turned = {n: columns[n][rows] for n in reversed(list(columns))}
    states = {n: rng.permutation(r).tolist() for n, r in zip(columns, [2, 3, 4], strict=True)}
    other = cr.read({n: list(map(int, c)) for n, c in turned.items()}, schema=states)
    assert cr.score(dag, other, "bdeu") == pytest.approx(one, rel=1e-12)
