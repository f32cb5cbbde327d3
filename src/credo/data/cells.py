"""Cells of any kind: what a value is, whether it stands for missing, which state it is."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from credo.data.arrays import floats, texts
from credo.data.numerals import as_bool, as_number
from credo.errors import TableError, UnknownNameError
from credo.schema import Variable, is_missing

__all__ = [
    "Tokens",
    "cell_key",
    "finder",
    "is_scalar",
    "not_a_state",
    "number_of",
    "numbers",
    "objects_of",
    "type_name",
]


def cell_key(value: Any) -> tuple[str, Any]:
    """True, 1 and 1.0 are equal and hash alike in Python, but True is another cell.

    >>> cell_key(True) == cell_key(1), cell_key(1) == cell_key(1.0)
    (False, True)
    """
    return "bool" if isinstance(value, (bool, np.bool_)) else "", value


class Tokens:
    """What the user takes as missing besides null. In text, blanks around a token are ignored.

    >>> "NA " in Tokens(["NA", -9], text=True), -9 in Tokens([-9], text=False)
    (True, True)
    """

    def __init__(self, given: Collection[Any], text: bool) -> None:
        self.text = text
        self._keys = {cell_key(str(t) if text else t) for t in given}
        self._numbers = [
            float(t) for t in given if isinstance(t, (int, float)) and not isinstance(t, bool)
        ]
        self._texts = texts([str(t) for t in given])

    def __contains__(self, value: Any) -> bool:
        if not self._keys:
            return False
        return cell_key(value.strip() if self.text else value) in self._keys

    def clear_numbers(self, values: NDArray[np.float64]) -> list[tuple[str, int]]:
        """Make the tokens among some numbers NaN, in place; say which, and how many."""
        found = []
        for number in self._numbers:
            hit = values == number
            if hit.any():
                found.append((f"{number:g}", int(hit.sum())))
                values[hit] = np.nan
        return found

    def clear_texts(self, cells: Any) -> tuple[Any, list[tuple[str, int]]]:
        """Texts without blanks around them, null where they are a token; say which, how many."""
        trimmed = pc.utf8_trim_whitespace(cells.cast(pa.string()))
        if not len(self._texts):
            return trimmed, []
        hit = pc.fill_null(pc.is_in(trimmed, self._texts), False)
        if not pc.any(hit).as_py():
            return trimmed, []
        counts = pc.value_counts(trimmed.filter(hit)).to_pylist()
        cleared = pc.if_else(hit, pa.scalar(None, type=pa.string()), trimmed)
        return cleared, [(c["values"], c["counts"]) for c in counts]


def objects_of(
    cells: NDArray[Any], name: str, before: int
) -> tuple[list[Any], NDArray[np.int32], set[str]]:
    """Python objects as their different values, the position of each cell (past the end for
    missing), and the types met.
    """
    codes: dict[Any, int] = {}
    values: list[Any] = []
    types: set[str] = set()
    where = np.empty(len(cells), dtype=np.int32)
    for i, cell in enumerate(cells):
        if is_missing(cell):
            where[i] = -1
            continue
        try:
            code = codes.setdefault(cell_key(cell), len(values))
        except TypeError:
            raise TableError(
                f"Row {before + i + 1} of column {name!r} holds {cell!r}, which cannot be a state.",
                hint=f"Leave the column out with schema={{{name!r}: 'drop'}}.",
            ) from None
        if code == len(values):
            values.append(cell)
            types.add(_python_type(cell))
        where[i] = code
    where[where < 0] = len(values)
    return values, where, types


def number_of(value: Any) -> float:
    """A cell as a float; NaN where it is none.

    >>> number_of("1.5"), number_of("x")
    (1.5, nan)
    """
    if isinstance(value, str):
        number = as_number(value.strip())
        return float("nan") if number is None else number
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def numbers(cells: Any) -> NDArray[np.float64]:
    """An Arrow array of numbers as floats; dates and times as days since 1970."""
    if pa.types.is_temporal(cells.type):
        micros = pc.cast(pc.cast(cells, pa.timestamp("us")), pa.int64())
        return floats(micros) / 86_400e6
    return floats(cells)


def finder(variable: Variable, text: bool) -> Callable[[Any], int]:
    """A function from a cell to the code of its state; raw text finds states of any type."""
    if not text:
        return variable.code
    by_text = {str(s): i for i, s in enumerate(variable.states)}
    by_bool = {s: i for i, s in enumerate(variable.states) if isinstance(s, bool)}
    by_number = {
        float(s): i
        for i, s in enumerate(variable.states)
        if isinstance(s, (int, float, np.number)) and not isinstance(s, bool)
    }

    def find(cell: str) -> int:
        found = by_text.get(cell)
        if found is None and by_bool:
            truth = as_bool(cell.strip())
            found = by_bool.get(truth) if truth is not None else None
        if found is None and by_number:
            value = as_number(cell.strip())
            found = by_number.get(value) if value is not None else None
        return variable.code(cell) if found is None else found

    return find


def not_a_state(
    variable: Variable, value: Any, row: int | None, error: UnknownNameError
) -> TableError:
    """The error for a cell that is not one of the states a column was said to have."""
    where = f"Row {row:,} of column" if row else "Column"
    states = ", ".join(map(repr, variable.states[:8])) + (", …" if variable.arity > 8 else "")
    near = error.hint if "mean" in error.hint else "Add it to the states in schema=."
    return TableError(
        f"{where} {variable.name!r} holds {value!r}, which is not one of its states ({states}).",
        hint=near,
    )


def is_scalar(kind: Any) -> bool:
    """Whether an Arrow type holds single values that can be states."""
    return bool(
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_temporal(kind)
    )


def type_name(kind: Any) -> str:
    """The name that the rules of inference have for an Arrow type.

    >>> type_name(pa.int8()), type_name(pa.large_string()), type_name(pa.list_(pa.int8()))
    ('int', 'str', 'unsupported list<item: int8>')
    """
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_integer(kind):
        return "int"
    if pa.types.is_floating(kind):
        return "float"
    if pa.types.is_temporal(kind):
        return "date"
    return "str" if is_scalar(kind) else f"unsupported {kind}"


def _python_type(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (int, np.integer)):
        return "int"
    if isinstance(value, (float, np.floating)):
        return "float"
    return "date" if hasattr(value, "isoformat") else "str"
