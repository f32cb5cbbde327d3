"""Taking cells: a batch of one column as its different values (`taking_numbers`: as numbers).

The one place that decides what a cell is: null, a token for missing, a value, a number, or
something that cannot be either. Columns that are not known yet and columns whose variable is
known are taken by the same rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from credo import _core
from credo.core.state_values import is_missing, is_number
from credo.data.columns.cells import Tokens, Unhashable, Unsupported, cell_key, type_name
from credo.data.sources.arrays import (
    bytes_of,
    encoded_texts,
    int32s,
    is_plain_text,
    value_type,
)
from credo.data.sources.json_blocks import Unbounded


@dataclass(slots=True)
class States:
    """A batch as `values` and the position of each cell in it; past the end for missing."""

    values: list[Any]
    where: NDArray[Any]
    missing: int
    types: set[str]
    missing_as: dict[str, int] = field(default_factory=dict)
    listed: bool = False
    """Whether `values` is a dictionary, which may list values that no row has."""

    @property
    def numbers(self) -> int:
        """How many cells are numbers by their type."""
        if not self.types & {"int", "float"}:
            return 0
        if self.types <= {"int", "float"}:
            return len(self.where) - self.missing
        return int(np.array([*map(is_number, self.values), False])[self.where].sum())

    def has(self, index: int) -> bool:
        """Whether a row has this value."""
        return not self.listed or bool((self.where == index).any())


_NUMBERS = (int, float, Decimal, Fraction)


def holds_others(cells: Any) -> bool:
    """Whether a batch has cells that are no numbers by their type.

    >>> holds_others(pa.array([1.5, None])), holds_others(np.array([1, "a", None], dtype=object))
    (False, True)
    """
    if isinstance(cells, np.ndarray):
        return any(not is_number_by_type(c) for c in cells if not is_missing(c))
    is_null = pa.types.is_null(value_type(cells.type))
    return not is_null and type_name(cells.type) not in ("int", "float")


def count_missing(cells: Any) -> int:
    """How many cells of a batch are missing, whatever the others are.

    >>> count_missing(pa.array([[1], None])), count_missing(np.array([None, 1.0], dtype=object))
    (1, 1)
    """
    if isinstance(cells, np.ndarray):
        return sum(map(is_missing, cells))
    return int(cells.null_count)


def is_number_by_type(cell: Any) -> bool:
    """Whether a cell is a number, and no text of one.

    >>> is_number_by_type(1.5), is_number_by_type("1.5"), is_number_by_type(True)
    (True, False, False)
    """
    return _python_type(cell) in ("int", "float")


# --- as states ----------------------------------------------------------------------------


def take_states(cells: Any, tokens: Tokens, bytes_too: bool = False) -> States:
    """The different values of a batch that are not missing; `bytes_too` takes bytes as states."""
    if isinstance(cells, np.ndarray):
        values, where, types = objects_of(cells)
        taken = States(values, where, int((where == len(values)).sum()), types)
    else:
        taken = _arrow_states(cells, bytes_too)
    values, where = taken.values, taken.where
    gone = tokens.among(values)
    if gone:
        for i in gone:
            n = int((where == i).sum())
            taken.missing += n
            if n and not is_missing(values[i]):
                shown = tokens.shown(values[i])
                taken.missing_as[shown] = taken.missing_as.get(shown, 0) + n
        kept = sorted(set(range(len(values))).difference(gone))
        taken.where = _moved(where, kept, len(values))
        taken.values = [values[i] for i in kept]
    return taken


def _moved(where: NDArray[Any], keep: list[int], n: int) -> NDArray[np.int32]:
    """Positions among the values kept; those of the others are past the end."""
    lut = np.full(n + 1, len(keep), dtype=np.uint32)
    lut[keep] = np.arange(len(keep), dtype=np.uint32)
    out = np.empty(len(where), dtype=np.uint32)
    _core.take_codes(where, lut, out)
    return out.view(np.int32)


def _arrow_states(cells: Any, bytes_too: bool) -> States:
    cells = storage_of(cells)
    listed = pa.types.is_dictionary(cells.type)
    kind = cells.type.value_type if listed else cells.type
    if pa.types.is_null(kind):
        return States([], np.zeros(len(cells), dtype=np.int32), len(cells), set())
    name = "str" if bytes_too and _is_binary(kind) else type_name(kind)
    if name.startswith("unsupported"):
        raise Unsupported(name)
    if listed and pa.types.is_floating(kind):
        cells, listed = cells.dictionary_decode(), False
    if not listed and is_plain_text(cells):
        where, first = encoded_texts(cells)
        return States(cells.take(first).to_pylist(), where, 0, {name})
    if not listed:
        cells = pc.dictionary_encode(encodable(cells))
    values = python_values(cells.dictionary)
    where = positions_of(cells, len(values))
    return States(values, where, cells.indices.null_count, {name}, listed=listed)


def positions_of(cells: Any, past: int) -> NDArray[Any]:
    """Where each row stands in the dictionary of its column; `past` it if it is null.

    >>> positions_of(pa.array(["a", None, "a"]).dictionary_encode(), 1).tolist()
    [0, 1, 0]
    """
    indices = cells.indices
    nulls = indices.null_count
    if indices.type == pa.int8() and not nulls:
        return bytes_of(indices)
    if indices.type != pa.int32():
        indices = indices.cast(pa.int32())
    return int32s(pc.fill_null(indices, past) if nulls else indices)


def encodable(cells: Any) -> Any:
    """The same values in a type of which Arrow makes dictionaries."""
    kind = cells.type
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return cells.cast(pa.decimal128(kind.precision, kind.scale))
    return cells


def _is_binary(kind: Any) -> bool:
    checks = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(check(kind) for check in (*checks, pa.types.is_binary_view))


def python_values(cells: Any) -> list[Any]:
    """Arrow values as Python has them; those that it cannot hold are of no use.

    >>> python_values(pa.array([0, None], pa.date32()))
    [datetime.date(1970, 1, 1), None]
    """
    try:
        values: list[Any] = cells.to_pylist()
    except (OverflowError, ValueError, InvalidOperation):  # of dates beyond the calendar
        raise Unsupported(f"unsupported {cells.type} beyond what Python holds") from None
    return values


def objects_of(cells: NDArray[Any]) -> tuple[list[Any], NDArray[np.int32], set[str]]:
    """Python objects of mixed types, each kept as it is."""
    codes: dict[Any, int] = {}
    values: list[Any] = []
    where = np.empty(len(cells), dtype=np.int32)
    for i, cell in enumerate(cells):
        if is_missing(cell):
            where[i] = -1
            continue
        key = cell_key(cell)
        try:
            code = codes.setdefault(key, len(values))
        except TypeError:
            raise Unhashable(i, cell) from None
        if code == len(values):
            values.append(bool(cell) if key[0] else _own(cell))
        where[i] = code
    where[where < 0] = len(values)
    types = set(map(_python_type, values))
    if odd := next((t for t in types if t.startswith("unsupported")), None):
        raise Unsupported(odd)
    return values, where, types


def _own(value: Any) -> Any:
    """A value as the user has it: a number of NumPy as Python's, an infinite one of JSON as a
    float.
    """
    if isinstance(value, np.number):
        return value.item()
    return float(value) if type(value) is Unbounded else value


def _python_type(value: Any) -> str:
    if isinstance(value, Enum):
        return "enum"
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (int, np.integer)):
        return "int"
    if isinstance(value, (float, np.floating)):
        return "float"
    if isinstance(value, (complex, np.complexfloating)):
        return "unsupported complex numbers"
    if isinstance(value, Decimal):
        exponent = value.as_tuple().exponent
        return "int" if isinstance(exponent, int) and exponent >= 0 else "float"
    if isinstance(value, Fraction):
        return "int" if value.denominator == 1 else "float"
    durations = (timedelta, np.datetime64, np.timedelta64)
    is_date = hasattr(value, "isoformat") or isinstance(value, durations)
    return "date" if is_date or type(value).__name__ == "Period" else "str"


def storage_of(cells: Any) -> Any:
    """The plain values that an extension type is kept as, or that are kept as runs."""
    if isinstance(cells, pa.ExtensionArray):
        return storage_of(cells.storage)
    if pa.types.is_run_end_encoded(cells.type):
        try:
            return pc.run_end_decode(cells)
        except pa.ArrowNotImplementedError:
            raise Unsupported(f"unsupported {cells.type}") from None
    return cells
