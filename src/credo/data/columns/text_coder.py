"""A coder for text files: a column of many different numbers is kept as numbers at once.

A column of a text file is of numbers if every cell is one, so cells are states until all rows have
been seen. Of thousands of columns of measurements, each cell would become a state of its own first.
Here cells that are numbers are kept as numbers; the first batches are held as they came, and taken
again as states when a cell comes that is no number. Batches of numbers alone, as a kernel has read
them, wait and are not even looked at: of a short table with thousands of columns that is all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from credo.core.schema import MAX_STATES, Variable
from credo.data.columns.coder import Coder
from credo.data.columns.found_out import decided_decimals, decided_whole
from credo.data.columns.identifiers import are_row_names
from credo.data.columns.infer import Decision
from credo.data.columns.noted import more_than
from credo.data.columns.number_cells import NumberCells
from credo.data.columns.number_states import FEW_DECIMALS
from credo.data.columns.profile import Profile
from credo.data.columns.taking_numbers import EXACT, Numbers, take_numbers

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
        self.name = name
        self.rows = 0
        self.keep = options.get("keep", True)
        self._options = options
        self._held: list[tuple[Any, NDArray[np.float64]]] | None = []
        self._waiting: list[NumberCells] | None = []

    def add(self, cells: Any) -> None:
        """Take one batch: an Arrow array of texts, or numbers that were read already."""
        if self._waiting is not None:
            if _may_wait(cells) and self.rows + len(cells) <= _HELD:
                self._waiting.append(cells)
                self.rows += len(cells)
                return
            self._look()
        if self._held is None or not self._taken_as_numbers(cells, self._held):
            super().add(cells)

    def _look(self) -> None:
        """Take the batches that wait; a coder is made only now."""
        if self._waiting is None:
            return
        waiting, self._waiting = self._waiting, None
        self._start()
        for cells in waiting:
            self.add(cells)

    def _start(self) -> None:
        super().__init__(self.name, text=True, **{**self._options, "keep": self.keep})

    def found_out(self) -> Decision | None:
        """What the column is where all its batches wait and their numbers are quantities; None
        where somebody must look.
        """
        if not (waiting := self._waiting):
            return None
        low, high = min(c.low for c in waiting), max(c.high for c in waiting)
        if low >= high:
            return None
        gone: dict[str, int] = {}
        for word, n in (item for cells in waiting for item in cells.gone.items()):
            gone[word] = gone.get(word, 0) + n
        values = np.concatenate([c.values for c in waiting])
        if not any(c.fractions for c in waiting):
            return decided_whole(self.name, values, gone)
        if are_row_names(self.name) or not more_than(values[~np.isnan(values)], FEW_DECIMALS):
            return None
        return decided_decimals(self.name, self.rows, gone)

    # --- what others ask, when the batches that wait have been looked at --------------------

    @property
    def nbytes(self) -> int:
        """The memory of the cells kept so far."""
        if self._waiting is None:
            return super().nbytes
        return 8 * self.rows if self.keep else 0

    def forget(self) -> None:
        """Let the cells go, and keep none from now on."""
        self._look()
        super().forget()

    def profile(self) -> Profile:
        """What the rules of inference need to know of the column."""
        self._look()
        return super().profile()

    def check(self, variable: Variable) -> None:
        """Refuse a variable that the cells do not fit, naming the row."""
        self._look()
        super().check(variable)

    def finish(self, variable: Variable) -> NDArray[Any]:
        """The column as the variable's codes or floats."""
        if self._waiting and not variable.is_discrete:
            return np.concatenate([c.values for c in self._waiting])
        self._look()
        return super().finish(variable)

    # --- taking cells as numbers -------------------------------------------------------------

    def _taken_as_numbers(self, cells: Any, held: list[tuple[Any, NDArray[np.float64]]]) -> bool:
        if not held and not self._may_be_numbers(cells):
            self._held = None
            return False
        taken = take_numbers(cells, self._tokens)
        if len(taken.bad) or (taken.whole and _largest(taken) >= EXACT):
            self._take_back()
            return False
        taken.types = {"int"} if taken.whole and "float" not in self.types else {"float"}
        self.types -= {"int"} if taken.types == {"float"} else set()
        self._mode = "numbers"
        self._begin(cells)
        self._add_numbers(taken)
        held.append((cells, taken.values))
        if self.rows > _HELD:
            values = np.concatenate([v for _, v in held])
            if not more_than(values[~np.isnan(values)], MAX_STATES):
                self._take_back()  # a text that comes later may still make states of them
            self._held = None
        return True

    def _may_be_numbers(self, cells: Any) -> bool:
        """Whether a batch begins with many different numbers and nothing else."""
        if isinstance(cells, NumberCells):
            there = cells.values[~np.isnan(cells.values)]
            return more_than(there, _MANY)
        listed = pa.types.is_dictionary(cells.type)
        head = cells.dictionary[: 4 * _MANY] if listed else cells[: 4 * _MANY].unique()
        if len(head) <= _MANY:
            return False
        taken = take_numbers(head, self._tokens)
        return not len(taken.bad) and len(np.unique(taken.values[~np.isnan(taken.values)])) > _MANY

    def _take_back(self) -> None:
        """Take the batches held as states instead."""
        held, self._held = self._held or [], None
        self._start()
        for cells, _ in held:
            super().add(cells)


def _may_wait(cells: Any) -> bool:
    """Whether a batch is of decimals alone, or of whole numbers that floats hold exactly."""
    if type(cells) is not NumberCells or cells.odd:
        return False
    return cells.fractions or (not cells.points and -EXACT < cells.low <= cells.high < EXACT)


def _largest(taken: Numbers) -> float:
    """The largest number of a batch, its sign aside; 0 if there is none."""
    if taken.seen is not None:
        return max(-taken.seen[0], taken.seen[1], 0.0)
    return float(np.abs(taken.values[~np.isnan(taken.values)]).max(initial=0.0))
