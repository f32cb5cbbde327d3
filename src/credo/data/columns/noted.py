"""What is noted of values that are too many to be listed: their range, whether they are whole, and
the different ones among the first million.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MANY", "SAMPLE", "Noted", "more_than"]

MANY = 1_000
SAMPLE = 1_000_000
"""Cells looked at to judge whether a column's values are all different."""


class Noted:
    """The range and the different values of one column, batch after batch.

    >>> noted = Noted()
    >>> noted.numbers(np.array([2.0, 5.0, 2.0, np.nan]))
    >>> noted.low, noted.high, noted.whole, noted.distinct(), noted.cells
    (2.0, 5.0, True, 2, 3)
    """

    def __init__(self) -> None:
        self.low, self.high, self.whole = np.inf, -np.inf, True
        self.cells = 0  # looked at
        self.settled = False  # of decimals only this need be known: that there are many
        self.few = True  # while they are, every cell is looked at
        self._parts: list[NDArray[Any]] = []

    def numbers(
        self,
        values: NDArray[np.float64],
        exact: NDArray[Any] | None = None,
        seen: tuple[float, float, bool] | None = None,
    ) -> None:
        """Note numbers, NaN for none; `exact` are the same ones where floats cannot hold them,
        `seen` their range and whether all are whole, if that is known.
        """
        looked = (self.cells >= SAMPLE and not self.few) or self.settled
        if seen is None or not looked:
            values = values[np.isfinite(values)]
        if not len(values):
            return
        low, high = (values.min(), values.max()) if seen is None else seen[:2]
        self.low, self.high = min(self.low, float(low)), max(self.high, float(high))
        if self.whole:  # to find out takes longer than all the rest
            self.whole = bool((values % 1 == 0).all()) if seen is None else seen[2]
        if not looked:
            kept = values if exact is None else exact
            kept = kept if self.few else kept[: SAMPLE - self.cells]
            self.cells += len(kept)
            self.settled = not self.whole and more_than(kept[: 2 * MANY], MANY)
            if not (self.settled or (len(kept) <= MANY and not self.whole)):
                kept = np.unique(kept)
                self.settled = not self.whole and len(kept) > MANY
                self.few = len(kept) <= MANY
            self._parts.append(kept)

    def texts(self, values: Sequence[Any], cells: int) -> None:
        """Note the different values of some cells as texts."""
        if self.cells < SAMPLE:
            self._parts.append(np.array([*map(str, values), ""], dtype=object)[:-1])
            self.cells += cells

    def distinct(self) -> int:
        """How many different values there are."""
        parts = self._parts
        if parts and all(p.dtype == np.float64 for p in parts):
            return len(np.unique(np.concatenate(parts)))
        return len({v for part in parts for v in part.tolist()})

    def different(self) -> NDArray[Any]:
        """The different numbers, as far as they were looked at."""
        return np.unique(np.concatenate([*self._parts, np.zeros(0, dtype=np.int64)]))


def more_than(values: NDArray[Any], many: int) -> bool:
    """Whether there are more than so many different values; mostly the first ones tell.

    >>> more_than(np.arange(9) % 3, 2), more_than(np.arange(9) % 3, 3)
    (True, False)
    """
    if len(values) <= many:
        return False
    head = values[: 2 * many]
    return len(np.unique(head)) > many or len(np.unique(values)) > many
