"""What every section of a report shares: a title, a table, notes, findings, plain data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from credo.checking.findings import Finding
from credo.core.errors import unknown_name
from credo.model.values.value import Value

__all__ = ["SHOWN", "Section", "left_after", "p_below", "p_text", "pick", "plain"]

T = TypeVar("T")

SHOWN = 10
"""How many lines of a section are printed; all are in its values."""


class Section(Value):
    """One part of a report: a frozen value that prints as a table.

    A subclass says in `_view` how it looks and in `findings` what it found. Fields whose names
    begin with an underscore, and arrays of a number for each row, stay out of `to_dict`.
    """

    __slots__ = ()

    def findings(self) -> list[Finding]:
        """What was found, in sentences."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        out = {}
        for f in fields(self):  # type: ignore[arg-type]
            if f.metadata.get("json", True):
                out[f.name] = plain(getattr(self, f.name))
        return out


def pick(items: Iterable[T], key: str, name: object, what: str, where: str) -> T:
    """The item whose attribute is this name; what is near is offered where there is none."""
    for item in (known := list(items)):
        if getattr(item, key) == name:
            return item
    raise unknown_name(what, name, [getattr(item, key) for item in known], where)


def plain(value: Any) -> Any:
    """A value as JSON has it: no number that is not finite, no array, no state of another type.

    >>> plain({"a": (1, float("-inf")), "b": None})
    {'a': [1, '-inf'], 'b': None}
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.tolist()]
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    return str(value)


def p_text(p: float) -> str:
    """A p-value as people write it.

    >>> p_text(0.0312), p_text(0.00001)
    ('0.031', '< 0.001')
    """
    return f"{p:.3f}" if p >= 0.0005 else "< 0.001"


def p_below(n: int) -> str:
    """How many tests have a small p-value, in words.

    >>> p_below(1), p_below(1200)
    ('1 has p < 0.05', '1,200 have p < 0.05')
    """
    return f"{n:,} {'has' if n == 1 else 'have'} p < 0.05"


def left_after(n: int) -> str:
    """How many of them are left after something, in words.

    >>> left_after(1), left_after(0)
    ('1 remains after', '0 remain after')
    """
    return f"{n:,} {'remains' if n == 1 else 'remain'} after"
