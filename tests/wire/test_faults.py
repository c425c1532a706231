"""A fault in any function of ours costs the record; the application gets the same answer.

Every function of the modules between an HTTP client and the span is made to raise, one at a time,
while each client gets an answer, a stream and a refusal.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from contextvars import copy_context
from types import ModuleType
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from support.model_replies import chat
from support.plain_clients import CLIENTS
from support.recorded_server import RecordedAnswer, RecordedServer
from turnspan.patching import models_on_the_wire
from turnspan.runtime.guard import errors
from turnspan.tracing.state import default
from turnspan.wire import (
    agent_processes,
    aiohttp_session,
    answer_bytes,
    client_frame,
    exchange,
    formats,
    gaps,
    http_connection,
    httpx_client,
    model_request,
    multipart,
    operations,
    requests_seen,
    tracer,
)

pytestmark = pytest.mark.tests_internal_errors

_MODULES: tuple[ModuleType, ...] = (
    agent_processes,
    aiohttp_session,
    answer_bytes,
    client_frame,
    exchange,
    formats,
    gaps,
    http_connection,
    httpx_client,
    model_request,
    models_on_the_wire,
    multipart,
    operations,
    requests_seen,
    tracer,
)
_OUTERMOST = {
    # The wrappers themselves, which call the client's function outside every guard.
    *("putrequest", "send", "getresponse", "connect", "started"),
    *(f"ReadAlong.{name}" for name in ("_read", "read", "read1", "readline", "readinto", "close")),
    *("SyncReadAlong.close", "AsyncReadAlong.aclose", "ReaderAlong._self_read"),
    *(f"ReaderAlong.{name}" for name in ("read", "readany", "readline", "readuntil")),
    *(f"ReaderAlong.{name}" for name in ("readexactly", "readchunk", "read_nowait")),
    *(f"ReaderAlong.{name}" for name in ("iter_chunked", "iter_any", "iter_chunks")),
    # What is a guard and nothing else.
    *("Body.feed", "Body.finish", "ReaderAlong._self_note", "ReadAlong._note"),
    # What runs when patching, or at the end.
    *("patch", "watch_http_client", "remedy"),
    *(f"Watch.{name}" for name in ("start", "stop", "end", "say", "seen", "total", "forget")),
    *("Watch._after_fork", "WireTracer.use"),
}
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
STREAMED = json.dumps({"model": "m", "messages": [], "stream": True}).encode()
ANSWERS = {
    "an answer": (BODY, RecordedAnswer(200, "application/json", json.dumps(chat()).encode())),
    "a stream": (
        STREAMED,
        RecordedAnswer(
            200,
            "text/event-stream",
            b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n' * 3,
            piece=50,
            packed=True,
        ),
    ),
    "a refusal": (BODY, RecordedAnswer(429, "application/json", b'{"error":{"code":"busy"}}')),
}


class Boom(BaseException):
    """The fault, of the kind that an ``except Exception`` lets through."""


def _seams() -> Iterator[tuple[str, Any, str]]:
    for module in _MODULES:
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if inspect.isfunction(value) and name not in _OUTERMOST:
                yield f"{module.__name__}.{name}", module, name
            elif inspect.isclass(value) and not issubclass(value, (BaseException, tuple)):
                for method, function in vars(value).items():
                    spelled = f"{name}.{method}"
                    dunder = method.startswith("__") and method not in ("__init__", "__call__")
                    if inspect.isfunction(function) and not dunder and spelled not in _OUTERMOST:
                        yield f"{module.__name__}.{spelled}", value, method


SEAMS = list(_seams())


@pytest.fixture(scope="module")
def server() -> Iterator[RecordedServer]:
    """Answers each client alike."""
    with RecordedServer() as server:
        yield server


@pytest.fixture
def recording() -> Iterator[None]:
    """The wire is recorded."""
    provider = TracerProvider()
    default.provider = provider
    default.content.attach()
    turnspan.instrument(only=["http"], tracer_provider=provider)
    yield
    turnspan.uninstrument()
    default.content.detach()
    default.provider = None


def answers(server: RecordedServer, name: str) -> list[tuple[int, bytes]]:
    """What a client gets of each kind."""
    found: list[tuple[int, bytes]] = []
    for body, answer in ANSWERS.values():
        server.answer = answer
        headers = {"content-type": "application/json"}
        if name in ("urllib", "http.client"):
            headers["accept-encoding"] = "identity"
        url = f"{server.url}/v1/chat/completions"
        # What a fault leaves behind in the context must not hide the next one.
        found.append(copy_context().run(CLIENTS[name], url, body, headers))
    return found


EXPECTED = [(answer.status, answer.body) for _, answer in ANSWERS.values()]


def test_there_are_seams() -> None:
    """Of every module."""
    assert len({name.rpartition(".")[0] for name, _, _ in SEAMS}) > 10
    assert len(SEAMS) > 60


@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_gets_its_answers(client: str, server: RecordedServer, recording: None) -> None:
    """Without any fault."""
    assert answers(server, client) == EXPECTED
    assert errors.counts() == {}


@pytest.mark.parametrize(("owner", "name"), [seam[1:] for seam in SEAMS], ids=[s[0] for s in SEAMS])
def test_a_fault_costs_the_record_only(
    owner: Any,
    name: str,
    server: RecordedServer,
    recording: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever raises."""

    def boom(*_: Any, **__: Any) -> Any:
        raise Boom

    monkeypatch.setattr(owner, name, boom)
    for client in ("httpx", "httpx, streamed", "httpx, asynchronous", "requests, streamed"):
        assert answers(server, client) == EXPECTED, client
    for client in ("urllib3", "http.client", "aiohttp", "aiohttp, streamed"):
        assert answers(server, client) == EXPECTED, client
