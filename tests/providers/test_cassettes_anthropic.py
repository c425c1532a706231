"""Recorded traffic of Anthropic's API through the real SDK: the application sees no difference,
and the records say what the recorded bodies say (read in ``support.anthropic_bodies``)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import orjson
import pytest

import turnspan
from providers.conftest import Spans
from support import anthropic_replay, cassette_table
from support.anthropic_bodies import Said, said
from support.anthropic_replay import View, has_helper, is_beta
from support.exchanges import Exchange, exchanges
from support.sealing import rebuild_record
from support.shared import enough
from turnspan import config
from turnspan.content.media import digest_media
from turnspan.tracing.content_store import InferenceContent
from turnspan.tracing.state import default
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import Definition, LlmCall, MessageRow

HOST = "https://api.anthropic.com"
ENDPOINT = f"{HOST}/v1/messages"

Replay = Callable[[Exchange], View]
AsyncReplay = Callable[[Exchange], Coroutine[Any, Any, View]]


def recorded() -> list[Exchange]:
    """Every recorded call of the messages API."""
    return [e for e in exchanges("anthropic") if e.url.partition("?")[0] == ENDPOINT]


class Replays:
    """The ways to replay an exchange, and what each shows without Turnspan."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.create: dict[str, Replay] = {
            "sync": anthropic_replay.call,
            "async": self._run(anthropic_replay.acall),
        }
        self.helper: dict[str, Replay] = {
            "sync": anthropic_replay.helped,
            "async": self._run(anthropic_replay.ahelped),
        }
        self._plain = {
            (id(exchange), replay): replay(exchange)
            for exchange in recorded()
            for replay in self.ways(exchange)
        }

    def ways(self, exchange: Exchange) -> list[Replay]:
        """Every way to replay an exchange."""
        helped = exchange.request.get("stream") and has_helper(exchange)
        return [*self.create.values(), *(self.helper.values() if helped else ())]

    def plain(self, exchange: Exchange, replay: Replay) -> View:
        """What the application saw while nothing was instrumented."""
        return self._plain[id(exchange), replay]

    def _run(self, replay: AsyncReplay) -> Replay:
        return lambda exchange: self._loop.run_until_complete(replay(exchange))


@pytest.fixture(scope="module")
def replays() -> Iterator[Replays]:
    """Replayed without Turnspan first, once: to put the wrappers on and off each time is slow."""
    loop = asyncio.new_event_loop()
    yield Replays(loop)
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


@pytest.fixture(scope="module")
def recorder(replays: Replays) -> Iterator[Spans]:
    """The SDK instrumented; nothing is masked, so that records can be compared with bodies."""
    before = config.active()
    config.activate(config.resolve({"mask_secrets": False}, {}))
    spans = Spans()
    default.content.attach()
    turnspan.instrument(tracer_provider=spans.provider)
    yield spans
    turnspan.uninstrument()
    default.content.detach()
    spans.provider.shutdown()
    config.activate(before)


@pytest.fixture
def traced(recorder: Spans) -> Iterator[Spans]:
    """No spans and no content from the test before; none left behind."""
    recorder.exporter.clear()
    yield recorder
    assert len(default.content) == 0


def parametrized(found: list[Exchange]) -> pytest.MarkDecorator:
    """One test an exchange."""
    return pytest.mark.parametrize("exchange", found, ids=[e.name for e in found])


@pytest.mark.parametrize("mode", ["sync", "async"])
@parametrized(recorded())
def test_create(mode: str, exchange: Exchange, replays: Replays, traced: Spans) -> None:
    """``create`` as it was recorded, whole or streamed, in the namespace it was recorded in."""
    compare(exchange, replays, traced, mode, helper=False)


@pytest.mark.parametrize("mode", ["sync", "async"])
@parametrized([e for e in recorded() if e.request.get("stream") and has_helper(e)])
def test_stream_helper(mode: str, exchange: Exchange, replays: Replays, traced: Spans) -> None:
    """The same streams through the SDK's ``stream`` helper, which builds on ``create``."""
    compare(exchange, replays, traced, mode, helper=True)


def test_everything_recorded_is_replayed() -> None:
    """No call of the messages API is left out; what else was recorded is in the table, with why."""
    others = [e for e in exchanges("anthropic") if e.url.startswith(HOST) and e not in recorded()]
    reasons = {
        "/v1/chat/completions": "OpenAI's API at Anthropic: of the OpenAI SDK",
        "/v1/messages/count_tokens": "no inference; left alone, see test_anthropic",
        "/v1/files": "no inference",
    }
    for exchange in others:
        path = exchange.url.removeprefix(HOST).partition("?")[0]
        (reason,) = (why for start, why in reasons.items() if path.startswith(start))
        cassette_table.record("anthropic", "other endpoints", False, f"{path[:24]}: {reason}")
    assert len(recorded()) >= enough(363, 20)


def kind_of(exchange: Exchange, mode: str, helper: bool) -> str:
    """The line of the table that an exchange counts in."""
    kind = "beta messages" if is_beta(exchange) else "messages"
    if helper:
        kind += ", stream helper"
    elif exchange.request.get("stream"):
        kind += ", streamed"
    if exchange.status >= 400:
        kind += ", error"
    return f"{kind} ({mode})"


def compare(exchange: Exchange, replays: Replays, spans: Spans, mode: str, helper: bool) -> None:
    """Replay with Turnspan; compare with what is seen without, then check what is recorded."""
    kind = kind_of(exchange, mode, helper)
    replay = (replays.helper if helper else replays.create)[mode]
    try:
        traced, plain = replay(exchange), replays.plain(exchange, replay)
        assert traced.seen == plain.seen
        assert traced.sent == plain.sent
        if not helper:
            assert traced.sent == [exchange.request]
        check_records(exchange, spans, traced.sent[0])
    except BaseException as error:
        cassette_table.record("anthropic", kind, False, f"{exchange.name}: {type(error).__name__}")
        raise
    cassette_table.record("anthropic", kind, True)


def check_records(exchange: Exchange, spans: Spans, sent: dict[str, Any]) -> None:
    """One span and the rows that land of it, field by field."""
    (span,) = spans.all()
    context = span.context
    assert context is not None
    content = default.content.take(context.trace_id, context.span_id)
    assert isinstance(content, InferenceContent)
    assert content.request == sent
    default.content.put(context.trace_id, context.span_id, content)
    batch = Batch("test", 1)
    Normaliser(default.content, "test").span(span, batch)
    (row,) = batch.rows[LlmCall]
    assert isinstance(row, LlmCall)
    reply = said(exchange)
    assert_row(row, sent, reply)
    assert_content(row, batch, sent, reply)


def assert_row(row: LlmCall, sent: dict[str, Any], reply: Said) -> None:
    """The columns that need no look at other tables."""
    message, stream = reply.message, bool(sent.get("stream"))
    expected = {
        "provider": "anthropic",
        "operation": "chat",
        "request_model": sent["model"],
        "stream": stream,
        "tries": 1,
        "response_id": message.get("id", ""),
        "response_model": message.get("model", ""),
        "finish_reasons": [message["stop_reason"]] if message.get("stop_reason") else [],
        "response_text": reply.text,
        "response_thoughts": reply.thoughts,
        "error_type": reply.error.get("type", ""),
        **reply.tokens(),
    }
    assert {name: getattr(row, name) for name in expected} == expected
    assert orjson.loads(row.tool_calls or "[]") == reply.tool_calls
    assert str(reply.error.get("message", "")) in row.error_message
    failed = bool(reply.error)
    assert row.stream_outcome == (("error" if failed else "complete") if stream else "")
    assert (row.time_to_first_chunk is not None) == (stream and bool(message))
    assert row.cost_usd is None or row.cost_usd > 0


def assert_content(row: LlmCall, batch: Batch, sent: dict[str, Any], reply: Said) -> None:
    """Messages, system prompt and tools, rebuilt from their records."""
    messages = {m.hash: m for m in batch.rows.get(MessageRow, []) if isinstance(m, MessageRow)}
    bodies = {d.hash: d for d in batch.rows.get(Definition, []) if isinstance(d, Definition)}

    def rebuilt(digest: bytes) -> Any:
        m = messages[digest]
        return rebuild_record(m.dialect, m.role, m.name, m.parts, m.source)

    assert [rebuilt(digest) for digest in row.input_messages] == digest_media(sent["messages"])
    outputs = [rebuilt(digest) for digest in row.output_messages]
    if reply.message:
        (output,) = outputs
        assert output["role"] == "assistant"
        assert output["content"] == digest_media(reply.message["content"])
    else:
        assert outputs == []
    system, tools = sent.get("system"), sent.get("tools")
    if system:
        kept = bodies[row.system_prompt]
        assert (json.loads(kept.source) if kept.source else kept.body) == system
    if tools:
        kept = bodies[row.tool_definitions]
        assert json.loads(kept.source or kept.body) == tools
    stored = {name for name in ("messages", "system", "tools") if sent.get(name)}
    parameters = {k: v for k, v in sent.items() if k not in stored}  # what is empty stays there
    assert json.loads(row.request_parameters) == parameters
