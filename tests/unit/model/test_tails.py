"""Probabilities and densities of beliefs: against SciPy, in 40 digits with mpmath, and by the
identity cdf(quantile(q)) = q.
"""

import numpy as np
import pytest
from scipy import integrate, stats

import credo as cr
from credo.errors import CredoError, InputError

Q = np.array([1e-12, 1e-3, 0.025, 0.3, 0.5, 0.8, 0.975, 1 - 1e-6])
COLOURS = ["red", "green", "blue"]


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.4), (1, 1), (14, 10), (2, 3000), (5e4, 200)])
def test_beta_as_scipy_has_it(a, b):
    x = stats.beta.ppf(Q, a, b)
    belief = cr.Beta(a, b, states=("no", "yes"))
    np.testing.assert_allclose(belief.cdf(x), stats.beta.cdf(x, a, b), rtol=1e-11)
    np.testing.assert_allclose(belief.pdf(x), stats.beta.pdf(x, a, b), rtol=1e-9)
    np.testing.assert_allclose(belief.cdf(1 - x, of="no"), stats.beta.cdf(1 - x, b, a), rtol=1e-11)
    np.testing.assert_allclose(belief.pdf(x, of="no"), stats.beta.pdf(x, b, a), rtol=1e-9)
    np.testing.assert_allclose(belief.quantile(Q, of="no"), stats.beta.ppf(Q, b, a), rtol=1e-9)
    assert belief.cdf([-1.0, 0.0, 1.0, 2.0]).tolist() == [0.0, 0.0, 1.0, 1.0]
    assert belief.pdf([-1.0, 2.0]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("a", "b", "x", "true"),
    [
        (1e6, 1e6, 0.49894046403314674, 0.00136404414775688321),
        (1e9, 3e12, 0.00033315905129894277, 9.87805749018618961e-10),
    ],
)
def test_beta_for_large_pseudo_counts(a, b, x, true):
    sd = np.sqrt(a / (a + b) * (b / (a + b)) / (a + b))
    rounding = 10 * np.spacing(x) / sd  # what the last digit of x is worth
    assert cr.Beta(a, b).cdf(x) == pytest.approx(true, rel=1e-12 + rounding)
    if x > 0.01:
        assert 1 - cr.Beta(b, a).cdf(1 - x) == pytest.approx(true, rel=1e-12 + 10 * rounding)


@pytest.mark.parametrize("small", [0.5, 3.0, 3e3, 1e6])
@pytest.mark.parametrize("large", [1e6, 1e8])
def test_beta_undoes_its_quantiles(small, large):
    both = small > 3 or (small == 3 and large < 1e12)  # nearer to 1 there are too few numbers
    for a, b in ((small, large), (large, small))[: 1 + both]:
        belief = cr.Beta(a, b)
        x = belief.quantile(Q)
        sd = np.sqrt(a / (a + b) * (b / (a + b)) / (a + b))
        off = 1e-9 + 40 * np.spacing(x) / sd
        assert (np.abs(belief.cdf(x) - Q) <= off * np.minimum(Q, 1 - Q) * 8 + 1e-15).all()


@pytest.mark.parametrize("alpha", [0.3, 2.0, 40.0, 9e4, 1e6])
def test_variance_and_sd_undo_their_quantiles(alpha):
    belief = cr.distributions.NormalInverseGamma(3, 2, alpha, 1.7 * alpha)
    for of in ("mean", "variance", "sd"):
        x = belief.quantile(Q, of=of)
        off = 1e-9 + 40 * np.finfo(float).eps * np.sqrt(alpha)
        assert (np.abs(belief.cdf(x, of=of) - Q) <= off * np.minimum(Q, 1 - Q) * 8 + 1e-15).all()
    np.testing.assert_allclose(
        belief.quantile(Q, of="sd"), np.sqrt(belief.quantile(Q, of="variance")), rtol=1e-14
    )


def test_dirichlet_by_its_states():
    belief = cr.Dirichlet([4, 2, 3], states=COLOURS)
    x = np.array([0.05, 0.4, 0.9])
    for state, a in zip(COLOURS, (4, 2, 3), strict=True):
        marginal = stats.beta(a, 9 - a)
        np.testing.assert_allclose(belief.cdf(x, of=state), marginal.cdf(x), rtol=1e-12)
        np.testing.assert_allclose(belief.pdf(x, of=state), marginal.pdf(x), rtol=1e-12)
        np.testing.assert_allclose(belief.quantile(Q, of=state), marginal.ppf(Q), rtol=1e-9)
    at = [0.2, 0.3, 0.5]
    assert belief.pdf(at) == pytest.approx(stats.dirichlet([4, 2, 3]).pdf(at))
    draws = belief.sample(40_000, rng=0)[:, 2]
    assert belief.cdf(0.3, of="blue") == pytest.approx((draws <= 0.3).mean(), abs=0.01)


@pytest.mark.parametrize("dof", [0.1, 1.0, 7.5, 1e4, 1e12])
def test_student_t_as_scipy_has_it(dof):
    t = cr.distributions.StudentT(dof, 5, 2)
    x = np.array([-1e6, -8.0, 4.9, 5.0, 6.0, 40.0])
    np.testing.assert_allclose(t.cdf(x), stats.t.cdf(x, dof, 5, 2), rtol=1e-10)
    found = t.quantile(Q)
    np.testing.assert_allclose(t.cdf(found), Q, rtol=1e-9)
    assert t.cdf([-np.inf, np.inf]).tolist() == [0.0, 1.0]


def test_student_t_far_out():
    t = cr.distributions.StudentT(0.01, 0, 1)
    x = -(10.0 ** np.array([5, 15, 25, 100]))
    for n, below in zip(x, t.cdf(x), strict=True):  # a power of x, by the t of 1e5
        near = integrate.quad(lambda s: t.pdf(-np.exp(s)) * np.exp(s), np.log(-n), 340, limit=500)
        rest = t.cdf(-np.exp(340.0))
        assert below == pytest.approx(near[0] + rest, rel=1e-8)
    np.testing.assert_allclose(t.cdf(-x), 1 - t.cdf(x))


@pytest.mark.parametrize("alpha", [0.4, 3.0, 25.0, 5e3])
def test_variance_and_sd_as_scipy_has_them(alpha):
    belief = cr.distributions.NormalInverseGamma(5, 4, alpha, 6)
    true = stats.invgamma(alpha, scale=6)
    v = true.ppf(Q[1:])
    np.testing.assert_allclose(belief.cdf(v, of="variance"), true.cdf(v), rtol=1e-10)
    np.testing.assert_allclose(belief.pdf(v, of="variance"), true.pdf(v), rtol=1e-9)
    s = np.sqrt(v)
    np.testing.assert_allclose(belief.cdf(s, of="sd"), true.cdf(v), rtol=1e-10)
    np.testing.assert_allclose(belief.pdf(s, of="sd"), 2 * s * true.pdf(v), rtol=1e-9)
    mean = stats.t(2 * alpha, 5, np.sqrt(6 / (4 * alpha)))
    x = np.array([-3.0, 4.5, 5.0, 9.0])
    np.testing.assert_allclose(belief.cdf(x), mean.cdf(x), rtol=1e-10)
    np.testing.assert_allclose(belief.pdf(x, of="mean"), mean.pdf(x), rtol=1e-10)
    low, high = belief.interval(0.9, of="sd")
    np.testing.assert_allclose([low, high], np.sqrt(true.ppf([0.05, 0.95])), rtol=1e-9)


def test_the_density_of_a_part_is_the_joint_one_summed_up():
    belief = cr.distributions.NormalInverseGamma(5, 4, 3, 6)
    over_mean = integrate.quad(lambda m: belief.pdf(m, 1.7), -60, 70, points=[5.0], limit=200)[0]
    assert belief.pdf(1.7, of="variance") == pytest.approx(over_mean, rel=1e-8)
    over_variance = integrate.quad(lambda v: belief.pdf(4.2, v), 1e-6, 500, limit=500)[0]
    assert belief.pdf(4.2, of="mean") == pytest.approx(over_variance, rel=1e-6)


def test_nothing_is_below_0_and_everything_below_infinity():
    for alpha in (1e-3, 3.0, 1e6):
        belief = cr.distributions.NormalInverseGamma(0, 1, alpha, 2)
        for of in ("variance", "sd"):
            at = [-np.inf, -1.0, 0.0, np.inf]
            assert belief.cdf(at, of=of).tolist() == [0.0, 0.0, 0.0, 1.0]
            assert belief.pdf(at, of=of).tolist() == [0.0] * 4
    heavy = cr.distributions.NormalInverseGamma(0, 1, 1e-3, 2)
    assert heavy.logpdf(1e200, of="sd") == pytest.approx(
        heavy.logpdf(1e100, of="sd") - 1.002 * 100 * np.log(10), rel=1e-12
    )


def test_a_known_variance():
    belief = cr.distributions.NormalMean(5, 4, known_variance=1)
    x = np.array([-1.0, 5.0, 8.0])
    np.testing.assert_allclose(belief.cdf(x), stats.norm(5, 2).cdf(x), rtol=1e-13)
    np.testing.assert_allclose(belief.pdf(x), stats.norm(5, 2).pdf(x), rtol=1e-13)
    np.testing.assert_allclose(belief.quantile(Q), stats.norm(5, 2).ppf(Q), rtol=1e-13)


def test_several_columns_by_their_names():
    belief = cr.distributions.NormalInverseWishart([1, 2], 3, 6, [[4, 1], [1, 2]], names=("a", "b"))
    alone = belief.marginal("b")
    for parameter in ("mean", "variance", "sd"):
        x = alone.quantile([0.2, 0.7], of=parameter)
        told = {"of": "b", "parameter": parameter}
        np.testing.assert_array_equal(belief.quantile([0.2, 0.7], **told), x)
        np.testing.assert_array_equal(belief.cdf(x, **told), alone.cdf(x, of=parameter))
        np.testing.assert_array_equal(belief.pdf(x, **told), alone.pdf(x, of=parameter))
    at = [1.0, 2.0], [[2.0, 0.5], [0.5, 1.0]]
    true = stats.invwishart(6, belief.scale).logpdf(at[1])
    true += stats.multivariate_normal([1, 2], np.array(at[1]) / 3).logpdf(at[0])
    assert belief.pdf(*at) == pytest.approx(np.exp(true))
    draws, _ = belief.sample(40_000, rng=0)
    assert belief.cdf(2.3, of="b") == pytest.approx((draws[:, 1] <= 2.3).mean(), abs=0.01)


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda: cr.Dirichlet([1, 1, 1]).cdf(0.5), "Say which state the probability is for"),
        (lambda: cr.Dirichlet([1, 1, 1]).cdf(0.5, of=7), "State 7 is not"),
        (lambda: cr.Beta(1, 1).cdf("a"), "The share below is asked for at numbers, got 'a'"),
        (lambda: cr.distributions.StudentT(1, 0, 1).cdf(np.nan), "got NaN"),
        (
            lambda: cr.distributions.NormalInverseGamma(0, 1, 1, 1).logpdf(1, 2, of="sd"),
            "Give a sd, and nothing",
        ),
        (
            lambda: cr.distributions.NormalInverseGamma.reference().cdf(1, of="sd"),
            "it has no probabilities",
        ),
        (
            lambda: cr.distributions.NormalMean(0, 1, 1).cdf(1, of="variance"),
            "Only the mean is unknown",
        ),
        (
            lambda: cr.distributions.NormalInverseWishart.default([0], [1]).cdf(1),
            "Say which column the prob",
        ),
    ],
)
def test_what_is_refused(ask, text):
    with pytest.raises(CredoError, match=text):
        ask()


def test_a_density_that_is_beyond_every_number_is_infinite():
    assert cr.distributions.NormalInverseGamma(0, 1, 1e6, 1e-280).pdf(0, 1e-286) == np.inf
    assert cr.Beta(0.5, 0.5).pdf(0.0) == np.inf
    with pytest.raises(InputError, match="Give a mean and a variance"):
        cr.distributions.NormalInverseGamma(0, 1, 1, 1).pdf(1)


def test_means_and_variances_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"the shapes \(2,\) and \(3,\) do not fit"):
        cr.distributions.NormalInverseGamma(5, 4, 3, 6).pdf([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="do not fit"):
        cr.distributions.NormalInverseWishart([0, 0], 1, 5, np.eye(2)).pdf(
            np.zeros((3, 2)), np.stack([np.eye(2)] * 4)
        )
