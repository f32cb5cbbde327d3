"""Shares and quantiles of the Beta and of the Gamma distribution, cell by cell.

They are SciPy's; a quantile of SciPy whose share is not the one asked for (betaincinv for 10³
beside 10⁹, gammaincinv from 10⁶ on) is found by halving. Up to 10⁹ pseudo-counts a share is right
to 10⁻⁶.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from credo.model.answers.interval import halved
from credo.model.values.reals import Floats


def beta_share(a: ArrayLike, b: ArrayLike, p: ArrayLike, above: bool = False) -> Floats:
    """The share of Beta(a, b) that lies below, or `above`, each `p`.

    >>> beta_share([6.0, 1e9], [6.0, 1e9], 0.5).round(9).tolist()
    [0.5, 0.5]
    """
    from scipy.special import betainc, betaincc

    a, b, p = _cells(a, b, np.clip(p, 0.0, 1.0))
    return np.asarray((betaincc if above else betainc)(a, b, p), dtype=np.float64)


def gamma_share(a: ArrayLike, t: ArrayLike, above: bool = False) -> Floats:
    """The share of Gamma(a) that lies below, or `above`, each `t` ≥ 0.

    >>> float(gamma_share(1.0, np.log(2.0)).round(12))
    0.5
    """
    from scipy.special import gammainc, gammaincc

    a, t = _cells(a, t)
    return np.asarray((gammaincc if above else gammainc)(a, t), dtype=np.float64)


def beta_quantile(a: ArrayLike, b: ArrayLike, q: ArrayLike, above: bool = False) -> Floats:
    """Where the share `q` of Beta(a, b) lies below, or `above`, cell by cell; a, b > 0.

    >>> [f"{p:.9g}" for p in beta_quantile([6.0, 1e3], [6.0, 1e9], 0.025)]
    ['0.233793598', '9.38972109e-07']
    """
    from scipy.special import betainccinv, betaincinv

    a, b, q = _cells(a, b, q)
    with np.errstate(all="ignore"):
        guess = np.asarray((betainccinv if above else betaincinv)(a, b, q), dtype=np.float64)
    return _inverse(beta_share, (a, b), q, above, guess, a / (a + b), (a + b) / a)


def gamma_quantile(a: ArrayLike, q: ArrayLike, above: bool = False) -> Floats:
    """Where the share `q` of Gamma(a) lies below, or `above`, cell by cell; a > 0.

    >>> gamma_quantile([2.0, 1e6], 0.025).round(2).tolist()
    [0.24, 998040.98]
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
    from scipy.special import gammaln

    real = (x > 0) & (x < np.inf)
    at = np.where(real, x, 1.0)
    with np.errstate(all="ignore"):  # far out a term is beyond every number, and the density 0
        out = a * math.log(b) - gammaln(a) - (a * power + 1) * np.log(at) - b / at**power
    return np.where(real & ~np.isnan(out), out + math.log(power), -np.inf)


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
