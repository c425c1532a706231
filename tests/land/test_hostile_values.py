"""Values that JSON, attributes or ClickHouse cannot hold: the application gets them back, and each
piece of telemetry lands with something readable in their place."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]


def deep(make: Callable[[Any], Any]) -> Any:
    """A container in a container, 100,000 times."""
    value = make(None)
    for _ in range(100_000):
        value = make(value)
    return value


CYCLIC: list[Any] = [1]
CYCLIC.append(CYCLIC)
CYCLIC_DICT: dict[str, Any] = {}
CYCLIC_DICT["self"] = CYCLIC_DICT

VALUES: dict[str, tuple[Any, str]] = {
    "bytes": (b"\xff\x00raw", '"sha256:432ebf'),
    "bytearray": (bytearray(b"\xfe"), '"sha256:aa687b'),
    "nan": (math.nan, "null"),
    "infinity": (-math.inf, "null"),
    "65 bits": (-(2**70), "-1180591620717411303424"),
    "5,000 digits": (10**5000, '"<integer of 16610 bits>"'),
    "surrogate": ("a\ud800b", '"a?b"'),
    "surrogate in a key": ({"k\udfff": 1}, '{"k?":1}'),
    "zero byte": ("a\0b", '"a\\u0000b"'),
    "cyclic list": (CYCLIC, "[1,[1,[1,"),
    "cyclic dict": (CYCLIC_DICT, '{"self":{"self":'),
    "deep list": (deep(lambda inner: [inner]), "[[[[["),
    "deep dict": (deep(lambda inner: {"d": inner}), '{"d":{"d":'),
    "keys of other types": ({1: {(2, 3): 4}}, '{"1":{"(2, 3)":4}}'),
    "set": ({7}, "[7]"),
    "complex": (3j, '"3j"'),
}
"""Each with how its JSON in the store begins."""
NO_ATTRIBUTES = {"cyclic list", "cyclic dict", "deep list", "deep dict"}
"""OpenTelemetry's own ``set_attribute`` raises for these, before anybody sees a span."""


@pytest.fixture
def rows(store_dsn: Dsn) -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
    """An application that records to a fresh store; asks it once all has landed."""
    with open_store(store_dsn) as store:
        migrate(store)
    provider = TracerProvider()
    turnspan.configure(store=str(store_dsn), exporters=["turnspan"], tracer_provider=provider)

    def ask(sql: str) -> list[tuple[Any, ...]]:
        result = turnspan.flush()
        assert result.ok
        assert result.dropped == {}
        ship(store_dsn)
        with open_store(store_dsn) as store:
            return [tuple(row) for row in store.query(sql, settings={"final": 0}).rows]

    others = provider.get_tracer("somebody.else")
    for name, (value, _) in VALUES.items():
        run_turn(name, value, others)
    yield ask
    turnspan.shutdown()
    provider.shutdown()


def run_turn(name: str, value: Any, others: Any) -> None:
    """A turn with the value in every place that takes one."""

    @turnspan.tool(name)
    def echo(given: Any) -> Any:
        return given

    @turnspan.agent(name)
    def agent(given: Any) -> Any:
        assert echo(given) is given
        turnspan.current_turn().set(anything=given)
        messages = [
            {"role": "user", "content": given},
            {"role": "user", "content": [{"type": "text", "text": given}]},
        ]
        with turnspan.inference(
            model=name, messages=messages, temperature=given, max_tokens=given, stop=given, n=given
        ) as call:
            call.response(text="ok", tool_calls=[{"id": "c", "name": "n", "arguments": given}])
        with others.start_as_current_span(f"other {name}") as span:
            if name not in NO_ATTRIBUTES:
                span.set_attribute("value", given)
                span.set_attribute("gen_ai.input.messages", given)
                span.add_event("event", {"value": given})
        return given

    with turnspan.session("s"):
        assert agent(value) is value


def test_each_lands_with_a_readable_stand_in(
    rows: Callable[[str], list[tuple[Any, ...]]],
) -> None:
    """As a tool's argument and result, in a message, a request, a requested call and a turn, and in
    the attributes of spans that others make."""
    tools = {
        name: (given, got)
        for name, given, got in rows("SELECT name, arguments, result FROM tool_call")
    }
    assert tools.keys() == VALUES.keys()
    for name, (_, expected) in VALUES.items():
        given, got = tools[name]
        assert given.startswith('{"given":' + expected), name
        assert given.endswith("}")
        assert got[:5] not in ("", "<cann"), name
        json.loads(given)

    calls = {
        row[0]: row[1:]
        for row in rows(
            "SELECT request_model, tool_calls, request_parameters, length(input_messages),"
            " response_text FROM llm_call"
        )
    }
    assert calls.keys() == VALUES.keys()
    for name, (_, expected) in VALUES.items():
        asked, parameters, messages, text = calls[name]
        assert ('"arguments":' + expected) in asked, name
        assert ('"temperature":' + expected) in parameters, name
        json.loads(parameters)
        assert (messages, text) == (2, "ok")

    turns = rows(
        "SELECT agent_name, status, stop_reason, rounds, tool_call_count FROM turn_summary"
        " WHERE status = 'final'"
    )
    assert sorted(turns) == sorted((name, "final", "completed", 1, 1) for name in VALUES)
    for (parts,) in rows("SELECT parts FROM message"):
        json.loads(parts)

    spans = dict(rows("SELECT name, attributes FROM span WHERE startsWith(name, 'other ')"))
    assert spans.keys() == {f"other {name}" for name in VALUES}
    assert all(spans[f"other {n}"]["value"] for n in VALUES if n not in NO_ATTRIBUTES)


class Unspeakable:
    """What raises when it is to be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


NAMES: list[Any] = [None, 5, math.nan, b"raw", "a\ud800b", "", "n" * 1_000_000]


@pytest.mark.tests_internal_errors
def test_names_that_are_no_text(embedded_dsn: Dsn) -> None:
    """A span's name, which OpenTelemetry takes as it is, and a session's, which must not raise."""
    provider = TracerProvider()
    turnspan.configure(store=str(embedded_dsn), exporters=["turnspan"], tracer_provider=provider)
    tracer = provider.get_tracer("somebody.else")
    for name in NAMES:
        tracer.start_span(name).end()
    unspeakable: Any = Unspeakable()
    with turnspan.session(unspeakable, user_id=unspeakable), turnspan.tool("t"):
        pass
    assert set(turnspan.flush().dropped) == {"internal_error"}
    turnspan.shutdown()
    provider.shutdown()
    ship(embedded_dsn)
    with open_store(embedded_dsn) as store:
        (row,) = store.query(
            "SELECT count(), max(length(name)), countIf(name = 't') FROM span"
        ).rows
        assert tuple(row) == (len(NAMES) + 1, 1_000_000, 0)
        assert store.query("SELECT name, session_id FROM tool_call").rows == [("t", "")]
