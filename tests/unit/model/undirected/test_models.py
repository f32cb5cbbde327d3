"""Markov networks and factor graphs as values: building, equality, conversion, pictures."""

import copy
import pickle
import xml.dom.minidom as xml

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError, SchemaError, UnknownNameError

SAME = [[3, 1], [1, 3]]
SQUARE = {("A", "B"): SAME, ("B", "C"): SAME, ("C", "D"): SAME, ("D", "A"): SAME}


@pytest.fixture
def square():
    return cr.MarkovNetwork(SQUARE)


def test_what_it_is(square):
    assert square.names == ("A", "B", "C", "D")
    assert square.neighbours("A") == square.markov_blanket("A") == ("B", "D")
    assert square.cliques == (("A", "B"), ("A", "D"), ("B", "C"), ("C", "D"))
    assert square.is_discrete and square.weights == {}
    assert square.potential("B", "A").values.tolist() == np.array(SAME).T.tolist()
    assert repr(square) == "MarkovNetwork(4 variables, 4 edges, 4 potentials)"
    assert square.to_markov_network() is square
    with pytest.raises(InputError, match=r"no potential over \(A, C\)"):
        square.potential("A", "C")
    with pytest.raises(UnknownNameError, match="Did you mean 'A'"):
        square.variable("a")
    with pytest.raises(UnknownNameError):
        square.neighbours("X")


def test_frozen_equal_and_copied(square):
    with pytest.raises(AttributeError, match="frozen"):
        square.record = None
    with pytest.raises(AttributeError, match="frozen"):
        del square.record
    turned = cr.MarkovNetwork({k: SQUARE[k] for k in reversed(SQUARE)})
    assert turned == square and hash(turned) == hash(square)
    assert cr.MarkovNetwork({**SQUARE, ("A", "B"): [[3, 2], [1, 3]]}) != square
    assert square != cr.MarkovNetwork(SQUARE, graph=[*SQUARE, ("A", "C")])
    assert square != square.to_factor_graph() and square != 3
    for other in (square, square.to_factor_graph(), cr.ising_grid(2)):
        assert pickle.loads(pickle.dumps(other)) == other
        assert copy.deepcopy(other) == other
    noted = square.with_record(cr.fit(square, {n: [0, 1] for n in "ABCD"}).record)
    assert noted == square and noted.record.how == "maximum likelihood"


def test_tables_of_a_bayesian_network_are_potentials():
    net = cr.Network("[A][B|A]", {"A": 0.3, "B": {False: 0.1, True: 0.8}})
    again = cr.MarkovNetwork([net.cpt("A"), net.cpt("B")])
    assert again == cr.MarkovNetwork({"A": net.cpt("A"), ("B", "A"): net.cpt("B")})
    assert again.p("A", {"B": True}).isclose(net.p("A", {"B": True}))


def test_a_graph_may_say_more_than_the_potentials():
    net = cr.MarkovNetwork(
        {("A", "B"): SAME}, graph=[("A", "B"), ("B", "C")], states={"C": ["x", "y"]}
    )
    assert net.separated("A", "C", given="B") and not net.separated("A", "C")
    np.testing.assert_allclose(net.p("C").p, 0.5)
    with pytest.raises(
        SchemaError, match=r"potential of \(A, B\) joins 'A' and 'B', which the graph"
    ):
        cr.MarkovNetwork({("A", "B"): SAME}, graph=[("B", "C")], states={"C": (0, 1)})
    with pytest.raises(InputError, match="The states of 'C' are needed"):
        cr.MarkovNetwork({("A", "B"): SAME}, graph=[("A", "B"), ("B", "C")])


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: cr.MarkovNetwork({}), InputError, "at least one variable"),
        (lambda: cr.MarkovNetwork(3), InputError, "must be a mapping from names to tables"),
        
        (lambda: cr.MarkovNetwork({3: SAME}), InputError, "named by its variables, .* got 3"),
        
        (lambda: cr.MarkovNetwork({("A", "A"): SAME}), InputError, "named twice"),
        
        
        (lambda: cr.MarkovNetwork({("A", "B"): SAME, "A": [1, 2, 3]}), InputError, "shape"),
        (lambda: cr.MarkovNetwork({"A": cr.Factor((cr.Variable("B", "discrete", (0, 1)),), [1, 2])}),
         SchemaError, r"of \['B'\] was given for \['A'\]"),
        (lambda: cr.MarkovNetwork([cr.Factor((cr.Variable("B", "discrete", (0, 1)),), [1, 2]),
                                   cr.Factor((cr.Variable("B", "discrete", (1, 0)),), [1, 2])]),
         SchemaError, "differ on the states of 'B'"),
        
        (lambda: cr.MarkovNetwork.log_linear({}, {"w": 1}, states={}), InputError, "no feature of"),
        
        (lambda: cr.UndirectedGraph(["AB"]), InputError, "pair of names, got 'AB'"),
        (lambda: cr.UndirectedGraph([("A", "A")]), InputError, "A — A is a loop"),
        (lambda: cr.ising_grid(0), InputError, "number of rows must be a whole number above 0"),
        (lambda: cr.MarkovNetwork(SQUARE).do({"A": 1}), InputError, "needs directions"),
        
        
        (lambda: cr.MarkovNetwork(SQUARE).why("A", "X"), UnknownNameError, "'X' is not in the graph"),
    ],
)  # fmt: skip
def test_refusals(make, error, says):
    with pytest.raises(error, match=says):
        make()


def test_a_continuous_variable_is_refused():
    line = cr.LinearGaussian(cr.Variable("h", "continuous"), (), 0.0, np.zeros(0), 1.0)
    net = cr.Network(cr.Dag.empty(["h"]), {"h": line})
    for convert in (net.to_markov_network, net.to_factor_graph):
        with pytest.raises(InputError, match="discrete variables; 'h' is continuous"):
            convert()


def test_factor_graphs_tell_apart_what_markov_networks_do_not():
    three = {("A", "B"): SAME, ("B", "C"): SAME, ("A", "C"): SAME}
    pairs = cr.FactorGraph(three)
    one = cr.FactorGraph({("A", "B", "C"): np.ones((2, 2, 2))})
    assert pairs.to_markov_network().graph == one.to_markov_network().graph
    assert len(pairs.edges) == 6 and len(one.edges) == 3
    assert pairs.factor_names == ("f1", "f2", "f3") and pairs.factors_of("A") == ("f1", "f3")
    assert pairs.to_factor_graph() is pairs
    with pytest.raises(UnknownNameError, match="Factor 'f9' is not in the graph"):
        pairs.factor("f9")


def test_names_of_factors_are_their_own():
    a = cr.Variable("A", "discrete", (0, 1))
    made = [
        cr.Factor((a,), [1, 2], "f1"),
        cr.Factor((a,), [1, 2], "f1"),
        cr.Factor((a,), [1, 2], "A"),
    ]
    assert cr.FactorGraph(made).factor_names == ("f1", "f2", "f3")
    grid = cr.ising_grid(2).to_factor_graph()
    assert len(set(grid.factor_names)) == 8 and "coupling(r1c1, r1c2)" in grid.factor_names
    assert grid.weights == cr.ising_grid(2).weights


def test_grids():
    grid = cr.ising_grid(3, 4)
    assert len(grid.names) == 12 and len(grid.graph.edges) == 17
    assert len(cr.ising_grid(3, 4, periodic=True).graph.edges) == 24
    assert len(cr.ising_grid(2, 2, periodic=True).graph.edges) == 4
    assert len(cr.ising_grid(1, 3, periodic=True).graph.edges) == 3
    assert cr.ising_grid(1, 1, field=0.5).p("r1c1")[1] == pytest.approx(1 / (1 + np.exp(-1)))


def test_a_strip_against_its_transfer_matrix():
    """Z of a periodic strip is the trace of a power of the transfer matrix."""
    height, length, coupling, field = 3, 7, 0.44, 0.15
    states = [np.array(s) for s in np.ndindex(2, 2, 2)]
    inside = [
        coupling * sum((2 * s[i] - 1) * (2 * s[(i + 1) % 3] - 1) for i in range(3))
        + field * (2 * s - 1).sum()
        for s in states
    ]
    between = [[coupling * ((2 * s - 1) * (2 * t - 1)).sum() for t in states] for s in states]
    matrix = np.exp(np.array(between) + np.array(inside)[:, None])
    exact = np.log(np.trace(np.linalg.matrix_power(matrix, length)))
    grid = cr.ising_grid(height, length, coupling=coupling, field=field, periodic=True)
    assert grid.log_partition == pytest.approx(exact, rel=1e-12)


def test_onsager_free_energy():
    """ln Z / n of a periodic grid comes near the exact value of the infinite one."""
    coupling = 0.3
    k = 1 / np.sinh(2 * coupling) ** 2
    angle = (np.arange(20_000) + 0.5) * np.pi / 20_000
    inner = np.cosh(2 * coupling) ** 2 + np.sqrt(1 + k**2 - 2 * k * np.cos(2 * angle)) / k
    onsager = np.log(2) / 2 + np.log(inner).mean() / 2
    grid = cr.ising_grid(8, coupling=coupling, periodic=True)
    assert grid.log_partition / 64 == pytest.approx(onsager, abs=2e-3)


@pytest.mark.parametrize("observed", [(), "A", ["A", "C"]])
def test_pictures(square, observed):
    shaded = 1 if observed == "A" else len(observed)
    for model in (square, square.to_factor_graph()):
        text = model.svg(observed=observed)
        xml.parseString(text)
        assert text.count('class="observed"') == shaded and "<polygon" not in text
        assert model.dot(observed=observed).startswith("graph {")
        assert " -> " not in model.dot()
        assert model._repr_html_().startswith("<svg")
    assert square.to_factor_graph().svg().count('class="factor"') == 4
    assert square.to_factor_graph().dot().count("shape=box") == 4
    with pytest.raises(UnknownNameError):
        square.svg(observed="X")
    with pytest.raises(UnknownNameError):
        square.to_factor_graph().svg(observed="X")
