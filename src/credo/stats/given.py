"""What a statistic is given: checked once at the door, and copied where a caller could change it.

Counts and moments are values. So their arrays are their own, their codes are codes of states, each
configuration stands once, in lexicographic order, and no number is NaN or beyond what adds up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError, shown
from credo.core.schema import Variable

MOST = 2**63 - 1
"""What whole counts may add up to."""


def owned(array: NDArray[Any]) -> NDArray[Any]:
    """The array read-only: itself where nobody can write in its memory, else a copy.

    >>> mine = np.array([1, 2])
    >>> kept = owned(mine); mine[0] = 99
    >>> kept.tolist(), owned(kept) is kept
    ([1, 2], True)
    """
    memory: Any = array
    while isinstance(memory, np.ndarray):
        if memory.flags.writeable:
            array = array.copy()
            array.flags.writeable = False
            break
        memory = memory.base
    return array


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """An array that was made here, read-only from now on, so that it need not be copied.

    >>> made = sealed(np.array([1, 2]))
    >>> made.flags.writeable, owned(made) is made
    (False, True)
    """
    array.flags.writeable = False
    return array


def restore(value: Any, state: dict[str, Any]) -> None:
    """Fill a statistic that was pickled or copied: its arrays are read-only again."""
    for name, part in state.items():
        for array in part if isinstance(part, tuple) else (part,):
            if isinstance(array, np.ndarray):
                sealed(array)
        object.__setattr__(value, name, part)


def given_axes(given: Any, what: str) -> tuple[Variable, ...]:
    """One variable or several, no name twice."""
    found = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    for v in found:
        if not isinstance(v, Variable):
            raise InputError(f"The axes of {what} must be variables, got {shown(v)}.")
    names = [v.name for v in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"Two axes of {what} have the name {name!r}.")
    return found


def given_skipped(given: Any) -> int | float:
    """The weight of the rows left out, as a plain number."""
    skipped = given.item() if isinstance(given, np.generic) else given
    is_number = isinstance(skipped, (int, float)) and not isinstance(skipped, bool)
    if not is_number or not 0 <= skipped < math.inf:
        raise InputError(f"The skipped weight must be 0 or more, got {shown(given)}.")
    return skipped  # type: ignore[no-any-return]


def given_tolerance(given: Any) -> float:
    """How far two numbers may be apart that are equal up to rounding.

    >>> given_tolerance(1e-9)
    1e-09
    """
    is_number = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
    if not is_number or not 0 <= given < math.inf:
        raise InputError(f"The tolerance must be a number of 0 or more, got {shown(given)}.")
    return float(given)


def given_codes(
    given: Any, variables: tuple[Variable, ...], rows: int, what: str
) -> NDArray[np.uint32]:
    """A row of state codes for each value; each code one of its variable's."""
    where = np.asarray(given)
    if where.size == 0 and where.ndim < 2:
        where = np.zeros((rows, len(variables)), dtype=np.uint32) if not variables else where
    if where.shape != (rows, len(variables)):
        raise InputError(
            f"{what} need one row of codes for each value: the shape {(rows, len(variables))}, "
            f"got {where.shape}."
        )
    if where.size and where.dtype.kind not in "ui":
        raise InputError(f"The codes of states must be whole numbers, got {where.dtype} ones.")
    for axis, variable in enumerate(variables):
        column = where[:, axis]
        if len(column) and not (column.min() >= 0 and column.max() < variable.arity):
            bad = column.max() if column.min() >= 0 else column.min()
            raise InputError(
                f"The codes of {variable.name!r} are 0 to {variable.arity - 1}, got {bad}."
            )
    return where.astype(np.uint32, copy=False)


def given_counts(given: Any) -> NDArray[Any]:
    """Whole numbers as 64-bit ones, decimals as floats; finite, not negative, not too many."""
    values = np.asarray(given)
    if values.dtype.kind not in "buif":
        raise InputError(f"Counts must be numbers, got {shown(given)}.")
    if values.size and not (values.min() >= 0 and np.isfinite(values.max())):
        raise InputError("Counts must be finite and not negative.")
    if values.dtype.kind == "f":
        return values.astype(np.float64, copy=False)
    if values.size and int(values.max()) * values.size > MOST:
        refuse_too_many(sum(map(int, values.ravel())))
    return values.astype(np.int64, copy=False)


def refuse_too_many(total: int | float) -> None:
    """Refuse whole counts whose sum 64 bits do not hold."""
    if total > MOST:
        raise LimitError(
            f"Whole counts can add up to {MOST:,} at most; these add up to {total:,}.",
            hint="Give them as decimals, or divide them all by the same number.",
        )


def total_of(values: NDArray[Any]) -> int | float:
    """The sum of all values; infinite where floats cannot hold it.

    >>> total_of(np.array([2, 3])), total_of(np.array([1e308, 1e308]))
    (5, inf)
    """
    with np.errstate(over="ignore"):
        total: int | float = values.sum().item()
    return total


def in_order(where: NDArray[Any]) -> bool:
    """Whether rows of codes stand in lexicographic order, each once.

    >>> in_order(np.array([[0, 1], [1, 0]])), in_order(np.array([[0, 1], [0, 1]]))
    (True, False)
    """
    if len(where) < 2:
        return True
    after = where[1:].astype(np.int64) - where[:-1]
    first = (after != 0).argmax(axis=1) if where.shape[1] else np.zeros(len(after), dtype=np.intp)
    return bool(where.shape[1]) and bool((after[np.arange(len(after)), first] > 0).all())
