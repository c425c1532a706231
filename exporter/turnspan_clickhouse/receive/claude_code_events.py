"""Claude Code's log events, made into spans: without its tracing, which is a beta, they are all.

Of a request to the model (``api_request``, ``api_error``) and of a tool (``tool_result``, or the
``tool_decision`` that rejects it) a span is made that ended when the event was written. What was
asked (``user_prompt``), answered (``assistant_response``) and decided goes on it; these are events
of their own, so they are kept a while. A span of its own that tells of the same call or tool is
merged with it, by the request's or the tool's id.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from typing import Any, Final

from turnspan import semconv
from turnspan_clickhouse.foreign_dialects import claude_code
from turnspan_clickhouse.receive.decoded import (
    Decoded,
    Received,
    ReceivedScope,
    SpanFields,
    derived_id,
)
from turnspan_clickhouse.receive.log_events import LogEvent, with_attributes
from turnspan_clickhouse.receive.tool_decisions import (
    REJECTED,
    ToolDecisions,
    decision_of,
    is_rejected,
)

MAX_TEXTS = 1_000
"""Prompts that are kept for the calls that follow them."""
_BLOCKED: Final = "claude_code.tool.blocked_on_user"
_REJECTED: Final[dict[str, Any]] = {"success": False, "error_type": REJECTED}
_DECISION: Final = "claude_code.tool_decision"
_NAMES: Final = {
    "claude_code.api_request": claude_code.CALL,
    "claude_code.api_error": claude_code.CALL,
    "claude_code.tool_result": claude_code.TOOL_RUN,
    _DECISION: claude_code.TOOL_RUN,
}
_SCOPE: Final = ReceivedScope.of(claude_code.EVENTS, "", "", {})
_ASKED_BY: Final = ("repl_main_thread", "sdk", "main")
"""What sends the user's own prompts, in ``query_source``."""
_IDENTITY: Final = (semconv.SESSION_ID, "event.sequence", "request_id", "tool_use_id")
_OK, _ERROR, _CLIENT = 0, 2, 3


class ClaudeCodeEvents:
    """Makes spans of events; for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._prompts: OrderedDict[str, Any] = OrderedDict()
        self._decisions = ToolDecisions()

    def add_spans(self, decoded: Decoded) -> None:
        """Add to a request the spans of its events."""
        events, decoded.claude_code = decoded.claude_code, []
        self._decide_spans(decoded.spans)
        if not events:
            return
        with self._lock:
            for event in events:
                if event.name == "claude_code.user_prompt":
                    self._prompts[_prompt_of(event)] = event.attributes.get("prompt")
                    if len(self._prompts) > MAX_TEXTS:
                        self._prompts.popitem(last=False)
                elif event.name == _DECISION:
                    self._decisions.note(*_tool_of(event), event.attributes)
            replies = {
                event.attributes.get("request_id"): event.attributes.get("response")
                for event in events
                if event.name == "claude_code.assistant_response"
            }
            for event in events:
                name = _NAMES.get(event.name)
                if name is not None:
                    self._add(name, event, replies, decoded)

    def _add(self, name: str, event: LogEvent, replies: dict[Any, Any], decoded: Decoded) -> None:
        said = {key: value for key, value in event.attributes.items() if key != "content"}
        if name == claude_code.CALL:
            reply = replies.get(said.get("request_id"))
            if event.span_id and not reply:
                return  # a span of its own has said it
            said["response.model_output"] = reply or ""
            if _text(said, "query_source").startswith(_ASKED_BY):  # else of a title, a subagent
                said["user_prompt"] = self._prompts.pop(_prompt_of(event), "")
            said["success"] = event.name != "claude_code.api_error"
        elif not self._decide(event, said):
            return
        took = claude_code.number(said.get("duration_ms")) or 0.0
        failed = str(said.get("success")).lower() == "false"
        session = _text(said, semconv.SESSION_ID)
        prompt = _text(said, "prompt.id")
        # What is the same when the event is sent again, and of no other.
        ids = (_text(said, key) for key in _IDENTITY)
        own = derived_id(event.name, str(event.time), *ids)
        fields = SpanFields(
            bytes.fromhex(event.trace_id) or (derived_id(session, prompt) if prompt else own),
            own[:8],
            name,
            event.time - round(took * 1e6),
            event.time,
            said,
            event.size,
            parent_id=bytes.fromhex(event.span_id),
            kind=_CLIENT,
            status_code=_ERROR if failed else _OK,
            status_message=_text(said, "error"),
        )
        decoded.add(fields, event.resource, _SCOPE)

    def _decide(self, event: LogEvent, said: dict[str, Any]) -> bool:
        """Add what was decided of a tool; whether its event makes a span, as none of its own tells
        of it: its end does, and the decision of one that did not run."""
        if event.span_id:
            return False
        is_decision = event.name == _DECISION
        known = self._decisions.of(*_tool_of(event))
        decision = known or decision_of(said)
        said.update(decision)
        if is_rejected(decision):
            said.update(_REJECTED)
            return is_decision or not known
        return not is_decision

    def _decide_spans(self, spans: list[Received]) -> None:
        """Add to the spans of tools what those inside them, which end first, say of the wait for a
        permission."""
        for one in spans:
            if one.span.name == _BLOCKED and one.parent_id:
                self._decisions.note(one.trace_id, one.parent_id, dict(one.span.attributes or {}))
        for at, one in enumerate(spans):
            if one.span.name == claude_code.TOOL_RUN:
                decision: dict[str, Any] = dict(self._decisions.of(one.trace_id, one.span_id))
                decision |= _REJECTED if is_rejected(decision) else {}
                if decision:
                    spans[at] = replace(one, span=with_attributes(one.span, decision))


def _prompt_of(event: LogEvent) -> str:
    return _text(event.attributes, "prompt.id") or _text(event.attributes, semconv.SESSION_ID)


def _tool_of(event: LogEvent) -> tuple[str, str]:
    said = event.attributes
    return _text(said, semconv.SESSION_ID), _text(said, "tool_use_id")


def _text(said: dict[str, Any], key: str) -> str:
    return str(said.get(key) or "")
