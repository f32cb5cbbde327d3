"""Graphs are made, read, changed and refused with sentences."""

import pickle

import pytest

from credo.errors import CredoError, InputError, MissingPackageError, UnknownNameError
from credo.model.graphs.dag import Dag
from credo.model.graphs.undirected import UndirectedGraph

ALARM = Dag(
    [
        ("Burglary", "Alarm"),
        ("Earthquake", "Alarm"),
        ("Alarm", "JohnCalls"),
        ("Alarm", "MaryCalls"),
    ],
    nodes=["Burglary", "Earthquake", "Alarm", "JohnCalls", "MaryCalls"],
)


def test_relations_of_the_burglary_alarm():
    assert ALARM.parents("Alarm") == ("Burglary", "Earthquake")
    assert ALARM.children("Alarm") == ("JohnCalls", "MaryCalls")
    assert ALARM.neighbours("JohnCalls") == ("Alarm",)
    assert ALARM.ancestors("MaryCalls") == ("Burglary", "Earthquake", "Alarm")
    assert ALARM.ancestors(["MaryCalls", "Alarm"]) == ("Burglary", "Earthquake", "Alarm")
    assert ALARM.descendants("Burglary") == ("Alarm", "JohnCalls", "MaryCalls")
    assert ALARM.roots == ("Burglary", "Earthquake")
    assert ALARM.leaves == ("JohnCalls", "MaryCalls")
    assert ALARM.order == ALARM.nodes
    assert ALARM.markov_blanket("Burglary") == ("Earthquake", "Alarm")
    assert len(ALARM) == 5 and "Alarm" in ALARM and "alarm" not in ALARM
    assert list(ALARM) == list(ALARM.nodes)
    assert ALARM.moral() == UndirectedGraph([*ALARM.edges, ("Earthquake", "Burglary")])
    assert ALARM.skeleton().components == (ALARM.nodes,)


def test_equality_and_hash_are_of_sets():
    a = Dag([("A", "B"), ("B", "C")], nodes=["A", "B", "C", "D"])
    b = Dag([("B", "C"), ("A", "B")], nodes=["D", "C"])
    assert a == b and hash(a) == hash(b) and len({a, b}) == 1
    assert a != Dag([("A", "B"), ("B", "C")]) and a != a.remove(("A", "B")) and a != "A"
    assert a.nodes == ("A", "B", "C", "D") and b.nodes == ("D", "C", "B", "A")


def test_a_value_cannot_be_changed_and_can_be_pickled():
    with pytest.raises(AttributeError):
        ALARM.nodes = ()
    again = pickle.loads(pickle.dumps(ALARM))
    assert again == ALARM and again.nodes == ALARM.nodes and again.edges == ALARM.edges
    for value in (ALARM.cpdag(), ALARM.moral(), ALARM.why("Burglary", "Alarm")):
        assert pickle.loads(pickle.dumps(value)) == value
        assert hash(pickle.loads(pickle.dumps(value))) == hash(value)


def test_changes_are_new_values():
    assert ALARM.add(("Burglary", "MaryCalls")).remove(("Burglary", "MaryCalls")) == ALARM
    assert ALARM.reverse(("Alarm", "JohnCalls")).parents("Alarm")[-1] == "JohnCalls"
    assert ALARM.do("Alarm").parents("Alarm") == ()
    assert ALARM.do(["Alarm", "JohnCalls"]).edges == (("Alarm", "MaryCalls"),)
    assert ALARM.subgraph(["MaryCalls", "Alarm"]).edges == (("Alarm", "MaryCalls"),)
    assert ALARM.rename({"Alarm": "A", "Burglary": "B"}).parents("A") == ("B", "Earthquake")
    swapped = Dag.parse("[A][B|A]").rename({"A": "B", "B": "A"})
    assert str(swapped) == "[B][A|B]"
    assert Dag([]) == Dag.empty([]) and len(Dag([])) == 0 and Dag([]).order == ()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Dag([("A", "B"), ("B", "A")]), "The edges make a cycle: A → B → A. Remove or reverse one of them."),
        
        (lambda: Dag.parse("[X|Z][A][B|A:C][C|B][Z|X:Y][Y|Z]"), "The edges make a cycle: X → Z → X."),
        (lambda: Dag([("A", "A")]), "The edge A → A is a loop: a node cannot be its own parent."),
        (lambda: Dag([("A", "B"), ("A", "B")]), "The edge A → B is given twice."),
        (lambda: Dag([("A", "B", "C")]), "An edge must be a pair (parent, child), got ('A', 'B', 'C')."),
        
        (lambda: Dag("[A][B|A]"), "To read the notation [A][B|A], use Dag.parse."),
        
        (lambda: Dag([(1, "B")]), "The name of a node must be a non-empty text, got 1."),
        
        (lambda: Dag([], nodes=["A", "A"]), "The node 'A' is given twice."),
        
        
        (lambda: ALARM.parents("Alrm"), "Node 'Alrm' is not in the graph. Did you mean 'Alarm'?"),
        (lambda: ALARM.ancestors(["Alarm", "Mary"]), "Node 'Mary' is not in the graph."),
        (lambda: ALARM.ancestors(5), "A name or a list of names is needed, got 5."),
        
        
        (lambda: ALARM.add(("Burglary", "Alarm")), "The edge Burglary → Alarm is given twice."),
        (lambda: ALARM.add(("MaryCalls", "Burglary")), "Burglary → Alarm → MaryCalls → Burglary"),
        (lambda: ALARM.remove(("Alarm", "Burglary")), "The edge Alarm → Burglary is not in the graph. There is Burglary → Alarm."),
        (lambda: ALARM.reverse(("Burglary", "MaryCalls")), "Burglary and MaryCalls are not joined."),
        (lambda: Dag.parse("[A][B|A][C|A:B]").reverse(("A", "C")), "A → B → C → A"),
        (lambda: ALARM.rename({"Alarm": "Burglary"}), "The node 'Burglary' is given twice."),
        
        (lambda: ALARM.shd(Dag.parse("[Alarm][Fire]")), "The two graphs must have the same nodes; only the first has 'Burglary', 'Earthquake', 'JohnCalls', 'MaryCalls' and only the second has 'Fire'."),
        (lambda: ALARM.equivalent("[A]"), "A graph is compared with a graph, got str."),
        (lambda: ALARM.shd(ALARM, of="moral"), "The distance must be of 'cpdag' or 'dag', got of='moral'."),
        
        (lambda: ALARM.from_networkx(3), "A networkx DiGraph is needed, got int."),
    ],
)  # fmt: skip
def test_what_is_refused_and_how(make, sentence):
    with pytest.raises(CredoError) as error:
        make()
    assert sentence in str(error.value)
    assert isinstance(error.value, (InputError, UnknownNameError))


@pytest.mark.parametrize(
    ("text", "sentence", "at"),
    [
        ("A", "character 1: expected '[', got 'A'", 0),
        ("[A", "character 3: expected '|' or ']', got the end", 2),
        ("[A][B|A:]", "character 9: expected a name, got ']'", 8),
        ("[A][B|A]x", "character 9: expected '[', got 'x'", 8),
        ("[A][A]", "character 5: the node 'A' has a second pair of brackets", 4),
        ("[A|A]", "character 4: 'A' cannot be its own parent", 3),
        ("[A][B|A:A]", "character 9: the parent 'A' of 'B' is given twice", 8),
        ("[A][B|C]", "character 7: the parent 'C' has no brackets of its own", 6),
        ('["A]', "character 2: this quotation mark is never closed", 1),
    ],
)
def test_parse_points_at_the_character(text, sentence, at):
    with pytest.raises(InputError) as error:
        Dag.parse(text)
    assert sentence in str(error.value)
    assert str(error.value).endswith(f"\n  {text}\n  {' ' * at}^")


def test_parse_is_forgiving_about_spaces_and_order():
    dag = Dag.parse(' [C | A : B ]\n[A] [B|"A"] ')
    assert dag.nodes == ("C", "A", "B") and dag.parents("C") == ("A", "B")
    with pytest.raises(InputError, match="must be a text, got 3"):
        Dag.parse(3)
    assert Dag.parse("") == Dag([])


def test_texts_of_small_and_large_graphs():
    assert repr(Dag.parse("[A][B|A]")) == "Dag.parse('[A][B|A]')"
    large = Dag([(f"v{i}", f"v{i + 1}") for i in range(999)])
    assert repr(large) == "<Dag: 1,000 nodes, 999 edges>"
    assert large.why("v0", "v999", given="v5").paths[0].blockers[0].node == "v5"


def test_a_long_cycle_is_cut_in_the_middle():
    edges = [(f"v{i}", f"v{(i + 1) % 300}") for i in range(300)]
    with pytest.raises(InputError, match=r"v0 → v1 .* → … 282 more … → .* → v299 → v0"):
        Dag(edges)


def test_networkx_is_named_when_it_is_missing(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingPackageError, match="pip install networkx"):
        ALARM.to_networkx()


def test_a_thousand_nodes_are_quick():
    import time

    edges = [(f"v{i}", f"v{j}") for j in range(1000) for i in {j // 2, j // 3, j - 1} if 0 <= i < j]
    start = time.process_time()
    dag = Dag(edges)
    assert dag.cpdag().extension().cpdag() == dag.cpdag()
    assert not dag.d_separated("v1", "v999")
    assert len(dag.why("v1", "v999", given=dag.markov_blanket("v1")).paths) == 10
    assert len(dag.moral().components) == 1
    assert time.process_time() - start < 5


def test_a_cycle_above_many_nodes_is_found():
    below = [f"v{i}" for i in range(150)]
    edges = [("X", "Y"), ("Y", "Z"), ("Z", "X"), *(("Z", v) for v in below)]
    with pytest.raises(
        InputError, match=r"The edges make a cycle: (X → Y → Z → X|Z → X → Y → Z|Y → Z → X → Y)"
    ):
        Dag(edges, nodes=below)


def test_undirected_graphs():
    g = Dag.parse("[A][B|A][C]").skeleton()
    assert g.neighbours("A") == ("B",) and g.neighbours("C") == ()
    assert eval(repr(g), {"UndirectedGraph": UndirectedGraph}) == g and g != "A — B"
    assert str(g) == "A — B, C"
