"""Rebuild a session's conversation from its records: every message once, in the order of time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from turnspan_clickhouse.store.client import Store
from turnspan_records import rows
from turnspan_records.conversation import (
    Call,
    Conversation,
    Message,
    Step,
    ToolExecution,
    ToolRequest,
    Turn,
)
from turnspan_records.history import History
from turnspan_records.messages import (
    ONE_SESSION,
    load_messages,
    load_system_prompts,
    requested_tools,
)

_OF_SESSION = "project = {project:String} AND session_id = {session:String}"
_OF_TRACE = _OF_SESSION + " AND trace_id = {trace:String}"
_INSTRUCTIONS = ("system", "developer")
_ANSWERED = ("assistant", *_INSTRUCTIONS)


def replay(store: Store, project: str, session_id: str, trace_id: str = "") -> Conversation:
    """The conversation of a session, or of one trace where ``session_id`` is empty.

    An unknown session gives a conversation without steps. Raises ``StoreError`` as ``Store.query``.
    """
    where = _OF_SESSION if session_id else _OF_TRACE
    parameters = {"project": project, "session": session_id, "trace": trace_id}

    def select(what: str, table: str) -> list[dict[str, Any]]:
        sql = f"{what} FROM {table} WHERE {where} ORDER BY start_time, span_id"
        return store.query(sql, parameters, ONE_SESSION).dicts()

    turns = [rows.turn(row) for row in select(rows.TURNS, "turn_summary")]
    call_rows = select(rows.CALLS, "llm_call")
    calls = rows.calls(call_rows)
    tools = [rows.tool(row) for row in select(rows.TOOLS, "tool_call")]
    messages = load_messages(store, project, session_id or trace_id)
    prompts = load_system_prompts(store, project, {call.system_hash for call in calls})

    _tell_what_is_new(calls, messages, prompts)
    inline = {str(row["span_id"]): str(row["tool_calls"]) for row in call_rows}
    for call in calls:
        call.requests = requested_tools(call.replies, inline[call.span_id])
    loose = _match_tools(calls, tools)
    _answer(calls)
    conversation = Conversation(project, session_id, trace_id)
    conversation.steps = _nest(turns, [*calls, *loose])
    return conversation


def _tell_what_is_new(
    calls: Sequence[Call], messages: Mapping[str, Message], prompts: Mapping[str, str]
) -> None:
    history = History(
        lambda before, now: _same_message(messages.get(before), messages.get(now)),
        lambda one: one in messages and messages[one].role in _INSTRUCTIONS,
    )
    prompt_before: dict[str, str] = {}
    turns_begun: set[str] = set()
    for call in calls:
        told = history.add(call.input_hashes, call.output_hashes)
        new = told.new
        if not new and call.turn_id not in turns_begun:
            new = _tail(call.input_hashes, messages)
        turns_begun.add(call.turn_id)
        call.new_messages = [_message(call.input_hashes[at], messages) for at in new]
        call.dropped = told.dropped
        call.replies = [_message(one, messages) for one in call.output_hashes]
        if prompt_before.get(call.agent_name) != call.system_hash:
            prompt_before[call.agent_name] = call.system_hash
            inputs = (_message(one, messages).role for one in call.input_hashes)
            if not any(role in _INSTRUCTIONS for role in inputs):
                call.system_prompt = prompts.get(call.system_hash)


def _tail(hashes: Sequence[str], messages: Mapping[str, Message]) -> tuple[int, ...]:
    """What follows the last reply: the question of a turn that repeats an earlier one."""
    begin = len(hashes)
    while begin > 0 and _message(hashes[begin - 1], messages).role not in _ANSWERED:
        begin -= 1
    return tuple(range(begin, len(hashes)))


def _message(hash_: str, messages: Mapping[str, Message]) -> Message:
    return messages.get(hash_) or Message(hash_, recorded=False)


def _same_message(before: Message | None, now: Message | None) -> bool:
    if before is None or now is None or before.role != now.role or now.role != "assistant":
        return False
    return _gist(before) == _gist(now)


def _gist(message: Message) -> tuple[str, tuple[tuple[str, str], ...]]:
    calls = tuple(
        (str(part.get("id", "")), str(part.get("name", "")))
        for part in message.parts
        if part.get("type") == "tool_call"
    )
    return message.text.strip(), calls


def _match_tools(calls: Iterable[Call], tools: Iterable[ToolExecution]) -> list[ToolExecution]:
    """Give every request its execution; returns the executions that no request accounts for."""
    waiting: dict[str, list[ToolExecution]] = {}
    for tool in tools:
        waiting.setdefault(tool.turn_id, []).append(tool)
    pairs = [(call, request) for call in calls for request in call.requests]
    for by_id in (True, False):
        for call, request in pairs:
            if request.execution is None:
                request.execution = _take(waiting.get(call.turn_id, []), call, request, by_id)
    return [tool for rest in waiting.values() for tool in rest]


def _take(
    waiting: list[ToolExecution], call: Call, request: ToolRequest, by_id: bool
) -> ToolExecution | None:
    for at, tool in enumerate(waiting):
        if tool.start_time < call.start_time:
            continue
        if by_id:
            fits = bool(request.call_id) and tool.call_id == request.call_id
        else:
            fits = tool.name == request.name and not (tool.call_id and request.call_id)
            fits = fits and tool.round == call.round
        if fits:
            return waiting.pop(at)
    return None


def _answer(calls: Sequence[Call]) -> None:
    """Note for every request the result that a later call gave back to the model."""
    asked: dict[str, ToolRequest] = {}
    for call in calls:
        for message in call.new_messages:
            for part in message.parts:
                request = asked.pop(str(part.get("id", "")), None) if _is_response(part) else None
                if request is not None:
                    request.answered = True
                    request.seen = part.get("response", part.get("result"))
        asked.update({one.call_id: one for one in call.requests if one.call_id})


def _is_response(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "tool_call_response"


def _nest(turns: Sequence[Turn], others: Iterable[Call | ToolExecution]) -> list[Step]:
    by_id = {turn.turn_id: turn for turn in turns}
    roots: list[Step] = []
    for step in sorted([*turns, *others], key=_order):
        home = step.parent_turn_id if isinstance(step, Turn) else step.turn_id
        parent = by_id.get(home)
        if parent is None or parent is step:
            roots.append(step)
        else:
            parent.steps.append(step)
    return roots


def _order(step: Step) -> tuple[Any, int, str]:
    rank = 0 if isinstance(step, Turn) else 1
    return step.start_time, rank, step.span_id
