"""The best partition of a line of small intervals into K neighbouring groups, for every K.

    best_K(j) = min over i < j of  best_{K−1}(i) + cost(i, j)

Dynamic programming: with E small intervals it takes O(E²) for each K, and no partition is missed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_partition"]

Floats = NDArray[np.float64]


def best_partition(
    cost: Floats, price: Callable[[int], float], most: int | None = None
) -> list[int]:
    """Where the groups of the cheapest partition end, but for the last.

    `cost[i, j]` is that of the group of intervals i to j − 1, and `price(K)` what K groups cost as
    such. More groups are tried until twice as many as the best, and ten more, were no better; or
    `most` groups.

    >>> cost = np.full((4, 4), np.inf)
    >>> for i, j, c in [(0, 1, 1), (0, 2, 5), (0, 3, 9), (1, 2, 1), (1, 3, 2), (2, 3, 4)]:
    ...     cost[i, j] = c
    >>> best_partition(cost, lambda k: 0.5 * k)
    [1]
    """
    size = len(cost) - 1
    best = cost[0].copy()
    cheapest, groups = best[size] + price(1), 1
    came: list[NDArray[np.intp]] = []
    by_end, total = np.ascontiguousarray(cost.T), np.empty((size + 1, size + 1))
    limit = size if most is None else min(size, most)
    for k in range(2, limit + 1):
        if k > 2 * groups + 10:
            break
        np.add(by_end, best, out=total)
        at = total.argmin(axis=1)
        best = total[np.arange(size + 1), at]
        came.append(at)
        if best[size] + price(k) < cheapest - 1e-9 * abs(cheapest):
            cheapest, groups = best[size] + price(k), k
    ends, end = [], size
    for at in reversed(came[: groups - 1]):
        end = int(at[end])
        ends.append(end)
    return ends[::-1]
