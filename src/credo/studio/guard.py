"""What stands before the studio's pages: only this machine, only this page, only its own token.

A page elsewhere on the web can make a browser send requests here, so the Host must be this server's
(else a foreign name was pointed at the loopback), the Origin its own, and the token in a cookie
that no script can read and no other site can send. There is no CORS header. Bodies are small, come
soon, and not too many a second.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["MOST_BYTES", "Guard"]

MOST_BYTES = 64 * 1024
"""Of one request."""

_SECONDS = 5.0  # for the body of a request to come
_A_SECOND, _AT_ONCE = 100.0, 200.0  # requests

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
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

        refusal = self._refusal(scope)
        body = b""
        if refusal is None:
            try:
                body = await asyncio.wait_for(_body(receive), _SECONDS)
            except TimeoutError:
                refusal = _said(408, "The request did not come in time.")
            except _TooLargeError:
                refusal = _said(413, f"A request may have at most {MOST_BYTES:,} bytes.")
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return

        async def whole() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, whole, guarded)

    def _refusal(self, scope: Scope) -> Response | None:
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
        if not length.isdigit() or int(length) > MOST_BYTES:
            return _said(413, f"A request may have at most {MOST_BYTES:,} bytes.")
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


class _TooLargeError(Exception):
    """A body that grows beyond what is taken."""


async def _body(receive: Receive) -> bytes:
    out = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(out)
        out += message.get("body", b"")
        if len(out) > MOST_BYTES:
            raise _TooLargeError
        if not message.get("more_body", False):
            return bytes(out)


def _said(status: int, sentence: str) -> Response:
    return JSONResponse({"error": sentence}, status)
