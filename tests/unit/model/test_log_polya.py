"""The probability of counts under pseudo-counts, against exact arithmetic and 60 digits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import credo as cr
from credo.model.distributions.log_rising import log_polya


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


def test_every_order_of_states_gives_the_exact_number():
    a, n = (Fraction(1, 8), Fraction(7), Fraction(25)), (4, 9, 2)
    parts = [(x + i) for x, k in zip(a, n, strict=True) for i in range(k)]
    exact = math.prod(parts) / math.prod([sum(a) + i for i in range(sum(n))])
    said = math.log(exact.numerator) - math.log(exact.denominator)
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        alpha = np.array([float(a[i]) for i in order])
        found = log_polya(alpha, np.array([float(n[i]) for i in order]))
        assert found == pytest.approx(said, rel=1e-14)


def test_one_state_is_certain():
    assert cr.Dirichlet([0.3]).log_marginal([0, 0]) == 0.0
