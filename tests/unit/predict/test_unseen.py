"""Answers that rest on configurations of parents without a row say so."""

import pickle

import pytest

import credo as cr
from credo.errors import ImpossibleError

ROWS = {
    "sun": ["no", "yes", "no"] * 3,
    "wind": ["no", "no", "yes"] * 3,
    "sail": ["n", "n", "y"] * 3,
}
GRAPH = "[sun][wind][sail|sun:wind][log|sail]"
ROWS["log"] = ROWS["sail"]
NET = cr.fit(GRAPH, ROWS, prior=cr.BDeu(1))
NOTE = "no row has sun=yes, wind=yes: P(sail | sun, wind) is the prior alone there"


def test_a_configuration_that_is_given():
    found = NET.p("sail", {"sun": "yes", "wind": "yes"})
    assert found.notes == (NOTE,)
    assert str(found).endswith("\n" + NOTE) and NOTE in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)).notes == (NOTE,)
    assert NET.p("sail", {"sun": "yes", "wind": "no"}).notes == ()


def test_a_probability_is_a_float_with_a_note():
    found = NET.ask("P(sail=y | sun=yes, wind=yes)")
    assert isinstance(found, float) and abs(found - 0.5) < 1e-12 and found.notes == (NOTE,)
    assert str(found) == f"0.5\n{NOTE}" and pickle.loads(pickle.dumps(found)).notes == (NOTE,)
    assert type(NET.ask("P(sail=y | sun=yes, wind=no)")) is float
    assert NET.p({"sail": "y"}, {"sun": "yes", "wind": "yes"}).notes == (NOTE,)


def test_the_share_that_rests_on_it():
    (note,) = NET.p("sail", {"sun": "yes"}).notes
    assert note == f"{NOTE} (35% of the answer)"
    (note,) = NET.p("sun", {"sail": "y"}).notes  # its likelihood is not known either
    assert note.startswith(NOTE)


def test_only_tables_that_the_answer_depends_on():
    assert NET.p("sun").notes == ()  # nothing below was observed
    assert NET.p("log", {"sail": "y", "sun": "yes", "wind": "yes"}).notes == ()
    found = NET.marginals({"sun": "yes", "wind": "yes"})
    assert found["sail"].notes == (NOTE,) and found["log"].notes == (NOTE,)
    assert NET.marginals()["wind"].notes == ()


def test_an_intervention_and_an_interval():
    assert NET.ask("P(sail | do(sun=yes, wind=yes))").notes == (NOTE,)
    assert NET.ask("P(sail | sun=yes, wind=yes)", interval=0.9).notes == (NOTE,)


def test_a_report_opens_what_meets_there():
    report = {"sail": {"n": 0.1, "y": 0.9}}
    assert NET.p("sail", report).notes and NET.p("sun", report).notes
    assert NET.p("sun", {"wind": "yes"}).notes == ()


def test_small_weights_are_not_worth_a_word():
    rows = {"a": [1] + [0] * 199, "b": [0, 0, 1, 0] * 50, "c": [0, 1, 1, 0] * 50}
    net = cr.fit("[a][b][c|a:b]", rows, prior=cr.BDeu(1))
    assert net.p("c").notes == ()  # P(a=1, b=1) is 0.002
    assert net.p("c", {"a": 1, "b": 1}).notes


def test_lines_too():
    rows = {"g": ["a", "b"] * 20, "h": ["u", "u", "u", "v"] * 10, "s": ["a", "b"] * 20}
    rows["x"] = [10 * (i % 2) + 30 * (i % 4 == 3) + i % 3 for i in range(40)]
    net = cr.fit("[g][h][x|g:h][s|g]", rows, prior=cr.BDeu(1))  # g=a, h=v has no row
    (note,) = net.p("s", {"x": 33.0}).notes
    said = "no row has g=a, h=v: P(x | g, h) is taken there from what each of these does elsewhere"
    assert note.startswith(said)
    line = net.distributions["x"]
    assert line.intercept[0, 1] > 30 > 2 * sum(rows["x"]) / 40  # not that of all rows together
    net = cr.fit("[h][x|h]", cr.read(rows, {"h": ["u", "v", "w"]}), prior=cr.BDeu(1))
    (note,) = net.p("x", {"h": "w"}).notes
    assert note == "no row has h=w: P(x | h) is that of all rows together there"


def test_under_maximum_likelihood_it_is_uniform():
    (note,) = cr.fit(GRAPH, ROWS).p("sail", {"sun": "yes", "wind": "yes"}).notes
    assert note == "no row has sun=yes, wind=yes: P(sail | sun, wind) is uniform there"


@pytest.mark.parametrize("method", ["exact", "importance"])
def test_zeros_that_are_counts_are_said_to_be(method):
    net = cr.fit("[wind][sail|wind]", ROWS)
    with pytest.raises(ImpossibleError) as no:
        net.log_evidence({"wind": "no", "sail": "y"}, method=method)
    assert str(no.value) == (
        "The evidence has probability zero: wind=no and sail=y cannot be true together. No row "
        "shows it, and maximum likelihood gives that 0 (in sail). Learn with a prior, which leaves "
        "it possible: cr.fit(net, rows, prior=cr.BDeu(1))."
    )
    assert cr.fit(net, ROWS, prior=cr.BDeu(1)).log_evidence({"wind": "no", "sail": "y"}) > -5


def test_models_that_were_not_learned_say_nothing():
    net = cr.Network("[a][b|a]", {"a": 0.5, "b": {False: 0.0, True: 1.0}})
    assert net.p("b", {"a": True}).notes == ()
    with pytest.raises(ImpossibleError, match="Leave one of them out"):
        net.log_evidence({"a": True, "b": False})
