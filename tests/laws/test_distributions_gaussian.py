"""Laws of the Gaussian distributions and the beliefs about them, on random data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from credo.model.distributions.gaussian import Gaussian
from credo.model.distributions.multivariate import MultivariateGaussian
from credo.model.distributions.normal_inverse_gamma import NormalInverseGamma
from credo.model.distributions.normal_inverse_wishart import NormalInverseWishart
from credo.model.distributions.normal_mean import NormalMean
from credo.stats.moments import Moments

NAMES = ("a", "b")
value = st.floats(-100, 100).map(lambda v: round(v, 3))
column = st.lists(value, max_size=20)
table = st.lists(st.tuples(value, value), max_size=20).map(
    lambda rows: np.array(rows, dtype=float).reshape(-1, 2)
)
BELIEFS = {
    "normal-inverse-gamma": NormalInverseGamma(1.5, 0.7, 1.3, 2.1),
    "unit information": NormalInverseGamma.default(3, 2),
    "known variance": NormalMean(2, 5, known_variance=3),
}
WIDE = NormalInverseWishart([1, -2], 0.7, 3.5, [[2, 0.5], [0.5, 1]], NAMES)
beliefs = pytest.mark.parametrize("prior", BELIEFS.values(), ids=BELIEFS.keys())


def numbers(belief) -> list[float]:
    parts = [getattr(belief, f) for f in belief.__dataclass_fields__ if not f.startswith("_")]
    return [x for p in parts if not isinstance(p, (str, tuple)) for x in np.ravel(p).tolist()]


def close(a, b, scale=1.0):
    assert numbers(a) == pytest.approx(numbers(b), rel=1e-12, abs=1e-12 * scale)


def moments(rows) -> Moments:
    return Moments.of(dict(zip(NAMES, np.asarray(rows).T, strict=True)))


@beliefs
@given(first=column, second=column)
def test_sequential_is_batch(prior, first, second):
    batch = prior.update(first + second)
    close(prior.update(first).update(second), batch, 1e4)
    close(prior.update(second).update(first), batch, 1e4)
    merged = Moments.of({"x": first}) + Moments.of({"x": second})
    close(prior + merged, batch, 1e4)
    close(prior + Moments.of({"x": first}) + Moments.of({"x": second}), batch, 1e4)


@given(table, table)
def test_sequential_is_batch_in_several_columns(first, second):
    batch = WIDE.update(np.concatenate([first, second]))
    close(WIDE.update(first).update(second), batch, 1e4)
    close(WIDE + (moments(second) + moments(first)), batch, 1e4)


@beliefs
@given(data=column)
def test_marginal_likelihood_is_the_chain_of_predictions(prior, data):
    belief, chain = prior, 0.0
    for x in data:
        chain += belief.predictive().logpdf(x)
        belief = belief.update([x])
    assert prior.log_marginal(data) == pytest.approx(chain, abs=1e-10, rel=1e-12)


@given(table)
def test_marginal_likelihood_is_the_chain_of_predictions_in_several_columns(rows):
    belief, chain = WIDE, 0.0
    for row in rows:
        chain += belief.predictive().logpdf(row)
        belief = belief.update([row])
    assert WIDE.log_marginal(rows) == pytest.approx(chain, abs=1e-10, rel=1e-12)


@given(table)
def test_columns_in_another_order(rows):
    other = NormalInverseWishart([-2, 1], 0.7, 3.5, [[1, 0.5], [0.5, 2]], NAMES[::-1])
    assert WIDE.log_marginal(moments(rows)) == pytest.approx(
        other.log_marginal(moments(rows)), abs=1e-9
    )


@given(st.lists(value, min_size=2, max_size=20), value, st.floats(0.1, 50))
def test_statistic_and_rows_give_the_same(data, mean, variance):
    g = Gaussian(mean, variance)
    rows = g.logpdf(data).sum()
    assert g.log_likelihood(data) == pytest.approx(rows, rel=1e-11)
    assert g.log_likelihood(Moments.of({"x": data})) == g.log_likelihood(data)


@given(table)
def test_statistic_and_rows_give_the_same_in_several_columns(rows):
    g = MultivariateGaussian([1, 2], [[4, 1], [1, 3]], NAMES)
    assert g.log_likelihood(rows) == pytest.approx(g.logpdf(rows).sum(), rel=1e-11, abs=1e-11)
    assert g.log_likelihood(moments(rows)) == pytest.approx(g.log_likelihood(rows), rel=1e-12)


@given(st.lists(value, min_size=2, max_size=20), st.floats(-3, 3), st.floats(0.2, 5))
def test_no_parameter_beats_maximum_likelihood(data, shift, factor):
    assume(np.std(data) > 0.01)
    best = Gaussian.fit(data)
    other = Gaussian(best.mean + shift, best.variance * factor)
    assert other.log_likelihood(data) <= best.log_likelihood(data) + 1e-9


@given(st.lists(value, min_size=1, max_size=10))
def test_posterior_is_prior_times_likelihood(data):
    prior = BELIEFS["normal-inverse-gamma"]
    posterior = prior.update(data)
    mu, variance = np.meshgrid(np.linspace(-5, 5, 7), np.geomspace(0.5, 50, 7))
    likelihood = np.vectorize(lambda m, v: Gaussian(m, v).log_likelihood(data))(mu, variance)
    rest = prior.logpdf(mu, variance) + likelihood - posterior.logpdf(mu, variance)
    assert rest == pytest.approx(np.full(mu.shape, prior.log_marginal(data)), rel=1e-9, abs=1e-8)


@given(st.floats(-5, 5), st.floats(0.5, 5), st.floats(1, 6), st.floats(0.5, 5))
def test_density_integrates_to_one(mu, kappa, alpha, beta):
    belief = NormalInverseGamma(mu, kappa, alpha, beta)
    z, w = np.polynomial.hermite_e.hermegauss(8)  # exact for the Gaussian part
    u = np.linspace(np.log(beta) - 12, np.log(beta) + 30, 1500)
    variance = np.exp(u)[:, None]
    sd = np.sqrt(variance / kappa)
    density = np.exp(belief.logpdf(mu + z * sd, variance)) * sd * variance
    inner = (density * np.exp(z**2 / 2)) @ w
    assert np.trapezoid(inner, u) == pytest.approx(1, abs=1e-6)


def test_marginal_mean_by_quadrature():
    belief = NormalInverseGamma(1, 2, 3, 4)
    u = np.linspace(-8, 12, 4000)
    for mu in (-1.0, 1.0, 2.5):
        joint = np.exp(belief.logpdf(mu, np.exp(u))) * np.exp(u)
        assert np.trapezoid(joint, u) == pytest.approx(belief.marginal_mean().pdf(mu), abs=1e-9)


@given(st.floats(1e-6, 1e6), st.floats(-1e6, 1e6))
def test_units_do_not_matter(factor, shift):
    data = np.array([1.0, 4.0, 2.0, 8.0])
    here = NormalInverseGamma.default(3, 2).update(data).interval(0.9)
    there = (
        NormalInverseGamma.default(3 * factor + shift, 2 * factor)
        .update(data * factor + shift)
        .interval(0.9)
    )
    size = factor + abs(shift)
    assert there.lower == pytest.approx(here.lower * factor + shift, abs=1e-9 * size)
    assert there.upper == pytest.approx(here.upper * factor + shift, abs=1e-9 * size)


def test_samples_have_the_moments():
    n = 200_000
    mu, variance = NormalInverseGamma(3, 2, 6, 10).sample(n, rng=0)
    assert variance.mean() == pytest.approx(2, rel=0.02)
    assert mu.mean() == pytest.approx(3, abs=0.02) and mu.var() == pytest.approx(1, rel=0.03)
    means, covariances = NormalInverseWishart([1, 2], 4, 9, [[6, 3], [3, 12]]).sample(n, rng=1)
    assert covariances.mean(axis=0) == pytest.approx(np.array([[1, 0.5], [0.5, 2]]), rel=0.03)
    assert np.cov(means.T) == pytest.approx(np.array([[1, 0.5], [0.5, 2]]) / 4, rel=0.04)
    t = NormalInverseGamma(3, 2, 6, 10).predictive()
    assert t.sample(n, rng=2).var() == pytest.approx(t.variance, rel=0.03)
    wide = NormalInverseWishart([1, 2], 4, 9, [[6, 3], [3, 12]]).predictive()
    assert np.cov(wide.sample(n, rng=3).T) == pytest.approx(wide.covariance, rel=0.04)
    g = MultivariateGaussian([1, 2], [[1, 0.5], [0.5, 2]]).sample(n, rng=4)
    assert np.cov(g.T) == pytest.approx(np.array([[1, 0.5], [0.5, 2]]), rel=0.03)


@pytest.mark.parametrize(
    "belief", [NormalInverseGamma(3, 2, 6, 10), NormalMean(3, 1, 2)], ids=["both", "mean"]
)
def test_replicates_follow_the_predictive(belief):
    sets = np.array(list(belief.replicates(3, 50_000, rng=0)))
    p = belief.predictive()
    assert sets.shape == (50_000, 3)
    assert sets.var(axis=0) == pytest.approx(np.full(3, p.variance), rel=0.03)
    # Rows of one set share their parameter, so they go together.
    assert np.cov(sets.T)[0, 1] == pytest.approx(1, rel=0.06)


def test_replicates_of_several_columns():
    belief = NormalInverseWishart([1, 2], 4, 9, [[6, 3], [3, 12]])
    sets = np.array(list(belief.replicates(2, 20_000, rng=0)))
    assert sets.shape == (20_000, 2, 2)
    assert np.cov(sets[:, 0].T) == pytest.approx(belief.predictive().covariance, rel=0.08)
