"""The different values of one column, numbered as they are met."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.data.columns.cells import cell_key, unsigned
from credo.data.columns.noted import MANY
from credo.data.columns.taking import States
from credo.data.sources.arrays import first_places

__all__ = ["Met"]


class Met:
    """The values met so far, in `states`, and where they were first met, if that is asked.

    >>> met = Met()
    >>> met.add("b"), met.add("a"), met.add("b"), met.states
    (0, 1, 0, ['b', 'a'])
    """

    def __init__(self) -> None:
        self.states: list[Any] = []
        self.first: dict[int, int] = {}
        """The row of each code, where the codes of rows are not kept."""
        self._codes: dict[Any, int] = {}

    def find(self, value: Any) -> int | None:
        """The code of a value, if it was met."""
        return self._codes.get(cell_key(value))

    def add(self, value: Any) -> int:
        """The code of a value, a new one if it was not met before."""
        code = self._codes.setdefault(cell_key(value), len(self.states))
        if code == len(self.states):
            self.states.append(unsigned(value))
        return code

    def codes(self, taken: States, before: int, keep: bool) -> NDArray[np.int64]:
        """The code of each value of a batch, and room for one more; `before` are earlier rows."""
        n = len(taken.values)
        lut = np.zeros(n + 1, dtype=np.int64)
        first = self._first_places(taken, keep)
        seen = first is None or not n or first.max() < len(taken.where)
        order = np.arange(n)
        if first is not None and n <= MANY and taken.listed:
            order = np.argsort(first, kind="stable")  # the report tells of values as rows show them
        if not self.states and seen and _all_differ(taken.values):
            self.states = [taken.values[i] for i in order.tolist()]  # all at once: all are new
            self._codes = {("", state): i for i, state in enumerate(self.states)}
            lut[order] = np.arange(n)
            if first is not None and not keep:
                self.first = dict(enumerate((before + first[order]).tolist()))
            return lut
        for i in order.tolist():
            value = taken.values[i]
            code = self.find(value)
            if code is None:
                if first is not None and first[i] == len(taken.where):
                    continue  # a dictionary lists it, but no row has it
                code = self.add(value)
                if first is not None and not keep:
                    self.first[code] = before + int(first[i])
            lut[i] = code
        return lut

    def _first_places(self, taken: States, keep: bool) -> NDArray[np.int64] | None:
        """Where each value first stands in a batch; None where nobody asks: rows show every value
        of what is no dictionary, and codes that are kept can be searched.
        """
        asked = taken.listed or not keep
        if not asked or all(self.find(v) is not None for v in taken.values):
            return None
        return first_places(taken.where, len(taken.values))


def _all_differ(values: list[Any]) -> bool:
    """Whether values are texts of which none stands twice."""
    return set(map(type, values)) == {str} and len(set(values)) == len(values)
