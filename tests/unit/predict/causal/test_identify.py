"""ID and IDC against brute force on random graphs; hedges against two models that they tell of."""

from __future__ import annotations

import numpy as np
import pytest
from tests.causal_models import Model, random_graph, value

import credo as cr
from credo.errors import CredoError, InputError, NotIdentifiedError


def check(graph, rng, y, x, z=()):
    """Whether it is identified; then the formula's value is the truth of a random model."""
    model = Model(graph, rng)
    text = f"P({', '.join(y)} | {', '.join([f'do({chr(44).join(x)})', *z])})"
    found = graph.identify(text, by="id")
    easy = graph.identify(text)
    assert easy.identified == found.identified
    if not found.identified:
        hedge = found.hedge
        assert set(hedge.smaller) < set(hedge.larger) and set(x) & set(hedge.larger)
        if not z:
            disagree(graph, hedge, x)
        return False
    joint, truth = model.joint(), model.effect(y, x, z)
    for formula in {found.formula, easy.formula}:
        assert formula.free <= {*y, *x, *z}
        got = value(formula, joint, graph.nodes, (*y, *x, *z))
        np.testing.assert_allclose(np.broadcast_to(got, truth.shape), truth, atol=1e-10)
        assert "P(" in str(formula) and formula.latex
    return True


def disagree(graph, hedge, x):
    """Two models of parities that agree on what is observed and differ in the effect on the roots.

    Shpitser & Pearl (2006), theorem 4: each node is the parity of its parents in the larger forest;
    in the second model those of the smaller one do not listen to the rest.
    """
    larger, smaller = set(hedge.larger), set(hedge.smaller)
    arcs = _spanning(graph, smaller, set()) + _spanning(graph, larger, smaller)
    edges, roots = _forest(graph, larger, smaller)
    nodes = [n for n in graph.order if n in larger]
    agree, differ = [], []
    for second in (False, True):
        kept_edges = [e for e in edges if not (second and e[1] in smaller and e[0] not in smaller)]
        seen, after = {}, {}
        for bits in range(2 ** len(arcs)):
            for do in (None, 0):
                values = {}
                for n in nodes:
                    if do is not None and n in x:
                        values[n] = do
                        continue
                    out = 0
                    for i, arc in enumerate(arcs):
                        deaf = second and n in smaller and not smaller.issuperset(arc)
                        out ^= (bits >> i & 1) if n in arc and not deaf else 0
                    for a, b in kept_edges:
                        out ^= values[a] if b == n else 0
                    values[n] = out
                key = tuple(values[n] for n in (nodes if do is None else sorted(roots)))
                into = seen if do is None else after
                into[key] = into.get(key, 0) + 1
        agree.append(seen)
        differ.append(after)
    assert agree[0] == agree[1]
    assert differ[0] != differ[1]


def _spanning(graph, group, start):
    """Arcs that join all of `group` to `start` (or to its first node) as a tree."""
    done = set(start) or {min(group)}
    out = []
    while done != group | set(start):
        a, b = next(
            (a, b) for a in sorted(done) for b in graph.siblings(a) if b in group and b not in done
        )
        out.append((a, b))
        done.add(b)
    return out


def _forest(graph, larger, smaller):
    """One child for each node, leading to the roots of the smaller set."""
    edges, roots = [], []
    for n in smaller:
        inside = [c for c in graph.children(n) if c in smaller]
        if inside:
            edges.append((n, inside[0]))
        else:
            roots.append(n)
    near = set(smaller)
    while near != larger:
        a, b = next((a, b) for a in sorted(larger - near) for b in graph.children(a) if b in near)
        edges.append((a, b))
        near.add(a)
    return edges, roots


def many(seed, graphs):
    rng = np.random.default_rng(seed)
    known = 0
    for _ in range(graphs):
        n = int(rng.integers(3, 6))
        graph = random_graph(rng, n)
        names = list(rng.permutation(graph.nodes))
        kx, ky = (int(rng.integers(1, 3)) for _ in range(2))
        kx = min(kx, n - 1)
        x, y = names[:kx], names[kx : kx + ky]
        z = names[kx + ky : kx + ky + 1] if rng.random() < 0.4 else []
        known += check(graph, rng, y, x, z)
    return known


def test_id_equals_brute_force() -> None:
    known = many(0, 100)
    assert 30 < known < 95  # both answers occur


@pytest.mark.slow
def test_id_equals_brute_force_on_a_thousand_graphs() -> None:
    assert 300 < many(1, 1000) < 950


def test_the_bow_arc_is_refused_with_its_hedge() -> None:
    found = cr.CausalGraph("[X][Y|X]", hidden=[("X", "Y")]).identify("P(Y | do(X))")
    assert not found.identified and found.hedge.larger == ("X", "Y")
    assert found.hedge.smaller == ("Y",)
    with pytest.raises(NotIdentifiedError, match=r"the hedge \{X, Y\} over \{Y\}"):
        _ = found.formula
    assert "two models can agree" in str(found) and "hedge" in found._repr_html_()


@pytest.mark.parametrize(
    ("graph", "question", "text"),
    [
        ("[X][Y|X]", "P(Y | do(X))", "P(Y | X)"),
        ("[Z][X|Z][Y|X:Z]", "P(Y|do(X=1))", "Σ_Z P(Y | X, Z) P(Z)"),
        ("[X][M|X][Y|M] X<->Y", "P(Y | do(X))", "Σ_M P(M | X) Σ_X' P(X') P(Y | X', M)"),
        ("[Y][X|Y]", "P(Y | do(X))", "P(Y)"),
        (
            "[W][R|W][X|R][Y|X] W<->X, W<->Y",
            "P(Y | do(X))",
            "Σ_R P(R) [Σ_W P(W) P(X | W, R) P(Y | W, R, X)] / [Σ_W P(W) P(X | W, R)]",
        ),
        ("[Z][X|Z][Y|X:Z]", "P(Y | do(X), Z)", "P(Y | Z, X)"),
        ("[A][B|A]", "P(B)", "Σ_A P(A) P(B | A)"),
    ],
)
def test_formulas_as_people_write_them(graph, question, text) -> None:
    assert str(cr.CausalGraph(graph).identify(question).formula) == text


def test_latex_has_primes_and_fractions() -> None:
    front = cr.CausalGraph("[X][M|X][Y|M] X<->Y").identify("P(Y | do(X))")
    assert front.latex == (
        "P(Y \\mid do(X)) = \\sum_{M} P(M \\mid X)\\,\\sum_{X'} P(X')\\,P(Y \\mid X', M)"
    )
    assert front._repr_latex_().startswith("$P(")
    napkin = cr.CausalGraph("[W][R|W][X|R][Y|X] W<->X, W<->Y").identify("P(Y | do(X))")
    assert "\\frac{" in napkin.latex


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Y | do(X)", "such as 'P\\(Y"),
        ("P(Y | do(Q))", "Node 'Q' is not in the graph"),
        ("P(Y | do(Y))", "stands twice"),
        (3, "such as"),
    ],
)
def test_questions_that_cannot_be_read(question, said) -> None:
    with pytest.raises(CredoError, match=said):
        cr.CausalGraph("[X][Y|X]").identify(question)


def test_by_is_checked() -> None:
    graph = cr.CausalGraph("[X][M|X][Y|M] X<->Y")
    assert not graph.identify("P(Y | do(X))", by="adjustment").identified
    with pytest.raises(InputError, match="by must be"):
        graph.identify("P(Y | do(X))", by="magic")
    with pytest.raises(InputError, match="nothing else observed"):
        graph.identify("P(Y | do(X), M)", by="adjustment")


def test_names_with_marks_are_quoted() -> None:
    graph = cr.CausalGraph([("a, b", "c | d")])
    found = graph.identify('P("c | d" | do("a, b"))')
    assert found.formula.leaves[0].of == ("c | d",)
    assert str(found.question) == 'P("c | d" | do("a, b"))'
