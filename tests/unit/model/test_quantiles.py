"""Quantiles of Beta and Gamma for pseudo-counts of any size.

The references were worked out in 40 digits with mpmath: the density on the logit scale integrated
over the tail, and Newton's steps to the end.
"""

import math

import numpy as np
import pytest
from scipy.special import betaincc, gammaincinv

import credo as cr
from credo.model.distributions.quantiles import beta_quantile, gamma_quantile
from credo.model.networks.cpt import entry_intervals

BETAS = [
    (1e12, 1e12, 0.49999930704808782541, 0.50000069295191217459),
    (1e15, 1e15, 0.49999997808693648559, 0.50000002191306351441),
    (3.0, 1e9, 6.1867212208555158059e-10, 7.2246876344012161602e-9),
    (1e9, 3.0, 0.9999999927753123656, 0.99999999938132787791),
    (30.0, 1e9, 2.0240873523081763912e-8, 4.1648835967365670249e-8),
    (1e3, 1e12, 9.3897301749784302989e-10, 1.0629211501290579471e-9),
    (1e6, 3e9, 0.00033256957990281709641, 0.00033387556939518182286),
    (1e13, 1e15, 0.0099009839928810434585, 0.0099009962051405969325),
    (4e5, 5e5, 0.44341796676675880029, 0.44547115598706792671),
    (1e4, 1e4, 0.49307072700254985934, 0.5069292729974501394),
]


@pytest.mark.parametrize(("a", "b", "low", "high"), BETAS)
def test_beta_ends_for_pseudo_counts_of_any_size(a, b, low, high):
    found = cr.Beta(a, b).interval(0.95)
    sd = np.sqrt(a / (a + b) * (b / (a + b)) / (a + b + 1))
    for end, true in zip(found, (low, high), strict=True):
        # to 1e-10 of a standard deviation, or the last digits that a double has
        assert abs(end - true) <= 1e-10 * sd + 8 * np.spacing(true)
    lower, upper = entry_intervals(np.array([b, a]), 0.95)
    assert (lower[1], upper[1]) == tuple(found)


@pytest.mark.parametrize(
    ("a", "q", "above", "true"),
    [
        (1e8, 1e-10, False, 99936399.745937218737),
        (1e8, 1e-10, True, 100063626.56516803776),
        (1e12, 0.025, False, 999998040036.96261306),
        (1e15, 0.3, True, 1000000016583000.0215),
        (4e5, 1e-10, False, 395989.88094144726859),
    ],
)
def test_gamma_ends_for_pseudo_counts_of_any_size(a, q, above, true):
    assert abs(gamma_quantile(a, q, above) - true) <= 1e-10 * np.sqrt(a) + 8 * np.spacing(true)


def test_a_variance_far_in_its_upper_share():
    """SciPy's inverse was off by a third of the tail: by 4 hundredths of a standard deviation."""
    belief = cr.distributions.NormalInverseGamma(0, 1, 1e8, 1e8)
    assert belief.quantile(1 - 1e-10, of="variance") == pytest.approx(
        1e8 / 99936399.745937218737, rel=1e-11
    )


def test_all_and_nothing_are_the_ends():
    for a, b in ((2.0, 3.0), (2.0, 1e9), (1e9, 2.0), (1e12, 1e12)):
        assert beta_quantile(a, b, [0.0, 1.0]).tolist() == [0.0, 1.0]
    assert gamma_quantile([2.0, 1e12], 0.0).tolist() == [0.0, 0.0]
    assert gamma_quantile([2.0, 1e12], 1.0).tolist() == [np.inf, np.inf]


@pytest.mark.parametrize("n", [1e6, 1e9, 1e12, 1e15])
def test_shortest_interval_of_a_large_symmetric_belief_is_the_central_one(n):
    central, shortest = cr.Beta(n, n).interval(0.9), cr.Beta(n, n).interval(0.9, hpd=True)
    sd = 0.5 / np.sqrt(2 * n)
    np.testing.assert_allclose(list(shortest), list(central), atol=1e-6 * sd, rtol=1e-15)


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
