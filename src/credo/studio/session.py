"""A session of the studio: `dispatch(name, request)` answers JSON with JSON.

The state is a list of frozen moments and a place in it, so that undo and redo are steps along the
list. A request has a sequence number; a change whose number is not above the last one changes
nothing and is answered with what is so, so that a request that comes twice or late does no harm.
Questions (`panel`, `intervals`, `script`, `node`, …) change nothing: they are of the latest moment,
whose `version` is the number of the change that made it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from credo.core.errors import CredoError, InputError, unknown_name
from credo.data import Table
from credo.model.networks.network import Network
from credo.studio.beliefs import Asked, beliefs, intervals
from credo.studio.evidence import HOWS, Known, Moment, clicked, script_of
from credo.studio.inspectors import edge_details, node_details
from credo.studio.panel import panel
from credo.plot.networks.boxes import is_number, picture

__all__ = ["Session"]

Json = dict[str, Any]

_NAME: dict[str, tuple[type, ...]] = {"name": (str,)}
_CHANGES: dict[str, dict[str, tuple[type, ...]]] = {
    "click": {**_NAME, "state": (int,), "how": (str,)},
    "value": {**_NAME, "value": (int, float), "how": (str,)},
    "clear": {"name": (str, type(None))},
    "row": {"index": (int,), "open": (str, type(None))},
    "undo": {},
    "redo": {},
}
_QUESTIONS: dict[str, dict[str, tuple[type, ...]]] = {
    "open": {},
    "beliefs": {},
    "panel": {"selected": (str, type(None))},
    "intervals": {},
    "script": {},
    "node": _NAME,
    "edge": {"from": (str,), "to": (str,)},
}
_MOST_MOMENTS = 1000


class Session:
    """One person's questions to one network.

    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> session = Session(net)
    >>> click = {"seq": 1, "name": "wet", "state": 1, "how": "is"}
    >>> answer = session.dispatch("click", click)
    >>> [round(p, 4) for p in answer["beliefs"]["rain"]["p"]]
    [0.3333, 0.6667]
    >>> session.dispatch("undo", {"seq": 2})["known"]
    {}
    """

    def __init__(
        self, net: Network, data: Table | None = None, *, title: str = "", load: str = ""
    ) -> None:
        self._asked = Asked(net)
        self._data = data
        self._title = title
        self._load = load or "net = ...  # the network that was given to cr.studio"
        self._moments: tuple[Moment, ...] = (Moment(),)
        self._at = 0
        self._seq = 0
        self._lock = Lock()

    @property
    def moment(self) -> Moment:
        """What is known now."""
        return self._moments[self._at]

    def dispatch(self, name: str, request: Any) -> Json:
        """Answer one request; a refusal is a `CredoError` whose text is one sentence."""
        if name not in _CHANGES and name not in _QUESTIONS:
            raise unknown_name("Request", name, [*_CHANGES, *_QUESTIONS], "one of the studio's")
        known = _CHANGES.get(name)
        seq, args = _checked(name, request, _QUESTIONS[name] if known is None else known)
        if known is None:
            return {"seq": seq, **self._questions()[name](**args)}
        with self._lock:
            stale = seq <= self._seq
            if not stale:
                self._change(name, args)
                self._seq = seq
        return {"seq": seq, "stale": stale, **self._beliefs()}

    # --- changes -------------------------------------------------------------------------------

    def _change(self, name: str, args: Json) -> None:
        if name in ("undo", "redo"):
            at = self._at + (1 if name == "redo" else -1)
            if not 0 <= at < len(self._moments):
                raise InputError(f"There is nothing to {name}.")
            self._at = at
            return
        changes: dict[str, Callable[..., Moment]] = {
            "click": self._click, "value": self._value, "clear": self._clear, "row": self._row,
        }  # fmt: skip
        moment = changes[name](**args)
        if moment != self.moment:
            kept = self._moments[: self._at + 1][-_MOST_MOMENTS:]
            self._moments = (*kept, moment)
            self._at = len(kept)

    def _click(self, name: str, state: int, how: str) -> Moment:
        variable = self._variable(name)
        _one_of(how, HOWS)
        if is_number(variable):
            raise InputError(f"{name!r} is a number: give it a value.")
        if not 0 <= state < variable.arity:
            raise InputError(
                f"The state of {name!r} must be a position from 0 to {variable.arity - 1}, "
                f"got {state}."
            )
        return self.moment.knowing(name, clicked(self.moment.of(name), state, how, variable))

    def _value(self, name: str, value: float, how: str) -> Moment:
        variable = self._variable(name)
        _one_of(how, ("is", "do"))
        if not is_number(variable):
            raise InputError(f"{name!r} has states: click one of them.")
        if not math.isfinite(value):
            raise InputError(f"The value of {name!r} must be a finite number, got {value}.")
        moment = self.moment.knowing(name, Known(how, (), float(value)))
        if how == "do" or variable.scale is not None:
            self._asked.at(moment)  # refused here if it cannot be, before it is kept
        return moment

    def _clear(self, name: str | None) -> Moment:
        if name is None:
            return Moment()
        self._variable(name)
        return self.moment.knowing(name, None)

    def _row(self, index: int, open: str | None) -> Moment:
        if self._data is None:
            raise InputError("There are no rows to step through.", hint="Start with --data.")
        if not 0 <= index < len(self._data):
            raise InputError(
                f"The row must be a number from 0 to {len(self._data) - 1}, got {index}."
            )
        if open is not None:
            self._variable(open)
        known = tuple((n, k) for n, k in self._cells(index).items() if n != open)
        return Moment(known, index, open)

    # --- questions -----------------------------------------------------------------------------

    def _questions(self) -> dict[str, Callable[..., Json]]:
        return {
            "open": self._open, "beliefs": self._beliefs, "panel": self._panel,
            "intervals": self._intervals, "script": self._script, "node": self._node,
            "edge": self._edge,
        }  # fmt: skip

    def _open(self) -> Json:
        rows = 0 if self._data is None else len(self._data)
        drawn = picture(self._asked.net)
        return {"title": self._title, "rows": rows, "picture": drawn, **self._beliefs()}

    def _beliefs(self) -> Json:
        with self._lock:
            moments, at, seq = self._moments, self._at, self._seq
        moment = moments[at]
        return {
            "version": seq,
            "known": {n: _shown(k) for n, k in moment.known},
            "row": moment.row,
            "actual": self._actual(moment),
            "undo": at > 0,
            "redo": at + 1 < len(moments),
            **beliefs(self._asked, moment),
        }

    def _panel(self, selected: str | None) -> Json:
        if selected is not None:
            self._variable(selected)
        version, moment = self._now()
        return {"version": version, **panel(self._asked, moment, selected)}

    def _intervals(self) -> Json:
        version, moment = self._now()
        try:
            return {"version": version, "intervals": intervals(self._asked, moment)}
        except CredoError as error:  # no posterior, or none after an intervention
            return {"version": version, "intervals": None, "why": str(error)}

    def _script(self) -> Json:
        with self._lock:
            version, moments = self._seq, self._moments[: self._at + 1]
        return {"version": version, "script": script_of(self._asked.net, moments, self._load)}

    def _node(self, name: str) -> Json:
        self._variable(name)
        return node_details(self._asked.net, name)

    def _edge(self, **ends: str) -> Json:
        for name in ends.values():
            self._variable(name)
        return edge_details(self._asked.net, ends["from"], ends["to"])

    def _now(self) -> tuple[int, Moment]:
        with self._lock:
            return self._seq, self.moment

    # --- names, rows ---------------------------------------------------------------------------

    def _variable(self, name: str) -> Any:
        if name not in self._asked.net.schema:
            raise unknown_name("Variable", name, self._asked.net.names, "in the model")
        return self._asked.net.variable(name)

    def _cells(self, index: int) -> dict[str, Known]:
        """What a row says of the variables; a state that the model does not have says nothing."""
        assert self._data is not None
        row = self._data.take([index])
        out: dict[str, Known] = {}
        for variable in self._asked.net.variables:
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

    def _actual(self, moment: Moment) -> Json | None:
        """What the row says of the variable that was left open."""
        if moment.row is None or moment.open is None:
            return None
        known = self._cells(moment.row).get(moment.open)
        return None if known is None else {"name": moment.open, **_shown(known)}


def _shown(known: Known) -> Json:
    return {"how": known.how, "states": list(known.states), "value": known.value}


def _one_of(how: str, among: tuple[str, ...]) -> None:
    if how not in among:
        raise InputError(f"how must be one of {', '.join(among)}, got {how!r}.")


def _checked(
    name: str, request: Any, wanted: Mapping[str, tuple[type, ...]]
) -> tuple[int, dict[str, Any]]:
    """The sequence number and the arguments of a request, each of its kind."""
    if not isinstance(request, Mapping):
        raise InputError(f"The request {name!r} must be a JSON object.")
    whole = {"seq": (int,), **wanted}
    for key in request:
        if key not in whole:
            raise unknown_name("Key", key, list(whole), f"in the request {name!r}")
    for key, kinds in whole.items():
        value = request.get(key)
        if not isinstance(value, kinds) or isinstance(value, bool) or key not in request:
            told = " or ".join(_KINDS[k] for k in kinds)
            raise InputError(f"{key!r} of the request {name!r} must be {told}.")
    seq = request["seq"]
    if not 0 <= seq < 2**53:
        raise InputError("'seq' must be a whole number from 0 on.")
    return seq, {key: request[key] for key in wanted}


_KINDS = {int: "a whole number", float: "a number", str: "a text", type(None): "null"}
