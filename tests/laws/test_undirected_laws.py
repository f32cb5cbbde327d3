"""Laws of undirected models: the algebra of factors, conversions, separation, brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import credo as cr
from credo.core.schema import Variable
from credo.model.graphs.cliques import is_chordal, maximal_cliques
from credo.model.graphs.undirected import UndirectedGraph
from tests.unit.predict.joint import random_network
from tests.unit.predict.product import Product, random_model

CLOSE = {"rtol": 1e-10, "atol": 1e-12}
NAMES = "ABCD"
VARIABLES = {n: Variable(n, "discrete", tuple(range(2 + i % 2))) for i, n in enumerate(NAMES)}


@st.composite
def factors(draw, names=NAMES):
    scope = draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    variables = tuple(VARIABLES[n] for n in scope)
    shape = tuple(v.arity for v in variables)
    numbers = st.floats(0, 1e3).map(lambda x: 0.0 if x < 1e-3 else x)
    cells = draw(st.lists(numbers, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    return cr.Factor(
        variables,
        np.array(cells).reshape(shape),
        log_scale=draw(st.sampled_from([0.0, 3.5, -900.0])),
    )


def same(a, b):
    assert set(a.names) == set(b.names)
    x, y = a.log_values, b.on(a.names).log_values
    np.testing.assert_array_equal(x == -np.inf, y == -np.inf)
    np.testing.assert_allclose(x[x > -np.inf], y[y > -np.inf], rtol=1e-9, atol=1e-9)


@given(factors(), factors(), factors())
def test_products_in_any_order(a, b, c):
    same(a * b, b * a)
    same((a * b) * c, a * (b * c))


@given(factors(), factors())
def test_a_sum_passes_what_does_not_depend_on_it(a, b):
    for name in set(a.names) - set(b.names):
        same((a * b).sum_out(name), a.sum_out(name) * b)
        same((a * b).max_out(name), a.max_out(name) * b)


@given(factors())
def test_sums_in_any_order_and_conditions(a):
    for x, y in itertools.permutations(a.names, 2):
        same(a.sum_out([x, y]), a.sum_out(x).sum_out(y))
        state = VARIABLES[x].states[-1]
        same(a.condition({x: state}).sum_out(y), a.sum_out(y).condition({x: state}))
    for x in a.names:
        parts = [a.condition({x: s}).values for s in VARIABLES[x].states]
        np.testing.assert_allclose(sum(parts), a.sum_out(x).values, rtol=1e-12)


@given(st.lists(factors(), min_size=1, max_size=6), st.integers(0, 10**6))
@settings(max_examples=80)
def test_small_models_against_the_whole_table(made, seed):
    model = cr.MarkovNetwork(made, states=list(VARIABLES.values()))
    joint = Product(model)
    if not joint.total:
        with pytest.raises(cr.errors.ImpossibleError, match="Z = 0"):
            model.p("A")
        return
    np.testing.assert_allclose(model.log_partition, joint.log_z, rtol=1e-9, atol=1e-9)
    rng = np.random.default_rng(seed)
    seen = {
        n: VARIABLES[n].states[rng.integers(VARIABLES[n].arity)]
        for n in NAMES
        if rng.random() < 0.4
    }
    if joint.evidence(seen) < 1e-280:
        return
    free = [n for n in NAMES if n not in seen]
    for n, found in model.marginals(seen).items():
        np.testing.assert_allclose(found.p, joint.posterior([n], seen), rtol=1e-8, atol=1e-10)
    assert set(model.marginals(seen)) == set(free)
    np.testing.assert_allclose(model.mpe(seen).log_p, np.log(joint.times(seen).max()), atol=1e-8)


@given(st.lists(factors(), min_size=1, max_size=6))
def test_the_three_shapes_have_one_distribution(made):
    model = cr.MarkovNetwork(made, states=list(VARIABLES.values()))
    joint = Product(model)
    if not joint.total:
        return
    graph = model.to_factor_graph()
    np.testing.assert_allclose(Product(graph).p, joint.p, **CLOSE)
    np.testing.assert_allclose(Product(graph.to_markov_network()).p, joint.p, **CLOSE)
    net = model.to_network()
    np.testing.assert_allclose(net.p(list(NAMES)).p, joint.p, rtol=1e-9, atol=1e-12)
    again = net.to_markov_network()
    np.testing.assert_allclose(Product(again).p, joint.p, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(again.log_partition, 0.0, atol=1e-10)


@pytest.mark.parametrize("seed", range(15))
def test_moralising_keeps_every_joint_probability(seed):
    net = random_network(seed, 6)
    for other in (
        net.to_markov_network(),
        net.to_factor_graph(),
        net.to_markov_network().to_network(),
    ):
        np.testing.assert_allclose(
            other.p(list(net.names)).p, net.p(list(net.names)).p, rtol=1e-10, atol=1e-13
        )
    assert net.to_markov_network().graph == net.dag.moral()


@pytest.mark.parametrize("seed", range(15))
def test_elimination_of_a_chordal_graph_joins_nothing(seed):
    model = random_model(seed, 6, factors=6, least=2, widest=2)
    net = model.to_network()
    nothing = "no pair had to be joined" in net.record.notes[0]
    assert nothing == (net.dag.skeleton() == model.graph) == model.graph.is_chordal
    assert net.dag.moral().is_chordal


@pytest.mark.parametrize("seed", range(40))
def test_separation_and_posteriors_agree(seed):
    """What the graph separates is independent; what it does not, in general depends."""
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(6)]
    pairs = [p for p in itertools.combinations(names, 2) if rng.random() < 0.35]
    if not pairs:
        return
    model = cr.MarkovNetwork(
        {p: rng.gamma(0.7, size=(2, 2)) + 0.02 for p in pairs}, states=dict.fromkeys(names, (0, 1))
    )
    for x, y in itertools.combinations(names, 2):
        given = [n for n in names if n not in (x, y) and rng.random() < 0.3]
        seen = {n: int(rng.integers(2)) for n in given}
        away = max(np.abs(model.p(x, {**seen, y: s}).p - model.p(x, seen).p).max() for s in (0, 1))
        assert (away < 1e-10) == model.separated(x, y, given=given)
        reason = model.why(x, y, given=given)
        assert reason.separated == model.separated(x, y, given=given)
        for path in reason.paths:
            assert path.active != reason.separated
            assert set(path.nodes[1:-1]) & set(given) or not reason.separated


graphs = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda e: e[0] != e[1]), max_size=14
)


@given(graphs)
def test_cliques_and_chordality_against_networkx(edges):
    nx = pytest.importorskip("networkx")
    graph = UndirectedGraph([(str(a), str(b)) for a, b in edges], nodes=[str(i) for i in range(7)])
    other = graph.to_networkx()
    assert {frozenset(c) for c in graph.cliques} == {frozenset(c) for c in nx.find_cliques(other)}
    assert graph.is_chordal == nx.is_chordal(other)
    for a, b in itertools.combinations(graph.nodes, 2):
        assert graph.separated(a, b) != nx.has_path(other, a, b)


def test_cliques_of_nothing():
    assert maximal_cliques([]) == [] and is_chordal([])
