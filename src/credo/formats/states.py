"""States as text, and as JSON: which types are kept, and how they come back.

Text formats hold states as text. What the types were is written beside them, in a property
of our own, and `load(path, types=True)` restores them from it. JSON keeps them as they are;
what JSON has no word for is tagged, such as `{"date": "2024-02-29"}`.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.core.state_values import plain_state

_PARSE: dict[str, Callable[[str], Any]] = {
    "str": str,
    "bool": lambda text: {"True": True, "False": False}[text],
    "int": int,
    "float": float,
    "datetime": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "datetime64": np.datetime64,
    "timedelta": lambda text: _duration(text),
    "decimal": Decimal,
    "fraction": lambda text: Fraction(*map(int, text.split("/", 1))),  # no exponent, of any size
    "uuid": UUID,
    "bytes": str.encode,
    "hex": bytes.fromhex,
}
_DURATION = re.compile(r"(?:(-?\d+) days?, )?(\d+):(\d\d):(\d\d)(?:\.(\d{6}))?", re.ASCII)
_DATES = {"datetime": dt.datetime, "date": dt.date, "time": dt.time}


def _kind(state: object) -> str:
    """The name of a state's type; "other" when it is not one that is kept."""
    if isinstance(state, np.datetime64):
        return "datetime64"
    if isinstance(state, (bool, np.bool_)):
        return "bool"
    if isinstance(state, (int, np.integer)):
        return "int"
    if isinstance(state, (float, np.floating)):
        return "float"
    if isinstance(state, str):
        return "str"
    if isinstance(state, Decimal):
        return "decimal"
    if isinstance(state, Fraction):
        return "fraction"
    if isinstance(state, UUID):
        return "uuid"
    if isinstance(state, bytes):
        return "bytes" if _is_text(state) else "hex"
    if isinstance(state, dt.timedelta):  # a pandas Timedelta can be finer than timedelta
        return "other" if getattr(state, "nanoseconds", 0) else "timedelta"
    exact = not getattr(state, "nanosecond", 0)  # a pandas Timestamp can be finer than datetime
    return next((k for k, t in _DATES.items() if isinstance(state, t) and exact), "other")


def _is_text(state: bytes) -> bool:
    try:
        state.decode()
    except UnicodeDecodeError:
        return False
    return True


def _duration(text: str) -> dt.timedelta:
    """What `str` wrote of a timedelta."""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError(text)
    days, *rest = (int(n or 0) for n in found.groups())
    hours, minutes, seconds, parts = rest
    return dt.timedelta(days, seconds, parts, minutes=minutes, hours=hours)


def state_text(state: object) -> str:
    """A state as the text that the text formats hold.

    >>> [state_text(s) for s in ("<5", 3, 0.1, True, dt.date(2024, 2, 29), Decimal("1.50"), b"a")]
    ['<5', '3', '0.1', 'True', '2024-02-29', '1.50', 'a']
    """
    if isinstance(state, bytes):
        return state.decode() if _is_text(state) else state.hex()
    if isinstance(state, dt.timedelta) and _kind(state) == "timedelta":
        return str(dt.timedelta(state.days, state.seconds, state.microseconds))
    kind = _kind(state)
    if kind == "float":
        return repr(float(state))  # type: ignore[arg-type]
    if kind in _DATES:
        return str(state.isoformat())  # type: ignore[attr-defined]
    return str(plain_state(state))


def kinds_text(variable: Variable) -> str:
    """What the states' types were, for the property beside them; "" when all are text.

    >>> kinds_text(Variable("x", "discrete", (0, 1)))
    'int'
    >>> kinds_text(Variable("x", "discrete", ("low", 1), ordered=True))
    'ordered str,int'
    """
    kinds = [_kind(s).replace("other", "str") for s in variable.states]
    text = kinds[0] if len(set(kinds)) == 1 else ",".join(kinds)
    if variable.ordered:
        return f"ordered {text}"
    return "" if text == "str" else text


def restored(states: tuple[str, ...], kinds: str) -> tuple[tuple[Any, ...], bool]:
    """The states with their types again, and whether they were ordered.

    >>> restored(("0", "1"), "int")
    ((0, 1), False)
    """
    ordered = kinds.startswith("ordered ")
    names = kinds.removeprefix("ordered ").split(",")
    names = names * len(states) if len(names) == 1 else names
    if len(names) != len(states):
        raise InputError(f"its property names {len(names)} types for {len(states)} states")
    out = []
    for text, name in zip(states, names, strict=True):
        try:
            out.append(_PARSE[name](text))
        except (KeyError, ValueError, ArithmeticError):
            raise InputError(f"the state {text!r} is not of the type {name!r}") from None
    return tuple(out), ordered


def to_json(value: object) -> Any:
    """A value as JSON, tagged where JSON has no word for its type.

    >>> to_json(("a", 1, math.inf, dt.date(2024, 2, 29)))
    {'tuple': ['a', 1, {'float': 'inf'}, {'date': '2024-02-29'}]}
    """
    if value is None or isinstance(value, str):
        return plain_state(value)
    if isinstance(value, np.ndarray):
        return to_json(value.tolist())
    if isinstance(value, tuple):
        return {"tuple": [to_json(v) for v in value]}
    if isinstance(value, list):
        return [to_json(v) for v in value]
    if isinstance(value, Mapping):
        return {"map": [[to_json(k), to_json(v)] for k, v in value.items()]}
    kind = _kind(value)
    if kind == "other":
        return {"text": str(value)}
    if kind == "float":
        number = float(value)  # type: ignore[arg-type]
        return number if math.isfinite(number) else {"float": repr(number)}
    if kind in ("int", "bool"):
        return int(value) if kind == "int" else bool(value)  # type: ignore[call-overload]
    return {kind: state_text(value)}


def from_json(value: Any) -> Any:
    """The value that `to_json` wrote.

    >>> from_json({"tuple": ["a", {"date": "2024-02-29"}]})
    ('a', datetime.date(2024, 2, 29))
    """
    if isinstance(value, list):
        return [from_json(v) for v in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((tag, inside),) = value.items()
        if tag == "tuple" and isinstance(inside, list):
            return tuple(from_json(v) for v in inside)
        if tag == "map" and isinstance(inside, list):
            return _mapping(inside)
        if tag == "text" and isinstance(inside, str):
            return inside
        if tag in _PARSE and isinstance(inside, str):
            try:
                return _PARSE[tag](inside)
            except (KeyError, ValueError, ArithmeticError):
                pass
    raise InputError(f"the value {str(value)[:60]} is not one that credo writes")


def _mapping(pairs: list[Any]) -> dict[Any, Any]:
    try:
        return {from_json(k): from_json(v) for k, v in pairs}
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("a mapping is not made of pairs") from None
