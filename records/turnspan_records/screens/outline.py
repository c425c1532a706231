"""The outline of a session: what ``replay`` shows, with the beginnings of texts only.

It costs what is new in each call: a session of 5,000 calls is read in the time of its messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from turnspan_clickhouse.receive.coding_metrics import trace_of
from turnspan_clickhouse.rows.tables import ToolCall, TurnSummary
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import copied, of_row, selected
from turnspan_records.conversation import (
    CallRecord,
    MessageRecord,
    Step,
    ToolExecutionRecord,
    ToolRequestRecord,
    TurnRecord,
)
from turnspan_records.messages import ONE_SESSION, known_hash, load_definitions
from turnspan_records.replay import (
    Assembled,
    RowsOfSession,
    assemble,
    call_rows,
    sent_calls,
    session_rows,
)
from turnspan_records.screens import previews
from turnspan_records.screens.difference import cache_lost, tools_change
from turnspan_records.screens.outline_types import (
    HEAD,
    CountedFact,
    DefinitionHead,
    Head,
    Outline,
    OutlineCall,
    OutlineRequest,
    OutlineStep,
    OutlineTool,
    OutlineTurn,
    Text,
)
from turnspan_records.sql import statement

_SO_FAR: Final = str(2**20)
"""Characters of the text of a call that has not ended: it stands nowhere else."""


def outline(
    store: Store, project: str, session_id: str, trace_id: str = "", *, calls: int = 0
) -> Outline:
    """The outline of a session, or of a trace if ``session_id`` is empty; with ``calls`` of its
    beginning, as far as so many calls.

    An unknown session gives an outline without steps. Raises ``StoreError`` as ``Store.query``."""
    place = RowsOfSession(project, session_id, trace_id)
    if calls:
        given = {"calls": calls}
        for row in session_rows(store, "outline/moment_of_call", place, parameters=given):
            place = replace(place, until=row["time"], unended=bool(row["unended"]))
    # Asked before the rows: what lands meanwhile is newer. Nobody follows a beginning.
    cursor = "" if place.until else newest(store, project, session_id, trace_id)
    columns = selected(TurnRecord, TurnSummary, "user_message", "response_text")
    turn_rows = session_rows(store, "outline/turns", place, columns=columns, cut=previews.CUT)
    texts = statement("outline/call_texts", cut=previews.CUT)
    calls_as_sent = call_rows(store, place, texts, statement("outline/call_texts", cut=_SO_FAR))
    columns = selected(ToolExecutionRecord, ToolCall, "arguments", "result")
    tool_rows = session_rows(store, "outline/tools", place, columns=columns, cut=previews.CUT)
    named = (row[name] for row in calls_as_sent for name in ("input_hashes", "output_hashes"))
    hashes = {hash_ for one in named for hash_ in one} if place.until else ()
    known = previews.load_heads(store, project, session_id or trace_id, hashes)
    sent = sent_calls(calls_as_sent)
    tools = [of_row(ToolExecutionRecord, row) for row in tool_rows]
    turns = [of_row(TurnRecord, row) for row in turn_rows]
    prompts = {one.call.system_hash: "" for one in sent}
    assembled = assemble(turns, sent, tools, known.messages, prompts, known.gists)
    told = _OutlineBuilder(calls_as_sent, tool_rows, assembled, known)
    rows = tuple(told.call(one.call) for one in sent)
    _add_tool_changes(store, project, rows)
    whose = {"trace": trace_of(session_id).hex()}
    known_whole = session_id and not place.until
    counted = store.query(statement("outline/counted"), whose).rows if known_whole else ()
    return Outline(
        project,
        session_id,
        trace_id,
        cursor=cursor,
        running="running" in {*(turn.status for turn in turns), *(call.status for call in rows)},
        turns=tuple(_turn(turn, row) for turn, row in zip(turns, turn_rows, strict=True)),
        calls=rows,
        tools=tuple(told.tools(tools)),
        messages=tuple(told.messages),
        definitions=_definitions(store, project, rows),
        steps=tuple(_steps(assembled.steps)),
        continues=bool(place.until),
        counted=tuple(CountedFact(str(what), float(value)) for what, value in counted),
    )


class _OutlineBuilder:
    """Makes the rows of an outline, and numbers the messages in the order in which they come."""

    def __init__(
        self,
        calls: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        assembled: Assembled,
        known: previews.MessagePreviews,
    ) -> None:
        self.messages: list[Head] = []
        self._places: dict[str, int] = {}
        self._known = known
        self._continued = assembled.continued
        self._calls = {str(row["span_id"]): row for row in calls}
        self._order = [str(row["span_id"]) for row in calls]
        self._tools = {str(row["span_id"]): row for row in tools}
        self._requested: set[str] = set()
        self._as_given: set[str] = set()

    def call(self, call: CallRecord) -> OutlineCall:
        row, told = self._calls[call.span_id], self._continued[call.span_id]
        before = None if told.before < 0 else self._calls[self._order[told.before]]
        system = known_hash(call.system_hash)
        recorded = any(reply.recorded for reply in call.replies)
        answer = "" if recorded else call.response_text
        return copied(
            OutlineCall,
            call,
            cache_write_tokens=row["cache_write_tokens"],
            cache_lost=None if before is None else cache_lost(before, row),
            tokens_estimated=bool(row["tokens_estimated"]),
            consortium_id=str(row["consortium_id"]),
            messages=int(row["sent_count"]),
            new=tuple(self._place(one) for one in call.new_messages),
            replies=tuple(self._place(one) for one in call.replies),
            before="" if before is None else str(before["span_id"]),
            kept=told.kept,
            dropped=told.dropped,
            rewritten=told.rewritten,
            system=system,
            system_new=call.system_prompt is not None and bool(system),
            system_changed=before is not None and before["system_hash"] != call.system_hash,
            tools=known_hash(row["tools_hash"]),
            tools_changed=None,
            requests=tuple(self._request(one) for one in call.requests),
            response=Text(
                answer[:HEAD] if call.status == "final" else answer,
                int(row["answered_bytes"]) if answer else 0,
            ),
            stored=float(row.get("stored", 0.0)),
            thoughts="" if call.status == "final" else call.response_thoughts,
        )

    def _place(self, message: MessageRecord) -> int:
        at = self._places.get(message.hash)
        if at is None:
            at = self._places[message.hash] = len(self.messages)
            self.messages.append(_head(message, self._known.sizes.get(message.hash, 0)))
        return at

    def _request(self, request: ToolRequestRecord) -> OutlineRequest:
        ran = request.execution
        if ran is not None:
            self._requested.add(ran.span_id)
        given = previews.result_of(request.seen)
        as_given = False
        if request.answered and ran is not None:
            as_given = given.digest == self._tools[ran.span_id]["answered_digest"]
        if as_given and ran is not None:
            self._as_given.add(ran.span_id)
        return OutlineRequest(
            request.call_id,
            request.name,
            str(request.arguments or "")[:HEAD],
            tool="" if ran is None else ran.span_id,
            answered=request.answered,
            seen="" if as_given else given.text[:HEAD],
            altered=ran is not None and request.answered and not as_given,
        )

    def tools(self, tools: Iterable[ToolExecutionRecord]) -> Iterator[OutlineTool]:
        alike: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
        for tool in tools:
            row = self._tools[tool.span_id]
            earlier = alike.setdefault((tool.turn_id, row["asked_digest"]), [])
            last = earlier[-1] if earlier else None
            earlier.append(row)
            yield copied(
                OutlineTool,
                tool,
                arguments=Text(tool.arguments[:HEAD], int(row["asked_bytes"])),
                # The message that gave it to the model begins the same.
                result=Text(
                    "" if tool.span_id in self._as_given else tool.result[:HEAD],
                    int(row["answered_bytes"]),
                ),
                times=len(earlier),
                first=str(earlier[0]["span_id"]),
                same_result=last is not None and last["answered_digest"] == row["answered_digest"],
                requested=tool.span_id in self._requested,
                decision=str(row["decision"]),
                decided_by=str(row["decided_by"]),
            )


def _turn(turn: TurnRecord, row: Mapping[str, Any]) -> OutlineTurn:
    return copied(
        OutlineTurn,
        turn,
        user_message=Text(turn.user_message[:HEAD], int(row["asked_bytes"])),
        response_text=Text(turn.response_text[:HEAD], int(row["answered_bytes"])),
        identical_streak=int(row["max_identical_tool_streak"]),
    )


def _head(message: MessageRecord, size: int) -> Head:
    thoughts = "\n".join(_said(message, "reasoning"))
    text = "\n\n".join(_said(message, "text")) or "\n".join(
        previews.result_of(part["response"]).text
        for part in message.parts
        if part["type"] == "tool_call_response"
    )
    return Head(
        message.hash,
        message.role,
        message.name,
        tuple(dict.fromkeys(str(part["type"]) for part in message.parts)),
        size,
        text[:HEAD],
        thoughts[:HEAD],
        message.recorded,
    )


def _said(message: MessageRecord, kind: str) -> list[str]:
    return [str(part["content"]) for part in message.parts if part["type"] == kind]


def _add_tool_changes(store: Store, project: str, calls: Sequence[OutlineCall]) -> None:
    """Say of calls that were given other tools than the call they continue which these are."""
    by_id = {call.span_id: call for call in calls}
    before = {call.span_id: by_id[call.before].tools for call in calls if call.before}
    changed = [one for one in calls if before.get(one.span_id, one.tools) != one.tools]
    hashes = {hash_ for one in changed for hash_ in (before[one.span_id], one.tools)}
    bodies = load_definitions(store, project, hashes)
    for one in changed:
        was = bodies.get(before[one.span_id], "")
        one.tools_changed = tools_change(was, bodies.get(one.tools, ""))


def _definitions(
    store: Store, project: str, calls: Sequence[OutlineCall]
) -> tuple[DefinitionHead, ...]:
    hashes = dict.fromkeys(one for call in calls for one in (call.system, call.tools) if one)
    if not hashes:
        return ()
    sql = statement("outline/definitions", head=str(HEAD))
    result = store.query(sql, {"project": project, "hashes": list(hashes)}, ONE_SESSION)
    found = {
        id_: DefinitionHead(id_, kind, Text(head, size)) for id_, kind, head, size in result.rows
    }
    return tuple(found[one] for one in hashes if one in found)


def _steps(steps: Iterable[Step], depth: int = 0) -> Iterator[OutlineStep]:
    for step in steps:
        if isinstance(step, TurnRecord):
            yield OutlineStep("turn", step.turn_id, depth)
            yield from _steps(step.steps, depth + 1)
        else:
            yield OutlineStep(
                "call" if isinstance(step, CallRecord) else "tool", step.span_id, depth
            )


@dataclass(frozen=True, slots=True)
class FoundInSession:
    """Where a text stands: messages by their hashes, the rest by their ids."""

    messages: tuple[str, ...]
    turns: tuple[str, ...]
    calls: tuple[str, ...]
    tools: tuple[str, ...]


def newest(store: Store, project: str, session_id: str, trace_id: str = "") -> str:
    """How far a session has come, as the ``cursor`` of its outline: when its newest row was
    written, and how many rows there are. What was written together need not land together."""
    place = RowsOfSession(project, session_id, trace_id)
    sql = statement("session/newest", where=place.condition)
    parameters = {**place.parameters, "scope": session_id or trace_id}
    # That a row is there twice until it is merged costs one look too many, not one too few.
    ((written, count),) = store.query(sql, parameters, {**ONE_SESSION, "final": 0}).rows
    return f"{max(0, int(written or 0))}.{int(count)}"


def find_in_session(
    store: Store, project: str, session_id: str, text: str, trace_id: str = ""
) -> FoundInSession:
    """Where a session's recorded texts have these characters, in capitals or not."""
    place = RowsOfSession(project, session_id, trace_id)
    parameters = {**place.parameters, "scope": session_id or trace_id, "text": text}
    # Messages are JSON: as these characters are written there.
    parameters["written"] = json.dumps(text, ensure_ascii=False)[1:-1]

    def ids(kind: str) -> tuple[str, ...]:
        sql = statement(f"session/find_{kind}", where=place.condition)
        return tuple(str(row[0]) for row in store.query(sql, parameters, ONE_SESSION).rows)

    if not text:
        return FoundInSession((), (), (), ())
    return FoundInSession(ids("messages"), ids("turns"), ids("calls"), ids("tools"))
