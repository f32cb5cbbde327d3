"""do() on a learned graph says which arrows rows could not decide, where the answer hangs on them."""

import pickle
import warnings

import numpy as np
import pytest

import credo as cr
from credo.errors import CredoWarning
from credo.model.graphs.reversible import hanging_on, reversible

RNG = np.random.default_rng(0)
STATUS = RNG.integers(0, 2, 400)
ROWS = {
    "status": np.where(STATUS == 1, "dead", "alive"),
    "bili": RNG.normal(2 + 3 * STATUS, 1.0),
    "coin": RNG.choice(["h", "t"], 400),
}


def test_an_answer_that_hangs_on_a_reversible_arrow_says_so():
    net = cr.learn(ROWS)
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
        tiers = cr.learn(ROWS, tiers=[["status"], ["bili", "coin"]])
        assert not hasattr(tiers.ask("P(status=dead | do(bili=10))"), "notes")
        cr.fit(net.dag, ROWS).do({"bili": 10.0})
        cr.learn(ROWS, forbidden=[("bili", "status")]).do({"bili": 10.0})


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
        found = cr.learn(ROWS).ask(question, **how)
    (note,) = [n for n in found.notes if "status → bili" in n]
    assert note in str(found) and "status → bili points" in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)).notes == found.notes


def test_an_answer_that_nothing_set_can_reach_says_so():
    """status → bili ← sex is the same in all equivalent graphs, and may still not be causal."""
    rng = np.random.default_rng(1)
    sex = rng.integers(0, 2, 400)
    rows = {
        "status": ROWS["status"],
        "sex": np.where(sex == 1, "f", "m"),
        "bili": rng.normal(2 + 3 * STATUS + 2 * sex, 1.0),
    }
    net = cr.learn(rows)
    assert set(net.dag.edges) == {("status", "bili"), ("sex", "bili")} and not reversible(net)
    found = net.ask("P(status=dead | do(bili=10))")
    assert found == pytest.approx(net.ask("P(status=dead)"))
    (note,) = found.notes
    assert note.startswith("do(bili) changes nothing here: no arrows of the learned graph lead")
    assert not net.ask("P(status | do(sex=f))").notes  # nor does observing it
    assert not cr.fit(net.dag, rows).ask("P(status | do(bili=10))").notes  # a graph that was given
