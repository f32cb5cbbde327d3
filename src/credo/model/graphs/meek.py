"""Meek's rules: the arrows that follow from arrows, where no cycle and no new collider may come.

For a line a — b, the arrow a → b follows when                              (Meek 1995)

    1.  c → a, and c is not joined to b;
    2.  a → c → b;
    3.  a — c → b and a — d → b, and c is not joined to d;
    4.  a — c → d → b, d is joined to a, and c is not joined to b.

The fourth is needed where arrows come from knowledge besides colliders.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

__all__ = ["known_arrows", "meek"]

Marks = NDArray[np.bool_]


def meek(near: Marks, arrow: Marks) -> None:
    """Turn lines of `near` into arrows of `arrow` ([from, to]) until no rule applies."""
    n = len(near)
    changed = True
    while changed:
        changed = False
        for a in range(n):
            for b in np.flatnonzero(near[a] & ~arrow[a] & ~arrow[:, a]).tolist():
                if _follows(near, arrow, a, b):
                    arrow[a, b] = changed = True


def _follows(near: Marks, arrow: Marks, a: int, b: int) -> bool:
    if (arrow[:, a] & ~near[:, b]).any() or (arrow[a] & arrow[:, b]).any():
        return True
    line = near[a] & ~arrow[a] & ~arrow[:, a]
    ways = np.flatnonzero(line & arrow[:, b]).tolist()
    if any(not near[c, d] for c, d in combinations(ways, 2)):
        return True
    last = np.flatnonzero(arrow[:, b] & near[a]).tolist()
    return any((line & arrow[:, d] & ~near[:, b]).any() for d in last)


def known_arrows(near: Marks, arrow: Marks, allowed: Marks) -> bool:
    """Arrows where only one direction is allowed; False if an arrow that is there is not.

    `allowed` is [child, parent], as in `Rules`.
    """
    to = allowed.T  # [from, to]
    if (arrow & ~to).any() or (near & ~to & ~to.T).any():
        return False
    arrow |= near & to & ~to.T
    return not (arrow & arrow.T).any()
