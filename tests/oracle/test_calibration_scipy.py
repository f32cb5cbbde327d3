"""The densities, quantiles and marginal likelihoods against scipy.stats."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln

from credo.model.distributions.beta import Beta
from credo.model.distributions.categorical import Categorical
from credo.model.distributions.dirichlet import Dirichlet
from credo.model.distributions.gaussian import Gaussian
from credo.model.distributions.multivariate import MultivariateGaussian
from credo.model.distributions.normal_inverse_gamma import NormalInverseGamma
from credo.model.distributions.normal_inverse_wishart import NormalInverseWishart
from credo.model.distributions.normal_mean import NormalMean
from credo.model.distributions.student import MultivariateT, StudentT

GRID = np.linspace(0.01, 0.99, 33)
X = np.linspace(-6, 9, 41)
COV = np.array([[3.0, 1.0, 0.2], [1.0, 2.0, -0.4], [0.2, -0.4, 1.5]])
AT = np.random.default_rng(0).normal(size=(20, 3)) * 2


@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.5, 0.5), (6, 6), (0.2, 30), (4000, 7000)])
def test_beta(a, b):
    ours, theirs = Beta(a, b), stats.beta(a, b)
    assert ours.logpdf(GRID) == pytest.approx(theirs.logpdf(GRID), rel=1e-9, abs=1e-9)
    assert ours.quantile(GRID) == pytest.approx(theirs.ppf(GRID), rel=1e-9)
    assert tuple(ours.interval(0.9)) == pytest.approx(theirs.interval(0.9), rel=1e-9)
    assert ours.mean().p == pytest.approx(theirs.mean())


def test_beta_marginal_likelihood():
    data = [True] * 7 + [False] * 3
    assert Beta(2.5, 0.7).log_marginal(data) == pytest.approx(
        betaln(9.5, 3.7) - betaln(2.5, 0.7), abs=1e-12
    )


def test_dirichlet():
    alpha = [0.7, 2.0, 4.5]
    ours, theirs = Dirichlet(alpha), stats.dirichlet(alpha)
    p = np.random.default_rng(1).dirichlet([1, 1, 1], 20)
    assert ours.logpdf(p) == pytest.approx([theirs.logpdf(row) for row in p], abs=1e-10)
    assert ours.predictive().p == pytest.approx(theirs.mean())


def test_dirichlet_multinomial():
    alpha, n = np.array([0.7, 2.0, 4.5]), np.array([3, 0, 5])
    ours = Dirichlet(alpha).log_marginal({0: 3, 1: 0, 2: 5})
    theirs = stats.dirichlet_multinomial(alpha, 8).logpmf(n)
    orders = stats.multinomial(8, [1 / 3] * 3).logpmf(n) + 8 * np.log(3)
    assert ours == pytest.approx(theirs - orders, abs=1e-10)


def test_categorical():
    data = ["a"] * 3 + ["c"] * 5
    p = [0.2, 0.3, 0.5]
    orders = np.log(56)  # of three a and five c
    assert Categorical(p, ["a", "b", "c"]).log_likelihood(data) == pytest.approx(
        stats.multinomial(8, p).logpmf([3, 0, 5]) - orders, abs=1e-12
    )
    assert Categorical(p, ["a", "b", "c"]).distribution().entropy() == pytest.approx(
        stats.entropy(p, base=2)
    )


def test_gaussian():
    ours, theirs = Gaussian(1.5, 4), stats.norm(1.5, 2)
    assert ours.logpdf(X) == pytest.approx(theirs.logpdf(X), abs=1e-12)
    assert ours.quantile(GRID) == pytest.approx(theirs.ppf(GRID), abs=1e-12)
    assert ours.log_likelihood(X) == pytest.approx(theirs.logpdf(X).sum(), rel=1e-12)
    fitted = stats.norm.fit(X)
    assert (Gaussian.fit(X).mean, Gaussian.fit(X).sd) == pytest.approx(fitted)


@pytest.mark.parametrize("dof", [0.5, 1, 3.7, 50, 1e6])
def test_student_t(dof):
    ours, theirs = StudentT(dof, 1, 2), stats.t(dof, 1, 2)
    assert ours.logpdf(X) == pytest.approx(theirs.logpdf(X), rel=1e-9)
    assert ours.quantile(GRID) == pytest.approx(theirs.ppf(GRID), rel=1e-8, abs=1e-8)
    if dof > 2:
        assert ours.variance == pytest.approx(theirs.var())


def test_multivariate_gaussian():
    ours = MultivariateGaussian([1, 2, 3], COV)
    theirs = stats.multivariate_normal([1, 2, 3], COV)
    assert ours.logpdf(AT) == pytest.approx(theirs.logpdf(AT), abs=1e-10)
    assert ours.log_likelihood(AT) == pytest.approx(theirs.logpdf(AT).sum(), abs=1e-9)
    mean, cov = stats.multivariate_normal.fit(AT)
    assert MultivariateGaussian.fit(AT).mean == pytest.approx(mean)
    assert MultivariateGaussian.fit(AT).covariance == pytest.approx(cov)


def test_multivariate_t():
    ours = MultivariateT(4.5, [1, 2, 3], COV)
    theirs = stats.multivariate_t([1, 2, 3], COV, df=4.5)
    assert ours.logpdf(AT) == pytest.approx(theirs.logpdf(AT), abs=1e-10)


def test_normal_inverse_gamma():
    ours = NormalInverseGamma(1, 2, 3, 4)
    theirs = stats.normal_inverse_gamma(1, 2, 3, 4)
    v = np.linspace(0.2, 9, 41)
    assert ours.logpdf(X, v) == pytest.approx(theirs.logpdf(X, v), abs=1e-10)
    assert ours.quantile(GRID, of="variance") == pytest.approx(
        stats.invgamma(3, scale=4).ppf(GRID), rel=1e-9
    )
    assert ours.quantile(GRID) == pytest.approx(stats.t(6, 1, np.sqrt(4 / 6)).ppf(GRID), abs=1e-9)
    assert ours.logpdf(0, -1) == -np.inf


def test_normal_inverse_gamma_draws():
    mu, v = NormalInverseGamma(1, 2, 3, 4).sample(4000, rng=0)
    assert stats.kstest(v, stats.invgamma(3, scale=4).cdf).pvalue > 0.001
    assert stats.kstest((mu - 1) / np.sqrt(v / 2), "norm").pvalue > 0.001


def test_normal_inverse_gamma_marginal_likelihood_by_quadrature():
    belief, data = NormalInverseGamma(1, 2, 3, 4), [0.5, 2.0, 2.5]

    mu, u = np.meshgrid(np.linspace(-15, 17, 801), np.linspace(-6, 14, 801), indexing="ij")
    likelihood = np.exp(sum(stats.norm(mu, np.exp(u / 2)).logpdf(x) for x in data))
    density = likelihood * np.exp(belief.logpdf(mu, np.exp(u)) + u)
    total = np.trapezoid(np.trapezoid(density, u[0]), mu[:, 0])
    assert belief.log_marginal(data) == pytest.approx(np.log(total), abs=1e-6)


def test_normal_inverse_wishart():
    belief = NormalInverseWishart([1, 2, 3], 2.5, 6, COV)
    sigma = np.diag([1.0, 2.0, 0.7]) + 0.3
    theirs = stats.invwishart(6, COV).logpdf(sigma) + stats.multivariate_normal(
        [1, 2, 3], sigma / 2.5
    ).logpdf([0, 1, 3])
    assert belief.logpdf([0, 1, 3], sigma) == pytest.approx(theirs, abs=1e-10)
    assert belief.logpdf([0, 1, 3], -sigma) == -np.inf
    many = belief.logpdf(AT, np.stack([sigma] * 20))
    assert many[7] == pytest.approx(belief.logpdf(AT[7], sigma), abs=1e-10)
    assert belief.mean().covariance == pytest.approx(stats.invwishart(6, COV).mean())


def test_normal_inverse_wishart_draws():
    _, sigma = NormalInverseWishart([1, 2, 3], 2.5, 6, COV).sample(4000, rng=0)
    theirs = stats.invwishart(6, COV).rvs(4000, random_state=1)
    for i, j in [(0, 0), (1, 1), (0, 1), (1, 2)]:
        assert stats.ks_2samp(sigma[:, i, j], theirs[:, i, j]).pvalue > 0.001


def test_normal_mean():
    belief = NormalMean(2, 3, known_variance=1.5)
    data = [1.0, 4.0, 2.5]
    joint = stats.multivariate_normal([2] * 3, 1.5 * np.eye(3) + 3)
    assert belief.log_marginal(data) == pytest.approx(joint.logpdf(data), abs=1e-12)
    assert belief.logpdf(X) == pytest.approx(stats.norm(2, 3**0.5).logpdf(X), abs=1e-12)
