"""What a graph says: reasons, independences, factorisation, equivalence, distance."""

import pytest

from credo.errors import InputError, LimitError
from credo.model.graphs.dag import Dag
from credo.model.graphs.equivalence import Cpdag
from credo.model.graphs.statements import Independence, latex_name

ALARM = Dag.parse(
    "[Burglary][Earthquake][Alarm|Burglary:Earthquake][JohnCalls|Alarm][MaryCalls|Alarm]"
)


def test_reasons_name_the_role_of_every_node():
    opened = ALARM.why("Burglary", "Earthquake", given="JohnCalls")
    assert not opened.separated
    assert str(opened) == (
        "Burglary and Earthquake may depend on each other given JohnCalls, by this path:\n"
        "  Burglary → Alarm ← Earthquake\n"
        "    open at Alarm: a collider, its descendant JohnCalls is observed"
    )
    closed = ALARM.why("JohnCalls", "MaryCalls", "Alarm")
    assert closed.separated and closed.paths[0].blockers[0].role == "fork"
    assert str(closed) == (
        "JohnCalls ⊥ MaryCalls | Alarm: every path between them is blocked.\n"
        "  JohnCalls ← Alarm → MaryCalls\n"
        "    blocked at Alarm: a fork, observed"
    )
    assert "nothing can block an edge" in str(ALARM.why("Alarm", "JohnCalls"))
    assert str(Dag.empty(["A", "B"]).why("A", "B")) == ("A ⊥ B: no path joins them.")


def test_reasons_say_when_paths_are_left_out():
    hubs = [f"h{i}" for i in range(6)]
    dag = Dag([(x, h) for h in hubs for x in ("a", "b")])
    assert dag.why("a", "b").complete and len(dag.why("a", "b").paths) == 6
    cut = dag.why("a", "b", paths=2)
    assert not cut.complete and len(cut.paths) == 2
    assert "every path between them is blocked; the first 2 are shown." in str(cut)
    assert "the first is shown." in str(dag.why("a", "b", paths=1))
    with pytest.raises(InputError, match="At least one path must be shown, got paths=0"):
        dag.why("a", "b", paths=0)


@pytest.mark.parametrize(
    ("x", "y", "z", "sentence"),
    [
        ("Alarm", "Alarm", (), "'Alarm' is in the first set and in the second set."),
        ("Alarm", ["JohnCalls"], ["Alarm"], "'Alarm' is in the first set and in given."),
        ("Alarm", "JohnCalls", "JohnCalls", "'JohnCalls' is in the second set and in given."),
        ([], "Alarm", (), "The first set of nodes is empty."),
        ("Alarm", [], (), "The second set of nodes is empty."),
    ],
)
def test_sets_that_overlap_or_are_empty_are_refused(x, y, z, sentence):
    for ask in (ALARM.d_separated, ALARM.why):
        with pytest.raises(InputError) as error:
            ask(x, y, given=z)
        assert sentence in str(error.value)
    with pytest.raises(InputError, match="in the first set and in given"):
        ALARM.d_connected("Alarm", given="Alarm")


def test_independences_of_the_alarm():
    assert [str(s) for s in ALARM.independences()] == [
        "Burglary ⊥ Earthquake",
        "Earthquake ⊥ Burglary",
        "JohnCalls ⊥ Burglary, Earthquake, MaryCalls | Alarm",
        "MaryCalls ⊥ Burglary, Earthquake, JohnCalls | Alarm",
    ]
    pairs = ALARM.independences("pairwise")
    assert len(pairs) == 10 - 4  # each pair that no edge joins, once
    everything = ALARM.independences("all")
    assert all(s in everything for s in pairs)
    assert Independence(("Earthquake",), ("Burglary",)) in everything
    assert everything[0] == everything[:1][0] and hash(everything[0]) is not None
    for s in everything:
        assert ALARM.d_separated(s.x, s.y, s.given)
    assert str(Dag.parse("[A][B|A]").independences()) == "no independences"
    assert everything[0] != "A ⊥ B"


def test_all_independences_are_refused_for_many_nodes():
    dag = Dag.empty([f"v{i}" for i in range(30)])
    with pytest.raises(LimitError, match=r"of 30 nodes would take 116,769,423,360 checks"):
        dag.independences("all")
    with pytest.raises(LimitError, match=r"about 10\^"):
        Dag.empty([f"v{i}" for i in range(100)]).independences("all")
    with pytest.raises(InputError, match="'local', 'pairwise' or 'all', got 'some'"):
        dag.independences("some")


def test_formulas():
    f = ALARM.factorisation()
    assert str(f) == (
        "P(Burglary, Earthquake, Alarm, JohnCalls, MaryCalls) = P(Burglary) P(Earthquake) "
        "P(Alarm | Burglary, Earthquake) P(JohnCalls | Alarm) P(MaryCalls | Alarm)"
    )
    assert r"P(\text{JohnCalls} \mid \text{Alarm})" in f.latex
    assert f._repr_latex_().startswith("$P(")
    assert latex_name("x_12") == "x_{12}" and latex_name("50%") == r"\text{50\%}"
    statements = Dag.parse("[x1][x2|x1][x3|x2]").independences("all")
    assert statements.latex == r"x_{1} \perp x_{3} \mid x_{2}"
    assert statements[0]._repr_latex_() == f"${statements.latex}$"
    assert "gathered" in statements._repr_latex_()


def test_equivalence_and_distance():
    a, b, c = (Dag.parse(t) for t in ("[A][B|A][C|B]", "[A|B][B|C][C]", "[A][B|A:C][C]"))
    assert a.equivalent(b) and not a.equivalent(c)
    assert (a.shd(b), a.shd(b, of="dag")) == (0, 2)
    assert (a.shd(c), a.shd(c, of="dag")) == (2, 1)
    assert c.v_structures() == (("A", "B", "C"),) and a.v_structures() == ()
    assert c.compare(a).reversed == (("C", "B"),) and c.compare(a).shared == (("A", "B"),)
    assert c.compare(Dag.parse("[A][B][C|A]")).missing == c.edges
    assert c.compare(Dag.parse("[A][B][C|A]")).extra == (("A", "C"),)
    many = Dag([("a", f"b{i}") for i in range(20)])
    assert "… 8 more" in str(many.compare(many))


def test_compare_takes_whatever_has_a_graph():
    import credo as cr

    text, dag = "[A][B|A][C|B]", Dag.parse("[A][B|A][C|A:B]")
    found = cr.compare(text, dag)
    assert found == Dag.parse(text).compare(dag)
    assert (found.shd, found.distance, found.extra) == (1, 1, (("A", "C"),))
    net = cr.fit(dag, {"A": [0, 1, 1], "B": [1, 0, 1], "C": [0, 0, 1]}, cr.Laplace(1))
    assert cr.compare(net, net).shd == 0 and cr.compare(net, net).shared == dag.edges
    assert "SHD 1: 2 shared, 0 reversed, 0 missing, 1 extra" in found._repr_html_()
    with pytest.raises(InputError, match="a Dag, a Network or text, got int"):
        cr.compare(3, dag)
    with pytest.raises(InputError, match="only the second has 'C'"):
        cr.compare("[A][B]", text)


def test_cpdag_of_asia():
    asia = Dag.parse(
        "[asia][tub|asia][smoke][lung|smoke][bronc|smoke][either|lung:tub][xray|either][dysp|bronc:either]"
    )
    c = asia.cpdag()
    assert set(c.undirected) == {("asia", "tub"), ("smoke", "lung"), ("smoke", "bronc")}
    assert c.extension().cpdag() == c and str(Dag.empty(["A"]).cpdag()) == "A"
    assert c != "c" and eval(repr(c)) == c and hash(eval(repr(c))) == hash(c)
    with pytest.raises(InputError, match="Two edges are given between 'A' and 'B'"):
        Cpdag([("A", "B")], [("B", "A")])
    with pytest.raises(InputError, match="No DAG extends this graph"):
        Cpdag([("A", "B"), ("B", "C"), ("C", "A")], []).extension()
