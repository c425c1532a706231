"""Recorded traffic of Gemini's API through the real SDK's client: what is recorded is what the
bodies say, read here without the product's code, and every request is rebuilt."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from providers.conftest import Spans
from support import cassette_table
from support.exchanges import Exchange, exchanges
from support.google_sdk import errors, genai
from support.sealing import rebuild_record
from support.shared import enough
from turnspan import config
from turnspan.content.media import digest_media
from turnspan.testing import ModelServer
from turnspan.tracing.content_store import InferenceContent
from turnspan.tracing.state import default
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import Definition, LlmCall, MessageRow

_METHODS = ("generateContent", "streamGenerateContent")


def method_of(exchange: Exchange) -> str:
    """What a request asks for."""
    return exchange.url.partition("?")[0].rpartition(":")[2]


def bodies_of(exchange: Exchange) -> list[Any]:
    """The answers in a body: one, or those of a stream."""
    text = exchange.body.decode()
    if text.startswith("data:"):
        return [json.loads(line[5:]) for line in text.splitlines() if line.startswith("data:")]
    return [json.loads(text)]


def recorded() -> list[Exchange]:
    """Every recorded call whose bodies are JSON objects."""
    found: dict[tuple[str, int], Exchange] = {}
    for provider in ("gemini", "vertex", "google"):
        for each in exchanges(provider):
            if (
                method_of(each) in _METHODS
                and isinstance(each.request, dict)
                and "%24alt" not in each.url
            ):
                found[each.path, each.number] = each
    return list(found.values())


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_recorded_calls(
    mode: str, spans: Spans, server: ModelServer, loop: asyncio.AbstractEventLoop
) -> None:
    """One row each, field by field; the caller gets the body, or the SDK's error."""
    options: Any = {"base_url": server.url}
    google = genai.Client(api_key="k", http_options=options)
    before = config.active()
    config.activate(config.resolve({"mask_secrets": False}, {}))
    try:
        for exchange in recorded():
            replay(exchange, google._api_client, loop if mode == "async" else None, spans, server)
    finally:
        config.activate(before)
    assert len(recorded()) >= enough(130, 6)


def replay(
    exchange: Exchange,
    client: Any,
    loop: asyncio.AbstractEventLoop | None,
    spans: Spans,
    server: ModelServer,
) -> None:
    """Send a recorded request and answer it as recorded; then check the row."""
    bodies, streamed = bodies_of(exchange), method_of(exchange).startswith("stream")
    failed = exchange.status >= 400
    if streamed and not failed:
        server.stream(bodies)
    else:
        server.answer(bodies[0], exchange.status)
    spans.exporter.clear()
    model = exchange.url.partition("?")[0].rpartition("/")[2].partition(":")[0]
    path = f"models/{model}:{method_of(exchange)}" + ("?alt=sse" if streamed else "")
    asked = (client, path, exchange.request, streamed)
    try:
        seen = send(*asked) if loop is None else loop.run_until_complete(asend(*asked))
    except errors.APIError as error:
        assert failed, exchange.name
        assert error.code == exchange.status
        seen = bodies
    assert seen == bodies, exchange.name
    check(exchange, model, bodies, spans)
    kind = f"{'streamed ' if streamed else ''}content{', error' if failed else ''}"
    cassette_table.record("google", f"{kind} ({'sync' if loop is None else 'async'})", True)


def send(client: Any, path: str, body: dict[str, Any], streamed: bool) -> list[Any]:
    """As the SDK's own methods send."""
    if streamed:
        return [plain(chunk) for chunk in client.request_streamed("post", path, {**body}, None)]
    return [plain(client.request("post", path, {**body}, None))]


async def asend(client: Any, path: str, body: dict[str, Any], streamed: bool) -> list[Any]:
    """As its asynchronous methods send."""
    if streamed:
        stream = await client.async_request_streamed("post", path, {**body}, None)
        return [plain(chunk) async for chunk in stream]
    return [plain(await client.async_request("post", path, {**body}, None))]


def plain(answer: Any) -> Any:
    """The body that an answer holds: text in newer versions, parsed in older ones."""
    body = getattr(answer, "body", answer)
    return json.loads(body) if isinstance(body, str) else body


def check(exchange: Exchange, model: str, bodies: list[Any], spans: Spans) -> None:
    """The row that lands, and the messages it names."""
    (span,) = spans.all()
    context = span.context
    assert context is not None
    kept = default.content.take(context.trace_id, context.span_id)
    assert isinstance(kept, InferenceContent)
    assert kept.request == exchange.request, exchange.name
    default.content.put(context.trace_id, context.span_id, kept)
    batch = Batch("test", 1)
    Normaliser(default.content, "test").span(span, batch)
    (row,) = batch.rows[LlmCall]
    assert isinstance(row, LlmCall)
    assert row.request_model == model
    if exchange.status >= 400:
        assert row.error_type == bodies[0]["error"]["status"]
        return
    usage: dict[str, Any] = {}
    for body in bodies:
        usage.update(body.get("usageMetadata") or {})
    said: list[Any] = []
    for body in bodies:
        candidates: list[Any] = body.get("candidates") or []
        for candidate in candidates[:1]:
            content: Any = candidate.get("content")
            said += content.get("parts", []) if content else []
    texts: list[str] = [p["text"] for p in said if "text" in p and not p.get("thought")]
    calls: list[Any] = [p["functionCall"] for p in said if "functionCall" in p]
    assert row.response_text == "".join(texts), exchange.name
    assert [c["name"] for c in json.loads(row.tool_calls or "[]")] == [c["name"] for c in calls]
    assert [c["arguments"] for c in json.loads(row.tool_calls or "[]")] == [
        c.get("args") for c in calls
    ]
    count = usage.get("promptTokenCount")
    assert row.input_tokens == (
        None if count is None else count + usage.get("toolUsePromptTokenCount", 0)
    )
    count = usage.get("candidatesTokenCount", usage.get("thoughtsTokenCount"))
    both = usage.get("candidatesTokenCount", 0) + usage.get("thoughtsTokenCount", 0)
    assert row.output_tokens == (None if count is None else both), exchange.name
    assert row.cache_read_tokens == usage.get("cachedContentTokenCount")
    assert row.response_id == next((b["responseId"] for b in bodies if b.get("responseId")), "")
    assert row.response_model == next(
        (b["modelVersion"] for b in bodies if "modelVersion" in b), ""
    )
    rebuilt(exchange, row, batch)


def rebuilt(exchange: Exchange, row: LlmCall, batch: Batch) -> None:
    """The request's contents, system instruction, tools and parameters, from their records."""
    sent = exchange.request
    messages = {m.hash: m for m in batch.rows.get(MessageRow, []) if isinstance(m, MessageRow)}
    bodies = {d.hash: d for d in batch.rows.get(Definition, []) if isinstance(d, Definition)}
    found = [
        rebuild_record(m.dialect, m.role, m.name, m.parts, m.source)
        for m in (messages[digest] for digest in row.input_messages)
    ]
    assert found == digest_media(sent.get("contents", [])), exchange.name
    if sent.get("systemInstruction"):
        assert json.loads(bodies[row.system_prompt].source) == sent["systemInstruction"]
    if sent.get("tools"):
        kept = bodies[row.tool_definitions]
        assert json.loads(kept.source or kept.body) == sent["tools"]
    taken: set[str] = {"contents", "tools"} | (
        {"systemInstruction"} if sent.get("systemInstruction") else set()
    )
    parameters = {k: v for k, v in sent.items() if k not in taken}
    assert json.loads(row.request_parameters or "{}") == digest_media(parameters), exchange.name
