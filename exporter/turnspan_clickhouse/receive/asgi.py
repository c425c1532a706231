"""The ASGI application: OTLP/HTTP as its specification has it.

``POST /v1/traces``, ``/v1/logs`` and ``/v1/metrics`` take protobuf and JSON. Of logs the events of
model calls and coding agents are kept, of metrics what only coding agents count. ``GET /health``
says whether spans can be taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from turnspan.runtime.guard import errors
from turnspan_clickhouse.receive.decoded import LOGS, METRICS, TRACES
from turnspan_clickhouse.receive.grpc_server import GrpcServer
from turnspan_clickhouse.receive.http_body import (
    ENCODINGS,
    JSON,
    PROTOBUF,
    BodyTooLargeError,
    failure,
    host_name,
    media_type,
    success,
)
from turnspan_clickhouse.receive.intake import RETRY_SECONDS, Held, Intake, IntakeRefusal
from turnspan_clickhouse.receive.receiver import Receiver

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_SIGNALS = {"/v1/traces": TRACES, "/v1/logs": LOGS, "/v1/metrics": METRICS}
_SERVED = f"OTLP goes to {', '.join(_SIGNALS)}"
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: bytes
    kind: str
    headers: dict[str, str] = field(default_factory=dict[str, str])


class ReceiveApp:
    """OTLP over HTTP into a receiver; with ``tokens``, only for who shows one of them, with
    ``hosts`` only for who asked for one of those names, or for this machine by address. With
    ``grpc_address`` (``host:port``) the same over gRPC, for as long as the application lives."""

    def __init__(
        self,
        receiver: Receiver,
        *,
        tokens: Sequence[str] = (),
        hosts: Sequence[str] | None = None,
        grpc_address: str = "",
    ) -> None:
        self.receiver = receiver
        self.settings = receiver.settings
        self.intake = Intake(receiver, tokens)
        self._hosts = None if hosts is None else {*LOOPBACK, *(name.lower() for name in hosts)}
        self.grpc_address = grpc_address
        """Where gRPC is listened for; empty where it is not."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the protocol is ASGI's."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            answer = await self._answer(scope, receive)
            if answer is not None:
                self.receiver.answers[str(answer.status)] += 1
                await _send(answer, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        grpc_server = None
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self.receiver.start()
                if self.grpc_address:
                    grpc_server = GrpcServer(self.intake, self.grpc_address)
                    await grpc_server.start()
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                if grpc_server is not None:
                    await grpc_server.stop()
                await asyncio.to_thread(self.receiver.stop)
                self.intake.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _answer(self, scope: Scope, receive: Receive) -> _Answer | None:
        headers = {
            key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]
        }
        said = media_type(headers.get("content-type", ""))
        kind = JSON if said == JSON or (not said and scope["method"] == "GET") else PROTOBUF
        try:
            return await self._route(scope, headers, kind, said, receive)
        except _Gone:
            return None
        except IntakeRefusal as refusal:
            return self._refused(refusal, kind)
        except Exception as error:  # noqa: BLE001  whatever a request holds, the server goes on
            errors.record("receive.request", error)
            return self._refused(
                IntakeRefusal(503, "an internal error; see the receiver's log"), kind
            )

    async def _route(
        self, scope: Scope, headers: dict[str, str], kind: str, said: str, receive: Receive
    ) -> _Answer:
        path, method = scope["path"], scope["method"]
        self._check_host(scope)
        if path in ("/health", "/healthz"):
            if method not in ("GET", "HEAD"):
                raise IntakeRefusal(405, "use GET", allow="GET")
            return self._health()
        if not self.intake.allowed(headers.get("authorization", "")):
            raise IntakeRefusal(401, "a bearer token of this receiver is needed")
        if path not in _SIGNALS:
            is_profile = path.endswith("/profiles")
            why = "profiles are not recorded: turn their exporter off" if is_profile else _SERVED
            raise IntakeRefusal(404, f"{path!r} is not served; {why}")
        if method != "POST":
            raise IntakeRefusal(405, f"{path} takes POST")
        if said not in (PROTOBUF, JSON):
            raise IntakeRefusal(415, f"the content type is {said!r}: use {PROTOBUF} or {JSON}")
        return await self._take(path, headers, kind, receive)

    def closed(self, answer: str, why: str) -> None:
        """Count a connection that was closed before it had a request."""
        self.receiver.answers[answer] += 1
        self.intake.notices.tell(answer, f"{why}: closed with {answer}")

    def _check_host(self, scope: Scope) -> None:
        """Refuse a browser whose page's own name was made to lead here (DNS rebinding)."""
        if self._hosts is None:
            return
        for key, value in scope["headers"]:
            if key == b"host" and host_name(value.decode("latin-1")) not in self._hosts:
                raise IntakeRefusal(421, "the request is for another host: --allow-host names more")

    async def _take(
        self, path: str, headers: dict[str, str], kind: str, receive: Receive
    ) -> _Answer:
        encoding = headers.get("content-encoding", "").strip().lower()
        if encoding not in ENCODINGS:
            raise IntakeRefusal(
                415, f"the content encoding {encoding!r} is not known: use gzip, zstd or deflate"
            )
        signal = _SIGNALS[path]
        with self.intake.holding() as held:
            reading = self._body(headers, receive, held)
            try:
                body = await asyncio.wait_for(reading, self.settings.read_timeout)
            except asyncio.TimeoutError:
                raise IntakeRefusal(408, "the request took too long to arrive") from None
            taken = await self.intake.take(signal, kind, body, encoding, held)
        return _Answer(200, success(kind, taken.refused, signal), kind)

    async def _body(self, headers: dict[str, str], receive: Receive, held: Held) -> bytes:
        """The body as sent. One that is too large is read for a while, so that its sender gets to
        see the answer.

        Raises:
            TooLargeError: it is larger than a request may be.
        """
        limit = self.settings.max_request_bytes
        length = headers.get("content-length", "")
        over = length.isdigit() and int(length) > limit
        size, chunks = 0, list[bytes]()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            chunk: bytes = message.get("body", b"")
            size += len(chunk)
            over = over or size > limit
            if over:
                chunks.clear()
            else:
                held.add(len(chunk))
                chunks.append(chunk)
            if not message.get("more_body") or size > 4 * limit:
                break
        if over:
            raise BodyTooLargeError
        return b"".join(chunks)

    def _health(self) -> _Answer:
        failed = self.receiver.failure
        told: dict[str, Any] = {
            "status": "failing" if failed else "ok",
            "spans": self.receiver.counts["spans"],
            "traces_under_way": len(self.receiver.book),
        }
        if failed:
            told["failure"] = failed
        return _Answer(503 if failed else 200, orjson.dumps(told), JSON)

    def _refused(self, refusal: IntakeRefusal, kind: str) -> _Answer:
        message = str(refusal)
        self.intake.notices.tell(
            str(refusal.status), f"a request was answered {refusal.status}: {message}"
        )
        headers = {"connection": "close"} if refusal.status in (408, 429) else {}
        if refusal.again:
            headers["retry-after"] = str(RETRY_SECONDS)
        elif refusal.status == 401:
            headers["www-authenticate"] = "Bearer"
        elif refusal.status == 405:
            headers["allow"] = refusal.allow
        return _Answer(refusal.status, failure(kind, refusal.status, message), kind, headers)


class _Gone(Exception):
    """The client went away before it had sent its request."""


async def _send(answer: _Answer, send: Send) -> None:
    headers = {
        "content-type": answer.kind,
        "content-length": str(len(answer.body)),
        **answer.headers,
    }
    raw = [(key.encode(), value.encode()) for key, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": raw})
    await send({"type": "http.response.body", "body": answer.body})
