"""Conversations and ends of turns as plain text for a model to read: every line of a recorded text
begins with ``| ``, so that none looks like one of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final, Literal

from turnspan.runtime.type_guards import is_dict, is_list
from turnspan.semconv import OUTSIDE_ROUNDS
from turnspan_console import values
from turnspan_records.conversation import (
    CallRecord,
    Conversation,
    MessageRecord,
    Step,
    ToolExecutionRecord,
    ToolRequestRecord,
    TurnRecord,
)
from turnspan_records.screens.turn_end import TurnEnd

Level = Literal["outline", "messages", "full"]
HEADS: Final[dict[Level, int]] = {"outline": 160, "messages": 600, "full": 10**9}
"""Characters of a text, by level."""


def transcript(conversation: Conversation, level: Level, turn: str = "") -> str:
    """A conversation, or one turn of it: what was said, what tools brought, how turns ended."""
    head = HEADS[level]
    lines = [
        f"session {_word(conversation.session_id)} trace {_word(conversation.trace_id)}"
        f" project {_word(conversation.project)}"
    ]
    steps: list[Step] = list(conversation.steps)
    if turn:
        steps = [one for one in conversation.turns() if one.turn_id == turn]
    for step in steps:
        lines += _step(step, level, head, "")
    return "\n".join(lines)


def _step(step: Step, level: Level, head: int, indent: str) -> Iterator[str]:
    if isinstance(step, TurnRecord):
        yield from _turn(step, level, head, indent)
    elif isinstance(step, ToolExecutionRecord):
        yield from _executed(step, head, indent)
    else:
        yield from _call(step, head, indent)


def _turn(turn: TurnRecord, level: Level, head: int, indent: str) -> Iterator[str]:
    facts = _turn_facts(turn, turn.ended_how, turn.stop_detail or turn.error_message)
    yield f"{indent}turn {_word(turn.turn_id)} {facts}"
    within = indent + "  "
    outline = level == "outline"
    said = [
        *quoted("user", turn.user_message, head, within),
        *quoted("answer", turn.response_text, head, within),
    ]
    if outline:
        yield from said
    for step in turn.steps:
        if not outline or isinstance(step, TurnRecord):
            yield from _step(step, level, head, within)
    if not outline and not any(isinstance(step, CallRecord) for step in turn.steps):
        yield from said


def _turn_facts(
    turn: TurnRecord | TurnEnd, ended: str = "", detail: str = "", max_rounds: int | None = None
) -> str:
    facts = {
        "agent": turn.agent_name,
        "began": values.moment(turn.start_time),
        "took": values.seconds(turn.duration),
        "ended": ended,
        "detail": detail,
        "rounds": turn.rounds,
        "max_rounds": max_rounds,
        "model_calls": turn.llm_call_count,
        "tool_calls": turn.tool_call_count,
        "failed_tools": turn.tool_error_count,
        "cost_usd": turn.cost_usd,
    }
    return _facts(facts)


def _call(call: CallRecord, head: int, indent: str) -> Iterator[str]:
    facts = {
        "operation": call.operation if call.operation in OUTSIDE_ROUNDS else "",
        "model": call.model,
        "round": call.round,
        "finish": ",".join(call.finish_reasons),
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
        "cost_usd": call.cost_usd,
        "took": values.seconds(call.duration),
        "dropped_messages": call.dropped,
        "error": values.error_text(call.error_type, call.error_message),
    }
    within = indent + "  "
    if call.system_prompt:
        yield from quoted("system", call.system_prompt, head, indent)
    for message in call.new_messages:
        yield from _message(message, head, indent)
    yield f"{indent}call {_word(call.span_id)} {_facts(facts)}"
    if call.response_thoughts:
        yield from quoted("thoughts", call.response_thoughts, head, within)
    said = call.response_text or "\n\n".join(one.text for one in call.replies)
    yield from quoted("assistant", said, head, within)
    for request in call.requests:
        yield from _request(request, head, within)


def _message(message: MessageRecord, head: int, indent: str) -> Iterator[str]:
    if not message.recorded:
        yield f"{indent}message {message.hash}: its content is not in the store"
        return
    if message.role != "assistant" and message.text:
        yield from quoted(message.role or "message", message.text, head, indent)


def _request(request: ToolRequestRecord, head: int, indent: str) -> Iterator[str]:
    ran = request.execution
    facts: dict[str, Any] = {"name": request.name}
    if ran is not None:
        facts |= {"failed": ran.failed, "took": values.seconds(ran.duration)}
        facts["error"] = values.error_text(ran.error_type, ran.error_message)
    yield f"{indent}tool {_word(ran.span_id if ran else request.call_id)} {_facts(facts)}"
    yield from quoted("arguments", _text(request.arguments), head, indent + "  ")
    result = request.seen if request.seen is not None else ran.result if ran else None
    yield from quoted("result", _text(result), head, indent + "  ")


def _executed(tool: ToolExecutionRecord, head: int, indent: str) -> Iterator[str]:
    error = values.error_text(tool.error_type, tool.error_message)
    facts = {"name": tool.name, "failed": tool.failed, "error": error}
    yield f"{indent}tool {_word(tool.span_id)} {_facts(facts)}"
    yield from quoted("arguments", tool.arguments, head, indent + "  ")
    yield from quoted("result", tool.result, head, indent + "  ")


def end_text(end: TurnEnd) -> str:
    """Why a turn stopped, and what it did last."""
    stop = end.stop
    facts = _turn_facts(end, max_rounds=end.max_rounds)
    lines = [
        f"turn {_word(end.turn_id)} session {_word(end.session_id)} {facts}",
        f"stopped: {_word(stop.ended_how)}",
        f"rule: {stop.rule}",
        *quoted("detail", stop.detail, HEADS["messages"], ""),
        *(f"fact {name}={_word(value)}" for name, value in stop.facts),
        *(f"shown by {record(row)}" for row in stop.rows),
    ]
    error = values.error_text(end.error_type, end.error_message)
    for name, text in (("error", error), ("user", end.user_message), ("answer", end.response_text)):
        lines += quoted(name, text, HEADS["messages"], "")
    for name, rows in (
        ("last model call", end.calls),
        ("last tool call", end.tools),
        ("nested turn", end.nested),
    ):
        lines += [f"{name} {record(one)}" for one in rows]
    return "\n".join(lines)


def quoted(name: str, text: str, head: int, indent: str) -> list[str]:
    """A recorded text under a name of ours, cut to so many characters."""
    if not text:
        return []
    left = len(text) - head
    lines = [f"{indent}{name}:", *(f"{indent}| {line}" for line in text[:head].splitlines())]
    if left > 0:
        lines.append(f"{indent}({left:,} more characters)")
    return lines


def record(value: Any) -> str:
    """A record on one line of JSON, without what is empty."""
    return json.dumps(_filled(values.plain(value)), ensure_ascii=False)


def _filled(value: Any) -> Any:
    if is_dict(value):
        members = {name: _filled(one) for name, one in value.items() if name != "record"}
        return {name: one for name, one in members.items() if one not in (None, "", [], {})}
    return [_filled(one) for one in value] if is_list(value) else value


def _facts(facts: dict[str, Any]) -> str:
    return " ".join(
        f"{name}={_word(value)}" for name, value in facts.items() if value not in (None, "", False)
    )


def _word(value: Any) -> str:
    """A recorded value in a line of ours: in quotes where it is more than a plain word."""
    text = values.raw(value.normalize() if isinstance(value, Decimal) else value)
    plain = text.isascii() and text.replace("_", "").replace("-", "").replace(".", "").isalnum()
    return text if plain else json.dumps(text, ensure_ascii=False)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else values.raw(value)
