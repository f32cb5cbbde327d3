"""A batch of one column of a text file as numbers, read by the kernel that cut the file.

No cell becomes a text on its way. Who wants the texts after all gets them from the bytes, which are
cut once more, and the kernel gives texts of that column from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.data.sources.arrays import rows_there, text_array

__all__ = ["UNSURE", "NumberCells", "as_texts", "cells_of_block"]

UNSURE = 4
"""As credo::Read has it: a text of which only Python's own functions know what it is."""


_ALONE = 4  # columns whose texts are cut alone


@dataclass(slots=True)
class NumberCells:
    """The cells of one column. `values` are NaN where a cell is one of the words for missing
    (`gone` says which, and how many) or no number (`odd` are the rows, with text and kind).
    """

    values: NDArray[np.float64]
    low: float
    high: float
    points: bool
    """Whether a number is not written as a whole one: 2.0 is not."""
    fractions: bool
    """Whether a number is no whole one: 2.0 is one."""
    texts: Callable[[], Any]
    gone: Mapping[str, int] = field(default_factory=dict)
    odd: Sequence[tuple[int, str, int]] = ()

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, there: NDArray[np.bool_]) -> Any:
        """The cells of the rows that are there."""
        if self.gone or self.odd:
            return rows_there(self.texts(), there)
        values = self.values[there]
        low, high = (float(values.min()), float(values.max())) if len(values) else (np.inf, -np.inf)
        fractions = self.fractions and bool((values % 1 != 0).any())
        if self.points and not fractions:
            return rows_there(self.texts(), there)
        return NumberCells(
            values, low, high, self.points, fractions, lambda: rows_there(self.texts(), there)
        )


def as_texts(cells: Any) -> Any:
    """The cells as an Arrow array, whatever they came as."""
    return cells.texts() if isinstance(cells, NumberCells) else cells


class _Block:
    """The bytes of some records, from which the texts of columns can be had again."""

    def __init__(
        self,
        data: NDArray[np.uint8],
        delimiter: str,
        width: int,
        positions: list[int],
        asked: list[int],
    ) -> None:
        self._data = data
        self._how = delimiter, width
        self._positions = positions
        self._asked = asked
        self._made: dict[int, Any] = {}

    def texts(self, slot: int, column: int) -> Any:
        self._asked.append(column)
        if slot not in self._made:
            many = len(self._made) >= _ALONE  # then all at once: a file is not cut for each of many
            slots = range(len(self._positions)) if many else [slot]
            records = _core.CsvRecords(*self._how, [self._positions[i] for i in slots])
            columns = records.read(self._data, True)[3]
            self._made |= {i: c and text_array(*c) for i, c in zip(slots, columns, strict=True)}
        return self._made[slot]


def cells_of_block(
    records: _core.CsvRecords,
    columns: Sequence[int],
    words: Sequence[str],
    data: NDArray[np.uint8],
    dialect: tuple[str, int, Sequence[int]],
    asked: list[int],
) -> list[NumberCells]:
    """The columns of a block that are numbers; `columns` are their places among those wanted, of
    which `dialect` has the positions beside delimiter and width. Who asks for texts of one is added
    to `asked`.
    """
    values, ranges, kinds, counts, of, rows, what, offsets, text = records.numbers()
    delimiter, width, positions = dialect
    block = _Block(data, delimiter, width, [positions[c] for c in columns], asked)
    odd: dict[int, list[tuple[int, str, int]]] = {}
    if len(of):
        told = text_array(None, offsets, text).to_pylist()
        for slot, row, cell, kind in zip(
            of.tolist(), rows.tolist(), told, what.tolist(), strict=True
        ):
            odd.setdefault(slot, []).append((row, cell, kind))
    missing = set(np.flatnonzero(counts.any(axis=1)).tolist())
    seen = zip(values, ranges.tolist(), kinds.astype(bool).tolist(), strict=True)
    out = []
    for slot, (cells, (low, high), (points, fractions)) in enumerate(seen):
        made = NumberCells(
            cells, low, high, points, fractions,
            partial(block.texts, slot, columns[slot]),
        )  # fmt: skip
        if slot in missing:
            made.gone = {w: n for w, n in zip(words, counts[slot].tolist(), strict=True) if n}
        if slot in odd:
            made.odd = odd[slot]
        out.append(made)
    return out
