"""Laws of graphs: notation, changes, equivalence, separation."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credo.errors import InputError
from credo.model.graphs.dag import Dag

NAMES = st.text(min_size=1, max_size=6)


@st.composite
def dags(draw, names=NAMES, most=8):
    nodes = draw(st.lists(names, unique=True, max_size=most))
    pairs = list(combinations(draw(st.permutations(nodes)), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return Dag(chosen, nodes)


@given(dags())
def test_notation_round_trip(dag):
    again = Dag.parse(str(dag))
    assert again == dag and again.nodes == dag.nodes
    assert all(again.parents(v) == dag.parents(v) for v in dag.nodes)
    assert str(again) == str(dag) and eval(repr(dag), {"Dag": Dag}) == dag


@given(st.text(alphabet='[]|:"\\AB \n', max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        dag = Dag.parse(text)
    except InputError as error:
        assert str(error)
    else:
        assert Dag.parse(str(dag)) == dag


@given(dags(), st.randoms())
def test_changes_undo_each_other(dag, rng):
    assert dag.order == Dag(rng.sample(dag.edges, len(dag.edges)), dag.nodes).order
    place = {v: i for i, v in enumerate(dag.order)}
    assert all(place[a] < place[b] for a, b in dag.edges)
    for edge in dag.edges:
        assert dag.remove(edge).add(edge) == dag
        assert edge not in dag.do(edge[1]).edges
        try:
            turned = dag.reverse(edge)
        except InputError as error:
            assert "cycle" in str(error)
        else:
            assert turned.reverse(edge[::-1]) == dag
            assert turned.skeleton() == dag.skeleton()
            covered = set(dag.parents(edge[1])) - {edge[0]} == set(dag.parents(edge[0]))
            assert turned.equivalent(dag) == covered  # Chickering 1995: exactly covered edges


@given(dags(), st.randoms())
def test_renaming_renames_the_answers(dag, rng):
    new = [f"n{i}" for i in range(len(dag))]
    rng.shuffle(new)
    to = dict(zip(dag.nodes, new, strict=True))
    other = dag.rename(to)
    assert other.rename({b: a for a, b in to.items()}) == dag
    for x, y in combinations(dag.nodes, 2):
        z = [v for v in dag.nodes if v not in (x, y) and rng.random() < 0.4]
        assert dag.d_separated(x, y, z) == other.d_separated(to[x], to[y], [to[v] for v in z])
    assert {tuple(to[v] for v in e) for e in dag.cpdag().directed} == set(other.cpdag().directed)


@given(dags())
def test_what_a_graph_states_holds_in_it(dag):
    for kind in ("local", "pairwise"):
        for s in dag.independences(kind):
            assert dag.d_separated(s.x, s.y, s.given)
    joined = {frozenset(e) for e in dag.edges}
    assert len(dag.independences("pairwise")) == len(dag) * (len(dag) - 1) // 2 - len(joined)


def random_dag(rng):
    n = rng.randint(1, 10)
    names = [f"v{i}" for i in range(n)]
    rng.shuffle(names)
    share = rng.random()
    return Dag([e for e in combinations(names, 2) if rng.random() < share], sorted(names))


@pytest.mark.parametrize("seed", range(10))
def test_an_extension_has_the_same_cpdag(seed):
    """Ten times a thousand random graphs (RELIABILITY, test 13)."""
    rng = random.Random(seed)
    for _ in range(1000):
        dag = random_dag(rng)
        c = dag.cpdag()
        extension = c.extension()
        assert extension.cpdag() == c
        assert extension.equivalent(dag)
        assert extension.skeleton() == dag.skeleton()
        assert set(extension.v_structures()) == set(dag.v_structures())


def test_distance_is_symmetric_and_zero_only_for_equivalent_graphs():
    rng = random.Random(7)
    for _ in range(300):
        n = rng.randint(1, 7)
        names = [f"v{i}" for i in range(n)]
        a, b = (
            Dag([e for e in combinations(names, 2) if rng.random() < 0.4], names) for _ in range(2)
        )
        for of in ("cpdag", "dag"):
            assert a.shd(b, of=of) == b.shd(a, of=of)
        assert (a.shd(b) == 0) == a.equivalent(b)
        same = a.skeleton() == b.skeleton() and set(a.v_structures()) == set(b.v_structures())
        assert a.equivalent(b) == same
        c = a.compare(b)
        assert len(c.shared) + len(c.reversed) + len(c.missing) == len(a.edges)
        assert a.shd(b, of="dag") == len(c.reversed) + len(c.missing) + len(c.extra)
