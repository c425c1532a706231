"""A recorded reply is given again in the form of its API: recorded once more, it is the same."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

import turnspan
from support.recorded_server import RecordedAnswer, RecordedServer
from support.recordings import Exchange, exchanges
from support.reruns import land, rerunning
from support.shared import enough
from turnspan import config, semconv
from turnspan.dialects import anthropic_messages
from turnspan.testing import record
from turnspan.wire.formats import format_of, is_streamed
from turnspan.wire.operations import FREE, operation_of
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_clickhouse.store.client import Store
from turnspan_records.again.rerun.recording import load_recording

pytestmark = pytest.mark.parametrize("module_store", ["embedded"], indirect=True)

SAME = (
    *("operation", "request_model", "response_model", "response_id", "finish_reasons", "stream"),
    *("response_text", "response_thoughts", "tool_calls", "error_type", "error_message"),
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
    *("reasoning_tokens", "input_messages", "output_messages"),
)
SHARE = int(os.environ.get("TURNSPAN_SHARE", str(enough(40, 4))))
"""Of so many recorded exchanges one is played, 1: all."""


@pytest.fixture(autouse=True)
def _as_sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Secrets stay in the texts, so that these are compared."""
    monkeypatch.setenv("TURNSPAN_MASK_SECRETS", "false")
    before = config.active()
    config.activate(config.resolve({}))
    yield
    config.activate(before)


@contextlib.contextmanager
def _only_http() -> Generator[None]:
    turnspan.instrument(only=["http"])
    try:
        yield
    finally:
        turnspan.uninstrument()


def _asked(url: str, exchange: Exchange, headers: dict[str, str], session: str) -> None:
    parts = urlsplit(exchange.url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    headers = {"content-type": "application/json", **headers}
    with turnspan.session(session):
        httpx.post(url + target, content=exchange.request, headers=headers, timeout=30)


def _form(exchange: Exchange) -> tuple[Any, ...]:
    """What a reply's bytes are made by: the API's format, whole or streamed; empty for Claude's
    completions of texts, which its format does not have."""
    path, body = urlsplit(exchange.url).path, exchange.sent() or {}
    form = format_of(semconv.OP_CHAT, "", path, body)
    if form.endpoint.dialect == anthropic_messages.NAME and "prompt" in body:
        return ()
    return (
        form.endpoint.dialect,
        form.language,
        form.written_events,
        is_streamed(form, path, body),
    )


def _is_compared(exchange: Exchange) -> bool:
    parts = urlsplit(exchange.url)
    operation = operation_of("POST", parts.path, parts.hostname or "")
    talks = operation in (semconv.OP_CHAT, "text_completion", "generate_content")
    return exchange.method == "POST" and operation != FREE and talks


def test_every_recorded_exchange_is_given_again(module_store: Store) -> None:
    """Of every provider in the data, whole, streamed and failed: model, ids, tokens, finish
    reasons, texts, tool calls, reasoning and their order. Of each API at least one, exactly."""
    compared = [one for one in exchanges() if _is_compared(one)]
    shortest = sorted(compared, key=lambda one: -len(one.response))
    of_each = {form: one.name for one in shortest if one.status < 400 and (form := _form(one))}
    chosen = [one for one in compared if one.name in of_each.values()]
    chosen += [one for one in compared[::SHARE] if one not in chosen]
    differing: dict[str, Any] = {}
    with RecordedServer() as server, record(instrument=False) as found, _only_http():
        for number, one in enumerate(chosen):
            server.answer = RecordedAnswer(one.status, one.content_type, one.response)
            _asked(server.url, one, {}, f"first-{number}")
    first = _by_session(found)
    project = land(module_store, found)
    with record(instrument=False) as again, _only_http():
        for number, one in enumerate(chosen):
            if f"first-{number}" in first:
                origin = f"https://{urlsplit(one.url).hostname}:443"
                with rerunning(load_recording(module_store, project, f"first-{number}")) as (
                    url,
                    headers,
                    _,
                ):
                    headers = {**headers, "x-turnspan-origin": origin}
                    _asked(url, one, headers, f"again-{number}")
    second = _by_session(again)
    for number, one in enumerate(chosen):
        before, after = first.get(f"first-{number}"), second.get(f"again-{number}")
        if before is not None:
            names = [n for n in SAME if after is None or getattr(before, n) != getattr(after, n)]
            if names:
                differing[one.name] = names
    assert first
    assert len(differing) <= max(1, len(first) // 100), differing
    for name in of_each.values():  # Gemini may not say which model answered
        assert differing.get(name, ["response_model"]) == ["response_model"], differing[name]


def _by_session(found: Any) -> dict[str, LlmCall]:
    return {row.session_id: row for row in found.rows(LlmCall)}
