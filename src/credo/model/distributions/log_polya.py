"""ln of the probability of counts under pseudo-counts: Pólya's urn, for counts of any size.

    ln p(n) = Σ_k [lnΓ(α_k + n_k) − lnΓ(α_k)] − [lnΓ(A + N) − lnΓ(A)],   A = Σ α,  N = Σ n

These terms grow as N ln N, and cancel where nearly all counts are of one state: at N = 10¹² three
digits were left of them. So the states are split off one by one, each against all that come after
it, and each split is two probabilities of an unbroken run,

    ln p(n, m | a, b) = −F(b, a, m) − F(a, b + m, n),   F(a, c, n) = Σ_{i < c} ln(1 + n / (a + i))
                      = lnΓ(a) − lnΓ(a + c) − lnΓ(a + n) + lnΓ(a + c + n)

No two of these have different signs, so that nothing cancels among them.
(Abramowitz & Stegun 1964, 6.1.15 and 6.1.41.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from credo.model.distributions.log_rising import LARGE, log_rising, stirling_rest

__all__ = ["log_polya"]

Floats = NDArray[np.float64]


def log_polya(alpha: Floats, n: Floats) -> float:
    """The log-probability of rows in some order, `n` of each state.

    >>> float(np.exp(log_polya(np.ones(2), np.array([1.0, 1.0]))).round(12))  # ½ · ⅓
    0.166666666667
    >>> round(log_polya(np.ones(2), np.array([0.0, 1e12])), 9)  # −ln(n + 1)
    -27.631021116
    """
    a, seen = alpha[:-1], n[:-1]
    b, later = _after(alpha), _after(n)
    return 0.0 - float((_run(b, a, later) + _run(a, b + later, seen)).sum())


def _after(x: Floats) -> Floats:
    """The sum of all that come after, for each but the last."""
    out: Floats = np.cumsum(x[:0:-1])[::-1]
    return out


def _run(a: Floats, c: Floats, n: Floats) -> Floats:
    """F(a, c, n), cell by cell: −ln of the chance that n rows are all of the a, none of the c."""
    few, many = np.minimum(c, n), np.maximum(c, n)
    swap = _is_short(many) & ~_is_short(few)
    steps, rest = np.where(swap, many, few), np.where(swap, few, many)
    short = _is_short(steps)
    out = np.empty(a.shape)
    out[short] = _summed(a[short], rest[short], steps[short])
    out[~short] = _by_series(a[~short], few[~short], many[~short])
    return out


def _is_short(n: Floats) -> NDArray[np.bool_]:
    short: NDArray[np.bool_] = (n <= LARGE) & (n == np.floor(n))
    return short


def _summed(a: Floats, c: Floats, n: Floats) -> Floats:
    """F(a, c, n) for a few rows, one by one."""
    i = np.arange(LARGE)
    terms = np.log1p(c[:, None] / (a[:, None] + i))
    out: Floats = np.where(i < n[:, None], terms, 0.0).sum(axis=-1)
    return out


def _by_series(a: Floats, few: Floats, many: Floats) -> Floats:
    near, big = _up(a, few, many)
    apart = log_rising(big + many, few) - log_rising(big, few)
    out: Floats = near + np.where(many < big, _of_large(big, few, many), apart)
    return out


def _up(a: Floats, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """F(a, x, y) − F(b, x, y), and b: a itself where Stirling's series holds for it, else more.

    F(a, x, y) − F(a + 1, x, y) = ln(1 + xy / a(a + x + y)), again nothing that cancels.
    """
    small = a < LARGE
    at = a[small, None] + np.arange(LARGE)
    x, y = x[small, None], y[small, None]
    out, big = np.zeros(a.shape), np.where(small, a + LARGE, a)
    out[small] = np.log1p(x / at * (y / (at + x + y))).sum(axis=-1)
    return out, big


def _of_large(a: Floats, x: Floats, y: Floats) -> Floats:
    """F(a, x, y) for a above both, by Stirling's series: its large terms are put together."""
    whole = a + x + y
    rests = (stirling_rest(a) - stirling_rest(a + x)) - (
        stirling_rest(a + y) - stirling_rest(whole)
    )
    crossed = (whole - 0.5) * np.log1p(-(x / (a + x)) * (y / (a + y)))
    out: Floats = crossed + x * np.log1p(y / a) + y * np.log1p(x / a) + rests
    return out
