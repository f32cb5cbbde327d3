"""Real numbers: what counts as one, wherever a number or an array of numbers is taken.

Integers, floats, booleans, fractions, decimals and what converts itself to a float are numbers.
Texts, complex numbers, dates, counts of states and numbers beyond the range of a float are not.
None, NaN, NA and what is masked are missing, and become NaN; whoever asks decides whether that is
allowed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, shown
from credo.core.schema import is_missing
from credo.stats.counts import Counts

__all__ = [
    "Floats",
    "NotReal",
    "absent",
    "numbers",
    "real",
    "real_or_nan",
    "reals",
    "reals_or_nan",
    "shown",
]

Floats = NDArray[np.float64]


class NotReal(ValueError):
    """Something that is not a real number; `bad` is what came. Callers say where."""

    def __init__(self, bad: object) -> None:
        self.bad = bad
        super().__init__(shown(bad))


def absent(value: object) -> bool:
    """Whether a value stands for a missing one: None, NaN, NaT, NA, or masked.

    >>> absent(None), absent(np.ma.masked), absent(0)
    (True, True, False)
    """
    return value is np.ma.masked or is_missing(value)


def real(value: Any) -> float:
    """One number as a float; NaN where it is missing.

    >>> from fractions import Fraction
    >>> real(Fraction(1, 4)), real(np.ma.masked)
    (0.25, nan)
    >>> real("1")
    Traceback (most recent call last):
    credo.model.values.reals.NotReal: '1'
    """
    if absent(value):
        return math.nan
    if isinstance(value, np.ndarray):
        if value.ndim or isinstance(value, np.ma.MaskedArray):
            raise NotReal(value)
        return real(value.item())
    if isinstance(value, (str, bytes, complex, np.complexfloating, np.datetime64, np.timedelta64)):
        raise NotReal(value)
    try:
        number = float(value)
    except Exception:  # whatever a foreign __float__ raises; 10**400 overflows
        raise NotReal(value) from None
    return number


def reals(values: Any) -> Floats:
    """Numbers as an array of floats, in their shape; NaN where one is missing.

    >>> reals([1, None, 2.5]).tolist(), reals(np.ma.array([1.0, 2.0], mask=[0, 1])).tolist()
    ([1.0, nan, 2.5], [1.0, nan])
    """
    if isinstance(values, Counts):  # how often states came: its array holds no measurements
        raise NotReal(values)
    try:
        array = np.asarray(values.tolist() if isinstance(values, np.ma.MaskedArray) else values)
        if array.dtype.kind in "biuf":
            with np.errstate(over="ignore"):
                return array.astype(np.float64)
        cells = np.asarray(array if isinstance(values, np.ndarray) else values, dtype=object)
    except Exception:  # rows of different lengths, or what cannot become an array
        raise NotReal(values) from None
    return np.array([real(v) for v in cells.ravel()], dtype=np.float64).reshape(cells.shape)


def real_or_nan(value: Any) -> float:
    """One number as a float; NaN for what is none, which every comparison refuses.

    >>> real_or_nan("1"), real_or_nan(2)
    (nan, 2.0)
    """
    try:
        return real(value)
    except NotReal:
        return math.nan


def reals_or_nan(values: Any) -> Floats:
    """Numbers as an array; NaN alone where one of them is none."""
    try:
        return reals(values)
    except NotReal:
        return np.array(np.nan)


def numbers(values: Any, must: str) -> Floats:
    """Numbers as an array, or the error that says what they must be.

    >>> numbers(["a"], "The weights must be numbers")
    Traceback (most recent call last):
    credo.errors.InputError: The weights must be numbers, got 'a'.
    """
    try:
        return reals(values)
    except NotReal as no:
        raise InputError(f"{must}, got {shown(no.bad)}.") from None
