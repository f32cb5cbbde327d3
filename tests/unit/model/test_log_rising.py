"""Rising factorials and the marginal likelihoods made of them, against exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import credo as cr
from credo.model.answers.interval import Interval
from credo.model.distributions.log_rising import log_polya, log_rising


def rising(a: float | Fraction, n: int) -> Fraction:
    out = Fraction(1)
    for i in range(n):
        out *= Fraction(a) + i
    return out


def log(x: Fraction) -> float:
    return math.log(x.numerator) - math.log(x.denominator)


@pytest.mark.parametrize("a", [1e-15, 1e-3, 0.5, 7.25, 19.999, 20.0, 1e4, 1e9, 1e15])
def test_rising_factorials_are_right_to_the_last_digits(a):
    for n in (0, 1, 2, 17, 300):
        exact = log(rising(a, n))
        assert float(log_rising(a, n)) == pytest.approx(exact, rel=4e-15, abs=4e-14)


def test_halves_and_many_observations():
    assert float(log_rising(20.0, 1e9)) == pytest.approx(math.lgamma(20 + 1e9) - math.lgamma(20))
    two = log_rising(1e12, 0.5) + log_rising(1e12 + 0.5, 0.5)  # two halves are one
    assert float(two) == pytest.approx(math.log(1e12), rel=1e-15)


@pytest.mark.parametrize("weight", [1e-15, 1.0, 1e6, 1e9, 1e12, 3e14])
def test_a_strong_prior_keeps_the_digits_of_the_marginal_likelihood(weight):
    exact = log(rising(weight, 3) * rising(2 * weight, 2) / rising(3 * Fraction(weight), 5))
    tosses = [True] * 3 + [False] * 2
    assert cr.Beta(weight, 2 * weight).log_marginal(tosses) == pytest.approx(exact, rel=1e-13)
    three = cr.Dirichlet({"x": weight, "y": 2 * weight}).log_marginal(["x"] * 3 + ["y"] * 2)
    assert three == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("weight", [1.0, 1e6, 1e12])
def test_a_strong_belief_about_a_gaussian_predicts_what_it_gives(weight):
    rows = {"u": [1.0, 2.0, 4.0, 7.0], "v": [0.5, -1.0, 2.5, 0.0]}
    one = cr.distributions.NormalInverseGamma(3, weight, weight, weight)
    two = cr.distributions.NormalInverseWishart(
        [3, 1], weight, weight + 1, weight * np.eye(2), ["u", "v"]
    )
    product_one = product_two = 0.0
    before_one, before_two = one, two
    for u, v in zip(*rows.values(), strict=True):
        product_one += float(before_one.predictive().logpdf(u))
        product_two += float(before_two.predictive().logpdf([u, v]))
        before_one = before_one.update([u])
        before_two = before_two.update({"u": [u], "v": [v]})
    assert one.log_marginal(rows["u"]) == pytest.approx(product_one, rel=1e-11)
    assert two.log_marginal(rows) == pytest.approx(product_two, rel=1e-11)


def test_an_interval_prints_enough_digits_to_tell_its_ends_apart():
    assert str(Interval(0.4999999781, 0.5000000219, 0.95)) == "0.499999978 to 0.500000022 (95 %)"
    assert str(Interval(0.5, 0.5, 0.95)) == "0.5 to 0.5 (95 %)"


@pytest.mark.parametrize(
    ("a", "b", "x", "exact"),  # in 60 digits
    [
        (1e6, 0.5, 0.999999, 12.243145989996608),
        (25, 30, 1e-5, -238.03215726282065),
    ],
)
def test_the_density_of_a_belief(a, b, x, exact):
    assert cr.Beta(a, b).logpdf(x) == pytest.approx(exact, rel=1e-9)
    assert cr.Dirichlet([b, a]).logpdf([1 - x, x]) == cr.Beta(a, b).logpdf(x)


@pytest.mark.parametrize("n", [0, 1, 10**3, 10**6, 10**10, 10**12, 10**14])
def test_a_long_run_keeps_its_digits(n):
    assert cr.Beta(1, 1).log_marginal({False: 0, True: n}) == pytest.approx(-math.log(n + 1))
    assert cr.Dirichlet([1, 1, 1]).log_marginal({0: n, 1: 0, 2: 0}) == pytest.approx(
        math.log(2) - math.log(n + 1) - math.log(n + 2), rel=1e-14
    )


@pytest.mark.parametrize(
    ("a", "n", "exact"),  # in 60 digits
    [
        ([0.5, 0.5], [3, 1e12], -96.65233018925837),
        ([20.1, 19.9], [1e9, 1], -363.130969131488),
        ([1e-3, 1e6], [1e12, 17], -14815758.803704132),
        ([1e6, 1e-9], [1, 0], -1e-15),
        ([19.9, 1e-3], [1, 0], -5.0249993729324485e-05),
    ],
)
def test_counts_and_pseudo_counts_of_very_different_sizes(a, n, exact):
    for i in (1, -1):
        found = log_polya(np.array(a)[::i], np.array(n, dtype=float)[::i])
        assert found == pytest.approx(exact, rel=1e-12, abs=1e-22)
