"""An encoder: the cells of a column whose variable is known, as its codes or floats."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from credo import _core
from credo.data.arrays import floats, int32s
from credo.data.cells import (
    Tokens,
    cell_key,
    finder,
    not_a_state,
    number_of,
    numbers,
    objects_of,
)
from credo.data.numerals import parse_floats
from credo.errors import TableError, UnknownNameError
from credo.schema import Variable
from credo.stats.rows import code_type

__all__ = ["Encoder"]


class Encoder:
    """Turns batch after batch into codes (the arity for missing) or floats (NaN)."""

    def __init__(self, variable: Variable, *, text: bool, missing: Collection[Any] = ()) -> None:
        self.variable = variable
        self.text = text
        self._tokens = Tokens(missing, text)
        self._find = finder(variable, text) if variable.is_discrete else None
        self._known: dict[Any, int] = {}

    def encode(self, cells: Any, before: int) -> NDArray[Any]:
        """One batch; `before` rows came earlier, so that an error can name the row."""
        if self._find is not None:
            return self._codes(cells, before)
        values = self._floats(cells, before)
        bad = np.flatnonzero(np.isinf(values))
        if len(bad):
            raise self._no_number(before + int(bad[0]), values[bad[0]])
        return values

    def _codes(self, cells: Any, before: int) -> NDArray[Any]:
        if isinstance(cells, np.ndarray):
            values, where, _ = objects_of(cells, self.variable.name, before)
        else:
            if not pa.types.is_dictionary(cells.type):
                cells = pc.dictionary_encode(_without_nan(cells))
            values, indices = cells.dictionary.to_pylist(), cells.indices
            if indices.null_count:
                indices = pc.fill_null(indices, len(values))
            where = int32s(indices)
        size = code_type(self.variable.arity)
        lut = np.full(len(values) + 1, self.variable.arity, dtype=size)
        for i, value in enumerate(values):
            lut[i] = self._code(value, where, i, before)
        out = np.empty(len(where), dtype=size)
        _core.take_codes(where, lut, out)
        return out

    def _code(self, value: Any, where: NDArray[np.int32], at: int, before: int) -> int:
        if value is None or value in self._tokens:
            return self.variable.arity
        key = cell_key(value)
        code = self._known.get(key)
        if code is None:
            assert self._find is not None
            try:
                code = self._known[key] = self._find(value)
            except UnknownNameError as error:
                hit = where == at
                if not hit.any():  # a dictionary may list values that no row has
                    return self.variable.arity
                row = before + int(hit.argmax()) + 1
                raise not_a_state(self.variable, value, row, error) from None
        return code

    def _floats(self, cells: Any, before: int) -> NDArray[np.float64]:
        if isinstance(cells, np.ndarray):
            values, where, _ = objects_of(cells, self.variable.name, before)
            lut = np.array([*map(number_of, values), np.nan])
            for i in np.flatnonzero(np.isnan(lut[:-1])):
                if values[i] not in self._tokens:
                    raise self._no_number(before + int((where == i).argmax()), values[i])
            return lut[where]
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
            trimmed, _ = self._tokens.clear_texts(cells)
            found, bad = parse_floats(trimmed)
            if len(bad):
                raise self._no_number(before + int(bad[0]), cells[int(bad[0])].as_py())
            return found
        found = numbers(cells) if not pa.types.is_null(cells.type) else np.full(len(cells), np.nan)
        self._tokens.clear_numbers(found)
        return found

    def _no_number(self, row: int, cell: Any) -> TableError:
        return TableError(
            f"Row {row + 1:,} of column {self.variable.name!r} holds {cell!r}, "
            "which is not a finite number.",
            hint="Mend the cell, or name it in missing= to take it as missing.",
        )


def _without_nan(cells: Any) -> Any:
    """Floats that are states: their NaN is missing."""
    if pa.types.is_floating(cells.type):
        return pa.array(floats(cells), from_pandas=True)
    return cells
