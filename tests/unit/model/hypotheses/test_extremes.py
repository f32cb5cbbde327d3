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


def test_a_density_beyond_a_float_is_said_by_its_logarithm(peaked):
    x = np.zeros(400)
    h = peaked.observe_one(x)
    log_density = -200 * math.log(2 * math.pi) + 200 * math.log(1e4)
    assert h.log_p(x, by="map") == pytest.approx(log_density)
    assert h.log_p(x) == pytest.approx(log_density)
    assert peaked.log_p(x) == pytest.approx(log_density - math.log(2))
    for ask in (h.p, h.predict, h.compare):
        with pytest.raises(LimitError, match=BEYOND):
            ask(x)
    with pytest.raises(LimitError, match=BEYOND):
        h.p(x, by="mle")
    assert h.compare()["map"].hypothesis == "wide"
    assert "wide" in str(h) and "wide" in str(h.history)


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
