"""Would another order of the rows give other groups? A tree of distances that tie depends on it.

Of two pairs that are equally near, the one that comes first merges first, and the other may then
be farther apart: ties far below a cut can change what is above, and leave no two merges at one
height. So the tree is made again with the rows in other orders, and the groups are compared by the
adjusted Rand index; large ones only where heights tie.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from credo.data import Table
from credo.train.clusters.linkage import Linked, linked_of
from credo.train.clusters.quality import adjusted_rand

__all__ = ["told_of_order"]

_MOST = 2_000  # rows whose tree is made again
_SHUFFLES = 3
_CHEAP = 1 << 17  # cells of a tree that is made again without a sign of ties
_SAME = 1e-12  # heights this near, as a share of the tree's, are the same


def told_of_order(table: Table, linked: Linked, labels: NDArray[np.intp], k: int) -> str:
    """How much the groups of rows in other orders differ from these, in words; "" if not at all."""
    n, method = table.rows, linked.tree.method
    if linked.tied or not 1 < k < n <= _MOST:
        return ""
    cheap = method != "single" and n * len(table.schema.names) <= _CHEAP
    if not (cheap or _ties(linked.tree.heights, n - k, method)):
        return ""
    chance = np.random.default_rng(0)
    orders = [np.arange(n)[::-1], *(chance.permutation(n) for _ in range(_SHUFFLES))]
    least = 1.0
    for order in orders:
        rows, geometry = table.take(order), linked.geometry
        again = linked_of(rows, method, distance=geometry.name, scale=geometry.space.scale)
        least = min(least, adjusted_rand(labels[order], again.tree.cut(k=k)))
    if least == 1.0:
        return ""
    return (
        "distances tie: with the rows in another order the groups would be others, of an adjusted "
        f"Rand index to these as low as {min(round(least, 2), 0.99):.2f} (1 is the same)"
    )


def _ties(heights: NDArray[np.float64], merges: int, method: str) -> bool:
    """Whether merges tie: of single link at the cut, of the others there or below."""
    first = merges - 1 if method == "single" else 0
    some = heights[max(first, 0) : merges + 1]
    apart = np.diff(some[some > 0])
    return bool((np.abs(apart) <= _SAME * float(heights.max())).any())
