"""A coder for text files: a column of many different numbers is kept as numbers at once.

A column of a text file is of numbers if every cell is one, so cells are states until all rows have
been seen. Of thousands of columns of measurements, each cell would become a state of its own first.
Here cells that are numbers are kept as numbers; the first batches are held as they came, and taken
again as states when a cell comes that is no number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from credo.data.coder import Coder
from credo.data.taking_numbers import EXACT, take_numbers
from credo.schema import MAX_STATES

__all__ = ["TextCoder"]

_MANY = 50  # different cells; whole numbers are states up to 20
_HELD = 1 << 17  # rows that can be taken back


class TextCoder(Coder):
    """Collects one column of a text file of which nothing is known yet.

    >>> coder = TextCoder("x")
    >>> coder.add(pa.array([f"{i / 4}" for i in range(100)]))
    >>> coder.holds_numbers
    True
    >>> coder.add(pa.array(["none"] * 20))
    >>> coder.holds_codes, len(coder.states), coder.rows
    (True, 101, 120)
    """

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, text=True, **options)
        self._options = options
        self._held: list[tuple[Any, NDArray[np.float64]]] | None = []

    def add(self, cells: Any) -> None:
        """Take one batch: an Arrow array of texts."""
        if self._held is None or not self._taken_as_numbers(cells, self._held):
            super().add(cells)

    def _taken_as_numbers(self, cells: Any, held: list[tuple[Any, NDArray[np.float64]]]) -> bool:
        if not held and not self._may_be_numbers(cells):
            self._held = None
            return False
        taken = take_numbers(cells, self._tokens)
        there = taken.values[~np.isnan(taken.values)]
        if len(taken.bad) or (taken.whole and np.abs(there).max(initial=0.0) >= EXACT):
            self._take_back()
            return False
        taken.types = {"int"} if taken.whole and "float" not in self.types else {"float"}
        self.types -= {"int"} if taken.types == {"float"} else set()
        self._mode = "numbers"
        self._begin(cells)
        self._add_numbers(taken)
        held.append((cells, taken.values))
        if self.rows > _HELD:
            if len(np.unique(np.concatenate([v for _, v in held]))) <= MAX_STATES:
                self._take_back()  # a text that comes later may still make states of them
            self._held = None
        return True

    def _may_be_numbers(self, cells: Any) -> bool:
        """Whether a batch begins with many different numbers and nothing else."""
        listed = pa.types.is_dictionary(cells.type)
        head = cells.dictionary[: 4 * _MANY] if listed else cells[: 4 * _MANY].unique()
        if len(head) <= _MANY:
            return False
        taken = take_numbers(head, self._tokens)
        return not len(taken.bad) and len(np.unique(taken.values[~np.isnan(taken.values)])) > _MANY

    def _take_back(self) -> None:
        """Take the batches held as states instead."""
        held, self._held = self._held or [], None
        super().__init__(self.name, text=True, **{**self._options, "keep": self.keep})
        for cells, _ in held:
            super().add(cells)
