"""What the readers of XML files understand besides what we write ourselves."""

import pytest

from credo.errors import InputError, LimitError, UnknownNameError
from credo.formats import Limits, dumps, loads

XMLBIF = """<?xml version="1.0" encoding="US-ASCII"?>
<!DOCTYPE BIF [
  <!ELEMENT BIF (NETWORK)*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NAME (#PCDATA)>
  <!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
]>
<BIF VERSION="0.3"><NETWORK><NAME>Dog</NAME>
<!-- a comment -->
<VARIABLE><NAME> light-on </NAME><OUTCOME>t &lt; 1</OUTCOME><OUTCOME>f</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>out</NAME><OUTCOME>t</OUTCOME><OUTCOME>f</OUTCOME></VARIABLE>
<DEFINITION><FOR>light-on</FOR><GIVEN>out</GIVEN><TABLE>0.6 0.4 <!-- x --> 0.05 0.95</TABLE></DEFINITION>
<DEFINITION><FOR>out</FOR><TABLE>0.15, 0.85</TABLE></DEFINITION>
</NETWORK></BIF>"""


def test_xmlbif_with_a_plain_document_type():
    for text in (XMLBIF, XMLBIF.encode()):
        net = loads(text, "xmlbif")
        assert net.names == ("light-on", "out")
        assert net.variable("light-on").states == ("t < 1", "f")
        assert net.cpt("light-on")["f"]["f"] == 0.95
    slow = loads(XMLBIF.replace("0.6 0.4 <!-- x --> 0.05 0.95", "0.6 0.05 0.4 0.95"), "xmlbif")
    assert slow.cpt("light-on").values.tolist() == net.cpt("light-on").values.tolist()
    assert "lists the child slowest" in slow.record.notes[0]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "<!ELEMENT NAME (#PCDATA)>",
            '<!ENTITY a "b">',
            "line 5: The entity 'a' is declared; entities are not read",
        ),
        ("<!ELEMENT NAME (#PCDATA)>", '<!ENTITY % a "b">', "line 5: The entity 'a' is declared"),
        (
            "<!ELEMENT NAME (#PCDATA)>",
            '<!ENTITY a SYSTEM "file:///etc/passwd">',
            "line 5: The entity 'a' is declared",
        ),
        ("<NAME>Dog", "<NAME>&undeclared;", "line 8: "),
        (
            'TYPE="nature"',
            'TYPE="decision"',
            "A decision network needs a utility; there is none",
        ),
        ("<FOR>out</FOR>", "", "line 13: DEFINITION needs one FOR, got 0"),
        ("<NAME>out</NAME>", "", "VARIABLE needs one NAME, got 0"),
        (
            "<TABLE>0.15, 0.85</TABLE>",
            "",
            "line 13: The definition of 'out' needs one TABLE, got 0",
        ),
        ("0.15, 0.85", "1", "line 13: The table of 'out' needs 2 numbers, got 1"),
        ("US-ASCII", "no-such-encoding", "The XML cannot be read"),
        ("</NETWORK>", "</NETWORK><NETWORK></NETWORK>", "Expected one NETWORK inside BIF, got 2"),
        ("light-on </NAME>", "light-on \u00e9 </NAME>", "The XML cannot be read"),
        ("</BIF>", "", "line 14: The XML cannot be read"),
    ],
)
def test_xmlbif_refusals(old, new, says):
    assert old in XMLBIF
    with pytest.raises(InputError, match=says):
        loads(XMLBIF.replace(old, new, 1).encode(), "xmlbif")


def test_xml_entities_from_outside_are_refused():
    text = XMLBIF.replace("<!DOCTYPE BIF [", '<!DOCTYPE BIF SYSTEM "http://127.0.0.1:9/x.dtd" [')
    assert loads(text, "xmlbif").names == ("light-on", "out")  # nothing is fetched
    with pytest.raises(InputError, match="An entity from outside the file is not read"):
        loads(text.replace("<NAME>Dog", "<NAME>&outside;"), "xmlbif")


@pytest.mark.parametrize("format", ["xmlbif", "xdsl"])
def test_billion_laughs_and_deep_nesting(format):
    laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><x>&b;</x>'
    with pytest.raises(InputError, match="line 1: The entity 'a' is declared"):
        loads(laughs, format)
    with pytest.raises(LimitError, match="nested too deeply; at most 100"):
        loads("<a>" * 100_000, format)
    with pytest.raises(LimitError, match="at most 2 are"):
        loads("<a><b><c/></b></a>", format, limits=Limits(nesting=2))


def test_too_many_elements(monkeypatch):
    monkeypatch.setattr("credo.formats.xml_tree.MAX_ELEMENTS", 3)
    with pytest.raises(LimitError, match="more than 3 names in the file"):
        loads("<a><b/><b/><b/></a>", "xdsl")


XDSL = """<?xml version="1.0" encoding="ISO-8859-1"?>
<smile version="1.0" id="N" numsamples="1000">
 <nodes>
  <cpt id="Success" diagtype="target"><state id="Yes"/><state id="No"/>
   <probabilities>0.2 0.8</probabilities></cpt>
  <cpt id="Forecast"><state id="Good"/><state id="Mid"/><state id="Poor"/>
   <parents>Success</parents><probabilities>0.4 0.4 0.2 0.1 0.3 0.6</probabilities></cpt>
  <deterministic id="Both"><state id="a"/><state id="b"/>
   <parents>Success Forecast</parents><resultingstates>a a b b b a</resultingstates></deterministic>
 </nodes>
 <extensions><genie version="1.0" app="GeNIe" name="N"><node id="Both"/></genie></extensions>
</smile>"""


def test_xdsl_of_genie():
    net = loads(XDSL.encode("latin-1"), "xdsl")
    assert net.names == ("Success", "Forecast", "Both")
    assert net.cpt("Forecast")["No"]["Poor"] == 0.6
    assert net.cpt("Both")["Yes", "Poor"]["b"] == 1
    assert net.cpt("Both")["No", "Poor"]["a"] == 1


def test_xdsl_of_agrum_counts_the_first_parent_fastest():
    text = XDSL.replace('app="GeNIe"', 'app="aGrUM 3.3.1"')
    net = loads(text.replace("a a b b b a", "a b a b b a").encode(), "xdsl")
    assert [p.name for p in net.cpt("Both").parents] == ["Forecast", "Success"]
    assert net.cpt("Both").row(Success="No", Forecast="Good")["b"] == 1
    assert "written by aGrUM" in net.record.notes[0]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("<smile", "<smiles", "mismatched tag"),
        ("deterministic", "equation", "'Both' is of the kind 'equation'; only 'cpt', 'deter"),
        ("deterministic", "decision", "A decision network needs a utility; there is none"),
        ("deterministic", "noisymax", "line 8: The node 'Both' needs one 'parameters', got 0"),
        ("</nodes>", "</nodes><dynamic/>", "A dynamic network cannot be read"),
        ("</nodes>", "</nodes><nodes/>", "Expected one element 'nodes', got 2"),
        ("a a b b b a", "a a b b b", "needs 6 states, got 5"),
        ("a a b b b a", "a a b b b c", "line 9: State 'c' is not one of 'Both'"),
        ("<probabilities>0.2 0.8</probabilities>", "", "needs one 'probabilities', got 0"),
        ("0.2 0.8", "0.2", "needs 2 numbers, got 1"),
        ('<cpt id="Success"', "<cpt", "A variable has no name"),
    ],
)
def test_xdsl_refusals(old, new, says):
    assert old in XDSL
    with pytest.raises((InputError, UnknownNameError), match=says):
        loads(XDSL.replace(old, new), "xdsl")
    with pytest.raises(InputError, match="Expected the element 'smile', got 'other'"):
        loads("<other/>", "xdsl")


def test_our_own_order_of_variables_is_kept_in_xdsl(small):
    from credo.model.networks.network import Network

    net = Network(
        [("B", "A")],
        {"A": {"x": {"a": 0.5, "b": 0.5}, "y": {"a": 1.0, "b": 0.0}}, "B": {"x": 0.5, "y": 0.5}},
    )
    assert loads(dumps(net, "xdsl"), "xdsl").names == net.names
