"""Are the posteriors right? Parameters drawn from the prior, data drawn from the parameters.

Simulation-based calibration (Talts et al. 2018): the rank of the true parameter among 99
posterior draws is uniform. Coverage: a 95 % interval holds the truth 95 % of the time. PIT: the
posterior's distribution function at the truth is uniform. The bounds are those of
RELIABILITY.md, rows 1-3; the seeds are fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import special

from credo.model.distributions.beta import Beta
from credo.model.distributions.categorical import Bernoulli, Categorical
from credo.model.distributions.dirichlet import Dirichlet
from credo.model.distributions.gaussian import Gaussian
from credo.model.distributions.multivariate import MultivariateGaussian
from credo.model.distributions.normal_inverse_gamma import NormalInverseGamma
from credo.model.distributions.normal_inverse_wishart import NormalInverseWishart
from credo.model.distributions.normal_mean import NormalMean

DATA_SETS, DRAWS, BINS, CHI2 = 2000, 99, 20, 50.80
RUNS, COVERED = 4000, (0.9360, 0.9628)
KOLMOGOROV = 0.0497

BETA = Beta(2, 3)
DIRICHLET = Dirichlet({"a": 0.7, "b": 2.0, "c": 1.5})
NIG = NormalInverseGamma(1, 2, 3, 4)
NIW = NormalInverseWishart([1, -1], 2, 6, [[3, 1], [1, 2]], ("a", "b"))
MEAN = NormalMean(2, 3, known_variance=1.5)
N = 12


def runs(prior: Any, times: int, seed: int) -> Iterator[tuple[Any, Any, np.random.Generator]]:
    """The truth as a point distribution, the posterior after N rows of it, and the generator."""
    rng = np.random.default_rng(seed)
    drawn = prior.sample(times, rng)
    for i in range(times):
        truth: Any
        if isinstance(prior, Beta):
            truth = Bernoulli(drawn[i])
        elif isinstance(prior, Dirichlet):
            truth = Categorical(drawn[i], prior.states)
        elif isinstance(prior, NormalMean):
            truth = Gaussian(drawn[i], prior.known_variance)
        elif isinstance(prior, NormalInverseGamma):
            truth = Gaussian(drawn[0][i], drawn[1][i])
        else:
            truth = MultivariateGaussian(drawn[0][i], drawn[1][i], prior.names)
        yield truth, prior.update(truth.sample(N, rng)), rng


class Part(NamedTuple):
    """One number of the parameter: of a truth, of posterior draws, its interval and its CDF."""

    true: Callable[[Any], float]
    draws: Callable[[Any], Any]
    interval: Callable[[Any], Any]
    cdf: Callable[[Any, float], float]


def _gamma_cdf(belief: NormalInverseGamma, v: float) -> float:
    return special.gammaincc(belief.alpha, belief.beta / v)


def _t_cdf(belief: NormalInverseGamma, mu: float) -> float:
    t = belief.marginal_mean()
    return special.stdtr(t.dof, (mu - t.location) / t.scale)


PARTS: dict[str, tuple[Any, Part]] = {
    "beta": (
        BETA,
        Part(
            lambda t: t.p,
            lambda d: d,
            lambda b: b.interval(),
            lambda b, p: special.betainc(b.a, b.b, p),
        ),
    ),
    **{
        f"dirichlet {s}": (
            DIRICHLET,
            Part(
                lambda t, s=s: t[s],
                lambda d, i=i: d[:, i],
                lambda b, s=s: b.interval(of=s),
                lambda b, p, s=s: special.betainc(b.marginal(s).a, b.marginal(s).b, p),
            ),
        )
        for i, s in enumerate("abc")
    },
    "known variance": (
        MEAN,
        Part(
            lambda t: t.mean,
            lambda d: d,
            lambda b: b.interval(),
            lambda b, m: special.ndtr((m - b.mu) / b.variance**0.5),
        ),
    ),
    "gaussian mean": (
        NIG,
        Part(lambda t: t.mean, lambda d: d[0], lambda b: b.interval(of="mean"), _t_cdf),
    ),
    "gaussian variance": (
        NIG,
        Part(lambda t: t.variance, lambda d: d[1], lambda b: b.interval(of="variance"), _gamma_cdf),
    ),
    "wishart mean": (
        NIW,
        Part(
            lambda t: t.mean[1],
            lambda d: d[0][:, 1],
            lambda b: b.interval(of="b"),
            lambda b, m: _t_cdf(b.marginal("b"), m),
        ),
    ),
    "wishart variance": (
        NIW,
        Part(
            lambda t: t.covariance[0, 0],
            lambda d: d[1][:, 0, 0],
            lambda b: b.interval(of="a", parameter="variance"),
            lambda b, v: _gamma_cdf(b.marginal("a"), v),
        ),
    ),
}
# A covariance and a correlation have no closed interval here, so only their ranks are tested.
RANKS: dict[str, tuple[Any, Callable[[Any], float], Callable[[Any], Any]]] = {
    **{name: (prior, part.true, part.draws) for name, (prior, part) in PARTS.items()},
    "wishart covariance": (NIW, lambda t: t.covariance[0, 1], lambda d: d[1][:, 0, 1]),
    "wishart correlation": (
        NIW,
        lambda t: t.covariance[0, 1] / np.sqrt(t.variance.prod()),
        lambda d: d[1][:, 0, 1] / np.sqrt(d[1][:, 0, 0] * d[1][:, 1, 1]),
    ),
}


@cache
def simulated(prior: Any) -> tuple[dict[str, Any], dict[str, int], dict[str, Any]]:
    """Ranks and PIT values of the first 2000 runs, and how many of 4000 intervals hold."""
    ranks = {name: [] for name, r in RANKS.items() if r[0] is prior}
    held = {name: 0 for name, p in PARTS.items() if p[0] is prior}
    pit = {name: [] for name in held}
    for i, (truth, posterior, rng) in enumerate(runs(prior, RUNS, seed=10)):
        for name in held:
            held[name] += PARTS[name][1].true(truth) in PARTS[name][1].interval(posterior)
        if i >= DATA_SETS:
            continue
        draws = posterior.sample(DRAWS, rng)
        for name in ranks:
            _, true, of = RANKS[name]
            ranks[name].append((of(draws) < true(truth)).sum())
        for name in held:
            part = PARTS[name][1]
            pit[name].append(part.cdf(posterior, part.true(truth)))
    return ranks, held, pit


@pytest.mark.parametrize("name", RANKS)
@pytest.mark.slow
def test_1_simulation_based_calibration(name):
    rank = np.array(simulated(RANKS[name][0])[0][name])
    seen = np.bincount(rank * BINS // (DRAWS + 1), minlength=BINS)
    expected = DATA_SETS / BINS
    assert len(rank) == DATA_SETS
    assert ((seen - expected) ** 2 / expected).sum() < CHI2, seen.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_2_coverage_of_95_percent_intervals(name):
    held = simulated(PARTS[name][0])[1][name]
    assert COVERED[0] <= held / RUNS <= COVERED[1]


@pytest.mark.parametrize("name", PARTS)
def test_3_pit_of_continuous_posteriors(name):
    u = np.sort(simulated(PARTS[name][0])[2][name])
    steps = np.arange(DATA_SETS + 1) / DATA_SETS
    assert max((steps[1:] - u).max(), (u - steps[:-1]).max()) < KOLMOGOROV


@pytest.mark.slow
def test_2_coverage_of_the_shortest_interval():
    held = sum(t.p in b.interval(hpd=True) for t, b, _ in runs(BETA, RUNS, 51))
    assert COVERED[0] <= held / RUNS <= COVERED[1]


def test_2_coverage_of_the_next_value():
    held = sum(
        t.sample(1, rng)[0] in b.predictive().interval(0.95) for t, b, rng in runs(NIG, RUNS, 52)
    )
    assert COVERED[0] <= held / RUNS <= COVERED[1]


def test_2_coverage_of_the_reference_prior_for_any_truth():
    rng = np.random.default_rng(53)
    rows = rng.normal(7, 3, size=(RUNS, 5))
    mean = variance = 0
    for row in rows:
        posterior = Gaussian.posterior(row)
        mean += 7 in posterior.interval(0.95)
        variance += 9 in posterior.interval(0.95, of="variance")
    assert COVERED[0] <= mean / RUNS <= COVERED[1]
    assert COVERED[0] <= variance / RUNS <= COVERED[1]


def test_the_calibration_test_has_teeth():
    """A posterior that counts each row twice must fail it."""
    ranks = []
    for truth, posterior, rng in runs(BETA, DATA_SETS, 90):
        wrong = Beta(2 * posterior.a - BETA.a, 2 * posterior.b - BETA.b)
        ranks.append((wrong.sample(DRAWS, rng) < truth.p).sum())
    seen = np.bincount(np.array(ranks) * BINS // (DRAWS + 1), minlength=BINS)
    assert ((seen - 100.0) ** 2 / 100).sum() > CHI2
