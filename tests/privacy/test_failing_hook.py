"""A redact hook that fails: markers everywhere, never the raw text, and the figures still land."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import turnspan
from support.canary import every_row
from turnspan import config
from turnspan.pipeline.redacting_exporter import RedactingExporter
from turnspan.redaction.redactor import FAILED, Redactor
from turnspan.runtime.guard import errors
from turnspan.tracing.state import default
from turnspan_clickhouse import ClickHouseSpanExporter
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

RAW = "the raw words"


def raising(text: str, where: str) -> str:
    """A hook with a bug, whose complaint quotes what it was given."""
    raise RuntimeError(f"cannot mask {text!r}")


def say(where: str) -> str:
    """A text that must never be seen."""
    return f"{RAW} of the {where}"


@turnspan.tool
def look(query: Any) -> dict[str, str]:
    """A tool with raw words in and out."""
    return {"found": say("result"), say("key"): "x"}


@turnspan.agent("helper")
def helper(message: str) -> str:
    """A turn with a call and a tool."""
    messages = [{"role": "user", "content": say("prompt")}]
    with turnspan.inference(
        provider="openai", model="gpt-4o", system=say("system"), messages=messages
    ) as call:
        call.response(
            text=say("reply"), input_tokens=1_000, output_tokens=100, finish_reason="stop"
        )
    look({"q": say("argument")})
    turnspan.current_turn().set(target=say("target"))
    return say("answer")


@pytest.mark.with_schema
@pytest.mark.usefixtures("kept_engine")
@pytest.mark.tests_internal_errors
def test_a_failing_hook_costs_the_words_not_the_figures(
    embedded_dsn: Dsn, caplog: pytest.LogCaptureFixture
) -> None:
    """No raw word in any row, span or log line; tokens, cost, latency and stop reason land."""
    before = config.active()
    config.activate(config.Settings(redact=raising))
    exporter = ClickHouseSpanExporter(str(embedded_dsn))
    plain = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    provider.add_span_processor(SimpleSpanProcessor(RedactingExporter(plain)))
    default.provider = provider
    try:
        with (
            caplog.at_level(logging.DEBUG),
            turnspan.session(say("session")),
            pytest.raises(ValueError, match=RAW),
            turnspan.agent("outer"),
        ):
            helper(say("user message"))
            raise ValueError(say("error"))
        exporter.shutdown()
        with open_store(embedded_dsn) as store:
            migrate(store)
        ship(embedded_dsn, deadline=time.monotonic() + 30)
        with open_store(embedded_dsn) as store:
            rows = every_row(store)
            call = store.query(
                "SELECT input_tokens, output_tokens, toFloat64(cost_usd) AS cost,"
                " duration > 0 AS took,"
                " operation, finish_reasons, response_text FROM llm_call"
            ).dicts()
            turns = store.query("SELECT stop_reason FROM turn_summary ORDER BY start_time").rows
    finally:
        config.activate(before)
        default.provider = None
    texts = {
        **rows,
        "log": caplog.text,
        "spans": "".join(_json(s) for s in plain.get_finished_spans()),
    }
    assert {place for place, text in texts.items() if RAW in text} == set()
    assert FAILED in rows["message"]
    assert call == [
        {
            "input_tokens": 1_000,
            "output_tokens": 100,
            "cost": pytest.approx(0.0035),
            "took": True,
            "operation": "chat",
            "finish_reasons": ["stop"],
            "response_text": FAILED,
        }
    ]
    assert [row[0] for row in turns] == ["error", "completed"]
    assert sum(n for place, n in errors.counts().items() if place.startswith("redact")) > 5
    assert "cannot mask '" not in caplog.text


def _json(span: ReadableSpan) -> str:
    return str(span.to_json())


def test_ordinary_words_are_untouched() -> None:
    """Talking about secrets is no secret."""
    redactor = Redactor(config.Settings())
    for text in (
        "What does my social security number say about me? Is my password safe?",
        "Bearer of good news; the token count is 1234567890123456",
        "the api_key parameter, e.g. sk-..., goes into the Authorization header",
        "4111 ways to call +1 555 0100 about invoice 20260101-000042",
    ):
        assert redactor.text(text, "input") == text
        assert redactor.value({"content": text}, "input") == {"content": text}


@pytest.mark.tests_internal_errors
def test_the_log_says_what_failed_without_what_it_failed_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An internal error's message is redacted, and left out where content is not recorded."""
    before = config.active()
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    try:
        for place, capture in (("one", True), ("two", False)):
            config.activate(config.Settings(capture_content=capture))
            errors.record(place, ValueError(f"{secret} and words"))
    finally:
        config.activate(before)
    assert secret not in caplog.text
    assert caplog.text.count("and words") == 1
    assert caplog.text.count("ValueError") == 2
