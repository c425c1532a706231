"""A turn as somebody reads it who is to judge it: what was said, in order, each text once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import orjson

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import copied, dollars
from turnspan_records.access.questions import ask_row
from turnspan_records.conversation import (
    CallRecord,
    MessageRecord,
    Step,
    ToolRequestRecord,
    TurnRecord,
)
from turnspan_records.replay import replay

LONGEST: Final = 262_144
"""Characters of one text that are told at once."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One thing that was said. ``text`` is its beginning where it is longer than ``LONGEST``."""

    kind: str
    """``system``, ``user``, ``assistant``, ``thinking``, ``tool`` (what a tool was asked),
    ``result`` (what it gave), ``error`` or ``turn`` (a nested one begins)."""
    name: str
    """The tool's, the agent's or the participant's; empty where there is none."""
    text: str
    characters: int
    depth: int
    """How many turns it is nested in below the one that is told."""
    span_id: str
    failed: bool = False
    recorded: bool = True


@dataclass(frozen=True, slots=True)
class TurnText:
    """A turn with everything that was said in it. Durations are seconds, money is dollars."""

    project: str
    session_id: str
    trace_id: str
    turn_id: str
    number: int
    """Which root turn of its session it is, from 1; 0 of a nested one."""
    turns: int
    start_time: datetime
    duration: float
    agent_name: str
    agent_version: str
    status: str
    ended_how: str
    stop_detail: str
    rounds: int
    calls: int
    tools: int
    failed_tools: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    models: list[str]
    user_message: str
    response_text: str
    error_type: str
    error_message: str
    told: list[Utterance]


def tell(store: Store, project: str, turn_id: str) -> TurnText:
    """Tell a root turn.

    Raises:
        KeyError: there is none of this id.
        StoreError: as ``Store.query``.
    """
    place = ask_row(store, "turn/place", turn_id, project=project, turn=turn_id)
    session_id, trace_id = str(place["session_id"]), str(place["trace_id"])
    conversation = replay(store, project, session_id, trace_id)
    roots = [step.turn_id for step in conversation.steps if isinstance(step, TurnRecord)]
    turn = next((one for one in conversation.turns() if one.turn_id == turn_id), None)
    if turn is None:
        raise KeyError(turn_id)
    return copied(
        TurnText,
        turn,
        project=project,
        session_id=session_id,
        trace_id=turn.trace_id or trace_id,
        number=roots.index(turn_id) + 1 if turn_id in roots else 0,
        turns=len(roots),
        calls=turn.llm_call_count,
        tools=turn.tool_call_count,
        failed_tools=turn.tool_error_count,
        cost_usd=dollars(turn.cost_usd),
        models=list(turn.models),
        told=[replace(one, text=one.text[:LONGEST]) for one in _of_turn(turn, 0)],
    )


def _of_turn(turn: TurnRecord, depth: int) -> Iterator[Utterance]:
    told = [one for step in turn.steps for one in _of_step(step, depth)]
    kinds = {one.kind for one in told if one.depth == depth and one.recorded}
    # What was said without a recorded call, or in calls without content.
    if turn.user_message and "user" not in kinds:
        yield _say("user", turn.user_message, depth, turn.span_id)
    yield from told
    if turn.response_text and "assistant" not in kinds:
        yield _say("assistant", turn.response_text, depth, turn.span_id)
    if turn.error_type or turn.error_message:
        error = _error_of(turn)
        if not any(one.kind == "error" and one.text == error for one in told):
            yield _say("error", error, depth, turn.span_id, failed=True)


def _of_step(step: Step, depth: int) -> Iterator[Utterance]:
    if isinstance(step, TurnRecord):
        name = step.agent_name or step.turn_id
        yield _say("turn", step.ended_how, depth + 1, step.span_id, name=name)
        yield from _of_turn(step, depth + 1)
    elif isinstance(step, CallRecord):
        yield from _of_call(step, depth)
    else:
        yield _say("tool", step.arguments, depth, step.span_id, name=step.name, failed=step.failed)
        result = step.result or _error_of(step)
        yield _result(step.name, result, depth, step.span_id, step.failed)


def _of_call(call: CallRecord, depth: int) -> Iterator[Utterance]:
    if call.system_prompt:
        yield _say("system", call.system_prompt, depth, call.span_id)
    for message in call.new_messages:
        yield from _of_message(message, depth, call.span_id)
    if call.response_thoughts:
        yield _say("thinking", call.response_thoughts, depth, call.span_id)
    replied = "\n\n".join(one.text for one in call.replies if one.text) or call.response_text
    unknown = any(not one.recorded for one in call.replies)
    if replied or (unknown and not call.requests):
        yield _say("assistant", replied, depth, call.span_id, recorded=bool(replied))
    for request in call.requests:
        yield from _of_request(request, depth, call.span_id)
    if call.error_type:
        yield _say("error", _error_of(call), depth, call.span_id, failed=True)


def _of_message(message: MessageRecord, depth: int, span_id: str) -> Iterator[Utterance]:
    """What a call was newly given; results of tools stand with what they were asked."""
    if not message.recorded:
        yield _say("user", "", depth, span_id, recorded=False)
        return
    others = [
        part for part in message.parts if part.get("type") not in ("text", "tool_call_response")
    ]
    texts = [message.text, *(_text(part) for part in others if message.role != "assistant")]
    text = "\n\n".join(one for one in texts if one)
    if text:
        kind = "system" if message.role in ("system", "developer") else message.role or "user"
        yield _say(kind if kind != "tool" else "result", text, depth, span_id, name=message.name)


def _of_request(request: ToolRequestRecord, depth: int, span_id: str) -> Iterator[Utterance]:
    ran = request.execution
    span_id = ran.span_id if ran else span_id
    failed = ran is not None and ran.failed
    yield _say("tool", _text(request.arguments), depth, span_id, name=request.name, failed=failed)
    given = _text(request.seen) if request.answered else ""
    result = given or (ran.result or _error_of(ran) if ran else "")
    if result or not request.answered:
        yield _result(request.name, result, depth, span_id, failed)


def _result(name: str, text: str, depth: int, span_id: str, failed: bool) -> Utterance:
    return Utterance("result", name, text, len(text), depth, span_id, failed, bool(text))


def _error_of(one: Step) -> str:
    return f"{one.error_type}: {one.error_message}".strip(": ")


def _say(
    kind: str, text: str, depth: int, span_id: str, *, name: str = "", **state: bool
) -> Utterance:
    """``state``: whether it ``failed``, and was ``recorded``."""
    return Utterance(kind, name, text, len(text), depth, span_id, **state)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode("utf-8", "replace")
