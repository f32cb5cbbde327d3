"""Shares and quantiles of the Beta and of the Gamma distribution, for pseudo-counts of any size.

SciPy's functions are exact for moderate pseudo-counts and lose themselves for large ones: gammainc
from 10⁶ on (at 10⁸ by a third of a far tail), betainc at 10¹² by 10⁻³ of a tail, betaincinv for 10³
beside 10⁹ by all of it. So

- where the pseudo-counts are large, the density, which is nearly Gaussian, is summed up by Gauss's
  rule over the part of the tail that counts: ∫ f(x + t) dt, 0 ≤ t ≤ L, z L + L²/2 = 45, z standard
  deviations from the mean (the rest is below e⁻⁴⁵ of f);
- where a is small beside b, t = −N ln(1 − p) with N = b + (a − 1)/2 has the density
  t^(a − 1) e^(−t) (sinh s / s)^(a − 1), s = t/2N: nearly a Gamma(a) (Wise 1950). The first term of
  sinh s / s = 1 + s²/6 + … moves a quantile t by (a − 1) t (a + 1 + t)/24N²;
- a quantile of SciPy whose share is not the one asked for is found by halving.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from credo.model.answers.interval import halved
from credo.model.distributions.log_rising import excess, gamma_rest
from credo.model.values.reals import Floats

_LARGE = 1e5  # from here on the density is summed up
_BESIDE = 1e-3  # a pseudo-count below this share of the other is small beside it
_MANY = 1e6  # ... where the other is at least this


def beta_share(a: ArrayLike, b: ArrayLike, p: ArrayLike, above: bool = False) -> Floats:
    """The share of Beta(a, b) that lies below, or `above`, each `p`, cell by cell.

    >>> beta_share([6.0, 1e15], [6.0, 1e15], 0.5).round(12).tolist()
    [0.5, 0.5]
    """
    from scipy.special import betainc, betaincc

    a, b, p = _cells(a, b, np.clip(p, 0.0, 1.0))
    few, many = np.minimum(a, b), np.maximum(a, b)
    beside = (many >= _MANY) & (few <= _BESIDE * many)
    large = (few >= _LARGE) & ~beside
    out = np.asarray((betaincc if above else betainc)(a, b, p), dtype=np.float64)
    if beside.any():
        out[beside] = _one_small(few[beside], many[beside], p[beside], (a > b)[beside], above)
    if large.any():
        out[large] = _both_large(a[large], b[large], p[large], above)
    return out


def gamma_share(a: ArrayLike, t: ArrayLike, above: bool = False) -> Floats:
    """The share of Gamma(a) that lies below, or `above`, each `t` ≥ 0, cell by cell.

    >>> float(gamma_share(1.0, np.log(2.0)).round(12))
    0.5
    """
    from scipy.special import gammainc, gammaincc

    a, t = _cells(a, t)
    out = np.asarray((gammaincc if above else gammainc)(a, t), dtype=np.float64)
    large = a >= _LARGE
    if large.any():
        n, at = a[large], t[large]

        def log_density(d: Floats) -> Floats:
            return _log_density(n[:, None], d / n[:, None]) - np.log(n[:, None] + d)

        tail = _beyond(log_density, at, n, np.sqrt(n))
        out[large] = np.where((at > n) == above, tail, 1 - tail)
    return out


def beta_quantile(a: ArrayLike, b: ArrayLike, q: ArrayLike, above: bool = False) -> Floats:
    """Where the share `q` of Beta(a, b) lies below, or `above`, cell by cell; a, b > 0.

    >>> [f"{p:.12g}" for p in beta_quantile([6.0, 3.0, 1e12], [6.0, 1e9, 1e12], 0.025)]
    ['0.233793597659', '6.18672122086e-10', '0.499999307048']
    """
    from scipy.special import betainccinv, betaincinv

    a, b, q = _cells(a, b, q)
    with np.errstate(all="ignore"):
        guess = np.asarray((betainccinv if above else betaincinv)(a, b, q), dtype=np.float64)
    return _inverse(beta_share, (a, b), q, above, guess, a / (a + b), (a + b) / a)


def gamma_quantile(a: ArrayLike, q: ArrayLike, above: bool = False) -> Floats:
    """Where the share `q` of Gamma(a) lies below, or `above`, cell by cell; a > 0.

    >>> gamma_quantile([2.0, 1e12], 0.025).round(2).tolist()
    [0.24, 999998040036.96]
    """
    from scipy.special import gammainccinv, gammaincinv

    a, q = _cells(a, q)
    with np.errstate(all="ignore"):
        guess = np.asarray((gammainccinv if above else gammaincinv)(a, q), dtype=np.float64)
    return _inverse(gamma_share, (a,), q, above, guess, a, 1 + 60 / np.sqrt(a) + 1e3 / a)


def inverse_gamma_share(a: float, b: float, x: Floats, power: int = 1) -> Floats:
    """The share of v = b / Gamma(a) for which v^(1/power) lies below each `x`.

    >>> inverse_gamma_share(1.0, 1.0, np.array([-1.0, 0.0, 1.0, np.inf])).round(6).tolist()
    [0.0, 0.0, 0.367879, 1.0]
    """
    with np.errstate(over="ignore", divide="ignore"):
        return gamma_share(a, b / np.maximum(x, 0.0) ** power, above=True)


def inverse_gamma_log_density(a: float, b: float, x: Floats, power: int = 1) -> Floats:
    """The log-density of v^(1/power), v = b / Gamma(a), at each `x`; −∞ where it is not above 0.

    >>> float(inverse_gamma_log_density(1.0, 1.0, np.array(1.0)))
    -1.0
    """
    real = (x > 0) & (x < np.inf)
    at = np.where(real, x, 1.0)
    with np.errstate(over="ignore", divide="ignore"):
        u = b / at**power / a - 1
    log = math.log(b) - power * np.log(at) - math.log(a)
    out = -a * excess(u, log) - gamma_rest(a) + math.log(power) - np.log(at)
    return np.where(real, out, -np.inf)


def _cells(*values: Any) -> list[Floats]:
    return [np.asarray(v, np.float64) for v in np.broadcast_arrays(*values)]


def _inverse(
    share: Callable[..., Floats],
    parameters: tuple[Floats, ...],
    q: Floats,
    above: bool,
    guess: Floats,
    mean: Floats,
    highest: Floats,
) -> Floats:
    """The guess where its share is `q`, else what halving finds, up to `highest` times the mean."""
    with np.errstate(all="ignore"):
        miss = np.abs(share(*parameters, guess, above) - q)
    lost = ~(miss <= 1e-11 * np.minimum(q, 1 - q))
    if lost.any():
        sign = -1.0 if above else 1.0  # so that the share grows
        part, wanted, unit = [p[lost] for p in parameters], sign * q[lost], mean[lost]

        def grown(s: Floats) -> Floats:
            with np.errstate(all="ignore"):
                return sign * share(*part, unit * np.exp(s), above)

        least = -745.0 - np.log(unit)  # ln of the least number above 0
        slow = halved(grown, wanted, least, np.log(highest[lost]))
        guess[lost] = np.where(wanted > grown(least), unit * np.exp(slow), 0.0)
    return guess


def _log_density(a: Any, u: Floats) -> Floats:
    """The log-density of ln t, for t ~ Gamma(a) at a (1 + u)."""
    out: Floats = -gamma_rest(a) - a * excess(u, np.log1p(u))
    return out


def _both_large(a: Floats, b: Floats, p: Floats, above: bool) -> Floats:
    turned = a > b  # a mean below ½ has all its digits
    a, b, p = np.minimum(a, b), np.maximum(a, b), np.where(turned, 1 - p, p)
    n = a + b
    mean, rest = a / n, b / n

    def log_density(d: Floats) -> Floats:
        m, r = mean[:, None], rest[:, None]
        parts = _log_density(a[:, None], d / m) + _log_density(b[:, None], -d / r)
        return parts + gamma_rest(n)[:, None] - np.log((m + d) * (r - d))

    tail = _beyond(log_density, p, mean, np.sqrt(mean * rest / n))
    return np.where((p > mean) == (turned != above), tail, 1 - tail)


def _one_small(few: Floats, many: Floats, p: Floats, turned: Any, above: bool) -> Floats:
    n = many + (few - 1) / 2
    with np.errstate(divide="ignore"):
        given = -n * np.where(turned, np.log(p), np.log1p(-p))
    t = given
    for _ in range(3):
        t = given / (1 + (few - 1) * (few + 1 + np.minimum(t, n)) / (24 * n * n))
    low, high = gamma_share(few, t), gamma_share(few, t, above=True)
    return np.where(turned != above, high, low)


def _beyond(log_density: Any, x: Floats, mean: Floats, sd: Floats) -> Floats:
    """What lies beyond x, on its own side of the mean; the density is asked by the distance."""
    at, weight = _rule()
    away = np.clip(x - mean, -60 * sd, 60 * sd)  # further out no number above 0 is small enough
    z = np.abs(away) / sd
    length = sd * 90 / (z + np.sqrt(z * z + 90))
    steps = np.where(away > 0, length, -length)
    density = np.exp(log_density(away[:, None] + steps[:, None] * at))
    out: Floats = np.minimum(length * (density @ weight), 1.0)
    return out


@cache
def _rule() -> tuple[Any, Any]:
    """Gauss and Legendre's nodes and weights between 0 and 1."""
    x, w = np.polynomial.legendre.leggauss(48)
    return (x + 1) / 2, w / 2
