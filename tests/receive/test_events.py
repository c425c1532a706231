"""Events of model calls over OTLP logs: content for the records of their spans, and evaluations."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import set_span_in_context

from receive.otlp import Made, Said, agent, as_json, chat, logs, request, span_id
from receive.serving import JSON, PROTOBUF, Answer, Served, serving
from receive.test_order import ask
from turnspan import config
from turnspan_clickhouse.receive import late_events as silent_calls
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]

DETAILS = "gen_ai.client.inference.operation.details"
EVALUATION = "gen_ai.evaluation.result"
ASKED: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"type": "text", "content": "How far?"}]},
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "far"}]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "9 km"}]},
]
ANSWERED: list[dict[str, Any]] = [
    {"role": "assistant", "parts": [{"type": "text", "content": "Nine kilometres."}]}
]
TOLD: dict[str, Any] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}],
    "gen_ai.tool.definitions": [{"type": "function", "name": "far", "parameters": {}}],
    "gen_ai.input.messages": ASKED,
    "gen_ai.output.messages": ANSWERED,
}
CALL = (
    "SELECT turn_user_message, system_prompt, response_text,"
    " JSONExtractArrayRaw(chat_history) AS history, position(tool_definitions, 'far') > 0 AS tools"
    " FROM llm_call_full"
)


def silent(name: str, parent: str, at: float) -> Made:
    """A model call whose span says nothing of its content."""
    made = chat(name, parent, at)
    attributes = {k: v for k, v in made.attributes.items() if k != "gen_ai.output.messages"}
    return Made(name, parent, at, at + 0.5, attributes=attributes)


STORY = (agent("a", "", 0, 9), silent("call", "a", 1))


def post_logs(served: Served, salt: str, *records: Said, kind: str = "protobuf") -> Answer:
    """Send log records in either encoding."""
    made = logs(salt, records)
    if kind == "json":
        return served.post(as_json(made), JSON, "/v1/logs")
    return served.post(made.SerializeToString(), PROTOBUF, "/v1/logs")


def post_spans(served: Served, salt: str, *spans: Made) -> Answer:
    """Send spans."""
    return served.post(request(salt, spans).SerializeToString(), PROTOBUF)


@pytest.mark.parametrize("kind", ["protobuf", "json"])
@pytest.mark.parametrize("first", ["events", "spans"])
def test_an_event_of_details_is_read_as_if_the_span_had_said_it(
    embedded_dsn: Dsn, kind: str, first: str
) -> None:
    """Whichever comes first, and twice."""
    event = Said(DETAILS, "call", TOLD)
    with serving(embedded_dsn) as served:
        for signal in (first, "events", "spans"):
            if signal == "spans":
                assert post_spans(served, "story", *STORY).status == 200
                continue
            answer = post_logs(served, "story", event, kind=kind)
            assert (answer.status, answer.body) == (200, b"{}" if kind == "json" else b"")
        assert served.receiver.counts["unmatched"] == 0
    (call,) = ask(embedded_dsn, CALL)
    (turn,) = ask(embedded_dsn, "SELECT user_message, response_text, rounds FROM turn_summary")

    history = [json.loads(message) for message in call.pop("history")]
    assert [message["role"] for message in history] == ["user", "assistant", "tool"]
    assert history[2]["parts"][0]["response"] == "9 km"
    assert call == {
        "turn_user_message": "How far?",
        "system_prompt": "Be brief.",
        "response_text": "Nine kilometres.",
        "tools": True,
    }
    assert turn == {"user_message": "How far?", "response_text": "Nine kilometres.", "rounds": 1}


def test_messages_of_older_conventions(embedded_dsn: Dsn) -> None:
    """One event a message, its content in the body (1.36 and before)."""
    call = {"id": "1", "type": "function", "function": {"name": "far", "arguments": "{}"}}
    said = (
        Said("gen_ai.system.message", "call", body={"content": "Be brief."}, at=1.0),
        Said("gen_ai.user.message", "call", body={"content": "How far?"}, at=1.1),
        Said("gen_ai.assistant.message", "call", body={"tool_calls": [call]}, at=1.2),
        Said("gen_ai.tool.message", "call", body={"id": "1", "content": "9 km"}, at=1.3),
        Said(
            "gen_ai.choice",
            "call",
            body={"index": 0, "finish_reason": "stop", "message": {"content": "Nine."}},
            at=1.4,
        ),
    )
    with serving(embedded_dsn) as served:
        post_logs(served, "old", *said[:2])
        post_spans(served, "old", *STORY)
        post_logs(served, "old", *said[2:])
        post_logs(served, "old", *said)
    (found,) = ask(embedded_dsn, CALL)

    roles = [json.loads(message)["role"] for message in found["history"]]
    assert roles == ["system", "user", "assistant", "tool"]
    assert (found["turn_user_message"], found["response_text"]) == ("How far?", "Nine.")


def test_a_call_waits_a_moment_for_its_event(embedded_dsn: Dsn) -> None:
    """A root call's conversation is known by its messages, so it cannot land without them: of a
    service that has sent such events its spans are acknowledged when they have come."""
    with serving(embedded_dsn) as served:
        post_logs(served, "one", Said(DETAILS, "call", TOLD))
        post_spans(served, "one", silent("call", "", 1))
        answers: list[Answer] = []
        spans = (silent("call", "", 20),)
        sending = threading.Thread(target=lambda: answers.append(post_spans(served, "two", *spans)))
        sending.start()
        time.sleep(0.3)
        assert answers == []
        more = {"role": "user", "parts": [{"type": "text", "content": "And back?"}]}
        again = {**TOLD, "gen_ai.input.messages": [*ASKED, *ANSWERED, more]}
        post_logs(served, "two", Said(DETAILS, "call", again))
        sending.join(10)
        assert [answer.status for answer in answers] == [200]
    calls = ask(embedded_dsn, "SELECT length(input_messages) AS n, session_id FROM llm_call")

    assert sorted(call["n"] for call in calls) == [3, 5]
    assert len({call["session_id"] for call in calls}) == 1


def test_an_event_that_comes_too_late_or_whose_span_never_does(
    embedded_dsn: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is refused with the reason, the second counted among what was dropped."""
    monkeypatch.setattr(silent_calls, "MAX_CALLS", 0)
    with serving(embedded_dsn, event_patience=0.0) as served:
        post_spans(served, "late", silent("call", "", 1))
        late = post_logs(served, "late", Said(DETAILS, "call", TOLD))
        post_logs(served, "never", Said(DETAILS, "call", TOLD), Said(DETAILS, "call", TOLD))
        usage = served.receiver
    told = ExportLogsServiceResponse.FromString(late.body).partial_success
    assert (told.rejected_log_records, usage.counts["unmatched"]) == (1, 1)
    assert "send logs no later than spans" in told.error_message
    assert usage.spool.usage().dropped == {"events_without_span": 1}
    assert ask(embedded_dsn, "SELECT response_text FROM llm_call") == [{"response_text": ""}]


def test_an_evaluation_is_a_judgment_of_its_span(embedded_dsn: Dsn) -> None:
    """Stored once however often it is sent, before its span and after; of a call where that is
    known."""
    good = {
        "gen_ai.evaluation.name": "relevance",
        "gen_ai.evaluation.score.value": 0.75,
        "gen_ai.evaluation.score.label": "pass",
        "gen_ai.evaluation.explanation": "to the point",
    }
    failed = {"gen_ai.evaluation.name": "toxicity", "error.type": "timeout"}
    with serving(embedded_dsn) as served:
        post_spans(served, "judged", *STORY)
        for _ in range(2):
            post_logs(
                served, "judged", Said(EVALUATION, "call", good), Said(EVALUATION, "a", failed)
            )
        post_logs(served, "judged", Said(EVALUATION, "unknown", good))
    rows = ask(
        embedded_dsn,
        "SELECT project, subject_kind AS of, subject_id, kind, score, outcome, comment"
        " FROM annotation ORDER BY subject_kind",
    )

    assert [(row["of"], row["subject_id"]) for row in rows] == [
        (kind, span_id("judged", name).hex())
        for kind, name in (("call", "call"), ("span", "unknown"), ("turn", "a"))
    ]
    assert {row["project"] for row in rows} == {"story"}
    assert (rows[0]["kind"], rows[0]["score"], rows[0]["outcome"], rows[0]["comment"]) == (
        "evaluation:relevance",
        0.75,
        "pass",
        "to the point",
    )
    assert (rows[2]["score"], rows[2]["outcome"]) == (None, "timeout")


@pytest.mark.parametrize("kind", ["protobuf", "json"])
def test_other_log_records_are_refused_and_told(embedded_dsn: Dsn, kind: str) -> None:
    """An application's own lines, and an event that belongs nowhere; the rest is taken."""
    with serving(embedded_dsn) as served:
        answer = post_logs(
            served,
            "mixed",
            Said("", "call", body="a line of the application's log"),
            Said("", ""),
            Said(DETAILS, "", TOLD),
            Said(EVALUATION, "call", {"gen_ai.evaluation.name": "x"}),
            kind=kind,
        )
        assert answer.status == 200
        counts = dict(served.receiver.counts)
    if kind == "json":
        told: dict[str, Any] = json.loads(answer.body)["partialSuccess"]
        number, message = int(told["rejectedLogRecords"]), told["errorMessage"]
    else:
        partial = ExportLogsServiceResponse.FromString(answer.body).partial_success
        number, message = partial.rejected_log_records, partial.error_message
    assert number == 3
    assert "2 refused: of log records only" in message
    assert "1 refused: the event does not say which span" in message
    assert (counts["events"], counts["refused"]) == (1, 1)


def test_opentelemetry_s_own_exporters(embedded_dsn: Dsn) -> None:
    """The SDK's logger beside its tracer, both over OTLP, as instrumentations emit events. At a
    program's end the spans may come first."""
    resource = Resource({"service.name": "python-agent"})
    with serving(embedded_dsn) as served:
        tracers, loggers = TracerProvider(resource=resource), LoggerProvider(resource=resource)
        spans = OTLPSpanExporter(f"{served.endpoint}/v1/traces")
        tracers.add_span_processor(BatchSpanProcessor(spans))
        records = OTLPLogExporter(f"{served.endpoint}/v1/logs")
        loggers.add_log_record_processor(BatchLogRecordProcessor(records))
        span = tracers.get_tracer("x").start_span(
            "chat m", attributes={"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
        )
        loggers.get_logger("x").emit(
            LogRecord(
                timestamp=time.time_ns(),
                context=set_span_in_context(span),
                severity_number=SeverityNumber.DEBUG,
                attributes=TOLD,
                event_name=DETAILS,
            )
        )
        span.end()
        tracers.shutdown()
        loggers.shutdown()
        assert served.receiver.counts["events"] == 1
    (found,) = ask(embedded_dsn, CALL)
    turns = ask(embedded_dsn, "SELECT user_message, llm_call_count FROM turn_summary")

    assert (found["system_prompt"], found["response_text"]) == ("Be brief.", "Nine kilometres.")
    assert [json.loads(message)["role"] for message in found["history"]][-1] == "tool"
    assert turns == [{"user_message": "How far?", "llm_call_count": 1}]


SECRET = "sk-proj-" + "a1B2c3D4" * 6


@pytest.mark.parametrize("captured", ["true", "false"])
def test_what_events_say_is_redacted_like_what_spans_say(embedded_dsn: Dsn, captured: str) -> None:
    """No byte of a secret, and none of the content where that is not recorded, gets to the disk."""
    before = config.active()
    config.activate(config.resolve({}, {"TURNSPAN_CAPTURE_CONTENT": captured}))
    said = [{"role": "user", "parts": [{"type": "text", "content": f"my key is {SECRET}, ok?"}]}]
    verdict = {"gen_ai.evaluation.name": "x", "gen_ai.evaluation.explanation": f"saw {SECRET}"}
    try:
        with serving(embedded_dsn) as served:
            for first in (True, False):
                salt = f"hidden {first}"
                if not first:
                    post_spans(served, salt, *STORY)
                post_logs(
                    served,
                    salt,
                    Said(DETAILS, "call", {**TOLD, "gen_ai.input.messages": said}),
                    Said("gen_ai.user.message", "call", body={"content": f"again {SECRET}, ok?"}),
                    Said(EVALUATION, "call", verdict),
                )
                if first:
                    post_spans(served, salt, *STORY)
        files = [path for path in embedded_dsn.spool.rglob("*") if path.is_file()]
        written = b"".join(path.read_bytes() for path in files)
    finally:
        config.activate(before)
    assert b"invoke_agent" in written
    assert SECRET.encode() not in written
    assert (b"ok?" in written) is (captured == "true")
    assert (b"Nine kilometres" in written) is (captured == "true")


MEMORY = "She likes trains."


@pytest.mark.parametrize("captured", ["true", "false"])
def test_spans_of_retrieval_and_memory_keep_what_they_say(
    embedded_dsn: Dsn, captured: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No record has columns for it, so it stays on the span; names are no content."""
    told: dict[str, dict[str, Any]] = {
        "retrieval docs": {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.top_k": 3,
            "gen_ai.retrieval.query.text": MEMORY,
            "gen_ai.retrieval.documents": MEMORY,
        },
        "search_memory": {
            "gen_ai.operation.name": "search_memory",
            "gen_ai.memory.store.id": "store-1",
            "gen_ai.memory.query.text": MEMORY,
            "gen_ai.memory.records": MEMORY,
        },
        "plan": {"gen_ai.operation.name": "plan", "gen_ai.agent.name": "planner"},
    }
    prompt = {"gen_ai.prompt.name": "greet", "gen_ai.prompt.version": "2"}
    before = config.active()
    config.activate(config.resolve({}, {"TURNSPAN_CAPTURE_CONTENT": captured}))
    try:
        with serving(embedded_dsn) as served:
            made = [Made(name, "a", 1, 2, attributes=said) for name, said in told.items()]
            post_spans(served, "kinds", agent("a", "", 0, 9), *made, chat("c", "a", 3))
            named = Made("named", "a", 3, 4, attributes={**prompt, "gen_ai.operation.name": "chat"})
            post_spans(served, "kinds", named)
    finally:
        config.activate(before)
    landed = {
        row["name"]: row["attributes"]
        for row in ask(embedded_dsn, "SELECT name, attributes FROM span")
    }

    for name, said in told.items():
        content = {key for key, value in said.items() if value == MEMORY}
        assert (set(said) - set(landed[name])) == (set() if captured == "true" else content)
    assert prompt.items() <= dict(landed["named"]).items()
