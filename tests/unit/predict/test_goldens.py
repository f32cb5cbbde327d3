"""Numbers from books and by hand; impossible evidence; extremes; refusals before allocation."""

import time
from fractions import Fraction as F

import numpy as np
import pytest
from scipy.special import logsumexp
from tests.unit.predict.joint import grid

from credo.errors import CredoError, ImpossibleError, InputError, LimitError, UnknownNameError
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.predict.exact import engine

BURGLARY = Network(
    "[Burglary][Earthquake][Alarm|Burglary:Earthquake][JohnCalls|Alarm][MaryCalls|Alarm]",
    {
        "Burglary": 0.001,
        "Earthquake": 0.002,
        "Alarm": {
            (True, True): 0.95,
            (True, False): 0.94,
            (False, True): 0.29,
            (False, False): 0.001,
        },
        "JohnCalls": {True: 0.90, False: 0.05},
        "MaryCalls": {True: 0.70, False: 0.01},
    },
)


def yes(p):
    return {"yes": p, "no": 1 - p}


ASIA = Network(
    "[asia][smoke][tub|asia][lung|smoke][bronc|smoke][either|lung:tub][xray|either][dysp|bronc:either]",
    {
        "asia": yes(0.01),
        "smoke": yes(0.5),
        "tub": {"yes": yes(0.05), "no": yes(0.01)},
        "lung": {"yes": yes(0.1), "no": yes(0.01)},
        "bronc": {"yes": yes(0.6), "no": yes(0.3)},
        "either": {
            ("yes", "yes"): yes(1),
            ("yes", "no"): yes(1),
            ("no", "yes"): yes(1),
            ("no", "no"): yes(0),
        },
        "xray": {"yes": yes(0.98), "no": yes(0.05)},
        "dysp": {
            "yes": {"yes": yes(0.9), "no": yes(0.8)},
            "no": {"yes": yes(0.7), "no": yes(0.1)},
        },
    },
)
CONFLICT = {"either": "yes", "lung": "no", "tub": "no"}


def test_burglary_given_both_calls():
    """Russell & Norvig, Artificial Intelligence, section 13.3: ⟨0.284, 0.716⟩."""
    both = {"JohnCalls": True, "MaryCalls": True}
    assert BURGLARY.p("Burglary", both)[True] == pytest.approx(0.284171835364393, abs=1e-14)
    quake = BURGLARY.p("Earthquake", both)[True]
    assert quake == pytest.approx(0.176066838405, abs=1e-12)  # by enumeration
    asked = BURGLARY.ask("P(Burglary=true | JohnCalls=true, MaryCalls=true)")
    assert asked == pytest.approx(0.284171835364393, abs=1e-14)
    false_alarm = dict(zip(BURGLARY.names, [False, False, True, True, True], strict=True))
    assert np.exp(BURGLARY.log_evidence(false_alarm)) == pytest.approx(0.000628111, abs=1e-9)


def test_asia_by_hand():
    """Lauritzen & Spiegelhalter 1988; the fractions worked out by hand."""
    tub = F(1, 100) * F(5, 100) + F(99, 100) * F(1, 100)
    lung = F(11, 200)
    bronc = F(45, 100)
    either = 1 - (1 - tub) * (1 - lung)
    every = ASIA.marginals()
    assert every["tub"]["yes"] == pytest.approx(float(tub), abs=1e-15)  # 0.0104
    assert every["lung"]["yes"] == pytest.approx(float(lung), abs=1e-15)  # 0.055
    assert every["bronc"]["yes"] == pytest.approx(float(bronc), abs=1e-15)  # 0.45
    assert every["either"]["yes"] == pytest.approx(float(either), abs=1e-15)  # 0.064828
    assert every["xray"]["yes"] == pytest.approx(0.11029004, abs=1e-12)
    assert every["dysp"]["yes"] == pytest.approx(0.4359706, abs=1e-7)
    assert ASIA.p("lung", {"smoke": "yes"})["yes"] == pytest.approx(0.1, abs=1e-15)
    seen = F(98, 100) * either + F(5, 100) * (1 - either)
    given_xray = F(98, 100) * lung / seen
    assert ASIA.p("lung", {"xray": "yes"})["yes"] == pytest.approx(float(given_xray), abs=1e-14)


def test_flu_given_fever_and_cough():
    net = Network(
        "[flu][fever|flu][cough|flu]",
        {
            "flu": yes(0.1),
            "fever": {"yes": yes(0.9), "no": yes(0.05)},
            "cough": {"yes": yes(0.8), "no": yes(0.2)},
        },
    )
    # 0.1 · 0.9 · 0.8 = 0.072 against 0.9 · 0.05 · 0.2 = 0.009
    found = net.p("flu", {"fever": "yes", "cough": "yes"})
    assert found["yes"] == pytest.approx(8 / 9, abs=1e-15)
    assert net.log_evidence({"fever": "yes", "cough": "yes"}) == pytest.approx(np.log(0.081))


EVERY = [
    lambda n, e: n.p("xray", e),
    lambda n, e: n.p(["xray", "dysp"], e),
    lambda n, e: n.p("asia", e),
    lambda n, e: n.marginals(e),
    lambda n, e: n.log_evidence(e),
    lambda n, e: n.mpe(e),
    lambda n, e: n.map(["xray", "asia"], e),
    lambda n, e: n.ask("P(xray | either=yes, lung=no, tub=no, smoke=yes)"),
    lambda n, e: n.ask("P(xray=yes, asia=no | either=yes, lung=no, tub=no, smoke=yes)"),
    lambda n, e: n.ask("argmax P(xray | either=yes, lung=no, tub=no, smoke=yes)"),
    lambda n, e: n.ask("P(xray | either=yes, lung=no, tub=no, smoke=yes)", explain=True),
]


@pytest.mark.parametrize("ask", EVERY)
def test_evidence_of_probability_zero_is_refused_with_the_conflict(ask):
    with pytest.raises(ImpossibleError) as caught:
        ask(ASIA, {"smoke": "yes", **CONFLICT})
    text = str(caught.value)
    assert "either=yes, lung=no and tub=no cannot be true together" in text
    assert "smoke" not in text


def test_conflicts_of_soft_evidence_and_of_one_item():
    with pytest.raises(ImpossibleError, match=r"tub=no and lung in \['no'\]|lung"):
        ASIA.p("xray", {"either": "yes", "tub": "no", "lung": {"no": 0.7}})
    net = Network("[a]", {"a": {"x": 1, "y": 0}})
    with pytest.raises(ImpossibleError, match=r"zero: a=y cannot be true\."):
        net.log_evidence({"a": "y"})
    with pytest.raises(ImpossibleError, match="Row 2 has probability zero"):
        ASIA.predict_proba({"either": ["no", "yes"], "lung": ["no"] * 2, "tub": ["no"] * 2}, "asia")


def naive_bayes(n):
    rng = np.random.default_rng(1)
    theta = rng.uniform(0.2, 0.5, (n, 2))
    tables = {"c": [0.3, 0.7]}
    tables |= {f"f{i}": np.stack([1 - t, t], axis=1) for i, t in enumerate(theta)}
    return Network(Dag([("c", f"f{i}") for i in range(n)], nodes=list(tables)), tables), theta


def test_five_thousand_features_do_not_underflow():
    net, theta = naive_bayes(5000)
    seen = {f"f{i}": 1 for i in range(5000)}
    logs = np.log([0.3, 0.7]) + np.log(theta).sum(axis=0)
    exact = logsumexp(logs)
    assert exact < -1000 * np.log(10)
    assert net.log_evidence(seen) == pytest.approx(exact, rel=1e-9)
    np.testing.assert_allclose(net.p("c", seen).p, np.exp(logs - exact), rtol=1e-9)
    assert net.mpe(seen).log_p == pytest.approx(logs.max(), rel=1e-9)
    assert net.map(["c"], seen).log_p == pytest.approx(logs.max(), rel=1e-9)
    rows = {name: [1, 1] for name in seen}
    np.testing.assert_allclose(net.predict_proba(rows, "c"), [np.exp(logs - exact)] * 2, rtol=1e-9)
    assert net.log_likelihood(rows) == pytest.approx(2 * exact, rel=1e-9)


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e300, 1.7e308])
def test_soft_evidence_of_any_size(size):
    net = Network("[a][b|a]", {"a": 0.2, "b": {False: 0.1, True: 0.8}})
    given = {"a": {True: size, False: size}, "b": {True: size, False: size}}
    assert net.log_evidence(given) == pytest.approx(2 * np.log(size), rel=1e-12)
    np.testing.assert_allclose(net.p("a", given).p, [0.8, 0.2], rtol=1e-12)
    np.testing.assert_allclose(net.p(["a", "b"], given).p, net.p(["a", "b"]).p, rtol=1e-12)
    assert net.mpe(given).log_p == pytest.approx(np.log(0.72) + 2 * np.log(size), rel=1e-12)


def test_a_grid_of_30_by_30_is_refused_before_it_is_run():
    net = grid(30)
    start = time.process_time()
    for ask in (
        lambda: net.marginals(method="exact"),
        net.mpe,
        lambda: net.p("x29_29", method="exact"),
        lambda: net.log_evidence({"x29_29": 1}, method="exact"),
    ):
        with pytest.raises(
            LimitError, match=r"needs tables of [\d,.]+ GB .* at most 8 GB are allowed"
        ):
            ask()
    assert time.process_time() - start < 30  # a guard against a hang, not a timing
    assert abs(net.p("x3_3", {f"x4_{j}": 0 for j in range(30)}).p.sum() - 1) < 1e-12


def test_limits_can_be_set(monkeypatch):
    net = grid(6)
    monkeypatch.setattr(engine, "MAX_BYTES", 100)
    with pytest.raises(LimitError, match="GB"):
        net.marginals(method="exact")
    monkeypatch.setattr(engine, "MAX_BYTES", 10**9)
    monkeypatch.setattr(engine, "MAX_WORK", 10)
    with pytest.raises(LimitError, match=r"needs [\d,]+ multiplications"):
        net.marginals(method="exact")
    monkeypatch.undo()
    with pytest.raises(LimitError, match=r"The joint of x0_0.* would have 33,554,432 cells"):
        net.p(list(net.names[:25]))


WRONG = [
    (lambda: ASIA.p("lnug"), UnknownNameError, "'lnug' is not in the model. Did you mean 'lung'"),
    (lambda: ASIA.p(["lung", "lung"]), InputError, "named twice"),
    (lambda: ASIA.p([]), InputError, "at least one variable"),
    (lambda: ASIA.p(None), InputError, "by name"),
    (lambda: ASIA.p([["lung"]]), UnknownNameError, "is not in the model"),
    (lambda: ASIA.p("lung", {"lung": "yes"}), InputError, "asked about and observed at once"),
    (lambda: ASIA.p("lung", {"smok": "yes"}), UnknownNameError, "Did you mean 'smoke'"),
    (lambda: ASIA.p("lung", {"smoke": "yse"}), UnknownNameError, "Did you mean 'yes'"),
    (lambda: ASIA.p("lung", {"smoke": {"yes": -1}}), InputError, "0 or more, got -1"),
    (lambda: ASIA.p("lung", {"smoke": {"yes": float("nan")}}), InputError, "finite number"),
    (lambda: ASIA.p("lung", {"smoke": {"yes": float("inf")}}), InputError, "finite number"),
    (lambda: ASIA.p("lung", {"smoke": {"yes": "much"}}), InputError, "finite number"),
    (lambda: ASIA.p("lung", {"smoke": {"yes": 0, "no": 0}}), InputError, "rules out every state"),
    (lambda: ASIA.p("lung", {"smoke": {}}), InputError, "rules out every state"),
    (lambda: ASIA.p("lung", {"smoke": set()}), InputError, "rules out every state"),
    (lambda: ASIA.p("lung", {"smoke": {"ys": 1}}), UnknownNameError, "Did you mean 'yes'"),
    (lambda: ASIA.p("lung", {"smoke": np.ones(3)}), InputError, "must be 2 numbers, got 3"),
    (lambda: ASIA.p("lung", "smoke"), InputError, "mapping from variable to state"),
    (lambda: ASIA.p("lung", ["smoke"]), InputError, "mapping from variable to state"),
    (lambda: ASIA.marginals(5), InputError, "mapping from variable to state"),
    (lambda: ASIA.do({"smok": "yes"}), UnknownNameError, "Did you mean 'smoke'"),
    (lambda: ASIA.do({}), InputError, "do"),
    (lambda: ASIA.do({"smoke": "perhaps"}), UnknownNameError, "is not one of 'smoke'"),
    (lambda: ASIA.map(["lnug"]), UnknownNameError, "Did you mean 'lung'"),
    (lambda: ASIA.predict_proba({"smoke": ["yes"]}, "lnug"), UnknownNameError, "'lung'"),
    (lambda: ASIA.predict_proba({"smoke": ["yes"]}, ["lung"]), UnknownNameError, "is not in"),
    (lambda: ASIA.predict_proba({"smoke": ["yse"]}, "lung"), CredoError, "yse"),
    (lambda: ASIA.predict_proba({"height": [3]}, "lung"), InputError, "no column of the model"),
    (lambda: ASIA.predict_proba({"lung": ["no"]}, "lung"), InputError, "of the model but 'lung'"),
    (lambda: ASIA.predict_proba({"smoke": ["yes"]}, "lung", threads=0), InputError, "threads"),
    (lambda: ASIA.predict_proba({"smoke": ["yes"]}, "lung", threads="2"), InputError, "threads"),
    (lambda: ASIA.log_likelihood(b"file"), InputError, "not bytes"),
    (lambda: ASIA.log_likelihood(5), CredoError, ""),
    (lambda: ASIA.variable("lnug"), UnknownNameError, "Did you mean 'lung'"),
    (lambda: ASIA.cpt(3), UnknownNameError, "is not in the model"),
    (lambda: ASIA.cpt("lung").row(smok="yes"), UnknownNameError, "Did you mean 'smoke'"),
    (lambda: ASIA.cpt("lung").row(), InputError, "needs a state for 'smoke'"),
    (lambda: ASIA.cpt("lung").row(5), InputError, "mapping"),
    (lambda: ASIA.cpt("lung")["yes", "no"], InputError, "has 1 parents, got 2"),
    (lambda: ASIA.mpe()["lnug"], UnknownNameError, "Did you mean 'lung'"),
]


@pytest.mark.parametrize(("ask", "error", "text"), WRONG)
def test_wrong_arguments_are_refused_in_our_words(ask, error, text):
    with pytest.raises(error) as caught:
        ask()
    assert text in str(caught.value)


def test_evidence_that_is_missing_is_no_evidence():
    assert ASIA.p("lung", {"smoke": None, "xray": float("nan")}) == ASIA.p("lung")
    assert ASIA.log_evidence({}) == 0.0 == ASIA.log_evidence({"smoke": None})


def test_explanations_are_mappings():
    found = ASIA.mpe({"smoke": "no"})
    assert found == dict(found) and len(found) == 7 and found["xray"] == "no"
    assert "ln P = " in str(found) and "<table>" in found._repr_html_()
