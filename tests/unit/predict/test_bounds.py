"""Bounds on continuous variables: P(x > c | …)."""

import numpy as np
import pytest
from scipy.stats import norm

import credo as cr

NET = cr.Network(
    "[sex][x|sex]",
    [
        cr.Cpt(cr.Variable("sex", "discrete", ("f", "m")), (), [0.4, 0.6]),
        cr.LinearGaussian(
            cr.Variable("x", "continuous"),
            (cr.Variable("sex", "discrete", ("f", "m")),),
            [1.0, 3.0], [[], []], [1.0, 4.0],
        ),
    ],
)  # fmt: skip


def test_a_bound_is_what_the_distribution_says():
    above = 0.4 * norm.sf(2, 1, 1) + 0.6 * norm.sf(2, 3, 2)
    assert NET.ask("P(x > 2)") == pytest.approx(above, rel=1e-12)
    assert NET.ask("P(x >= 2)") == pytest.approx(above, rel=1e-12)
    assert NET.ask("P(x <= 2)") == pytest.approx(1 - above, rel=1e-12)
    assert NET.ask("P('x'<2)") == pytest.approx(1 - above, rel=1e-12)
    assert NET.ask("P(x > 2 | sex=f)") == pytest.approx(norm.sf(2, 1, 1), rel=1e-12)
    assert NET.ask("P(x > -1e1)") == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("P(x > high)", "a number for 'x'"),
        ("P(x > 2, sex)", "has a state or a range, but 'sex' has none"),
        ("argmax P(x > 2)", "argmax"),
        ("P(sex | x > 2, x < 1)", "No number lies above 2 and below 1"),
        ("P(sex | 1 < x > 2)", "a range such as 2 < x < 5"),
        ("P(sex | y > 2)", "'y' .character 9. is not in the model"),
        ("P(sex | x = nan)", "a number for 'x'"),
        ("P(sex > 2)", "have no order, so > says nothing of them"),
    ],
)
def test_what_is_refused_is_told(question, told):
    with pytest.raises(cr.errors.CredoError, match=told):
        NET.ask(question)


def test_a_bound_has_its_interval_draw_by_draw():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 200)
    rows = {"sex": sex, "x": np.where(sex == "f", rng.normal(1, 1, 200), rng.normal(3, 2, 200))}
    net = cr.fit("[sex][x|sex]", rows, prior={"sex": cr.BDeu(2)}, default=cr.LinePrior())
    found = net.ask("P(x > 2)", interval=0.9)
    low, high = found.interval
    assert float(found) == net.ask("P(x > 2)") and low < float(found) < high
    assert found.interval.draws == 1000 and high - low < 0.2
    below = net.ask("P(x <= 2)", interval=0.9)
    assert next(iter(below.interval)) == pytest.approx(1 - high, abs=0.01)
    # a number alone: the posterior of Φ((c − μ)/σ) by the same prior, drawn by hand
    own = {"x": rows["x"]}
    line = cr.fit("[x]", own, prior=cr.LinePrior())
    told = line.ask("P(x <= 2)", interval=0.9).interval
    n, mean, var = 200, rows["x"].mean(), rows["x"].var()
    sigma2 = n * var / rng.chisquare(n - 1, 20_000)
    mu = rng.normal(mean, np.sqrt(sigma2 / n))
    by_hand = np.quantile(norm.cdf((2 - mu) / np.sqrt(sigma2)), [0.05, 0.95])
    assert np.allclose(list(told), by_hand, atol=0.01)


def test_states_with_marks_are_still_states():
    net = cr.Network("[age]", {"age": [0.3, 0.7]}, states={"age": ["<30", ">=30"]})
    assert net.ask("P(age=<30)") == pytest.approx(0.3)
    assert net.ask("P(age='>=30')") == pytest.approx(0.7)
