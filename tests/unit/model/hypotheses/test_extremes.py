"""Densities and priors near the ends of what a float can hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError, LimitError
from credo.model.distributions.gaussian import Gaussian
from credo.model.hypotheses.hypotheses import Hypotheses

BEYOND = r"The density of .* is exp\(.*\), beyond a float\. Ask for log_p instead\."


@pytest.fixture
def peaked():
    wide = cr.distributions.MultivariateGaussian(np.zeros(400), 1e-4 * np.eye(400))
    wider = cr.distributions.MultivariateGaussian(np.zeros(400), 1e-2 * np.eye(400))
    return Hypotheses({"wide": wide, "wider": wider})


@pytest.mark.parametrize("call", [lambda x: 1e308, lambda x: 2e250])
def test_a_log_density_whose_multiples_overflow_is_refused(call):
    h = Hypotheses({"a": call, "b": lambda x: 0.0}, log=True)
    with pytest.raises(
        InputError,
        match=r"hypothesis 'a' must be a log-probability of at most 1e\+250, got .* for 0\.",
    ):
        h.observe([0, 1])


def test_so_is_that_of_a_distribution():
    class Peak:
        def logpdf(self, x):
            return np.full(np.shape(x), 1e308)

    with pytest.raises(InputError, match=r"of at most 1e\+250, got 1e\+308 for 0"):
        Hypotheses({"a": Peak()}).observe([0, 1])


def test_large_log_densities_add_up():
    h = Hypotheses({"a": lambda x: 1e250, "b": lambda x: 1e250}, log=True)
    h = h.observe([0, 1]).observe({0: 1e15}, counts=True)
    assert h.posterior["a"] == 0.5
    assert h.log_evidence == pytest.approx(1e265)
    assert "ln P(data) = 1e+265" in str(h)


def test_a_density_beyond_a_float_is_said_by_its_logarithm(peaked):
    x = np.zeros(400)
    h = peaked.observe_one(x)
    log_density = -200 * math.log(2 * math.pi) + 200 * math.log(1e4)
    assert h.log_p(x, by="map") == pytest.approx(log_density)
    assert h.log_p(x) == pytest.approx(log_density)
    assert peaked.log_p(x) == pytest.approx(log_density - math.log(2))
    for ask in (h.p, h.predict, h.compare, h.history.predictions):
        with pytest.raises(LimitError, match=BEYOND):
            ask(x)
    with pytest.raises(LimitError, match=BEYOND):
        h.p(x, by="mle")
    assert h.compare()["map"].hypothesis == "wide"
    assert "wide" in str(h) and "wide" in str(h.history)


def test_a_density_beyond_a_float_of_no_weight_is_no_obstacle():
    h = Hypotheses({"zero": lambda x: 5.0 if x else -np.inf, "one": lambda x: 0.0}, log=True)
    h = h.observe(0)
    peak = Hypotheses({"zero": lambda x: 900.0 if x else -np.inf, "one": lambda x: 0.0}, log=True)
    peak = peak.observe(0)
    assert peak.p(1) == h.p(1) == 1.0
    with pytest.raises(LimitError, match=BEYOND):  # before any observation it had weight
        peak.history.predictions(1)
    never = Hypotheses({"a": lambda x: 900.0, "b": lambda x: 0.0}, prior=[0, 1], log=True)
    assert never.observe(1).p(1) == never.p(1, by="map") == 1.0


def test_log_p_where_a_probability_is_too_small():
    h = Hypotheses({"a": Gaussian(0, 1)})
    assert h.p(100) == 0.0
    assert h.log_p(100) == pytest.approx(-5000 - math.log(2 * math.pi) / 2)
    coin = Hypotheses({"fair": {0: 0.5, 1: 0.5}, "one": {1: 1.0}})
    assert coin.log_p(0) == pytest.approx(math.log(0.25))
    assert coin.log_p(0, by="mle") == pytest.approx(math.log(0.5))
    assert coin.observe([1] * 5000).log_p(0) == pytest.approx(-5001 * math.log(2))
    assert Hypotheses({"a": {1}, "b": {2}}).observe(1).log_p(2) == -math.inf
    with pytest.raises(InputError, match="'map' is not an outcome"):
        coin.log_p("map")


def test_a_sum_over_outcomes_that_overflows_is_no_warning():
    with pytest.raises(InputError, match="must sum to 1"):
        Hypotheses({"a": lambda x: 900.0}, outcomes=[1, 2], log=True)


def test_priors_far_apart_rule_nothing_out():
    h = Hypotheses({"a": {0: 1.0}, "b": {0: 0.5, 1: 0.5}}, prior=[1e-300, 1e300])
    assert dict(h.ruled_out) == {}
    assert h.log_posterior["a"] == pytest.approx(-600 * math.log(10))
    h = h.observe({0: 3000}, counts=True)
    assert h.choose() == "a" and h.posterior["a"] == pytest.approx(1.0)
    small = Hypotheses({"a": {0: 1.0}, "b": {0: 1.0}}, prior=[5e-324, 5e-324])
    assert small.posterior["a"] == 0.5
    none = Hypotheses({"a": {0: 1.0}, "b": {0: 1.0}}, prior=[0, 1e300])
    assert dict(none.ruled_out) == {"a": None}
