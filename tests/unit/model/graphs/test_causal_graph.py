"""CausalGraph: reading and writing, projection, m-separation by its definition, pictures."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pytest

import credo as cr
from credo.errors import CredoError, InputError


def random_causal(rng: np.random.Generator, n: int, p: float = 0.4, q: float = 0.3):
    """A random graph of n nodes with arrows (share p of the pairs) and arcs (share q)."""
    names = [f"v{i}" for i in range(n)]
    order = rng.permutation(n)
    pairs = [(names[order[i]], names[order[j]]) for i, j in combinations(range(n), 2)]
    edges = [e for e in pairs if rng.random() < p]
    return cr.CausalGraph(edges, names, hidden=[e for e in pairs if rng.random() < q])


@pytest.mark.parametrize(
    "text",
    [
        "[A][B|A] A<->B",
        "[A] [B|A] A ↔ B",
        "[A][B|A]A<->B;",
        "dag { A -> B; A <-> B }",
        'dag { A [exposure,pos="1,2"] B [outcome] A -> B B <-> A bb="0,0,1,1" }',
        "dag { U [latent] U -> {A B} B <- A }",
        'digraph g { rankdir=LR; node [shape=box]; "A" -> B [penwidth=2]; A -> B [dir=both]; }',
        "digraph { U [observed=no]; U -> A -> B; U -> B // hidden\n}",
    ],
)
def test_notations_agree(text: str) -> None:
    assert cr.CausalGraph(text) == cr.CausalGraph([("A", "B")], hidden=[("A", "B")])
    assert cr.CausalGraph.parse(text) == cr.Dag([("A", "B")], hidden=[("B", "A")])


def test_what_is_written_is_read_back() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        g = random_causal(rng, 5)
        for text in (str(g), g.dagitty(), g.dot()):
            assert cr.CausalGraph(text) == g
        assert pickle.loads(pickle.dumps(g)) == g and hash(g) == hash(cr.CausalGraph(str(g)))
    odd = cr.CausalGraph([("a b", "c:d")], hidden=[("a b", 'e"')], nodes=["a b", "c:d", 'e"'])
    for text in (str(odd), odd.dagitty(), odd.dot()):
        assert cr.CausalGraph(text) == odd
    spaced = cr.CausalGraph("[a b][c d] a b<->c d")
    assert spaced.hidden == (("a b", "c d"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[A][B] A<->C", "expected a node that has brackets of its own"),
        ("[A][B] A->B", "expected '<->'"),
        ("graph { A -- B }", "A graph of directed edges is needed"),
        ("dag { A -- B }", "an edge has a direction"),
        ("dag { A -> ", "expected the name of a node"),
        ("dag { A -> B b=", "expected a value"),
        ("dag { A -> B", "expected '}'"),
        ("[A][B] A<->A", "joins two nodes"),
        ("dag { A -> B -> A }", "make a cycle"),
    ],
)
def test_refusals(text: str, said: str) -> None:
    with pytest.raises(CredoError, match=said):
        cr.CausalGraph(text)


def test_hidden_must_be_known_and_a_list() -> None:
    with pytest.raises(CredoError, match="Did you mean 'Alpha'"):
        cr.CausalGraph("[Alpha][B|Alpha]", hidden=[("Alpa", "B")])
    with pytest.raises(InputError, match="list of pairs or of names"):
        cr.CausalGraph("[A][B|A]", hidden="A")
    with pytest.raises(InputError, match=r"for cr\.CausalGraph"):
        cr.Dag.parse("[A][B|A] A<->B")


def test_m_separation_is_that_of_a_dag_with_hidden_nodes() -> None:
    """Projecting hidden nodes away changes no separation of the others."""
    rng = np.random.default_rng(2)
    for _ in range(40):
        names = [f"v{i}" for i in range(7)]
        edges = [e for e in combinations(names, 2) if rng.random() < 0.35]
        dag = cr.Dag(edges, names)
        gone = [names[i] for i in rng.choice(7, 2, replace=False)]
        graph = cr.CausalGraph(dag, hidden=gone)
        assert graph == cr.CausalGraph(dag, hidden=gone[::-1])
        for x, y in combinations(graph.nodes, 2):
            others = [n for n in graph.nodes if n not in (x, y)]
            for k in range(len(others) + 1):
                for z in combinations(others, k):
                    truth = dag.d_separated(x, y, given=z)
                    assert graph.m_separated(x, y, given=z) == truth
                    assert graph.why(x, y, given=z, paths=2).separated == truth


def test_reasons_name_arcs() -> None:
    graph = cr.CausalGraph("[W][Z][X|Z][Y|X] X<->Y, Z<->W")
    assert "Z → X ↔ Y" in str(graph.why("Z", "Y", given="X"))
    shown = str(graph.why("W", "Y"))
    assert "W ↔ Z → X → Y" in shown
    assert "blocked at X: a collider" in str(cr.CausalGraph("[A][X|A][Y] X<->Y").why("A", "Y"))


def test_parts_of_a_graph() -> None:
    graph = cr.CausalGraph("[X][M|X][Y|M] X<->Y")
    assert graph.c_components() == (("X", "Y"), ("M",))
    assert graph.do("X").hidden == () and graph.parents("Y") == ("M",)
    assert graph.subgraph(["X", "Y"]).hidden == (("X", "Y"),)
    assert graph.ancestors("Y") == ("X", "M")


def test_the_picture_has_a_dashed_arc_inside_its_frame() -> None:
    import re

    graph = cr.CausalGraph("[X][M|X][Y|M] X<->Y")
    svg = graph.svg()
    assert svg.count("stroke-dasharray") == 1 and "hidden common cause" in svg
    width = float(re.search(r'<svg[^>]* width="([\d.]+)"', svg)[1])
    shift = float(re.search(r"translate\(([\d.]+)", svg)[1])
    [path] = re.findall(r'<path stroke-dasharray="5 4" d="([^"]+)"', svg)
    xs = [float(p.split(",")[0]) for p in re.findall(r"-?[\d.]+,-?[\d.]+", path)]
    assert min(xs) + shift >= 0 and max(xs) + shift <= width
    assert "style=dashed" in graph.dot() and graph._repr_html_() == svg
