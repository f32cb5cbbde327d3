"""States that are intervals of numbers: a number is the state whose interval holds it.

    ≤ a     (a, b]     (b, c]     > c

A variable whose states are written this way, in this order and without a gap between them, was made
from numbers. Its cut points stand in its states, so nothing beside them must be kept: a file of any
format carries them, and a table of numbers can be read for the variable.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_FIRST = re.compile(rf"≤ ?{_NUMBER}")
_MIDDLE = re.compile(rf"\({_NUMBER}, ?{_NUMBER}\]")
_LAST = re.compile(rf"> ?{_NUMBER}")
_WHOLE = ("any",)  # a number that is not cut
_FEW = 16


def interval_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    """The states of a variable that is cut at some numbers, which can be told from them again.

    >>> interval_labels([1.5, 2])
    ('≤ 1.5', '(1.5, 2]', '> 2')
    """
    ends = [cut_text(float(c)) for c in cuts]
    if not ends:
        return _WHOLE
    return (f"≤ {ends[0]}", *(f"({a}, {b}]" for a, b in pairwise(ends)), f"> {ends[-1]}")


def cut_text(cut: float) -> str:
    """The fewest digits that give the number again."""
    plain = f"{cut:.6g}"
    return plain if float(plain) == cut else repr(cut)


def short_cut(low: float, high: float) -> float:
    """A number of few digits that parts low from high: low ≤ cut < high.

    >>> short_cut(38.3, 38.5), short_cut(0.123456123, 0.2), short_cut(1 / 3, 0.33333333333334)
    (38.3, 0.123457, 0.333333333333334)
    """
    for digits in range(6, 17):
        cut = float(f"{low:.{digits}g}")
        if cut < low:  # rounded down: the next number of as many digits
            exponent = math.floor(math.log10(abs(low))) - digits + 1
            cut = float(f"{cut + 10.0**exponent:.{digits}g}")
        if low <= cut < high:
            return cut
    return low


@lru_cache(maxsize=512)
def cuts_of(states: tuple[Any, ...]) -> tuple[float, ...] | None:
    """The cut points of states that are intervals; None for any others.

    >>> cuts_of(("≤ 1.5", "(1.5, 2]", "> 2"))
    (1.5, 2.0)
    >>> cuts_of(("≤ 1.5", "> 2")) is None  # a gap
    True
    >>> cuts_of(interval_labels([]))
    ()
    """
    if states == _WHOLE:
        return ()
    if len(states) < 2 or not all(type(s) is str for s in states):
        return None
    first, last = _FIRST.fullmatch(states[0]), _LAST.fullmatch(states[-1])
    middle = [_MIDDLE.fullmatch(s) for s in states[1:-1]]
    if first is None or last is None or not all(middle):
        return None
    cuts = [float(first[1])]
    for found in middle:
        assert found is not None
        if float(found[1]) != cuts[-1]:
            return None
        cuts.append(float(found[2]))
    rising = all(a < b for a, b in pairwise(cuts))
    return tuple(cuts) if rising and float(last[1]) == cuts[-1] else None


def interval_codes(numbers: NDArray[np.float64], cuts: Sequence[float]) -> NDArray[np.uint16]:
    """The position of the interval of each number; the one after the last for a gap (NaN).

    >>> interval_codes(np.array([1.5, 7.0, np.nan]), [1.5, 2.0]).tolist()
    [0, 2, 3]
    """
    numbers = np.ascontiguousarray(numbers)
    if len(cuts) <= _FEW:  # quicker than looking each number up
        below = np.zeros(len(numbers), dtype=np.uint8)
        for cut in cuts:
            below += (numbers > cut).view(np.uint8)
        codes = below.astype(np.uint16)
    else:
        codes = np.searchsorted(np.asarray(cuts), numbers, side="left").astype(np.uint16)
    gone = np.isnan(numbers)
    if gone.any():
        codes[gone] = len(cuts) + 1
    return codes


def interval_of(number: Any, states: tuple[Any, ...]) -> int | None:
    """The position of the interval that holds a number; None where states are no intervals.

    >>> [interval_of(x, ("≤ 1.5", "(1.5, 2]", "> 2")) for x in (1.5, 1.6, 7)]
    [0, 1, 2]
    """
    if not states or not isinstance(states[0], str) or not states[0].startswith(("≤", "any")):
        return None
    cuts = cuts_of(states) if isinstance(number, Real) else None
    if cuts is None or not (number == number and abs(number) != math.inf):
        return None
    return bisect_left(cuts, number)
