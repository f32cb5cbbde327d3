"""Differences of ln Γ that keep their digits, for pseudo-counts and counts of any size.

    ln a (a + 1) … (a + n − 1) = lnΓ(a + n) − lnΓ(a)      what n more observations do to a

Marginal likelihoods and Dirichlet densities are made of these. SciPy's gammaln is exact, but where
a is large two of its values agree in most of their digits: 10⁻⁷ of the difference is lost at
a = 10⁹, all of it at 10¹⁵. There Stirling's series is subtracted term by term,

    n ln a + (a + n − ½) ln(1 + n/a) − n + δ(a + n) − δ(a),   δ(x) = 1/12x − 1/360x³ + 1/1260x⁵ − …

(Abramowitz & Stegun 1964, 6.1.41), which is right to the last digits for any n ≥ 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from credo.model.values.reals import Floats

LARGE = 20.0  # from here on four terms of the series have all digits


def log_rising(a: ArrayLike, n: ArrayLike) -> Floats:
    """lnΓ(a + n) − lnΓ(a) for a > 0 and n ≥ 0, cell by cell.

    >>> float(np.exp(log_rising(3.0, 2.0)).round(12))
    12.0
    >>> float(log_rising(1e15, 1.0) - np.log(1e15))
    0.0
    """
    from scipy.special import gammaln

    a, n = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(n, np.float64))
    large = a >= LARGE
    big, few = np.where(large, a, LARGE), np.where(large, 1.0, a)
    series = (n * np.log(big) + (big + n - 0.5) * np.log1p(n / big) - n + _delta(big + n)) - _delta(
        big
    )
    out: Floats = np.where(large, series, gammaln(few + n) - gammaln(few))
    return out


def _delta(x: Any) -> Any:
    """δ(x), what Stirling's formula leaves out of lnΓ(x), for x ≥ LARGE."""
    y = 1 / (x * x)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y / 1680))) / x


def log_dirichlet(alpha: Floats, p: Floats) -> Floats:
    """The log-density of a Dirichlet at points `p` of the simplex, along the last axis.

    >>> float(log_dirichlet(np.ones(3), np.array([0.2, 0.3, 0.5])).round(6))
    0.693147
    """
    from scipy.special import gammaln, xlogy

    out: Floats = xlogy(alpha - 1, p).sum(axis=-1) + (gammaln(alpha.sum()) - gammaln(alpha).sum())
    # In a corner where one factor is 0 and another infinite there is no limit: take 0.
    return np.where(np.isnan(out), -np.inf, out)


def log_polya(alpha: Floats, n: Floats) -> float:
    """The log-probability of rows in some order, `n` of each state, under pseudo-counts `alpha`.

        Σ_k [lnΓ(α_k + n_k) − lnΓ(α_k)] − [lnΓ(A + N) − lnΓ(A)],   A = Σ α,  N = Σ n

    cancels where nearly all counts are of one state. So the states are split off one by one, each
    against all that come after it, and each split is two probabilities of an unbroken run.

    >>> float(np.exp(log_polya(np.ones(2), np.array([1.0, 1.0]))).round(12))  # ½ · ⅓
    0.166666666667
    >>> round(log_polya(np.ones(2), np.array([0.0, 1e12])), 9)  # −ln(n + 1)
    -27.631021116
    """
    if alpha.sum() + n.sum() < LARGE:  # nothing cancels
        return float(log_rising(alpha, n).sum() - log_rising(alpha.sum(), n.sum())) + 0.0
    a, seen = alpha[:-1], n[:-1]
    b, later = (np.cumsum(x[:0:-1])[::-1] for x in (alpha, n))
    return 0.0 - float((_run(b, a, later) + _run(a, b + later, seen)).sum())


def _run(a: Floats, c: Floats, n: Floats) -> Floats:
    """−ln of the chance that n rows are all of the a, none of the c; c and n change places.

    lnΓ(a) − lnΓ(a + c) − lnΓ(a + n) + lnΓ(a + c + n) = F(a) = F(a + 1) + ln(1 + cn / a(a + c + n))
    """
    few, many = np.minimum(c, n), np.maximum(c, n)
    at, x, y = a[:, None] + np.arange(LARGE), few[:, None], many[:, None]
    small = a < LARGE
    steps = np.where(small, np.log1p(x / at * (y / (at + x + y))).sum(axis=-1), 0.0)
    big = np.where(small, a + LARGE, a)
    out: Floats = steps + (log_rising(big + many, few) - log_rising(big, few))
    return out
