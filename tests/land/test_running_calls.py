"""A model call that has not ended: what it was asked, and its text so far, are in the store."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanKind, TraceState
from opentelemetry.util.types import Attributes

import turnspan
from support.cluster import Cluster
from support.landing import insert
from support.representatives import first_on
from support.rows import PROJECT, T0, call, message, said, turn
from turnspan import config
from turnspan.pipeline.processor import RecordProcessor
from turnspan.redaction.truncate import HELD_BACK
from turnspan.runtime.ids import SecureIdGenerator
from turnspan.tracing.state import default
from turnspan_clickhouse import ClickHouseSpanExporter
from turnspan_clickhouse.normalise import running_calls
from turnspan_clickhouse.rows.tables import RunningCall
from turnspan_clickhouse.ship.interrupted_work import interrupt_work
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.conversation import CallRecord, Conversation, TurnRecord
from turnspan_records.detail import detail
from turnspan_records.lookup import find
from turnspan_records.replay import replay
from turnspan_records.screens.outline import newest, outline
from turnspan_records.screens.turns import sessions_page, turns_page
from turnspan_records.turn_filters import TurnListFilter, turn_filter

pytestmark = pytest.mark.with_schema

ASKED: list[Any] = [
    {"role": "system", "content": "You sell pumps."},
    {"role": "user", "content": "Which is best?"},
]
SO_FAR = "one two three four five six seven eight nine ten " * 8
"""More than is held back."""


class Half(Sampler):
    """Records every span, and samples none."""

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        return SamplingResult(Decision.RECORD_ONLY)

    def get_description(self) -> str:
        return "Half"


class Nothing(SpanProcessor):
    """Lets no span through to the processor behind it."""

    def __init__(self, inner: RecordProcessor) -> None:
        self._inner = inner

    def on_start(self, span: Any, parent_context: Context | None = None) -> None:
        self._inner.on_start(span, parent_context)

    def on_end(self, span: ReadableSpan) -> None:
        """Tells nobody."""


class Shop:
    """An application that records to a store, and a reader of what landed."""

    def __init__(self, dsn: Dsn) -> None:
        self.dsn = dsn
        self.exporter = ClickHouseSpanExporter(str(dsn))
        self.processor = RecordProcessor(self.exporter, flush_interval=0.05)
        self.record()

    def record(self, processor: SpanProcessor | None = None, **provider: Any) -> None:
        """Record from now on by a provider of its own."""
        resource = Resource.create({"service.name": "shop"})
        made = TracerProvider(resource=resource, id_generator=SecureIdGenerator(), **provider)
        made.add_span_processor(processor or self.processor)
        default.provider = made

    def rows(self, sql: str, final: int = 1) -> list[tuple[Any, ...]]:
        """Land everything, then ask."""
        self.processor.force_flush()
        ship(self.dsn, deadline=time.monotonic() + 30)
        with open_store(self.dsn) as store:
            return [tuple(row) for row in store.query(sql, settings={"final": final}).rows]

    def running(self) -> list[tuple[Any, ...]]:
        """Status, session, messages and text of each running row."""
        return self.rows(
            "SELECT toString(status), session_id, length(input_messages), response_text"
            " FROM llm_call_running ORDER BY start_time"
        )

    def listed(self) -> list[tuple[str, str, str]]:
        """End, id and first words of each turn, newest first; every one is in its session, once."""
        self.rows("SELECT 1")
        with open_store(self.dsn) as store:
            turns = turns_page(store, TurnListFilter()).turns
            sessions = sessions_page(store, TurnListFilter()).sessions
        assert sum(one.turns for one in sessions) == len({one.turn for one in turns}) == len(turns)
        return [(one.end, one.turn, one.user_message) for one in turns]

    def replayed(self, session: str) -> Conversation:
        """The session as it is now."""
        self.rows("SELECT 1")
        with open_store(self.dsn) as store:
            return replay(store, "shop", session)


@pytest.fixture
def shop(store_dsn: Dsn, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """An application whose running calls are stored at once, and at every flush."""
    with open_store(store_dsn) as store:
        migrate(store)
    monkeypatch.setattr(running_calls, "EVERY_NS", 0)
    monkeypatch.setattr(running_calls, "SHARE", 10**12)
    settings(running_calls_after=0.000_001)
    made = Shop(store_dsn)
    yield made
    made.processor.shutdown()
    default.provider = None


def settings(**values: Any) -> None:
    config.activate(config.resolve(values, {}))


def steps_of(conversation: Conversation) -> list[Any]:
    (turn,) = conversation.steps
    assert isinstance(turn, TurnRecord)
    return turn.steps


@pytest.mark.usefixtures("kept_engine")
def test_a_call_is_there_until_it_ends(shop: Shop) -> None:
    """Prompt and text so far are replayed and shown, nothing counts them, and the call that ended
    takes their place: its messages are stored once."""
    with turnspan.session("s"), turnspan.agent("seller"):
        asked = turnspan.inference(model="m", messages=ASKED)
        with asked as call:
            assert shop.running() == [("running", "s", 2, "")]
            call.chunk(SO_FAR)
            ((status, _, _, text),) = shop.running()
            assert status == "running" and len(SO_FAR) - len(text) in range(128, 136)
            assert SO_FAR.startswith(text)
            again = "SELECT count() FROM llm_call_running"
            assert shop.rows(again, final=0) == shop.rows(again, final=0)  # it has not grown

            conversation = shop.replayed("s")
            (running,) = steps_of(conversation)
            assert isinstance(running, CallRecord) and running.status == "running"
            assert [one.text for one in running.new_messages] == [
                "You sell pumps.",
                "Which is best?",
            ]
            assert running.response_text == text and running.duration > 0
            assert list(conversation.calls()) == [] == shop.rows("SELECT 1 FROM llm_call")
            with open_store(shop.dsn) as store:
                shown = outline(store, "shop", "s")
                assert shown.running and shown.calls[0].response.head == text
                before = newest(store, "shop", "s")
                (found,) = find(store, running.span_id[:8])
                record = detail(store, found)
                assert (found.kind, record.facts["status"]) == ("call", "running")
                assert [one.text for one in record.input_messages][1:] == ["Which is best?"]
            call.chunk(SO_FAR)
            assert len(shop.running()[0][3]) > len(text)
            with open_store(shop.dsn) as store:
                assert newest(store, "shop", "s") != before
            call.response(tool_calls=[{"id": "t", "name": "look", "arguments": {"q": 1}}])
            assert shop.rows("SELECT tool_calls FROM llm_call_running") == [
                ('[{"id":"t","name":"look","arguments":{"q":1}}]',)
            ]
    assert shop.running() == [("final", "s", 0, "")]
    (ended,) = steps_of(shop.replayed("s"))
    assert (ended.span_id, ended.status) == (running.span_id, "final")
    assert ended.replies[0].text == 2 * SO_FAR
    ((stored, distinct),) = shop.rows("SELECT count(), uniqExact(hash) FROM message", final=0)
    assert stored == distinct == 3


@first_on("server")
def test_half_of_a_secret_is_not_written(shop: Shop) -> None:
    """What a mask or a hook knows only when it is whole is not in the text so far; capture that is
    off, the limit of content and what is asked of a reader hold as for any call."""
    secret = "sk-ant-api03-" + "A1b2C3d4" * 5
    with turnspan.inference(model="m", messages=ASKED) as call:
        for piece in (
            SO_FAR,
            secret[:20],
            secret[20:],
            " " + SO_FAR,
            "-----BEGIN PRIVATE KEY-----",
        ):
            call.chunk(piece)
            assert "sk-ant" not in shop.running()[0][3]
        assert "[REDACTED:anthropic_api_key]" in shop.running()[0][3]
        call.chunk("A1b2C3d4" * 100)
        assert "A1b2" not in shop.running()[0][3]
    settings(running_calls_after=0.000_001, content_limit_bytes=20)
    with turnspan.inference(model="m", messages=ASKED) as call:
        call.chunk(SO_FAR)
        assert shop.running()[-1][3] == SO_FAR[:20]
    settings(running_calls_after=0.000_001, capture_content=False)
    with turnspan.session("off"), turnspan.inference(model="m", messages=ASKED) as call:
        call.chunk(SO_FAR)
        assert shop.running()[-1] == ("running", "off", 0, "")
    settings(running_calls_after=0)
    with turnspan.inference(model="m", messages=ASKED):
        assert {row[0] for row in shop.running()} == {"final"}
    assert HELD_BACK >= 128


@first_on("server")
def test_an_undecorated_call_is_where_its_row_will_be(shop: Shop) -> None:
    """Its session and turn are found as at its end, so nothing is stored twice; the turn that it
    begins is listed meanwhile, with what the user said, and is the one that ends."""
    messages = ASKED[:]
    for at, reply in enumerate(("This one.", "That one.")):
        with turnspan.inference(model="m", messages=messages) as call:
            shop.running()
            [running, *before] = shop.listed()
            assert (running[0], running[2]) == ("running", messages[-1]["content"])
            assert [end for end, _, _ in before] == ["completed"] * at
            call.response(text=reply)
        assert shop.listed() == [("completed", *running[1:]), *before]
        messages += [
            {"role": "assistant", "content": reply},
            {"role": "user", "content": f"And after {reply}"},
        ]
    shop.running()
    place = "SELECT session_id, turn_id, trace_id, span_id FROM {} ORDER BY start_time"
    assert shop.rows(place.format("llm_call_running")) == shop.rows(place.format("llm_call"))
    assert len({row[0] for row in shop.rows(place.format("llm_call"))}) == 1
    ((stored, distinct),) = shop.rows("SELECT count(), uniqExact(hash) FROM message", final=0)
    assert stored == distinct


@first_on("server")
def test_what_is_never_exported(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A span that is not sampled has no row; a call whose span a processor of the application's
    keeps back does not run for ever; one that fails has ended."""
    shop.record(sampler=Half())
    with turnspan.inference(model="m", messages=ASKED):
        assert shop.running() == []
    shop.record(Nothing(shop.processor))
    with turnspan.inference(model="m", messages=ASKED):
        assert len(shop.running()) == 1
    assert shop.running()[0][0] == "running"  # its span may still be on its way
    monkeypatch.setattr(running_calls, "UNEXPORTED_NS", 0)
    assert shop.running()[0][0] == "final"
    shop.record()
    with pytest.raises(ValueError, match="no"), turnspan.inference(model="m", messages=ASKED):
        assert shop.running()[-1][0] == "running"
        raise ValueError("no")
    assert shop.running()[-1][0] == "final"
    assert len(default.content.open_calls) == 0


AGENT = """
import sys, threading, time, turnspan
turnspan.configure(service_name="shop", store=sys.argv[1], running_calls_after=0.1)
def ask(session):
    asked = turnspan.inference(model="m", messages="Which is best?")
    with turnspan.session(session), asked as call:
        call.chunk("so far " * 40)
        time.sleep(600)
for session in ("one", "two"):
    threading.Thread(target=ask, args=(session,), daemon=True).start()
time.sleep(600)
"""


@first_on("server")
def test_a_process_that_is_killed_in_a_call(store_dsn: Dsn) -> None:
    """What the model was asked stays, as do its words; the call never ended. That of a process that
    lives goes on."""
    with open_store(store_dsn) as store:
        migrate(store)
    agents = [
        subprocess.Popen([sys.executable, "-c", AGENT, str(store_dsn)], env={**os.environ})
        for _ in range(2)
    ]
    found: list[Any] = []
    try:
        deadline = time.monotonic() + 60
        while len(found) < 4 and time.monotonic() < deadline:
            time.sleep(0.2)
            found = states(store_dsn)
        assert found == [("running", 1)] * 4
        agents[0].send_signal(signal.SIGKILL)
        agents[0].wait()
        assert states(store_dsn) == [("interrupted", 1)] * 2 + [("running", 1)] * 2
    finally:
        for agent in agents:
            agent.kill()
            agent.wait()
    assert states(store_dsn) == [("interrupted", 1)] * 4
    with open_store(store_dsn) as store:
        calls = replay(store, "shop", "one").steps
        shown = outline(store, "shop", "one")
        listed = turns_page(store, TurnListFilter(filter=turn_filter("stop:interrupted"))).turns
    assert sorted((one.session, one.user_message) for one in listed) == [
        (session, "Which is best?") for session in ("one", "one", "two", "two")
    ]
    assert [isinstance(one, CallRecord) and one.unended for one in calls] == [
        "never ended: its process died"
    ] * 2
    for one in calls:
        assert isinstance(one, CallRecord)
        assert one.response_text.startswith("so far so far")
        assert one.new_messages[0].text == "Which is best?"
    assert not shown.running


def states(dsn: Dsn) -> list[tuple[Any, ...]]:
    ship(dsn)
    sql = "SELECT toString(status), length(input_messages) FROM llm_call_running ORDER BY status"
    with open_store(dsn) as store:
        return [tuple(row) for row in store.query(sql).rows]


@pytest.mark.release
def test_calls_that_have_not_ended_on_a_cluster(cluster: Cluster) -> None:
    """Each is replayed from its shard, and is not shown beside its row of a call that ended. The
    turn that it begins is listed."""
    cluster.migrate("kept")
    sessions = ("s1", "s2", "s3", "s4")
    with open_store(cluster.dsn("kept")) as store:
        for session in sessions:
            asked = message("user", said("hi"), scope=session)
            at: dict[str, Any] = {"project": PROJECT, "session_id": session, "start_time": T0}
            more: dict[str, Any] = {"status": "running", "writer": "w", "written_at": T0}
            calls = [
                RunningCall(span_id=one, turn_id=f"{one}-{session}", **at, **more)
                for one in ("open", "over")
            ]
            over = turn(calls[1].turn_id, session_id=session)
            insert(store, asked, *calls, call("over", session_id=session), over)
        for session in sessions:
            steps = replay(store, PROJECT, session).steps
            found = {one.span_id: one.status for one in steps if isinstance(one, CallRecord)}
            assert (found, len(steps)) == ({"over": "final", "open": "running"}, 3)  # and a turn
        wanted = TurnListFilter(PROJECT)
        assert {one.turn for one in turns_page(store, wanted).turns} == {
            f"{one}-{session}" for session in sessions for one in ("open", "over")
        }
        interrupt_work(store, ["w"])
        assert not outline(store, PROJECT, "s1").running
