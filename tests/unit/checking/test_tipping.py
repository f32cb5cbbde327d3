"""Sensitivity: every curve against networks with the parameter really moved."""

import json

import numpy as np
import pytest
from tests.unit.checking.nets import SPRINKLER, gaussian, mixed

import credo as cr


def moved(net, tipping, theta):
    """The network with one parameter at θ, the rest of its row in proportion."""
    local = net.cpt(tipping.variable)
    inside = tipping.parameter[2:-1]
    child, _, given = inside.partition(" | ")
    states = dict(part.split("=") for part in [child, *(given.split(", ") if given else [])])
    at = tuple(
        next(i for i, s in enumerate(v.states) if str(s) == states[v.name]) for v in local.variables
    )
    values = np.array(local.values)
    row = values[at[:-1]]
    rest = np.delete(row, at[-1])
    row[at[-1]] = theta
    row[np.arange(len(row)) != at[-1]] = rest / rest.sum() * (1 - theta)
    return cr.Network(
        net.dag, {**dict(net.distributions), local.name: cr.Cpt(local.child, local.parents, values)}
    )


QUESTIONS = [
    "P(rain=yes | wet=yes)",
    "P(rain=yes | wet=yes, late=b)",
    "P(rain=yes, sprinkler=no | wet=yes)",
    "P(late in {a, b} | wet=no)",
    "P(wet=yes)",
    "P(wet=yes | do(sprinkler=yes))",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_curve_is_what_moving_the_parameter_gives(question):
    found = SPRINKLER.sensitivity(question, threshold=0.45)
    assert found.answer == pytest.approx(SPRINKLER.ask(question), abs=1e-12)
    assert found.parameters
    for p in found.parameters:
        for theta in (0.03, 0.4, 0.97, p.bottom, p.top):
            want = moved(SPRINKLER, p, theta).ask(question)
            assert p.at(theta, found.answer) == pytest.approx(want, abs=1e-10)
        assert p.low == pytest.approx(p.at(p.bottom, found.answer))
        step = 1e-6
        up, down = (moved(SPRINKLER, p, p.value + s).ask(question) for s in (step, -step))
        assert p.derivative == pytest.approx((up - down) / (2 * step), abs=1e-5)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_value_needed_brings_the_answer_to_the_threshold(question):
    found = SPRINKLER.sensitivity(question, threshold=0.45)
    for p in found.parameters:
        ends = sorted(p.at(e, found.answer) for e in (1e-9, 1 - 1e-9))
        if p.needed is None:
            assert not ends[0] + 1e-6 < 0.45 < ends[1] - 1e-6  # no value does it
        else:
            assert moved(SPRINKLER, p, p.needed).ask(question) == pytest.approx(0.45, abs=1e-9)
    assert [abs(np.log(p.odds)) for p in found.tipping] == sorted(
        abs(np.log(p.odds)) for p in found.tipping
    )


def test_parameters_that_do_not_matter_are_not_listed():
    found = SPRINKLER.sensitivity("P(rain=yes)")
    assert [p.parameter for p in found.parameters] == ["P(rain=yes)"]


def test_intervals_are_the_ranges_of_a_learned_network():
    net = cr.fit(SPRINKLER.dag, SPRINKLER.sample(100, rng=0), prior=cr.BDeu(1))
    found = net.sensitivity("P(rain=yes | wet=yes)", level=0.9)
    low, high = net.cpt("rain").interval(0.9)
    p = found["P(rain=yes)"]
    assert (p.bottom, p.top) == pytest.approx((low[1], high[1]))
    assert "90% interval" in str(found)


def test_logic_stays_and_is_told():
    net = cr.Network("[a][b|a]", {"a": 0.3, "b": {False: 0.0, True: 0.6}})
    found = net.sensitivity("P(a=true | b=false)")
    assert {p.parameter for p in found.parameters} == {"P(a=True)", "P(b=True | a=True)"}
    assert found.fixed == 1 and "1 entry of 0 or 1 was kept" in str(found)


def test_numbers_may_be_evidence():
    net = mixed()
    found = net.sensitivity("P(s=on | x=1.0)")
    p = found["P(s=on)"]
    want = cr.Network(net.dag, {**dict(net.distributions), "s": {"off": 0.7, "on": 0.3}})
    assert p.at(0.3, found.answer) == pytest.approx(want.ask("P(s=on | x=1.0)"))


def test_numbers_may_be_evidence_without_their_parents():
    net = mixed()
    found = net.sensitivity("P(s=on | z=1.0)")
    assert found.answer == pytest.approx(net.ask("P(s=on | z=1.0)"))
    want = cr.Network(net.dag, {**dict(net.distributions), "s": {"off": 0.7, "on": 0.3}})
    assert found["P(s=on)"].at(0.3, found.answer) == pytest.approx(want.ask("P(s=on | z=1.0)"))


def test_it_is_plain_data_too():
    found = SPRINKLER.sensitivity("P(rain=yes | wet=yes)")
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["parameters"][0]["parameter"] == found.parameters[0].parameter
    assert "<table>" in found._repr_html_()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("P(rain | wet=yes)", "probability of an event"),
        ("argmax P(rain)", "probability of an event"),
        ("P(rain=yes | rain=no)", "asked about and observed"),
        ("P(rian=yes)", "Did you mean 'rain'"),
        (7, "must be a text"),
    ],
)
def test_what_cannot_be_asked(question, said):
    with pytest.raises(cr.errors.CredoError, match=said):
        SPRINKLER.sensitivity(question)


def test_thresholds_and_impossible_evidence_are_refused():
    with pytest.raises(cr.errors.InputError, match="threshold must lie between 0 and 1"):
        SPRINKLER.sensitivity("P(rain=yes)", threshold=2)
    net = cr.Network("[a][b|a]", {"a": 0.3, "b": {False: 0.0, True: 0.0}})
    with pytest.raises(cr.errors.ImpossibleError):
        net.sensitivity("P(a=true | b=true)")
    with pytest.raises(cr.errors.CredoError):
        gaussian().sensitivity("P(x=1 | y=2)")
