"""Opening the studio: a server on a free port of this machine, in a thread of its own."""

from __future__ import annotations

import json
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credo.core.errors import CredoError, InputError, MissingPackageError

if TYPE_CHECKING:
    from uvicorn import Server

    from credo.model.networks.network import Network
    from credo.model.structures.structure_posterior import StructurePosterior
    from credo.studio.sessions import Sessions

STATIC = Path(__file__).with_name("static")
_ADDRESS = "address.json"


class Studio:
    """A studio that is open: its address, and how to close it.

    It is a context manager that closes at the end of its block.
    """

    def __init__(self, server: Server, sock: socket.socket, sessions: Sessions, url: str) -> None:
        self.url = url
        self._sessions = sessions
        self._server = server
        self._thread = threading.Thread(
            target=server.run, kwargs={"sockets": [sock]}, daemon=True, name="credo-studio"
        )
        self._thread.start()
        while not server.started and self._thread.is_alive():
            time.sleep(0.01)

    def wait(self) -> None:
        """Stay until the studio is closed, or until Ctrl-C, which closes it."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.2)
        finally:
            self.close()

    def close(self) -> None:
        """End the server; of what is being learned the best so far is kept."""
        self._sessions.close()
        self._server.should_exit = True
        self._thread.join(5)

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Studio({self.url})" if self._thread.is_alive() else "Studio(closed)"


def studio(
    net: Network | StructurePosterior | None = None,
    data: Any = None,
    *,
    browser: bool = True,
    port: int = 0,
    title: str = "",
    load: str = "",
    folder: str | os.PathLike[str] | None = None,
    again: Callable[[Any], Any] | None = None,
) -> Studio:
    """Open the studio in the browser: ask, learn, build and check by clicking.

    With a network, click a state and every posterior moves; `data` are rows to step through as
    evidence, to learn from and to check against. Without one, a network of the columns of `data`,
    or an empty one to build. Of a `StructurePosterior` it is the network of its probable edges, and
    an edge says how probable it is. The studio runs beside what you do until it is closed or Python
    ends; `.wait()` stays there, in a script. It listens to this machine alone. `browser=False`
    opens no browser: the address is `.url`. `load` is the line of Python that gives the network,
    for the script that the page writes. In `folder` the sessions are kept, and the address: opened
    again with the same folder, the page goes on where it was. `again` reads the rows again, given a
    schema, where `cr.read(data, schema=…)` would not do. See docs/studio.md.

    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> cr.studio(net.dag)
    Traceback (most recent call last):
    ...
    credo.errors.InputError: The studio shows a Network, got Dag.
    >>> opened = cr.studio(net, browser=False)  # doctest: +SKIP
    >>> opened.url  # doctest: +SKIP
    'http://127.0.0.1:41733/enter?token=…'
    >>> opened.close()  # doctest: +SKIP
    """
    from credo.model.networks.network import Network
    from credo.model.structures.structure_posterior import StructurePosterior

    structures = net if isinstance(net, StructurePosterior) else None
    net = net.network() if isinstance(net, StructurePosterior) else net
    if net is not None and not isinstance(net, Network):
        raise InputError(f"The studio shows a Network, got {type(net).__name__}.")
    try:
        import uvicorn

        from credo.studio.guard import Patient
        from credo.studio.server import application, pages
    except ImportError as error:
        if isinstance(error, CredoError):
            raise
        raise MissingPackageError(
            "The studio needs starlette and uvicorn.",
            hint="Install them: pip install 'credo[studio]'",
        ) from None
    from credo.studio.rows import rows_of
    from credo.studio.sessions import Sessions, beginning

    files = pages(STATIC)
    if "/index.html" not in files:
        raise MissingPackageError(
            "The studio's page is not built.",
            hint="Run make studio in the sources of credo; it needs npm.",
        )
    rows = None if data is None else rows_of(data, net, again=again)
    state = replace(beginning(net, rows, load), structures=structures)
    told = title or (rows.name if net is None and rows is not None else _title(state.net))
    place = None if folder is None else Path(folder)
    port, token = _address(place, port)
    sock = _bound(port, instead=place is not None)
    own = sock.getsockname()[1]
    _remember(place, own, token)
    sessions = Sessions(state, told, rows, place)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    server = uvicorn.Server(
        uvicorn.Config(
            application(sessions, files, own, token),
            http=Patient,
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=64,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=2,
            ws="none",
            lifespan="off",
        )
    )
    opened = Studio(server, sock, sessions, f"http://127.0.0.1:{own}/enter?token={token}")
    if browser:
        import webbrowser

        webbrowser.open(opened.url)
    return opened


def _title(net: Network) -> str:
    return f"{len(net.names)} variables" if net.names else "a new network"


def _address(folder: Path | None, port: int) -> tuple[int, str]:
    """The port and the token: those of the last time, so that a page that is open comes back."""
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65536:
        raise InputError(f"The port must be a whole number from 0 to 65535, got {port!r}.")
    if folder is not None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            kept = json.loads((folder / _ADDRESS).read_text("utf-8"))
            return port or int(kept["port"]), str(kept["token"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
    return port, secrets.token_urlsafe(24)


def _remember(folder: Path | None, port: int, token: str) -> None:
    if folder is None:
        return
    with open(
        folder / _ADDRESS, "w", encoding="utf-8", opener=lambda p, flags: os.open(p, flags, 0o600)
    ) as file:
        json.dump({"port": port, "token": token}, file)


def _bound(port: int, instead: bool = False) -> socket.socket:
    """A socket of this machine at a port; another port `instead`, if that one is taken."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(("127.0.0.1", port))
    except OSError as error:
        sock.close()
        if instead:
            return _bound(0)
        raise InputError(
            f"The port {port} cannot be used: {error.strerror or error}.",
            hint="Leave --port out to take a free one.",
        ) from None
    return sock
