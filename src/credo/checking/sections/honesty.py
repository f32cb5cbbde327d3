"""Tests of honest probabilities: p-values of outcomes that are to have been given them.

Two tests are made, each with the exact variance of the outcomes, and their Bonferroni combination
is the p-value given:

    Spiegelhalter's z = (Brier − its expectation) / its standard deviation
    Q = (O − E)ᵀ C⁻¹ (O − E) ~ χ²        O, E: outcomes and probabilities added up in each bin

Where the outcomes hardly vary, neither is near its limit: the number of rows without their most
probable state is then tested, by its exact distribution.

A continuous variable has the share of its distribution below the value seen, which should be
uniform between 0 and 1 (Dawid 1984): Kolmogorov's test, and the coverage of intervals.
"""

from __future__ import annotations

from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from credo.checking.sections.multiplicity import count_p

__all__ = ["BINS", "ENOUGH", "judged", "kolmogorov", "room", "spiegelhalter"]

Floats = NDArray[np.float64]

BINS = 10
ENOUGH = 3.0  # the variance a bin should have before it is judged by itself
LIMIT = 10.0  # the variance of a count from which on it is taken as Gaussian


def room(p: Floats) -> float:
    """The variance of the number of rows without their most probable state."""
    most = p.max(axis=1)
    return float((most * (1 - most)).sum())


def spiegelhalter(p: Floats, codes: NDArray[np.intp]) -> float:
    """Spiegelhalter's z: above 0 for probabilities that are too sure."""
    n = len(p)
    squares = (p**2).sum(axis=1)
    variance = 4 * float(((p**3).sum(axis=1) - squares**2).sum())
    brier = float((squares + 1 - 2 * p[np.arange(n), codes]).sum() - (1 - squares).sum())
    few = room(p) < LIMIT
    return brier / sqrt(variance) if variance > (1e-12 if few else 1e-6) * n else 0.0


def judged(p: Floats, codes: NDArray[np.intp]) -> tuple[float, float, float, float]:
    """Calibration error, its expectation if honest, Spiegelhalter's z, and the p-value of both."""
    from scipy.special import chdtrc

    n, k = p.shape
    few = room(p) < LIMIT
    z = spiegelhalter(p, codes)
    # every state against the rest; of two states one says it all
    column = p[:, 1:] if k == 2 else p
    y = np.zeros_like(column)
    states = codes - 1 if k == 2 else codes
    there = states >= 0
    y[np.flatnonzero(there), states[there]] = 1.0
    bins = np.minimum((column * BINS).astype(int), BINS - 1)
    key = (np.arange(n)[:, None] * BINS + bins).ravel()
    s = np.bincount(key, column.ravel(), n * BINS).reshape(n, BINS)
    o = np.bincount(bins.ravel(), y.ravel(), BINS)
    away = o - s.sum(axis=0)
    spread = np.diag(s.sum(axis=0)) - s.T @ s
    v = np.maximum(np.diag(spread), 0.0)
    error = float(np.abs(away).sum()) / column.size
    expected = float(np.sqrt(2 * v / np.pi).sum()) / column.size
    if few:
        most = p.argmax(axis=1)
        return error, expected, z, count_p(1 - p[np.arange(n), most], int((codes != most).sum()))
    square, free = _quadratic(away, spread)
    p_bins = float(chdtrc(free, square)) if free else 1.0
    return error, expected, z, min(1.0, 2 * min(erfc(abs(z) / sqrt(2)), p_bins))


def _quadratic(away: Floats, spread: Floats) -> tuple[float, int]:
    """(O − E)ᵀ C⁺ (O − E) and its degrees of freedom; bins that hold too little go together."""
    groups: list[list[int]] = [[]]
    for b in range(len(away)):
        groups[-1].append(b)
        if spread[np.ix_(groups[-1], groups[-1])].sum() >= ENOUGH:
            groups.append([])
    if len(groups) > 1:
        rest = groups.pop()
        groups[-1] += rest
    member = np.zeros((len(groups), len(away)))
    for g, bins in enumerate(groups):
        member[g, bins] = 1.0
    a, c = member @ away, member @ spread @ member.T
    value, vectors = np.linalg.eigh(c)
    keep = value > 0.1 * ENOUGH
    turned = (vectors.T @ a)[keep]
    return float((turned**2 / value[keep]).sum()), int(keep.sum())


def kolmogorov(u: Floats) -> tuple[float, float]:
    """Kolmogorov's distance of sorted ranks from uniform, and its p-value."""
    from scipy.special import kolmogorov

    n = len(u)
    steps = np.arange(1, n + 1) / n
    distance = float(np.maximum(steps - u, u - steps + 1 / n).max())
    root = sqrt(n)
    return distance, float(kolmogorov((root + 0.12 + 0.11 / root) * distance))
