"""The numbers of a conditional probability table, in any of the ways it may be written down.

Nested dicts by the parents' states, a dict by tuples of states, a data frame, one number for a
child of two states, or an array: parents' axes first, the child's last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.schema import Variable
from credo.model.answers.distribution import Distribution
from credo.model.values.sources import column_lists
from credo.model.values.tables import filled, is_frame, refuse_large

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
    if is_frame(given):
        return _of_frame(child, parents, given)
    if not parents and isinstance(given, (int, float, np.number)):
        return _of_row(child, given)
    return given


def _of_mapping(
    child: Variable, parents: tuple[Variable, ...], given: Mapping[Any, Any]
) -> NDArray[np.float64]:
    what = f"The table of {child.name!r}"
    refuse_large((*parents, child), what)

    def row(found: Any, left: tuple[Variable, ...]) -> NDArray[np.float64]:
        if left:
            raise InputError(f"{what} must be nested by {left[0].name!r} here.")
        return _of_row(child, found)

    if not parents:
        return _of_row(child, given)
    return filled(parents, given, what, row, (child.arity,), "row")


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
    columns = column_lists(frame, f"The table of {child.name!r}")
    for parent in parents:
        if parent.name not in columns:
            raise unknown_name("The parent", parent.name, list(columns), "a column of the frame")
    rows = len(next(iter(columns.values()), ()))
    known = ([p.states[p.code(s)] for s in columns[p.name]] for p in parents)
    ats = list(zip(*known, strict=True)) if parents else [()] * rows
    if child.name in columns and "p" in columns:
        cells = list(zip(ats, columns[child.name], columns["p"], strict=True))
    else:
        by_text = {str(c): c for c in columns}
        lacking = next((s for s in child.states if str(s) not in by_text), None)
        if lacking is not None:
            raise unknown_name("The state", lacking, list(columns), "a column of the frame")
        cells = [
            (at, state, p)
            for state in child.states
            for at, p in zip(ats, columns[by_text[str(state)]], strict=True)
        ]
    found: dict[Any, dict[Any, Any]] = {}
    for at, state, p in cells:
        row = found.setdefault(at, {})
        if state in row:
            raise InputError(f"The frame of {child.name!r} has a row twice.")
        row[state] = p
    for at, row in found.items():
        lacking = next((s for s in child.states if s not in row), None)
        if lacking is not None:
            raise InputError(
                f"The frame of {child.name!r} has no probability for {(*at, lacking)!r}."
            )
    return _of_mapping(child, parents, found if parents else found.get((), {}))
