"""An encoder: the cells of a column whose variable is known, as its codes or floats."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import TableError, UnknownNameError
from credo.core.schema import Variable
from credo.data.columns.cells import (
    Tokens,
    Unhashable,
    Unsupported,
    cell_key,
    finder,
    not_a_number,
    not_a_state,
)
from credo.data.columns.taking import positions_of, take_states
from credo.data.columns.taking_numbers import take_numbers
from credo.stats.rows import code_type


class Encoder:
    """Turns batch after batch into codes (the arity for missing) or floats (NaN).

    A value that is no state is refused with its row. A lenient encoder gives it the code after
    missing and keeps it among the `strange` values, for who asks to decide what it means.
    """

    def __init__(self, variable: Variable, tokens: Tokens, *, lenient: bool = False) -> None:
        self.variable = variable
        self.lenient = lenient
        self.strange: dict[Any, Any] = {}
        self._tokens = tokens.beside(variable.states)
        self._find = finder(variable, tokens.text) if variable.is_discrete else None
        self._known: dict[Any, int] = {}
        self._dictionary: Any = None
        self._lut: NDArray[Any] | None = None

    def encode(self, cells: Any, row_of: Callable[[int], int]) -> NDArray[Any]:
        """One batch; `row_of` numbers its rows, so that an error can name one."""
        try:
            if self._find is not None:
                return self._codes(cells, row_of)
            return self._floats(cells, row_of)
        except Unsupported as error:
            where, what = "Column", str(error).removeprefix("unsupported ")
            if isinstance(error, Unhashable):
                where, what = f"Row {row_of(error.index):,} of column", repr(error.cell)
            kind = "a state" if self._find is not None else "a number"
            raise TableError(
                f"{where} {self.variable.name!r} holds {what}, which cannot be {kind}."
            ) from None

    def _codes(self, cells: Any, row_of: Callable[[int], int]) -> NDArray[Any]:
        if isinstance(cells, pa.DictionaryArray) and not self.lenient:
            lut = self._lut_of(cells.dictionary)
            if lut is not None:
                return _looked_up(positions_of(cells, len(lut) - 1), lut)
        return self._codes_of_values(cells, row_of)

    def _lut_of(self, dictionary: Any) -> NDArray[Any] | None:
        """The code of each value of a dictionary, kept for the next batch, which mostly has the
        same one; None where a value is no state, which matters only if a row has it.
        """
        if self._dictionary is None or not dictionary.equals(self._dictionary):
            self._dictionary, self._lut = dictionary, None
            with suppress(TableError):
                codes = self._codes_of_values(dictionary, int)
                self._lut = np.append(codes, codes.dtype.type(self.variable.arity))
        return self._lut

    def _codes_of_values(self, cells: Any, row_of: Callable[[int], int]) -> NDArray[Any]:
        assert self._find is not None
        taken = take_states(cells, self._tokens, bytes_too=True)
        size = np.uint16 if self.lenient else code_type(self.variable.arity)
        lut = np.full(len(taken.values) + 1, self.variable.arity, dtype=size)
        for i, value in enumerate(taken.values):
            key = cell_key(value)
            code = self._known.get(key)
            if code is None:
                try:
                    code = self._known[key] = self._find(value)
                except UnknownNameError as error:
                    if self.lenient:
                        lut[i] = self.variable.arity + 1
                    if not taken.has(i):
                        continue
                    if self.lenient:
                        self.strange.setdefault(key, value)
                        continue
                    row = row_of(int((taken.where == i).argmax()))
                    raise not_a_state(self.variable, value, row, error) from None
            lut[i] = code
        return _looked_up(taken.where, lut)

    def _floats(self, cells: Any, row_of: Callable[[int], int]) -> NDArray[np.float64]:
        taken = take_numbers(cells, self._tokens, asked=True)
        for i in taken.bad[:1]:
            why = "is not finite" if np.isinf(taken.values[i]) else "is not a number"
            raise not_a_number(self.variable.name, taken.shown(int(i)), row_of(int(i)), why)
        return taken.values


def _looked_up(where: NDArray[Any], lut: NDArray[Any]) -> NDArray[Any]:
    out = np.empty(len(where), dtype=lut.dtype)
    _core.take_codes(where, lut, out)
    return out
