"""Tables over named variables, in any form that people write: arrays, nested dicts, frames.

{"no": {"no": 30, "yes": 5}, "yes": {"no": 1, "yes": 10}}     nested by state
{("no", "no"): 30, ("no", "yes"): 5, …}                       by tuples of states
a function of the states                                      called for each configuration
a frame with a column for each variable and one of numbers

What stands at a configuration is a number (of a factor, a utility), the row of a conditional table,
or a choice: whoever reads says what to make of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from credo.core.errors import InputError, LimitError, unknown_name
from credo.core.schema import Variable
from credo.model.values.reals import Floats
from credo.model.values.sources import column_lists

__all__ = ["MAX_CELLS", "filled", "is_frame", "number_of", "refuse_large", "shown_states",
           "table_of"]  # fmt: skip

MAX_CELLS = 100_000_000
"""A table of more numbers than this is refused before it is allocated."""

Variables = tuple[Variable, ...]


def refuse_large(variables: Sequence[Variable], what: str) -> None:
    """Refuse a table of too many numbers before it is made."""
    cells = prod(v.arity for v in variables)
    if cells > MAX_CELLS:
        raise LimitError(
            f"{what} would have {cells:,} numbers; at most {MAX_CELLS:,} are allowed.",
            hint="Give it fewer variables, or variables with fewer states.",
        )


def table_of(variables: Variables, given: Any, what: str, column: str = "") -> Floats:
    """The numbers of a table, an axis for each variable; sizes are checked first.

    `column` is what the numbers of a frame may be called where it has more columns.

    >>> a = Variable("A", "discrete", ("no", "yes"))
    >>> table_of((a,), {"yes": 2, "no": 1}, "The table").tolist()
    [1.0, 2.0]
    """
    shape = tuple(v.arity for v in variables)
    refuse_large(variables, what)
    if isinstance(given, Mapping) and not variables:
        raise InputError(f"{what} has no variables, so it is one number, not a mapping.")
    if is_frame(given):
        given = _cells_of_frame(variables, given, what, column)
    if isinstance(given, Mapping):
        return filled(variables, given, what, lambda x, rest: table_of(rest, x, what))
    if callable(given) and not hasattr(given, "__array__"):
        each = itertools.product(*(v.states for v in variables))
        return np.array([number_of(given(*s), what) for s in each]).reshape(shape)
    if not variables and np.ndim(given) == 0:
        return np.array(number_of(given, what))
    try:
        out = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must hold numbers.") from None
    if out.ndim == 1 and out.size == prod(shape):
        out = out.reshape(shape)
    if out.shape != shape:
        raise InputError(f"{what} must have the shape {shape}, got {out.shape}.")
    return out


def filled(
    variables: Variables,
    given: Mapping[Any, Any],
    what: str,
    leaf: Callable[[Any, Variables], Any],
    inner: tuple[int, ...] = (),
    item: str = "number",
) -> Floats:
    """The table of nested dicts, or of a dict by tuples of states.

    `leaf` makes what stands at a configuration, an array of the shape `inner`; it is told which
    variables are left where the dicts end early. `item` is what is lacking where nothing stands.
    """
    out = np.full([*(v.arity for v in variables), *inner], np.nan)
    _fill(out, (), variables, given, what, leaf)
    gone = np.isnan(out.reshape(*out.shape[: len(variables)], -1)[..., 0])
    if gone.any():
        at = np.argwhere(gone)[0]
        states = ", ".join(f"{v.name}={v.states[i]}" for v, i in zip(variables, at, strict=True))
        raise InputError(f"{what} has no {item} for {states}.")
    return out


def _fill(
    out: Floats, at: tuple[int, ...], left: Variables, given: Any, what: str, leaf: Any
) -> None:
    if not left or not isinstance(given, Mapping):
        out[at] = leaf(given, left)
        return
    for key, inside in given.items():
        if not isinstance(key, tuple) or left[0].find(key) is not None:
            _fill(out, (*at, left[0].code(key)), left[1:], inside, what, leaf)
            continue
        if len(key) != len(left):
            names = [v.name for v in left]
            raise InputError(f"{what} needs a state for each of {names}, got {key!r}.")
        codes = tuple(v.code(s) for v, s in zip(left, key, strict=True))
        out[(*at, *codes)] = leaf(inside, ())


def is_frame(given: Any) -> bool:
    """Whether a table is given as a data frame."""
    return hasattr(given, "columns") and hasattr(given, "__getitem__")


def _cells_of_frame(
    variables: Variables, frame: Any, what: str, column: str
) -> dict[tuple[Any, ...], Any]:
    """A column for each variable and one more, the numbers."""
    columns = column_lists(frame, what)
    for v in variables:
        if v.name not in columns:
            raise unknown_name("Variable", v.name, list(columns), "a column of the frame")
    rest = [c for c in columns if c not in {v.name for v in variables}]
    rest = [column] if column in rest else rest
    if len(rest) != 1:
        raise InputError(f"{what} needs one more column, of numbers; the frame has {rest}.")
    keys = zip(*(columns[v.name] for v in variables), strict=True)
    cells = dict(zip(keys, columns[rest[0]], strict=True))
    if len(cells) < len(columns[rest[0]]):
        raise InputError(f"{what} has a row twice.")
    return cells


def number_of(value: Any, what: str) -> float:
    """A number of a table, which NaN is not."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if number != number:
        raise InputError(f"{what} must hold numbers, got {value!r}.")
    return number


def shown_states(names: Sequence[str], given: Any) -> list[tuple[Any, ...] | int | None]:
    """For each axis the states that a table names, else how many it has, else None.

    >>> shown_states(["A", "B"], {"yes": {"dry": -70, "wet": 50}, "no": {"dry": 0, "wet": 0}})
    [('yes', 'no'), ('dry', 'wet')]
    """
    k = len(names)
    if isinstance(given, Mapping):
        keys = [key for key in given if isinstance(key, tuple) and len(key) == k]
        if k > 1 and keys:
            return [tuple(dict.fromkeys(states)) for states in zip(*keys, strict=True)]
        out: list[tuple[Any, ...] | int | None] = []
        level: Any = given
        for _ in names:
            if not isinstance(level, Mapping) or not level:
                break
            out.append(tuple(level))
            level = next(iter(level.values()))
        return [*out, *_sizes(level, k - len(out))]
    if is_frame(given):
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
