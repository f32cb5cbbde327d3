"""Netica files, which are read and not written."""

import pytest

from credo.errors import InputError, LimitError, UnknownNameError
from credo.formats import Limits, dumps, load, loads

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
