"""Rows of the record tables as the typed objects of ``conversation``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from turnspan_records.access.fields import of_row
from turnspan_records.access.times import utc
from turnspan_records.conversation import CallRecord, ToolExecutionRecord, TurnRecord

_IN_ORDER = " WHERE {where} ORDER BY start_time, span_id"

# What selects the rows of a session, in the order of their beginning.
TURNS = (
    "SELECT turn_id, parent_turn_id, trace_id, span_id, session_id, start_time, duration, status,"
    " agent_name, agent_version, user_message, response_text, stop_reason, stop_detail, rounds,"
    " max_rounds, llm_call_count, tool_call_count, tool_error_count, turn_intent, input_tokens,"
    " output_tokens, cost_usd, models, error_type, error_message"
    f" FROM turn_summary{_IN_ORDER}"
)

CALL_TEXTS = " response_text, response_thoughts, tool_calls,"
CALLS = (
    "SELECT span_id, trace_id, turn_id, parent_span_id, start_time, duration,"
    " time_to_first_chunk, round, provider, request_model, response_model, finish_reasons,"
    " input_tokens, output_tokens, cache_read_tokens, reasoning_tokens, cost_usd, tries,"
    " stream_outcome, error_type, error_message, agent_name,"
    f"{CALL_TEXTS}"
    " toUInt32(if(other = 0, toInt64(length(input_messages)), toInt64(other) - 1)) AS repeated,"
    " arrayMap(h -> lower(hex(h)), arraySlice(input_messages, repeated + 1)) AS input_hashes,"
    " arrayMap(h -> lower(hex(h)), output_messages) AS output_hashes,"
    " lower(hex(system_prompt)) AS system_hash"
    # In a query of its own: what is named by WITH is done once for each use, over all histories.
    " FROM (SELECT *, arrayFirstIndex((old, new) -> old != new,"
    " arrayResize(before, length(input_messages)), input_messages) AS other"
    " FROM (SELECT *, lagInFrame(input_messages) OVER (PARTITION BY agent_name"
    " ORDER BY start_time, span_id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before"
    " FROM llm_call WHERE {where})) AS sent ORDER BY start_time, span_id"
)
"""A history comes without what the call of this agent before had sent as well: all of them would
be the square of the calls."""

TOOLS = (
    "SELECT span_id, name, call_id, start_time, duration, round, arguments, result, failed,"
    " error_type, error_message, turn_id, trace_id, parent_span_id"
    f" FROM tool_call{_IN_ORDER}"
)


def dollars(amount: Any) -> float | None:
    """An amount of money as a number; ``None`` where it is not known."""
    return None if amount is None else float(amount)


def turn(row: Mapping[str, Any]) -> TurnRecord:
    """A turn_summary row selected by TURNS."""
    return of_row(TurnRecord, row, start_time=utc(row["start_time"]), models=list(row["models"]))


@dataclass(frozen=True, slots=True)
class SentCall:
    """A call, and how many messages it sent that the call of its agent before had sent as well.
    Its ``input_hashes`` are those after them, until ``fill_histories``."""

    call: CallRecord
    repeated: int
    tool_calls: str
    """The column, for calls whose messages are not recorded."""


def calls(rows: Iterable[Mapping[str, Any]]) -> list[SentCall]:
    """The llm_call rows of a session, selected by CALLS in their order."""
    found: list[SentCall] = []
    for row in rows:
        call = of_row(
            CallRecord,
            row,
            start_time=utc(row["start_time"]),
            model=row["response_model"] or row["request_model"],
            **{
                name: list(row[name])
                for name in ("finish_reasons", "input_hashes", "output_hashes")
            },
        )
        found.append(SentCall(call, int(row["repeated"]), str(row["tool_calls"])))
    return found


def fill_histories(sent: Iterable[SentCall]) -> None:
    """Give every call its whole input: all of them together are the square of the calls."""
    before: dict[str, list[str]] = {}
    for one in sent:
        call = one.call
        known = before.get(call.agent_name, [])[: one.repeated]
        call.input_hashes = before[call.agent_name] = [*known, *call.input_hashes]


def tool(row: Mapping[str, Any]) -> ToolExecutionRecord:
    """A tool_call row selected by TOOLS."""
    return of_row(ToolExecutionRecord, row, start_time=utc(row["start_time"]))
