"""Intervals on questions: draws of the parameters through the plan."""

import pickle

import numpy as np
import pytest

import credo as cr
from credo.errors import ImpossibleError, InputError, LimitError, UnknownNameError
from credo.model.answers.credible import Credible
from credo.predict.intervals import draws as plans
from credo.predict.intervals import interval as module
from credo.predict.intervals.draws import Draws, dirichlet_rows

DAG = "[Pneu][Fev|Pneu][Cou|Pneu]"


@pytest.fixture(scope="module")
def net():
    return cr.fit(DAG, cr.examples.pneumonia(), prior=cr.Beta(3, 4))


def by_hand(net, draws, seed=0):
    """Every table drawn, and the joint of the three variables multiplied out: [draws, 2, 2, 2]."""
    drawn = Draws(net, seed).next(net.names, draws)
    pneu = drawn["Pneu"][:, :, None, None]
    fev = drawn["Fev"].reshape(draws, 2, 2)[:, :, :, None]
    cou = drawn["Cou"].reshape(draws, 2, 2)[:, :, None, :]
    return pneu * fev * cou


def test_an_entry_of_a_table_agrees_with_its_beta(net):
    answer = net.ask("P(Fev=T | Pneu=T)", interval=0.95, draws=20_000)
    exact = cr.Beta(6, 6).interval(0.95)
    assert float(answer) == 0.5 and answer.draws == 20_000
    assert answer.low == pytest.approx(exact.lower, abs=5 * answer.error)
    assert answer.high == pytest.approx(exact.upper, abs=5 * answer.error)
    assert 0 < answer.error < 0.01
    assert answer.interval.level == 0.95 and answer.low < answer < answer.high


def test_answers_are_those_of_the_joint_multiplied_out(net):
    joint = by_hand(net, 500)
    posterior = joint[:, :, 1, :].sum(axis=2)
    posterior /= posterior.sum(axis=1, keepdims=True)
    answer = net.p("Pneu", {"Fev": "T"}, interval=0.9, draws=500)
    assert answer == answer and answer.p.tolist() == net.p("Pneu", {"Fev": "T"}).p.tolist()
    assert np.allclose(answer.low, np.quantile(posterior, 0.05, axis=0), rtol=1e-10)
    assert np.allclose(answer.high, np.quantile(posterior, 0.95, axis=0), rtol=1e-10)
    both = joint[:, :, 1, 1].sum(axis=1)
    event = net.ask("P(Fev=T, Cou=T)", interval=0.9, draws=500)
    assert tuple(event.interval) == pytest.approx(tuple(np.quantile(both, [0.05, 0.95])), rel=1e-10)
    table = net.p(["Fev", "Cou"], {"Pneu": "T"}, interval=0.9, draws=500)
    given = joint[:, 1] / joint[:, 1].sum(axis=(1, 2), keepdims=True)
    assert np.allclose(table.low, np.quantile(given, 0.05, axis=0), rtol=1e-10)
    every = net.marginals({"Cou": "F"}, interval=0.9, draws=500)
    fev = joint[:, :, :, 0].sum(axis=1)
    fev /= fev.sum(axis=1, keepdims=True)
    assert np.allclose(every["Fev"].high, np.quantile(fev, 0.95, axis=0), rtol=1e-10)
    soft = net.p(["Pneu", "Fev"], {"Pneu": {"T": 0.8, "F": 0.2}}, interval=0.9, draws=500)
    weighted = joint.sum(axis=3) * np.array([0.2, 0.8])[:, None]
    weighted /= weighted.sum(axis=(1, 2), keepdims=True)
    assert np.allclose(soft.low, np.quantile(weighted, 0.05, axis=0), rtol=1e-10)
    assert np.allclose(soft.p, net.p(["Pneu", "Fev"], {"Pneu": {"T": 0.8, "F": 0.2}}).p)


def test_blocks_do_not_change_the_draws(net, monkeypatch):
    whole = [net.p("Pneu", {"Fev": "T"}, interval=0.9), net.p(["Fev", "Cou"], interval=0.9)]
    monkeypatch.setattr(plans, "_BYTES", 8 * 8 * 90)
    parts = [net.p("Pneu", {"Fev": "T"}, interval=0.9), net.p(["Fev", "Cou"], interval=0.9)]
    for a, b in zip(whole, parts, strict=True):
        assert np.allclose(a.low, b.low, rtol=1e-12) and np.allclose(a.high, b.high, rtol=1e-12)


def test_how_it_looks(net):
    answer = net.ask("P(Fev=T | Pneu=T)", interval=0.95)
    assert str(answer).startswith("0.5  95 %: 0.2")
    assert "(1,000 draws, ends ± 0.0" in str(answer)
    assert f"{answer:.3f}" == "0.500" and repr(answer).startswith("Probability(0.5, 0.2")
    assert pickle.loads(pickle.dumps(answer)).interval == answer.interval
    d = net.p("Fev", interval=0.95)
    assert "95 %" in str(d) and "┝" in str(d) and d.draws == 1000 and d.error.shape == (2,)
    explained = net.ask("P(Fev=T | Pneu=T)", explain=True, interval=0.95)
    assert "95 %" in str(explained) and float(explained) == 0.5
    with pytest.raises(InputError, match="it carries no interval"):
        net.p("Fev").low
    with pytest.raises(InputError, match="was not found by draws"):
        net.cpt("Fev").row(Pneu="T", interval=0.9).draws


def test_interventions_and_known_tables(net):
    done = net.ask("P(Fev=T | do(Pneu=T))", interval=0.95)
    seen = net.ask("P(Fev=T | Pneu=T)", interval=0.95)
    assert tuple(done.interval) == tuple(seen.interval)
    held = cr.fit(
        DAG, cr.examples.pneumonia(), cr.K2(), fixed={"Fev": {"F": [0.9, 0.1], "T": [0.2, 0.8]}}
    )
    known = held.p("Fev", {"Pneu": "T"}, interval=0.95)
    assert known.low.tolist() == pytest.approx(known.high.tolist(), abs=1e-15)
    assert held.p("Fev", interval=0.95).high[1] > held.p("Fev", interval=0.95).low[1]


def test_tied_families_are_drawn_together():
    net = cr.fit(DAG, cr.examples.pneumonia(), cr.K2(), tied=[["Fev", "Cou"]])
    drawn = Draws(net, 0).next(net.names, 10)
    assert (drawn["Fev"] == drawn["Cou"]).all()
    assert net.p("Fev", {"Pneu": "T"}, interval=0.9).low.tolist() == pytest.approx(
        net.p("Cou", {"Pneu": "T"}, interval=0.9).low.tolist(), rel=1e-12
    )


def test_refusals(net):
    plain = cr.Network("[a]", {"a": 0.3})
    for ask in (plain.p, lambda n, **k: plain.ask(f"P({n})", **k)):
        with pytest.raises(InputError, match="has no posterior, so it cannot say how sure it is"):
            ask("a", interval=0.95)
    with pytest.raises(InputError, match="has no posterior"):
        cr.fit("[Fev]", cr.examples.pneumonia()).marginals(interval=0.9)
    with pytest.raises(InputError, match="argmax gives states"):
        net.ask("argmax P(Fev, Cou)", interval=0.95)
    for bad in (0, 1, 95, "x", float("nan")):
        with pytest.raises(InputError, match="The level of an interval must lie between 0 and 1"):
            net.p("Fev", interval=bad)
    with pytest.raises(InputError, match="An interval needs at least 20 draws, got 3"):
        net.p("Fev", interval=0.9, draws=3)
    with pytest.raises(InputError, match=r"of 99.99 % needs at least 10,000 draws, got 1,000"):
        net.p("Fev", interval=0.9999)  # no draw would lie beyond either end
    assert "99.99 %" in str(net.p("Fev", interval=0.9999, draws=10_000))
    with pytest.raises(LimitError, match="draws must be at most"):
        net.p("Fev", interval=0.9, draws=10**9)
    with pytest.raises(InputError, match="rng must be a whole-number seed"):
        net.p("Fev", interval=0.9, rng=None)
    with pytest.raises(UnknownNameError, match="Did you mean 'Fev'"):
        net.p("Feve", interval=0.9)
    held = cr.fit("[Fev]", cr.examples.pneumonia(), fixed={"Fev": [1.0, 0.0]})
    with pytest.raises(InputError, match="has no posterior"):
        held.p("Fev", interval=0.9)
    mixed = cr.fit(
        "[Pneu][Fev|Pneu]",
        cr.examples.pneumonia(),
        cr.K2(),
        fixed={"Fev": {"F": [1, 0], "T": [1, 0]}},
    )
    with pytest.raises(ImpossibleError, match="probability zero"):
        mixed.p("Pneu", {"Fev": "T"}, interval=0.9)


def test_a_joint_of_too_many_configurations_is_refused(net, monkeypatch):
    monkeypatch.setattr(module, "MAX_CONFIGURATIONS", 1)
    with pytest.raises(LimitError, match="has 2 configurations of all but the last"):
        net.p(["Fev", "Cou"], interval=0.9)


def test_rows_of_tiny_pseudocounts_do_not_vanish():
    gen = [np.random.default_rng(s) for s in (0, 1)]
    alpha = np.array([[1e-3, 2e-3, 1e-3], [2.0, 1.0, 1.0]])
    found = dirichlet_rows(alpha, 20_000, *gen).reshape(-1, 2, 3)
    assert np.isfinite(found).all() and np.allclose(found.sum(axis=2), 1)
    assert found.mean(axis=0) == pytest.approx(
        np.array([[0.25, 0.5, 0.25], [0.5, 0.25, 0.25]]), abs=0.015
    )
    rows = {"a": ["x", "y", "x"], "b": ["u", "u", "v"]}
    net = cr.fit("[a][b|a]", rows, cr.BDeu(1e-3))
    answer = net.p("a", {"b": "v"}, interval=0.9)
    assert np.isfinite(answer.low).all() and answer.draws <= 1000


def test_entries_too_small_to_carry_are_left_out_only_where_that_cannot_matter(monkeypatch):
    """Tiny pseudo-counts: the same answers as with every entry carried, to 1e-12."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 200)
    rows = {"a": a, "b": (a + rng.integers(0, 2, 200)) % 3, "c": rng.integers(0, 3, 200) * (a > 0)}
    table = cr.read({k: [f"s{x}" for x in v] for k, v in rows.items()})
    net = cr.fit("[a][b|a][c|a:b]", table, cr.BDeu(0.05))
    questions = [("a", {"c": "s2", "b": "s1"}), ("a", {"c": "s1"}), (["a", "b"], {"c": "s2"})]
    quick = [net.p(t, g, interval=0.9) for t, g in questions]
    monkeypatch.setattr(plans, "_SMALL", 0.0)
    slow = [net.p(t, g, interval=0.9) for t, g in questions]
    for one, other in zip(quick, slow, strict=True):
        assert one.draws == other.draws
        assert np.allclose(one.low, other.low, rtol=1e-11, atol=1e-13)
        assert np.allclose(one.high, other.high, rtol=1e-11, atol=1e-13)


def test_draws_under_which_the_evidence_is_impossible_are_left_out():
    rows = {"a": ["x", "y"] * 4, "b": ["u"] * 8}
    table = cr.read(rows, schema={"b": ["u", "v"]})
    net = cr.fit("[a][b|a]", table, cr.BDeu(1e-3))
    answer = net.p("a", {"b": "v"}, interval=0.9, draws=200)
    assert 0 < answer.draws < 200
    assert 0 < net.p(["a", "b"], interval=0.9).draws <= 1000


def test_the_error_of_the_ends_is_honest():
    """The spread of the ends over many seeds is what `error` says, within a third or so."""
    ends, errors = [], []
    for seed in range(300):
        c = Credible.of(np.random.default_rng(seed).normal(size=1000), 0.9)
        ends.append(tuple(c))
        errors.append(c.error)
    spread = np.std(ends, axis=0).max()
    assert np.mean(errors) == pytest.approx(spread, rel=0.35)
    assert np.mean(ends, axis=0) == pytest.approx([-1.645, 1.645], abs=0.02)


# --- continuous ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lines():
    rng = np.random.default_rng(0)
    c = rng.choice(["a", "b"], 60)
    x = rng.normal(0, 1, 60) + (c == "b")
    y = 2 * x + rng.normal(0, 0.5, 60)
    return cr.fit("[c][x|c][y|x]", {"c": c.tolist(), "x": x, "y": y}, cr.BDeu(2))


def test_a_continuous_answer_has_intervals_of_mean_and_sd(lines):
    answer = lines.p("y", {"x": 1.0, "c": "a"}, interval=0.9, draws=20_000)
    point = lines.p("y", {"x": 1.0, "c": "a"})
    assert (answer.mean, answer.variance) == (point.mean, point.variance)
    line = lines.cpt("y")
    p = line.posterior
    scale = np.sqrt(p.beta / p.alpha * (1 / p.weight + (1 - p.centre[0]) ** 2 / p.spread[0, 0]))
    t = cr.distributions.StudentT(float(2 * p.alpha), answer.mean, float(scale)).interval(0.9)
    error = answer.mean_interval.error
    assert tuple(answer.mean_interval) == pytest.approx(tuple(t), abs=5 * error)
    sd = np.sqrt(np.array(tuple(line.interval(0.9))))
    assert tuple(answer.sd_interval) == pytest.approx(sd, abs=5 * answer.sd_interval.error)
    assert "90 %" in str(answer) and answer.draws == 20_000
    assert isinstance(answer, cr.Gaussian)
    both = lines.p(["x", "y"], {"c": "a"}, interval=0.9, draws=20_000)
    assert both.mean_interval.lower.shape == (2,) and both.draws == 20_000
    assert both.correlation_interval.lower.shape == (2, 2)


def test_conditioning_a_line_on_its_child(lines):
    """Against Bayes' rule done by hand for every draw."""
    answer = lines.p("x", {"y": 3.0, "c": "b"}, interval=0.9, draws=400)
    drawn = Draws(lines, 0).next(["x", "y"], 400)
    ax, _, vx = (p[:, 1] for p in drawn["x"])
    ay, by, vy = drawn["y"]
    by = by[:, 0]
    precision = 1 / vx + by**2 / vy
    mean = (ax / vx + by * (3.0 - ay) / vy) / precision
    assert tuple(answer.mean_interval) == pytest.approx(
        tuple(np.quantile(mean, [0.05, 0.95])), rel=1e-9
    )
    sd = precision**-0.5
    assert tuple(answer.sd_interval) == pytest.approx(
        tuple(np.quantile(sd, [0.05, 0.95])), rel=1e-9
    )


def test_densities_of_observed_values_are_drawn_too(lines):
    answer = lines.p("c", {"x": 0.5, "y": 1.2}, interval=0.9, draws=400)
    drawn = Draws(lines, 0).next(["c", "x", "y"], 400)
    a, _, v = drawn["x"]
    density = np.exp(-0.5 * (0.5 - a) ** 2 / v) / np.sqrt(v)
    posterior = drawn["c"] * density
    posterior /= posterior.sum(axis=1, keepdims=True)
    assert np.allclose(answer.low, np.quantile(posterior, 0.05, axis=0), rtol=1e-9)
    gaussian = cr.fit(
        "[x][y|x]", {"x": [1.0, 2.0, 3.5, 4.0, 5.5], "y": [1.0, 2.0, 3.0, 4.5, 5.0]}, cr.LinePrior()
    )
    every = gaussian.marginals(interval=0.9)
    assert set(every) == {"x", "y"} and every["y"].draws == 1000
    hidden = lines.p("c", {"y": 1.2}, interval=0.9, draws=400)
    ay, by, vy = (p.reshape(400, -1)[:, :1] for p in drawn["y"])
    spread = by**2 * v + vy  # x integrated out, draw by draw
    density = np.exp(-0.5 * (1.2 - ay - by * a) ** 2 / spread) / np.sqrt(spread)
    posterior = drawn["c"] * density
    posterior /= posterior.sum(axis=1, keepdims=True)
    assert np.allclose(hidden.low, np.quantile(posterior, 0.05, axis=0), rtol=1e-9)


def test_known_lines_have_no_width():
    rows = {"c": ["a", "b"] * 5, "x": list(np.linspace(0.1, 3.3, 10))}
    c = cr.Variable("c", "discrete", ("a", "b"))
    line = cr.LinearGaussian(
        cr.Variable("x", "continuous"), (c,), [0.0, 1.0], np.zeros((2, 0)), 1.0
    )
    net = cr.fit("[c][x|c]", rows, cr.K2(), fixed={"x": line})
    assert net.p("x", {"c": "b"}, interval=0.9).mean_interval.width == 0.0
    assert net.p("c", {"x": 1.0}, interval=0.9).interval.width.max() > 0


def test_what_would_not_fit_is_refused_before_a_draw(net, monkeypatch):
    monkeypatch.setattr(plans, "MAX_NUMBERS", 1000)
    for ask in (lambda: net.p("Fev", interval=0.9), lambda: net.marginals(interval=0.9)):
        with pytest.raises(LimitError, match=r"1,000 draws of . probabilities are"):
            ask()
    monkeypatch.setattr(plans, "MAX_NUMBERS", 10**9)
    monkeypatch.setattr(plans, "MAX_WORK", 10)
    with pytest.raises(LimitError, match="multiplications for 1,000 draws"):
        net.p(["Fev", "Cou"], interval=0.9)


def test_counts_of_zero():
    v, w = cr.Variable("v", "discrete", ("a", "b", "c")), cr.Variable("w", "discrete", (0, 1))
    table = cr.Cpt(v, (), [0.5, 0.5, 0.0], [2.0, 2.0, 0.0])
    low, high = table.interval(0.9)
    assert (low[2], high[2]) == (0.0, 0.0) and 0 < low[0] < high[0] < 1
    sure = cr.Cpt(w, (), [1.0, 0.0], [3.0, 0.0]).interval(0.9)
    assert sure.lower.tolist() == [1.0, 0.0] and sure.upper.tolist() == [1.0, 0.0]
    net = cr.Network([], [table])
    assert net.p("v", interval=0.9).high[2] == 0.0
    tiny = cr.Network([], [cr.Cpt(v, (), [0.5, 0.5, 0.0], [2e-3, 2e-3, 0.0])])
    assert tiny.p("v", interval=0.9).high[2] == 0.0
    empty = cr.Network([], [cr.Cpt(v, (), [0.5, 0.5, 0.0], [0.0, 0.0, 0.0])])
    with pytest.raises(InputError, match="The posterior of 'v' has a row without counts"):
        empty.p("v", interval=0.9)


def test_predictions_of_rows_have_intervals(net, lines, monkeypatch):
    rows = {"Fev": ["T", "F", None, "T"], "Cou": ["T", "T", "F", "T"]}
    found = net.predict_proba(rows, "Pneu", interval=0.9, draws=200)
    assert np.array_equal(found.p, net.predict_proba(rows, "Pneu"))
    for i, (f, c) in enumerate(zip(*rows.values(), strict=True)):
        one = net.p("Pneu", {"Fev": f, "Cou": c}, interval=0.9, draws=200)
        assert np.allclose(found.low[i], one.low, rtol=1e-9)
        assert np.allclose(found.high[i], one.high, rtol=1e-9)
    from credo.predict.intervals import interval as interval_rows

    monkeypatch.setattr(interval_rows, "_NUMBERS", 400)  # one row at a time
    again = net.predict_proba(rows, "Pneu", interval=0.9, draws=200)
    assert np.array_equal(again.low, found.low) and np.array_equal(again.high, found.high)
    mixed = {"x": [0.5, -1.0], "y": [1.2, 0.3]}
    low = lines.predict_proba(mixed, "c", interval=0.9, draws=100).low
    one = lines.p("c", {"x": 0.5, "y": 1.2}, interval=0.9, draws=100)
    assert np.allclose(low[0], one.low, rtol=1e-9)
    with pytest.raises(UnknownNameError, match="Variable 'Pne' is not in the model"):
        net.predict_proba(rows, "Pne", interval=0.9)
    with pytest.raises(InputError, match="has no posterior"):
        cr.Network("[a]", {"a": 0.3}).predict_proba({"a": [True]}, "a", interval=0.9)


def test_a_network_learned_without_a_prior_says_how_to_learn_it_with_one():
    net = cr.learn(cr.examples.pneumonia(), "bic", parameters=None)
    with pytest.raises(InputError, match=r"cr\.learn\(rows, parameters=cr\.BDeu\(1\)\)\."):
        net.ask("P(Pneu)", interval=0.95)
