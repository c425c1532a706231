"""Tools, turns and plain spans -> their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final, cast

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode

from turnspan import semconv
from turnspan.content.json_codec import canonical
from turnspan.content.media import media_out
from turnspan.content.model import dumps_text, last_user_text
from turnspan.dialects.convert import convert_message, split_request
from turnspan.redaction.content_keys import event_without_content, without_content
from turnspan.redaction.redactor import Redactor
from turnspan.runtime import otel_private
from turnspan.tracing.content_store import StartedTurn, ToolContent, TurnContent
from turnspan.turn.tool_failure import tool_failed
from turnspan_clickhouse.normalise.attributes import EVERYWHERE, IN_THE_LOOP, Cleaner
from turnspan_clickhouse.normalise.column_values import agent_version, integer, text
from turnspan_clickhouse.normalise.content_columns import write_content
from turnspan_clickhouse.normalise.llm_call import usage_of
from turnspan_clickhouse.normalise.span_facts import Origins, SpanFacts, locate
from turnspan_clickhouse.normalise.turn_facts import set_usage
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import SpanRow, ToolCall, TurnSummary

_NAMES: Final = {id(each): each.name for each in (*SpanKind, *StatusCode)}
"""Of the members of enumerations, by identity: to ask a member itself takes four times as long."""

RUNNING, FINAL, INTERRUPTED = "running", "final", "interrupted"

_TOOL_COLUMNS = EVERYWHERE | {
    semconv.TOOL_NAME,
    semconv.TOOL_TYPE,
    semconv.TOOL_CALL_ID,
    semconv.TOOL_FAILED,
    semconv.TOOL_CALL_ARGUMENTS,
    semconv.TOOL_CALL_RESULT,
    semconv.ROUND,
}

_TURN_COLUMNS = (
    EVERYWHERE
    | IN_THE_LOOP
    | {
        semconv.AGENT_VERSION,
        semconv.TURN_MODELS,
        semconv.USER_ID,
        semconv.TURN_PARENT_ID,
        semconv.TURN_STOP_REASON,
        semconv.TURN_STOP_DETAIL,
        semconv.TURN_ROUNDS,
        semconv.TURN_MAX_ROUNDS,
        semconv.TURN_LLM_CALLS,
        semconv.TURN_TOOL_CALLS,
        semconv.TURN_TOOL_ERRORS,
        semconv.TURN_SILENT_ROUNDS,
        semconv.TURN_MAX_IDENTICAL_TOOL_STREAK,
        semconv.TURN_NO_PROGRESS_ROUNDS,
        semconv.TURN_INTENT,
        semconv.TURN_CHAT_MODE,
        semconv.TURN_TASK_TYPE,
        semconv.TURN_TARGET,
        semconv.USAGE_INPUT_TOKENS,
        semconv.USAGE_OUTPUT_TOKENS,
        semconv.INPUT_MESSAGES,
        semconv.OUTPUT_MESSAGES,
    }
)


def tool_call(facts: SpanFacts, content: ToolContent | None, batch: Batch) -> ToolCall:
    """The row of an executed tool."""
    a = facts.attributes
    arguments = content.arguments if content is not None else a.get(semconv.TOOL_CALL_ARGUMENTS)
    result = content.result if content is not None else a.get(semconv.TOOL_CALL_RESULT)
    failed = a.get(semconv.TOOL_FAILED) is True or bool(facts.error_type) or tool_failed(result)
    row = ToolCall.__new__(ToolCall)
    locate(row, facts, batch)
    row.turn_id = facts.turn_id or facts.trace_id
    row.round = integer(a.get(semconv.ROUND)) or 0
    row.name = text(a.get(semconv.TOOL_NAME))
    row.type = text(a.get(semconv.TOOL_TYPE))
    row.call_id = text(a.get(semconv.TOOL_CALL_ID))
    row.failed = failed
    row.error_type = facts.error_type
    row.error_message = facts.error_message
    row.agent_name = text(a.get(semconv.AGENT_NAME))
    row.attributes = facts.other_attributes(_TOOL_COLUMNS)
    row.arguments = ""
    row.result = ""
    write_content(row, "arguments", arguments, "tool_arguments", batch)
    write_content(row, "result", result, "tool_result", batch)
    return row


def turn_summary(
    facts: SpanFacts, content: TurnContent | None, cost: Decimal | None, batch: Batch
) -> TurnSummary:
    """The final row of a turn."""
    a = facts.attributes
    turn = content.turn if content is not None else None
    usage = turn.usage if turn is not None else usage_of(a)
    row = TurnSummary.__new__(TurnSummary)
    locate(row, facts, batch)
    row.user_id = text(a.get(semconv.USER_ID))
    row.turn_id = facts.turn_id or facts.span_id
    row.parent_turn_id = text(a.get(semconv.TURN_PARENT_ID))
    row.status = FINAL
    row.agent_name = text(a.get(semconv.AGENT_NAME))
    row.agent_version = agent_version(a)
    reason = text(a.get(semconv.TURN_STOP_REASON))
    row.stop_reason = reason or ("error" if facts.error_type else "completed")
    row.stop_detail = text(a.get(semconv.TURN_STOP_DETAIL))
    row.turn_intent = text(a.get(semconv.TURN_INTENT))
    row.chat_mode = text(a.get(semconv.TURN_CHAT_MODE)) or "unknown"
    row.task_type = text(a.get(semconv.TURN_TASK_TYPE))
    row.target = text(a.get(semconv.TURN_TARGET))
    row.rounds = integer(a.get(semconv.TURN_ROUNDS)) or 0
    row.max_rounds = integer(a.get(semconv.TURN_MAX_ROUNDS))
    row.llm_call_count = integer(a.get(semconv.TURN_LLM_CALLS)) or 0
    row.tool_call_count = integer(a.get(semconv.TURN_TOOL_CALLS)) or 0
    row.tool_error_count = integer(a.get(semconv.TURN_TOOL_ERRORS)) or 0
    row.silent_rounds = integer(a.get(semconv.TURN_SILENT_ROUNDS)) or 0
    row.max_identical_tool_streak = integer(a.get(semconv.TURN_MAX_IDENTICAL_TOOL_STREAK)) or 0
    row.no_progress_rounds = integer(a.get(semconv.TURN_NO_PROGRESS_ROUNDS)) or 0
    set_usage(row, usage)
    row.cost_usd = cost
    row.models = _models(a)
    row.error_type, row.error_message = facts.error_type, facts.error_message
    row.lineage_id = text(a.get(semconv.LINEAGE_ID))
    row.rollout_id = text(a.get(semconv.ROLLOUT_ID))
    row.attempt_id = text(a.get(semconv.ATTEMPT_ID))
    row.attributes = facts.other_attributes(_TURN_COLUMNS)
    row.user_message = ""
    row.response_text = ""
    if content is not None and content.captured:
        write_content(row, "user_message", _user_message(content), "user_message", batch)
        answer = canonical(content.turn.reply)
        write_content(row, "response_text", answer, "response_text", batch)
    return row


def _models(attributes: dict[str, Any]) -> list[str]:
    models = attributes.get(semconv.TURN_MODELS)
    if isinstance(models, (list, tuple)):
        return [text(model) for model in cast("Iterable[Any]", models)]
    model = text(attributes.get(semconv.REQUEST_MODEL))  # an agent of one model, traced by others
    return [model] if model else []


def running_turn(
    started: StartedTurn, origins: Origins, cleaner: Cleaner, batch: Batch
) -> TurnSummary:
    """The row of a turn that has begun and not ended."""
    column = cleaner.column
    turn = started.turn
    origin = origins.of(started.resource)
    session = turn.place()
    loop = (session.loop if session is not None else None) or {}
    row = TurnSummary(
        project=origin.project,
        service=origin.service,
        environment=origin.environment,
        session_id=column(semconv.CONVERSATION_ID, session.id) if session is not None else "",
        user_id=column(semconv.USER_ID, session.user_id) if session is not None else "",
        turn_id=turn.id,
        parent_turn_id=turn.parent.id if turn.parent is not None else "",
        trace_id=f"{started.trace_id:032x}",
        span_id=f"{started.span_id:016x}",
        parent_span_id=f"{started.parent_span_id:016x}" if started.parent_span_id else "",
        start_time=started.start_time,
        status=RUNNING,
        agent_name=column(semconv.AGENT_NAME, turn.agent_name),
        agent_version=column(
            semconv.TURN_AGENT_VERSION,
            turn.agent_version or loop.get(semconv.TURN_AGENT_VERSION, ""),
        ),
        stop_reason=RUNNING,
        max_rounds=integer(turn.max_rounds),
        turn_intent=column(semconv.TURN_INTENT, turn.intent),
        chat_mode=column(semconv.TURN_CHAT_MODE, turn.chat_mode) or "unknown",
        task_type=column(semconv.TURN_TASK_TYPE, turn.task_type),
        target=column(semconv.TURN_TARGET, turn.target),
        lineage_id=column(semconv.LINEAGE_ID, loop.get(semconv.LINEAGE_ID, "")),
        rollout_id=column(semconv.ROLLOUT_ID, loop.get(semconv.ROLLOUT_ID, "")),
        attempt_id=column(semconv.ATTEMPT_ID, loop.get(semconv.ATTEMPT_ID, "")),
        writer=batch.writer,
        written_at=batch.written_at,
    )
    message = started.user_message
    write_content(row, "user_message", message, "user_message", batch)
    return row


def span_row(facts: SpanFacts, batch: Batch) -> SpanRow:
    """The row of any span, without content."""
    span, redactor = facts.span, batch.redactor
    status = facts.status
    description = ""
    if not redactor.settings.capture_content:  # what an exception says may quote the content
        description = facts.error_type
    elif status.description:
        description = redactor.text(status.description, "error")
    row = SpanRow.__new__(SpanRow)
    locate(row, facts, batch)
    row.trace_state = facts.trace_state
    row.name = redactor.text(text(span.name), "span_name")
    row.kind = _NAMES[id(span.kind)]
    row.status_code = _NAMES[id(status.status_code)]
    row.status_message = description
    row.scope_version = facts.scope.version
    row.attributes = facts.all_attributes()
    row.resource = facts.origin.resource
    row.events = _events(span, redactor) if otel_private.may_have_events(span) else ""
    row.links = _links(span, redactor) if otel_private.may_have_links(span) else ""
    return row


def _events(span: ReadableSpan, redactor: Redactor) -> str:
    captured = redactor.settings.capture_content
    events: list[dict[str, Any]] = []
    for e in span.events:
        said = dict(e.attributes or {})
        kept = said if captured else event_without_content(e.name, said)
        if not redactor.settings.capture_media:
            kept = {key: media_out(value) for key, value in kept.items()}
        events.append({"name": e.name, "time": e.timestamp, "attributes": _plain(kept)})
    return dumps_text(redactor.value(events, "event"))


def _links(span: ReadableSpan, redactor: Redactor) -> str:
    links: list[dict[str, Any]] = []
    for link in span.links:
        context = link.context
        told: dict[str, Any] = {
            "trace_id": f"{context.trace_id:032x}",
            "span_id": f"{context.span_id:016x}",
        }
        said = link.attributes or {}
        kept = said if redactor.settings.capture_content else without_content(said)
        if kept:
            told["attributes"] = redactor.value(_plain(kept), "link")
        links.append(told)
    return dumps_text(links)


def _plain(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as JSON has them: lists for tuples."""
    return {
        key: list(cast("Iterable[Any]", value)) if isinstance(value, tuple) else value
        for key, value in attributes.items()
    }


def _user_message(content: TurnContent) -> Any:
    turn, message = content.turn, content.user_message
    if message is None and turn.first_request is not None:
        dialect, request = turn.first_request
        raw = split_request(dialect, dict(request)).messages_raw
        return last_user_text([convert_message(dialect, m) for m in raw[-8:]])
    return message
