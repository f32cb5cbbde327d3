"""OpenMarkov files, which are read and not written."""

import pytest

from credo.errors import InputError
from credo.formats import load, loads

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
def test_refusals(old, new, says):
    count = -1 if old == "ProbModelXML" else 1
    with pytest.raises(InputError, match=says):
        loads(PGMX.replace(old, new, count), "pgmx")
