"""How odd a count is: the exact distribution of the number of events, each with its own chance.

P(S = s) of S = Σ Bernoulli(q_i)        row by row; s events or fewer are kept apart
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["count_p"]

Floats = NDArray[np.float64]


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
