"""Approximate answers against exact ones: samples within their errors, budgets kept, doubts said."""

import pickle
import sys
import warnings

import numpy as np
import pytest
from tests.interrupts import work_after_ctrl_c
from tests.unit.predict.joint import grid, random_network

import credo as cr
from credo.errors import CredoWarning, ImpossibleError, InputError, LimitError
from credo.model.answers.approximation import Approximation, Estimate
from credo.predict.approximate import importance
from credo.predict.exact import engine
from credo.predict.questions.request import request

ASIA = cr.Network(
    "[asia][smoke][tub|asia][lung|smoke][bronc|smoke]"
    "[either|lung:tub][xray|either][dysp|bronc:either]",
    {
        "asia": [0.99, 0.01],
        "smoke": [0.5, 0.5],
        "tub": [[0.99, 0.01], [0.95, 0.05]],
        "lung": [[0.99, 0.01], [0.9, 0.1]],
        "bronc": [[0.7, 0.3], [0.4, 0.6]],
        "either": [[[1, 0], [0, 1]], [[0, 1], [0, 1]]],
        "xray": [[0.95, 0.05], [0.02, 0.98]],
        "dysp": [[[0.9, 0.1], [0.3, 0.7]], [[0.2, 0.8], [0.1, 0.9]]],
    },
    states={
        n: ["no", "yes"]
        for n in ["asia", "smoke", "tub", "lung", "bronc", "either", "xray", "dysp"]
    },
)
RARE = {"asia": "yes", "tub": "yes", "smoke": "no", "lung": "yes", "xray": "no", "dysp": "no"}


def within(found, exact, errors=5.0):
    """Every probability within so many standard errors, or inside its interval."""
    a = found.approximation
    low, high = a.interval
    near = np.abs(found.p - exact) <= errors * a.standard_error + 1e-12
    return bool((near | ((low <= exact) & (exact <= high))).all())


# --- right ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["importance", "weighting"])
@pytest.mark.parametrize("seed", range(6))
def test_samples_are_within_five_standard_errors_of_exact(method, seed):
    net = random_network(seed, 9, zeros=0.2 if seed % 2 else 0.0)
    names = list(np.random.default_rng(seed).permutation(net.names))
    states = net.mpe()
    given = {str(n): states[n] for n in names[:2]}
    given[str(names[2])] = {s: 0.2 + 0.3 * k for k, s in enumerate(net.variable(names[2]).states)}
    exact = net.marginals(given)
    found = net.marginals(given, method=method, budget="200000 samples", rng=seed)
    assert list(found) == list(exact)
    for name, d in found.items():
        assert within(d, exact[name].p), name
    log_p = net.log_evidence(given, method=method, budget="50000 samples", rng=seed)
    assert abs(log_p - net.log_evidence(given)) < 5 * log_p.approximation.standard_error[0] + 1e-9
    three = [str(n) for n in names[3:6]]
    joint = net.p(three, given, method=method, budget="100000 samples")
    assert joint.names == tuple(three) and within(joint, net.p(three, given).p)


@pytest.mark.parametrize("seed", range(4))
def test_gibbs_is_within_five_standard_errors_of_exact(seed):
    net = random_network(seed, 7)
    given = {net.names[6]: net.variable(net.names[6]).states[1]}
    exact = net.marginals(given)
    for name, d in net.marginals(given, method="gibbs", rng=seed).items():
        assert within(d, exact[name].p)
        assert d.approximation.converged and d.approximation.chains == 64
    two = [net.names[2], net.names[0]]
    joint = net.p(two, given, method="gibbs", budget="64000 samples")
    assert within(joint, net.p(two, given).p)


def test_events_do_and_soft_evidence():
    for text in (
        "P(lung=yes | dysp=yes)",
        "P(lung=yes, bronc=no | dysp=yes, xray in {no, yes})",
        "P(either != no | smoke=yes)",
        "P(lung=yes | do(bronc=yes), dysp=yes)",
    ):
        exact = ASIA.ask(text)
        found = ASIA.ask(text, method="importance", error=0.003)
        assert isinstance(found, Estimate) and isinstance(found, float)
        low, high = found.approximation.interval
        assert high - low <= 0.006 and abs(found - exact) < 0.006
        assert found.approximation.half_width <= 0.003
    gibbs = cr.Network("[a][b|a]", {"a": 0.3, "b": {False: 0.2, True: 0.9}}).ask(
        "P(a=true | b=true)", method="gibbs", error=0.01
    )
    assert abs(gibbs - 0.27 / 0.41) < 0.01


def test_densities_of_continuous_variables():
    sex = cr.Variable("sex", "discrete", ("f", "m"))
    tall = cr.Variable("height", "continuous")
    net = cr.Network(
        "[sex][height|sex]",
        [
            cr.Cpt(sex, (), [0.5, 0.5]),
            cr.LinearGaussian(tall, (sex,), [1.65, 1.78], [], [0.07**2, 0.08**2]),
        ],
    )
    exact = net.p("sex", given={"height": 1.7}).p
    for method in ("importance", "weighting", "gibbs"):
        assert within(net.p("sex", {"height": 1.7}, method=method), exact)
    assert np.allclose(net.p("sex", {"height": 1.7}, method="loopy").p, exact)
    assert net.log_evidence({"height": 1.7}, method="importance") == pytest.approx(
        net.log_evidence({"height": 1.7}), abs=0.02
    )
    assert net.p("height", {"sex": "f"}, method="importance") == net.p("height", {"sex": "f"})
    for method in ("loopy", "gibbs"):
        with pytest.raises(InputError, match="'height' is continuous"):
            net.p("height", method=method)


def test_the_error_falls_with_the_square_root_of_the_samples():
    exact = ASIA.p("lung", {"dysp": "yes"})["yes"]
    sizes = [1_000, 4_000, 16_000, 64_000]
    rms = []
    for n in sizes:
        found = [
            ASIA.p("lung", {"dysp": "yes"}, method="weighting", budget=f"{n} samples", rng=s)["yes"]
            for s in range(60)
        ]
        rms.append(np.sqrt(np.mean((np.array(found) - exact) ** 2)))
    slope = np.polyfit(np.log(sizes), np.log(rms), 1)[0]
    assert -0.6 < slope < -0.4


@pytest.mark.parametrize(
    "method", ["importance", "weighting", pytest.param("gibbs", marks=pytest.mark.slow)]
)
def test_the_intervals_cover_as_they_say(method):
    net = random_network(3, 7)
    given = {net.names[5]: net.variable(net.names[5]).states[0]}
    exact = net.marginals(given)
    held = []
    budget = "6400 samples" if method == "gibbs" else "1500 samples"
    for seed in range(200):
        for name, d in net.marginals(given, method=method, budget=budget, rng=seed).items():
            low, high = d.approximation.interval
            held.append((low[0] <= exact[name].p[0]) & (exact[name].p[0] <= high[0]))
    assert 0.93 <= np.mean(held) <= 0.975


def sticky(rare, stick):
    """A chain of four variables with a rare state that is seldom entered and seldom left."""
    before = cr.Variable("a", "discrete", ("n", "r"))
    tables = [cr.Cpt(before, (), [1 - rare, rare])]
    for i in range(3):
        b = cr.Variable(f"b{i}", "discrete", ("n", "r"))
        rows = [[1 - stick * rare, stick * rare], [stick, 1 - stick]]
        tables.append(cr.Cpt(b, (before,), rows))
        before = b
    return cr.Network([(p.name, t.name) for t in tables for p in t.parents], tables)


@pytest.mark.parametrize(
    ("net", "target", "given", "method", "samples"),
    [
        (sticky(0.005, 0.2), "b1", {}, "gibbs", 12_800),
        (sticky(0.01, 0.1), "b1", {}, "gibbs", 12_800),
        (ASIA, "asia", {"dysp": "yes"}, "weighting", 1000),
        (ASIA, "tub", {"dysp": "yes"}, "weighting", 200),
        (ASIA, "tub", {"xray": "yes"}, "weighting", 200),
    ],
)
def test_the_intervals_of_rare_states_cover_or_say_that_they_cannot(
    net, target, given, method, samples
):
    """Few visits of a rare state, few effective samples: Student's t, or "not reliable"."""
    exact = net.p(target, given).p[1]
    held, sure = 0, 0
    seeds = 150 if method == "gibbs" else 600
    for seed in range(seeds):
        found = net.p(target, given, method=method, budget=f"{samples} samples", rng=seed)
        low, high = found.approximation.interval
        if found.approximation.reliable:
            sure += 1
            held += low[1] <= exact <= high[1]
        else:
            assert "not reliable" in str(found)
    assert not sure or held / sure > 0.95 - 2.6 * np.sqrt(0.95 * 0.05 / sure)


def test_rare_evidence_where_rejection_would_be_useless():
    assert ASIA.log_evidence(RARE) < np.log(1e-6)
    given = {k: v for k, v in RARE.items() if k != "smoke"}
    exact = ASIA.marginals(given)
    found = ASIA.marginals(given, method="importance", budget="20000 samples")
    for name, d in found.items():
        assert d.approximation.effective > 5_000 and within(d, exact[name].p)
    log_p = ASIA.log_evidence(given, method="importance")
    assert abs(log_p - ASIA.log_evidence(given)) < 0.02


# --- the same, always -----------------------------------------------------------------------


def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads(monkeypatch):
    net = grid(6)
    given = {"x5_5": 1, "x2_3": 0}
    for method in ("importance", "weighting", "gibbs"):
        first = net.marginals(given, method=method, budget="20000 samples", rng=5)
        for cores in (1, 2, 7):
            monkeypatch.setattr(importance._core, "cores", lambda n=cores: n)
            again = net.marginals(given, method=method, budget="20000 samples", rng=5)
            assert all((again[n].p == d.p).all() for n, d in first.items())
        other = net.marginals(given, method=method, budget="20000 samples", rng=6)
        assert any((other[n].p != d.p).any() for n, d in first.items())
    a = net.p("x0_0", given, method="importance", rng=np.random.default_rng(1))
    assert a == net.p("x0_0", given, method="importance", rng=np.random.default_rng(1))


# --- which method, and when it stops --------------------------------------------------------


def test_auto_is_exact_where_that_fits():
    for how in ({}, {"budget": "2 s"}, {"error": 0.01}, {"budget": "100 samples"}):
        assert ASIA.p("lung", **how).approximation is None
        assert type(ASIA.ask("P(lung=yes)", **how)) is float
        assert type(ASIA.log_evidence({"lung": "yes"}, **how)) is float


@pytest.mark.parametrize("n", [20, 30])
def test_a_grid_that_is_too_much_is_answered_and_said(n, monkeypatch):
    net = grid(n)
    monkeypatch.setattr(engine, "MAX_BYTES", 10**7)
    given = {f"x{n - 1}_{n - 1}": 1, f"x{n // 2}_{n // 3}": 0}
    with pytest.warns(CredoWarning, match="tables of .* GB.* approximate instead") as seen:
        found = net.p("x3_3", given)
    assert seen[0].filename == __file__
    assert found.approximation.half_width <= 0.005 and found.approximation.reliable
    assert "GB" in found.approximation.why
    assert "approximate: importance sampling" in str(found)
    with pytest.raises(LimitError, match='method="auto"'):
        net.p("x3_3", given, method="exact")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # who gives a budget or an error expects an estimate
        every = net.marginals(given, budget="0.5 s")
        loose = net.log_evidence(given, error=0.05)
    assert len(every) == n * n - 2
    assert loose.approximation.half_width <= 0.05
    if n == 20:
        monkeypatch.undo()
        assert within(found, net.p("x3_3", given, method="exact").p)
        assert abs(loose - net.log_evidence(given, method="exact")) < 0.1


def test_a_small_budget_on_much_work_is_approximate():
    net = grid(16)
    found = net.marginals({"x15_15": 1}, budget=0.05)
    a = found["x0_0"].approximation
    assert a.method == "importance" and "would take about" in a.why
    assert "time of 0.05 s" in a.stopped or "within" in a.stopped


def test_why_it_stopped():
    p = ASIA.p("lung", {"dysp": "yes"}, method="importance", error=0.002)
    assert p.approximation.stopped == "every interval is within ±0.002"
    assert p.approximation.half_width <= 0.002
    p = ASIA.p("lung", {"dysp": "yes"}, method="weighting", budget="5000 samples")
    assert p.approximation.stopped == "5,000 samples were asked for"
    assert p.approximation.samples == 5000
    p = ASIA.p("lung", {"dysp": "yes"}, method="weighting", budget="20 ms")
    assert p.approximation.stopped == "the time of 0.02 s was up"
    p = ASIA.p("lung", {"dysp": "yes"}, method="importance", budget="1 min", error=0.01)
    assert "within" in p.approximation.stopped and p.approximation.seconds < 30


def test_no_error_can_be_met_is_said(monkeypatch):
    from credo.predict.questions import request as requests

    monkeypatch.setattr(requests, "MOST_SAMPLES", 10_000)
    p = ASIA.p("lung", {"dysp": "yes"}, method="importance", error=0.00001)
    assert p.approximation.stopped == "10,000 samples are the most that are drawn without a budget"
    assert p.approximation.half_width > 0.00001


def test_few_samples_that_carry_the_weight_are_not_called_reliable():
    p = ASIA.p("lung", {"either": "yes"}, method="weighting", budget="300 samples")
    assert not p.approximation.reliable and "not reliable" in str(p)
    assert "cannot be believed" in str(p.approximation)


def test_loopy_says_that_nothing_is_guaranteed():
    p = ASIA.p("lung", {"dysp": "yes"}, method="loopy")
    a = p.approximation
    assert a.interval is None and not a.guaranteed and a.converged and a.residual < 1e-9
    assert len(a.trace) == a.iterations and "no guarantee" in str(p)
    assert np.abs(p.p - ASIA.p("lung", {"dysp": "yes"}).p).max() < 0.05
    two = ASIA.p(["bronc", "dysp"], {"smoke": "yes"}, method="loopy")
    assert np.allclose(two.p, ASIA.p(["bronc", "dysp"], {"smoke": "yes"}).p, atol=0.02)
    assert ASIA.ask("P(lung=yes | smoke=yes)", method="loopy") == pytest.approx(0.1)


def test_auto_turns_to_messages_where_hardly_a_sample_counts(monkeypatch):
    net = grid(8)
    monkeypatch.setattr(engine, "MAX_BYTES", 100)
    from credo.predict.approximate import method as approximate

    monkeypatch.setattr(approximate, "_HARDLY", 10**9)
    with pytest.warns(CredoWarning, match="samples count"):
        p = net.p("x3_3", {"x7_7": 1})
    assert p.approximation.method == "loopy"


def test_a_poor_proposal_is_adapted():
    net = grid(20, seed=4)
    rng = np.random.default_rng(0)
    skew = {
        n: cr.Cpt(d.child, d.parents, np.where(d.values > 0.5, 0.99, 0.01))
        for n, d in net.distributions.items()
    }
    net = cr.Network(net.dag, skew)
    given = {str(n): int(rng.integers(2)) for n in rng.choice(net.names, 12, replace=False)}
    found = net.p("x0_0", given, method="importance", budget="100000 samples")
    assert within(found, net.p("x0_0", given).p)


# --- what cannot be -------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["importance", "weighting", "loopy"])
def test_impossible_evidence_is_refused_with_the_conflict(method):
    given = {"smoke": "yes", "either": "yes", "lung": "no", "tub": "no"}
    text = "either=yes, lung=no and tub=no cannot be true together"
    for ask in (
        lambda: ASIA.p("dysp", given, method=method),
        lambda: ASIA.p("smoke", {k: v for k, v in given.items() if k != "smoke"}, method=method),
        lambda: ASIA.marginals(given, method=method),
        lambda: ASIA.log_evidence(given, method=method),
        lambda: ASIA.ask("P(dysp=yes | either=yes, lung=no, tub=no)", method=method),
    ):
        with pytest.raises(ImpossibleError, match=text):
            ask()


def test_a_conflict_far_from_the_question_is_found():
    net = cr.Network(
        "[a][b|a][c][d|c][e|c:d]",
        {
            "a": [0.5, 0.5],
            "b": [[0.5, 0.5], [0.2, 0.8]],
            "c": [0.5, 0.5],
            "d": [[1, 0], [0, 1]],
            "e": [[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]],
        },
        states={n: [0, 1] for n in "abcde"},
    )
    for method in ("exact", "importance", "loopy", "gibbs"):
        with pytest.raises(ImpossibleError, match="c=0 and d=1 cannot be true"):
            net.p("a", {"b": 1, "c": 0, "d": 1}, method=method)
    assert net.p("a", {"b": 1, "e": 1}, method="importance").approximation.variables == 1


def test_no_sample_that_agrees_is_not_an_answer(monkeypatch):
    n = 20
    names = [f"x{i}" for i in range(n)]
    net = cr.Network(
        [(names[i], "all") for i in range(n)],
        {
            **{x: [0.7, 0.3] for x in names},
            "all": np.eye(2)[(np.indices((2,) * n).sum(0) == n) * 1],
        },
        states={x: [0, 1] for x in [*names, "all"]},
    )
    with pytest.raises(LimitError, match=r"None of 2,000 samples agrees .* exp\(-24\.1\)"):
        net.p("x0", {"all": 1}, method="weighting", budget="2000 samples")
    assert net.p("x0", {"all": 1}, method="importance")[1] == 1.0


def test_gibbs_draws_together_what_zeros_tie_together():
    given = {"dysp": "yes", "xray": "yes"}
    exact = ASIA.marginals(given)
    for name, d in ASIA.marginals(given, method="gibbs", error=0.01).items():
        assert within(d, exact[name].p) and d.approximation.converged
    two = ASIA.p(["tub", "bronc"], given, method="gibbs", budget="128000 samples")
    assert within(two, ASIA.p(["tub", "bronc"], given).p)
    event = ASIA.ask("P(tub=yes, lung=no | dysp=yes, xray=yes)", method="gibbs")
    assert abs(event - ASIA.ask("P(tub=yes, lung=no | dysp=yes, xray=yes)")) < 0.02
    # each state of x is possible, and no single change leads from one to another
    net = parity()
    assert within(net.p(["a", "b"], {"x": 1}, method="gibbs"), np.array([[0, 0.5], [0.5, 0]]))
    with pytest.raises(ImpossibleError, match="x=1, y=1 and z=1 cannot be true together"):
        net.p("a", {"x": 1, "y": 1, "z": 1}, method="gibbs")


def test_impossible_evidence_that_only_a_block_shows(monkeypatch):
    monkeypatch.setattr(engine, "MAX_BYTES", 1)
    with pytest.raises(ImpossibleError, match="no states of a, b, c agree with it"):
        parity().p("a", {"x": 1, "y": 1, "z": 1}, method="gibbs")


def test_gibbs_is_refused_where_zeros_could_keep_chains_apart():
    n = 17
    names = [f"x{i}" for i in range(n)]
    table = np.eye(2)[(np.indices((2,) * n).sum(0) % 2)]
    net = cr.Network(
        [(x, "odd") for x in names],
        {**{x: [0.7, 0.3] for x in names}, "odd": table},
        states={x: [0, 1] for x in [*names, "odd"]},
    )
    with pytest.raises(InputError, match=r"table of 'odd' holds probabilities of zero.* too many"):
        net.p("x0", {"odd": 1}, method="gibbs")
    assert within(net.p("x0", {"odd": 1}, method="importance"), net.p("x0", {"odd": 1}).p)
    # zeros that the evidence takes away do no harm
    exact = ASIA.p("bronc", {"either": "no", "dysp": "yes"})
    assert within(ASIA.p("bronc", {"either": "no", "dysp": "yes"}, method="gibbs"), exact.p)


def test_chains_that_do_not_mix_are_not_called_so(monkeypatch):
    from credo.predict.approximate import gibbs as blocks

    monkeypatch.setattr(blocks, "SMALL", 0.0)  # else a and b would be drawn together
    eps = 1e-7
    copy = [[1 - eps, eps], [eps, 1 - eps]]
    net = cr.Network(
        "[a][b|a][c|b]", {"a": [0.5, 0.5], "b": copy, "c": [[0.6, 0.4], [0.4, 0.6]]},
        states={n: [0, 1] for n in "abc"},
    )  # fmt: skip
    p = net.p("a", {"c": 1}, method="gibbs", budget="64000 samples")
    assert not p.approximation.converged and not p.approximation.reliable
    assert "have not mixed" in str(p.approximation) and within(p, net.p("a", {"c": 1}).p)


@pytest.mark.parametrize("strength", [0.6, 1.0, 2.0])
def test_chains_that_have_not_mixed_claim_no_more_than_they_know(strength):
    """Half of the chains begin on the wrong side of a magnet and stay there."""
    grid = cr.ising_grid(4, 4, coupling=strength, field=0.1)
    a, b, far = grid.names[0], grid.names[5], grid.names[-1]
    for name, given in ((a, None), (b, {far: grid.variable(far).states[1]})):
        exact = grid.p(name, given).p
        for seed in range(20):
            found = grid.p(name, given, method="gibbs", budget="640 samples", rng=seed)
            assert exact in found.approximation.interval
            assert not found.approximation.reliable


def test_what_every_chain_knows_alike_has_one_interval_for_both_states():
    net = cr.Network("[a][b|a]", {"a": 0.3, "b": {False: 0.1, True: 0.8}})
    for d in (net.p("a", {"b": True}, method="gibbs"), net.p("a", method="gibbs")):
        low, high = d.approximation.interval
        assert high[0] - low[0] == pytest.approx(high[1] - low[1], rel=1e-6)


WRONG = [
    ({"method": "magic"}, "method must be 'auto', 'exact', 'importance'"),
    ({"budget": "soon"}, 'budget must be a time such as "2 s"'),
    ({"budget": -1}, "got -1"),
    ({"budget": 0}, "got 0"),
    ({"budget": True}, "got True"),
    ({"budget": float("nan")}, "budget must be"),
    ({"budget": "0 s"}, "budget must be"),
    ({"budget": "1.5 samples"}, "whole number of samples"),
    ({"budget": "1e12 samples"}, "1 to 1,000,000,000"),
    ({"budget": [1]}, "budget must be"),
    ({"error": 0}, "error must lie between"),
    ({"error": 2}, "error must lie between"),
    ({"error": "x"}, "error must lie between"),
    ({"method": "exact", "error": 0.1}, "neither a budget nor an error"),
    ({"method": "loopy", "error": 0.1}, "knows no error"),
    ({"method": "loopy", "budget": "100 samples"}, "draws no samples"),
    ({"rng": None}, "rng must be a whole-number seed"),
    ({"rng": -1}, "rng must be a whole-number seed"),
]


@pytest.mark.parametrize(("how", "text"), WRONG)
def test_what_cannot_be_asked_for(how, text):
    for ask in (
        lambda: ASIA.p("lung", **how),
        lambda: ASIA.ask("P(lung)", **how),
        lambda: ASIA.marginals(**how),
        lambda: ASIA.log_evidence({"lung": "yes"}, **how),
    ):
        with pytest.raises(InputError, match=text):
            ask()


def test_questions_that_a_method_does_not_answer():
    with pytest.raises(InputError, match="'asia', 'dysp' are not"):
        ASIA.p(["asia", "dysp"], method="loopy")
    with pytest.raises(InputError, match="does not give the probability of the evidence"):
        ASIA.log_evidence({"dysp": "yes"}, method="gibbs")
    with pytest.raises(InputError, match="argmax is answered exactly"):
        ASIA.ask("argmax P(lung, bronc)", method="importance")
    with pytest.raises(LimitError, match="would have 33,554,432 cells"):
        grid(6).p(list(grid(6).names[:25]), method="importance")
    flat = np.full(2000, 1 / 2000)
    wide = cr.Network(
        "[a][b][c|a:b]",
        {"a": flat, "b": flat, "c": np.full((2000, 2000, 2), 0.5)},
        states={"a": list(range(2000)), "b": list(range(2000)), "c": [0, 1]},
    )
    with pytest.raises(LimitError, match="would keep 256,000,000 sums"):
        wide.p(["a", "b"], {"c": 1}, method="gibbs")
    lines = cr.Network("[x]", [cr.LinearGaussian(cr.Variable("x", "continuous"), (), 0.0, [], 1.0)])
    for ask in (
        lambda: lines.p("x", method="gibbs"),
        lambda: lines.marginals(method="gibbs"),
        lambda: lines.log_evidence({"x": 1.0}, method="gibbs"),
    ):
        with pytest.raises(InputError, match="'x' is continuous"):
            ask()


# --- how it looks ---------------------------------------------------------------------------


def test_the_account():
    d = ASIA.p("lung", {"dysp": "yes"}, method="importance", budget="10000 samples", rng=3)
    a = d.approximation
    assert (a.method, a.samples, a.seed, a.variables) == ("importance", 10_000, 3, 6)
    assert 0 < a.effective <= 10_000 and 0 < a.largest_weight < 0.01 and a.reliable
    text = str(d).splitlines()
    assert text[0].split() == ["lung", "p", "±"]
    assert text[-1].startswith("approximate: importance sampling, 10,000 samples, effective ")
    assert "±0.0" in text[-1] and a.line in d._repr_html_()
    assert "seed 3" in str(a) and "heaviest" in str(a)
    again = pickle.loads(pickle.dumps(d))
    assert again == d and again.approximation.samples == 10_000
    assert d.marginal("lung").approximation.interval is None
    assert set(a.to_dict()) >= {"interval", "standard_error", "effective", "half_width", "why"}
    answer = ASIA.ask("P(lung | dysp=yes)", explain=True, method="weighting")
    assert isinstance(answer.account, Approximation)
    assert str(answer).count("likelihood weighting") == 1 and "stopped because" in str(answer)
    number = ASIA.ask("P(lung=yes | dysp=yes)", method="importance")
    again = pickle.loads(pickle.dumps(number))
    assert again == number and again.approximation.samples == number.approximation.samples
    assert repr(number).startswith("Estimate(0.1") and "approximate" in str(number)


def test_budgets():
    def asked(method="auto", **options):
        return request(ASIA, method=method, **options)

    assert asked(budget=" 500 ms ").seconds == 0.5
    assert asked(budget="2 min").seconds == 120
    assert asked(budget="10,000 Samples").samples == 10_000
    assert asked(budget="3").seconds == 3.0
    assert asked(rng=2**70).seed < 2**64
    assert not asked().agreed and asked(error=0.1).agreed and asked("gibbs").agreed


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("method", ["importance", "gibbs", "loopy"])
def test_ctrl_c_stops_within_a_second(method):
    seconds, _ = work_after_ctrl_c(
        """
        from tests.unit.predict.joint import grid
        net = grid(30)
        given = {"x29_29": 1, "x4_20": 0}
        net.p("x0_0", given, method="loopy")
        """,
        f"net.marginals(given, method={method!r}, budget='60 s')",
    )
    assert seconds < 1.0


def parity():
    """x, y and z tell whether pairs of a, b and c differ: an odd number of them never does."""
    differ = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    return cr.Network(
        "[a][b][c][x|a:b][y|b:c][z|a:c][t]",
        {**{n: [0.5, 0.5] for n in "abct"}, **dict.fromkeys("xyz", differ)},
        states={n: [0, 1] for n in "abcxyzt"},
    )


def test_what_messages_cannot_refute_exact_can_and_else_the_doubt_is_said(monkeypatch):
    net = parity()
    odd = {"x": 1, "y": 1, "z": 1}
    for ask in (
        lambda: net.p("a", odd, method="importance", budget="2000 samples"),
        lambda: net.p("t", odd, method="importance", budget="2000 samples"),
        lambda: net.log_evidence(odd, method="weighting", budget="2000 samples"),
    ):
        with pytest.raises(ImpossibleError, match="x=1, y=1 and z=1 cannot be true together"):
            ask()
    even = {"x": 1, "y": 1, "z": 0}
    assert within(net.p("a", even, method="importance"), np.array([0.5, 0.5]))
    monkeypatch.setattr(engine, "MAX_BYTES", 1)
    with pytest.raises(LimitError, match="None of 2,000 samples agrees with the evidence"):
        net.p("a", odd, method="importance", budget="2000 samples")


def test_messages_that_agree_on_what_cannot_be_give_no_number():
    """Each of three differences can be, but not all: every message is even, none is zero."""
    net = parity()
    for model in (net, net.to_markov_network()):
        for ask in (
            model.log_evidence,
            model.marginals,
            lambda e, method, m=model: m.p("a", e, method=method),
        ):
            with pytest.raises(ImpossibleError, match="x=1, y=1 and z=1 cannot be true together"):
                ask({"x": 1, "y": 1, "z": 1}, method="loopy")
        assert model.p("a", {"x": 1, "y": 1, "z": 0}, method="loopy")[1] == pytest.approx(0.5)
    circle = {("a", "b"): np.eye(2), ("b", "c"): np.eye(2), ("c", "a"): 1 - np.eye(2)}
    with pytest.raises(ImpossibleError, match="The factors rule out every configuration"):
        cr.MarkovNetwork(circle).p("a", method="loopy")


def test_no_time_at_all_still_gives_one_batch():
    net = grid(12)
    for method in ("importance", "weighting", "gibbs", "loopy"):
        found = net.marginals({"x11_11": 1}, method=method, budget=1e-6)
        a = found["x0_0"].approximation
        assert a.samples > 0 or a.iterations >= 1
        assert "time" in a.stopped or a.converged
    assert "sweep" in found["x0_0"].approximation.line
    assert "changed by" in str(found["x0_0"].approximation)
    assert found["x0_0"].approximation.to_dict()["residual"] >= 0


# --- errors that are stated -------------------------------------------------------------------


@pytest.mark.parametrize("method", ["importance", "weighting"])
def test_nothing_left_to_draw_is_exact(method):
    net = cr.Network("[a][b]", {"a": [0.9, 0.1], "b": [0.95, 0.05]})
    given = {"a": False, "b": False}
    found = net.log_evidence(given, method=method, budget="5000 samples")
    assert abs(found - np.log(0.9 * 0.95)) < 1e-14
    a = found.approximation
    assert a.exact and a.reliable and a.half_width == 0 and a.samples == 0
    assert str(found) == "-0.156654 (exact: nothing was left to draw)"
    chain = cr.Network(
        "[a][b|a][c|b]", {"a": 0.3, "b": {False: 0.1, True: 0.8}, "c": {False: 0.2, True: 0.7}}
    )
    root = chain.log_evidence({"a": True}, method=method)  # nothing that is drawn weighs
    assert root.approximation.exact and abs(root - np.log(0.3)) < 1e-14


@pytest.mark.parametrize("seed", range(20))
def test_weights_that_happen_to_agree_are_not_an_exact_answer(seed):
    """Most runs of 500 never draw a=True, which has another weight."""
    net = cr.Network("[a][b|a]", {"a": 0.001, "b": {False: 0.9, True: 0.1}})
    exact = net.log_evidence({"b": True})
    found = net.log_evidence({"b": True}, method="weighting", budget="500 samples", rng=seed)
    a = found.approximation
    assert a.standard_error[0] > 0 and not a.exact
    assert a.interval.lower <= exact <= a.interval.upper
    assert a.half_width < 0.02


@pytest.mark.parametrize("method", ["importance", "weighting", "gibbs"])
def test_a_state_that_was_never_drawn_has_an_error(method):
    net = cr.Network("[a][b|a]", {"a": 1e-6, "b": {False: 0.9, True: 0.1}})
    found = net.p("a", {"b": True}, method=method, budget="20000 samples")
    assert found[True] < 1e-3 and (found.approximation.standard_error > 0).all()
