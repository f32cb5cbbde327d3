"""Intervals, P(best) and regret under draws of the parameters, against loops and closed forms."""

import numpy as np
import pytest
from scipy import stats

import credo as cr
from credo.predict.intervals.draws import Draws, network_of


def use_or_not(yes=14, no=6, gain=10.0, loss=-20.0):
    """Use something that works with probability θ, or not: EU(use) = gain θ + loss (1 − θ)."""
    rows = {"Works": ["yes"] * yes + ["no"] * no}
    net = cr.fit("[Works]", rows, prior=cr.Laplace(1))
    return net.decide(
        {"Use": ["yes", "no"]},
        {"Gain|Use:Works": {"yes": {"yes": gain, "no": loss}, "no": {"yes": 0, "no": 0}}},
    )


def test_one_parameter_in_closed_form():
    d = use_or_not()
    theta = stats.beta(15, 7)
    found = d.best(draws=20_000)
    use = next(r for r in found.ranked if r.choice == "yes")
    assert use.utility == pytest.approx(30 * 15 / 22 - 20)
    assert use.interval.lower == pytest.approx(30 * theta.ppf(0.025) - 20, abs=0.3)
    assert use.interval.upper == pytest.approx(30 * theta.ppf(0.975) - 20, abs=0.3)
    assert use.p_best == pytest.approx(theta.sf(2 / 3), abs=0.015)
    lost = theta.expect(lambda t: np.maximum(-(30 * t - 20), 0), lb=0, ub=1)
    assert found.choice == "yes" and found.regret == pytest.approx(lost, rel=0.05)
    solved = d.solve(draws=20_000)
    assert solved.utility == use.utility and solved.p_best == pytest.approx(use.p_best)
    assert solved.regret == pytest.approx(found.regret)


def test_draws_in_one_batch_are_those_of_a_loop():
    net = cr.fit("[A][B|A][C|B]", cr.Network("[A][B|A][C|B]", {
        "A": 0.4, "B": {False: 0.3, True: 0.8}, "C": {False: 0.2, True: 0.6},
    }).sample(60, rng=1), prior=cr.BDeu(4))  # fmt: skip
    worth = {
        "U|D:C": np.array([[3.0, 0.0], [0.0, 2.0]]),
        "V|E:A:D": np.arange(8.0).reshape(2, 2, 2),
    }
    options = {"D|B": ["l", "r"], "E|A": ["l", "r"]}
    d = net.decide(options, worth)
    found = d.solve(draws=50, rng=3)
    source = Draws(d.chance, 3)
    drawn = source.next(d.chance.names, 50)
    best, own = [], []
    for i in range(50):
        one = network_of(net, {n: drawn[n] for n in net.names}, i).decide(options, worth)
        best.append(one.solve(interval=None).utility)
        own.append(one.compare({"it": found}, interval=None)["it"].utility)
    assert found.regret == pytest.approx(np.mean(np.array(best) - np.array(own)), abs=1e-10)
    assert found.p_best == pytest.approx(np.mean(np.isclose(best, own, atol=1e-9)))
    limited = net.decide(options, worth, memory="limited").solve(draws=50, rng=3)
    assert limited.regret >= 0 and limited.utility <= found.utility + 1e-12


def test_the_mean_of_the_draws_is_the_answer():
    d = use_or_not()
    draws = d.compare({"use": {"Use": "yes"}, "not": {"Use": "no"}}, draws=4000)
    assert draws.best == "use" and draws["not"].p_best == pytest.approx(1 - draws["use"].p_best)
    assert draws["not"].difference.lower < 0 < draws["not"].difference.upper
    low, high = d.ask("EU(Use=yes)", interval=0.9, draws=4000).interval
    assert low < d.ask("EU(Use=yes)") < high
    assert "P(best)" in str(draws) and "interval" in str(d.best())


def test_without_a_posterior_there_is_no_interval():
    d = cr.DecisionNetwork(
        "[A][D?][U$|A:D]", {"A": 0.3}, decisions={"D": ["l", "r"]}, utilities={"U": np.eye(2)}
    )
    assert d.solve().interval is None and d.best().ranked[0].interval is None
    with pytest.raises(cr.errors.InputError, match="no posterior"):
        d.ask("EU", interval=0.9)


def test_a_continuous_report_goes_through_the_draws():
    rng = np.random.default_rng(0)
    sick = rng.random(80) < 0.4
    rows = {"sick": np.where(sick, "yes", "no"), "fever": 37 + 2 * sick + rng.normal(0, 0.5, 80)}
    net = cr.fit("[sick][fever|sick]", rows, prior=cr.BDeu(2))
    d = net.decide({"treat": ["no", "yes"]}, {"cost|treat:sick": [[0, -100], [-10, -20]]})
    found = d.best(given={"fever": 38.2})
    span = net.ask("P(sick=yes | fever=38.2)", interval=0.95)
    no = next(r for r in found.ranked if r.choice == "no")
    assert no.utility == pytest.approx(-100 * span)
    assert no.interval.lower == pytest.approx(-100 * span.high, abs=4)
    assert no.interval.upper == pytest.approx(-100 * span.low, abs=4)


def test_an_interval_says_that_it_is_given_the_learned_graph():
    rows = cr.Network("[A][B|A]", {"A": 0.4, "B": {False: 0.2, True: 0.9}}).sample(100, rng=0)
    d = cr.learn(rows).decide({"D|B": ["l", "r"]}, {"U|D:A": [[1, 0], [0, 1]]})
    said = "the interval is given the learned graph"
    assert said in str(d.solve()) and said in str(d.best(given={"B": True}))
    assert said in str(d.ask("EU", interval=0.9)) and "ExpectedUtility(" in repr(
        d.ask("EU", interval=0.9))  # fmt: skip


@pytest.mark.slow
def test_intervals_of_expected_utility_hold_what_they_say():
    inside, n = 0, 400
    rng = np.random.default_rng(7)
    for i in range(n):
        a, b0, b1 = rng.beta(1, 1, 3)  # the prior of the fit
        true = cr.Network("[A][B|A]", {"A": a, "B": {False: b0, True: b1}})
        net = cr.fit("[A][B|A]", true.sample(40, rng=i), prior=cr.Laplace(1))
        worth = {"U|D:A:B": rng.normal(0, 1, (2, 2, 2))}
        found = net.decide({"D": ["l", "r"]}, worth).solve(interval=0.9, draws=400)
        right = true.decide({"D": ["l", "r"]}, worth).compare({"it": found}, interval=None)
        inside += right["it"].utility in found.interval
    assert 0.9 - 3 * np.sqrt(0.09 / n) < inside / n < 0.9 + 3 * np.sqrt(0.09 / n)


def test_strategies_that_are_equally_good_are_a_tie():
    net = cr.fit("[A][B|A]", {"A": ["x", "y", "x"], "B": ["l", "r", "l"]}, prior=cr.BDeu(1))
    d = net.decide({"D|A": ["l", "r"]}, {"U|D:B": {"l": {"l": 1, "r": 0}, "r": {"l": 1, "r": 0}}})
    ways = {"left": {"D": "l"}, "right": {"D": "r"}}
    found = d.compare(ways, draws=200)
    assert found.ties == ("left", "right") and found.best == "left"
    assert [s.p_best for s in found.strategies] == [1, 1]  # no other is better
    assert "a tie: left and right are equally good" in str(found)
    turned = d.compare({"right": {"D": "r"}, "left": {"D": "l"}}, draws=200)
    assert turned.ties == ("right", "left")
    apart = net.decide({"D": ["l", "r"]}, {"U|D:B": {"l": {"l": 1, "r": 0}, "r": {"l": 0, "r": 0}}})
    found = apart.compare({"right": {"D": "r"}, **ways, "again": {"D": "l"}}, interval=None)
    assert found.ties == ("left", "again") and found.strategies[-1].name == "right"
    found = apart.compare({"right": {"D": "r"}, "left": {"D": "l"}}, draws=200)
    assert found.ties == () and found.best == "left" and "tie" not in str(found)
    assert found["left"].p_best == 1 and found["right"].p_best == 0


def test_what_is_compiled_goes_with_the_network():
    from credo.predict.decisions.problem import _KEPT

    before = len(_KEPT)
    d = cr.DecisionNetwork("[D?][U$|D]", utilities={"U": {"go": 1, "stay": 0}})
    assert d.solve().utility == 1 and len(_KEPT) == before + 1
    first = d.solve()
    again = d.but(utilities={"U": cr.Utility("U", d.utilities["U"].parents, np.array([0.0, 3.0]))})
    assert again.solve().utility == 3 and first["D"].choice == "go"  # numbers are not kept
    del d, again
    assert len(_KEPT) == before
