"""What the landing side remembers of conversations is bounded, and how it lets others run."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult

from turnspan import config, pace
from turnspan.content.ledger import InferenceContent, ledger
from turnspan.content.redact import Redactor
from turnspan_clickhouse import ClickHouseSpanExporter, exporter
from turnspan_clickhouse.batch import Batch
from turnspan_clickhouse.dsn import parse
from turnspan_clickhouse.normalise import landing
from turnspan_clickhouse.normalise.landing import Lander
from turnspan_clickhouse.records import Message
from turnspan_clickhouse.spool import Spool


class Said(dict[str, Any]):
    """A message whose end can be seen."""


def land(lander: Lander, scope: str, raw: list[Any]) -> tuple[list[bytes], int]:
    """A request's hashes, and how many of its messages are new."""
    batch = Batch("test", 1)
    hashes = lander.messages(
        raw,
        dialect="openai.chat",
        project="shop",
        scope=scope,
        when=1,
        redactor=Redactor(config.resolve({}, {})),
        batch=batch,
    )
    return hashes, len(batch.rows.get(Message, []))


def test_the_oldest_conversations_are_let_go_when_all_are_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their memory is the application's again; what has landed of them does not land again."""
    monkeypatch.setattr(landing, "MAX_HELD", 10_000)
    lander = Lander()
    old = Said(role="user", content="old " * 1_000)
    seen = weakref.ref(old)
    first, new = land(lander, "one", [old])
    assert new == 1
    text = old["content"]
    del old
    gc.collect()
    assert seen() is not None

    land(lander, "two", [{"role": "user", "content": [{"type": "text", "text": "new " * 2_000}]}])
    gc.collect()

    assert seen() is None
    again, new = land(lander, "one", [Said(role="user", content=text)])
    assert (again, new) == (first, 0)


def test_one_conversation_counts_once_however_often_it_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A growing history, and branches of it, hold no more than the longest of them."""
    monkeypatch.setattr(landing, "MAX_HELD", 10_000)
    lander = Lander()
    other = Said(role="user", content="x" * 100)
    seen = weakref.ref(other)
    land(lander, "other", [other])
    del other
    history: list[Any] = [{"role": "system", "content": "s" * 4_000}]
    for number in range(20):
        history.append({"role": "user", "content": f"{number}" + "u" * 200})
        land(lander, "one", list(history))
        land(lander, "one", [*history[:1], {"role": "user", "content": f"branch {number}"}])
    gc.collect()

    assert seen() is not None


def test_a_worker_gives_way_only_where_it_was_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps of landing are also those of a reader, which nobody waits for."""
    paused: list[float] = []
    monkeypatch.setattr(pace, "SLICE", -1.0)
    monkeypatch.setattr("turnspan.pace.time.sleep", paused.append)

    pace.give_way()
    assert paused == []
    with pace.giving_way():
        pace.give_way()
        pace.give_way()
    with pace.giving_way(False):
        pace.give_way()
    pace.give_way()
    assert paused == [pace.PAUSE] * 2


def test_much_content_is_written_in_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A block is made without giving way, so it must not be of everything that is queued."""
    monkeypatch.setattr(exporter, "MAX_CONTENT", 1_000)
    store = f"chdb://{tmp_path}"
    landing_side = ClickHouseSpanExporter(store, project="shop")
    provider = TracerProvider()
    spans: list[Any] = []
    for number in range(3):
        span: Any = provider.get_tracer("turnspan.openai").start_span(
            "chat", attributes={"gen_ai.operation.name": "chat"}
        )
        identity = span.get_span_context()
        request = {"messages": [{"role": "user", "content": f"{number} " * 600}]}
        content = InferenceContent("openai.chat", request)
        ledger.put(identity.trace_id, identity.span_id, content)
        span.end()
        spans.append(span)
    try:
        assert landing_side.export(spans) is SpanExportResult.SUCCESS
        segments = Spool(parse(store).spool).segments()
    finally:
        landing_side.shutdown()

    assert [s.rows() for s in segments if s.table == "message"] == [1, 1, 1]
    assert [s.rows() for s in segments if s.table == "llm_call"] == [1, 1, 1]
    assert landing_side.dropped() == {}
