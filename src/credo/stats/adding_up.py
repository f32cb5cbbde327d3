"""Adding up many parts whose sum grows: parts of about the same size first.

To add n parts one after the other sorts what has been gathered n times. Here a part waits until one
of its size has come, as digits of a binary number do, and each cell is moved log n times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def added_up(parts: Iterable[T], size: Callable[[T], int], add: Callable[[T, T], T]) -> T | None:
    """The sum of all parts in their order; None of none.

    >>> added_up(["a", "b", "c"], len, str.__add__)
    'abc'
    """
    waiting: list[T] = []
    for part in parts:
        waiting.append(part)
        while len(waiting) > 1 and size(waiting[-2]) <= 2 * size(waiting[-1]):
            waiting[-2:] = [add(waiting[-2], waiting[-1])]
    while len(waiting) > 1:
        waiting[-2:] = [add(waiting[-2], waiting[-1])]
    return waiting[0] if waiting else None
