"""Many tests at once: p-values adjusted for how many there are.

    Holm: p_(i) → max_{j ≤ i} (m − j + 1) p_(j)        Benjamini–Hochberg: min_{j ≥ i} m p_(j) / j

Holm's (1979) keep the chance of any false alarm below the level; those of Benjamini & Hochberg
(1995) the share of false ones among the alarms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["benjamini_hochberg", "holm"]

Floats = NDArray[np.float64]


def holm(p: ArrayLike) -> Floats:
    """p-values that hold all together.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    m = len(values)
    order = np.argsort(values, kind="stable")
    steps = np.maximum.accumulate((m - np.arange(m)) * values[order])
    out = np.empty(m)
    out[order] = np.minimum(steps, 1.0)
    return out


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """p-values whose alarms are false in at most their share of cases.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    values = np.asarray(p, dtype=np.float64)
    m = len(values)
    order = np.argsort(values, kind="stable")
    steps = np.minimum.accumulate((m / np.arange(1, m + 1) * values[order])[::-1])[::-1]
    out = np.empty(m)
    out[order] = np.minimum(steps, 1.0)
    return out
