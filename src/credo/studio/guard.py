"""What stands before the studio's pages: only this machine, only this page, only its own token.

A page elsewhere on the web can make a browser send requests here, so the Host must be this server's
(else a foreign name was pointed at the loopback), the Origin its own, and the token in a cookie
that no script can read and no other site can send. There is no CORS header. Bodies are small, come
soon, and not too many a second. A connection whose headers do not come is closed.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_BYTES = 64 * 1024
"""Of one request."""
MOST_OF_A_FILE = 64 * 2**20
"""Of a file that is dropped on the page."""

_SECONDS = 5.0  # for the body of a request to come
_FILE_SECONDS = 120.0
_A_SECOND, _AT_ONCE = 100.0, 200.0  # requests

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """An ASGI application that lets through to `app` what may come, whole."""

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self.app = app
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.token = token
        self.cookie = f"credo_studio_{port}"  # cookies do not know ports
        self._room, self._at = _AT_ONCE, time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or answer with the headers that keep the page to itself."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        is_file = scope["path"].startswith("/file/")
        most, seconds = (MOST_OF_A_FILE, _FILE_SECONDS) if is_file else (MOST_BYTES, _SECONDS)
        refusal = self._refusal(scope, most)
        body = b""
        if refusal is None:
            try:
                body = await asyncio.wait_for(_body(receive, most), seconds)
            except TimeoutError:
                refusal = _said(408, "The request did not come in time.")
            except _TooLargeError:
                refusal = _too_large(most)
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return

        came = False

        async def whole() -> Message:
            nonlocal came
            if came:
                return await receive()  # whether it is still there
            came = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, whole, guarded)

    def _refusal(self, scope: Scope, most: int) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self.hosts:
            return _said(403, "The studio answers on 127.0.0.1 alone.")
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            return _said(403, "The studio answers to its own page alone.")
        if not self._in_time():
            return _said(429, "Too many requests; wait a second.")
        if not self._let_in(scope, headers):
            return _said(401, "Open the address that was printed when the studio started.")
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > most:
            return _too_large(most)
        return None

    def _in_time(self) -> bool:
        """A bucket that fills by so many requests a second."""
        now = time.monotonic()
        self._room = min(_AT_ONCE, self._room + _A_SECOND * (now - self._at)) - 1.0
        self._at = now
        if self._room < 0.0:
            self._room = 0.0
            return False
        return True

    def _let_in(self, scope: Scope, headers: Headers) -> bool:
        """Whether the cookie has the token; at the door, where it is given, the address has it."""
        if scope["path"] == "/enter":
            return self.same(scope["query_string"].decode("latin-1").removeprefix("token="))
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return cookie is not None and self.same(cookie.value)

    def same(self, token: str) -> bool:
        """Whether this is the token, in a time that does not tell how much of it is right."""
        return hmac.compare_digest(token.encode(), self.token.encode())


class Patient(H11Protocol):
    """HTTP that waits a few seconds for the headers of a request, and then hangs up."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait on, unless what came makes a request."""
        self._wait()
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete and self._late is not None:
            self._late.cancel()
            self._late = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for."""
        if self._late is not None:
            self._late.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(_SECONDS, self._hang_up)

    def _hang_up(self) -> None:
        self._late = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


class _TooLargeError(Exception):
    """A body that grows beyond what is taken."""


async def _body(receive: Receive, most: int) -> bytes:
    out = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(out)
        out += message.get("body", b"")
        if len(out) > most:
            raise _TooLargeError
        if not message.get("more_body", False):
            return bytes(out)


def _too_large(most: int) -> Response:
    return _said(413, f"A request may have at most {most:,} bytes.")


def _said(status: int, sentence: str) -> Response:
    return JSONResponse({"error": sentence}, status)
