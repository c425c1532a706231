"""Recorded traffic of OpenAI and of servers that speak its language, through the real SDK.

With Turnspan and without it the application sees the same; and the records are what the recorded
bodies say, read here without the product's code (``support.openai_facts``).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan

import turnspan
from support.openai_facts import Facts, facts_of, kind_of, streamed
from support.openai_replay import Outcome, Replayer
from support.recordings import Exchange, exchanges
from support.replay_table import note
from support.sealing import rebuild_record
from turnspan import config
from turnspan.content.media import digest_media
from turnspan.tracing.state import default
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall, MessageRow

KINDS = ("chat", "responses", "retrieve", "embeddings", "completions")
_FIELDS = {"chat": "messages", "responses": "input", "embeddings": "input", "completions": "prompt"}


@pytest.fixture(autouse=True)
def _unmasked(settings: None) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Records are compared to the letter, secrets included."""
    config.activate(config.resolve({"mask_secrets": False}))
    yield


def of_kind(kind: str) -> list[Exchange]:
    """The recorded calls of a kind."""
    found = [exchange for exchange in exchanges() if kind_of(exchange) == kind]
    assert found
    return found


def recorded(spans: Any) -> tuple[ReadableSpan, Batch]:
    """The only span, and its rows."""
    (span,) = spans.all()
    batch = Batch("test", 1)
    Normaliser(default.content).span(span, batch)
    spans.exporter.clear()
    return span, batch


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "way", "share"),
    [
        *((kind, "sync", 6) for kind in KINDS if kind != "responses"),
        ("responses", "async", 6),
        *(
            pytest.param(kind, way, 1, marks=pytest.mark.release)
            for way in ("sync", "async")
            for kind in KINDS
        ),
    ],
)
def test_recorded_traffic(
    kind: str,
    way: str,
    share: int,
    spans: Any,
    loop: asyncio.AbstractEventLoop,
    request: pytest.FixtureRequest,
) -> None:
    """The application sees what it sees untraced; the records say what the bodies say. `make test`
    plays every sixth exchange."""
    of_this_kind = of_kind(kind)[::share]
    replayer = Replayer()
    wrong: list[str] = []

    def call(exchange: Exchange) -> Outcome:
        if way == "sync":
            return replayer.call(exchange)
        return loop.run_until_complete(replayer.acall(exchange))

    reasons = [why_not(replayer, exchange) for exchange in of_this_kind]
    able = [e for e, reason in zip(of_this_kind, reasons, strict=True) if not reason]
    turnspan.uninstrument()
    untraced = {exchange.name: call(exchange) for exchange in able}
    turnspan.instrument(tracer_provider=spans.provider)
    for exchange, reason in zip(of_this_kind, reasons, strict=True):
        result = reason
        if not reason:
            traced = call(exchange)
            differences = [
                *seen(untraced[exchange.name], traced),
                *differing(exchange, traced, spans),
            ]
            result = "FAILED" if differences else "passed"
            wrong += [f"{exchange.name}: {difference}" for difference in differences]
        label = f"{kind}{' streamed' if streamed(exchange) else ''}, {way}"
        note(request.config, exchange.provider, label, result)
    replayer.close()
    loop.run_until_complete(replayer.aclose())
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:40])


def why_not(replayer: Replayer, exchange: Exchange) -> str:
    """Why an exchange cannot be replayed; empty if it can."""
    if exchange.method == "POST" and exchange.sent() is None:
        return "the request's body was not recorded"
    return replayer.unsupported(exchange)


def seen(plain: Outcome, traced: Outcome) -> Iterator[str]:
    """Where the application sees something else with Turnspan."""
    if plain.objects != traced.objects:
        yield f"objects: {str(plain.objects)[-300:]} became {str(traced.objects)[-300:]}"
    if plain.error != traced.error:
        yield f"error: {plain.error} became {traced.error}"


def differing(exchange: Exchange, outcome: Outcome, spans: Any) -> Iterator[str]:
    """Where the record is not what the bodies say."""
    span, batch = recorded(spans)
    rows: list[Any] = batch.rows.get(LlmCall, [])
    if len(rows) != 1:
        yield f"{len(rows)} rows"
        return
    row: LlmCall = rows[0]
    if outcome.error is not None and exchange.status < 400:
        if not row.error_type:
            yield f"no error recorded of {outcome.error}"
        return
    expected = facts_of(exchange)
    found = read(row, span)
    for name, value in vars(expected).items():
        if getattr(found, name) != value:
            yield f"{name}: {value!r} expected, {getattr(found, name)!r} recorded"
    if kind_of(exchange) != "retrieve":
        yield from unsent(exchange, outcome.sent or {}, row, batch)


def read(row: LlmCall, span: ReadableSpan) -> Facts:
    """A row (and the few facts that only the span has) as facts."""
    calls: list[Any] = json.loads(row.tool_calls) if row.tool_calls else []
    attributes = dict(span.attributes or {})
    dimensions: Any = attributes.get("gen_ai.embeddings.dimension.count")
    return Facts(
        model=row.response_model,
        id=row.response_id,
        finish_reasons=row.finish_reasons,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        cache_read_tokens=row.cache_read_tokens,
        reasoning_tokens=row.reasoning_tokens,
        text=row.response_text,
        tool_calls=[(c["id"] or "", c["name"], c["arguments"]) for c in calls],
        error_type=row.error_type,
        dimensions=dimensions,
    )


def unsent(exchange: Exchange, sent: dict[str, Any], row: LlmCall, batch: Batch) -> Iterator[str]:
    """Where what was sent cannot be rebuilt from the records."""
    rows: list[Any] = batch.rows.get(MessageRow, [])
    known: dict[bytes, MessageRow] = {message.hash: message for message in rows}
    messages = [rebuilt(known[digest]) for digest in row.input_messages]
    given: Any = digest_media(sent.get(_FIELDS[kind_of(exchange)]))
    expected: list[Any] = given if type(given) is list else [given]  # pyright: ignore
    if messages not in (expected, [given]):
        yield f"messages: {str(expected)[:300]} expected, {str(messages)[:300]} recorded"
    parameters = json.loads(row.request_parameters)
    for key, value in sent.items():
        if key in ("stream_options", "tools", "instructions", _FIELDS[kind_of(exchange)]):
            continue
        if parameters.get(key) != digest_media(value):
            yield f"parameter {key}: {value!r} sent, {parameters.get(key)!r} recorded"
    if row.request_model != sent.get("model") and "/deployments/" not in exchange.url:
        yield f"model: {sent.get('model')!r} sent, {row.request_model!r} recorded"


def rebuilt(message: MessageRow) -> Any:
    """The provider's message of a record."""
    return rebuild_record(
        message.dialect, message.role, message.name, message.parts, message.source
    )
