"""Whatever is sent: an answer of the 2xx or 4xx kind, and a server that goes on."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from receive.otlp import Made, as_json, chat, request, span_id, trace_id
from receive.serving import JSON, PROTOBUF, Served, serving
from receive.test_order import TWO_AGENTS, ask
from turnspan.content.model import as_dict, as_list
from turnspan_clickhouse.receive import decoded
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = pytest.mark.with_schema

ALLOWED = {200, 400, 413}


def test_garbage(embedded_dsn: Dsn) -> None:
    """Random bytes, cut and flipped requests, in both encodings, compressed and not."""
    chance = random.Random(7)
    made = request("garbage", TWO_AGENTS)
    good = {"protobuf": made.SerializeToString(), "json": as_json(made)}
    seen: set[int] = set()
    with serving(embedded_dsn) as served:
        for number in range(200):
            kind = chance.choice(("protobuf", "json"))
            body = bytearray(good[kind])
            match number % 4:
                case 0:
                    body = bytearray(chance.randbytes(chance.randint(0, 2_000)))
                case 1:
                    body = body[: chance.randrange(len(body))]
                case 2:
                    for _ in range(chance.randint(1, 20)):
                        body[chance.randrange(len(body))] = chance.randrange(256)
                case _:
                    at = chance.randrange(len(body))
                    body[at:at] = chance.randbytes(chance.randint(1, 50))
            headers = dict(JSON if kind == "json" else PROTOBUF)
            if number % 3 == 0:
                body = bytearray(gzip.compress(bytes(body)))
                headers["content-encoding"] = "gzip"
                if number % 2:
                    body[chance.randrange(len(body))] ^= 255
            seen.add(served.post(bytes(body), headers).status)
        _goes_on(served)
    assert seen <= ALLOWED
    assert {200, 400} <= seen
    ask(embedded_dsn, "SELECT count() FROM span")  # what landed of it can be read


def test_json_of_the_wrong_shape(embedded_dsn: Dsn) -> None:
    """Every value of a request replaced by one of every other kind."""
    whole: Any = json.loads(as_json(request("shape", TWO_AGENTS[:3])))
    others: list[Any] = [None, 0, -1, 1.5, 2**70, True, "", "x", "\ud800", [], [1], {}, {"a": []}]
    paths = list(_paths(whole))
    chance = random.Random(8)
    with serving(embedded_dsn) as served:
        for number in range(300):
            path, value = chance.choice(paths), others[number % len(others)]
            copy = json.loads(json.dumps(whole))
            at = copy
            for step in path[:-1]:
                at = at[step]
            at[path[-1]] = value
            answer = served.post(json.dumps(copy).encode(), JSON)
            assert answer.status in ALLOWED, (path, value, answer)
        _goes_on(served)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    fields = as_dict(value)
    items = enumerate(as_list(value) or []) if fields is None else fields.items()
    for key, item in items:
        yield from _paths(item, (*path, key))


def test_values_without_end(embedded_dsn: Dsn) -> None:
    """Deep nesting, very many attributes, numbers out of range, odd text, circles of parents."""
    deep = AnyValue(string_value="x")
    for _ in range(40):
        outer = AnyValue()
        outer.array_value.values.append(deep)
        deep = outer
    nested = request("deep", [Made("deep", "")])
    nested.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="deep").value.CopyFrom(deep)
    deeper = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"k","value":%s}]'
    deeper += b"}]}]}]}"
    level = b'{"arrayValue":{"values":[' * 300 + b"{}" + b"]}}" * 300
    far = b'{"resourceSpans":' + b"[" * 5_000 + b"]" * 5_000 + b"}"
    many = request("many", [Made("many", "", attributes={f"k{i}": i for i in range(30_000)})])
    dotted = {f"llm.input_messages.{'.'.join(map(str, range(900)))}": "x"}
    odd = {"gen_ai.input.messages": "[" * 900 + "]" * 900, "gen_ai.usage.input_tokens": -5}
    circle = request("circle", [chat("a", "b", 0), chat("b", "a", 0), chat("c", "c", 0)])
    times = request("times", [Made("t", "")])
    span = times.resource_spans[0].scope_spans[0].spans[0]
    span.end_time_unix_nano, span.flags = 2**64 - 1, 2**32 - 1
    setattr(span, "kind", 77)  # noqa: B010  no kind there is
    cases = [
        (nested.SerializeToString(), PROTOBUF, 200),
        (deeper % level, JSON, 400),
        (far, JSON, 400),
        (many.SerializeToString(), PROTOBUF, 200),
        (
            request("dotted", [chat("d", "", 0, attributes=dotted)]).SerializeToString(),
            PROTOBUF,
            200,
        ),
        (request("odd", [chat("o", "", 0, attributes=odd)]).SerializeToString(), PROTOBUF, 200),
        (circle.SerializeToString(), PROTOBUF, 200),
        (times.SerializeToString(), PROTOBUF, 200),
        (as_json(request("cut", [Made("CUT", "")])).replace(b"CUT", b"\\ud83d"), JSON, 200),
        (as_json(request("nul", [Made("a\0b", "")])), JSON, 200),
        (_not_utf8(), PROTOBUF, 400),
        (ExportTraceServiceRequest().SerializeToString(), PROTOBUF, 200),
    ]
    with serving(embedded_dsn) as served:
        for number, (body, headers, status) in enumerate(cases):
            assert served.post(body, headers).status == status, number
        _goes_on(served)
    counted = ask(
        embedded_dsn,
        "SELECT length(attributes) AS n, attributes['otel.dropped_attributes_count'] AS dropped"
        " FROM span WHERE name = 'many'",
    )
    assert counted == [{"n": 10_001, "dropped": "20000"}]


def _not_utf8() -> bytes:
    made = request("utf", [Made("XXXX", "", attributes=dict.fromkeys("abc", "YYYY"))])
    return made.SerializeToString().replace(b"YYYY", b"\xff\xfeYY")


def _goes_on(served: Served) -> None:
    body = request("goes on", TWO_AGENTS).SerializeToString()
    assert served.post(body, PROTOBUF).status == 200
    assert served.app.intake.waiting == 0


@pytest.mark.parametrize("headers", [PROTOBUF, JSON], ids=["protobuf", "json"])
def test_what_is_small_in_a_request_and_large_in_memory(
    embedded_dsn: Dsn, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    """Empty events and links are kept up to a number, of a span and of a request, and the rest is
    counted on the span; a request of countless empty resources is none."""
    monkeypatch.setattr(decoded, "MAX_EVENTS", 5)
    monkeypatch.setattr(decoded, "MAX_PARTS", 12)
    monkeypatch.setattr(decoded, "MAX_GROUPS", 3)
    made = request("many", [Made("first", ""), Made("second", "")])
    for of_resource in made.resource_spans:
        span = of_resource.scope_spans[0].spans[0]
        for _ in range(8):
            span.events.add()
        for _ in range(7):
            span.links.add(trace_id=trace_id("many"), span_id=span_id("many", "elsewhere"))
    with serving(embedded_dsn) as served:

        def post(body: ExportTraceServiceRequest) -> int:
            encoded = as_json(body) if headers is JSON else body.SerializeToString()
            return served.post(encoded, headers).status

        assert post(made) == 400  # two resources and two scopes
        for of_resource in made.resource_spans[1:]:
            made.resource_spans[0].scope_spans[0].spans.extend(of_resource.scope_spans[0].spans)
        del made.resource_spans[1]
        assert post(made) == 200
    found = ask(
        embedded_dsn,
        "SELECT name, JSONLength(events) AS events, JSONLength(links) AS links,"
        " attributes['otel.dropped_events_count'] AS no_events,"
        " attributes['otel.dropped_links_count'] AS no_links FROM span ORDER BY name",
    )
    assert [tuple(row.values()) for row in found] == [
        ("first", 5, 5, "3", "2"),
        ("second", 2, 0, "6", "7"),
    ]
