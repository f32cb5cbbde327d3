"""The log-density of a Dirichlet, for pseudo-counts of any size; a Beta is one of two states.

    ln p(p) = ln Γ(Σ α) − Σ ln Γ(α_k) + Σ (α_k − 1) ln p_k

Where the pseudo-counts are large these terms are enormous and cancel: at α = 10¹⁵ nothing would be
left. There ln Γ is written out by Stirling's series; with the means m_k = α_k / n, n = Σ α, it is

    −Σ α_k (u_k − ln(1 + u_k)) − Σ ln p_k + ½ (Σ ln α_k − ln n − (K − 1) ln 2π) + δ(n) − Σ δ(α_k)

with u_k = p_k / m_k − 1, whose sum Σ α_k u_k is 0 and was left out (Loader 2000, "Fast and accurate
computation of binomial probabilities"). Small pseudo-counts stay as they are, and the large ones
among them share what those leave.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.model.distributions.log_rising import LARGE, log_rising, stirling_rest

__all__ = ["CLOSE", "excess", "log_dirichlet"]

Floats = NDArray[np.float64]

CLOSE = 0.1  # below this seven terms of the series have all digits


def log_dirichlet(alpha: Floats, p: Floats) -> Floats:
    """The log-density at points `p` of the simplex, along the last axis.

    >>> float(log_dirichlet(np.ones(3), np.array([0.2, 0.3, 0.5])).round(6))
    0.693147
    >>> a = np.full(2, 1e15)
    >>> float(log_dirichlet(a, np.array([0.5, 0.5])).round(9))  # ½ ln(2n / π)
    17.390170435
    """
    from scipy.special import gammaln, xlogy

    large = alpha >= LARGE
    few, many = alpha[~large], alpha[large]
    with np.errstate(divide="ignore", invalid="ignore"):
        out: Floats = xlogy(few - 1.0, p[..., ~large]).sum(axis=-1) - gammaln(few).sum()
        if len(many) == 0:
            out = out + gammaln(alpha.sum())
        else:
            n, taken = many.sum(), p[..., ~large].sum(axis=-1)
            share = p[..., large].sum(axis=-1)
            left = np.where(taken < 0.5, np.log1p(-np.minimum(taken, 0.5)), np.log(share))
            out = out + log_rising(n, few.sum())
            out = out + (n - len(many)) * left + _of_large(many, n, p[..., large], share)
    # In a corner where one factor is 0 and another infinite there is no limit: take 0.
    return np.where(np.isnan(out), -np.inf, out)


def _of_large(alpha: Floats, n: Any, p: Floats, share: Floats) -> Floats:
    """The log-density of large pseudo-counts at p / share."""
    mean = alpha * share[..., None]
    apart = (alpha * excess((p * n - mean) / mean, p / mean * n)).sum(axis=-1)
    constant = np.log(alpha).sum() - math.log(n) - (len(alpha) - 1) * math.log(2 * math.pi)
    rests = stirling_rest(n) - stirling_rest(alpha).sum()
    out: Floats = 0.5 * constant + rests - apart - np.log(p / share[..., None]).sum(axis=-1)
    return np.where((p > 0).all(axis=-1), out, -np.inf)


def excess(u: Floats, ratio: Floats) -> Floats:
    """u − ln(1 + u) for u ≥ −1, to the last digits near 0 as well; `ratio` is 1 + u.

    >>> round(float(excess(np.array(1e-9), np.array(1 + 1e-9))) * 1e18, 6)
    0.5
    """
    near = np.abs(u) < CLOSE
    v = np.where(near, u, 0.0)
    r = v / (2 + v)  # ln(1 + u) = 2 artanh r
    s = r * r
    series = 1 / 3 + s * (1 / 5 + s * (1 / 7 + s * (1 / 9 + s * (1 / 11 + s / 13))))
    return np.where(near, r * (v - 2 * s * series), u - np.log(ratio))
