"""What the landing side remembers of conversations is bounded, and how it lets others run."""

from __future__ import annotations

import gc
import itertools
import time
import weakref
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult

from turnspan import config
from turnspan.redaction.redactor import Redactor
from turnspan.redaction.secrets import find_secrets
from turnspan.runtime import throttle
from turnspan.tracing.content_store import InferenceContent
from turnspan.tracing.state import default
from turnspan_clickhouse import ClickHouseSpanExporter, exporter
from turnspan_clickhouse.normalise import message_store
from turnspan_clickhouse.normalise.message_store import MessageScope, MessageStore, Seen
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import MessageRow
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import parse


class Said(dict[str, Any]):
    """A message whose end can be seen."""


def land(store: MessageStore, scope: str, raw: list[Any]) -> tuple[list[bytes], int]:
    """A request's hashes, and how many of its messages are new."""
    batch = Batch("test", 1)
    batch.redactor = Redactor(config.resolve({}, {}))
    place = MessageScope("openai.chat", "shop", scope, batch)
    hashes = store.messages(raw, place, 1)
    return hashes, len(batch.rows.get(MessageRow, []))


def test_the_oldest_conversations_are_let_go_when_all_are_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their memory is the application's again; what has landed of them does not land again."""
    monkeypatch.setattr(message_store, "MAX_HELD", 10_000)
    store = MessageStore()
    old = Said(role="user", content="old " * 1_000)
    seen = weakref.ref(old)
    first, new = land(store, "one", [old])
    assert new == 1
    text = old["content"]
    del old
    gc.collect()
    assert seen() is not None

    land(store, "two", [{"role": "user", "content": [{"type": "text", "text": "new " * 2_000}]}])
    gc.collect()

    assert seen() is None
    again, new = land(store, "one", [Said(role="user", content=text)])
    assert (again, new) == (first, 0)


def test_one_conversation_counts_once_however_often_it_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A growing history, and branches of it, hold no more than the longest of them."""
    monkeypatch.setattr(message_store, "MAX_HELD", 20_000)
    store = MessageStore()
    other = Said(role="user", content="x" * 100)
    seen = weakref.ref(other)
    land(store, "other", [other])
    del other
    history: list[Any] = [{"role": "system", "content": "s" * 4_000}]
    for number in range(20):
        history.append({"role": "user", "content": f"{number}" + "u" * 200})
        land(store, "one", list(history))
        land(store, "one", [*history[:1], {"role": "user", "content": f"branch {number}"}])
    gc.collect()

    assert seen() is not None


def test_a_history_that_goes_on_is_kept_once() -> None:
    """The beginnings of the newest call's messages are not kept beside them; branches are."""
    store: Any = MessageStore()
    history: list[Any] = [{"role": "system", "content": "be kind"}]
    for number in range(5):
        history.append({"role": "user", "content": f"question {number}"})
        hashes, new = land(store, "one", list(history))
        assert (len(hashes), new) == (number + 2, 2 if number == 0 else 1)
    branch = [*history[:3], {"role": "user", "content": "another question"}]
    assert land(store, "one", branch)[1] == 1
    assert land(store, "one", history)[1] == 0

    (scope,) = store._scopes.values()
    assert [len(kept.messages) for kept in scope.histories] == [6, 4]


def test_the_beginnings_of_a_history_do_not_displace_it() -> None:
    """Calls that are made again, or go on from an earlier point, find all that they send."""
    store: Any = MessageStore()
    history: list[Any] = [{"role": "user", "content": f"question {n}"} for n in range(8)]
    hashes, new = land(store, "one", history)
    assert new == 8
    for count in range(1, 9):
        assert land(store, "one", history[:count]) == (hashes[:count], 0)

    (scope,) = store._scopes.values()
    assert [len(kept.messages) for kept in scope.histories] == [8]


def test_what_has_landed_is_known_however_much_has_since() -> None:
    """Half the limit of the newest keys at least are remembered, and never more than the limit."""
    seen: Any = Seen(10)
    for number in range(100):
        assert seen.add(b"%d" % number)
        for known in range(max(0, number - 3), number):
            assert not seen.add(b"%d" % known)
    assert not gc.is_tracked(seen._young)
    assert seen.add(b"0")
    seen.clear()
    assert seen.add(b"99")


def test_a_worker_gives_way_only_where_it_was_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps of landing are also those of a reader, which nobody waits for."""
    paused: list[float] = []
    monkeypatch.setattr("turnspan.runtime.throttle.time.sleep", paused.append)

    def work() -> None:
        until = time.perf_counter() + 2 * throttle.SLICE
        while time.perf_counter() < until:
            pass
        throttle.give_way()

    work()
    assert paused == []
    with throttle.giving_way():
        work()
        work()
    with throttle.giving_way(False):
        work()
    work()
    assert paused == [throttle.PAUSE] * 2


def test_a_long_text_is_searched_in_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies across two of them is found, and others get their turn in between."""
    paused: list[float] = []
    monkeypatch.setattr("turnspan.runtime.throttle.time.sleep", paused.append)
    monkeypatch.setattr("turnspan.runtime.throttle.time.perf_counter", itertools.count().__next__)
    for before in (0, throttle.WINDOW - 3, throttle.WINDOW, 2 * throttle.WINDOW + 5):
        text = "x" * before + "needle" + "y" * 10
        assert throttle.holds(text, "nothing", "needle")
        assert throttle.holds(text.encode(), b"needle")
        assert not throttle.holds(text, "needless", "xn" if before == 0 else "yx")
    assert paused == []
    with throttle.giving_way():
        assert not throttle.holds("x" * 3 * throttle.WINDOW, "needle")
    assert len(paused) == 3
    secret = "sk-ant-api03-" + "a1B2" * 23 + "AA"
    padding = "some words " * (throttle.WINDOW // 8)
    for said in (secret, "postgres://u:hunter22@h/d"):
        (start, end, name, *_), *more = find_secrets(f"{padding}{said} {padding}")
        ((first, last, expected, *_),) = find_secrets(said)
        assert (start - len(padding), end - len(padding), name) == (first, last, expected)
        assert more == []


def call(history: list[Any]) -> Any:
    """A model call that has ended, its content in the default.content."""
    tracer = TracerProvider().get_tracer("turnspan.openai")
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "one"}
    span: Any = tracer.start_span("chat", attributes=attributes)
    identity = span.get_span_context()
    content = InferenceContent("openai.chat", {"messages": history})
    default.content.put(identity.trace_id, identity.span_id, content)
    span.end()
    return span


def test_much_content_is_written_in_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A block is made without giving way, so it must not be of everything that is queued."""
    monkeypatch.setattr(exporter, "MAX_CONTENT", 1_000)
    store = f"chdb://{tmp_path}"
    landing_side = ClickHouseSpanExporter(store, project="shop")
    try:
        said = [call([{"role": "user", "content": f"{number} " * 600}]) for number in range(3)]
        assert landing_side.export(said) is SpanExportResult.SUCCESS
        segments = Spool(parse(store).spool).segments()
    finally:
        landing_side.shutdown()

    assert [s.rows() for s in segments if s.table == "message"] == [1, 1, 1]
    assert [s.rows() for s in segments if s.table == "llm_call"] == [3]
    assert landing_side.dropped() == {}


def test_a_spool_that_refuses_plain_spans_costs_neither_messages_nor_more_than_a_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What has landed of a conversation does not land again because something else was lost."""
    store = f"chdb://{tmp_path}"
    landing_side = ClickHouseSpanExporter(store, project="shop")
    spool: Spool = vars(landing_side)["_spool"]
    history = [{"role": "user", "content": "hello"}]
    try:
        assert landing_side.export([call(history)]) is SpanExportResult.SUCCESS
        sizes = {segment.table: segment.size for segment in spool.segments()}
        calls = sum(size for table, size in sizes.items() if table not in ("span", "message"))
        for number in range(2, 5):
            spool.limit_bytes = sizes["message"] + calls * number + sizes["span"] // 2
            assert landing_side.export([call(history)]) is SpanExportResult.FAILURE
        segments = spool.segments()
    finally:
        landing_side.shutdown()

    assert sum(s.rows() for s in segments if s.table == "message") == 1
    assert sum(s.rows() for s in segments if s.table == "llm_call") == 4
    assert landing_side.dropped()["spool_failed:span"] == 3
    assert sum("cannot write its spool" in line for line in caplog.messages) == 1
