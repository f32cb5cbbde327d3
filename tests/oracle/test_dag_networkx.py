"""Random graphs of thirty nodes against networkx."""

import random

import pytest

from credo.errors import InputError
from credo.model.graphs.dag import Dag

nx = pytest.importorskip("networkx")


def random_dag(seed, n=30):
    rng = random.Random(seed)
    names = [f"v{i}" for i in range(n)]
    rng.shuffle(names)
    share = rng.choice([0.03, 0.08, 0.2])
    edges = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if rng.random() < share]
    rng.shuffle(edges)
    return Dag(edges, sorted(names)), rng


@pytest.mark.parametrize("seed", range(40))
def test_against_networkx(seed):
    dag, rng = random_dag(seed)
    g = dag.to_networkx()
    assert Dag.from_networkx(g) == dag and Dag.from_networkx(g).nodes == dag.nodes
    for v in dag.nodes:
        assert set(dag.ancestors(v)) == nx.ancestors(g, v)
        assert set(dag.descendants(v)) == nx.descendants(g, v)
        assert list(dag.parents(v)) == list(g.predecessors(v)) or set(dag.parents(v)) == set(
            g.predecessors(v)
        )
    assert list(dag.order) == list(nx.lexicographical_topological_sort(g, key=dag.nodes.index))
    moral = nx.moral_graph(g)
    assert {frozenset(e) for e in dag.moral().edges} == {frozenset(e) for e in moral.edges}
    parts = {frozenset(c) for c in nx.weakly_connected_components(g)}
    assert {frozenset(c) for c in dag.skeleton().components} == parts
    for _ in range(60):
        names = list(dag.nodes)
        rng.shuffle(names)
        i, j, k = (rng.randint(1, 3), rng.randint(1, 3), rng.randint(0, 8))
        x, y, z = names[:i], names[i : i + j], names[i + j : i + j + k]
        assert dag.d_separated(x, y, z) == nx.is_d_separator(g, set(x), set(y), set(z))
        blanket = dag.markov_blanket(names[0])
        rest = [v for v in names[1:] if v not in blanket]
        assert not rest or dag.d_separated(names[0], rest, blanket)


def test_graphs_that_are_none():
    with pytest.raises(InputError, match="A networkx DiGraph is needed, got Graph"):
        Dag.from_networkx(nx.Graph([("A", "B")]))
    with pytest.raises(InputError, match=r"relabel_nodes\(graph, str\)"):
        Dag.from_networkx(nx.DiGraph([(1, 2)]))
    with pytest.raises(InputError, match="A → B is given twice"):
        Dag.from_networkx(nx.MultiDiGraph([("A", "B"), ("A", "B")]))
    with pytest.raises(InputError, match="A → B → A"):
        Dag.from_networkx(nx.DiGraph([("A", "B"), ("B", "A")]))
