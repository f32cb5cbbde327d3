"""Netica, OpenMarkov and GeNIe's noisy-MAX: read, and expanded."""

import itertools

import numpy as np
import pytest

from credo.errors import InputError, LimitError, UnknownNameError
from credo.formats import Limits, dumps, load, loads
from credo.formats.noisy_max import expand

# --- Netica files, which are read and not written ---


DNE = r"""// ~->[DNET-1]->~
// File created by someone using Netica 5.12
bnet Alerts {
AutoCompile = TRUE;
comment = "A \"quoted\" word; and a brace }";
visual V1 {
    nodefont = font {shape= "Arial"; size= 9;};
    NodeSet Node {BuiltIn = 1; Color = 0x00C0C0C0;};
    };

node Threat {
    kind = NATURE;
    discrete = TRUE;
    chance = CHANCE;
    states = (True, False);
    statetitles = ("Match Threat", "No Match");
    parents = ();
    probs =
        // Match Threat  No Match
          (0.25,         0.75);
    numcases = 50000;
    };

node Load {
    kind = NATURE;
    discrete = FALSE;
    chance = CHANCE;
    levels = (0, 0.5, 10, INFINITY);
    parents = (Threat);
    probs =
        // 0 to 0.5     0.5 to 10     10 to INFINITY
          ((0.1,        0.2,          0.7),     // True
           (0.5,        0.4,          0.1));    // False ;
    visual V1 {
        center = (660, 54);
        link 1 {path = ((546, 91), (387, 140)); };
        };
    };

node Alert {
    chance = DETERMIN;
    states = (on, off);
    levels = (1, 0);
    parents = (Threat, Load);
    functable = (on, off, #0, 1, 0, off);
    title = "Alert";
    };

node Level {
    discrete = FALSE;
    chance = DETERMIN;
    levels = (0, 1, 2);
    parents = (Alert);
    functable = (1.5, 0.25);
    };

node Title1 {
    kind = CONSTANT;
    discrete = FALSE;
    };
ElimOrder = (Threat, Load);
};
"""


def test_a_file_of_netica(tmp_path):
    net = loads(DNE, "dne")
    assert net.names == ("Threat", "Load", "Alert", "Level")
    assert net.variable("Load").states == ("0 to 0.5", "0.5 to 10", "10 to INFINITY")
    assert net.cpt("Threat").values.tolist() == [0.25, 0.75]
    assert net.cpt("Load").values.tolist() == [[0.1, 0.2, 0.7], [0.5, 0.4, 0.1]]
    assert net.cpt("Alert").values[..., 0].tolist() == [[1, 0, 1], [1, 0, 0]]
    assert net.cpt("Level").values.tolist() == [[0, 1], [1, 0]]
    assert net.record.notes == ("the constant 'Title1' was left out",)
    for ending in ("dne", "dnet"):
        (tmp_path / f"a.{ending}").write_text(DNE, encoding="utf-8")
        assert load(tmp_path / f"a.{ending}") == net


def test_it_is_not_written(tmp_path):
    net = loads(DNE, "dne")
    with pytest.raises(InputError, match=r"read, not written\. Save the model as \.net or \.xdsl"):
        net.save(tmp_path / "a.dne")
    with pytest.raises(UnknownNameError, match="'dne' is not one that is read and written"):
        dumps(net, "dne")
    assert loads(dumps(net, "net"), "net") == net


def test_rows_that_cannot_be_are_uniform():
    text = DNE.replace("(0.5,        0.4,          0.1)", "(@imposs, @imposs, @imposs)")
    net = loads(text, "dne")
    assert net.cpt("Load").values[1].tolist() == [1 / 3] * 3
    assert "rows of 'Load' that cannot be were read as uniform" in net.record.notes


def test_a_node_without_a_table_is_uniform_as_in_netica():
    """Of this file Netica says P(D | Fpp=p1) = 0.5208104."""
    text = """bnet testModel { node D { states = (d1, d2); parents = (); };
    node E { states = (e1, e2); parents = (D); probs = (0.9, 0.1, 0.4, 0.6); };
    node F { states = (f1, f2); parents = (D); probs = (0.3, 0.7, 0.1, 0.9); };
    node Fpp { states = (p1, p2); parents = (E, F); evidence = p1;
    probs = (0.17272, 0.82728, 0.17272, 0.82728, 0.5357, 0.4643, 0.1189712, 0.8810288); }; };"""
    net = loads(text, "dne")
    assert net.p("D", given={"Fpp": "p1"})["d1"] == pytest.approx(0.5208104, abs=1e-7)
    notes = ("'D' has no table, and is uniform", "findings were left out: Fpp=p1")
    assert net.record.notes == notes


def test_states_that_have_no_names():
    text = "bnet x { node A { numstates = 2; probs = (0.5, 0.5); }; node B { levels = (1, 2.5);\n"
    net = loads(text + "probs = (0.5, 0.5); }; }", "dne")
    assert net.variable("A").states == ("#0", "#1")
    assert net.variable("B").states == ("1", "2.5")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("bnet Alerts", "net Alerts", "line 3: A Netica file starts with 'bnet', got 'net'"),
        ("kind = NATURE", "kind = DECISION", "'Threat' is of the kind 'DECISION': decisions and"),
        ("kind = NATURE", "kind = UTILITY", "not to a Bayesian network, and are not read yet"),
        ("kind = NATURE", "kind = OTHER", "'Threat' is of the kind 'OTHER', which is not read"),
        ("levels = (0, 0.5, 10, INFINITY);", "", "line 24: The node 'Load' is continuous, and no"),
        (
            "states = (on, off);\n    levels = (1, 0);",
            "",
            "line 40: The node 'Alert' has no states",
        ),
        ("(0.25,         0.75)", "(0.25, 0.7)", r"line 1\d: The probabilities of 'Threat' add up"),
        ("(0.25,         0.75)", "(0.25)", "The table of 'Threat' needs 2 numbers, got 1"),
        (
            "probs =\n        // Match",
            "equation =\n        // Match",
            "line 11: The node 'Threat' is told by an equ",
        ),
        ("(Threat, Load)", "(Threat, Loud)", "line 40: Variable 'Loud' is not declared in"),
        ("(Threat, Load)", "(Threat, Alert)", "'Alert' is its own parent"),
        ("(on, off, #0, 1, 0, off)", "(on, off)", "needs 6 states, got 2"),
        ("#0, 1, 0", "#2, 1, 0", "State '#2' is not one of 'Alert'"),
        ("(1.5, 0.25)", "(2.5, 0.25)", "State '2.5' is not one of 'Level'"),
        ("parents = ();", "parents = (); parents = ();", "The node 'Threat' has two 'parents'"),
        ("ElimOrder = (Threat, Load);\n};", "", "The file ends|Expected"),
        ("center = (660, 54);", 'center = "open;', "line 34: The file ends inside 'visual'"),
        ("AutoCompile = TRUE", '"AutoCompile" = TRUE', "Expected an attribute, got a text in quo"),
    ],
)
def test_refusals(old, new, says):
    assert old in DNE
    with pytest.raises((InputError, UnknownNameError), match=says):
        loads(DNE.replace(old, new, 1), "dne")


def test_a_number_of_states_is_limited():
    with pytest.raises(LimitError, match="has 2,147,483,647 states"):
        loads("bnet x { node A { numstates = 2147483647; }; };", "dne")
    with pytest.raises(LimitError, match="'A' has 3 states"):
        loads("bnet x { node A { states = (a, b, c); }; };", "dne", limits=Limits(states=2))


def test_a_file_cut_anywhere_is_refused():
    whole = loads(DNE, "dne")
    for at in range(len(DNE) - 4):
        try:
            net = loads(DNE[:at], "dne")
        except (InputError, UnknownNameError):
            continue
        assert net == whole


# --- OpenMarkov files, which are read and not written ---


PGMX = """<?xml version="1.0" encoding="UTF-8"?>
<ProbModelXML formatVersion="0.2.0"><ProbNet type="BayesianNetwork"><Variables>
 <Variable name="Either" type="finiteStates" role="chance"><States>
  <State name="no"/><State name="yes"/></States></Variable>
 <Variable name="Bronchitis" type="finiteStates" role="chance"><States>
  <State name="no"/><State name="yes"/></States></Variable>
 <Variable name="Dyspnea" type="finiteStates" role="chance"><States>
  <State name="no"/><State name="yes"/></States></Variable></Variables>
 <Links><Link directed="true"><Variable name="Either"/><Variable name="Dyspnea"/></Link></Links>
 <Potentials>
  <Potential type="Uniform" role="conditionalProbability"><Variables>
   <Variable name="Either"/></Variables></Potential>
  <Potential type="Table" role="conditionalProbability"><Variables>
   <Variable name="Bronchitis"/></Variables><Values>0.55 0.45</Values></Potential>
  <Potential type="Table" role="conditionalProbability"><Variables>
   <Variable name="Dyspnea"/><Variable name="Either"/><Variable name="Bronchitis"/></Variables>
   <Values>0.9 0.1 0.3 0.7 0.2 0.8 0.1 0.9</Values></Potential>
 </Potentials></ProbNet></ProbModelXML>"""


def test_a_file_of_openmarkov(tmp_path):
    """The numbers of Lauritzen and Spiegelhalter (1988): 0.7 if either, 0.8 if bronchitis."""
    net = loads(PGMX, "pgmx")
    assert net.cpt("Either").values.tolist() == [0.5, 0.5]
    assert net.cpt("Dyspnea").row(Either="yes", Bronchitis="no")["yes"] == 0.7
    assert net.cpt("Dyspnea").row(Either="no", Bronchitis="yes")["yes"] == 0.8
    (tmp_path / "asia.pgmx").write_text(PGMX)
    assert load(tmp_path / "asia.pgmx") == net
    with pytest.raises(InputError, match=r"a file of OpenMarkov; these are read, not written"):
        net.save(tmp_path / "asia.pgmx")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("BayesianNetwork", "MarkovNetwork", "line 2: The network is of the type 'MarkovNetwork'"),
        ('role="chance"', 'role="decision"', "line 3: The node 'Either' is of the kind 'decision'"),
        ("0.55 0.45", "0.55 0.4", "line 14: The probabilities of 'Bronchitis' add up to 0.95"),
        ("0.55 0.45", "1", "The table of 'Bronchitis' needs 2 numbers, got 1"),
        ('type="Uniform"', 'type="Tree"', "The potential of 'Either' is of the type 'Tree'"),
        ("<Values>0.55 0.45</Values>", "", "'Bronchitis' is of the type 'Table'; only a 'Table'"),
        ('<Variable name="Either"/></Variables></Potential>', "</Variables></Potential>", "names"),
        ("ProbModelXML", "Other", "Expected one ProbNet in ProbModelXML, got 1 in 'Other'"),
    ],
)
def test_refusals_pgmx(old, new, says):
    count = -1 if old == "ProbModelXML" else 1
    with pytest.raises(InputError, match=says):
        loads(PGMX.replace(old, new, count), "pgmx")


# --- Noisy-MAX nodes of GeNIe: expanded to tables, kept for writing back ---


XDSL = """<smile version="1.0" id="N"><nodes>
 <cpt id="Smoker"><state id="Two"/><state id="One"/><state id="No"/>
  <probabilities>0.1 0.2 0.7</probabilities></cpt>
 <cpt id="Diet"><state id="Good"/><state id="Bad"/><state id="Mid"/>
  <probabilities>0.5 0.2 0.3</probabilities></cpt>
 <noisymax id="Cancer"><state id="Malignant"/><state id="Benign"/><state id="No"/>
  <parents>Smoker Diet</parents><strengths>0 1 2 1 2 0</strengths>
  <parameters>0.23 0.25 0.52 0.11 0.14 0.75 0 0 1 0.04 0.63 0.33 0.13 0.22 0.65 0 0 1
   0.005 0.015 0.98</parameters></noisymax></nodes></smile>"""


def brute(columns: np.ndarray, strengths: list[list[int]], arities: list[int]) -> np.ndarray:
    """The table by its story: each parent and the leak draw a state, the strongest (first) wins."""
    k = columns.shape[1]
    out = np.zeros((*arities, k))
    for states in itertools.product(*map(range, arities)):
        starts = np.cumsum([0, *arities])
        own = [columns[starts[i] + strengths[i].index(s)] for i, s in enumerate(states)]
        for drawn in itertools.product(range(k), repeat=len(own) + 1):
            p = np.prod([c[y] for c, y in zip([*own, columns[-1]], drawn, strict=True)])
            out[(*states, min(drawn))] += p
    return out


def test_a_node_is_expanded():
    net = loads(XDSL, "xdsl")
    table = net.cpt("Cancer")
    # all parents in their weakest state: the leak alone
    assert table.row(Smoker="No", Diet="Good").values() == pytest.approx([0.005, 0.015, 0.98])
    # a smoker of two packs on a medium diet: the columns 0.23 0.25 0.52 and 0.13 0.22 0.65
    row = table.row(Smoker="Two", Diet="Mid")
    assert row["No"] == pytest.approx(0.52 * 0.65 * 0.98)
    assert row["Malignant"] == pytest.approx(1 - 0.77 * 0.87 * 0.995)


def test_the_table_is_that_of_the_story():
    rng = np.random.default_rng(3)
    columns = rng.dirichlet(np.ones(4), size=8)
    strengths = [[1, 0], [2, 0, 1], [1, 0]]
    table = expand(columns, [s for one in strengths for s in one], [2, 3, 2])
    assert table == pytest.approx(brute(columns, strengths, [2, 3, 2]), abs=1e-15)


def test_it_is_written_back_as_it_was():
    net = loads(XDSL, "xdsl")
    text = dumps(net, "xdsl")
    assert "<strengths>0 1 2 1 2 0</strengths>" in text
    assert "<parameters>0.23 0.25 0.52 0.11" in text
    again = loads(text, "xdsl")
    assert again == net
    assert dumps(again, "xdsl") == text
    kept = loads(dumps(net, "credo"), "credo")
    assert dumps(kept, "xdsl") == text
    # in another format it is a table, and a table it stays
    assert "noisymax" not in dumps(loads(dumps(net, "bif"), "bif"), "xdsl")


def test_a_changed_table_is_written_as_a_table():
    net = loads(XDSL, "xdsl")
    other = net.do({"Cancer": "No"}) if hasattr(net, "do") else net
    assert "<noisymax" not in dumps(other, "xdsl")
    odd = net.with_record(
        type(net.record)(how="h", details={"noisy-max": {"Cancer": {"strengths": "x"}}})
    )
    assert "<noisymax" not in dumps(odd, "xdsl")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("0 1 2 1 2 0", "0 1 2 1 2 2", "must name each of the 3 states of 'Diet'"),
        ("0 1 2 1 2 0", "0 1 2 1 2", "must name each of the 3 states of 'Diet'"),
        ("0.015 0.98", "0.995", "needs 6 strengths and 21 parameters, got 6 and 20"),
        ("0 1 2 1 2 0", "0 1 2 1 2 0 0", "needs 6 strengths and 21 parameters, got 7 and 21"),
        ("0.005 0.015", "0.005 0.01", "line 8: The probabilities of 'Cancer' add up to 0.995"),
        ("0.23 0.25", "0.23 x", "line 8: Expected a number, got 'x'"),
    ],
)
def test_refusals_noisy_max(old, new, says):
    with pytest.raises(InputError, match=says):
        loads(XDSL.replace(old, new), "xdsl")


def test_without_strengths_the_columns_are_in_the_order_of_the_states():
    net = loads(XDSL.replace("<strengths>0 1 2 1 2 0</strengths>", ""), "xdsl")
    assert net.cpt("Cancer").row(Smoker="No", Diet="Mid")["No"] == pytest.approx(0.98)
