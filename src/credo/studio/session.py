"""A session of the studio: `dispatch(name, request)` answers JSON with JSON.

A session is a list of frozen states and a place in it, so that undo and redo are steps along the
list. A request has a sequence number; a change whose number is not above the last one changes
nothing and is answered with what is so, so that a request that comes twice or late does no harm.
Questions change nothing: they are of the latest state, whose `version` is the number of the change
that made it. What can be asked is in the tables of the subjects. A job changes the state when it
ends, as one more change.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any

from credo.core.errors import InputError, unknown_name
from credo.model.networks.network import Network
from credo.plot.networks.boxes import picture
from credo.studio import asking, building, judging, learning, sharing
from credo.studio.evidence import Moment
from credo.studio.jobs import Job
from credo.studio.script import script_of
from credo.studio.state import NUMBERS, Json, State, Verb, checked

_MOST_STATES = 1000


class Session:
    """One person's work: the states it went through, and the job that is under way.

    `kept` is called after each change, with the session.

    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> session = Session(net)
    >>> click = {"seq": 1, "name": "wet", "state": 1, "how": "is"}
    >>> answer = session.dispatch("click", click)
    >>> [round(p, 4) for p in answer["beliefs"]["rain"]["p"]]
    [0.3333, 0.6667]
    >>> session.dispatch("undo", {"seq": 2})["known"]
    {}
    """

    def __init__(self, begin: Network | State, title: str = "") -> None:
        state = begin if isinstance(begin, State) else State(begin, made="net = ...")
        self.title = title
        self.states: tuple[State, ...] = (state,)
        self.at = 0
        self.version = 0
        self.job: Job | None = None
        self.report: tuple[Network, Any] | None = None
        self.kept: Callable[[Session], None] = lambda session: None
        self._lock = RLock()

    @property
    def state(self) -> State:
        """What is so now."""
        return self.states[self.at]

    @property
    def moment(self) -> Moment:
        """What is known now."""
        return self.state.moment

    def dispatch(self, name: str, request: Any) -> Json:
        """Answer one request; a refusal is a `CredoError` whose text is one sentence."""
        verb = VERBS.get(name)
        if verb is None:
            raise unknown_name("Request", name, list(VERBS), "one of the studio's")
        seq, args = checked(name, request, verb.kinds)
        if not verb.changes:
            with self._lock:
                version, state = self.version, self.state
            return {"seq": seq, "version": version, **verb.run(self, state, **args)}
        with self._lock:
            stale = seq <= self.version
            if not stale:
                self._change(name, verb, args)
                self.version = seq
                self.kept(self)
        return {"seq": seq, "stale": stale, **self.now()}

    def _change(self, name: str, verb: Verb, args: Json) -> None:
        if name in ("undo", "redo"):
            at = self.at + (1 if name == "redo" else -1)
            if not 0 <= at < len(self.states):
                raise InputError(f"There is nothing to {name}.")
            self.at = at
            return
        state = verb.run(self, self.state, **args)
        if state != self.state:
            self._push(state)

    def _push(self, state: State) -> None:
        kept = self.states[: self.at + 1][-_MOST_STATES:]
        self.states = (*kept, state)
        self.at = len(kept)

    def adopt(self, state: State) -> None:
        """Go on from a state that a job or a file brought."""
        with self._lock:
            self._push(state)
            self.version += 1
            self.kept(self)

    def start(self, what: str, work: Callable[[], Any], end: Callable[[Any], None]) -> None:
        """Begin a job; one at a time."""
        with self._lock:
            if self.job is not None and self.job.running:
                raise InputError(f"{self.job.what} is still under way; stop it first.")
            self.job = Job(what, work, end)

    def now(self) -> Json:
        """What is so after the last change."""
        with self._lock:
            version, steps, state = self.version, (self.at, len(self.states)), self.state
        return {
            "version": version,
            "net": NUMBERS[state.net],
            "undo": steps[0] > 0,
            "redo": steps[0] + 1 < steps[1],
            **asking.shown_state(state),
        }


def _open(session: Session, at: State, /) -> Json:
    return {
        "title": session.title,
        "rows": 0 if at.rows is None else len(at.rows.table),
        "picture": picture(at.net),
        "job": None if session.job is None else session.job.shown(),
        **session.now(),
    }


def _beliefs(session: Session, at: State, /) -> Json:
    return session.now()


def _script(session: Session, at: State, /) -> Json:
    return {"script": script_of(session.states[: session.at + 1])}


def _stop(session: Session, at: State, /) -> Json:
    if session.job is not None:
        session.job.stop()
    return {}


def _step(session: Session, at: State, /) -> State:
    return at  # undo and redo are the session's own


VERBS: dict[str, Verb] = {
    "undo": Verb(_step, {}, changes=True),
    "redo": Verb(_step, {}, changes=True),
    "open": Verb(_open, {}),
    "beliefs": Verb(_beliefs, {}),
    "script": Verb(_script, {}),
    "stop": Verb(_stop, {}),
    **asking.VERBS,
    **learning.VERBS,
    **building.VERBS,
    **judging.VERBS,
    **sharing.VERBS,
}
"""All requests by their names: those of the session itself, then each subject's."""
