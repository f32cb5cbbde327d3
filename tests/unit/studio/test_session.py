"""A session answers as the network does, whatever was clicked; it can be undone; late requests do no harm."""

import math
import random

import numpy as np
import pytest

import credo as cr
from credo.errors import CredoError
from credo.studio.beliefs import Asked, moved_bits
from credo.studio.rows import rows_of
from credo.studio.session import Session
from credo.studio.state import State

COLOURS = ["red", "green", "blue"]


def three():
    """A network with states of several kinds, and one zero."""
    return cr.Network(
        "[colour][big][shape|colour:big][sold|shape]",
        {
            "colour": [0.5, 0.3, 0.2],
            "big": 0.4,
            "shape": [[[0.2, 0.8], [0.6, 0.4]], [[0.1, 0.9], [0.5, 0.5]], [[0.7, 0.3], [0.0, 1.0]]],
            "sold": {"round": 0.25, "square": 0.75},
        },
        states={"colour": COLOURS, "shape": ["round", "square"]},
    )


def asked(net, known):
    """What the network itself says, by another way from the clicks to the question."""
    given, do = {}, {}
    for name, (how, codes) in known.items():
        states = net.variable(name).states
        if how == "do":
            do[name] = states[codes[0]]
        else:
            likelihood = np.zeros(len(states))
            likelihood[list(codes)] = 1.0
            given[name] = 1.0 - likelihood if how == "not" else likelihood
    return (net.do(do) if do else net), given


def test_a_thousand_clicks_answer_as_the_network_does():
    net, rng, seq = three(), random.Random(0), 0
    session = Session(net)
    for _ in range(1000):
        seq += 1
        name = rng.choice(net.names)
        state, how = rng.randrange(net.variable(name).arity), rng.choice(["is", "in", "not", "do"])
        roll = rng.random()
        try:
            if roll < 0.12:
                answer = session.dispatch(rng.choice(["undo", "redo"]), {"seq": seq})
            elif roll < 0.2:
                answer = session.dispatch("clear", {"seq": seq, "name": rng.choice([name, None])})
            else:
                click = {"seq": seq, "name": name, "state": state, "how": how}
                answer = session.dispatch("click", click)
        except CredoError as error:
            assert "nothing to" in str(error) or "ruled out already" in str(error)
            continue
        known = {n: (k["how"], k["states"]) for n, k in answer["known"].items()}
        model, given = asked(net, known)
        try:
            expected = model.marginals(given=given)
        except cr.errors.ImpossibleError:
            assert answer["beliefs"] is None and "cannot be true together" in answer["impossible"]
            continue
        for n, found in answer["beliefs"].items():
            if n in expected:
                assert np.allclose(found["p"], expected[n].p, atol=1e-12), (n, known)
            else:
                assert found["p"] == given[n].tolist()


def click(session, seq, name, state, how="is"):
    answer = session.dispatch("click", {"seq": seq, "name": name, "state": state, "how": how})
    return {n: (k["how"], tuple(k["states"])) for n, k in answer["known"].items()}


def test_what_each_click_means():
    s = Session(three())
    assert click(s, 1, "colour", 0) == {"colour": ("is", (0,))}
    assert click(s, 2, "colour", 0) == {}
    assert click(s, 3, "colour", 0) == {"colour": ("is", (0,))}
    assert click(s, 4, "colour", 2, "in") == {"colour": ("in", (0, 2))}
    assert click(s, 5, "colour", 0, "in") == {"colour": ("is", (2,))}
    assert click(s, 6, "colour", 1, "not") == {"colour": ("not", (1,))}
    assert click(s, 7, "colour", 2, "not") == {"colour": ("not", (1, 2))}
    with pytest.raises(CredoError, match="Every other state of 'colour' is ruled out already"):
        click(s, 8, "colour", 0, "not")
    assert click(s, 9, "colour", 1, "do") == {"colour": ("do", (1,))}
    assert click(s, 10, "colour", 1, "do") == {}


def test_the_one_state_that_is_left_is_certain():
    s = Session(three())
    answer = s.dispatch("click", {"seq": 1, "name": "big", "state": 1, "how": "not"})
    assert answer["beliefs"]["big"]["p"] == [1.0, 0.0]
    said = s.dispatch("panel", {"seq": 0, "selected": "big", "costs": {}})
    assert said["moved"] is None and said["p"] == pytest.approx(0.6)


def test_undo_and_redo_are_steps_along_a_list():
    s = Session(three())
    click(s, 1, "big", 0)
    click(s, 2, "sold", 1)
    assert set(s.dispatch("undo", {"seq": 3})["known"]) == {"big"}
    again = s.dispatch("redo", {"seq": 4})
    assert set(again["known"]) == {"big", "sold"} and not again["redo"]
    s.dispatch("undo", {"seq": 5})
    assert set(click(s, 6, "shape", 0)) == {"big", "shape"}
    with pytest.raises(CredoError, match="There is nothing to redo"):
        s.dispatch("redo", {"seq": 7})


def test_late_and_repeated_requests_change_nothing():
    s = Session(three())
    click(s, 5, "big", 0)
    for seq in (5, 3):
        answer = s.dispatch("click", {"seq": seq, "name": "big", "state": 0, "how": "is"})
        assert answer["stale"] and set(answer["known"]) == {"big"}


def test_the_script_asks_the_same(tmp_path):
    net = three()
    net.save(tmp_path / "toys.credo")
    s = Session(State(net, made=f"net = cr.load({str(tmp_path / 'toys.credo')!r})"))
    click(s, 1, "big", 1, "do")
    click(s, 2, "colour", 0, "not")
    answer = s.dispatch("click", {"seq": 3, "name": "sold", "state": 1, "how": "is"})
    *before, last = s.dispatch("script", {"seq": 0})["script"].splitlines()
    space = {}
    exec("\n".join([*before, f"found = {last}"]), space)
    assert np.allclose(space["found"]["shape"].p, answer["beliefs"]["shape"]["p"], atol=1e-12)


def test_impossible_evidence_is_said_in_words():
    s = Session(three())
    for seq, (name, state) in enumerate([("sold", 1), ("colour", 2), ("big", 1), ("shape", 0)], 1):
        answer = s.dispatch("click", {"seq": seq, "name": name, "state": state, "how": "is"})
    assert answer["beliefs"] is None
    assert "colour=blue, big=True and shape=round cannot be true together" in answer["impossible"]
    assert s.dispatch("panel", {"seq": 0, "selected": "sold", "costs": {}})["p"] is None


def test_the_panel_by_hand():
    net = cr.Network("[a][b|a]", {"a": 0.3, "b": {False: 0.2, True: 0.9}})
    s = Session(net)
    click(s, 1, "b", 1)
    said = s.dispatch("panel", {"seq": 0, "selected": "a", "costs": {}})
    p_b = 0.3 * 0.9 + 0.7 * 0.2
    a = 0.3 * 0.9 / p_b
    moved = a * math.log2(a / 0.3) + (1 - a) * math.log2((1 - a) / 0.7)
    assert said["p"] == pytest.approx(p_b) and said["surprise"] == pytest.approx(-math.log2(p_b))
    assert said["moved"] == pytest.approx(moved)
    assert said["weights"] == [{"name": "b", "bits": pytest.approx(moved)}]
    assert said["explanation"] == [["a", "True"]]
    assert said["explained"] == pytest.approx(math.log10(0.27))
    click(s, 2, "a", 0)
    said = s.dispatch("panel", {"seq": 0, "selected": None, "costs": {}})
    assert said["conflict"] == pytest.approx(math.log2(0.7 * p_b / (0.7 * 0.2)))
    click(s, 3, "a", 0)
    click(s, 4, "b", 1)
    nothing = s.dispatch("panel", {"seq": 0, "selected": "a", "costs": {}})
    [ask] = nothing["next"]
    assert ask == {"name": "b", "bits": pytest.approx(net.evidence_value("a").best.bits)}


def test_rows_as_evidence_with_one_variable_left_open():
    table = cr.read({"a": ["x", "y", None], "b": [0, 1, 1], "c": ["p", "q", "q"]})
    s = Session(State(cr.fit("[a][b|a]", table, prior=cr.BDeu(1)), rows=rows_of(table)))
    answer = s.dispatch("row", {"seq": 1, "index": 1, "open": "a"})
    assert set(answer["known"]) == {"b"} and answer["row"] == 1
    assert answer["actual"]["name"] == "a" and answer["actual"]["states"] == [1]
    answer = s.dispatch("row", {"seq": 2, "index": 2, "open": None})
    assert set(answer["known"]) == {"b"} and answer["actual"] is None
    assert click(s, 3, "b", 1) == {} and s.moment.row is None
    with pytest.raises(CredoError, match="from 0 to 2, got 3"):
        s.dispatch("row", {"seq": 4, "index": 3, "open": None})


@pytest.mark.parametrize("numbers", ["gaussian", "binned"])
def test_numbers_are_densities(numbers):
    table = cr.examples.gender_measurements()
    net = cr.learn(table, numbers=numbers, rng=0)
    s = Session(State(net, rows=rows_of(table)))
    answer = s.dispatch("value", {"seq": 1, "name": "height", "value": 6, "how": "is"})
    expected = net.marginals(given={"height": 6.0})
    for name in ("weight", "foot_size"):
        found = answer["beliefs"][name]
        assert found["mean"] == pytest.approx(expected[name].mean)
        assert found["low"] == pytest.approx(expected[name].quantile(0.025))
        assert np.trapezoid(found["y"], found["x"]) == pytest.approx(1.0, abs=0.06)
    assert answer["beliefs"]["height"] == {"value": 6.0}
    assert s.dispatch("panel", {"seq": 0, "selected": "weight", "costs": {}})["density"]


def test_bits_between_gaussians_are_those_of_the_formula():
    before, now = cr.Gaussian(0.0, 4.0), cr.Gaussian(1.0, 1.0)
    exact = (math.log(2) + (1 + 1) / 8 - 0.5) / math.log(2)
    assert moved_bits(now, before) == pytest.approx(exact, abs=2e-3)


def test_intervals_are_those_of_the_network():
    net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.BDeu(1))
    s = Session(net)
    click(s, 1, "Fev", 1)
    asked = {"seq": 0, "draws": 200, "names": ["Pneu", "Fev"]}
    found = s.dispatch("intervals", asked)["intervals"]
    expected = net.p("Pneu", {"Fev": "T"}, interval=0.95, draws=200)
    assert np.allclose(found["Pneu"], np.column_stack([expected.low, expected.high]))
    assert found["Fev"] == [] and len(found) == 2  # it is observed
    asked = {"seq": 0, "draws": 200, "names": [three().names[0]]}
    plain = Session(three()).dispatch("intervals", asked)
    assert plain["intervals"] is None and "has no posterior" in plain["why"]


def test_the_inspectors():
    net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.BDeu(1))
    s = Session(net)
    table = s.dispatch("node", {"seq": 0, "name": "Fev"})
    assert [r["p"] for r in table["rows"]] == net.cpt("Fev").values.tolist()
    assert sum(sum(r["counts"]) for r in table["rows"]) == 12
    edge = s.dispatch("edge", {"seq": 0, "from": "Pneu", "to": "Fev"})
    joint = net.p(["Pneu", "Fev"]).p
    apart = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    assert edge["bits"] == pytest.approx(float((joint * np.log2(joint / apart)).sum()))
    with pytest.raises(CredoError, match="There is no edge from 'Fev' to 'Pneu'"):
        s.dispatch("edge", {"seq": 0, "from": "Fev", "to": "Pneu"})


def test_networks_after_interventions_are_kept():
    a = Asked(three())
    s = Session(a.net)
    click(s, 1, "big", 1, "do")
    first, _ = a.at(s.moment)
    click(s, 2, "sold", 1)
    assert a.at(s.moment)[0] is first
