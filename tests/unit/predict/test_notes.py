"""What an answer says beside its number: rows against it, no rows, arrows that rows cannot decide."""

import json
import pickle
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

import credo as cr
from credo.cli import app
from credo.errors import CredoWarning, ImpossibleError
from credo.model.graphs.reversible import hanging_on, reversible
from credo.stats.pair_counts import MOST, pair_counts, pair_of

# --- A confident answer that the training rows speak against says so; an interval says what it
#     leaves out ---


RNG = np.random.default_rng(3)
B = RNG.integers(0, 3, 600)
ROWS = {
    "a": np.where(RNG.random(600) < np.array([0.5, 0.5, 0.8])[B], "yes", "no"),
    "b": np.array(["low", "mid", "high"])[B],
    "c": RNG.choice(["u", "v"], 600),
    "x": RNG.normal(size=600).round(3),
}
APART = [("a", "b"), ("b", "a"), ("a", "c"), ("c", "a"), ("b", "c"), ("c", "b")]
GRAPH = "the interval is given the learned graph: it leaves out how sure the graph itself is"
SAID = "which leaves out some of what ties a and b"


@pytest.fixture(scope="module")
def net():
    return cr.learn(ROWS, forbidden=APART)


def test_rows_that_speak_against_an_answer_are_quoted(net):
    found = net.ask("P(a=yes | b=high)", interval=0.95)
    high = ROWS["b"] == "high"
    n, yes = int(high.sum()), int((high & (ROWS["a"] == "yes")).sum())
    assert not found.low <= yes / n <= found.high
    assert found.notes[0].startswith(f"P(a=yes | b=high) is {yes / n:.3g} in the training rows ")
    assert f"({yes} of {n}) and {float(found):.3g} by the learned graph, {SAID}" in found.notes[0]
    assert found.notes[1] == GRAPH and all(note in str(found) for note in found.notes)
    assert pickle.loads(pickle.dumps(found)).notes == found.notes
    assert SAID in net.p("a", {"b": "high"}, interval=0.95).notes[0]
    assert SAID in net.p({"a": "yes"}, {"b": {"high"}}, interval=0.95).notes[0]
    assert SAID in net.marginals({"b": "high"}, interval=0.95)["a"].notes[0]
    three = net.ask("P(a=yes | b=high, c=u)", interval=0.95)  # its pairs were counted
    assert "P(a=yes | b=high) is" in three.notes[0]


def test_what_chance_explains_is_not_held_against_an_answer(net):
    assert net.ask("P(a=yes | c=u)", interval=0.95).notes == (GRAPH,)
    assert net.ask("P(c | b=low)", interval=0.95).notes == (GRAPH,)
    assert net.ask("P(a=yes)", interval=0.95).notes == (GRAPH,)
    assert net.ask("P(a=yes | b=high, x=0.1)", interval=0.95).notes == (GRAPH,)
    assert net.ask("P(x | b=high)", interval=0.95).notes == (GRAPH,)
    assert not hasattr(net.ask("P(a=yes | b=high)"), "notes")  # no interval, no claim
    assert cr.learn(ROWS).ask("P(a=yes | b=high)", interval=0.95).notes == (GRAPH,)


def test_a_graph_that_was_given_is_no_uncertainty():
    given = cr.fit("[a][b][c][x]", ROWS, prior=cr.BDeu(1))
    assert given.ask("P(a=yes | b=high)", interval=0.95).notes == ()
    naive = cr.learn(ROWS, search="naive-bayes", target="a")
    assert GRAPH not in naive.ask("P(a=yes | b=high)", interval=0.95).notes


def test_gaps_that_em_filled_are_said_too():
    rows = {n: list(ROWS[n]) for n in "abc"}
    rows["a"][:100] = [None] * 100
    known = cr.em("[b][a|b][c]", rows, prior=cr.BDeu(1), rng=0)
    (note,) = known.ask("P(a=yes | b=high)", interval=0.95).notes
    assert note == "the interval takes the gaps as EM filled them: it leaves out how sure that is"
    (note,) = cr.learn(rows).ask("P(a=yes | b=high)", interval=0.95).notes
    assert "the learned graph and the gaps as EM filled them" in note


def test_the_counts_are_kept_in_a_file_and_told_by_the_command(net, tmp_path):
    path = str(tmp_path / "net.credo")
    net.save(path)
    how = [path, "P(a=yes | b=high)", "--interval", "0.95"]
    printed = CliRunner().invoke(app, ["ask", *how], catch_exceptions=False).output
    assert SAID in printed and GRAPH in printed
    (one,) = json.loads(CliRunner().invoke(app, ["ask", *how, "--json"]).output)["answers"]
    assert SAID in one["notes"][0] and one["notes"][1] == GRAPH


def test_counts_of_pairs():
    table = cr.read({"a": ["x", "y", None, "y"], "b": [0, 1, 1, 1], "c": [5.5, 1.25, 2.5, 3.5]})
    a, b, c = table.schema.variables
    kept = pair_counts(table, (a, b, c))
    assert kept == {"names": ("a", "b"), "counts": [1, 0, 0, 2]}
    assert pair_of(kept, b, a, {"a": 2, "b": 2}).tolist() == [[1, 0], [0, 2]]
    assert pair_of(kept, a, c, {"a": 2, "b": 2}) is None and pair_of({}, a, b, {}) is None
    wide = [cr.Variable(f"w{i}", "discrete", tuple(range(250))) for i in range(2)]
    assert MOST < 250**2 and pair_counts(table, wide) == {}


# --- Answers that rest on configurations of parents without a row say so ---


ROWS_UNSEEN = {
    "sun": ["no", "yes", "no"] * 3,
    "wind": ["no", "no", "yes"] * 3,
    "sail": ["n", "n", "y"] * 3,
}
GRAPH_UNSEEN = "[sun][wind][sail|sun:wind][log|sail]"
ROWS_UNSEEN["log"] = ROWS_UNSEEN["sail"]
NET = cr.fit(GRAPH_UNSEEN, ROWS_UNSEEN, prior=cr.BDeu(1))
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
    rows["x"] = [i % 7 + 0.1 * (i % 3) for i in range(40)]
    net = cr.fit("[g][h][x|g:h][s|g]", rows, prior=cr.BDeu(1))  # g=a, h=v has no row
    (note,) = net.p("s", {"x": 3.0}).notes
    assert note.startswith("no row has g=a, h=v: P(x | g, h) is that of all rows together there")


def test_under_maximum_likelihood_it_is_uniform():
    (note,) = cr.fit(GRAPH_UNSEEN, ROWS_UNSEEN).p("sail", {"sun": "yes", "wind": "yes"}).notes
    assert note == "no row has sun=yes, wind=yes: P(sail | sun, wind) is uniform there"


@pytest.mark.parametrize("method", ["exact", "importance"])
def test_zeros_that_are_counts_are_said_to_be(method):
    net = cr.fit("[wind][sail|wind]", ROWS_UNSEEN)
    with pytest.raises(ImpossibleError) as no:
        net.log_evidence({"wind": "no", "sail": "y"}, method=method)
    assert str(no.value) == (
        "The evidence has probability zero: wind=no and sail=y cannot be true together. No row "
        "shows it, and maximum likelihood gives that 0 (in sail). Learn with a prior, which leaves "
        "it possible: cr.fit(net, rows, prior=cr.BDeu(1))."
    )
    assert cr.fit(net, ROWS_UNSEEN, prior=cr.BDeu(1)).log_evidence({"wind": "no", "sail": "y"}) > -5


def test_models_that_were_not_learned_say_nothing():
    net = cr.Network("[a][b|a]", {"a": 0.5, "b": {False: 0.0, True: 1.0}})
    assert net.p("b", {"a": True}).notes == ()
    with pytest.raises(ImpossibleError, match="Leave one of them out"):
        net.log_evidence({"a": True, "b": False})


# --- do() on a learned graph says which arrows rows could not decide, where the answer hangs on
#     them ---


RNG_REVERSIBLE = np.random.default_rng(0)
STATUS = RNG_REVERSIBLE.integers(0, 2, 400)
ROWS_REVERSIBLE = {
    "status": np.where(STATUS == 1, "dead", "alive"),
    "bili": RNG_REVERSIBLE.normal(2 + 3 * STATUS, 1.0),
    "coin": RNG_REVERSIBLE.choice(["h", "t"], 400),
}


def test_an_answer_that_hangs_on_a_reversible_arrow_says_so():
    net = cr.learn(ROWS_REVERSIBLE)
    assert net.dag.edges == (("status", "bili"),) and reversible(net) == net.dag.edges
    found = net.ask("P(status=dead | do(bili=10))")
    assert found == pytest.approx(net.ask("P(status=dead)"))
    (note,) = found.notes
    assert "which way status → bili points, and the rows do not" in note and note in str(found)
    with pytest.warns(CredoWarning, match="status → bili"):
        net.do({"bili": 10.0})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert net.ask("P(coin | do(bili=10))").notes == ()  # nothing leads there
        assert net.ask("P(status | bili=3)").notes == ()
        tiers = cr.learn(ROWS_REVERSIBLE, tiers=[["status"], ["bili", "coin"]])
        assert not hasattr(tiers.ask("P(status=dead | do(bili=10))"), "notes")
        cr.fit(net.dag, ROWS_REVERSIBLE).do({"bili": 10.0})
        cr.learn(ROWS_REVERSIBLE, forbidden=[("bili", "status")]).do({"bili": 10.0})


def test_only_arrows_at_what_is_set_count():
    """x → c ← y is compelled; c → z too. Setting c speaks of z whatever x — w points."""
    rng = np.random.default_rng(1)
    w, y = rng.integers(0, 2, (2, 3000))
    flip = rng.random((3, 3000)) < 0.1
    x = w ^ flip[0]
    c = (x & y) ^ flip[1]
    z = c ^ flip[2]
    rows = {n: v.astype(str) for n, v in zip("wxycz", (w, x, y, c, z), strict=True)}
    net = cr.learn(rows, "bic")
    assert {frozenset(e) for e in reversible(net)} == {frozenset("wx")}
    assert hanging_on(net, ["c"], ["z"]) == hanging_on(net, ["c"], ["w"]) == ()
    assert hanging_on(net, ["x"], ["z"]) == ()  # its way to z begins with a compelled arrow
    assert len(hanging_on(net, ["x"], ["w"])) == len(hanging_on(net, ["w"], ["z"])) == 1
    assert hanging_on(net, ["w", "x"], ["z"]) == ()


@pytest.mark.parametrize(
    ("question", "how"),
    [
        ("P(status | do(bili=10))", {}),
        ("P(status=dead | do(bili=10))", {"interval": 0.9}),
        ("P(status=dead | do(bili=10))", {"method": "weighting", "budget": "200 samples"}),
        ("P(bili | do(status=dead))", {}),
        ("P(bili | do(status=dead))", {"interval": 0.9}),
        ("P(bili, coin | do(status=dead))", {}),
        ("argmax P(status | do(bili=10))", {}),
    ],
)
def test_every_kind_of_answer_carries_the_note(question, how):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cr.learn(ROWS_REVERSIBLE).ask(question, **how)
    (note,) = [n for n in found.notes if "status → bili" in n]
    assert note in str(found) and "status → bili points" in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)).notes == found.notes
