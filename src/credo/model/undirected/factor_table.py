"""Tables over named variables, in any form that people write: arrays, nested dicts, frames.

{"no": {"no": 30, "yes": 5}, "yes": {"no": 1, "yes": 10}}     nested by state
{("no", "no"): 30, ("no", "yes"): 5, …}                       by tuples of states
a function of the states                                      called for each configuration
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from credo.core.errors import InputError, LimitError, SchemaError, unknown_name
from credo.core.schema import Variable
from credo.model.values.reals import Floats
from credo.model.values.sources import column_lists

MAX_CELLS = 100_000_000
"""A table of more numbers than this is refused before it is allocated."""


def discrete_variables(given: Any) -> tuple[Variable, ...]:
    """Different discrete variables, as a tuple."""
    found = (given,) if isinstance(given, Variable) else tuple(given)
    for v in found:
        if not isinstance(v, Variable):
            raise InputError(f"The axes of a factor must be of type Variable, got {v!r}.")
        if not v.is_discrete:
            raise SchemaError(
                f"Undirected models are for discrete variables; {v.name!r} is continuous.",
                hint="Cut it into intervals first.",
            )
    names = [v.name for v in found]
    if len(set(names)) < len(names):
        raise SchemaError(f"A variable is named twice in {names}.")
    return found


def table_of(variables: tuple[Variable, ...], given: Any, what: str) -> Floats:
    """The numbers of a table, an axis for each variable; sizes are checked first."""
    shape = tuple(v.arity for v in variables)
    if prod(shape) > MAX_CELLS:
        raise LimitError(
            f"{what} would have {prod(shape):,} numbers; at most {MAX_CELLS:,} are allowed.",
            hint="Give it fewer variables, or variables with fewer states.",
        )
    if isinstance(given, Mapping):
        return _from_mapping(variables, given, what)
    if callable(given) and not hasattr(given, "__array__"):
        return _from_function(variables, given, what)
    if hasattr(given, "columns") and hasattr(given, "__getitem__"):
        return _from_frame(variables, given, what)
    try:
        out = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must hold numbers.") from None
    if out.ndim == 1 and out.size == prod(shape):
        out = out.reshape(shape)
    if out.shape != shape:
        raise InputError(f"{what} must have the shape {shape}, got {out.shape}.")
    return out


def shown_states(names: Sequence[str], given: Any) -> list[tuple[Any, ...] | int | None]:
    """For each axis the states that a table names, else how many it has, else None."""
    k = len(names)
    if isinstance(given, Mapping):
        if k > 1 and any(isinstance(key, tuple) for key in given):
            axes: list[dict[Any, None]] = [{} for _ in names]
            for key in given:
                if isinstance(key, tuple) and len(key) == k:
                    for seen, state in zip(axes, key, strict=True):
                        seen[state] = None
            return [tuple(seen) for seen in axes]
        out: list[tuple[Any, ...] | int | None] = []
        level: Any = given
        for _ in names:
            if not isinstance(level, Mapping) or not level:
                break
            out.append(tuple(level))
            level = next(iter(level.values()))
        return [*out, *_sizes(level, k - len(out))]
    if hasattr(given, "columns") and hasattr(given, "__getitem__"):
        return [
            tuple(dict.fromkeys(given[n].to_list())) if n in given.columns else None for n in names
        ]
    if callable(given) and not hasattr(given, "__array__"):
        return [None] * k
    return _sizes(given, k)


def _sizes(given: Any, k: int) -> list[tuple[Any, ...] | int | None]:
    if not k:
        return []
    try:
        shape = np.asarray(given, dtype=np.float64).shape
    except (TypeError, ValueError):
        return [None] * k
    return list(shape) if len(shape) == k else [None] * k


def _from_function(variables: tuple[Variable, ...], given: Callable[..., Any], what: str) -> Floats:
    cells = [
        _number(given(*states), states, what)
        for states in itertools.product(*(v.states for v in variables))
    ]
    return np.array(cells, dtype=np.float64).reshape([v.arity for v in variables])


def _from_mapping(variables: tuple[Variable, ...], given: Mapping[Any, Any], what: str) -> Floats:
    out = np.full([v.arity for v in variables], np.nan)
    if not variables:
        raise InputError(f"{what} has no variables, so it is one number, not a mapping.")
    if len(variables) > 1 and any(isinstance(key, tuple) for key in given):
        for key, number in given.items():
            if not isinstance(key, tuple) or len(key) != len(variables):
                raise InputError(f"{what} needs {len(variables)} states for each number: {key!r}.")
            at = tuple(v.code(s) for v, s in zip(variables, key, strict=True))
            out[at] = _number(number, key, what)
    else:
        _nested(out, (), variables, given, what)
    if np.isnan(out).any():
        at = np.argwhere(np.isnan(out))[0]
        states = ", ".join(f"{v.name}={v.states[i]}" for v, i in zip(variables, at, strict=True))
        raise InputError(f"{what} has no number for {states}.")
    return out


def _nested(
    out: Floats, at: tuple[int, ...], variables: tuple[Variable, ...], given: Any, what: str
) -> None:
    if len(at) == len(variables):
        out[at] = _number(given, at, what)
    elif isinstance(given, Mapping):
        for state, inside in given.items():
            _nested(out, (*at, variables[len(at)].code(state)), variables, inside, what)
    else:  # the rest of the axes as numbers
        out[at] = table_of(variables[len(at) :], given, what)


def _from_frame(variables: tuple[Variable, ...], frame: Any, what: str) -> Floats:
    """A frame with a column for each variable and one more, the numbers."""
    columns = column_lists(frame, what)
    for v in variables:
        if v.name not in columns:
            raise unknown_name("Variable", v.name, list(columns), "a column of the frame")
    rest = [c for c in columns if c not in {v.name for v in variables}]
    if len(rest) != 1:
        raise InputError(f"{what} needs one more column, of numbers; the frame has {rest}.")
    keys = zip(*(columns[v.name] for v in variables), strict=True)
    cells = dict(zip(keys, columns[rest[0]], strict=True))
    if len(cells) < len(columns[rest[0]]):
        raise InputError(f"{what} has a row twice.")
    single = len(variables) == 1
    return _from_mapping(variables, {k[0] if single else k: x for k, x in cells.items()}, what)


def _number(value: Any, where: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if number != number:
        raise InputError(f"{what} must hold numbers, got {value!r} for {where!r}.")
    return number
