"""Adjustment sets against the truth of random models; front doors; instruments."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.causal_models import Model, random_graph, value

import credo as cr
from credo.errors import CredoError, InputError, LimitError
from credo.model.causal.formula import Prob, product, summed


def adjusts(model, joint, x, y, z):
    """Whether Σ_z P(y | x, z) P(z) is the effect in a random model."""
    inner = Prob((y,), (x, *z))
    formula = summed(z, product([inner, Prob(z)])) if z else inner
    truth = model.effect((y,), (x,))
    got = value(formula, joint, model.graph.nodes, (y, x))
    return np.allclose(np.broadcast_to(got, truth.shape), truth, atol=1e-9)


def test_sets_are_those_that_give_the_truth() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        graph = random_graph(rng, 5, 0.5, 0.15)
        x, y = rng.permutation(graph.nodes)[:2]
        if y not in graph.descendants(x):
            continue
        model = Model(graph, rng)
        joint = model.joint()
        others = [n for n in graph.nodes if n not in (x, y)]
        sets = [z for k in range(4) for z in combinations(others, k)]
        right = [set(z) for z in sets if adjusts(model, joint, x, y, z)]
        found = [set(s) for s in graph.adjustment_sets(x, y, kind="all")]
        assert found == right
        least = [z for z in right if not any(w < z for w in right)]
        minimal = [set(s) for s in graph.adjustment_sets(x, y)]
        assert sorted(map(sorted, minimal)) == sorted(map(sorted, least))
        assert [len(s) for s in minimal] == sorted(map(len, minimal))
        below = set(graph.descendants(x))
        back = [set(s) for s in graph.adjustment_sets(x, y, kind="back-door")]
        assert all(z in right and not z & below for z in back)
        for kind in ("parent", "optimal"):
            if kind == "parent" or not graph.hidden:
                assert all(set(s) in right for s in graph.adjustment_sets(x, y, kind=kind))


def test_the_optimal_set_has_the_least_variance() -> None:
    """Henckel et al. (2022), of every valid set, for linear models: by the asymptotic variance."""
    rng = np.random.default_rng(4)
    seen = 0
    for _ in range(60):
        graph = random_graph(rng, 6, 0.5, 0.0)
        x, y = rng.permutation(graph.nodes)[:2]
        if y not in graph.descendants(x):
            continue
        sets = graph.adjustment_sets(x, y, kind="all")
        n = len(graph)
        b = np.zeros((n, n))
        for parent, child in graph.edges:
            b[graph.nodes.index(child), graph.nodes.index(parent)] = rng.normal()
        inverse = np.linalg.inv(np.eye(n) - b)
        cov = inverse @ np.diag(rng.uniform(0.5, 2, n)) @ inverse.T

        def variance(z, cov=cov, nodes=graph.nodes, x=x, y=y):
            def left(a, given):
                if not given:
                    return cov[a, a]
                inner = np.linalg.solve(cov[np.ix_(given, given)], cov[given, a])
                return cov[a, a] - cov[a, given] @ inner

            at = [nodes.index(v) for v in z]
            i, j = nodes.index(x), nodes.index(y)
            return left(j, [*at, i]) / left(i, at)

        best = graph.adjustment_sets(x, y, kind="optimal")
        assert len(best) == 1
        assert variance(best[0].names) <= min(variance(s.names) for s in sets) + 1e-9
        seen += 1
    assert seen > 10


def test_reasons_and_order() -> None:
    graph = cr.CausalGraph("[A][B][Z|A:B][X|A:Z][Y|X:B:Z]")
    sets = graph.adjustment_sets("X", "Y")
    assert [s.names for s in sets] == [("A", "Z"), ("B", "Z")]
    assert "X ← Z → Y at Z" in sets[0].reason and "A" in sets[0] and len(sets[0]) == 2
    assert "set" in str(sets) and "<table" in sets._repr_html_()
    assert (
        "blocked already" in cr.CausalGraph("[X][Y|X][C|X:Y]").adjustment_sets("X", "Y")[0].reason
    )
    bow = cr.CausalGraph("[X][Y|X] X<->Y").adjustment_sets("X", "Y")
    assert len(bow) == 0 and "no set" in str(bow)


def test_refusals() -> None:
    graph = cr.CausalGraph("[X][Y|X] X<->Y")
    with pytest.raises(InputError, match="no common cause is hidden"):
        graph.adjustment_sets("X", "Y", kind="optimal")
    with pytest.raises(InputError, match="kind must be"):
        graph.adjustment_sets("X", "Y", kind="best")
    with pytest.raises(CredoError, match="Node 'Q' is not in the graph"):
        graph.adjustment_sets("Q", "Y")
    names = [f"z{i}" for i in range(20)]
    wide = cr.CausalGraph([("X", "Y")], ["X", "Y", *names])
    with pytest.raises(LimitError, match=r"2\^20 sets"):
        wide.adjustment_sets("X", "Y", kind="all")
    assert [len(s) for s in wide.adjustment_sets("X", "Y")] == [0]


def test_fifty_nodes() -> None:
    rng = np.random.default_rng(5)
    graph = random_graph(rng, 50, 0.08, 0.01)
    first, last = graph.order[0], graph.order[-1]
    x, y = first, next(iter(reversed(graph.descendants(first) or (last,))))
    found = graph.identify(f"P({y} | do({x}))")
    assert found.identified in (True, False)
    assert len(graph.adjustment_sets(x, y, kind="parent")) <= 1


def test_front_doors() -> None:
    graph = cr.CausalGraph("[X][M|X][Y|M] X<->Y")
    [found] = graph.front_door("X", "Y")
    assert found.names == ("M",) and "goes through M" in found.reason
    two = cr.CausalGraph("[X][M|X][N|X][Y|M:N] X<->Y")
    assert [s.names for s in two.front_door("X", "Y")] == [("M", "N")]
    assert not len(cr.CausalGraph("[X][M|X][Y|M] X<->Y, X<->M").front_door("X", "Y"))
    assert not len(cr.CausalGraph("[X][M|X][Y|M:X] X<->Y").front_door("X", "Y"))


def test_front_doors_give_the_truth() -> None:
    rng = np.random.default_rng(6)
    seen = 0
    for _ in range(400):
        graph = random_graph(rng, 5, 0.3, 0.15)
        x, y = rng.permutation(graph.nodes)[:2]
        for m in graph.front_door(x, y) if y in graph.descendants(x) else ():
            model = Model(graph, rng)
            inner = summed([x], product([Prob((x,)), Prob((y,), (x, *m))]))
            formula = summed(m.names, product([Prob(m.names, (x,)), inner]))
            got = value(formula, model.joint(), graph.nodes, (y, x))
            np.testing.assert_allclose(got, model.effect((y,), (x,)), atol=1e-10)
            seen += 1
    assert seen > 5


def test_instruments() -> None:
    graph = cr.CausalGraph("[Z][X|Z][Y|X] X<->Y")
    [found] = graph.instruments("X", "Y")
    assert found.name == "Z" and found.given == ()
    with_w = cr.CausalGraph("[W][Z|W][X|Z][Y|X:W] X<->Y")
    assert [(i.name, i.given) for i in with_w.instruments("X", "Y")] == [("Z", ("W",))]
    assert cr.CausalGraph("[Z][X|Z][Y|X:Z] X<->Y").instruments("X", "Y") == ()
    assert cr.CausalGraph("[Z][X][Y|X] X<->Y").instruments("X", "Y") == ()
