"""From a finished span to the rows a reader sees, on both stores."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from support.representatives import first_on
from turnspan import config
from turnspan.pipeline.processor import RecordProcessor
from turnspan.runtime.ids import SecureIdGenerator
from turnspan.tracing.content_store import InferenceContent
from turnspan.tracing.state import default
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse import ClickHouseSpanExporter
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]


class Recorder:
    """An application that records to a store, and a reader of what landed."""

    def __init__(self, dsn: Dsn) -> None:
        self.dsn = dsn
        self.exporter = ClickHouseSpanExporter(str(dsn))
        self.processor = RecordProcessor(self.exporter, flush_interval=0.05)
        self.provider = TracerProvider(
            resource=Resource.create({"service.name": "svc"}), id_generator=SecureIdGenerator()
        )
        self.provider.add_span_processor(self.processor)
        default.provider = self.provider

    def call(self, messages: list[Any], reply: dict[str, Any], **span: Any) -> None:
        """One model call as an instrumentor records it."""
        tracer = self.provider.get_tracer("turnspan.openai")
        turn = turnspan.current_turn()
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.response.model": "gpt-4o-2024-08-06",
            "gen_ai.usage.input_tokens": 1000,
            "gen_ai.usage.output_tokens": 100,
            "gen_ai.response.finish_reasons": [reply["finish_reason"]],
            **span,
        }
        if turn.id:
            attributes |= {"turnspan.turn.id": turn.id, "turnspan.round": turn.begin_call()}
            if turn.session is not None:
                attributes["gen_ai.conversation.id"] = turn.session.id
        started = tracer.start_span("chat gpt-4o", attributes=attributes)
        identity = started.get_span_context()
        request = {"model": "gpt-4o", "messages": list(messages), "temperature": 0.5}
        response = {"id": "r", "model": "gpt-4o-2024-08-06", "choices": [{"index": 0, **reply}]}
        content = InferenceContent("openai.chat", request, response)
        default.content.put(identity.trace_id, identity.span_id, content)
        if turn.id:
            turn.end_call(
                model="gpt-4o-2024-08-06",
                finish_reasons=[reply["finish_reason"]],
                text=reply["message"].get("content") or "",
                tool_requests=[],
                usage=TokenUsage(1000, 100),
            )
        started.end()

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Land everything, then ask."""
        assert self.processor.force_flush()
        ship(self.dsn, deadline=time.monotonic() + 30)
        with open_store(self.dsn) as store:
            return store.query(sql).dicts()


@pytest.fixture
def recorder(store_dsn: Dsn) -> Iterator[Recorder]:
    """A recorder on a fresh, migrated store of each kind."""
    with open_store(store_dsn) as store:
        migrate(store)
    config.activate(config.resolve({}, {}))
    made = Recorder(store_dsn)
    yield made
    made.provider.shutdown()
    default.provider = None


def text(content: str, finish: str = "stop") -> dict[str, Any]:
    """A reply that is only text."""
    return {"finish_reason": finish, "message": {"role": "assistant", "content": content}}


def test_decorated_turn_lands_with_its_calls_and_tools(recorder: Recorder) -> None:
    """turn_summary, llm_call, tool_call, message and span rows of one turn, with its cost."""
    history: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is the weather?"},
    ]
    with turnspan.session("s-1", user_id="u-1"), turnspan.agent("weather") as turn:
        recorder.call(history, text("Let me look.", "tool_calls"))
        history.append({"role": "assistant", "content": "Let me look."})
        with turnspan.tool("lookup", call_id="c-1", arguments={"city": "Bern"}) as call:
            call.result = {"degrees": 12}
        recorder.call(history, text("12 degrees."))

    summary = recorder.rows("SELECT * FROM turn_summary")
    calls = recorder.rows("SELECT * FROM llm_call ORDER BY start_time")
    tools = recorder.rows("SELECT * FROM tool_call")
    messages = recorder.rows("SELECT role, parts FROM message ORDER BY first_seen, role")

    assert len(summary) == 1
    row = summary[0]
    assert (row["turn_id"], row["session_id"], row["user_id"]) == (turn.id, "s-1", "u-1")
    assert (row["status"], row["stop_reason"]) == ("final", "completed")
    assert (row["rounds"], row["llm_call_count"], row["tool_call_count"]) == (2, 2, 1)
    assert row["response_text"] == "12 degrees."
    assert row["project"] == row["service"] == "svc"
    assert row["cost_usd"] == Decimal("0.007")
    assert [c["round"] for c in calls] == [1, 2]
    assert calls[0]["cost_usd"] == Decimal("0.0035")
    assert len(calls[1]["input_messages"]) == 3
    assert calls[1]["input_messages"][:2] == calls[0]["input_messages"]
    assert calls[1]["input_messages"][2] == calls[0]["output_messages"][0]
    assert json.loads(calls[0]["request_parameters"]) == {"model": "gpt-4o", "temperature": 0.5}
    assert (tools[0]["name"], tools[0]["call_id"]) == ("lookup", "c-1")
    assert json.loads(tools[0]["arguments"]) == {"city": "Bern"}
    assert json.loads(tools[0]["result"]) == {"degrees": 12}
    assert len(messages) == 4
    assert len(recorder.rows("SELECT * FROM span")) == 4


@first_on("server")
def test_running_turn_is_seen_before_it_ends(recorder: Recorder) -> None:
    """T-15: a turn that has begun is a row; its final row replaces it."""
    scope = turnspan.agent("slow")
    with scope as turn:
        turn.set(intent="diagnose")
        running = recorder.rows("SELECT status, stop_reason FROM turn_summary")
    final = recorder.rows("SELECT status, stop_reason FROM turn_summary")

    assert running == [{"status": "running", "stop_reason": "running"}]
    assert final == [{"status": "final", "stop_reason": "empty_no_tools"}]


@first_on("server")
def test_a_turn_that_joins_a_session_has_one_row(recorder: Recorder) -> None:
    """A session that begins in an agent's function is its turn's, also while it runs."""
    count = "SELECT session_id, status FROM turn_summary"
    with turnspan.agent("slow"), turnspan.session("s"):
        running = recorder.rows(count)
    assert running == [{"session_id": "s", "status": "running"}]
    assert recorder.rows(count) == [{"session_id": "s", "status": "final"}]


@first_on("server")
def test_undecorated_loop_becomes_turns(recorder: Recorder) -> None:
    """A plain loop without any decorator: one session, a turn for each user message, and the tool
    calls read from the messages."""
    asked = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"p":"/"}'}}
        ],
    }
    history: list[Any] = [{"role": "user", "content": "list it"}]
    recorder.call(history, {"finish_reason": "tool_calls", "message": asked})
    history += [asked, {"role": "tool", "tool_call_id": "c1", "content": '{"ok": false}'}]
    recorder.call(history, text("It failed."))
    history += [{"role": "assistant", "content": "It failed."}, {"role": "user", "content": "why?"}]
    recorder.call(history, text("No such folder."))

    turns = recorder.rows("SELECT * FROM turn_summary ORDER BY start_time")
    calls = recorder.rows("SELECT turn_id, session_id, round FROM llm_call ORDER BY start_time")
    tools = recorder.rows("SELECT name, arguments, result, failed, turn_id FROM tool_call")

    assert [t["user_message"] for t in turns] == ["list it", "why?"]
    assert [t["stop_reason"] for t in turns] == ["tool_failure", "completed"]
    assert [t["rounds"] for t in turns] == [2, 1]
    assert [t["tool_call_count"] for t in turns] == [1, 0]
    assert {c["session_id"] for c in calls} == {turns[0]["session_id"]}
    assert [c["turn_id"] for c in calls] == [turns[0]["turn_id"]] * 2 + [turns[1]["turn_id"]]
    assert tools == [
        {
            "name": "ls",
            "arguments": '{"p":"/"}',
            "result": '{"ok": false}',
            "failed": True,
            "turn_id": turns[0]["turn_id"],
        }
    ]


@first_on("server")
def test_history_lands_once(recorder: Recorder) -> None:
    """T-19: 30 rounds over one growing history store each message once."""
    history: list[Any] = [{"role": "user", "content": "start"}]
    with turnspan.session("s"), turnspan.agent("a"):
        for number in range(30):
            recorder.call(history, text(f"reply {number}"))
            history.append({"role": "assistant", "content": f"reply {number}"})
            history.append({"role": "user", "content": f"go on {number}"})

    counted = recorder.rows("SELECT count() AS n, uniqExact(hash) AS u FROM message")
    longest = recorder.rows("SELECT max(length(input_messages)) AS n FROM llm_call")

    assert counted == [{"n": 60, "u": 60}]
    assert longest == [{"n": 59}]


@first_on("server")
def test_content_switched_off_still_counts(recorder: Recorder) -> None:
    """Metadata only: tokens, cost and stop reason, no message and no text anywhere."""
    config.activate(config.resolve({"capture_content": False}, {}))
    with turnspan.agent("quiet") as turn:
        turn.set(user_message="my secret question")
        with turnspan.tool("t", arguments={"secret": 1}) as call:
            call.result = "secret result"
    config.activate(config.resolve({}, {}))

    row = recorder.rows("SELECT user_message, response_text, tool_call_count FROM turn_summary")[0]
    tool = recorder.rows("SELECT arguments, result FROM tool_call")[0]

    assert row == {"user_message": "", "response_text": "", "tool_call_count": 1}
    assert tool == {"arguments": "", "result": ""}
