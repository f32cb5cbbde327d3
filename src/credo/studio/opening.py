"""Opening the studio: a server on a free port of this machine, in a thread of its own."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credo.core.errors import CredoError, InputError, MissingPackageError

if TYPE_CHECKING:
    from uvicorn import Server

    from credo.data import Table
    from credo.model.networks.network import Network

__all__ = ["Studio", "studio"]

STATIC = Path(__file__).with_name("static")


class Studio:
    """A studio that is open: its address, and how to close it.

    It is a context manager that closes at the end of its block.
    """

    def __init__(self, server: Server, sock: socket.socket, url: str) -> None:
        self.url = url
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
        """End the server; what was asked is forgotten."""
        self._server.should_exit = True
        self._thread.join(5)

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Studio({self.url})" if self._thread.is_alive() else "Studio(closed)"


def studio(
    net: Network,
    data: Any = None,
    *,
    browser: bool = True,
    port: int = 0,
    title: str = "",
    load: str = "",
) -> Studio:
    """Open a network in the browser: click a state, and every posterior moves.

    `data` are rows to step through as evidence. The studio runs beside what you do until it is
    closed or Python ends; `.wait()` stays there, in a script. It listens to this machine alone.
    `browser=False` opens no browser: the address is `.url`. `load` is the line of Python that
    gives the network, for the script that the page writes. See docs/studio.md.

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

    if not isinstance(net, Network):
        raise InputError(f"The studio shows a Network, got {type(net).__name__}.")
    try:
        import uvicorn

        from credo.studio.server import application, pages
    except ImportError as error:
        if isinstance(error, CredoError):
            raise
        raise MissingPackageError(
            "The studio needs starlette and uvicorn.",
            hint="Install them: pip install 'credo[studio]'",
        ) from None
    from credo.studio.session import Session

    files = pages(STATIC)
    if "/index.html" not in files:
        raise MissingPackageError(
            "The studio's page is not built.",
            hint="Run make studio in the sources of credo; it needs npm.",
        )
    table = _table(net, data)
    sock = _bound(port)
    own = sock.getsockname()[1]
    token = secrets.token_urlsafe(24)

    def make() -> Session:
        return Session(net, table, title=title or _title(net), load=load)

    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    server = uvicorn.Server(
        uvicorn.Config(
            application(make, files, own, token),
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
    opened = Studio(server, sock, f"http://127.0.0.1:{own}/enter?token={token}")
    if browser:
        import webbrowser

        webbrowser.open(opened.url)
    return opened


def _title(net: Network) -> str:
    return f"{len(net.names)} variables"


def _bound(port: int) -> socket.socket:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65536:
        raise InputError(f"The port must be a whole number from 0 to 65535, got {port!r}.")
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(("127.0.0.1", port))
    except OSError as error:
        sock.close()
        raise InputError(
            f"The port {port} cannot be used: {error.strerror or error}.",
            hint="Leave --port out to take a free one.",
        ) from None
    return sock


def _table(net: Network, data: Any) -> Table | None:
    """The rows by the model's variables."""
    from credo.core.schema import Schema
    from credo.data import Stream, Table, read

    if data is None:
        return None
    table = data if isinstance(data, (Table, Stream)) else read(data)
    shared = [v for v in net.variables if v.name in table.schema]
    if not shared:
        raise InputError(
            "The rows have no column of the model.",
            hint=f"Its variables are {', '.join(map(repr, net.names[:12]))}.",
        )
    if table is not data:
        table = read(data, schema=Schema(tuple(shared)))
    if not isinstance(table, Table):
        raise InputError(
            "The rows do not fit in memory, so they cannot be stepped through one by one.",
            hint="Give some of them, or none.",
        )
    return table
