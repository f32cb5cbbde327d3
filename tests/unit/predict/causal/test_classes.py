"""Adjustment in a class of graphs: against every member, found by enumeration, and against truth."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from tests.causal_models import Model, value
from tests.graph_classes import by_oracle, members, random_dag

import credo as cr
from credo.errors import CredoError, InputError, NotIdentifiedError
from credo.model.causal.pag import Pag
from credo.predict.causal.classes import class_effect


def paths(near, a, b, start=()):
    """Every path between two nodes."""
    start = (*start, a)
    if a == b:
        yield start
        return
    for c in near[a]:
        if c not in start:
            yield from paths(near, c, b, start)


def adjusts(at, names, x, y, z):
    """The adjustment criterion in one maximal ancestral graph, path by path."""
    near = {n: [b for a, b in at if a == n] for n in names}
    goes = lambda a, b: at[a, b] == ">" and at[b, a] == "-"  # noqa: E731
    above = {n: {n} for n in names}
    for _ in names:
        for a, b in at:
            if goes(a, b):
                above[b] |= above[a]
    every = list(paths(near, x, y))
    causal = [p for p in every if all(goes(a, b) for a, b in pairwise(p))]
    for p in causal:
        if not visible(at, near, x, p[1]):
            return False
    on = {n for p in causal for n in p[1:]}
    if any(n in z for n in names if above[n] & on):
        return False
    others = [p for p in every if p not in causal]
    return not any(connects(at, above, p, z) for p in others)


def visible(at, near, x, v):
    """x → v is visible: by a node not joined to v, whose path into x has colliders that cause v."""
    for c in near:
        if c in (x, v) or c in near[v]:
            continue
        for p in paths(near, c, x):
            inner = p[1:-1]
            into = all(at[a, b] == ">" for a, b in pairwise(p))
            back = all(at[p[i + 1], p[i]] == ">" for i in range(1, len(p) - 1))
            caused = all(n != v and v in near[n] and at[n, v] == ">" and at[v, n] == "-"
                         for n in inner)  # fmt: skip
            if into and back and caused:
                return True
    return False


def connects(at, above, path, z):
    for a, b, c in zip(path, path[1:], path[2:], strict=False):
        collider = at[a, b] == ">" and at[c, b] == ">"
        if collider and not any(b in above[n] for n in z):
            return False
        if not collider and b in z:
            return False
    return True


def sets_of(names):
    for k in range(len(names) + 1):
        yield from combinations(names, k)


def agree(seed, times, most=4):
    """A set is given exactly when some set adjusts in every member; then it does in all."""
    rng = np.random.default_rng(seed)
    given = none = 0
    for _ in range(times):
        dag, names = random_dag(rng, int(rng.integers(3, most + 1)), int(rng.integers(1, 3)))
        pag, graphs = by_oracle(dag, names), members(dag, names)
        x, y = (str(n) for n in rng.permutation(names)[:2])
        others = [n for n in names if n not in (x, y)]
        right = {
            z for z in sets_of(others) if all(adjusts(at, names, x, y, z) for at in graphs)
        }  # fmt: skip
        found = pag.adjustment_sets(x, y)
        least = {z for z in right if not any(set(w) < set(z) for w in right)}
        assert {s.names for s in found} == least, (str(dag), str(pag), x, y)
        given, none = given + bool(right), none + (not right)
    return given, none


def test_sets_are_those_that_adjust_in_every_member() -> None:
    given, none = agree(0, 60)
    assert given > 15 and none > 15  # both occur


@pytest.mark.slow
def test_sets_are_those_that_adjust_in_every_member_of_500_classes() -> None:
    agree(1, 500, 5)


def test_formulas_give_the_truth_of_models_with_hidden_causes() -> None:
    rng = np.random.default_rng(2)
    known = 0
    for _ in range(60):
        dag, names = random_dag(rng, int(rng.integers(3, 6)), int(rng.integers(1, 3)))
        gone = [n for n in dag.nodes if n not in names]
        graph = cr.CausalGraph(dag.edges, dag.nodes, hidden=gone)
        model = Model(graph, rng)
        x, y = (str(n) for n in rng.permutation(names)[:2])
        found = class_effect(by_oracle(dag, names), x, y)
        if not found.identified:
            continue
        known += 1
        got = value(found.formula, model.joint(), list(graph.nodes), (y, x))
        np.testing.assert_allclose(
            np.broadcast_to(got, (2, 2)), model.effect((y,), (x,)), atol=1e-10
        )
    assert known > 20


def rows(rng, n=4000):
    """a → x → y ← b, b a cause of x too: all seen but what moves a and b."""
    a, b = (rng.random(n) < 0.5 for _ in range(2))
    c = rng.random(n) < 0.1 + 0.6 * b
    x = rng.random(n) < 0.1 + 0.4 * a + 0.4 * b
    y = rng.random(n) < 0.1 + 0.3 * x + 0.4 * b
    return {"a": a, "b": b, "c": c, "x": x, "y": y}


def test_an_effect_from_rows_and_a_learned_class() -> None:
    table = rows(np.random.default_rng(3))
    pag = cr.learn(table, search="fci")
    found = cr.effect(table, "x", "y", graph=pag)
    assert 0.3 in found.interval and found.adjustment == ("b",)
    assert "every graph of the class" in found.reason
    with pytest.raises(NotIdentifiedError, match="not identifiable from the class"):
        cr.effect(table, "b", "c", graph=pag)
    nothing = cr.effect(table, "y", "x", graph=pag)
    assert nothing.difference == 0 and nothing.interval.width == 0
    assert "setting it changes nothing" in nothing.reason
    assert nothing.plain[1] - nothing.plain[0] > 0.2
    with pytest.raises(InputError, match="needs one graph"):
        cr.effect(table, "x", "y", graph=pag, by="id")


def test_numbers_of_a_class() -> None:
    rng = np.random.default_rng(4)
    a, b, c = rng.normal(size=(3, 3000))
    x = a + b + rng.normal(size=3000)
    y = 2 * x + 3 * b + rng.normal(size=3000)
    table = {"a": a, "b": b, "c": c + b, "x": x, "y": y}
    pag = cr.learn(table, search="fci")
    found = cr.effect(table, "x", "y", graph=pag)
    line = np.linalg.lstsq(np.column_stack([np.ones(3000), x, b]), y, rcond=None)[0]
    assert found.adjustment == ("b",) and abs(found.difference - line[1]) < 0.005
    back = cr.effect(table, "y", "x", graph=pag)
    assert back.difference == 0 and back.plain[1] - back.plain[0] > 0.1


def test_classes_that_are_none_are_refused() -> None:
    ring = tuple((a, b, "o", "o") for a, b in ("AB", "BC", "CD", "DA"))
    edges = (("Z", "X", "o", ">"), ("X", "A", "-", ">"), *ring)  # four circles in a ring
    with pytest.raises(InputError, match="those of no class"):
        Pag(tuple("ABCDXZ"), edges).adjustment_sets("X", "A")
    with pytest.raises(InputError, match="edges without a head"):
        Pag(("A", "B"), (("A", "B", "-", "-"),)).effect("A", "B")
    with pytest.raises(CredoError, match="'C' is not in the graph"):
        Pag(("A", "B"), ()).effect("A", "C")
    with pytest.raises(CredoError, match="twice"):
        Pag(("A", "B"), ()).adjustment_sets("A", "A")
