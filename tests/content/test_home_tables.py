"""What home-made tables hold -> values, messages, tool calls and results."""

from __future__ import annotations

import json
from datetime import timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from turnspan.dialects.convert import convert
from turnspan_records.importing.home_tables.conversation import (
    AskedTool,
    asked_tools,
    messages_of,
    request_of,
    response_of,
    tool_results,
)
from turnspan_records.importing.home_tables.part import seconds_of
from turnspan_records.importing.home_tables.table_chunks import WINDOW, TablePosition
from turnspan_records.importing.home_tables.values import (
    decimal,
    integer,
    nanoseconds,
    parse_json,
)
from turnspan_records.importing.sources import SourceLogError

UTC = timezone.utc
BERLIN = ZoneInfo("Europe/Berlin")
SECOND = 10**9


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-05 10:00:01", 1772704801 * SECOND),
        ("2026-03-05 10:00:01.000001+00", 1772704801 * SECOND + 1000),
        ("2026-03-05T10:00:01.5Z", 1772704801 * SECOND + SECOND // 2),
        ("2026-03-05 12:30:01+02:30", 1772704801 * SECOND),
        ("2026-03-05", 1772668800 * SECOND),
        ("1970-01-01 00:00:00", 0),
        ("infinity", None),
        ("0000-00-00 00:00:00", None),
        ("2026-00-05 00:00:00", None),
        ("0044-03-15 12:00:00 BC", None),
        ("10000-01-01 00:00:00", None),
        ("2200-01-01 00:00:00", None),
        ("1969-12-31 23:59:59.999999", None),
        ("2026-03-05 25:00:00", None),
        ("", None),
    ],
)
def test_times(text: str, expected: int | None) -> None:
    """In UTC; what is no time, or none that a week of records has, is none."""
    assert nanoseconds(text, UTC) == expected


def test_times_without_a_zone_are_of_the_zone_that_is_given() -> None:
    assert nanoseconds("2026-07-01 12:00:00", BERLIN) == nanoseconds("2026-07-01 10:00:00", UTC)
    assert nanoseconds("2026-01-01 12:00:00", BERLIN) == nanoseconds("2026-01-01 11:00:00", UTC)
    assert nanoseconds("2026-07-01 12:00:00+00", BERLIN) == nanoseconds("2026-07-01 12:00:00", UTC)


def test_numbers() -> None:
    assert [integer(text) for text in ("7", "7.0", "7.5", "-1", "x", "NaN", "9" * 30)] == [
        7, 7, None, None, None, None, None,
    ]  # fmt: skip
    assert decimal("250.125") == Decimal("250.125")
    assert [decimal(text) for text in ("Infinity", "1e999999999", "a")] == [None, None, None]


@pytest.mark.parametrize("lasted", [0, 1, 999, 1_000_999_999, 1_001_000_000, 12 * 86_400 * SECOND])
def test_a_duration_gives_back_its_nanoseconds(lasted: int) -> None:
    """As the views compute the end: multiplied and cut."""
    assert int(seconds_of(lasted) * 1e9) == lasted


@pytest.mark.parametrize(
    ("text", "value", "problem"),
    [
        ("null", None, ""),
        ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}, ""),
        ('{"a": 1.10}', {"a": 1.1}, ""),
        ('{"a": 1e400}', {"a": "1e400"}, "has a number with more digits than a double"),
        ('"[1, 2]"', [1, 2], ""),
        ("NaN", None, "is no JSON"),
        ('{"a": ', None, "is no JSON"),
        ("[" * 100_000, None, "is no JSON"),
        ("9" * 5_000, None, "is no JSON"),
    ],
)
def test_json(text: str, value: Any, problem: str) -> None:
    """Exactly, or with the reason why the text is kept."""
    assert parse_json(text) == (value, problem)


CALLS = [AskedTool("c1", "read", {"path": "/a"}), AskedTool("c2", "stop", {})]


SHAPES: list[Any] = [
    [{"type": "text", "text": "hm"}, {"type": "tool_use", "id": "c1", "name": "read",
                                      "input": {"path": "/a"}},
     {"type": "tool_use", "id": "c2", "name": "stop", "input": {}}],
    {"content": [{"type": "thinking", "thinking": "x"},
                 {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "/a"}},
                 {"type": "tool_use", "id": "c2", "name": "stop", "input": {}}]},
    [{"id": "c1", "type": "function",
      "function": {"name": "read", "arguments": {"path": "/a"}}},
     {"id": "c2", "type": "function", "function": {"name": "stop", "arguments": {}}}],
    {"choices": [{"message": {"role": "assistant", "tool_calls": [
        {"id": "c1", "function": {"name": "read", "arguments": {"path": "/a"}}},
        {"id": "c2", "function": {"name": "stop", "arguments": {}}}]}}]},
    [{"tool_call_id": "c1", "tool": "read", "args": {"path": "/a"}},
     {"call_id": "c2", "tool_name": "stop", "parameters": {}}],
]  # fmt: skip


@pytest.mark.parametrize("column", SHAPES)
def test_tool_calls_of_all_shapes(column: Any) -> None:
    """As Anthropic writes them, as OpenAI does, with the reply around them or without."""
    assert asked_tools(column) == (CALLS, 0)


@pytest.mark.parametrize(
    ("column", "unknown"),
    [(None, 0), ([], 0), ({}, 0), ({"choices": [{"message": {"role": "assistant"}}]}, 0),
     ("text", 1), (7, 1), ([{"a": 1}, {"b": 2}], 2), ([[[[[[[[{"name": "deep"}]]]]]]]], 1)],
)  # fmt: skip
def test_what_is_no_tool_call_is_counted(column: Any, unknown: int) -> None:
    assert asked_tools(column) == ([], unknown)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([{"tool_call_id": "c2", "content": "two"}, {"tool_call_id": "c1", "content": "one"}],
         [("c2", "stop", "two", False), ("c1", "read", "one", False)]),
        ([{"tool_use_id": "c1", "content": "bad", "is_error": True}, {"name": "stop", "output": 3}],
         [("c1", "read", "bad", True), ("c2", "stop", 3, False)]),
        ({"c1": {"ok": False}, "c2": "fine"},
         [("c1", "read", {"ok": False}, True), ("c2", "stop", "fine", False)]),
        (["one", {"result": "two", "success": False}],
         [("c1", "read", "one", False), ("c2", "stop", "two", True)]),
        ([{"call_id": "c9", "name": "other", "result": None, "status": "error"}],
         [("c9", "other", None, True)]),
    ],
)  # fmt: skip
def test_results_find_their_calls(column: Any, expected: list[Any]) -> None:
    """By the id, by the name, by the place; what failed says so itself."""
    found, unknown = tool_results(column, CALLS)
    assert unknown == 0
    assert [(one.call_id, one.name, one.result, one.failed) for one in found] == expected


@pytest.mark.parametrize(
    "history",
    [
        [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}],
        [{"role": "user", "content": [{"type": "text", "text": "hi"}]},
         {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"},
                                           {"type": "text", "text": "yes"}]}],
        [{"role": "user", "parts": [{"type": "text", "content": "hi"}]},
         {"role": "assistant", "parts": [{"type": "text", "content": "yes"}]}],
        [{"role": "user", "parts": [{"text": "hi"}]},
         {"role": "model", "parts": [{"text": "yes"}]}],
        {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]},
    ],
)  # fmt: skip
def test_histories_of_all_shapes(history: Any) -> None:
    """OpenAI's, Anthropic's, the conventions' and Gemini's; the reply in the same words."""
    messages = messages_of(history)
    assert messages is not None
    dialect, request = request_of(messages)
    found = convert(dialect, request, response_of(dialect, "done", "because", CALLS))
    assert [message["role"] for message in found.input] == ["user", "assistant"]
    assert [
        part["content"]
        for message in found.input
        for part in message["parts"]
        if part["type"] == "text"
    ] == ["hi", "yes"]
    assert (found.response_text, found.response_thoughts) == ("done", "because")
    assert found.tool_calls == [
        {"id": one.call_id, "name": one.name, "arguments": one.arguments} for one in CALLS
    ]


@pytest.mark.parametrize("history", [None, 7, "text", {"a": 1}])
def test_what_is_no_history(history: Any) -> None:
    assert not messages_of(history)


def test_missing_keys_are_remembered_as_long_as_they_may_come() -> None:
    """Between the newest keys; of those far behind nobody waits any more."""
    place = TablePosition()
    for key in (10, 12, 15):
        place.passed(key)
    assert place.gaps[1:] == [(11, 11), (13, 14)]
    assert place.gaps[0][1] == 9  # before the first
    place.fill([13])
    assert TablePosition.of(place.text()).gaps[1:] == [(11, 11), (14, 14)]
    place.passed(16 + WINDOW)
    assert place.gaps == [(16, 15 + WINDOW)]
    for key in range(10**6, 10**6 + 4_000, 2):
        place.passed(key)
    assert len(place.text()) < 12_000


@pytest.mark.parametrize("text", ["{}", "[", '{"key": 1, "time": 2, "gaps": [3]}', "7"])
def test_a_position_that_cannot_be_read_says_what_to_do(text: str) -> None:
    with pytest.raises(SourceLogError, match="--again"):
        TablePosition.of(text)


def test_arguments_with_long_numbers_stay_exact() -> None:
    text = json.dumps({"n": 2**80})
    (tool,), _ = asked_tools([{"id": "c", "function": {"name": "f", "arguments": text}}])
    assert tool.arguments == {"n": 2**80}
