"""Row numbers: where a row that was kept stood in the source, as a person counts it."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RowNumbers"]


class RowNumbers:
    """Rows of weight 0 are left out, so the fifth row kept may be the ninth of the table.

    >>> numbers = RowNumbers()
    >>> numbers.add(0, 3, np.array([True, False, True])); numbers.add(3, 2, None)
    >>> [numbers.of(i) for i in range(4)]
    [1, 3, 4, 5]
    """

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._batches: list[tuple[int, NDArray[Any] | None]] = []
        self._kept = 0
        self._seen = 0

    @property
    def left_out(self) -> int:
        """How many rows were not kept."""
        return self._seen - self._kept

    def add(self, done: int, rows: int, there: NDArray[np.bool_] | None) -> None:
        """A batch of `rows` rows that follow `done` others; `there` says which were kept."""
        at = None if there is None else np.flatnonzero(there)
        self._starts.append(self._kept)
        self._batches.append((done, at))
        self._kept += rows if at is None else len(at)
        self._seen = done + rows

    def extend(self, other: RowNumbers) -> None:
        """The rows of a later part, which follow these."""
        self._starts += [self._kept + start for start in other._starts]
        self._batches += other._batches
        self._kept += other._kept
        self._seen = other._seen

    def of(self, kept: int) -> int:
        """The number of a row in the source, from its position among the rows kept."""
        i = bisect_right(self._starts, kept) - 1
        done, at = self._batches[i]
        inside = kept - self._starts[i]
        return done + 1 + (inside if at is None else int(at[inside]))
