"""Values of JSON as Python's json module gives them, with no key twice in an object."""

from __future__ import annotations

import json
import math
from typing import Any

__all__ = [
    "AS_WRITTEN",
    "Repeated",
    "Unbounded",
    "lines_of",
    "objects_of",
    "once_each",
    "values_of",
]


class Unbounded(float):
    """A number beyond what a float holds: infinite, but told as it is written.

    >>> Unbounded("1e309"), Unbounded("1e309") == float("inf")
    (1e309, True)
    """

    def __new__(cls, text: str) -> Unbounded:
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str

    def __repr__(self) -> str:
        return self.text


class Repeated(ValueError):
    """An object has a key twice; which value is meant cannot be known."""


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of its keys and values.

    >>> once_each([("a", 1), ("b", 2)])
    {'a': 1, 'b': 2}
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        raise Repeated(next(key for key in made if keys.count(key) > 1))
    return made


def _number(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else Unbounded(text)


def _constant(text: str) -> float:
    return math.nan if text == "NaN" else Unbounded(text)


AS_WRITTEN = json.JSONDecoder(
    object_pairs_hook=once_each, parse_float=_number, parse_constant=_constant
)
"""Gives every infinite number as an `Unbounded`."""


def lines_of(data: memoryview) -> list[str]:
    """The lines of some bytes that end with one.

    >>> lines_of(memoryview(b"{}\\n{}\\n"))
    ['{}', '{}']
    """
    return str(data, "utf-8").split("\n")[:-1]


def objects_of(lines: list[str]) -> list[dict[str, Any]]:
    """The objects of lines, by `AS_WRITTEN`; blank lines have none.

    >>> objects_of(['{"a": 1e309}', ""])
    [{'a': 1e309}]
    """
    return [AS_WRITTEN.decode(line) for line in lines if line and not line.isspace()]


def values_of(texts: list[str | None]) -> list[Any] | None:
    """The lists and objects that texts with balanced brackets stand for, None for None; nothing
    where one of them is not JSON.

    >>> values_of(["[1]", None, "{}"]), values_of(["[1}"])
    ([[1], None, {}], None)
    """
    # a text begins and ends where no bracket is open, so it cannot run into the next
    every = ",".join("null" if text is None else text for text in texts)
    try:
        found: list[Any] = json.loads(f"[{every}]", object_pairs_hook=once_each)
    except (ValueError, RecursionError):
        return None
    return found
