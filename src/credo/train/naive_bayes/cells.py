"""The cells of a column as what a feature wants: codes of given states, or numbers; or refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, LimitError
from credo.core.interval_states import cuts_of, interval_codes
from credo.core.schema import MAX_STATES, Variable
from credo.data import Column, Columns

Array = NDArray[Any]
Floats = NDArray[np.float64]


def declared_column(name: str, column: Column, states: Sequence[Any]) -> Column:
    """The codes of a column whose states are given; a cell that is none of them is refused."""
    cuts = cuts_of(tuple(states))
    variable = Variable(name, "discrete", tuple(states), ordered=cuts is not None)
    if cuts is not None and holds_numbers(column):
        numbers = np.ascontiguousarray(numbers_of_column(name, column), dtype=np.float64)
        refuse_infinite(name, numbers)
        return Column(interval_codes(numbers, cuts), variable)
    if column.variable is not None:
        labels: list[Any] = list(column.variable.states)
        where = column.values
    else:
        different, where = np.unique(column.values, return_inverse=True)
        labels = [v if v == v else None for v in different.tolist()]
        whole = [isinstance(v, float) and v.is_integer() for v in labels]
        labels = [int(v) if w else v for v, w in zip(labels, whole, strict=True)]
    lut = np.full(len(labels) + 2, variable.arity, dtype=np.uint16)
    for i, label in enumerate(labels):
        if label is not None:
            lut[i] = variable.code(label)
    return Column(lut[where], variable)


def whole_column(name: str, column: Column) -> Column:
    """Decimals that are to be states: as whole numbers if they are, else each its own state."""
    values = column.values
    ((_, _, whole, _, infinite),) = _core.naive_ranges([values])
    if infinite:
        refuse_infinite(name, values)
    if whole:
        return column
    different, where = np.unique(values, return_inverse=True)
    different = different[different == different]
    if len(different) > MAX_STATES:
        raise LimitError(
            f"{name!r} has {len(different):,} different numbers; a categorical feature has at most "
            f"{MAX_STATES:,} states.",
            hint="Make it 'gaussian'.",
        )
    codes = np.minimum(where, len(different)).astype(np.uint16)
    return Column(codes, Variable(name, "discrete", tuple(different.tolist())))


def holds_numbers(column: Column) -> bool:
    """Whether the cells are numbers, or booleans, and not text."""
    variable = column.variable
    return variable is None or not any(isinstance(s, str) for s in variable.states)


def numbers_of_column(name: str, column: Column, kind: str = "gaussian") -> Array:
    """The cells of a column as numbers; text is refused."""
    if column.variable is None:
        return column.values
    if not holds_numbers(column):
        text = next(s for s in column.variable.states if isinstance(s, str))
        raise InputError(
            f"{name!r} holds the text {text!r} and cannot be {kind!r}.",
            hint=f"Make it 'categorical', as in kinds={{{name!r}: 'categorical'}}.",
        )
    lut = np.array([*(float(s) for s in column.variable.states), np.nan])
    return np.asarray(lut[column.values])


def joint_values(columns: Columns, names: Sequence[str]) -> Floats:
    """The cells of some columns as numbers [row, column], NaN where one is missing."""
    found = [numbers_of_column(n, columns.by_name[n]) for n in names]
    return np.stack([np.asarray(a, dtype=np.float64) for a in found], axis=1)


def refuse_infinite(name: str, values: Array) -> None:
    """Refuse a column that holds infinity."""
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = int(np.isinf(values).argmax())
        raise InputError(
            f"Row {row + 1:,} of {name!r} is infinite: a value must be finite (infinity is "
            "neither a number nor missing)."
        )


def refuse_no_counts(names: Sequence[str], columns: Iterable[Array]) -> None:
    """Refuse the first column with a count that is negative or infinite."""
    for name, x in zip(names, columns, strict=True):
        if ((x < 0) | np.isinf(x)).any():
            raise InputError(f"The counts {name!r} must be finite and not negative.")
