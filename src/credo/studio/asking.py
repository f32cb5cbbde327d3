"""The requests of Ask and Look: what is known, what is believed, what there is to say of it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from credo.core.errors import CredoError, InputError
from credo.plot.networks.boxes import is_number, picture
from credo.studio.beliefs import DRAWS, beliefs, intervals
from credo.studio.evidence import HOWS, Known, Moment, clicked, softened
from credo.studio.inspectors import edge_details, fit_to_rows, node_details, path_details
from credo.studio.panel import panel
from credo.studio.state import Json, State, Verb

if TYPE_CHECKING:
    from credo.studio.session import Session

__all__ = ["VERBS", "shown_state"]


# --- changes -----------------------------------------------------------------------------------


def _click(session: Session, at: State, /, name: str, state: int, how: str) -> State:
    variable = at.variable(name)
    _one_of(how, HOWS)
    if is_number(variable):
        raise InputError(f"{name!r} is a number: give it a value.")
    if not 0 <= state < variable.arity:
        raise InputError(
            f"The state of {name!r} must be a position from 0 to {variable.arity - 1}, got {state}."
        )
    known = clicked(at.moment.of(name), state, how, variable)
    return replace(at, moment=at.moment.knowing(name, known))


def _value(session: Session, at: State, /, name: str, value: float, how: str) -> State:
    variable = at.variable(name)
    _one_of(how, ("is", "do"))
    if not is_number(variable):
        raise InputError(f"{name!r} has states: click one of them.")
    if not math.isfinite(value):
        raise InputError(f"The value of {name!r} must be a finite number, got {value}.")
    moment = at.moment.knowing(name, Known(how, (), float(value)))
    if how == "do" or variable.scale is not None:
        at.asked.at(moment)  # refused here if it cannot be, before it is kept
    return replace(at, moment=moment)


def _soft(session: Session, at: State, /, name: str, weights: list[Any]) -> State:
    variable = at.variable(name)
    if is_number(variable):
        raise InputError(f"{name!r} is a number: give it a value.")
    return replace(at, moment=at.moment.knowing(name, softened(weights, variable)))


def _clear(session: Session, at: State, /, name: str | None) -> State:
    if name is None:
        return replace(at, moment=Moment())
    at.variable(name)
    return replace(at, moment=at.moment.knowing(name, None))


def _row(session: Session, at: State, /, index: int, open: str | None) -> State:
    if at.data is None:
        raise InputError("There are no rows to step through.", hint="Start with --data.")
    if not 0 <= index < len(at.data):
        raise InputError(f"The row must be a number from 0 to {len(at.data) - 1}, got {index}.")
    if open is not None:
        at.variable(open)
    known = tuple((n, k) for n, k in _cells(at, index).items() if n != open)
    return replace(at, moment=Moment(known, index, open))


# --- questions ---------------------------------------------------------------------------------


def shown_state(at: State) -> Json:
    """What is known and believed in a state."""
    return {
        "known": {n: _shown(k) for n, k in at.moment.known},
        "row": at.moment.row,
        "actual": _actual(at),
        **beliefs(at.asked, at.moment),
    }


def _panel(session: Session, at: State, /, selected: str | None, costs: Json) -> Json:
    if selected is not None:
        at.variable(selected)
    return panel(at.asked, at.moment, selected, costs)


def _intervals(session: Session, at: State, /, draws: int, names: list[Any]) -> Json:
    _one_of(draws, DRAWS, "draws")
    names = [at.variable(name).name for name in names]
    try:
        return {"intervals": intervals(at.asked, at.moment, draws, names)}
    except CredoError as error:  # no posterior, or none after an intervention
        return {"intervals": None, "why": str(error)}


def _node(session: Session, at: State, /, name: str) -> Json:
    at.variable(name)
    rows = at.data
    fit = rows is not None and name in rows.schema
    return {
        **node_details(at.net, name),
        "fit": fit_to_rows(at.net, name, rows) if rows is not None and fit else None,
    }


def _paths(session: Session, at: State, /, **ends: str) -> Json:
    for name in ends.values():
        at.variable(name)
    known = at.moment.known
    cut = at.asked.at(at.moment)[0]
    return path_details(cut, ends["from"], ends["to"], [name for name, _ in known])


def _picture(session: Session, at: State, /, names: bool) -> Json:
    return {"picture": picture(at.net, names=names)}


def _edge(session: Session, at: State, /, **ends: str) -> Json:
    for name in ends.values():
        at.variable(name)
    a, b = ends["from"], ends["to"]
    weighed = at.structures is not None and {a, b} <= set(at.structures.names)
    p = float(at.structures.edge(a, b)) if at.structures is not None and weighed else None
    return {**edge_details(at.net, a, b), "probability": p}


# --- rows --------------------------------------------------------------------------------------


def _cells(at: State, index: int) -> dict[str, Known]:
    """What a row says of the variables; a state that the model does not have says nothing."""
    assert at.data is not None
    row = at.data.take([index])
    out: dict[str, Known] = {}
    for variable in at.net.variables:
        if variable.name not in row:
            continue
        [cell] = row.values(variable.name).tolist()
        if cell is None or cell != cell:
            continue
        if is_number(variable):
            out[variable.name] = Known("is", (), float(cell))
            continue
        try:
            out[variable.name] = Known("is", (variable.code(cell),))
        except CredoError:
            continue
    return out


def _actual(at: State) -> Json | None:
    """What the row says of the variable that was left open."""
    if at.moment.row is None or at.moment.open is None:
        return None
    known = _cells(at, at.moment.row).get(at.moment.open)
    return None if known is None else {"name": at.moment.open, **_shown(known)}


def _shown(known: Known) -> Json:
    return {
        "how": known.how, "states": list(known.states), "value": known.value,
        "weights": list(known.weights),
    }  # fmt: skip


def _one_of(value: str | int, among: tuple[str | int, ...], what: str = "how") -> None:
    if value not in among:
        raise InputError(f"{what} must be one of {', '.join(map(str, among))}, got {value!r}.")


_NAME: dict[str, tuple[type, ...]] = {"name": (str,)}

VERBS: dict[str, Verb] = {
    "click": Verb(_click, {**_NAME, "state": (int,), "how": (str,)}, changes=True),
    "value": Verb(_value, {**_NAME, "value": (int, float), "how": (str,)}, changes=True),
    "soft": Verb(_soft, {**_NAME, "weights": (list,)}, changes=True),
    "clear": Verb(_clear, {"name": (str, type(None))}, changes=True),
    "row": Verb(_row, {"index": (int,), "open": (str, type(None))}, changes=True),
    "panel": Verb(_panel, {"selected": (str, type(None)), "costs": (dict,)}),
    "intervals": Verb(_intervals, {"draws": (int,), "names": (list,)}),
    "node": Verb(_node, _NAME),
    "paths": Verb(_paths, {"from": (str,), "to": (str,)}),
    "picture": Verb(_picture, {"names": (bool,)}),
    "edge": Verb(_edge, {"from": (str,), "to": (str,)}),
}
"""The requests by their names."""
