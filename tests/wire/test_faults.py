"""A fault in any function of ours costs the record; the application gets the same answer.

Every function of the modules between an HTTP client and the span is made to raise, one at a time,
while each client gets an answer, a stream and a refusal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextvars import copy_context
from types import ModuleType
from typing import Any

import pytest

from support.model_replies import chat
from support.plain_clients import CLIENTS
from support.recorded_server import RecordedAnswer, RecordedServer
from support.representatives import few
from support.seams import boom, seams
from turnspan.patching import models_on_the_wire
from turnspan.runtime.guard import errors
from turnspan.wire import (
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
    unread_clients,
)

pytestmark = pytest.mark.tests_internal_errors

_MODULES: tuple[ModuleType, ...] = (
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
    unread_clients,
)
_OUTERMOST = {
    # The wrappers themselves, which call the client's function outside every guard.
    *("putrequest", "send", "getresponse", "asked", "connect", "started"),
    *(f"ReadAlong.{name}" for name in ("_read", "read", "read1", "readline", "readinto", "close")),
    *("SyncReadAlong.close", "AsyncReadAlong.aclose"),
    *(f"ReaderAlong.{name}" for name in ("read", "readany", "readline", "readuntil")),
    *(f"ReaderAlong.{name}" for name in ("readexactly", "readchunk", "read_nowait")),
    *(f"ReaderAlong.{name}" for name in ("iter_chunked", "iter_any", "iter_chunks")),
    # What is a guard and nothing else.
    *("Body.feed", "Body.finish", "ReaderAlong._self_note", "ReadAlong._note"),
    # What runs when patching, or at the end.
    *("patch", "watch_http_client", "remedy", "_read_along"),
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


SEAMS = seams(_MODULES, _OUTERMOST)


@pytest.fixture(scope="module")
def server() -> Iterator[RecordedServer]:
    """Answers each client alike."""
    with RecordedServer() as server:
        yield server


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
def test_each_client_gets_its_answers(
    client: str, server: RecordedServer, wire_recording: None
) -> None:
    """Without any fault."""
    assert answers(server, client) == EXPECTED
    assert errors.counts() == {}


@pytest.mark.parametrize("seam", few(SEAMS, SEAMS[::3]), ids=[s[0] for s in SEAMS])
def test_a_fault_costs_the_record_only(
    seam: tuple[str, Any, str],
    server: RecordedServer,
    wire_recording: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever raises; in `make test` every third."""
    _, owner, name = seam
    monkeypatch.setattr(owner, name, boom)
    for client in ("httpx", "httpx, streamed", "httpx, asynchronous", "requests, streamed"):
        assert answers(server, client) == EXPECTED, client
    for client in ("urllib3", "http.client", "aiohttp", "aiohttp, streamed"):
        assert answers(server, client) == EXPECTED, client
