"""The numbers of a conditional probability table, in any of the ways it may be written down.

Nested dicts by the parents' states, a dict by tuples of states, a data frame, one number for a
child of two states, or an array: parents' axes first, the child's last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError, unknown_name
from credo.core.schema import Variable
from credo.model.answers.distribution import Distribution
from credo.model.networks.family import MAX_CELLS, cells
from credo.model.values.sources import column_lists as frame_columns

__all__ = ["table_values"]


def table_values(child: Variable, parents: tuple[Variable, ...], given: Any) -> Any:
    """What was given as an array of the family's axes; an array comes back as it is.

    >>> rain = Variable("rain", "discrete", ("no", "yes"))
    >>> wet = Variable("wet", "discrete", ("no", "yes"))
    >>> table_values(wet, (rain,), {"no": {"yes": 0.25}, "yes": {"no": 0.5, "yes": 0.5}}).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    if isinstance(given, Distribution):
        given = dict(given)
    if isinstance(given, Mapping):
        return _of_mapping(child, parents, given)
    if hasattr(given, "columns") and hasattr(given, "__getitem__"):
        return _of_frame(child, parents, given)
    if not parents and isinstance(given, (int, float, np.number)):
        return _of_row(child, given)
    return given


def _of_mapping(
    child: Variable, parents: tuple[Variable, ...], given: Mapping[Any, Any]
) -> NDArray[np.float64]:
    if cells((*parents, child)) > MAX_CELLS:
        raise LimitError(f"The table of {child.name!r} would have too many numbers.")
    out = np.zeros([v.arity for v in (*parents, child)])
    if parents and any(isinstance(k, tuple) for k in given):
        rows = {_place(key, parents, child): row for key, row in given.items()}
        for at in np.ndindex(*out.shape[:-1]):
            if at not in rows:
                states = tuple(p.states[i] for p, i in zip(parents, at, strict=True))
                raise InputError(f"The table of {child.name!r} has no row for {states!r}.")
            out[at] = _of_row(child, rows[at])
        return out
    _fill_nested(out, (), child, parents, given)
    return out


def _place(key: Any, parents: tuple[Variable, ...], child: Variable) -> tuple[int, ...]:
    states = key if isinstance(key, tuple) else (key,)
    if len(states) != len(parents):
        raise InputError(
            f"A row of {child.name!r} needs a state for each of its {len(parents)} parents, "
            f"got {key!r}."
        )
    return tuple(p.code(s) for p, s in zip(parents, states, strict=True))


def _fill_nested(
    out: NDArray[np.float64],
    at: tuple[int, ...],
    child: Variable,
    parents: tuple[Variable, ...],
    given: Any,
) -> None:
    if len(at) == len(parents):
        out[at] = _of_row(child, given)
        return
    parent = parents[len(at)]
    if not isinstance(given, Mapping):
        raise InputError(f"The table of {child.name!r} must be nested by {parent.name!r} here.")
    codes = {parent.code(state): row for state, row in given.items()}
    for code, state in enumerate(parent.states):
        if code not in codes:
            raise InputError(
                f"The table of {child.name!r} has no row for {parent.name!r} = {state!r}."
            )
        _fill_nested(out, (*at, code), child, parents, codes[code])


def _of_row(child: Variable, row: Any) -> NDArray[np.float64]:
    """One row: a mapping (one state may be left out and gets the rest), or numbers in order."""
    if isinstance(row, Mapping):
        out = np.zeros(child.arity)
        left = np.ones(child.arity, dtype=bool)
        for state, p in row.items():
            code = child.code(state)
            out[code], left[code] = _number(child, state, p), False
        if left.sum() == 1:
            out[left] = max(0.0, 1.0 - float(out[~left].sum()))
        elif left.any():
            state = child.states[int(np.argmax(left))]
            raise InputError(f"A row of {child.name!r} has no probability for {state!r}.")
        return out
    if isinstance(row, (int, float, np.number)) and child.arity == 2:
        if not 0 <= row <= 1:
            raise InputError(
                f"P({child.name}={child.states[1]}) must be between 0 and 1, got {row!r}."
            )
        return np.array([1.0 - row, float(row)])
    try:
        array = np.asarray(row, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (child.arity,):
        raise InputError(f"A row of {child.name!r} needs {child.arity} probabilities, got {row!r}.")
    return array


def _number(child: Variable, state: Any, p: Any) -> float:
    try:
        number = float(p)
    except (TypeError, ValueError):
        number = float("nan")
    if np.isnan(number):
        raise InputError(f"P({child.name}={state}) must be a number, got {p!r}.")
    return number


def _of_frame(child: Variable, parents: tuple[Variable, ...], frame: Any) -> NDArray[np.float64]:
    """A frame with a column for each parent and either a column per state, or one of states
    and one called `p`.
    """
    columns = frame_columns(frame, f"The table of {child.name!r}")
    for parent in parents:
        if parent.name not in columns:
            raise unknown_name("The parent", parent.name, list(columns), "a column of the frame")
    if cells((*parents, child)) > MAX_CELLS:
        raise LimitError(f"The table of {child.name!r} would have too many numbers.")
    out = np.full([v.arity for v in (*parents, child)], np.nan)
    ats = list(zip(*([p.code(s) for s in columns[p.name]] for p in parents), strict=True))
    if not parents:
        ats = [() for _ in next(iter(columns.values()), ())]
    if child.name in columns and "p" in columns:
        for at, state, p in zip(ats, columns[child.name], columns["p"], strict=True):
            _put(out, (*at, child.code(state)), child, p)
    else:
        by_text = {str(c): c for c in columns}
        for k, state in enumerate(child.states):
            if str(state) not in by_text:
                raise unknown_name("The state", state, list(columns), "a column of the frame")
            for at, p in zip(ats, columns[by_text[str(state)]], strict=True):
                _put(out, (*at, k), child, p)
    if np.isnan(out).any():
        at = np.argwhere(np.isnan(out))[0]
        states = tuple(v.states[i] for v, i in zip((*parents, child), at, strict=True))
        raise InputError(f"The frame of {child.name!r} has no probability for {states!r}.")
    return out


def _put(out: NDArray[np.float64], at: tuple[int, ...], child: Variable, p: Any) -> None:
    if not np.isnan(out[at]):
        raise InputError(f"The frame of {child.name!r} has a row twice.")
    out[at] = _number(child, child.states[at[-1]], p)
