"""A session of the studio: `dispatch(name, request)` answers JSON with JSON.

A session is a list of frozen states and a place in it, so that undo and redo are steps along the
list. A request has a sequence number; a change whose number is not above the last one changes
nothing and is answered with what is so, so that a request that comes twice or late does no harm.
Questions change nothing: they are of the latest state, whose `version` is the number of the change
that made it. What can be asked is in the tables of the subjects.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

from credo.core.errors import InputError, unknown_name
from credo.data import Table
from credo.model.networks.network import Network
from credo.plot.networks.boxes import picture
from credo.studio import asking
from credo.studio.evidence import Moment, script_of
from credo.studio.state import Json, State, Verb, checked

__all__ = ["Session"]

_MOST_STATES = 1000


class Session:
    """One person's work with one network.

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
        self.title = title
        made = load or "net = ...  # the network that was given to cr.studio"
        self._states: tuple[State, ...] = (State(net, data=data, made=made),)
        self._at = 0
        self._seq = 0
        self._lock = Lock()

    @property
    def moment(self) -> Moment:
        """What is known now."""
        return self._states[self._at].moment

    def dispatch(self, name: str, request: Any) -> Json:
        """Answer one request; a refusal is a `CredoError` whose text is one sentence."""
        verb = VERBS.get(name)
        if verb is None:
            raise unknown_name("Request", name, list(VERBS), "one of the studio's")
        seq, args = checked(name, request, verb.kinds)
        if not verb.changes:
            with self._lock:
                version, state = self._seq, self._states[self._at]
            return {"seq": seq, "version": version, **verb.run(self, state, **args)}
        with self._lock:
            stale = seq <= self._seq
            if not stale:
                self._change(name, verb, args)
                self._seq = seq
        return {"seq": seq, "stale": stale, **self.now()}

    def _change(self, name: str, verb: Verb, args: Json) -> None:
        if name in ("undo", "redo"):
            at = self._at + (1 if name == "redo" else -1)
            if not 0 <= at < len(self._states):
                raise InputError(f"There is nothing to {name}.")
            self._at = at
            return
        now = self._states[self._at]
        state = verb.run(self, now, **args)
        if state != now:
            kept = self._states[: self._at + 1][-_MOST_STATES:]
            self._states = (*kept, state)
            self._at = len(kept)

    def now(self) -> Json:
        """What is so after the last change."""
        with self._lock:
            states, at, seq = self._states, self._at, self._seq
        steps = {"undo": at > 0, "redo": at + 1 < len(states)}
        return {"version": seq, **steps, **asking.shown_state(states[at])}

    def script(self) -> str:
        """The Python that does the same."""
        with self._lock:
            states = self._states[: self._at + 1]
        return script_of(states[0].net, tuple(s.moment for s in states), states[0].made)


def _open(session: Session, at: State, /) -> Json:
    rows = 0 if at.data is None else len(at.data)
    return {"title": session.title, "rows": rows, "picture": picture(at.net), **session.now()}


def _beliefs(session: Session, at: State, /) -> Json:
    return session.now()


def _script(session: Session, at: State, /) -> Json:
    return {"script": session.script()}


def _step(session: Session, at: State, /) -> State:
    return at  # undo and redo are the session's own


VERBS: dict[str, Verb] = {
    "undo": Verb(_step, {}, changes=True),
    "redo": Verb(_step, {}, changes=True),
    "open": Verb(_open, {}),
    "beliefs": Verb(_beliefs, {}),
    "script": Verb(_script, {}),
    **asking.VERBS,
}
"""All requests by their names: those of the session itself, then each subject's."""
