"""State values: which are missing, which are the same, and how JSON writes them.

A state is any value that Python can hash. It comes back as it came, with its type; these rules say
when another value means the same state: 1, 1.0 and `Decimal("1.00")` do, and so do a date, a `UUID`
or bytes and their text. A float and a decimal or a fraction are the same when that is read as the
float.
"""

from __future__ import annotations

import datetime as dt
import math
import numbers
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np

from credo.core.interval_states import interval_of

_Written = bytes | UUID | dt.date | dt.time | dt.timedelta
_WRITTEN = (bytes, UUID, dt.date, dt.time, dt.timedelta)
"""Types of which files often hold the text."""
_EXACT = (Decimal, Fraction)
_NUMBERS = (int, float, *_EXACT)


def is_missing(value: object) -> bool:
    """Whether a single Python value stands for a missing cell: None, NaN, NaT or NA.

    >>> [is_missing(v) for v in (None, float("nan"), "None", 0)]
    [True, True, False, False]
    """
    if value is None:
        return True
    if isinstance(value, (str, bytes, bool, int)):
        return False
    if isinstance(value, (float, np.floating)):
        return math.isnan(value)
    if isinstance(value, Decimal):
        return value.is_nan()
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (np.datetime64, np.timedelta64)) and bool(np.isnat(value))


def is_number(value: object) -> bool:
    """Whether a state is a number; True and False are none.

    >>> [is_number(v) for v in (1, 0.5, Decimal("1.50"), True, "1")]
    [True, True, True, False, False]
    """
    return isinstance(value, (*_NUMBERS, np.number)) and not isinstance(value, bool)


def plain_state(state: Any) -> Any:
    """A state as files keep it: a member of an enum that is a text or a number too, as that.

    >>> from enum import IntEnum
    >>> plain_state(IntEnum("Level", ["LOW", "HIGH"]).HIGH)
    2
    """
    if isinstance(state, np.generic):
        return state.item()
    if isinstance(state, Enum):
        if isinstance(state, str):
            return str.__str__(state)
        if isinstance(state, int):
            return int.__int__(state)
        if isinstance(state, float):
            return float.__float__(state)
    return state


def json_state(state: Any) -> Any:
    """A state as JSON has it: a text, a number or a boolean; a date and the like as its text.

    >>> [json_state(s) for s in ("a", 1, True, Decimal("1.50"), b"yes")]
    ['a', 1, True, 1.5, 'yes']
    """
    plain = plain_state(state)
    if isinstance(plain, _EXACT):
        try:
            return float(plain)
        except OverflowError:  # of a fraction
            return str(plain)
    if isinstance(plain, (str, int, float, bool)):
        return plain
    return readable(plain)


def readable(state: Any) -> str:
    """A state as people read it: bytes that are text as the text.

    >>> readable(Decimal("1.50")), readable(b"yes"), readable(True)
    ('1.50', 'yes', 'True')
    """
    if isinstance(state, bytes):
        try:
            return state.decode()
        except UnicodeDecodeError:
            pass
    return str(plain_state(state))


def state_key(state: object) -> tuple[bool, object]:
    """True and 1 are equal in Python but are different states.

    >>> state_key(True) == state_key(1), state_key(1) == state_key(1.0)
    (False, True)
    """
    if type(state) is str:  # as most are
        return False, state
    if isinstance(state, np.number):  # a decimal refuses to be compared with one
        state = state.item()
    return isinstance(state, (bool, np.bool_)), state


def position(state: object, codes: Mapping[Any, int], states: Sequence[Any]) -> int | None:
    """The position of a state, by `codes` from its `state_key`; None for one that is not there.

    1 and 1.0 are one state. True meets 1, and False 0, where every state is 0 or 1: a yes or no,
    however it is written. A number is the interval that holds it, where the states are intervals.

    >>> position(0.1, {}, [Decimal("0.10"), Decimal("0.25")])
    0
    """
    key = state_key(state)
    try:
        found = codes.get(key)
    except TypeError:  # not hashable
        return None
    if found is not None:
        return found
    if isinstance(state, (np.generic, numbers.Number)):
        return _number_position(*key, states)
    if isinstance(state, (str, *_WRITTEN)):
        return _text_position(state, codes, states)
    return None


def _number_position(truth: bool, number: Any, states: Sequence[Any]) -> int | None:
    inside = None if truth else interval_of(number, tuple(states))
    if inside is not None:
        return inside
    equal = [i for i, s in enumerate(states) if state_key(s)[1] == number]
    equal = equal or _read_alike(number, states)
    numeric = (*_NUMBERS, np.generic)
    alike = all(isinstance(s, numeric) and state_key(s)[1] in (0, 1) for s in states)
    if len(equal) == 1 and (alike or state_key(states[equal[0]])[0] == truth):
        return equal[0]
    return None


def _read_alike(number: Any, states: Sequence[Any]) -> list[int]:
    """Decimals that are read as a float, or floats that a decimal is read as: 0.1 is no decimal.

    So with fractions.
    """
    if isinstance(number, _EXACT):
        others: Any = float
    elif isinstance(number, float):
        others = _EXACT
    else:
        return []
    return [
        i for i, s in enumerate(states)
        if isinstance(s, others) and float(s) == float(number)
    ]  # fmt: skip


def _texts(state: Any) -> tuple[str, ...]:
    """The texts by which files name what JSON and CSV have no type for: 2024-02-29, a UUID."""
    iso = (state.isoformat(),) if hasattr(state, "isoformat") else ()
    return (readable(state), *iso)


def _text_position(
    state: str | _Written, codes: Mapping[Any, int], states: Sequence[Any]
) -> int | None:
    """A date, a UUID, or bytes that are text, by their text, or the other way round."""
    if not isinstance(state, str):
        found = {codes.get(state_key(text)) for text in _texts(state)} - {None}
    else:
        found = {i for i, s in enumerate(states) if isinstance(s, _WRITTEN) and state in _texts(s)}
    return found.pop() if len(found) == 1 else None
