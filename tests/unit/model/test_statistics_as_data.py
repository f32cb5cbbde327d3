"""A statistic of the wrong kind is refused: counts are no measurements, moments no counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import credo as cr
from credo.errors import InputError

TALLY = cr.tally({"x": ["F", "T", "T"], "y": [1.0, 2.5, 3.0]}, ["x", "y", ("y", ["x"])])
COUNTS = TALLY["x"]
MOMENTS = TALLY["y"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: cr.Gaussian.fit(COUNTS),
        lambda: cr.Gaussian.fit({"x": COUNTS}),
        lambda: cr.distributions.MultivariateGaussian.fit(COUNTS),
        lambda: cr.Gaussian.posterior(COUNTS),
        lambda: cr.Gaussian(0, 1).log_likelihood(COUNTS),
        lambda: cr.Gaussian.likelihood_curve(COUNTS),
        lambda: cr.distributions.NormalInverseGamma(0, 1, 1, 1) + COUNTS,
        lambda: cr.distributions.NormalMean(0, 1, 1).update(COUNTS),
        lambda: cr.distributions.NormalMean(0, 1, 1).log_marginal(COUNTS),
    ],
)
def test_counts_are_not_measurements(call: Callable[[], Any]) -> None:
    with pytest.raises(InputError, match=r"must be measurements, got counts of x: how often"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: cr.Bernoulli.fit(MOMENTS),
        lambda: cr.Categorical.posterior(MOMENTS),
        lambda: cr.Beta(1, 1) + MOMENTS,
        lambda: cr.Dirichlet([1, 1]).update(MOMENTS),
        lambda: cr.Bernoulli(0.5).log_likelihood(MOMENTS),
    ],
)
def test_moments_are_not_counts(call: Callable[[], Any]) -> None:
    with pytest.raises(InputError, match=r"state to count, or Counts, got Moments\(y; n = 3\)"):
        call()


@pytest.mark.parametrize("learner", [cr.Bernoulli, cr.Gaussian])
def test_a_whole_tally_is_not_one_statistic(learner: Any) -> None:
    with pytest.raises(InputError, match=r"got a tally.*such as tally\['x'\]"):
        learner.fit(TALLY)
    with pytest.raises(InputError, match=r"such as tally\['y', \['x'\]\]"):
        learner.fit(cr.tally({"x": ["F", "T"], "y": [1.0, 2.5]}, [("y", ["x"])]))
