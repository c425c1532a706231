"""Rebuild a session's conversation from its records: every message once, in the order of time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from turnspan_clickhouse.rows.tables import LlmCall, RunningCall, ToolCall, TurnSummary
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row, selected
from turnspan_records.conversation import (
    CallFacts,
    CallRecord,
    Conversation,
    MessageRecord,
    Step,
    ToolExecutionRecord,
    ToolRequestRecord,
    TurnRecord,
)
from turnspan_records.history import Continuation, History
from turnspan_records.messages import (
    ONE_SESSION,
    load_messages,
    load_system_prompts,
    message_of,
    requested_tools,
)
from turnspan_records.sql import statement

_NOT_YET: Final = {
    **dict.fromkeys(("time_to_first_chunk", "cost_usd", "input_tokens", "output_tokens")),
    **dict.fromkeys(("cache_read_tokens", "reasoning_tokens")),
    "finish_reasons": (),
    "output_hashes": (),
    "tries": 1,
    "error_type": "",
    "error_message": "",
}
"""What is not known of a call before its end."""
_INSTRUCTIONS = ("system", "developer")
_ANSWERED = ("assistant", *_INSTRUCTIONS)
MOST_NAMED = 2_000
"""Of more rows than these no ids are sent, and all of the session are read."""


def replay(store: Store, project: str, session_id: str, trace_id: str = "") -> Conversation:
    """Load the conversation of a session, or of a trace if ``session_id`` is empty.

    An unknown session gives a conversation without steps. Raises ``StoreError`` as ``Store.query``.
    """
    place = RowsOfSession(project, session_id, trace_id)
    columns = selected(TurnRecord, TurnSummary)
    turn_rows = session_rows(store, "replay/turns", place, columns=columns)
    turns = [of_row(TurnRecord, row) for row in turn_rows]
    texts = statement("replay/call_texts")
    sent = sent_calls(call_rows(store, place, texts, texts))
    columns = selected(ToolExecutionRecord, ToolCall)
    tool_rows = session_rows(store, "replay/tools", place, columns=columns)
    tools = [of_row(ToolExecutionRecord, row) for row in tool_rows]
    messages = load_messages(store, project, session_id or trace_id)
    prompts = load_system_prompts(store, project, {one.call.system_hash for one in sent})
    gists = {hash_: _gist(message) for hash_, message in messages.items()}

    conversation = Conversation(project, session_id, trace_id)
    conversation.steps = assemble(turns, sent, tools, messages, prompts, gists).steps
    _fill_histories(sent)
    return conversation


@dataclass(frozen=True, slots=True)
class RowsOfSession:
    """The rows of a session, or of a trace that has none; with ``until``, the text of a moment in
    UTC, those that began before it."""

    project: str
    session: str
    trace: str = ""
    until: str = ""
    unended: bool = True
    """Whether calls that have not ended may be among them."""

    @property
    def condition(self) -> str:
        """What selects the rows."""
        conditions = [scope_condition(self.session)]
        if self.until:
            conditions.append(statement("replay/_before"))
        return " AND ".join(conditions)

    @property
    def parameters(self) -> dict[str, str]:
        """What the condition is given."""
        given = {"project": self.project, "session": self.session, "trace": self.trace}
        return given | ({"until": self.until} if self.until else {})


def session_rows(
    store: Store,
    name: str,
    place: RowsOfSession,
    /,
    *,
    parameters: Mapping[str, object] | None = None,
    **fragments: str,
) -> list[dict[str, Any]]:
    """The answer to a question that has ``{where}``.

    Args:
        store: an open store.
        name: the question.
        place: its rows.
        parameters: what else it is given.
        fragments: the question's others.
    """
    sql = statement(name, where=place.condition, **fragments)
    return store.query(sql, {**place.parameters, **(parameters or {})}, ONE_SESSION).dicts()


def call_rows(
    store: Store, place: RowsOfSession, texts: str, texts_so_far: str
) -> list[dict[str, Any]]:
    """The rows of a session's calls, with what ``texts`` selects of their texts; then of those that
    have not ended, with what ``texts_so_far`` selects."""
    ended = ended_call_rows(store, place, selected(CallFacts, LlmCall), texts)
    if not place.unended:
        return ended
    columns = selected(CallFacts, RunningCall)
    running = session_rows(
        store, "replay/running_calls", place, columns=columns, texts=texts_so_far
    )
    return [*ended, *({**_NOT_YET, **row} for row in running)]


def ended_call_rows(
    store: Store, place: RowsOfSession, columns: str, texts: str
) -> list[dict[str, Any]]:
    """The rows of a session's calls that have ended, with these columns and texts. ``input_hashes``
    lacks the ``repeated`` first messages, which the call of its agent before had sent."""
    rows = session_rows(store, "replay/calls", place, columns=columns, texts=texts)
    before: dict[str, str] = {}
    needed: set[str] = set()
    for row in rows:
        agent, span = str(row["agent_name"]), str(row["span_id"])
        if row["repeated"] is None:
            needed |= {before.get(agent, span), span}
        before[agent] = span
    if needed:
        spans = sorted(needed) if len(needed) <= MOST_NAMED else []
        inputs = session_rows(store, "replay/inputs", place, parameters={"spans": spans})
        by_span = {one["span_id"]: one for one in inputs}
        for row in rows:
            if row["repeated"] is None:
                row.update(by_span[row["span_id"]])
    return rows


def scope_condition(session_id: str) -> str:
    """What selects the rows of a session, or of a trace that has none."""
    return statement("replay/_of_session" if session_id else "replay/_of_trace")


@dataclass(frozen=True, slots=True)
class SentCall:
    """A call, and how many messages it sent that the call of its agent before had sent as well.
    Its ``input_hashes`` are those after them, until ``fill_histories``."""

    call: CallRecord
    repeated: int
    tool_calls: str
    """The column, for calls whose messages are not recorded."""


def sent_calls(rows: Iterable[Mapping[str, Any]]) -> list[SentCall]:
    """The llm_call rows of a session, in their order."""
    found: list[SentCall] = []
    for row in rows:
        call = of_row(CallRecord, row, model=row["response_model"] or row["request_model"])
        found.append(SentCall(call, int(row["repeated"]), str(row["tool_calls"])))
    return found


def _fill_histories(sent: Iterable[SentCall]) -> None:
    """Give every call its whole input: all of them together are the square of the calls."""
    before: dict[str, list[str]] = {}
    for one in sent:
        call = one.call
        known = before.get(call.agent_name, [])[: one.repeated]
        call.input_hashes = before[call.agent_name] = [*known, *call.input_hashes]


@dataclass(frozen=True, slots=True)
class Assembled:
    """The steps of a conversation, and by its call's id what each continues."""

    steps: list[Step]
    continued: Mapping[str, Continuation]


def assemble(
    turns: Sequence[TurnRecord],
    sent: Sequence[SentCall],
    tools: Sequence[ToolExecutionRecord],
    messages: Mapping[str, MessageRecord],
    prompts: Mapping[str, str],
    gists: Mapping[str, str],
) -> Assembled:
    """Put the rows of a session, in the order of time, together.

    ``gists`` has what the spellings of one message have in common, by the message's hash.
    """
    continued = _tell_what_is_new(sent, messages, prompts, gists)
    calls = [one.call for one in sent]
    for one in sent:
        one.call.requests = requested_tools(one.call.replies, one.tool_calls)
    loose = _match_tools(calls, tools)
    _answer(calls)
    return Assembled(_nest(turns, [*calls, *loose]), continued)


def _tell_what_is_new(
    sent: Sequence[SentCall],
    messages: Mapping[str, MessageRecord],
    prompts: Mapping[str, str],
    gists: Mapping[str, str],
) -> dict[str, Continuation]:
    history = History(
        lambda one: gists.get(one, one),
        lambda one: one in messages and messages[one].role in _INSTRUCTIONS,
    )
    prompt_before: dict[str, str] = {}
    turns_begun: set[str] = set()
    inputs: dict[str, list[str]] = {}
    continued: dict[str, Continuation] = {}
    for one in sent:
        call = one.call
        told = continued[call.span_id] = history.add(
            call.input_hashes, call.output_hashes, thread=call.agent_name, repeated=one.repeated
        )
        known = inputs.setdefault(call.agent_name, [])
        known[one.repeated :] = call.input_hashes
        new = told.new
        if not new and call.turn_id not in turns_begun:
            # What follows the last reply is the question of a turn that repeats an earlier one.
            begin = len(known)
            while begin > 0 and message_of(known[begin - 1], messages).role not in _ANSWERED:
                begin -= 1
            new = tuple(range(begin, len(known)))
        turns_begun.add(call.turn_id)
        call.new_messages = [message_of(known[at], messages) for at in new]
        call.dropped = told.dropped
        call.replies = [message_of(hash_, messages) for hash_ in call.output_hashes]
        if prompt_before.get(call.agent_name) != call.system_hash:
            prompt_before[call.agent_name] = call.system_hash
            if not history.has_preamble(call.agent_name):
                call.system_prompt = prompts.get(call.system_hash)
    return continued


def _gist(message: MessageRecord) -> str:
    """What a reply and its spelling in the next request have in common; of all other messages
    everything counts."""
    if message.role != "assistant":
        return message.hash
    calls = [
        (str(part.get("id", "")), str(part.get("name", "")))
        for part in message.parts
        if part.get("type") == "tool_call"
    ]
    return repr((message.text.strip(), calls))


def _match_tools(
    calls: Sequence[CallRecord], tools: Sequence[ToolExecutionRecord]
) -> list[ToolExecutionRecord]:
    """Give every request its execution; returns the executions that no request accounts for."""
    taken: set[int] = set()
    for by_id in (True, False):
        waiting: dict[_Key, deque[ToolExecutionRecord]] = {}
        for tool in tools:
            id_ = tool.call_id if by_id else None
            key = _key(tool.turn_id, id_, tool.name, tool.round)
            if key is not None and id(tool) not in taken:
                waiting.setdefault(key, deque()).append(tool)
        for call in calls:
            for request in call.requests:
                if request.execution is None:
                    id_ = request.call_id if by_id else None
                    key = _key(call.turn_id, id_, request.name, call.round)
                    request.execution = _take(waiting.get(key), call, request) if key else None
                    taken.add(id(request.execution))
    return [tool for tool in tools if id(tool) not in taken]


_Key = tuple[str, str, int]


def _key(turn_id: str, call_id: str | None, name: str, number: int) -> _Key | None:
    """What a tool's request and its execution have in common: the id of the tool call, or without
    one (``None``) the tool's name and the round. ``None`` where the id is not known."""
    if call_id is None:
        return turn_id, name, number
    return (turn_id, call_id, 0) if call_id else None


def _take(
    waiting: deque[ToolExecutionRecord] | None, call: CallRecord, request: ToolRequestRecord
) -> ToolExecutionRecord | None:
    """The first that began after the call, unless both name a call and not the same."""
    for at, tool in enumerate(waiting or ()):
        other = tool.call_id and request.call_id and tool.call_id != request.call_id
        if waiting is not None and tool.start_time >= call.start_time and not other:
            del waiting[at]
            return tool
    return None


def _answer(calls: Sequence[CallRecord]) -> None:
    """Note for every request the result that a later call gave back to the model."""
    asked: dict[str, ToolRequestRecord] = {}
    for call in calls:
        for message in call.new_messages:
            for part in message.parts:
                if part.get("type") != "tool_call_response":
                    continue
                if request := asked.pop(str(part.get("id", "")), None):
                    request.answered = True
                    request.seen = part.get("response", part.get("result"))
        asked.update({one.call_id: one for one in call.requests if one.call_id})


def _nest(
    turns: Sequence[TurnRecord], others: Iterable[CallRecord | ToolExecutionRecord]
) -> list[Step]:
    by_id = {turn.turn_id: turn for turn in turns}
    roots: list[Step] = []
    every: list[Step] = [*turns, *others]
    every.sort(key=lambda one: (one.start_time, not isinstance(one, TurnRecord), one.span_id))
    for step in every:
        home = step.parent_turn_id if isinstance(step, TurnRecord) else step.turn_id
        parent = by_id.get(home)
        if parent is None or parent is step:
            roots.append(step)
        else:
            parent.steps.append(step)
    return roots
