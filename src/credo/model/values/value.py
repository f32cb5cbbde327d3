"""What every value of `credo.model` shares: equality by fields, one line, a table, HTML.

A subclass is a frozen, slotted dataclass (`eq=False, repr=False`) and says how it looks in
`_view`: a title, the heads of the columns, the rows.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.errors import InputError
from credo.core.frozen import Frozen, restored, taken_apart
from credo.core.render import Shown, Told, View
from credo.model.values.reals import numbers, real_or_nan, shown

__all__ = [
    "LARGEST",
    "NAME",
    "SQUARE",
    "WEIGHT",
    "Told",
    "Value",
    "View",
    "at_least",
    "choice",
    "finite",
    "flag",
    "listed",
    "ordered",
    "plain",
    "positive",
    "readonly",
    "restored",
    "same",
    "short",
    "taken_apart",
    "text",
    "whole",
]

NAME = "x"
"""What a variable is called when nobody named it."""


LARGEST = 1e150
"""A location or a standard deviation may be this large, and as small as its inverse."""
WEIGHT = 1e15
"""A number of observations, real or imagined, may be this large, and as small as its inverse."""
SQUARE = 1e290
"""A variance may be this large, and as small as its inverse."""


def short(value: object) -> str:
    """A value on one line, its numbers with six significant digits.

    >>> short(0.1 + 0.2), short(np.array([6.0, 0.5])), short(("F", "T"))
    ('0.3', '[6, 0.5]', "('F', 'T')")
    """
    if isinstance(value, np.ndarray):
        shown = [short(v) for v in value[:8]]
        rest = [f"… {len(value) - 8} more"] if len(value) > 8 else []
        return "[" + ", ".join(shown + rest) + "]"
    if isinstance(value, tuple) and any(isinstance(v, np.ndarray) for v in value):
        return "(" + ", ".join(short(v) for v in value) + ")"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    return repr(value)


def readonly(values: ArrayLike) -> NDArray[np.float64]:
    """A read-only copy as floats."""
    array = numbers(values, "Numbers are needed")  # never the given array
    array.flags.writeable = False
    return array


def plain(out: Any) -> Any:
    """An array as it is; one number alone as a float.

    >>> plain(np.array(0.5)), plain(np.array([0.5]))
    (0.5, array([0.5]))
    """
    return out if np.ndim(out) else float(out)


def choice(value: object, choices: Sequence[str], what: str) -> str:
    """One of a few texts, or an error that lists them.

    >>> choice("map", ("mle", "map"), "estimate")
    'map'
    """
    if isinstance(value, str) and value in choices:
        return value
    *most, last = map(repr, choices)
    raise InputError(f"{what} must be {', '.join(most)} or {last}, got {shown(value)}.")


def flag(value: object, what: str) -> bool:
    """A yes or no: True, False, 1 or 0.

    >>> flag(True, "log")
    True
    """
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise InputError(f"{what} must be True or False, got {shown(value)}.")


def whole(value: Any, low: int, what: str) -> int:
    """A whole number that is not below `low`.

    >>> whole(3, 1, "most")
    3
    """
    try:
        found = -1 if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except Exception:  # whatever a foreign __index__ raises
        found = -1
    if found < low:
        raise InputError(f"{what} must be a whole number of {low} or more, got {shown(value)}.")
    return found


def text(value: object, what: str) -> str:
    """A name: a text that is not empty.

    >>> text("wait", "The name")
    'wait'
    """
    if not isinstance(value, str) or not value:
        raise InputError(f"{what} must be a text that is not empty, got {shown(value)}.")
    return value


def listed(values: Any, what: str) -> tuple[Any, ...]:
    """The items of a list, tuple, array or other sequence; a text is not a list of letters.

    >>> listed(["a", "b"], "The states")
    ('a', 'b')
    """
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError(f"{what} must be a list, got {shown(values)}.")
    if isinstance(values, np.ndarray):
        if values.ndim == 0:
            raise InputError(f"{what} must be a list, got {shown(values)}.")
        return tuple(values.tolist())
    return tuple(values)


def ordered(values: Any, what: str) -> tuple[Any, ...]:
    """The items of a list whose order means something, which a set has not.

    >>> ordered([2, 1], "The pseudo-counts")
    (2, 1)
    """
    if isinstance(values, (set, frozenset)):
        raise InputError(
            f"{what} must be a list, whose order is kept; a set has none.",
            hint="Give a list: sorted(…), or the order that is meant.",
        )
    return listed(values, what)


def finite(value: object, what: str, most: float = LARGEST) -> float:
    """A finite number of a size whose square can be represented, or an error that names it.

    >>> finite(3, "The mean")
    3.0
    """
    number = real_or_nan(value)
    if not math.isfinite(number):
        raise InputError(f"{what} must be a finite number, got {shown(value)}.")
    if abs(number) > most:
        raise InputError(
            f"{what} is too large: {number:.6g} passes {most:g}.",
            hint="" if most < LARGEST else "Use another unit: divide by a power of ten.",
        )
    return number


def positive(value: object, what: str, most: float = LARGEST) -> float:
    """A finite number above zero that is neither too small nor too large.

    >>> positive(0.5, "The variance")
    0.5
    """
    number = finite(value, what, most)
    if number <= 0:
        raise InputError(f"{what} must be above 0, got {short(number)}.")
    if number < 1 / most:
        raise InputError(
            f"{what} is too small: {number:.6g} is below {1 / most:g}.",
            hint="" if most < LARGEST else "Use another unit: multiply by a power of ten.",
        )
    return number


def at_least(value: object, low: float, what: str, most: float = LARGEST) -> float:
    """A finite number that is not below `low`.

    >>> at_least(0, 0, "kappa")
    0.0
    """
    number = finite(value, what, most)
    if number < low:
        raise InputError(f"{what} must be at least {low:g}, got {number:.6g}.")
    return positive(number, what, most) if number > 0 else number


def same(a: Any, b: Any) -> bool:
    """Whether two things are equal, arrays and what holds arrays included.

    >>> same(np.array([1, 2]), np.array([1, 2])), same((1, 2), (1, 3)), same(None, np.zeros(1))
    (True, False, False)
    """
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.shape != b.shape:
            return False
        if a.dtype != object and b.dtype != object:
            return bool(np.array_equal(a, b))
        return all(map(same, a.ravel(), b.ravel()))
    if isinstance(a, (list, tuple)) and type(a) is type(b):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    try:
        return a is b or bool(a == b)
    except Exception:  # whatever a foreign comparison raises, or an array of answers
        return False


def _hashable(part: Any) -> Any:
    if isinstance(part, np.ndarray):
        return (part.shape, *part.ravel().tolist())
    return tuple(map(_hashable, part)) if isinstance(part, tuple) else part


class Value(Shown, Frozen, ABC):
    """The base of the values: compares by fields and shows itself."""

    __slots__ = ()

    @abstractmethod
    def _view(self) -> View: ...

    def _key(self) -> tuple[Any, ...]:
        compared = (f.name for f in fields(self) if f.compare)  # type: ignore[arg-type]
        return (type(self), *(_hashable(getattr(self, name)) for name in compared))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        compared = (f.name for f in fields(self) if f.compare)  # type: ignore[arg-type]
        return all(same(getattr(self, name), getattr(other, name)) for name in compared)

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        shown = []
        for f in fields(self):  # type: ignore[arg-type]
            part = getattr(self, f.name)
            if f.repr and not (np.isscalar(f.default) and part == f.default):
                if isinstance(f.default, tuple) and part == f.default:
                    continue
                shown.append(f"{f.name}={short(part)}")
        return f"{type(self).__name__}({', '.join(shown)})"
