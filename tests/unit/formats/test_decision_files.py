"""Decision networks in files: what is written comes back, what others write is read."""

import pytest
from tests.unit.predict.decisions.test_solving import pigs, wildcatter

import credo as cr
from credo.formats import dumps, loads

FORMATS = ("xdsl", "net", "xmlbif", "credo")

GENIE = """<smile version="1.0" id="N"><nodes>
  <cpt id="Oil"><state id="dry"/><state id="wet"/><probabilities>0.6 0.4</probabilities></cpt>
  <decision id="Drill"><state id="yes"/><state id="no"/></decision>
  <utility id="Cost"><parents>Drill</parents><utilities>-10 0</utilities></utility>
  <utility id="Gain"><parents>Drill Oil</parents><utilities>-5 50 0 0</utilities></utility>
  <mau id="Total"><parents>Cost Gain</parents><weights>1 2</weights></mau>
</nodes></smile>"""

HUGIN = """net { }
node Oil { states = ("dry" "wet"); }
decision Drill { states = ("yes" "no"); }
utility Gain { }
potential (Oil) { data = (0.6 0.4); }
potential (Drill | Oil) { }
potential (Gain | Drill Oil) { data = ((-5 50) (0 0)); }
"""


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("memory", ["full", "limited"])
def test_what_is_written_comes_back(format, memory):
    for d in (pigs(memory), wildcatter(memory=memory)):
        back = loads(dumps(d, format), format)
        assert back == d and back.decisions == d.decisions
        assert back.solve().utility == d.solve().utility


@pytest.mark.parametrize("format", FORMATS)
def test_odd_names_and_types_come_back(format):
    d = cr.DecisionNetwork(
        '["1 a|b"]["act: now"?|"1 a|b"]["worth <"$|"1 a|b":"act: now"]',
        {"1 a|b": {1: 0.25, 2: 0.75}},
        decisions={"act: now": [True, False]},
        utilities={"worth <": [[1.5, -0.1], [0, 1e-3]]},
    )
    assert loads(dumps(d, format), format, types=True) == d


def test_a_credo_file_holds_all_of_it(tmp_path):
    rows = {"A": ["x", "y", "x"], "B": [0, 1, 1]}
    net = cr.fit("[A][B|A]", rows, prior=cr.BDeu(1))
    d = net.decide(
        {"D|B": ["l", "r"]}, {"U|D:A": [[1, 2], [3, 0]], "V|D": [2, 1]},
        combine="multiply", costs={"B": 0.1},
    )  # fmt: skip
    d.save(tmp_path / "d.credo")
    back = cr.load(tmp_path / "d.credo")
    assert back == d and back.combine == "multiply" and dict(back.costs) == {"B": 0.1}
    found, again = d.solve(), back.solve()
    assert again.interval == found.interval  # the posterior came with it
    for format, said in (("net", "costs of observing"), ("bif", "decisions and utilities")):
        with pytest.raises(cr.errors.InputError, match=f"cannot hold {said}"):
            dumps(d, format)


def test_a_weighted_sum_of_genie_and_the_arrows_of_hugin():
    found = loads(GENIE, "xdsl").solve()
    assert found.utility == pytest.approx(-10 + 2 * (-5 * 0.6 + 50 * 0.4))
    d = loads(HUGIN, "net")
    assert d.sees("Drill") == ("Oil",) and d.solve().utility == pytest.approx(20)


@pytest.mark.parametrize(
    ("text", "format", "old", "new", "says"),
    [
        (GENIE, "xdsl", "-5 50 0 0", "-5 50 0", "utility 'Gain' needs 4 numbers, got 3"),
        (GENIE, "xdsl", "-5 50 0 0", "-5 50 0 inf", "of the utility 'Gain' is not finite"),
        (GENIE, "xdsl", "<weights>1 2", "<weights>1", "'Total' needs 2 weights"),
        (GENIE, "xdsl", "Cost Gain", "Cost Oil", "'Total' is not a weighted sum of utilities"),
        (GENIE, "xdsl", "Drill Oil", "Drill Oli", "Variable 'Oli' is not declared"),
        (HUGIN, "net", "(Gain | Drill Oil) { data = ((-5 50) (0 0)); }", "(Drill | Oil) { }",
         "The utility 'Gain' has no numbers"),
        (HUGIN, "net", "utility Gain", "utility Oil", "'Oil' is declared twice"),
        (HUGIN, "net", "(Drill | Oil)", "(Drill | Gain)", "Variable 'Gain' is not declared"),
    ],
)  # fmt: skip
def test_what_is_refused(text, format, old, new, says):
    assert old in text
    with pytest.raises(cr.errors.CredoError, match=says):
        loads(text.replace(old, new), format)
