"""Numbers on their scale: what a table holds below the encoding of a number that has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import TableError
from credo.core.scales import Bins, Scale
from credo.stats.rows import code_type

Floats = NDArray[np.float64]


def on_scale(
    name: str, scale: Scale | None, numbers: Floats, row_of: Callable[[int], int]
) -> NDArray[Any]:
    """Floats behind a transform (NaN for missing), or codes of bins (their number for missing).

    >>> on_scale("x", Bins([1.0], [1.0], [1, 1]), np.array([0.5, np.nan, 2.0]), int).tolist()
    [0, 2, 1]
    """
    if scale is None:
        return numbers
    for i in np.flatnonzero(~scale.holds(numbers))[:1]:
        raise TableError(f"Row {row_of(int(i)):,}: {scale.refusal(name, float(numbers[i]))}")
    if isinstance(scale, Bins):
        return scale.codes(numbers).astype(code_type(len(scale)))
    return scale.forward(numbers)


def numbers_of(scale: Scale, array: NDArray[Any]) -> Floats:
    """The numbers of what a table holds; the median of its bin where only that is known."""
    if not isinstance(scale, Bins):
        return scale.backward(array)
    gone = array >= len(scale)
    return np.where(gone, np.nan, scale.draw(np.where(gone, 0, array), 0.5))
