"""Many tests at once: p-values adjusted for how many there are.

    Holm: p_(i) → max_{j ≤ i} (m − j + 1) p_(j)        Benjamini–Hochberg: min_{j ≥ i} m p_(j) / j

Holm's (1979) keep the chance of any false alarm below the level; those of Benjamini & Hochberg
(1995) the share of false ones among the alarms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["benjamini_hochberg", "count_p", "holm"]

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


# --- How odd a count is: the exact distribution of the number of events, each with its own chance.
# P(S = s) of S = Σ Bernoulli(q_i)        row by row; s events or fewer are kept apart


def count_p(chances: Floats, seen: int) -> float:
    """The two-sided p-value of so many events, twice that of the smaller tail.

    >>> import numpy as np
    >>> round(count_p(np.full(10, 0.5), 10) * 2**10, 6)  # ten heads, or ten tails
    2.0
    >>> count_p(np.full(5000, 1e-5), 8) < 1e-12
    True
    """
    share = np.zeros(seen + 1)
    share[0] = 1.0
    for q in chances[chances > 0].tolist():
        up = share[:-1] * q
        share *= 1 - q
        share[1:] += up
    at_most = min(float(share.sum()), 1.0)
    at_least = max(1.0 - float(share[:-1].sum()), float(share[-1]))
    return min(1.0, 2 * min(at_most, at_least))
