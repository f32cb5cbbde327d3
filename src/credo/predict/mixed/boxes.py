"""The probability that a Gaussian lies in a box, and points that stand for it there.

    x = m + L z,  z ~ N(0, I):   P(a < x < b) = ∫ Π_i [Φ(b_i(z_<i)) − Φ(a_i(z_<i))] dz_<i

One variable after the other, each within what the ones before it leave of its range. One alone has
a formula; of two the first is integrated by Gauss's rule, to about 1e-9; of more it is drawn, by
scrambled Sobol points whose repetitions tell the error (Geweke, Hajivassiliou and Keane; Genz
1992). Nothing is found by subtraction of large numbers, so far tails are right too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri_exp

__all__ = ["Points", "gauss_rule", "log_between", "log_box", "points_in"]

REACH = 9.0
"""Standard deviations from the likeliest value of a range at which it is taken to end."""
PANELS, ORDER = 40, 8
"""Gauss's rule of this order on so many parts of a range."""
REPEATS, SOBOL = 8, 1024
_NUMBERS = 4_000_000  # of a block of cases

Floats = NDArray[np.float64]


class Points(NamedTuple):
    """Points [cases, n, variables] in a box, ln of their weights [cases, n], how often repeated.

    The weights of a case add up to the probability of the box.
    """

    at: Floats
    log: Floats
    repeats: int = 1


def log_between(a: Any, b: Any) -> Any:
    """ln (Φ(b) − Φ(a)), for a < b.

    >>> float(log_between(-np.inf, 0.0).round(6)), float(log_between(40.0, 41.0).round(4))
    (-0.693147, -804.6084)
    """
    a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    left = np.where(a > 0, -b, a)  # the side where Φ is small
    right = np.where(a > 0, -a, b)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        top, low = log_ndtr(right), log_ndtr(left)
        tail = top + np.log1p(-np.exp(np.minimum(low - top, 0.0)))
        middle = np.log1p(-ndtr(left) - ndtr(-right))
        out = np.where(right > 0, middle, tail)
    return np.where(np.isnan(out), -np.inf, out)


def log_box(mean: Floats, covariance: Floats, low: Floats, high: Floats) -> tuple[Floats, float]:
    """ln P(low < x < high) of each case, and the largest standard error among them.

    `mean` is [cases, variables].

    >>> two = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> log, error = log_box(np.zeros((1, 2)), two[None], np.zeros(2), np.full(2, np.inf))
    >>> float(np.exp(log[0]).round(9)), error  # a third: 1/4 + asin(1/2) / 2π
    (0.333333333, 0.0)
    """
    if mean.shape[1] == 1:
        sd = np.sqrt(covariance[:, 0, 0])
        sd = np.where(sd > 0, sd, 1e-145)
        with np.errstate(over="ignore"):
            return log_between((low - mean)[:, 0] / sd, (high - mean)[:, 0] / sd), 0.0
    step = max(_NUMBERS // (SOBOL * REPEATS * mean.shape[1]), 1)
    parts = [slice(i, i + step) for i in range(0, len(mean), step)]
    found = [_log_some(mean[p], covariance[p], low, high) for p in parts]
    return np.concatenate([log for log, _ in found]), max((e for _, e in found), default=0.0)


def _log_some(mean: Floats, covariance: Floats, low: Floats, high: Floats) -> tuple[Floats, float]:
    found = points_in(mean, covariance, low, high, last=False)
    log = logsumexp(found.log, axis=1)
    if found.repeats == 1:
        return log, 0.0
    each = logsumexp(found.log.reshape(len(log), found.repeats, -1), axis=2)
    each = np.exp(each - log[:, None]) * found.repeats
    error = each[log > -np.inf].std(axis=1, ddof=1).max(initial=0.0) / np.sqrt(found.repeats)
    return log, float(error)


def points_in(
    mean: Floats, covariance: Floats, low: Floats, high: Floats, last: bool = True, fine: int = 0
) -> Points:
    """Points in a box; without `last`, its last variable has no place and counts in full.

    `fine` is how many points one variable alone needs at least.
    """
    m = mean.shape[1]
    root = _roots(covariance)
    drawn = m > 2
    many = [PANELS * ORDER] if m == 1 or not last else [48] * m
    if m == 1 and last:
        many = [min(max(ORDER * -(-fine // ORDER), 16), PANELS * ORDER)]
    z = np.zeros((len(mean), 1, 0))
    log = np.zeros((len(mean), 1))
    uniform = _sobol(m) if drawn else None
    if uniform is not None:
        z = np.zeros((len(mean), len(uniform), 0))
        log = np.full(z.shape[:2], -np.log(len(uniform)))
    for i in range(m):
        middle = mean[:, None, i] + np.einsum("cnj,cj->cn", z, root[:, i, :i])
        sd = root[:, None, i, i]
        with np.errstate(over="ignore"):
            a, b = (low[i] - middle) / sd, (high[i] - middle) / sd
        if uniform is None and (last or i < m - 1):
            own, weight = gauss_rule(a, b, many[min(i, len(many) - 1)])
            z = np.concatenate([np.repeat(z, own.shape[2], axis=1), own.reshape(len(z), -1, 1)], 2)
            log = (log[..., None] + weight).reshape(len(log), -1)
            continue
        log = log + log_between(a, b)
        if uniform is not None:
            z = np.concatenate([z, _inside(a, b, uniform[:, i])[..., None]], axis=2)
    at = mean[:, None] + np.einsum("cnj,cij->cni", z, root[:, :, : z.shape[2]])
    return Points(at, log, REPEATS if drawn else 1)


def _roots(covariance: Floats) -> Floats:
    """Lower triangles; variables that determine each other get a hair of noise."""
    scale = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    scale = np.where(scale > 0, scale, 1e-145)
    r = covariance / (scale[:, :, None] * scale[:, None, :])
    r = r + 1e-12 * np.eye(r.shape[1])
    values, vectors = np.linalg.eigh(r)
    half = vectors * np.sqrt(np.maximum(values, 1e-12))[:, None, :]
    triangle: Any = np.linalg.qr(np.swapaxes(half, 1, 2), mode="r")
    triangle = np.swapaxes(triangle, 1, 2)
    triangle = triangle * np.sign(np.diagonal(triangle, axis1=1, axis2=2))[:, None, :]
    out: Floats = triangle * scale[:, :, None]
    return out


def gauss_rule(a: Floats, b: Floats, n: int = PANELS * ORDER) -> tuple[Floats, Floats]:
    """Gauss's points of a standard normal from a to b, and ln of their weights: [..., n]."""
    low = np.minimum(np.maximum(a, -np.hypot(REACH, np.minimum(b, 0.0))), b)
    high = np.minimum(b, np.hypot(REACH, np.maximum(a, 0.0)))
    x, w = np.polynomial.legendre.leggauss(ORDER)
    parts = n // ORDER
    t = ((np.arange(parts)[:, None] + (x + 1) / 2) / parts).ravel()
    share = np.tile(w / (2 * parts), parts)
    wide = np.maximum(high - low, 0.0)[..., None]
    z = low[..., None] + wide * t
    with np.errstate(divide="ignore", over="ignore"):
        log = np.log(wide * share) - 0.5 * (np.log(2 * np.pi) + z**2)
    return z, log


def _inside(a: Floats, b: Floats, u: Floats) -> Floats:
    """Where a standard normal from a to b has the share u below it."""
    turn = a > 0
    left, right = np.where(turn, -b, a), np.where(turn, -a, b)
    share = np.where(turn, 1 - u, u)
    with np.errstate(divide="ignore", invalid="ignore"):
        below = np.logaddexp(log_ndtr(left), np.log(share) + log_between(left, right))
        z = ndtri_exp(np.minimum(below, 0.0))
    z = np.clip(np.where(np.isnan(z), right, z), left, right)
    out: Floats = np.where(turn, -z, z)
    return out


def _sobol(m: int) -> Floats:
    from scipy.stats.qmc import Sobol

    every = [Sobol(m, scramble=True, rng=i).random(SOBOL) for i in range(REPEATS)]
    out: Floats = np.clip(np.concatenate(every), 1e-12, 1 - 1e-12)
    return out
