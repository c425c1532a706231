"""Recorded traffic sent again by the SDK that knows its API, else by an HTTP client alone.

Each call goes to the address that was recorded; its reply is the recorded one, unless the call is
``real``: then the network is asked.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

import turnspan
from support import anthropic_replay, exchanges, gemini_facts, openai_facts, recordings
from support.anthropic_replay import Recorded
from support.gemini_replay import by_types, token
from support.google_sdk import errors, genai
from support.openai_replay import Replayer
from turnspan.patching.models_on_the_wire import is_provider
from turnspan.wire.operations import FREE, asks_a_model_anywhere, operation_of
from turnspan_clickhouse.rows.tables import LlmCall

_ANTHROPIC = "https://api.anthropic.com/v1/messages"
_NO_CALL = "no model call"
_NO_BODY = "its body was not recorded"


@dataclass(frozen=True)
class TrafficCall:
    """A recorded request to a model and its reply, in the form of what sends it."""

    sender: str
    """``openai``, ``anthropic``, ``google``, or ``http`` for a client without an SDK."""
    name: str
    exchange: Any

    def send(self, *, real: bool) -> list[bytes]:
        """Send it; returns the bodies that were answered here."""
        found: list[bytes] = _SENDERS[self.sender][0](self.exchange, real)
        return found

    async def asend(self, *, real: bool) -> list[bytes]:
        """The same with an asynchronous client."""
        found: list[bytes] = await _SENDERS[self.sender][1](self.exchange, real)
        return found


def traffic() -> tuple[list[TrafficCall], dict[str, str]]:
    """Every recorded call that can be sent again, and why others cannot, by their names."""
    found = [
        TrafficCall("anthropic", one.name, one)
        for one in exchanges.exchanges("anthropic")
        if one.url.partition("?")[0] == _ANTHROPIC
    ]
    left: dict[str, str] = {}
    for asked in gemini_facts.exchanges():
        if asked.asks in gemini_facts.CALLS:
            found.append(TrafficCall("google", asked.name, asked))
        else:
            left[asked.name] = _NO_CALL
    replayer = Replayer()
    for other in recordings.exchanges():
        if other.url.partition("?")[0] == _ANTHROPIC or _is_google(other.url):
            continue  # above
        if openai_facts.kind_of(other):
            lost = other.method == "POST" and not other.sent()
            reason = _NO_BODY if lost else replayer.unsupported(other)
            sender = "openai"
        else:
            reason, sender = _why_not(other), "http"
        if reason:
            left[other.name] = reason
        else:
            found.append(TrafficCall(sender, other.name, other))
    replayer.close()
    return found, left


def _is_google(url: str) -> bool:
    return "/models/" in url and (urlsplit(url).hostname or "").endswith("googleapis.com")


def _why_not(one: recordings.Exchange) -> str:
    parts = urlsplit(one.url)
    host = parts.hostname or ""
    if not host:
        return "its address was not recorded"
    if one.method != "POST" or not (
        is_provider(host) or asks_a_model_anywhere(one.method, parts.path)
    ):
        return _NO_CALL
    operation = operation_of(one.method, parts.path, host)
    if operation == FREE or not operation:
        return _NO_CALL
    return "" if one.sent() else _NO_BODY


# -- one call --------------------------------------------------------------------------------------


def _by_openai(exchange: recordings.Exchange, real: bool) -> list[bytes]:
    replayer = Replayer(real=real)
    replayer.call(exchange)
    replayer.close()
    return replayer.bodies


async def _aby_openai(exchange: recordings.Exchange, real: bool) -> list[bytes]:
    replayer = Replayer(real=real)
    await replayer.acall(exchange)
    await replayer.aclose()
    return replayer.bodies


def _by_anthropic(exchange: exchanges.Exchange, real: bool) -> list[bytes]:
    server = Recorded(exchange, real=real)
    anthropic_replay.call(exchange, server)
    return server.bodies


async def _aby_anthropic(exchange: exchanges.Exchange, real: bool) -> list[bytes]:
    server = Recorded(exchange, real=real)
    await anthropic_replay.acall(exchange, server)
    return server.bodies


@dataclass
class _Answering:
    """HTTP clients that give one reply to every request."""

    status: int
    content_type: str
    body: bytes
    real: bool
    bodies: list[bytes] = field(default_factory=list[bytes])

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(request.content)
        headers = {"content-type": self.content_type}
        return httpx.Response(self.status, headers=headers, content=self.body)

    def client(self) -> httpx.Client:
        return httpx.Client(transport=None if self.real else httpx.MockTransport(self._answer))

    def aclient(self) -> httpx.AsyncClient:
        transport = None if self.real else httpx.MockTransport(self._answer)
        return httpx.AsyncClient(transport=transport)


def _gemini(exchange: gemini_facts.Exchange, real: bool) -> tuple[_Answering, Any]:
    kind, body = "application/json", json.dumps(exchange.answers[0])
    if exchange.streamed:
        kind = "text/event-stream"
        body = "".join(f"data: {json.dumps(one)}\r\n\r\n" for one in exchange.answers)
    server = _Answering(exchange.status, kind, body.encode(), real)
    options = {"httpx_client": server.client(), "httpx_async_client": server.aclient()}
    where: dict[str, Any] = {"api_key": "k"}
    if exchange.vertex:
        where = {"vertexai": True, "project": "p", "location": "us-central1"}
        where["credentials"] = token()
    return server, genai.Client(**where, http_options=options)


def _asked(exchange: gemini_facts.Exchange, models: Any) -> tuple[Any, dict[str, Any]]:
    """The SDK's method for a call and its arguments; nothing where it has no words for it."""
    arguments = by_types(exchange)
    if arguments is None:
        return None, {}
    if "mbed" in exchange.asks or exchange.asks == "predict":
        return models.embed_content, arguments
    name = "generate_content_stream" if exchange.streamed else "generate_content"
    return getattr(models, name), arguments


def _raw(exchange: gemini_facts.Exchange) -> tuple[str, str, dict[str, Any], None]:
    path = f"models/{exchange.model}:{exchange.asks}"
    return ("post", f"{path}?alt=sse" if exchange.streamed else path, {**exchange.request}, None)


_REFUSED = (errors.APIError, ValueError, TypeError, AttributeError)
"""What the SDK raises for a failure, of a call that it has no words for, and of odd replies."""


def _by_google(exchange: gemini_facts.Exchange, real: bool) -> list[bytes]:
    server, client = _gemini(exchange, real)
    method, arguments = _asked(exchange, client.models)
    with suppress(*_REFUSED):
        if method is None:
            api = client._api_client
            stream = api.request_streamed if exchange.streamed else api.request
            found = stream(*_raw(exchange))
        else:
            found = method(**arguments)
        for _ in found if exchange.streamed else ():
            pass
    client.close()
    return server.bodies


async def _aby_google(exchange: gemini_facts.Exchange, real: bool) -> list[bytes]:
    server, client = _gemini(exchange, real)
    method, arguments = _asked(exchange, client.aio.models)
    with suppress(*_REFUSED):
        if method is None:
            api = client._api_client
            stream = api.async_request_streamed if exchange.streamed else api.async_request
            found = await stream(*_raw(exchange))
        else:
            found = await method(**arguments)
        if exchange.streamed:
            async for _ in found:
                pass
    await client.aio.aclose()
    return server.bodies


_JSON = {"content-type": "application/json"}


def _by_http(exchange: recordings.Exchange, real: bool) -> list[bytes]:
    server = _Answering(exchange.status, exchange.content_type, exchange.response, real)
    with server.client() as client:
        client.post(exchange.url, content=exchange.request, headers=_JSON)
    return server.bodies


async def _aby_http(exchange: recordings.Exchange, real: bool) -> list[bytes]:
    server = _Answering(exchange.status, exchange.content_type, exchange.response, real)
    async with server.aclient() as client:
        await client.post(exchange.url, content=exchange.request, headers=_JSON)
    return server.bodies


_SENDERS: dict[str, tuple[Any, Any]] = {
    "openai": (_by_openai, _aby_openai),
    "anthropic": (_by_anthropic, _aby_anthropic),
    "google": (_by_google, _aby_google),
    "http": (_by_http, _aby_http),
}


# -- several calls ---------------------------------------------------------------------------------


def send_together(
    calls: tuple[TrafficCall, ...], session: str, *, asynchronous: bool, real: bool = False
) -> list[bytes]:
    """Send calls at once, in threads or in tasks of one loop, as one session; returns the bodies
    that were answered here."""

    async def tasks() -> list[list[bytes]]:
        return await asyncio.gather(*(call.asend(real=real) for call in calls))

    def send(call: TrafficCall) -> list[bytes]:
        with turnspan.session(session):
            return call.send(real=real)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models that SDKs have deprecated since
        if asynchronous:
            with turnspan.session(session):
                found = asyncio.run(tasks())
        else:
            with ThreadPoolExecutor(len(calls)) as pool:
                found = list(pool.map(send, calls))
    return [body for bodies in found for body in bodies]


def outcomes(rows: Iterable[LlmCall]) -> list[tuple[Any, ...]]:
    """What became of calls, as their records say."""
    return [
        (
            row.operation,
            row.request_model,
            row.stream,
            row.response_text,
            row.tool_calls,
            row.finish_reasons,
            row.input_tokens,
            row.output_tokens,
            row.error_type,
        )
        for row in rows
    ]
