"""What a variable tells of a number whose distribution is a mixture of Gaussians, in bits.

    I(T; Y) = h(T) − Σ_y P(y) h(T | y)        or an integral over y, if Y is a number too

A mixture's entropy has no closed form. It is the integral of −p ln p over points that lie close
together wherever one of the Gaussians is narrow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.model.answers.mixed_joint import MixedJoint
from credo.model.answers.multivariate_mixture import MultivariateMixture
from credo.model.answers.normal_mixture import NormalMixture
from credo.model.answers.numbers_answer import NumbersAnswer
from credo.model.distributions.multivariate import MultivariateGaussian

__all__ = ["MAX_GAUSSIANS", "of_number", "of_states"]

Floats = NDArray[np.float64]

MAX_GAUSSIANS = 12
"""Two numbers whose mixture has more Gaussians than this are not worked out."""
_CUTS = np.linspace(-8.0, 8.0, 17)
_NODES, _SHARES = np.polynomial.legendre.leggauss(4)
_BITS = 1 / np.log(2)


def of_states(both: MixedJoint) -> float:
    """I(T; Y) in bits, from P(Y) and p(T | y) for each state."""
    shares = np.asarray(both.discrete.p, dtype=np.float64).ravel()
    parts = [(p, *_parts(d)) for p, d in zip(shares, both.given, strict=True) if d is not None]
    every = [np.concatenate(c) for c in zip(*((p * w, m, v) for p, w, m, v in parts), strict=True)]
    now = _entropy(*(c[None, :] for c in every))[0]
    left = sum(p * _entropy(w[None, :], m[None, :], v[None, :])[0] for p, w, m, v in parts)
    return float(max((now - left) * _BITS, 0.0))


def of_number(both: Any) -> float | None:
    """I(T; Y) in bits from the joint of two numbers; None where it has too many Gaussians."""
    if isinstance(both, NumbersAnswer):
        both = both.below  # a transform of each takes nothing away
    if isinstance(both, MultivariateGaussian):
        cov = np.asarray(both.covariance)
        rest = 1 - cov[0, 1] ** 2 / (cov[0, 0] * cov[1, 1])
        return float(max(-0.5 * np.log2(max(rest, 1e-300)), 0.0))
    assert isinstance(both, MultivariateMixture)
    if len(both.weights) > MAX_GAUSSIANS:
        return None
    w, m, c = both.weights, both.means, both.covariances
    now = _entropy(w[None, :], m[None, :, 0], c[None, :, 0, 0])[0]
    y, dy = (a[0] for a in _points(m[None, :, 1], c[None, :, 1, 1]))
    log = _logs(y[None, :], w[None, :], m[None, :, 1], c[None, :, 1, 1])[0]
    density = np.exp(log).sum(axis=-1)
    given = np.exp(log - np.logaddexp.reduce(log, axis=-1)[:, None])
    slope = c[:, 0, 1] / c[:, 1, 1]
    means = m[:, 0] + slope * (y[:, None] - m[:, 1])
    variances = np.maximum(c[:, 0, 0] - slope * c[:, 0, 1], 1e-12 * c[:, 0, 0])
    left = _entropy(given, means, np.broadcast_to(variances, means.shape))
    return float(max((now - (density * left) @ dy) * _BITS, 0.0))


def _parts(one: Any) -> tuple[Floats, Floats, Floats]:
    """The weights, means and variances of a Gaussian or a mixture."""
    if isinstance(one, NormalMixture):
        return one.weights, one.means, one.variances
    return np.ones(1), np.array([float(one.mean)]), np.array([float(one.variance)])


def _points(mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Points [B, P] that follow every Gaussian [B, K] closely, and their weights in an integral.

    Gauss's rule between the cuts of all the Gaussians together.
    """
    cuts = mean[..., None] + np.sqrt(variance)[..., None] * _CUTS
    cuts = np.sort(cuts.reshape(len(mean), -1), axis=1)
    half = np.diff(cuts, axis=1)[..., None] / 2
    x: Floats = (cuts[:, :-1, None] + half * (1 + _NODES)).reshape(len(mean), -1)
    weight: Floats = (half * _SHARES).reshape(len(mean), -1)
    return x, weight


def _logs(x: Floats, weight: Floats, mean: Floats, variance: Floats) -> Floats:
    """ln of each Gaussian's share of the density at points x: [B, P, K]."""
    v = variance[:, None, :]
    with np.errstate(divide="ignore"):
        w = np.log(weight)[:, None, :]
    away = (x[:, :, None] - mean[:, None, :]) ** 2 / v
    out: Floats = w - 0.5 * (np.log(2 * np.pi * v) + away)
    return out


def _entropy(weight: Floats, mean: Floats, variance: Floats) -> Floats:
    """Entropies, in nats, of mixtures [B, K]."""
    out = np.empty(len(weight))
    step = max(2_000_000 // (len(_CUTS) * len(_NODES) * weight.shape[1] ** 2), 1)
    for first in range(0, len(weight), step):
        at = slice(first, first + step)
        x, dx = _points(mean[at], variance[at])
        logs = _logs(x, weight[at], mean[at], variance[at])
        top = logs.max(axis=-1)  # logaddexp.reduce does the same in four times the time
        log = top + np.log(np.exp(logs - top[..., None]).sum(axis=-1))
        out[at] = -(np.exp(log) * np.maximum(log, -1e4) * dx).sum(axis=1)
    return out
