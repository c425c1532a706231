"""What a request must be before anything looks at it, and what every answer says.

A page on this machine is reached by every other page that a browser has open, and by any name that
somebody points at 127.0.0.1. So a request is refused unless it was made to one of our names, by our
own page, and for anything recorded with the token, which no browser sends by itself.
"""

from __future__ import annotations

import contextlib
import hmac
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

METHODS = ("GET", "HEAD", "POST")
MAX_BODY_BYTES = 2**20
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "worker-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
SECURITY_HEADERS: tuple[tuple[str, str], ...] = (
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
_RAW_HEADERS = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS]


class Refusal(Exception):
    """A request that is not answered."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers


class RequestTooLargeError(Exception):
    """A body has more than ``MAX_BODY_BYTES``."""


class Guard:
    """Stands before an application: ``names`` are those that are taken in ``Host`` beside the
    loopback ones, whatever their port; the loopback ones have this server's ``port``."""

    def __init__(
        self, app: App, *, tokens: Sequence[str], port: int, names: Iterable[str] = ()
    ) -> None:
        self._app = app
        self._tokens = [token.encode() for token in tokens]
        self._hosts = {f"{name}:{port}" for name in LOOPBACK}
        if port == 80:
            self._hosts.update(LOOPBACK)
        self._names = {name.lower().rstrip(".") for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the protocol is ASGI's."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        try:
            self._check(scope)
        except Refusal as refusal:
            if refusal.status != 413:
                await _read_away(receive)
            await _refuse(scope, refusal, send)
            return
        await self._app(scope, _bounded(receive), _hardened(scope, send))

    def _check(self, scope: Scope) -> None:
        headers: dict[str, str] = {}
        for raw, value in scope["headers"]:
            name = raw.decode("latin-1").lower()
            # One that matters here and comes twice counts as none of ours.
            twice = name in headers and name in _SINGLE
            headers[name] = "," if twice else value.decode("latin-1")
        host = headers.get("host", "").lower()
        if not self._is_ours(host):
            raise Refusal(421, "This page is not served under that name: see --allow-host.")
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
            raise Refusal(403, "Another page may not ask this one.")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise Refusal(403, "Another page may not ask this one: open the address itself.")
        method = scope["method"]
        if method not in METHODS:
            raise Refusal(405, "Use GET or POST.", allow=", ".join(METHODS))
        if method == "POST":
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise Refusal(415, "Send application/json.")
            length = headers.get("content-length", "0")
            if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
                raise Refusal(413, "A request may have 1 MB at most.")
        if _is_private(scope["path"]) and not self._knows(headers.get("authorization", "")):
            raise Refusal(
                401,
                "This page needs its token: open the address that `turnspan console` prints.",
                www_authenticate="Bearer",
            )

    def _is_ours(self, host: str) -> bool:
        return host in self._hosts or host.rpartition(":")[0] in self._names or host in self._names

    def _knows(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        given = token.strip().encode("utf-8", "surrogateescape")
        found = [hmac.compare_digest(given, known) for known in self._tokens]
        return scheme.lower() == "bearer" and any(found)


def _is_private(path: str) -> bool:
    return path == "/api" or path.startswith("/api/")


_SINGLE = ("host", "origin", "authorization", "sec-fetch-site", "content-type", "content-length")


def _bounded(receive: Receive) -> Receive:
    """The body, of which no length may have been said."""
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > MAX_BODY_BYTES:
            raise RequestTooLargeError
        return message

    return limited


async def _read_away(receive: Receive) -> None:
    """Take a body that nobody wants: a connection that is closed over what was not read is reset,
    and the refusal is lost with it."""
    limited = _bounded(receive)
    with contextlib.suppress(RequestTooLargeError):
        while (await limited()).get("more_body"):
            pass


def _hardened(scope: Scope, send: Send) -> Send:
    private = _is_private(scope["path"])

    async def hardened(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [*message.get("headers", ()), *_RAW_HEADERS]
            if private:
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": headers}
        await send(message)

    return hardened


async def _refuse(scope: Scope, refusal: Refusal, send: Send) -> None:
    body = json.dumps({"error": str(refusal)}).encode()
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "cache-control": "no-store",
        # What is left of a body that nobody reads would be taken for the next request.
        "connection": "close",
        **{name.replace("_", "-"): value for name, value in refusal.headers.items()},
    }
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    start = {"type": "http.response.start", "status": refusal.status}
    await send({**start, "headers": [*raw, *_RAW_HEADERS]})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
