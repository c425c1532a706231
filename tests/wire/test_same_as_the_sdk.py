"""Recorded traffic sent by plain HTTP clients lands as it does by the provider's own SDK."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import anthropic
import openai
import pytest

import turnspan
from support import gemini_facts
from support.anthropic_replay import sdk_method as anthropic_method
from support.exchanges import exchanges as anthropic_exchanges
from support.google_sdk import genai
from support.openai_facts import kind_of, streamed
from support.openai_replay import sdk_method as openai_method
from support.plain_clients import CLIENTS
from support.recorded_server import ReceivedRequest, RecordedAnswer, RecordedServer
from support.recordings import exchanges as openai_exchanges
from support.representatives import few
from turnspan import config
from turnspan.content.json_codec import WRITING
from turnspan.testing import record
from turnspan_clickhouse.rows.tables import Definition, LlmCall, MessageRow

pytestmark = [
    pytest.mark.large_data,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning"),
]

_OF_ITS_OWN = {
    *("trace_id", "span_id", "parent_span_id", "turn_id", "session_id", "start_time", "duration"),
    *("time_to_first_chunk", "scope_name", "input_messages", "output_messages", "system_prompt"),
    *("tool_definitions", "error_message", "attributes", "written_at", "expires_at"),
}
"""Columns that differ between any two calls, or are compared by what they stand for."""
_NAMES = {"server.port", "turnspan.tries"}


SHARE = int(os.environ.get("TURNSPAN_SHARE", "10"))
"""Of so many exchanges one is played, 1: all, in some minutes."""

E = TypeVar("E")


def of_share(exchanges: list[E]) -> list[tuple[int, E]]:
    """Those that are played, each with a number that chooses client and pieces."""
    return list(enumerate(exchanges[::SHARE]))


@pytest.fixture(autouse=True)
def _as_sent() -> Iterator[None]:
    """What is asked of a stream is what the application asks; secrets are compared, too."""
    before = config.active()
    config.activate(config.resolve({"mask_secrets": False, "request_stream_usage": False}))
    yield
    config.activate(before)


@pytest.fixture
def server() -> Iterator[RecordedServer]:
    """Answers with what was recorded."""
    with RecordedServer() as server:
        yield server


def landed(do: Callable[[], Any], only: str) -> list[dict[str, Any]]:
    """The calls that are recorded of this, as what they say."""
    with record(instrument=False) as recorded:
        turnspan.instrument(only=[only])
        try:
            do()
        finally:
            turnspan.uninstrument()
        messages = {m.hash: (m.role, _plain(m.parts)) for m in recorded.rows(MessageRow)}
        texts = {d.hash: d.body for d in recorded.rows(Definition)}
        return [_facts(row, messages, texts) for row in recorded.rows(LlmCall)]


def _plain(parts: str) -> list[Any]:
    """A message's parts without how exactly its JSON was written: the SDK writes it anew, its
    fields in an order of its own."""
    said = [{k: v for k, v in part.items() if k not in WRITING} for part in json.loads(parts)]
    return sorted(said, key=lambda part: str(part["type"]))


def _facts(row: LlmCall, messages: dict[bytes, Any], texts: dict[bytes, str]) -> dict[str, Any]:
    columns = {field.name for field in dataclasses.fields(LlmCall)} - _OF_ITS_OWN
    found: dict[str, Any] = {name: getattr(row, name) for name in sorted(columns)}
    for name in ("input_messages", "output_messages"):
        found[name] = [messages.get(digest) for digest in getattr(row, name)]
    for name in ("system_prompt", "tool_definitions"):
        found[name] = texts.get(getattr(row, name))
    attributes: Any = row.attributes
    pairs = attributes.texts() if hasattr(attributes, "texts") else dict(attributes)
    found["attributes"] = {k: v for k, v in pairs.items() if k not in _NAMES}
    return found


def compare(
    server: RecordedServer, name: str, number: int, sdk: Callable[[], Any], library: str
) -> list[str]:
    """Where the records of one exchange differ: by the SDK, and by one of the plain clients."""
    sent = len(server.received)
    by_sdk = landed(lambda: _quietly(sdk), library)
    if len(server.received) == sent:
        return []  # the SDK has no words for it
    request: ReceivedRequest = server.received[-1]
    client = list(CLIENTS)[number % len(CLIENTS)]
    headers = {"content-type": "application/json", "accept-encoding": "gzip"}
    if client in ("urllib", "http.client"):
        headers["accept-encoding"] = "identity"
    answers: list[tuple[int, bytes]] = []

    def send() -> None:
        answers.append(CLIENTS[client](server.url + request.path, request.body, headers))

    by_wire = landed(send, "http")
    wrong: list[str] = []
    if answers != [(server.answer.status, server.answer.body)]:
        wrong.append(f"{name}, {client}: the application got {str(answers)[:200]}")
    if len(by_sdk) != len(by_wire):
        return [*wrong, f"{name}, {client}: {len(by_sdk)} and {len(by_wire)} rows"]
    for ours, theirs in zip(by_wire, by_sdk, strict=True):
        wrong += [
            f"{name}, {client}: {key}: {str(ours[key])[:3000]} and not {str(theirs[key])[:3000]}"
            for key in theirs
            if ours[key] != theirs[key]
        ]
    return wrong


def _quietly(call: Callable[[], Any]) -> None:
    with suppress(
        openai.OpenAIError, anthropic.APIError, genai.errors.APIError, ValueError, TypeError
    ):
        call()


def _drained(method: Callable[..., Any], arguments: dict[str, Any], streams: bool) -> None:
    """Make a call, and read its stream to the end."""
    result = method(**arguments)
    if streams:
        list(result)


def _by_name(owner: Any, name: str, **arguments: Any) -> Any:
    """Call a method as it is now, wrapped or not."""
    return getattr(owner, name)(**arguments)


def _answer(server: RecordedServer, number: int, status: int, kind: str, body: bytes) -> None:
    piece = (0, 200, 7)[number % 3] if len(body) < 50_000 else 8_000
    server.answer = RecordedAnswer(status, kind, body, piece, packed=number % 2 == 0)


KINDS = ("chat", "responses", "embeddings", "completions")


@pytest.mark.parametrize("kind", few(KINDS, ["chat", "responses"]))
def test_openai(kind: str, server: RecordedServer) -> None:
    """Every call that was recorded of OpenAI's API, or of a server that speaks it."""
    wrong: list[str] = []
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0)
    of_kind = [e for e in openai_exchanges() if kind_of(e) == kind and e.sent() is not None]
    assert of_kind
    for number, exchange in of_share(of_kind):
        _answer(server, number, exchange.status, exchange.content_type, exchange.response)
        method, arguments = openai_method(client, exchange)
        call = partial(_drained, method, arguments, streamed(exchange))
        wrong += compare(server, exchange.name, number, call, "openai")
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:40])


def test_anthropic(server: RecordedServer) -> None:
    """Every call that was recorded of Anthropic's API."""
    wrong: list[str] = []
    client = anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0)
    calls = [
        e
        for e in anthropic_exchanges("anthropic")
        if e.url.partition("?")[0].endswith("/v1/messages")
    ]
    assert calls
    for number, exchange in of_share(calls):
        kind = (
            "application/json" if exchange.body.lstrip().startswith(b"{") else "text/event-stream"
        )
        _answer(server, number, exchange.status, kind, exchange.body)
        method, arguments = anthropic_method(client, exchange, "create")
        call = partial(_drained, method, arguments, bool(exchange.request.get("stream")))
        wrong += compare(server, exchange.name, number, call, "anthropic")
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:40])


def test_gemini(server: RecordedServer) -> None:
    """Every exchange that was recorded of Gemini's API, streamed and not."""
    wrong: list[str] = []
    options: Any = {"base_url": server.url}
    gemini = genai.Client(api_key="k", http_options=options)
    client = gemini._api_client
    calls = [
        e
        for e in gemini_facts.exchanges()
        if e.asks in gemini_facts.CALLS - {"predict"} and e.method == "POST"
    ]
    assert calls
    for number, exchange in of_share(calls):
        path = f"models/{exchange.model}:{exchange.asks}"
        streams = exchange.asks == "streamGenerateContent"
        if exchange.streamed:
            body = b"".join(b"data: %b\n\n" % json.dumps(a).encode() for a in exchange.answers)
            _answer(server, number, exchange.status, "text/event-stream", body)
        else:
            body = json.dumps(exchange.answers[0]).encode() if exchange.answers else b""
            _answer(server, number, exchange.status, "application/json", body)
        path += "?alt=sse" * streams
        method = partial(_by_name, client, "request_streamed" if streams else "request")
        sent = {"request_dict": {**exchange.request}, "http_options": None}
        call = partial(_drained, method, {"http_method": "post", "path": path, **sent}, streams)
        wrong += compare(server, exchange.name, number, call, "google_genai")
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:40])
