"""The sessions by the ids of their tabs, kept in a folder so that they outlive the server.

    FOLDER/ID.jsonl      a session, line by line (`journal`)
    FOLDER/ID-NAME       a table that was dropped on its page

Without a folder they live as long as the server. The least recently used leaves memory when there
are too many.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock

from credo.core.errors import CredoError, InputError
from credo.data.sources.files import FORMATS
from credo.formats import load
from credo.formats.files import ENDINGS
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.studio.journal import Journal, restored
from credo.studio.learning import unconnected
from credo.studio.rows import Rows, rows_of
from credo.studio.session import Session
from credo.studio.state import State

_MOST_SESSIONS = 32
_ENDING = ".studio"
_ODD = re.compile(r"[^\w .-]")  # what no name of a file needs
_STOP = 10.0  # seconds that a job has to bring what it has to an end


class Sessions:
    """Every session: begun in one state, or found in the folder; `rows` are those of the start."""

    def __init__(
        self, state: State, title: str, rows: Rows | None = None, folder: Path | None = None
    ) -> None:
        self._state, self._title, self._rows = state, title, rows
        self._temporary = TemporaryDirectory(prefix="credo-studio-") if folder is None else None
        self._keeps = folder is not None
        self._folder = Path(self._temporary.name) if self._temporary else Path(folder or "")
        self._all: OrderedDict[str, Session] = OrderedDict()
        self._lock = RLock()
        self.closed = False

    def of(self, key: str) -> Session:
        """The session of a tab."""
        with self._lock:
            session = self._all.pop(key, None) or self._found(key)
            session = session or Session(self._state, title=self._title)
            if self._keeps and not isinstance(session.kept, Journal):
                session.kept = Journal(self._folder / f"{key}.jsonl")
            self._all[key] = session
            if len(self._all) > _MOST_SESSIONS:
                self._all.popitem(last=False)
            return session

    def _found(self, key: str) -> Session | None:
        """The session as it was when the server ended."""
        path = self._folder / f"{key}.jsonl"
        if not path.exists():
            return None
        try:
            return self._again(key, path.read_text("utf-8"))
        except InputError:
            path.rename(path.with_suffix(".damaged"))
            return None

    def _again(self, key: str, text: str) -> Session:
        title, states, at, version = restored(text, partial(self._open, key))
        session = Session(states[0], title=title)
        session.states, session.at, session.version = states, at, version
        return session

    def _open(
        self, key: str, name: str, kinds: Mapping[str, str], net: Network | None
    ) -> Rows | None:
        """A table of the studio by its name: that of the start, or one that was dropped here."""
        rows = self._rows
        if rows is None or rows.name != name:
            path = self._folder / f"{key}-{name}"
            if Path(name).name != name or not path.exists():
                return None
            rows = rows_of(path, net, name=name)
        return rows.with_kinds(kinds) if kinds else rows

    def take(self, key: str, name: str, data: bytes) -> None:
        """A file that was dropped on a page: a session, a model or a table, by its ending."""
        name = _ODD.sub("_", Path(name.replace("\\", "/")).name)[-100:]
        plain = name.lower().removesuffix(".gz")
        ending = Path(plain.removesuffix(".zst")).suffix
        session = self.of(key)
        now = session.state
        if ending == _ENDING:
            again = self._again(key, data.decode("utf-8", "replace"))
            session.title = again.title
            for state in again.states[: again.at + 1]:
                session.adopt(state)
            return
        if ending not in ENDINGS and ending not in FORMATS:
            raise InputError(
                f"The ending of {name!r} is that of no table, no model and no session.",
                hint="Drop a .csv, .parquet, .bif, .credo or .studio file.",
            )
        path = self._folder / f"{key}-{name}"
        with open(path, "wb", opener=lambda p, flags: os.open(p, flags, 0o600)) as file:
            file.write(data)
        session.title = name
        if ending in ENDINGS:
            net = load(path)
            if not isinstance(net, Network):
                raise InputError(f"The studio shows a Network; {name} holds another model.")
            session.adopt(State(net, made=f"net = cr.load({name!r})"))
            return
        session.adopt(_with_table(now, path, name))

    def close(self) -> None:
        """End what is under way, keeping the best of it, and forget the rest."""
        self.closed = True
        jobs = [s.job for s in self._all.values() if s.job is not None and s.job.running]
        for job in jobs:
            job.stop()
        for job in jobs:
            job.wait(_STOP)
        if self._temporary is not None:
            self._temporary.cleanup()


def beginning(net: Network | None, rows: Rows | None, load: str = "") -> State:
    """The state in which a session begins.

    >>> beginning(None, None).net
    Network(0 variables, 0 edges, 0 parameters)
    """
    if net is not None:
        return State(net, rows=rows, made=load or "net = ...  # the network of cr.studio")
    return unconnected(rows) if rows is not None else State(Network(Dag([]), {}))


def _with_table(now: State, path: Path, name: str) -> State:
    """A table beside a network whose variables it has; else a network of its columns."""
    rows = rows_of(path, name=name)
    columns = {c.name for c in rows.table.schema.columns}
    if now.net.names and set(now.net.names) <= columns:
        with suppress(CredoError):  # its states are not those of the network
            return State(now.net, rows=rows_of(path, now.net, name=name), made=now.made)
    return unconnected(rows)
