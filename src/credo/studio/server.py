"""The studio's server: its pages, and one address for each request of a session.

    GET  /enter?token=…          sets the cookie and goes to /
    GET  /                       the page, built by `make studio`
    POST /api/SESSION/REQUEST    JSON in, JSON out (`session.dispatch`)

Each tab has a session of its own, under an id that it makes; the least recently used goes when
there are too many. No file is read after the start.
"""

from __future__ import annotations

import json
import logging
import mimetypes
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from credo.core.errors import CredoError, InputError
from credo.studio.guard import Guard
from credo.studio.session import Session

__all__ = ["application", "pages"]

_log = logging.getLogger("credo.studio")
_ID = re.compile(r"[a-z0-9]{8,32}")
_MOST_SESSIONS = 32

Pages = dict[str, tuple[bytes, str]]


def pages(folder: Path) -> Pages:
    """The files of the page by their address, with their media types.

    >>> pages(Path("nowhere"))
    {}
    """
    out: Pages = {}
    for file in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if file.is_file():
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            kind = "text/javascript" if file.suffix == ".js" else kind
            out["/" + file.relative_to(folder).as_posix()] = (file.read_bytes(), kind)
    return out


class _Sessions:
    """The sessions by the ids of their tabs."""

    def __init__(self, make: Callable[[], Session]) -> None:
        self._make = make
        self._all: OrderedDict[str, Session] = OrderedDict()
        self._lock = Lock()

    def of(self, key: str) -> Session:
        with self._lock:
            session = self._all.pop(key, None) or self._make()
            self._all[key] = session
            if len(self._all) > _MOST_SESSIONS:
                self._all.popitem(last=False)
            return session


def application(make: Callable[[], Session], files: Pages, port: int, token: str) -> Guard:
    """The ASGI application: `make` begins a session for a tab, `files` are the page."""
    sessions = _Sessions(make)

    async def enter(request: Request) -> Response:
        answer = RedirectResponse("/", 303)
        answer.set_cookie(guard.cookie, token, httponly=True, samesite="strict", path="/")
        return answer

    async def page(request: Request) -> Response:
        path = "/index.html" if request.url.path == "/" else request.url.path
        if path not in files or request.method == "POST":
            return JSONResponse({"error": "There is no such page."}, 404)
        body, kind = files[path]
        return Response(body, media_type=kind)

    async def api(request: Request) -> Response:
        key, name = request.path_params["session"], request.path_params["name"]
        if not _ID.fullmatch(key):
            return JSONResponse({"error": "There is no such page."}, 404)
        if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
            return JSONResponse({"error": "A request must be application/json."}, 415)
        body = await request.body()
        try:
            answer = await run_in_threadpool(_answered, sessions, key, name, body)
            return Response(answer, media_type="application/json")
        except CredoError as error:
            return JSONResponse({"error": " ".join(str(error).split())}, 400)
        except Exception:
            told = secrets.token_hex(4)
            _log.exception("The request %r failed (%s).", name, told)
            sentence = f"Something went wrong (id {told}); the terminal of the studio says what."
            return JSONResponse({"error": sentence, "id": told}, 500)

    guard = Guard(
        Starlette(
            routes=[
                Route("/enter", enter),
                Route("/api/{session}/{name}", api, methods=["POST"]),
                Route("/{path:path}", page, methods=["GET", "POST"]),
            ]
        ),
        port,
        token,
    )
    return guard


def _answered(sessions: _Sessions, key: str, name: str, body: bytes) -> bytes:
    try:
        request = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise InputError("The request is not JSON.") from None
    answer: Any = sessions.of(key).dispatch(name, request)
    return json.dumps(answer, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def _refuse(constant: str) -> None:
    raise ValueError(constant)
