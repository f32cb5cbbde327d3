"""Columns that count: whole numbers, 0 or more.

Each whole number is a bin one wide, so a mass is a density over its unit cell. A Gaussian whose
transform has a spike at 0 has a large density there and no more than a small mass, so against
counts it is judged by the mass of each row's unit cell, under its own distribution without parents:

    Σ_rows ln [F(x + ½) − F(x − ½)] − ln f(x)      is added to ln P(rows)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from credo.core.errors import InputError
from credo.core.scales import Bins, Scale, Transform

__all__ = ["MOST", "in_unit_cells", "whole_bins", "why_not_whole"]

Floats = NDArray[np.float64]

MOST = 2000
"""The largest number that is modelled as a count; beyond, it is as good as continuous."""


def why_not_whole(name: str, numbers: Floats) -> str:
    """Why a column cannot be modelled as counts; nothing where it can.

    >>> why_not_whole("x", np.array([0.0, 2.5]))
    "'x' has 2.5; counts are whole numbers, 0 or more"
    """
    x = numbers[~np.isnan(numbers)]
    wrong = x[(x < 0) | (x != np.rint(x))]
    if len(wrong):
        return f"{name!r} has {wrong[0]:g}; counts are whole numbers, 0 or more"
    if not len(x):
        return f"{name!r} has no number"
    if x.max() > MOST:
        return f"{name!r} has {x.max():,.0f}; counts are taken up to {MOST:,}"
    return ""


def whole_bins(name: str, numbers: Floats) -> Bins:
    """The scale of a column that counts: up to twice the largest number and ten more.

    >>> len(whole_bins("visits", np.array([0.0, 3.0, 1.0])))
    18
    """
    why = why_not_whole(name, numbers)
    if why:
        raise InputError(f"{why}.", hint=f"Give numbers={{{name!r}: 'transformed'}} or 'binned'.")
    x = numbers[~np.isnan(numbers)]
    return Bins.whole(int(2 * x.max()) + 10, tail=max(float(x.mean()), 1.0))


def in_unit_cells(numbers: Floats, scale: Scale | None, weights: NDArray[Any] | None) -> float:
    """What ln of the densities of a column lacks to be ln of the masses of its unit cells.

    >>> round(in_unit_cells(np.array([0.0, 1.0, 1.0, 2.0]), None, None), 2)  # steep in a cell
    -0.02
    """
    if isinstance(scale, Bins):
        return 0.0
    there = ~np.isnan(numbers)
    x = numbers[there]
    n = np.ones(len(x)) if weights is None else weights[there].astype(np.float64)

    def line(u: Floats) -> Floats:
        return scale.forward(u) if isinstance(scale, Transform) else u

    z = line(x)
    mean = n @ z / n.sum()
    sd = math.sqrt(max(float(n @ (z - mean) ** 2 / n.sum()), 1e-300))
    low, high = ((np.nan_to_num(line(x + d), nan=-np.inf) - mean) / sd for d in (-0.5, 0.5))
    a, b = np.where(low > 0, -high, low), np.where(low > 0, -low, high)  # in the lower tail
    below, upto = log_ndtr(a), log_ndtr(b)
    cell = upto + np.log1p(-np.exp(np.minimum(below - upto, -1e-15)))
    density = -0.5 * ((z - mean) / sd) ** 2 - math.log(sd * math.sqrt(2 * math.pi))
    if isinstance(scale, Transform):
        density = density + scale.log_slope(x)
    return float(n @ (cell - density))
