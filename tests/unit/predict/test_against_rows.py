"""A confident answer that the training rows speak against says so; an interval says what it leaves out."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import credo as cr
from credo.cli import app
from credo.stats.pair_counts import MOST, pair_counts, pair_of

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
    known = cr.em("[b][a|b][c]", rows, prior=cr.BDeu(1), rng=0, draws=0)
    (note,) = known.ask("P(a=yes | b=high)", interval=0.95).notes
    assert note == "the interval takes the gaps as EM filled them: it leaves out how sure that is"
    learned = cr.learn(rows)
    details = {k: v for k, v in learned.record.details.items() if k != "completions"}
    filled = learned.with_record(replace(learned.record, details=details))
    (note,) = filled.ask("P(a=yes | b=high)", interval=0.95).notes
    assert "the learned graph and the gaps as EM filled them" in note


def test_gaps_that_em_drew_are_included_and_the_answer_says_so():
    rows = {n: list(ROWS[n]) for n in "abc"}
    rows["a"][:100] = [None] * 100
    known = cr.em("[b][a|b][c]", rows, prior=cr.BDeu(1), rng=0)
    (note,) = known.ask("P(a=yes | b=high)", interval=0.95).notes
    assert note == "the interval includes what the gaps leave uncertain"
    (note,) = cr.learn(rows).ask("P(a=yes | b=high)", interval=0.95).notes
    assert note == (
        "the interval is given the learned graph, whose uncertainty it leaves out, and includes "
        "what the gaps leave uncertain"
    )


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
