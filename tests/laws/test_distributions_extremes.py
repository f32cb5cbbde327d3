"""Whatever numbers come in: no NaN, no warning, and no error but our own comes out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credo.errors import CredoError
from credo.model.answers.interval import Interval
from credo.model.distributions.beta import Beta
from credo.model.distributions.dirichlet import Dirichlet
from credo.model.distributions.gaussian import Gaussian
from credo.model.distributions.likelihood import LikelihoodCurve
from credo.model.distributions.multivariate import MultivariateGaussian
from credo.model.distributions.normal_inverse_gamma import NormalInverseGamma
from credo.model.distributions.normal_inverse_wishart import NormalInverseWishart
from credo.model.distributions.normal_mean import NormalMean
from credo.model.distributions.student import StudentT

number = st.floats() | st.sampled_from([0.0, 0.5, 1.0, -1.0, 1e-300, 1e300, 1e-12, 1e12, 1e150])
column = st.lists(number, max_size=5)
pair = st.lists(number, min_size=2, max_size=2)


@pytest.fixture(autouse=True)
def _strict():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def clean(answer) -> None:
    if isinstance(answer, Interval):
        answer = tuple(answer)
    if isinstance(answer, (tuple, list)):
        for part in answer:
            clean(part)
    elif isinstance(answer, (float, np.ndarray)):
        assert not np.isnan(answer).any()


def made(*makers):
    for maker in makers:
        try:
            yield maker()
        except CredoError:
            continue


def asked(value, *questions) -> None:
    for question in (*questions, str, repr):
        try:
            clean(question(value))
        except CredoError:
            continue


@given(number, number, st.lists(st.booleans(), max_size=5))
def test_beta_and_dirichlet(a, b, data):
    for belief in made(
        lambda: Beta(a, b),
        lambda: Beta(a, b).update(data),
        lambda: Dirichlet([a, b, 1.0]),
    ):
        asked(
            belief,
            lambda o: o.mean().probabilities,
            lambda o: o.map().probabilities,
            lambda o: o.interval(of=o.states[0]),
            lambda o: o.quantile([0.0, 0.1, 1.0], of=o.states[0]),
            lambda o: [o.cdf(x, of=o.states[0]) for x in (a, b, 0.3)],
            lambda o: [o.pdf(x, of=o.states[0]) for x in (a, b, 0.3)],
            lambda o: o.interval(of=o.states[0], hpd=True),
            lambda o: o.predictive().p,
            lambda o: o.log_marginal([o.states[0]] * 3),
            lambda o: o.sample(3, 0),
            lambda o: [len(s) for s in o.replicates(2, 2, 0)],
        )
        if isinstance(belief, Beta):
            asked(belief, lambda o: o.logpdf([0.0, 0.3, 1.0]))


@given(number, number, number, number, column)
def test_beliefs_about_a_gaussian(m, k, a, b, data):
    for belief in made(
        lambda: NormalInverseGamma(m, k, a, b),
        lambda: NormalInverseGamma(m, k, a, b).update(data),
        lambda: NormalInverseGamma.default(m, a).update(data),
        lambda: NormalMean(m, k, a),
        lambda: NormalMean(m, k, a).update(data),
        lambda: Gaussian.posterior(data),
    ):
        asked(
            belief,
            lambda o: (o.mean().mean, o.mean().variance),
            lambda o: o.map().variance,
            lambda o: o.interval(of="mean"),
            lambda o: o.interval(of="variance"),
            lambda o: o.interval(of="sd"),
            *(
                lambda o, of=of, ask=ask: getattr(o, ask)([m, 1.0, 1e300, -np.inf], of=of)
                for of in ("mean", "variance", "sd")
                for ask in ("cdf", "pdf", "logpdf")
            ),
            lambda o: o.predictive().logpdf([1.0, 1e300]),
            lambda o: o.predictive().interval(),
            lambda o: o.log_marginal(data),
            lambda o: o.logpdf(*([0.3, 1.0] if isinstance(o, NormalInverseGamma) else [0.3])),
            lambda o: o.sample(3, 0),
            lambda o: list(o.replicates(2, 2, 0)),
        )


@given(column, number, number)
def test_gaussians(data, m, v):
    for value in made(
        lambda: Gaussian.fit(data),
        lambda: Gaussian.fit(data, known_variance=v),
        lambda: Gaussian(m, v),
        lambda: StudentT(v, m, abs(m)),
        lambda: Gaussian.likelihood_curve(data),
        lambda: Gaussian.likelihood_curve(data, [m, v], variance=v),
    ):
        if isinstance(value, LikelihoodCurve):
            asked(value, lambda o: o.likelihood, lambda o: o.maximum)
            continue
        asked(
            value,
            lambda o: o.logpdf([1.0, 1e300, -np.inf]),
            lambda o: o.cdf([m, 1.0, 1e300, -np.inf]),
            lambda o: o.log_likelihood(data),
            lambda o: o.interval(),
            lambda o: o.variance,
            lambda o: o.sample(3, 0),
        )


@given(st.lists(st.tuples(number, number), max_size=6), pair, pair, number, number)
def test_several_columns(rows, m, s, k, d):
    for value in made(
        lambda: MultivariateGaussian.fit(rows),
        lambda: MultivariateGaussian.posterior(rows),
        lambda: NormalInverseWishart.default(m, s),
        lambda: NormalInverseWishart.default(m, s).update(rows),
        lambda: NormalInverseWishart(m, k, d, np.diag(s)),
        lambda: NormalInverseWishart(m, k, d, np.diag(s)).update(rows),
    ):
        if isinstance(value, MultivariateGaussian):
            asked(value, lambda o: o.logpdf([1.0, 2.0]), lambda o: o.log_likelihood(rows))
            continue
        asked(
            value,
            lambda o: o.predictive().logpdf([1.0, 2.0]),
            lambda o: o.interval(of=o.names[0]),
            lambda o: o.sample(2, 0),
            lambda o: o.mean().covariance,
            lambda o: o.map().covariance,
            lambda o: o.log_marginal(rows),
        )
