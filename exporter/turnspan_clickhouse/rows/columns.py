"""Rows, column by column: every value of a column in a list of its own.

Written by ``.ci/row_columns.py`` from the classes of ``tables.py``. The names stand here once more
because of what it costs to read a column whose name is known only when it is read: six times as
much where this is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, cast

from turnspan_clickhouse.rows.tables import (
    LlmCall,
    Located,
    MessageRow,
    Record,
    SpanRow,
    ToolCall,
    TurnSummary,
    columns,
)


def columns_of(kind: type[Record], rows: Sequence[Record]) -> list[list[Any]]:
    """The values of each column of a record class, in order."""
    known: Any = list(rows)
    if kind is LlmCall:
        return _llm_call(known)
    if kind is SpanRow:
        return _span(known)
    if kind is ToolCall:
        return _tool_call(known)
    if kind is MessageRow:
        return _message(known)
    if kind is TurnSummary:
        return _turn_summary(known)
    return [list(map(attrgetter(name), rows)) for name, _ in columns(kind)]


def _located(rows: list[Located]) -> list[list[Any]]:
    return [
        [row.project for row in rows],
        [row.service for row in rows],
        [row.environment for row in rows],
        [row.session_id for row in rows],
        [row.turn_id for row in rows],
        [row.trace_id for row in rows],
        [row.span_id for row in rows],
        [row.parent_span_id for row in rows],
    ]


def _llm_call(rows: list[LlmCall]) -> list[list[Any]]:
    return [
        *_located(cast("list[Located]", rows)),
        [row.start_time for row in rows],
        [row.duration for row in rows],
        [row.time_to_first_chunk for row in rows],
        [row.round for row in rows],
        [row.provider for row in rows],
        [row.operation for row in rows],
        [row.request_model for row in rows],
        [row.response_model for row in rows],
        [row.response_id for row in rows],
        [row.request_parameters for row in rows],
        [row.stream for row in rows],
        [row.stream_outcome for row in rows],
        [row.tries for row in rows],
        [row.finish_reasons for row in rows],
        [row.input_tokens for row in rows],
        [row.output_tokens for row in rows],
        [row.cache_read_tokens for row in rows],
        [row.cache_write_tokens for row in rows],
        [row.reasoning_tokens for row in rows],
        [row.tokens_estimated for row in rows],
        [row.cost_usd for row in rows],
        [row.price_version for row in rows],
        [row.error_type for row in rows],
        [row.error_message for row in rows],
        [row.input_messages for row in rows],
        [row.output_messages for row in rows],
        [row.system_prompt for row in rows],
        [row.tool_definitions for row in rows],
        [row.context_assembled for row in rows],
        [row.response_text for row in rows],
        [row.response_thoughts for row in rows],
        [row.tool_calls for row in rows],
        [row.agent_name for row in rows],
        [row.agent_version for row in rows],
        [row.consortium_id for row in rows],
        [row.consortium_role for row in rows],
        [row.lineage_id for row in rows],
        [row.rollout_id for row in rows],
        [row.attempt_id for row in rows],
        [row.scope_name for row in rows],
        [row.attributes for row in rows],
        [row.writer for row in rows],
        [row.written_at for row in rows],
    ]


def _span(rows: list[SpanRow]) -> list[list[Any]]:
    return [
        *_located(cast("list[Located]", rows)),
        [row.trace_state for row in rows],
        [row.name for row in rows],
        [row.kind for row in rows],
        [row.start_time for row in rows],
        [row.duration for row in rows],
        [row.status_code for row in rows],
        [row.status_message for row in rows],
        [row.scope_name for row in rows],
        [row.scope_version for row in rows],
        [row.attributes for row in rows],
        [row.resource for row in rows],
        [row.events for row in rows],
        [row.links for row in rows],
        [row.writer for row in rows],
        [row.written_at for row in rows],
    ]


def _tool_call(rows: list[ToolCall]) -> list[list[Any]]:
    return [
        *_located(cast("list[Located]", rows)),
        [row.start_time for row in rows],
        [row.duration for row in rows],
        [row.round for row in rows],
        [row.name for row in rows],
        [row.type for row in rows],
        [row.call_id for row in rows],
        [row.arguments for row in rows],
        [row.result for row in rows],
        [row.failed for row in rows],
        [row.error_type for row in rows],
        [row.error_message for row in rows],
        [row.agent_name for row in rows],
        [row.scope_name for row in rows],
        [row.attributes for row in rows],
        [row.writer for row in rows],
        [row.written_at for row in rows],
    ]


def _message(rows: list[MessageRow]) -> list[list[Any]]:
    return [
        [row.project for row in rows],
        [row.scope for row in rows],
        [row.hash for row in rows],
        [row.role for row in rows],
        [row.name for row in rows],
        [row.parts for row in rows],
        [row.source for row in rows],
        [row.dialect for row in rows],
        [row.first_seen for row in rows],
        [row.written_at for row in rows],
    ]


def _turn_summary(rows: list[TurnSummary]) -> list[list[Any]]:
    return [
        [row.project for row in rows],
        [row.service for row in rows],
        [row.environment for row in rows],
        [row.session_id for row in rows],
        [row.user_id for row in rows],
        [row.turn_id for row in rows],
        [row.parent_turn_id for row in rows],
        [row.trace_id for row in rows],
        [row.span_id for row in rows],
        [row.parent_span_id for row in rows],
        [row.start_time for row in rows],
        [row.duration for row in rows],
        [row.status for row in rows],
        [row.agent_name for row in rows],
        [row.agent_version for row in rows],
        [row.user_message for row in rows],
        [row.response_text for row in rows],
        [row.stop_reason for row in rows],
        [row.stop_detail for row in rows],
        [row.rounds for row in rows],
        [row.max_rounds for row in rows],
        [row.llm_call_count for row in rows],
        [row.tool_call_count for row in rows],
        [row.tool_error_count for row in rows],
        [row.silent_rounds for row in rows],
        [row.max_identical_tool_streak for row in rows],
        [row.no_progress_rounds for row in rows],
        [row.turn_intent for row in rows],
        [row.chat_mode for row in rows],
        [row.task_type for row in rows],
        [row.target for row in rows],
        [row.input_tokens for row in rows],
        [row.output_tokens for row in rows],
        [row.cache_read_tokens for row in rows],
        [row.cache_write_tokens for row in rows],
        [row.reasoning_tokens for row in rows],
        [row.cost_usd for row in rows],
        [row.models for row in rows],
        [row.error_type for row in rows],
        [row.error_message for row in rows],
        [row.lineage_id for row in rows],
        [row.rollout_id for row in rows],
        [row.attempt_id for row in rows],
        [row.scope_name for row in rows],
        [row.attributes for row in rows],
        [row.writer for row in rows],
        [row.written_at for row in rows],
    ]
