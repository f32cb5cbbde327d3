"""Ends of intervals of Beta, Gamma and Student t."""

import math

import numpy as np
import pytest
from scipy.special import betaincc, gammaincinv

import credo as cr
from credo.model.distributions.quantiles import beta_quantile, gamma_quantile


def test_all_and_nothing_are_the_ends():
    for a, b in ((2.0, 3.0), (2.0, 1e9), (1e9, 2.0)):
        assert beta_quantile(a, b, [0.0, 1.0]).tolist() == [0.0, 1.0]
    assert gamma_quantile([2.0, 1e12], 0.0).tolist() == [0.0, 0.0]
    assert gamma_quantile([2.0, 1e12], 1.0).tolist() == [np.inf, np.inf]


def test_intervals_of_nearly_everything_have_their_digits_at_both_ends():  # in 40 digits
    low, high = cr.Gaussian(0, 1).interval(1 - 1e-12)
    assert high == -low == pytest.approx(7.130509892879272, rel=1e-14)
    low, high = cr.distributions.StudentT(3, 0, 1).interval(1 - 2**-53)
    assert math.isfinite(high) and high == -low
    assert cr.distributions.StudentT(3, 0, 1).cdf(low) == pytest.approx(2**-54, rel=1e-9)
    belief = cr.distributions.NormalInverseGamma(0, 1, 2, 2)
    assert belief.interval(1 - 2**-53).upper == -belief.quantile(2**-54)
    variance, sd = (belief.interval(1 - 2**-53, of=of) for of in ("variance", "sd"))
    assert variance.upper == pytest.approx(2 / gammaincinv(2, 2**-54), rel=1e-12)
    assert sd.upper == pytest.approx(math.sqrt(variance.upper), rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [(3, 7), (1, 1e7), (20, 1e3), (1e-3, 5), (0.5, 40)])
@pytest.mark.parametrize("level", [1 - 1e-12, 0.95, 0.5, 1e-17])
def test_the_upper_end_leaves_out_as_much_as_it_should(a, b, level):
    _, high = cr.Beta(a, b).interval(level)
    assert betaincc(a, b, high) == pytest.approx((1 - level) / 2, rel=1e-9)


@pytest.mark.parametrize("level", [1e-17, 1e-9, 1e-7, 1e-3])
def test_narrow_intervals_of_highest_density_hold_the_mode(level):
    for belief, mode in ((cr.Beta(3, 7), 0.25), (cr.Beta(7, 3), 0.75)):
        found = belief.interval(level, hpd=True)
        assert mode in found
        assert found.width == pytest.approx(level / belief.pdf(mode), rel=1e-5, abs=1e-15)
