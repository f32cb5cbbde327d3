"""What is found once for a frozen value, kept beside it for as long as the value lives.

A value is never written to: what an algorithm compiled for it lies in a map of the algorithm's own,
by identity, and goes when the value goes.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """A map from values to what was made for each of them.

    >>> class Value: pass
    >>> sizes, value = Kept(lambda v: 42), Value()
    >>> sizes[value], len(sizes)
    (42, 1)
    >>> del value
    >>> len(sizes)
    0
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._found: dict[int, tuple[weakref.ref[Any], T]] = {}

    def __getitem__(self, value: Any) -> T:
        found = self._found.get(id(value))
        if found is None:
            self[value] = self._make(value)
            found = self._found[id(value)]
        return found[1]

    def __setitem__(self, value: Any, made: T) -> None:
        key = id(value)
        self._found[key] = weakref.ref(value, lambda _: self._found.pop(key, None)), made

    def __len__(self) -> int:
        return len(self._found)
