"""The studio's server: its pages, and one address for each request of a session.

    GET  /enter?token=…          sets the cookie and goes to /
    GET  /                       the page, built by `make studio`
    POST /api/SESSION/REQUEST    JSON in, JSON out (`session.dispatch`)
    POST /file/SESSION?name=…    a table, a model or a session that was dropped on the page
    GET  /events/SESSION         what changes by itself, as server-sent events

Each tab has a session of its own, under an id that it makes; a tab that was duplicated shares it,
and both follow. No file is read but those that `Sessions` knows.
"""

from __future__ import annotations

import asyncio
import json
import logging
import mimetypes
import re
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from credo.core.errors import CredoError, InputError
from credo.studio.guard import Guard
from credo.studio.sessions import Sessions

_log = logging.getLogger("credo.studio")
_ID = re.compile(r"[a-z0-9]{8,32}")
_EVERY = 0.2  # seconds between two looks at a session
_QUIET = 15.0  # seconds after which a silent stream shows that it is there

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


def application(sessions: Sessions, files: Pages, port: int, token: str) -> Guard:
    """The ASGI application: the sessions of the tabs, and the files of the page."""

    async def enter(request: Request) -> Response:
        answer = RedirectResponse("/", 303)
        answer.set_cookie(guard.cookie, token, httponly=True, samesite="strict", path="/")
        return answer

    async def page(request: Request) -> Response:
        path = "/index.html" if request.url.path == "/" else request.url.path
        if path not in files or request.method == "POST":
            return _no_page()
        body, kind = files[path]
        return Response(body, media_type=kind)

    async def api(request: Request) -> Response:
        name = request.path_params["name"]
        if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
            return JSONResponse({"error": "A request must be application/json."}, 415)
        body = await request.body()
        return await _answer(name, _answered, sessions, request.path_params["session"], name, body)

    async def file(request: Request) -> Response:
        key, name = request.path_params["session"], request.query_params.get("name", "")
        body = await request.body()
        return await _answer("file", _taken, sessions, key, name, body)

    async def events(request: Request) -> Response:
        key = request.path_params["session"]
        if not _ID.fullmatch(key):
            return _no_page()
        return StreamingResponse(_events(sessions, key), media_type="text/event-stream")

    guard = Guard(
        Starlette(
            routes=[
                Route("/enter", enter),
                Route("/api/{session}/{name}", api, methods=["POST"]),
                Route("/file/{session}", file, methods=["POST"]),
                Route("/events/{session}", events),
                Route("/{path:path}", page, methods=["GET", "POST"]),
            ]
        ),
        port,
        token,
    )
    return guard


def _no_page() -> Response:
    return JSONResponse({"error": "There is no such page."}, 404)


async def _answer(name: str, run: Any, sessions: Sessions, key: str, *args: Any) -> Response:
    """What a thread answers; a refusal is a sentence, a failure an id."""
    if not _ID.fullmatch(key):
        return _no_page()
    try:
        answer = await run_in_threadpool(run, sessions, key, *args)
        return Response(answer, media_type="application/json")
    except CredoError as error:
        return JSONResponse({"error": " ".join(str(error).split())}, 400)
    except Exception:
        told = secrets.token_hex(4)
        _log.exception("The request %r failed (%s).", name, told)
        sentence = f"Something went wrong (id {told}); the terminal of the studio says what."
        return JSONResponse({"error": sentence, "id": told}, 500)


def _answered(sessions: Sessions, key: str, name: str, body: bytes) -> bytes:
    try:
        request = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise InputError("The request is not JSON.") from None
    return _json(sessions.of(key).dispatch(name, request))


def _taken(sessions: Sessions, key: str, name: str, body: bytes) -> bytes:
    sessions.take(key, name, body)
    return _json(sessions.of(key).now())


async def _events(sessions: Sessions, key: str) -> AsyncIterator[bytes]:
    """Whenever a session is another than it was: its version and its job."""
    told, silent = b"", 0.0
    while not sessions.closed:
        session = await run_in_threadpool(sessions.of, key)
        job = session.job
        shown = None if job is None else await run_in_threadpool(job.shown)
        now = _json({"version": session.version, "job": shown})
        if now != told or silent > _QUIET:
            told, silent = now, 0.0
            yield b"data: " + now + b"\n\n"
        await asyncio.sleep(_EVERY)
        silent += _EVERY


def _json(answer: Any) -> bytes:
    return json.dumps(answer, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def _refuse(constant: str) -> None:
    raise ValueError(constant)
