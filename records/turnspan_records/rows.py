"""Rows of the record tables as the typed objects of ``conversation``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from turnspan_records.conversation import Call, ToolExecution, Turn

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

TURNS = (
    "SELECT turn_id, parent_turn_id, trace_id, span_id, session_id, start_time, duration, status,"
    " agent_name, agent_version, user_message, response_text, stop_reason, stop_detail, rounds,"
    " max_rounds, llm_call_count, tool_call_count, tool_error_count, turn_intent, input_tokens,"
    " output_tokens, cost_usd, models, error_type, error_message"
)

CALLS = (
    "WITH lagInFrame(input_messages) OVER (PARTITION BY agent_name ORDER BY start_time, span_id"
    " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before,"
    " arrayFirstIndex((old, new) -> old != new,"
    " arrayResize(before, length(input_messages)), input_messages) AS other,"
    " toUInt32(if(other = 0, toInt64(length(input_messages)), toInt64(other) - 1)) AS repeated"
    " SELECT span_id, trace_id, turn_id, parent_span_id, start_time, duration,"
    " time_to_first_chunk, round, provider, request_model, response_model, finish_reasons,"
    " input_tokens, output_tokens, cache_read_tokens, reasoning_tokens, cost_usd, tries,"
    " stream_outcome, error_type, error_message, agent_name, response_text, response_thoughts,"
    " tool_calls,"
    " repeated,"
    " arrayMap(h -> lower(hex(h)), arraySlice(input_messages, repeated + 1)) AS input_hashes,"
    " arrayMap(h -> lower(hex(h)), output_messages) AS output_hashes,"
    " lower(hex(system_prompt)) AS system_hash"
)
"""What selects the calls of a session, in the order of their beginning. A history comes without
what the call of this agent before had sent as well: all of them would be the square of the calls.
"""

TOOLS = (
    "SELECT span_id, name, call_id, start_time, duration, round, arguments, result, failed,"
    " error_type, error_message, turn_id, trace_id, parent_span_id"
)


def utc(value: Any) -> datetime:
    """A ``DateTime64(9, 'UTC')`` value as an aware datetime (the driver gives naive ones)."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=timezone.utc)
    return _EPOCH + timedelta(microseconds=int(value) // 1000)


def turn(row: Mapping[str, Any]) -> Turn:
    """A turn_summary row selected by TURNS."""
    values = dict(row)
    values["start_time"] = utc(values["start_time"])
    values["models"] = list(values["models"])
    return Turn(**values)


def calls(rows: Iterable[Mapping[str, Any]]) -> list[Call]:
    """The llm_call rows of a session, selected by CALLS in their order."""
    found: list[Call] = []
    before: dict[str, list[str]] = {}
    for row in rows:
        values = dict(row)
        values["start_time"] = utc(values["start_time"])
        for name in ("finish_reasons", "output_hashes"):
            values[name] = list(values[name])
        agent = str(values["agent_name"])
        sent_before = before.get(agent, [])[: values.pop("repeated")]
        values["input_hashes"] = before[agent] = [*sent_before, *values["input_hashes"]]
        request_model, response_model = values.pop("request_model"), values.pop("response_model")
        values["model"] = response_model or request_model
        del values["tool_calls"]
        found.append(Call(**values))
    return found


def tool(row: Mapping[str, Any]) -> ToolExecution:
    """A tool_call row selected by TOOLS."""
    values = dict(row)
    values["start_time"] = utc(values["start_time"])
    return ToolExecution(**values)
