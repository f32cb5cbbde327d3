"""d-separation and CPDAGs against their definitions and against networkx."""

import random
from itertools import chain, combinations, product

import numpy as np
import pytest

from credo.errors import InputError
from credo.model.graphs.dag import Dag

# --- d-separation and CPDAGs against their definitions, on every graph of two, three and four
#     nodes ---


def subsets(items):
    items = list(items)
    return chain.from_iterable(combinations(items, k) for k in range(len(items) + 1))


def all_dags(n):
    """Every graph on n nodes without a cycle: nothing, an arrow, or its reverse between each pair."""
    names = "ABCDE"[:n]
    out = []
    pairs = list(combinations(names, 2))
    for marks in product((0, 1, 2), repeat=len(pairs)):
        edges = [(a, b) if m == 1 else (b, a) for (a, b), m in zip(pairs, marks, strict=True) if m]
        left = set(names)
        while free := {v for v in left if not any(b == v and a in left for a, b in edges)}:
            left -= free
        if not left:
            out.append(Dag(edges, list(names)))
    return out


DAGS = {n: all_dags(n) for n in (2, 3, 4)}


def test_how_many_there_are():
    assert [len(DAGS[n]) for n in (2, 3, 4)] == [3, 25, 543]  # Robinson 1973


def separated_by_definition(dag, x, y, given):
    """No simple path is active: a collider needs an observed descendant, others must be hidden."""

    def paths(path):
        if path[-1] == y:
            yield path
            return
        for w in dag.neighbours(path[-1]):
            if w not in path:
                yield from paths([*path, w])

    def active(path):
        for a, b, c in zip(path, path[1:], path[2:], strict=False):
            if (a, b) in dag.edges and (c, b) in dag.edges:
                if not {b, *dag.descendants(b)} & set(given):
                    return False
            elif b in given:
                return False
        return True

    return not any(active(p) for p in paths([x]))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_d_separation_is_its_definition(n):
    for dag in DAGS[n]:
        for x, y in combinations(dag.nodes, 2):
            for given in subsets(v for v in dag.nodes if v not in (x, y)):
                truth = separated_by_definition(dag, x, y, given)
                assert dag.d_separated(x, y, given) == truth, (str(dag), x, y, given)
                assert dag.d_separated(y, x, given) == truth
                assert (y not in dag.d_connected(x, given)) == truth
                check_reason(dag, x, y, given, truth)


def check_reason(dag, x, y, given, truth):
    why = dag.why(x, y, given)
    assert why.separated == truth and why.complete
    if truth:
        assert all(p.blockers for p in why.paths)
    else:
        (path,) = why.paths
        assert path.active and path.nodes[0] == x and path.nodes[-1] == y
        assert len(set(path.nodes)) == len(path.nodes)


def test_a_separated_pair_lists_every_path():
    for dag in DAGS[4]:
        for x, y in combinations(dag.nodes, 2):
            why = dag.why(x, y, [v for v in dag.nodes if v not in (x, y)], paths=50)
            if why.separated:
                nodes = {p.nodes for p in why.paths}
                assert len(nodes) == len(why.paths) == count_paths(dag, [x], y)


def count_paths(dag, path, y):
    if path[-1] == y:
        return 1
    return sum(count_paths(dag, [*path, w], y) for w in dag.neighbours(path[-1]) if w not in path)


def test_sets_are_separated_when_every_pair_is():
    for dag in DAGS[4][::7]:
        for marks in product("xyz-", repeat=4):
            x, y, z = ([v for v, m in zip(dag.nodes, marks, strict=True) if m == k] for k in "xyz")
            if x and y:
                pairs = all(dag.d_separated(a, b, z) for a, b in product(x, y))
                assert dag.d_separated(x, y, z) == pairs
                assert dag.why(x, y, z).separated == pairs


def joint(dag, rng):
    """A random joint distribution of binary variables that factorises along the graph."""
    n = len(dag)
    index = {v: i for i, v in enumerate(dag.nodes)}
    out = np.ones((2,) * n)
    for v in dag.nodes:
        family = sorted(index[u] for u in (v, *dag.parents(v)))
        table = rng.uniform(0.05, 0.95, size=(2,) * len(family))
        table /= table.sum(axis=family.index(index[v]), keepdims=True)
        out = out * table.reshape([2 if i in family else 1 for i in range(n)])
    return out


def dependence(p, x, y, given):
    """The largest |P(x, y, z) P(z) − P(x, z) P(y, z)|: zero exactly when independent."""
    others = tuple(i for i in range(p.ndim) if i not in (x, y, *given))
    p = p.sum(axis=others, keepdims=True)
    z = p.sum(axis=(x, y), keepdims=True)
    return float(np.abs(p * z - p.sum(axis=y, keepdims=True) * p.sum(axis=x, keepdims=True)).max())


def check_numbers(dag, rng):
    p = joint(dag, rng)
    for x, y in combinations(range(len(dag)), 2):
        for given in subsets(v for v in range(len(dag)) if v not in (x, y)):
            size = dependence(p, x, y, given)
            names = [dag.nodes[v] for v in given]
            if dag.d_separated(dag.nodes[x], dag.nodes[y], names):
                assert size < 1e-15
            else:
                assert size > 1e-13, (str(dag), x, y, given)


def test_separated_is_independent_in_numbers_for_four_nodes():
    rng = np.random.default_rng(12)
    for dag in DAGS[4]:
        check_numbers(dag, rng)


@pytest.mark.parametrize("seed", range(100))
def test_separated_is_independent_in_numbers_for_random_graphs(seed):
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(6)]
    dag = Dag([e for e in combinations(names, 2) if rng.random() < 0.35], names)
    check_numbers(dag, rng)


@pytest.mark.parametrize(("n", "classes"), [(2, 2), (3, 11), (4, 185)])
def test_classes_of_equivalent_graphs(n, classes):
    """Gillispie & Perlman 2001; and a CPDAG's arrows are those all members of its class share."""
    found = {}
    for dag in DAGS[n]:
        found.setdefault(dag.cpdag(), []).append(dag)
    assert len(found) == classes
    by_definition = {}
    for dag in DAGS[n]:
        by_definition.setdefault((dag.skeleton(), frozenset(dag.v_structures())), []).append(dag)
    assert sorted(map(len, by_definition.values())) == sorted(map(len, found.values()))
    for c, members in found.items():
        assert len({(d.skeleton(), frozenset(d.v_structures())) for d in members}) == 1
        shared = set.intersection(*(set(d.edges) for d in members))
        assert set(c.directed) == shared
        assert c.extension() in members


def test_equivalent_graphs_state_the_same_independences():
    by_statements, by_class = {}, {}
    for dag in DAGS[4]:
        by_statements.setdefault(frozenset(dag.independences("all")), set()).add(dag)
        by_class.setdefault(dag.cpdag(), set()).add(dag)
    assert {frozenset(v) for v in by_statements.values()} == {
        frozenset(v) for v in by_class.values()
    }


def test_distance_is_zero_exactly_when_equivalent():
    for a, b in product(DAGS[3], repeat=2):
        assert a.shd(b) == b.shd(a) and a.shd(b, of="dag") == b.shd(a, of="dag")
        assert (a.shd(b) == 0) == a.equivalent(b)
        assert (a.shd(b, of="dag") == 0) == (a == b)
    sample = DAGS[3][::3]
    for a, b, c in product(sample, repeat=3):
        assert a.shd(c) <= a.shd(b) + b.shd(c)


# --- Random graphs of thirty nodes against networkx ---


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
