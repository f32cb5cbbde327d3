"""Quantiles of the Beta and of the Gamma distribution, for pseudo-counts of any size.

    p ~ Beta(a, b)   ⇔   ln p/(1 − p) = ln G_a − ln G_b,   G_a ~ Gamma(a)

SciPy's inverses are exact for moderate pseudo-counts and lose themselves for large ones: at 10¹²
by 10⁻⁴ of a tail, in the lower tail of a Gamma(10⁸) by nearly a half of it. Two expansions take
over there.

Where both are large, ln G_a − ln G_b is nearly Gaussian. Its cumulants are derivatives of lnΓ,
κ_j = ψ⁽ʲ⁻¹⁾(a) + (−1)ʲ ψ⁽ʲ⁻¹⁾(b), and Cornish & Fisher's expansion (1938; Abramowitz & Stegun 1964,
26.2.49) turns a normal quantile z into its own. Three orders leave z⁵/min(a, b)² of a standard
deviation. A Gamma is what is left as b grows.

Where a is small beside b, t = −N ln(1 − p) with N = b + (a − 1)/2 has the density
t^(a − 1) e^(−t) (sinh s / s)^(a − 1), s = t/2N: nearly a Gamma(a) (Wise 1950). The first term of
sinh s / s = 1 + s²/6 + … moves a quantile t by (a − 1) t (a + 1 + t)/24N², and what is left is
below (a/N)⁴ of it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.model.answers.interval import halved

__all__ = ["beta_quantile", "gamma_quantile"]

Floats = NDArray[np.float64]

_LARGE = 3e5  # from here on three orders of Cornish and Fisher are enough
_BESIDE = 1e-3  # a pseudo-count below this share of the other is small beside it
_MANY = 1e6  # ... where the other is at least this


def beta_quantile(a: ArrayLike, b: ArrayLike, q: ArrayLike, above: bool = False) -> Floats:
    """Where the share `q` of Beta(a, b) lies below, or `above`, cell by cell; a, b > 0.

    >>> [f"{p:.12g}" for p in beta_quantile([6.0, 3.0, 1e12], [6.0, 1e9, 1e12], 0.025)]
    ['0.233793597659', '6.18672122086e-10', '0.499999307048']
    """
    a, b, q = (np.asarray(v, np.float64) for v in np.broadcast_arrays(a, b, q))
    few, many = np.minimum(a, b), np.maximum(a, b)
    large = few >= _LARGE
    beside = ~large & (many >= _MANY) & (few <= _BESIDE * many)
    out = np.empty(a.shape)
    for kind, found in ((large, _both_large), (beside, _one_small), (~large & ~beside, _moderate)):
        if kind.any():
            out[kind] = found(a[kind], b[kind], q[kind], above)
    return out


def gamma_quantile(a: ArrayLike, q: ArrayLike, above: bool = False) -> Floats:
    """Where the share `q` of Gamma(a) lies below, or `above`, cell by cell; a > 0.

    >>> gamma_quantile([2.0, 1e12], 0.025).round(2).tolist()
    [0.24, 999998040036.96]
    """
    from scipy.special import gammainccinv, gammaincinv

    a, q = (np.asarray(v, np.float64) for v in np.broadcast_arrays(a, q))
    z = _normal(q) * (-1 if above else 1)
    moderate = gammainccinv if above else gammaincinv
    big = np.maximum(a, _LARGE)
    large = big * np.exp(_bent(z, [_cumulant(big, j) for j in range(1, 6)]))
    out: Floats = np.where(a >= _LARGE, large, moderate(np.minimum(a, _LARGE), q))
    return out


def _both_large(a: Floats, b: Floats, q: Floats, above: bool) -> Floats:
    kappa = [_cumulant(a, j) + (-1) ** j * _cumulant(b, j) for j in range(1, 6)]
    with np.errstate(over="ignore"):
        z = -_normal(q) if above else _normal(q)
        against = b / a * np.exp(-_bent(z, kappa))
    out: Floats = 1 / (1 + against)
    return out


def _one_small(a: Floats, b: Floats, q: Floats, above: bool) -> Floats:
    few, n = np.minimum(a, b), np.maximum(a, b) + (np.minimum(a, b) - 1) / 2
    with np.errstate(over="ignore", invalid="ignore"):
        # each tail from its own side, since 1 − q has lost the digits of a small q
        t = np.where(a < b, gamma_quantile(few, q, above), gamma_quantile(few, q, not above))
        t = np.where(np.isinf(t), t, t * (1 + (few - 1) * (few + 1 + t) / (24 * n * n)))
        out: Floats = np.where(a < b, -np.expm1(-t / n), np.exp(-t / n))
    return out


def _moderate(a: Floats, b: Floats, q: Floats, above: bool) -> Floats:
    from scipy.special import betainc, betaincc, betainccinv, betaincinv

    share, inverse = (betaincc, betainccinv) if above else (betainc, betaincinv)
    with np.errstate(all="ignore"):
        out: Floats = np.asarray(inverse(a, b, q))
        miss = np.abs(share(a, b, out) - q)
    lost = ~(miss <= 1e-9 * np.minimum(q, 1 - q))  # far in a tail betaincinv loses its way
    if lost.any():
        sign = -1.0 if above else 1.0  # so that the share grows with p
        a, b, q = a[lost], b[lost], sign * q[lost]

        def grown(s: Floats) -> Floats:
            return np.asarray(sign * share(a, b, np.exp(s)))

        least = -745.0  # ln of the least number above 0
        slow = np.exp(halved(grown, q, least, 0.0))
        out[lost] = np.where(q > grown(np.full(q.shape, least)), slow, 0.0)
    return out


def _normal(q: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(q))


def _cumulant(a: Floats, j: int) -> Floats:
    """The j-th cumulant of ln G_a/a for a large a, ψ⁽ʲ⁻¹⁾(a) (Abramowitz & Stegun 6.4.11)."""
    if j == 1:
        return np.asarray(-(1 / 2 + 1 / (12 * a)) / a)  # of ψ(a) − ln a
    f = math.factorial
    head = f(j - 2) + f(j - 1) / (2 * a) + f(j) / (12 * a * a)
    out: Floats = (-1) ** j * head / a ** (j - 1)
    return out


def _bent(z: Floats, kappa: list[Floats]) -> Floats:
    """Cornish & Fisher's expansion of the quantile that z is for a Gaussian."""
    mean, variance = kappa[:2]
    sd = np.sqrt(variance)
    g1, g2, g3 = (k / sd**j for j, k in enumerate(kappa[2:], 3))
    z2 = z * z
    with np.errstate(invalid="ignore", over="ignore"):
        w = (
            z
            + g1 * (z2 - 1) / 6
            + z * (g2 * (z2 - 3) / 24 - g1**2 * (2 * z2 - 5) / 36)
            + g3 * (z2 * (z2 - 6) + 3) / 120
            - g1 * g2 * (z2 * (z2 - 5) + 2) / 24
            + g1**3 * (z2 * (12 * z2 - 53) + 17) / 324
        )
        out: Floats = mean + sd * np.where(np.isinf(z), z, w)  # all and nothing stay so
    return out
