"""A session as lines of JSON: each network once, each state by its parts, then where it stands.

    {"credo-studio": 1, "title": …}
    {"net": "…"}                                  a network as .credo, in base 64
    {"state": {"net": 0, "known": […], …}}        what changed is all that a state has
    {"at": 3, "version": 17}

The lines are added after each change, so a process that is killed loses nothing; read again, they
make the states without computing anything. Rows are not in them: they are read again from the
table that the studio was started with, or that was dropped on it.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credo.core.errors import CredoError, InputError
from credo.formats import dumps, loads
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.studio.evidence import HOWS, Known, Moment, softened
from credo.studio.rows import Rows
from credo.studio.state import Plan, State

if TYPE_CHECKING:
    from credo.studio.session import Session

VERSION = 1

Opener = Callable[[str, dict[str, str], Network | None], Rows | None]
"""The rows of a table by its name, its columns taken as these kinds, or by a model's variables."""


def lines_of(session: Session, nets: dict[int, int] | None = None) -> Iterator[str]:
    """All lines of a session; `nets` takes the numbers of its networks, by identity."""
    yield _line({"credo-studio": VERSION, "title": session.title})
    yield from _states(session.states, {} if nets is None else nets)
    yield _stands(session)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _stands(session: Session) -> str:
    return _line({"at": session.at, "version": session.version})


def _states(states: Iterable[State], nets: dict[int, int]) -> Iterator[str]:
    for state in states:
        if id(state.net) not in nets:
            nets[id(state.net)] = len(nets)
            yield _line({"net": _packed(state.net)})
        rows = state.rows
        table = None
        if rows is not None:
            table = {"name": rows.name, "kinds": dict(rows.kinds), "by_model": rows.by_model}
        yield _line(
            {
                "state": {
                    "net": nets[id(state.net)],
                    "known": [[n, *astuple(k)] for n, k in state.moment.known],
                    "row": state.moment.row, "open": state.moment.open,
                    "rows": table, "plan": asdict(state.plan), "made": state.made,
                }
            }
        )  # fmt: skip


def _packed(net: Network) -> str:
    """A network as .credo, which holds none without a variable: that is an empty text."""
    data = dumps(net, "credo") if net.names else b""
    assert isinstance(data, bytes)
    return b64encode(data).decode()


def _unpacked(text: str) -> Network:
    data = b64decode(text, validate=True)
    net = loads(data, "credo") if data else Network(Dag([]), {})
    if not isinstance(net, Network):
        raise InputError("A session holds networks alone.")
    return net


class Journal:
    """A session's lines in a file, which grows with it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._states: tuple[State, ...] = ()
        self._nets: dict[int, int] = {}

    def __call__(self, session: Session) -> None:
        """Write down what is new; a path that was left by undo is written anew."""
        before = len(self._states)
        grown = before > 0 and session.states[:before] == self._states
        if grown:
            new = [*_states(session.states[before:], self._nets), _stands(session)]
        else:
            self._nets.clear()
            new = [*lines_of(session, self._nets)]
        self._states = session.states
        with open(
            self._path, "a" if grown else "w", encoding="utf-8",
            opener=lambda p, flags: os.open(p, flags, 0o600),
        ) as file:  # fmt: skip
            file.write("".join(f"{line}\n" for line in new))
            file.flush()


def restored(text: str, opener: Opener) -> tuple[str, tuple[State, ...], int, int]:
    """The title, the states, the place and the version of a session's lines.

    A last line that was cut short is left out; what else is wrong is refused.
    """
    title, nets, states, at, version = "", list[Network](), list[State](), 0, 0
    rows: dict[str, Rows | None] = {}
    lines = text.split("\n")[:-1]
    try:
        head = json.loads(lines[0])
        if head["credo-studio"] != VERSION:
            raise InputError(f"The session is of version {head['credo-studio']}, not {VERSION}.")
        title = str(head["title"])
        for line in map(json.loads, lines[1:]):
            if "net" in line:
                nets.append(_unpacked(line["net"]))
            elif "state" in line:
                states.append(_state(line["state"], nets, rows, opener))
            else:
                at, version = int(line["at"]), int(line["version"])
        if not 0 <= at < len(states):
            raise IndexError
    except CredoError:
        raise
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise InputError("This is no session of the studio, or it is damaged.") from None
    return title, tuple(states), at, version


def _state(
    told: dict[str, Any], nets: list[Network], rows: dict[str, Rows | None], opener: Opener
) -> State:
    net = nets[told["net"]]
    known = tuple((str(n), _known(net, n, k)) for n, *k in told["known"])
    which = told["rows"]
    key = json.dumps(which, sort_keys=True)
    if which is not None and key not in rows:
        kinds = {str(k): str(v) for k, v in which["kinds"].items()}
        rows[key] = opener(str(which["name"]), kinds, net if which["by_model"] else None)
    plan = told["plan"]
    pairs: Any = {n: tuple((str(a), str(b)) for a, b in plan[n]) for n in ("required", "forbidden")}
    tiers = tuple((str(n), int(t)) for n, t in plan["tiers"])
    texts: Any = {n: str(plan[n]) for n in ("score", "search", "target")}
    return State(
        net,
        Moment(known, told["row"], told["open"]),
        rows.get(key),
        Plan(**texts, seconds=float(plan["seconds"]), **pairs, tiers=tiers),
        str(told["made"]),
    )


def _known(net: Network, name: str, told: list[Any]) -> Known:
    how, states, value, weights = told
    arity = net.variable(name).arity
    if how == "soft":
        return softened(weights, net.variable(name))
    if how not in HOWS or not all(isinstance(i, int) and 0 <= i < arity for i in states):
        raise ValueError
    return Known(how, tuple(states), None if value is None else float(value))
