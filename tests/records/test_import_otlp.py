"""Importing OTLP in JSON: what was exported to files lands as if it had been received."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from receive.otlp import Made, Said, agent, as_json, chat, logs, request, tool
from support.imported import Imported, import_files
from support.kept_stores import copy_schema, migrated
from turnspan.content.model import as_dict, as_list
from turnspan_clickhouse.receive import Receiver, ReceiveSettings
from turnspan_clickhouse.receive.decoded import LOGS, InternCache
from turnspan_clickhouse.receive.otlp_json import decode_json
from turnspan_clickhouse.rows.tables import Annotation, SpanRow
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.importing.exports.otlp import Otlp
from turnspan_records.importing.files.file_log import FileLog
from turnspan_records.importing.import_run import import_log

STORY = (
    Made("GET /ask", "", 0, 20),
    agent("planner", "GET /ask", 1, 19),
    chat("first", "planner", 2),
    tool("research", "planner", 3, 8),
    Made("POST /research", "research", 4, 10, service="research"),
    agent("researcher", "POST /research", 5, 9, service="research"),
    chat("inner", "researcher", 6, service="research"),
    chat("second", "planner", 12),
)


def messages(*texts: str) -> str:
    """A history in which user and model speak in turn."""
    roles = ("user", "assistant")
    return json.dumps(
        [
            {"role": roles[n % 2], "parts": [{"type": "text", "content": text}]}
            for n, text in enumerate(texts)
        ]
    )


def talk(start: float, *said: str) -> list[tuple[str, list[Made]]]:
    """Calls without a session, each a trace of its own, that only their answers join."""
    found: list[tuple[str, list[Made]]] = []
    for number in range(0, len(said) - 1, 2):
        answer = said[number + 1]
        attributes = {
            "gen_ai.input.messages": messages(*said[: number + 1]),
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": [{"type": "text", "content": answer}]}]
            ),
        }
        name = f"{said[0]} {number}"
        found.append((name, [chat(name, "", start + number, attributes=attributes)]))
    return found


TALKS = (
    *talk(100, "hello", "Hello, what can I do?", "count", "one, two, three", "on", "four"),
    *talk(101, "other", "Something else then.", "yes", "So it is."),
)


def lines_of(stories: Sequence[tuple[str, Sequence[Made]]]) -> list[bytes]:
    """Requests of one span each, those of all stories in turn."""
    each = [[as_json(request(salt, [one])) for one in spans] for salt, spans in stories]
    mixed: list[bytes] = []
    while any(each):
        mixed += [spans.pop(0) for spans in each if spans]
    return mixed


def dumped(store: Store) -> dict[str, Sequence[Any]]:
    """Every table that spans become, without who wrote it and when."""
    left = {"message": "first_seen, written_at", "definition": "first_seen, written_at"}
    return {
        table: store.query(
            f"SELECT * EXCEPT ({left.get(table, 'writer, written_at')}) FROM {table} FINAL"
            " ORDER BY ALL"
        ).rows
        for table in ("llm_call", "tool_call", "turn_summary", "span", "message")
    }


def test_what_is_imported_is_what_would_have_been_received(tmp_path: Path) -> None:
    """Spans of many traces in any lines of two files, one packed; events of logs beside them."""
    stories = [(f"story {n}", STORY) for n in range(3)]
    lines = [*lines_of(stories), *lines_of(TALKS)]
    details = {"gen_ai.input.messages": messages("what was asked")}
    said = Said("gen_ai.client.inference.operation.details", "second", details, at=12.5)
    events = as_json(logs("story 1", [said]))
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines[:9]) + b"\n")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b"\n".join([*lines[9:], events, b""])))
    shared = InternCache()
    received, imported = (
        Dsn(scheme="chdb", path=tmp_path / name) for name in ("received", "imported")
    )
    assert received.path is not None
    copy_schema(received.path)
    receiver = Receiver(received, settings=ReceiveSettings())
    receiver.start()
    ended = [*(one for story in stories for one in [as_json(request(*story))]), *lines_of(TALKS)]
    for body in ended:
        receiver.submit(decode_json(body, shared)).result(10)
    receiver.submit(decode_json(events, shared, LOGS)).result(10)
    receiver.stop()
    ship(received, deadline=time.monotonic() + 30)
    with open_store(received) as store:
        expected = dumped(store)

    log = FileLog(Otlp(), [tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"])
    with migrated(imported) as store:
        report = import_log(lambda: nullcontext(store), Spool(imported.spool), log)
        found = dumped(store)
    log.close()

    assert not report.problems
    assert report.seen.total() == len(lines) + 1
    assert found["span"]
    for table, rows in expected.items():
        assert found[table] == rows, table


def of(path: Path, *bodies: bytes, **how: Any) -> Imported:
    path.write_bytes(b"\n".join(bodies) + b"\n")
    return import_files(Otlp(), [path], **how)


def old(body: bytes, years: int) -> bytes:
    """The same request, that many years ago."""

    def moved(value: Any) -> Any:
        fields, items = as_dict(value), as_list(value)
        if items is not None:
            return [moved(each) for each in items]
        if fields is None:
            return value
        back = years * 366 * 86_400 * 10**9
        return {
            key: str(int(each) - back) if key.endswith("UnixNano") else moved(each)
            for key, each in fields.items()
        }

    return json.dumps(moved(json.loads(body))).encode()


def test_old_spans_are_taken_and_bad_ones_told_of(tmp_path: Path) -> None:
    whole = as_json(request("s", STORY))
    bad = json.loads(as_json(request("t", [Made("x"), Made("y")])))
    bad["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = "abc"
    plain = as_json(logs("s", [Said("", "first", body="a line of a log")]))
    lost = as_json(logs("u", [Said("gen_ai.user.message", "nobody", {"content": "x"})]))

    made = of(
        tmp_path / "o.jsonl",
        old(whole, 9),
        b'{"resourceSpans": 3}',
        json.dumps(bad).encode(),
        plain,
        lost,
        whole,
        b'{"resourceMetrics": []}',
    )

    assert len(made.of(SpanRow)) == len(STORY) + 1
    assert {row.start_time // (366 * 86_400 * 10**9) for row in made.calls} == {
        (time.time_ns() - 9 * 366 * 86_400 * 10**9) // (366 * 86_400 * 10**9)
    }
    told = [(problem.row, problem.reason[:40]) for problem in made.problems]
    assert [row for row, _ in told] == ["o.jsonl:2", "o.jsonl:7", "o.jsonl:3", "o.jsonl:5"]
    assert made.seen["o.jsonl", "a span that came again"] == len(STORY)
    assert sum(n for (_, what), n in made.seen.items() if what.startswith("left out")) == 2


def test_an_evaluation_is_a_judgment_and_growth_tells_a_trace_again(tmp_path: Path) -> None:
    path = tmp_path / "g.jsonl"
    ended = sorted(STORY, key=lambda one: one.end)
    attributes = {"gen_ai.evaluation.name": "right", "gen_ai.evaluation.score.value": 0.5}
    event = as_json(logs("s", [Said("gen_ai.evaluation.result", "first", attributes)]))
    bodies = [*(as_json(request("s", [one])) for one in ended), event]

    first = of(path, *bodies[:4])
    second = of(path, *bodies, after=first.positions[-1], into=Imported())
    whole = of(tmp_path / "w.jsonl", *bodies)

    assert second.rows.keys() == whole.rows.keys()
    assert [turn.rounds for turn in second.turns] == [turn.rounds for turn in whole.turns]
    (judged,) = whole.of(Annotation)
    assert (judged.subject_kind, judged.score) == ("call", 0.5)
    assert not of(path, *bodies, after=second.positions[-1]).rows


@pytest.mark.parametrize("names", [False, True])
def test_protobufs_own_json_is_read(tmp_path: Path, names: bool) -> None:
    """Ids in base64, enumerations by name or number: what ``MessageToJson`` writes of a request."""
    attributes = {"gen_ai.input.messages": messages("what was asked")}
    said = Said("gen_ai.client.inference.operation.details", "second", attributes, at=12.5)
    traces, events = request("s", STORY), logs("s", [said])
    for of_resource in traces.resource_spans:
        span = of_resource.scope_spans[0].spans[0]
        span.kind = Span.SPAN_KIND_CLIENT
        if span.name == "second":
            span.status.code, span.status.message = Status.STATUS_CODE_ERROR, "went wrong"
            span.links.add(trace_id=b"\x07" * 16, span_id=b"\x08" * 8)
    bodies = [
        json.dumps(MessageToDict(one, use_integers_for_enums=not names)).encode()
        for one in (traces, events)
    ]

    made = of(tmp_path / "p.jsonl", *bodies)
    expected = of(tmp_path / "o.jsonl", as_json(traces), as_json(events))

    assert not made.problems
    assert repr(made.rows) == repr(expected.rows)
    assert {row.kind for row in made.of(SpanRow)} == {"CLIENT"}
    (failed,) = (call for call in made.calls if call.error_message == "went wrong")
    assert failed.input_messages


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'"traceId": "', b'"traceId": "zz', "trace id"),
        (b'"spanId": "', b'"spanId": "zz', "span id"),
        (b'"name": "one"', b'"name": "one", "kind": "CLIENT"', "kind is not an integer"),
        (b'"name": "one"', b'"name": "one", "status": {"code": "BAD"}', "code is not an integer"),
        (b"scopeSpans", b"instrumentationLibrarySpans", "scopeSpans"),
        (b"scopeSpans", b"scope_spans", "scopeSpans"),
        (b"resourceSpans", b"resource_spans", "resourceSpans"),
    ],
)
def test_spans_in_other_words_are_refused_with_the_reason(
    tmp_path: Path, old: bytes, new: bytes, why: str
) -> None:
    body = as_json(request("s", [Made("one")]))
    assert old in body

    made = of(tmp_path / "x.jsonl", body.replace(old, new))

    assert not made.of(SpanRow)
    (problem,) = made.problems
    assert why in problem.reason
