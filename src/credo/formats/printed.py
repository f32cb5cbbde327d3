"""What printing does to a row: it is rounded, or holds percentages or counts.

A row whose entries were rounded to their last printed digits misses 1 by at most half a unit of
each; this is what a reader allows, at least TOLERANCE and at most MOST.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TOLERANCE, MOST = 1e-6, 1e-3
"""What a row may miss 1 by whatever its digits are, and the most that they can explain."""
ROUNDING = 1e-13
"""A row nearer than this is left as it is: dividing it would only change its last bits."""

_DIGITS = re.compile(r"[-+]?\d*(?:\.(\d*))?(?:[eE]([-+]?\d{1,6}))?")


def adds_up(rows: Floats, tolerance: float) -> bool:
    """Whether every row is as near to 1 as this."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((np.abs(rows.sum(axis=1) - 1.0) <= tolerance).all())


def weights(rows: Floats, total: Floats) -> str:
    """What else a table may hold: percentages, or counts of cases."""
    if not (rows >= 0).all() or not np.isfinite(total).all():
        return ""
    if (np.abs(total - 100.0) <= 100.0 * MOST + ROUNDING).all():
        return "percentages"
    whole = (rows == np.floor(rows)).all() and (total > 1).all() and (rows > 1).any()
    return "counts" if whole else ""


def printing_error(texts: Sequence[str]) -> float:
    """How far rounding to the printed digits may take a row from 1: half a unit of each last one.

    >>> f"{printing_error(['0.3333', '0.3333', '0.3333']):.6f}"
    '0.000150'
    """
    error = 0.0
    for text in texts:
        if (found := _DIGITS.fullmatch(text)) is not None:
            error += 0.5 * 10.0 ** min(int(found[2] or 0) - len(found[1] or ""), 0)
    return min(max(error, TOLERANCE), MOST) + ROUNDING
