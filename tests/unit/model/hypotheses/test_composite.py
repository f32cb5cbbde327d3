"""A belief as a hypothesis: its likelihood is the marginal likelihood, and it learns."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import credo as cr
from credo.errors import ImpossibleError, InputError

FLIPS = [True] * 12 + [False] * 8
COIN = {"fair": cr.Bernoulli(0.5), "unknown": cr.Beta(1, 1)}
MEANS = {"zero": cr.Gaussian(0, 1), "somewhere": cr.distributions.NormalMean(0, 1, 1)}


def test_a_coin_of_unknown_bias_against_a_fair_one() -> None:
    h = cr.Hypotheses(COIN).observe(FLIPS)
    unknown, _ = integrate.quad(lambda p: p**12 * (1 - p) ** 8, 0, 1)
    assert h.log_likelihood["fair"] == pytest.approx(20 * math.log(0.5), abs=1e-12)
    assert h.log_likelihood["unknown"] == pytest.approx(math.log(unknown), abs=1e-9)
    assert h.posterior["fair"] == pytest.approx(0.5**20 / (0.5**20 + unknown), abs=1e-9)
    assert round(h.posterior["fair"], 3) == 0.716


def test_a_mean_that_is_not_known() -> None:
    x = [1.0, 2.0, 3.0]
    h = cr.Hypotheses(MEANS).observe(x)
    marginal = stats.multivariate_normal(np.zeros(3), np.eye(3) + np.ones((3, 3))).logpdf(x)
    assert h.log_likelihood["somewhere"] == pytest.approx(marginal, abs=1e-12)
    assert round(h.posterior["somewhere"], 3) == 0.978


@pytest.mark.parametrize(
    ("belief", "point", "data"),
    [
        (cr.Beta(2, 0.5, states=("t", "h")), cr.Bernoulli(0.3, states=("t", "h")), list("thhtht")),
        (
            cr.Dirichlet([1, 2, 0.5], states=("a", "b", "c")),
            {"a": 0.2, "b": 0.3, "c": 0.5},
            list("abcacca"),
        ),
        (cr.distributions.NormalMean(1, 2, 3), cr.Gaussian(0, 1), [0.5, -2.0, 7.0, 7.0]),
        (cr.distributions.NormalInverseGamma(0, 1, 2, 3), cr.Gaussian(0, 1), [0.5, -2.0, 7.0, 7.0]),
        (
            cr.distributions.NormalInverseWishart([0, 1], 1, 4, [[1, 0], [0, 2]]),
            cr.distributions.MultivariateGaussian([0, 0], [[1, 0], [0, 1]]),
            [(1.0, 2.0), (0.0, -1.0), (3.0, 3.5)],
        ),
    ],
)
def test_one_by_one_equals_at_once_and_the_product_of_predictives(
    belief: Any, point: Any, data: list[Any]
) -> None:
    start = cr.Hypotheses({"learns": belief, "fixed": point})
    steps = [start]
    total = 0.0
    for i, x in enumerate(data):
        now = steps[-1]
        predictive = belief.update(data[:i]).predictive() if i else belief.predictive()
        expected = predictive.log_p(x) if isinstance(x, str) else float(predictive.logpdf(x))
        total += expected
        steps.append(now.observe_one(x))
        assert steps[-1].log_likelihood["learns"] == pytest.approx(total, abs=1e-10)
        averaged = now.posterior["learns"] * math.exp(expected) + now.posterior["fixed"] * (
            math.exp(steps[-1].log_likelihood["fixed"] - now.log_likelihood["fixed"])
        )
        assert now.p(x) == pytest.approx(averaged, rel=1e-10)
    at_once = start.observe(data)
    assert at_once.posterior.isclose(steps[-1].posterior, 1e-12)
    assert at_once == steps[-1]
    assert at_once.log_likelihood["learns"] == pytest.approx(belief.log_marginal(data), abs=1e-10)
    np.testing.assert_allclose(
        at_once.history.posteriors, [s.posterior.p for s in steps], atol=1e-12
    )
    np.testing.assert_allclose(
        at_once.history.predictions(data[0])["average"], [s.p(data[0]) for s in steps], rtol=1e-10
    )


def test_counts_are_repeats() -> None:
    h = cr.Hypotheses(COIN)
    assert h.observe({True: 12, False: 8}, counts=True).posterior == h.observe(FLIPS).posterior
    g = cr.Hypotheses(MEANS)
    counted = g.observe([1.0, 2.0], counts=[3, 2])
    assert counted.posterior.isclose(g.observe([1.0, 1.0, 1.0, 2.0, 2.0]).posterior, 1e-12)


def test_many_single_steps_do_not_drift() -> None:
    h = cr.Hypotheses({"a": cr.Beta(1, 1), "b": cr.Bernoulli(0.5)})
    rng = np.random.default_rng(0)
    for x in (flips := (rng.random(2000) < 0.6).tolist()):
        h = h.observe_one(x)
    assert h.log_likelihood["a"] == cr.Beta(1, 1).log_marginal(flips)


def test_predictions_use_what_was_learned() -> None:
    h = cr.Hypotheses({"unknown": cr.Beta(1, 1)}).observe([True] * 8)
    assert h.predict(True) == pytest.approx(9 / 10)
    assert h.predict(by="map")[False] == pytest.approx(1 / 10)
    assert cr.Hypotheses({"unknown": cr.Beta(1, 1)}).predict(True) == 0.5
    assert "P(True next)" in str(h.history)


def test_a_state_that_a_belief_lacks_rules_it_out() -> None:
    h = cr.Hypotheses(
        {"two": cr.Beta(1, 1, states=("a", "b")), "three": {"a": 0.4, "b": 0.4, "c": 0.2}}
    )
    seen = h.observe(["a", "c"])
    assert dict(seen.ruled_out) == {"two": "c"}
    assert seen.posterior["two"] == 0
    with pytest.raises(ImpossibleError, match="Observation 1, 'c'"):
        cr.Hypotheses(
            {"two": cr.Beta(1, 1, states=("a", "b")), "one": {"a": 1.0, "c": 0.0}}
        ).observe("c")
    open_space = cr.Hypotheses(
        {"two": cr.Beta(1, 1, states=("a", "b")), "function": lambda x: 0.25}
    )
    assert open_space.observe(["a", "c"]).posterior["function"] == 1


def test_a_belief_that_is_no_distribution_is_refused() -> None:
    with pytest.raises(InputError, match=r"'flat' is NormalMean.*not yet a distribution.*proper"):
        cr.Hypotheses({"flat": cr.distributions.NormalMean.flat(1)})
    learned = cr.distributions.NormalMean.flat(1).update([1.0])
    assert cr.Hypotheses({"learned": learned}).observe(1.0).log_likelihood[
        "learned"
    ] == pytest.approx(stats.norm(1, math.sqrt(2)).logpdf(1.0))


def test_what_a_belief_cannot_learn_from_is_named() -> None:
    with pytest.raises(InputError, match="'b' failed on 'x'"):
        cr.Hypotheses({"b": cr.distributions.NormalMean(0, 1, 1)}).observe("x")


def test_equality_tells_beliefs_apart_and_survives_a_pickle() -> None:
    h = cr.Hypotheses(COIN).observe(FLIPS)
    other = {"fair": cr.Bernoulli(0.5), "unknown": cr.Beta(2, 2)}
    assert h != cr.Hypotheses(other).observe(FLIPS)
    assert cr.Hypotheses(COIN) != cr.Hypotheses(other)
    again = pickle.loads(pickle.dumps(h))
    assert again == h
    assert again.p(True) == h.p(True)
