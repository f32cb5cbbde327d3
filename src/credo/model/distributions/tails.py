"""Shares of a Beta and of a Gamma distribution below a value, for pseudo-counts of any size.

SciPy's betainc and gammainc are exact for moderate pseudo-counts and lose themselves for large
ones: at 10¹⁵ betainc is off by a tenth of a tail, gammainc at 10¹² by all of it.

Where the pseudo-counts are large, the density is nearly Gaussian, and its logarithm is one of
distances from the mean, by Stirling's series as in `log_dirichlet.py`. So the tail beyond x, z
standard deviations from the mean, is summed up by Gauss's rule over the part of it that counts,

    ∫ f(x + t) dt,   0 ≤ t ≤ L,   z L + L²/2 = 45      (the rest is below e⁻⁴⁵ of f)

Where a is small beside b, t = −N ln(1 − p) is nearly a Gamma(a), as in `quantiles.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.model.distributions.log_dirichlet import CLOSE, excess
from credo.model.distributions.log_rising import LARGE, stirling_rest

__all__ = ["beta_share", "gamma_share", "inverse_gamma_log_density", "inverse_gamma_share"]

Floats = NDArray[np.float64]

_MANY = 1e5  # from here on the density is summed up
_BESIDE = 1e-3  # a pseudo-count below this share of the other is small beside it
_BESIDE_MANY = 1e6  # ... where the other is at least this


def beta_share(a: float, b: float, p: Floats) -> Floats:
    """The share of Beta(a, b) that lies below each `p`.

    >>> [float(beta_share(n, n, np.array(0.5)).round(12)) for n in (6.0, 1e15)]
    [0.5, 0.5]
    """
    from scipy.special import betainc

    inside: Floats = np.clip(p, 0.0, 1.0)
    if min(a, b) >= _MANY:
        below = _both_large(a, b, inside)
    elif max(a, b) >= _BESIDE_MANY and min(a, b) <= _BESIDE * max(a, b):
        below = _one_small(a, b, inside) if a < b else _one_small(b, a, 1 - inside, above=True)
    else:
        below = np.asarray(betainc(a, b, inside))
    return below


def gamma_share(a: float, t: Floats, above: bool = False) -> Floats:
    """The share of Gamma(a) that lies below, or `above`, each `t` ≥ 0.

    >>> float(gamma_share(1.0, np.array(np.log(2.0))).round(12))
    0.5
    """
    from scipy.special import gammainc, gammaincc

    if a < _MANY:
        return np.asarray((gammaincc if above else gammainc)(a, t))
    tail = _beyond(lambda d: _large_log_density(a, d / a) - np.log(a + d), t, a, math.sqrt(a))
    return np.where((t > a) == above, tail, 1 - tail)


def inverse_gamma_share(a: float, b: float, x: Floats, power: int = 1) -> Floats:
    """The share of v = b / Gamma(a) for which v^(1/power) lies below each `x`.

    >>> inverse_gamma_share(1.0, 1.0, np.array([-1.0, 0.0, 1.0, np.inf])).round(6).tolist()
    [0.0, 0.0, 0.367879, 1.0]
    """
    from scipy.special import gammaln

    at = np.maximum(x, 0.0)
    with np.errstate(over="ignore", divide="ignore"):
        t = b / at**power
        log_t = math.log(b) - power * np.log(at)
        least = -np.expm1(np.minimum(a * log_t - gammaln(a + 1), 0.0))
    return np.where(t < 1e-290, least, gamma_share(a, t, above=True))  # a small t may be none


def inverse_gamma_log_density(a: float, b: float, x: Floats, power: int = 1) -> Floats:
    """The log-density of v^(1/power), v = b / Gamma(a), at each `x`; −∞ where it is not above 0.

    >>> float(inverse_gamma_log_density(1.0, 1.0, np.array(1.0)))
    -1.0
    """
    from scipy.special import gammaln

    real = (x > 0) & (x < np.inf)
    at = np.where(real, x, 1.0)
    with np.errstate(over="ignore", divide="ignore"):
        t = np.minimum(b / at**power, np.finfo(float).max)
    if a >= LARGE and (close := np.abs(t / a - 1) < CLOSE).any():
        near = _large_log_density(a, np.where(close, (t - a) / a, 0.0))
    else:
        close, near = np.zeros(t.shape, dtype=bool), t
    far = a * (math.log(b) - power * np.log(at)) - t - gammaln(a)
    out = np.where(close, near, far) + math.log(power) - np.log(at)
    return np.where(real, out, -np.inf)


def _large_log_density(a: float, u: Floats) -> Floats:
    """The log-density of ln t, for t ~ Gamma(a) at a (1 + u)."""
    size = 0.5 * math.log(a / (2 * math.pi)) - float(stirling_rest(a))
    return size - a * excess(u, 1 + u)


def _both_large(a: float, b: float, p: Floats, above: bool = False) -> Floats:
    if a > b:  # a mean below ½ has all its digits
        return _both_large(b, a, 1 - p, not above)
    n = a + b
    mean, rest = a / n, b / n
    size = 0.5 * math.log(2 * math.pi / n) + float(stirling_rest(n))

    def log_density(d: Floats) -> Floats:
        u, v = d / mean, -d / rest  # Γ(n) / Γ(a) Γ(b), each by Stirling's series
        parts = _large_log_density(a, u) + _large_log_density(b, v)
        return parts + size - np.log((mean + d) * (rest - d))

    tail = _beyond(log_density, p, mean, math.sqrt(mean * rest / n))
    return np.where((p > mean) == above, tail, 1 - tail)


def _one_small(few: float, many: float, p: Floats, above: bool = False) -> Floats:
    """The share of Beta(few, many) below, or above, p: a quantile t of `quantiles.py` undone."""
    n = many + (few - 1) / 2
    with np.errstate(divide="ignore"):
        given = -n * np.log1p(-p)
    t = given
    for _ in range(3):
        bend = 1 + (few - 1) * (few + 1 + np.minimum(t, n)) / (24 * n * n)
        t = given / bend
    return gamma_share(few, t, above)


def _beyond(
    log_density: Callable[[Floats], Floats],
    x: Floats,
    mean: float,
    sd: float,
) -> Floats:
    """What lies beyond x, on its own side of the mean; the density is asked by the distance."""
    at, weight = _rule()
    away = np.clip(x - mean, -60 * sd, 60 * sd)  # further out no number above 0 is small enough
    z = np.abs(away) / sd
    length = sd * 90 / (z + np.sqrt(z * z + 90))
    steps = np.where(away > 0, length, -length)
    density = np.exp(log_density(away[..., None] + steps[..., None] * at))
    out: Floats = length * (density @ weight)
    return np.minimum(out, 1.0)


@cache
def _rule() -> tuple[Any, Any]:
    """Gauss and Legendre's nodes and weights between 0 and 1."""
    x, w = np.polynomial.legendre.leggauss(48)
    return (x + 1) / 2, w / 2
