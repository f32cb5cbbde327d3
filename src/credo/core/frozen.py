"""Values that stay what they are: their arrays and dicts are read-only when made, pickled, copied.

A frozen dataclass keeps its fields, not what they hold. `Frozen` fixes that too, so that an answer
which was handed on is the answer that was given.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from functools import cache
from operator import is_
from typing import Any, NoReturn

import numpy as np

_PLAIN = re.compile(r"(tuple\[)?(str|int|float|bool)(, \.\.\.\])?( \| None)?")
_SIMPLE = frozenset({str, int, float, bool, type(None)})


def _refusing(kind: str) -> Any:
    """What a method does that would change a part of a frozen value."""

    def refused(self: Any, *given: Any, **named: Any) -> NoReturn:
        raise TypeError(
            f"This {kind} is part of a frozen value; {kind}(…) of it is a copy that can be changed."
        )

    return refused


class ReadOnly(dict[Any, Any]):
    """A dict that cannot be changed; it compares, prints and pickles as one.

    >>> shares = ReadOnly(red=0.25, blue=0.75)
    >>> shares, shares == {"red": 0.25, "blue": 0.75}
    ({'red': 0.25, 'blue': 0.75}, True)
    >>> shares["red"] = 1.0
    Traceback (most recent call last):
    TypeError: This dict is part of a frozen value; dict(…) of it is a copy that can be changed.
    """

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = _refusing("dict")
    clear = pop = popitem = setdefault = update = _refusing("dict")

    def __reduce__(self) -> Any:
        return ReadOnly, (dict(self),)


class ReadOnlyList(list[Any]):
    """A list that cannot be changed; it compares, prints and pickles as one.

    >>> seen = ReadOnlyList([3, 4])
    >>> seen, seen == [3, 4]
    ([3, 4], True)
    >>> seen[0] = 99
    Traceback (most recent call last):
    TypeError: This list is part of a frozen value; list(…) of it is a copy that can be changed.
    """

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refusing("list")
    append = clear = extend = insert = pop = remove = reverse = sort = _refusing("list")

    def __reduce__(self) -> Any:
        return ReadOnlyList, (list(self),)


def fixed(value: Any) -> Any:
    """A value whose arrays and dicts are read-only, alone, in a tuple or in a dict.

    >>> fixed({"p": np.zeros(2)})["p"].flags.writeable
    False
    """
    if isinstance(value, np.ndarray):
        if not value.flags.writeable:
            return value
        view = value.view()
        view.flags.writeable = False
        return view
    if isinstance(value, dict):
        return ReadOnly({k: v if type(v) in _SIMPLE else fixed(v) for k, v in value.items()})
    if type(value) is tuple and not _SIMPLE.issuperset(map(type, value)):
        parts = tuple(map(fixed, value))
        return value if all(map(is_, parts, value)) else parts
    return value


class Frozen:
    """The base of a frozen dataclass whose arrays and dicts become read-only.

    A dict whose name begins with an underscore is its own affair: a cache may grow.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Pair(Frozen):
    ...     first: Any
    >>> Pair(np.zeros(2)).first.flags.writeable
    False
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for name in _may_hold(kind):
            value = getattr(self, name)
            if type(value) not in _SIMPLE and (held := _held(name, value)) is not value:
                object.__setattr__(self, name, held)

    def __reduce__(self) -> Any:
        return taken_apart(self)


@cache
def _may_hold(kind: Any) -> tuple[str, ...]:
    """The fields that can hold an array or a dict, by what they are said to be."""
    return tuple(f.name for f in fields(kind) if not _PLAIN.fullmatch(str(f.type)))


def _held(name: str, value: Any) -> Any:
    return value if name.startswith("_") and isinstance(value, dict) else fixed(value)


def restored(kind: type[Any], values: tuple[Any, ...]) -> Any:
    """A frozen value as it was before it was pickled or copied, its arrays read-only again. What an
    older version did not have yet is what it is by default.
    """
    new = object.__new__(kind)
    for i, f in enumerate(fields(kind)):
        default = f.default if f.default_factory is MISSING else f.default_factory()
        value = values[i] if i < len(values) else default
        object.__setattr__(new, f.name, _held(f.name, value))
    return new


def taken_apart(value: Any) -> tuple[Any, ...]:
    """What `__reduce__` returns for a frozen dataclass."""
    return restored, (type(value), tuple(getattr(value, f.name) for f in fields(value)))
