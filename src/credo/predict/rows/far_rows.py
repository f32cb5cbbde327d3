"""Rows far out: what is nearest to them is still to be told, where distances all round to one.

    x  →  t x,   t = most / |x|   for |x| > most

From far away only the direction counts. A distance has 16 digits; at a million times the spread of
what it is compared with, ten of them are still there to tell one group from another, and at 1e16
times none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["AFAR", "brought_near"]

Floats = NDArray[np.float64]

AFAR = 1e6
"""How many spreads away a row is looked at, if it is farther."""


def brought_near(points: Floats, most: float) -> Floats | None:
    """The points (rows × coordinates about 0, NaN for gaps), those beyond `most` brought to it.

    None if none is beyond.

    >>> brought_near(np.array([[1.0, 2.0], [3e200, -1e200]]), 1e6).tolist()
    [[1.0, 2.0], [1000000.0, -333333.3333333333]]
    """
    far = (np.abs(points) > most).any(axis=1)
    if not far.any():
        return None
    top = np.finfo(np.float64).max
    out = points.copy()
    away = np.clip(points[far], -top, top)
    out[far] = away / np.nanmax(np.abs(away), axis=1, keepdims=True) * most
    return out
