"""Tools as the messages tell of them: what a reply asked for, and what a later request brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from turnspan import semconv
from turnspan.content.model import RequestParts, as_dict
from turnspan.runtime.mypyc import mypyc_attr
from turnspan.turn.loop_detector import ExecutedTool
from turnspan.turn.tool_failure import tool_failed
from turnspan.turn.turn import ToolRequest
from turnspan_clickhouse.normalise.content_columns import write_content
from turnspan_clickhouse.normalise.history_keys import canonical
from turnspan_clickhouse.normalise.span_facts import SpanFacts
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.record import SpanRecord
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall

SCOPE = "turnspan.derived"
"""The scope_name of derived rows."""


@mypyc_attr(acyclic=True)
class RequestedTool:
    """A tool call that a reply asked for."""

    __slots__ = ("arguments", "call_id", "name", "replied", "round")

    def __init__(self, call_id: str, name: str, arguments: Any, number: int, replied: int) -> None:
        self.call_id = call_id
        self.name = name
        self.arguments = arguments
        self.round = number
        self.replied = replied
        """When the reply had ended, ns."""


def asked_for(
    requests: Sequence[ToolRequest], number: int, replied: int
) -> dict[str, RequestedTool]:
    """A reply's tool calls by call id (or name and place)."""
    found: dict[str, RequestedTool] = {}
    for place, (call_id, name, arguments) in enumerate(requests):
        # A nanosecond apart, so that they stand in the order of emission.
        asked = RequestedTool(call_id, name, arguments, number, replied + place)
        found[call_id or f"{name}#{place}"] = asked
    return found


def requests_of(calls: list[dict[str, Any]]) -> list[ToolRequest]:
    """A reply's tool calls as a turn is told of them."""
    return [(str(c.get("id") or ""), str(c.get("name") or ""), c.get("arguments")) for c in calls]


def claimed(pending: dict[str, RequestedTool], tool: ToolCall) -> tuple[str, RequestedTool | None]:
    """A span is about this execution: what was asked for by its call id, else by its name (and
    arguments, where several are), waits for no result. Returns it, and its key."""
    if tool.call_id:
        return tool.call_id, pending.pop(tool.call_id, None)
    alike = [key for key, asked in pending.items() if asked.name == tool.name]
    if not alike:
        return "", None
    chosen = alike[0]
    if len(alike) > 1 and tool.arguments:
        given = canonical(tool.arguments)
        for key in alike:
            if canonical(pending[key].arguments) == given:
                chosen = key
                break
    return chosen, pending.pop(chosen)


def complete(row: ToolCall, key: str, asked: RequestedTool, batch: Batch) -> bool:
    """Fill what a tool's span does not say from what the model asked for; whether its result is
    to come from the next request's messages."""
    if not row.call_id and "#" not in key:
        row.call_id = batch.redactor.text(key, f"attribute:{semconv.TOOL_CALL_ID}")
    if not batch.redactor.settings.capture_content:
        return False
    if not row.arguments:
        write_content(row, "arguments", asked.arguments, "tool_arguments", batch)
    return not row.result  # of one that failed, what the model was told of it


def brought(part: dict[str, Any], executed: dict[str, ToolCall], batch: Batch) -> ToolCall | None:
    """Tell a tool's row, whose span did not say what came out, the result that a message brings.

    A result that names no call is that of the first of its name that has none; a framework's text,
    which names no tool either, that of the first.
    """
    call_id = str(part.get("id") or "")
    told = executed.pop(call_id, None)
    if told is None and not call_id:
        name = part.get("name") or ""
        alike = (key for key, row in executed.items() if not name or row.name == name)
        told = executed.pop(next(alike, ""), None)
    if told is None:
        return None
    result = part.get("response")
    write_content(told, "result", result, "tool_result", batch)
    told.failed = told.failed or tool_failed(result) or part.get("is_error") is True
    rewrite(told, batch)
    return told


def rewrite(row: SpanRecord, batch: Batch) -> None:
    """Write a row that has changed; one that is in this batch changes there."""
    if row.written_at != batch.written_at:
        row.writer, row.written_at = batch.writer, batch.written_at
        batch.add(row)


@dataclass(frozen=True, slots=True)
class Execution:
    """A tool call that only the messages tell of."""

    call_id: str
    asked: RequestedTool
    result: Any
    failed: bool

    @classmethod
    def of(cls, part: dict[str, Any], pending: dict[str, RequestedTool]) -> Execution | None:
        """The execution whose result this is; ``None`` for one that nobody waits for."""
        call_id, name = str(part.get("id") or ""), part.get("name")
        asked = pending.pop(call_id, None)
        if asked is None and not call_id and isinstance(name, str) and name:
            first = next((key for key, waits in pending.items() if waits.name == name), "")
            asked = pending.pop(first, None)
        elif asked is None and not call_id and pending:
            asked = pending.pop(next(iter(pending)))
        if asked is None:
            return None
        call_id = call_id or asked.call_id
        result = part.get("response")
        return cls(call_id, asked, result, tool_failed(result) or part.get("is_error") is True)

    def row(self, facts: SpanFacts, call: LlmCall, batch: Batch) -> ToolCall:
        """Its row, in the turn of the call whose request brought the result."""
        asked = self.asked
        start = asked.replied or facts.start_time
        # Without the round: that is another one once a call is known that came late.
        identity = f"{facts.trace_id}\0{call.turn_id}\0{self.call_id}\0{start}"
        row = ToolCall(
            project=facts.project,
            service=facts.origin.service,
            environment=facts.origin.environment,
            session_id=call.session_id,
            turn_id=call.turn_id,
            trace_id=facts.trace_id,
            span_id=blake2b(identity.encode(), digest_size=8).hexdigest(),
            parent_span_id=call.parent_span_id,
            start_time=start,
            duration=max(0, facts.start_time - start) / 1e9,
            round=asked.round,
            name=batch.redactor.text(asked.name, f"attribute:{semconv.TOOL_NAME}"),
            type="function",
            call_id=batch.redactor.text(self.call_id, f"attribute:{semconv.TOOL_CALL_ID}"),
            failed=self.failed,
            agent_name=call.agent_name,
            scope_name=SCOPE,
            writer=batch.writer,
            written_at=batch.written_at,
        )
        if batch.redactor.settings.capture_content:
            write_content(row, "arguments", asked.arguments, "tool_arguments", batch)
            write_content(row, "result", self.result, "tool_result", batch)
        return row

    def fact(self) -> ExecutedTool:
        """As a turn remembers it."""
        asked = self.asked
        return ExecutedTool(
            asked.name, asked.arguments, asked.round, self.result, self.failed, True
        )


def is_forced(request: RequestParts) -> bool:
    """Whether the request names the one tool that the model must ask for: a way of asking for a
    structured answer, after which nothing is executed."""
    choice: Any = request.parameters.get("tool_choice")
    fields = as_dict(choice)
    if fields is None:
        return False
    return fields.get("type") in ("tool", "function", "custom") and (
        "name" in fields or "function" in fields or "custom" in fields
    )
