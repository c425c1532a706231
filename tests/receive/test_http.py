"""OTLP/HTTP as the specification has it: encodings, compression, limits, answers."""

from __future__ import annotations

import gzip
import json
import logging
import shutil
import threading
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]  # it has none
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.proto.trace.v1.trace_pb2 import Status as ProtoStatus

from receive.otlp import Made, agent, as_json, chat, request, span_id, trace_id
from receive.serving import JSON, PROTOBUF, serving
from receive.test_order import TWO_AGENTS, ask
from turnspan.runtime.guard import errors
from turnspan_clickhouse.receive.intake import Notices
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_clickhouse.store.zstd import compressed

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]

STORY = (agent("a", "", 0, 9), chat("hello", "a", 1))
COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": lambda body: compressed(body)[0],
}
RICH: dict[str, Any] = {
    "text": "é🙂",
    "yes": True,
    "whole": -(2**62),
    "part": 0.25,
    "list": ["a", "b"],
    "numbers": [1, 2],
    "mixed": ["a", 1, None, {"b": [True]}],
    "map": {"deep": {"er": [1.5, "x"]}},
    "bytes": b"\x00\xff",
    "empty": [],
}


def test_both_encodings_and_each_compression_land_the_same(embedded_dsn: Dsn) -> None:
    """Attributes of every kind; the answer is in the request's encoding."""
    story = (*STORY, Made("GET /", "a", 2, 3, attributes=RICH))
    told = [(kind, encoding) for kind in ("protobuf", "json") for encoding in COMPRESSED]
    with serving(embedded_dsn) as served:
        for kind, encoding in told:
            made = request(f"{kind}/{encoding}", story)
            body = as_json(made) if kind == "json" else made.SerializeToString()
            headers = {**(JSON if kind == "json" else PROTOBUF), "content-encoding": encoding}
            answer = served.post(COMPRESSED[encoding](body), headers)
            assert answer.status == 200
            assert answer.headers["content-type"] == headers["content-type"]
            assert answer.body == (b"{}" if kind == "json" else b"")
    rows = ask(embedded_dsn, "SELECT attributes FROM span WHERE name = 'GET /'")
    turns = ask(embedded_dsn, "SELECT service, llm_call_count, trace_id FROM turn_summary")

    assert {turn["trace_id"] for turn in turns} == {
        trace_id(f"{kind}/{encoding}").hex() for kind, encoding in told
    }
    assert [(turn["service"], turn["llm_call_count"]) for turn in turns] == [("web", 1)] * 8
    assert [row["attributes"] for row in rows] == [
        {
            "text": "é🙂",
            "yes": "true",
            "whole": str(-(2**62)),
            "part": "0.25",
            "list": '["a","b"]',
            "numbers": "[1,2]",
            "mixed": '["a",1,null,{"b":[true]}]',
            "map": '{"deep":{"er":[1.5,"x"]}}',
            "bytes": "AP8=",
            "empty": "[]",
        }
    ] * 8


def test_everything_around_a_span_is_kept(embedded_dsn: Dsn) -> None:
    """Resource, scope with its attributes, events, links, status, state, kind, dropped counts."""
    made = request("around", [Made("PUT /x", "parent", 1, 2)])
    of_resource = made.resource_spans[0]
    of_resource.resource.attributes.add(key="deployment.environment").value.string_value = "prod"
    scope = of_resource.scope_spans[0].scope
    scope.version = "1.2.3"
    scope.attributes.add(key="short").value.string_value = "yes"
    span = of_resource.scope_spans[0].spans[0]
    span.kind, span.trace_state = Span.SPAN_KIND_CLIENT, "a=1,b=2"
    span.dropped_attributes_count = 7
    span.status.code, span.status.message = ProtoStatus.STATUS_CODE_ERROR, "gone wrong"
    event = span.events.add(name="retry", time_unix_nano=span.start_time_unix_nano + 5)
    event.attributes.add(key="n").value.int_value = 2
    link = span.links.add(trace_id=trace_id("other"), span_id=span_id("other", "x"))
    link.attributes.add(key="why").value.string_value = "batch"
    with serving(embedded_dsn) as served:
        for kind, body in ((PROTOBUF, made.SerializeToString()), (JSON, as_json(made))):
            assert served.post(body, kind).status == 200
    row = ask(
        embedded_dsn,
        "SELECT environment, kind, trace_state, status_code, status_message, scope_name,"
        " scope_version, attributes, events, links, parent_span_id, resource FROM span",
    )

    assert row == [
        {
            "environment": "prod",
            "kind": "CLIENT",
            "trace_state": "a=1,b=2",
            "status_code": "ERROR",
            "status_message": "gone wrong",
            "scope_name": "my-agent",
            "scope_version": "1.2.3",
            "attributes": {"otel.dropped_attributes_count": "7", "otel.scope.short": "yes"},
            "events": json.dumps(
                [
                    {
                        "name": "retry",
                        "time": span.start_time_unix_nano + 5,
                        "attributes": {"n": 2},
                    }
                ],
                separators=(",", ":"),
            ),
            "links": json.dumps(
                [
                    {
                        "trace_id": trace_id("other").hex(),
                        "span_id": span_id("other", "x").hex(),
                        "attributes": {"why": "batch"},
                    }
                ],
                separators=(",", ":"),
            ),
            "parent_span_id": span_id("around", "parent").hex(),
            "resource": {
                "service.name": "web",
                "turnspan.project": "story",
                "deployment.environment": "prod",
            },
        }
    ]


def test_requests_that_are_refused(embedded_dsn: Dsn) -> None:
    """Each with its status, a ``google.rpc.Status`` in the request's encoding, and no harm."""
    good = request("good", STORY).SerializeToString()
    bomb = gzip.compress(bytes(300_000))
    cases: list[tuple[str, str, bytes, dict[str, str], int]] = [
        ("GET", "/v1/traces", b"", {}, 405),
        ("POST", "/v1/metrics", b"[]", JSON, 400),
        ("POST", "/v1/metrics", b"\xff", PROTOBUF, 400),
        ("POST", "/v1/profiles", b"", PROTOBUF, 404),
        ("POST", "/v1/logs", b"[]", JSON, 400),
        ("POST", "/v1/logs", b"\xff", PROTOBUF, 400),
        ("GET", "/v1/logs", b"", {}, 405),
        ("POST", "/v1/logs", bomb, _gzipped(PROTOBUF), 413),
        ("POST", "/", good, PROTOBUF, 404),
        ("POST", "/v1/traces", good, {"content-type": "text/plain"}, 415),
        ("POST", "/v1/traces", good, {}, 415),
        ("POST", "/v1/traces", good, {**PROTOBUF, "content-encoding": "br"}, 415),
        ("POST", "/v1/traces", b"\xff" + good, PROTOBUF, 400),
        ("POST", "/v1/traces", b"{", JSON, 400),
        ("POST", "/v1/traces", b"[]", JSON, 400),
        ("POST", "/v1/traces", good, {**PROTOBUF, "content-encoding": "gzip"}, 400),
        ("POST", "/v1/traces", gzip.compress(good)[:-9], _gzipped(PROTOBUF), 400),
        ("POST", "/v1/traces", gzip.compress(b"") * 101, _gzipped(PROTOBUF), 400),
        ("POST", "/v1/traces", bomb, _gzipped(PROTOBUF), 413),
        ("POST", "/v1/traces", good, {**PROTOBUF, "content-encoding": "zstd"}, 400),
        ("POST", "/v1/traces", COMPRESSED["zstd"](good)[:-9], _zstd(PROTOBUF), 400),
        ("POST", "/v1/traces", COMPRESSED["zstd"](bytes(300_000)), _zstd(PROTOBUF), 413),
        ("POST", "/v1/traces", bytes(300_000), PROTOBUF, 413),
        ("POST", "/v1/traces", bytes(3_000_000), JSON, 413),
    ]
    with serving(embedded_dsn, max_request_bytes=200_000) as served:
        for method, path, body, headers, status in cases:
            answer = served.ask(method, path, body, headers)
            assert answer.status == status, (method, path, headers, answer)
            kind = answer.headers["content-type"]
            said = (
                json.loads(answer.body)["message"]
                if kind == "application/json"
                else Status.FromString(answer.body).message
            )
            assert said
            assert ("profiles are not recorded" in said) == path.endswith("/profiles")
            assert (kind == "application/json") == (headers == JSON or method == "GET")
            assert ("allow" in answer.headers) == (status == 405)
        assert served.post(good, PROTOBUF).status == 200
        assert served.receiver.counts["spans"] == 2
        assert served.app.intake.waiting == 0


def _zstd(headers: dict[str, str]) -> dict[str, str]:
    return {**headers, "content-encoding": "zstd"}


def _gzipped(headers: dict[str, str]) -> dict[str, str]:
    return {**headers, "content-encoding": "gzip"}


@pytest.mark.parametrize("kind", ["protobuf", "json"])
def test_a_span_that_cannot_be_taken_is_told_and_costs_only_itself(
    embedded_dsn: Dsn, kind: str
) -> None:
    """No ids, or a time no partition is for: ``partial_success`` says how many and why."""
    made = request("partly", [*STORY, Made("b", "a"), Made("c", "a"), Made("d", "a")])
    spans = [one.scope_spans[0].spans[0] for one in made.resource_spans]
    spans[2].trace_id = bytes(16)
    spans[3].span_id = b"short"
    spans[4].start_time_unix_nano = 4 * 10**18
    with serving(embedded_dsn) as served:
        if kind == "json":
            said = json.loads(served.post(as_json(made), JSON).body)["partialSuccess"]
            count, why = int(said["rejectedSpans"]), said["errorMessage"]
        else:
            body = served.post(made.SerializeToString(), PROTOBUF).body
            answer = ExportTraceServiceResponse.FromString(body).partial_success
            count, why = answer.rejected_spans, answer.error_message
        assert served.receiver.counts["refused"] == 3
        assert served.receiver.counts["spans"] == 2

    assert count == 3
    assert "trace id" in why
    assert "span id" in why
    assert "start time" in why


def test_a_bearer_token(embedded_dsn: Dsn) -> None:
    """Only who shows one of the tokens may write; anybody may ask for the health."""
    body = request("token", STORY).SerializeToString()
    with serving(embedded_dsn, tokens=["one", "two"]) as served:
        for shown in ("", "Bearer three", "Basic b25l", "one"):
            answer = served.post(body, {**PROTOBUF, "authorization": shown})
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
        for shown in ("Bearer two", "bearer one"):
            assert served.post(body, {**PROTOBUF, "authorization": shown}).status == 200
        health = served.ask("GET", "/health")
        assert (health.status, json.loads(health.body)["spans"]) == (200, 2)


@pytest.mark.tests_internal_errors
def test_a_spool_that_cannot_be_written(embedded_dsn: Dsn) -> None:
    """The client is told to come back; what comes back then lands once."""
    spool = embedded_dsn.spool
    spool.parent.mkdir(parents=True, exist_ok=True)
    body = request("later", TWO_AGENTS).SerializeToString()
    with serving(embedded_dsn) as served:
        shutil.rmtree(spool, ignore_errors=True)
        spool.write_text("a file where the folder should be")
        refused = [served.post(body, PROTOBUF) for _ in range(3)]
        assert served.ask("GET", "/health").status == 503
        spool.unlink()
        assert served.post(body, PROTOBUF).status == 200
        assert served.ask("GET", "/health").status == 200
        assert served.receiver.counts["spans"] == len(TWO_AGENTS)
    rows = ask(embedded_dsn, "SELECT sum(llm_call_count) AS n, count() AS turns FROM turn_summary")

    assert set(errors.counts()) == {"answers.write"}  # what others would be told of the session
    assert [(one.status, one.headers["retry-after"]) for one in refused] == [(503, "5")] * 3
    assert rows == [{"n": 4, "turns": 2}]


def test_a_full_spool_takes_no_more_and_drops_nothing(embedded_dsn: Dsn) -> None:
    """What was acknowledged stays; what comes is for later."""
    with serving(embedded_dsn) as served:
        assert served.post(request("fits", STORY).SerializeToString(), PROTOBUF).status == 200
        spool = served.receiver.spool
        held = spool.usage()
        spool.limit_bytes = held.bytes + 1
        over = request("over", STORY).SerializeToString()
        assert [served.post(over, PROTOBUF).status for _ in range(3)] == [503] * 3
        full = spool.usage()
        spool.limit_bytes = 2**30
        assert served.post(over, PROTOBUF).status == 200
    rows = ask(embedded_dsn, "SELECT count() AS n, sum(llm_call_count) AS calls FROM turn_summary")

    assert full.by_table == held.by_table
    assert not spool.usage().dropped
    assert rows == [{"n": 2, "calls": 2}]


def test_a_server_store_is_shipped_to(server_dsn: Dsn) -> None:
    """The receiver ships what it takes, and what is left when it stops."""
    with open_store(server_dsn) as store:
        migrate(store)
    with serving(server_dsn) as served:
        body = request("shipped", TWO_AGENTS).SerializeToString()
        assert served.post(body, PROTOBUF).status == 200
    with open_store(server_dsn) as store:
        rows = store.query("SELECT sum(llm_call_count) AS n FROM turn_summary").dicts()

    assert rows == [{"n": 4}]
    assert not served.receiver.spool.segments()


def test_too_much_at_once(embedded_dsn: Dsn) -> None:
    """More under way than may be held: 429, and the server goes on."""
    body = request("big", [Made("x", "", attributes={"blob": "x" * 400_000})]).SerializeToString()
    statuses: list[int] = []
    with serving(embedded_dsn, max_waiting_bytes=1_000_000) as served:

        def send() -> None:
            statuses.append(served.post(body, PROTOBUF).status)

        threads = [threading.Thread(target=send) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert served.post(body, PROTOBUF).status == 200
        assert served.app.intake.waiting == 0
    assert set(statuses) <= {200, 429}


def test_trouble_is_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    """A line for the first of a kind, and how many there were with the next."""
    now = [0.0]
    notices = Notices(clock=lambda: now[0])
    with caplog.at_level(logging.WARNING, "turnspan"):
        for _ in range(100):
            notices.tell("413", "too large")
        notices.tell("400", "malformed")
        now[0] = 61.0
        notices.tell("413", "too large")

    assert [record.getMessage() for record in caplog.records] == [
        "Turnspan receive: too large",
        "Turnspan receive: malformed",
        "Turnspan receive: too large (99 more since the last line)",
    ]
