"""Log events of Codex and Gemini CLI, made into spans of the GenAI conventions.

Sources: Codex's ``codex-rs/otel/src/events/session_telemetry.rs`` and Gemini CLI's
``docs/cli/telemetry.md``, both as of November 2026. A span ends when its event was written. Codex
writes no id of a request: what ``codex.api_request`` says of the one before (its start, how many
tries) goes on the span of the reply. What the user said is ``[REDACTED]``, or left out, unless the
user of the agent has asked for it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

import orjson

from turnspan import semconv
from turnspan.content.model import text_part
from turnspan_clickhouse.foreign_dialects.claude_code import number
from turnspan_clickhouse.receive.decoded import Decoded, ReceivedScope, SpanFields, derived_id
from turnspan_clickhouse.receive.log_events import LogEvent
from turnspan_clickhouse.receive.tool_decisions import (
    REJECTED,
    ToolDecisions,
    decision_of,
    is_rejected,
)

MAX_SESSIONS = 1_000
"""Sessions whose last prompt and request are remembered."""
_OK, _ERROR, _CLIENT, _INTERNAL = 0, 2, 3, 1
_HIDDEN: Final = "[REDACTED]"
_CODEX, _GEMINI = "codex", "gemini-cli"
_SCOPES: Final = {
    kind: ReceivedScope.of(f"{kind}.events", "", "", {}) for kind in (_CODEX, _GEMINI)
}
_CALLS: Final = frozenset(
    {"codex.sse_event", "codex.api_request", "gemini_cli.api_response", "gemini_cli.api_error"}
)
_TOOLS: Final = frozenset({"codex.tool_result", "gemini_cli.tool_call"})
_USAGE: Final = {
    semconv.USAGE_INPUT_TOKENS: ("input_token_count",),
    semconv.USAGE_OUTPUT_TOKENS: ("output_token_count",),
    semconv.USAGE_CACHE_READ_INPUT_TOKENS: ("cached_token_count", "cached_content_token_count"),
    semconv.USAGE_CACHE_WRITE_INPUT_TOKENS: ("cache_write_token_count",),
    semconv.USAGE_REASONING_OUTPUT_TOKENS: ("reasoning_token_count", "thoughts_token_count"),
}


@dataclass(slots=True)
class _AgentSession:
    """What later events of a session need."""

    prompt: str = ""
    """What tells the user's last prompt from others."""
    text: str = ""
    """What it said, until a call has it."""
    started: int = 0
    tries: int = 1


class CodingAgentEvents:
    """Makes spans of events; for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, _AgentSession] = OrderedDict()
        self._decisions = ToolDecisions()

    def add_spans(self, decoded: Decoded) -> None:
        """Add to a request the spans of its events."""
        events, decoded.coding = decoded.coding, []
        with self._lock:
            for event in sorted(events, key=lambda one: one.time):
                self._add(event, decoded)

    def _add(self, event: LogEvent, decoded: Decoded) -> None:
        said = event.attributes
        kind = _CODEX if event.name.startswith("codex.") else _GEMINI
        session_id = _text(said, "conversation.id") or _text(said, semconv.SESSION_ID)
        session = self._session(f"{kind} {session_id}")
        if event.name.endswith(".user_prompt"):
            session.prompt = _text(said, "prompt_id") or str(event.time)
            session.text = _text(said, "prompt").removeprefix(_HIDDEN)
            return
        call_id = _text(said, "call_id")
        if event.name == "codex.tool_decision":
            self._decisions.note(session_id, call_id, said)
            return
        took = round((number(said.get("duration_ms")) or 0.0) * 1e6)
        failed = _failed(said)
        if event.name == "codex.api_request" and not failed:  # its reply is told of later
            session.started = event.time - took
            session.tries = round(number(said.get("attempt")) or 0) + 1
            return
        attributes: dict[str, Any] = {
            semconv.CONVERSATION_ID: session_id,
            semconv.AGENT_NAME: kind,
            **({semconv.ERROR_TYPE: failed} if failed else {}),
        }
        start = event.time - took
        if event.name in _TOOLS:
            name = "tool"
            decision = self._decisions.of(session_id, call_id) or decision_of(said)
            attributes |= _tool(said) | decision
            if failed and is_rejected(decision):
                attributes[semconv.ERROR_TYPE] = REJECTED
        elif event.name not in _CALLS or said.get("event.kind", _DONE) != _DONE:
            return
        else:
            name = "call"
            attributes |= _call(kind, said)
            if session.text:
                attributes[semconv.INPUT_MESSAGES] = _message("user", session.text)
                session.text = ""
            if event.name == "codex.sse_event":
                start = session.started or start
                attributes[semconv.TRIES] = session.tries
                session.started, session.tries = 0, 1
        own = derived_id(event.name, str(event.time), session_id, call_id)
        prompt = _text(said, "prompt_id") or session.prompt
        fields = SpanFields(
            bytes.fromhex(event.trace_id)
            or (derived_id(kind, session_id, prompt) if prompt else own),
            own[:8],
            f"{kind} {name}",
            min(start, event.time),
            event.time,
            attributes,
            event.size,
            kind=_CLIENT if name == "call" else _INTERNAL,
            status_code=_ERROR if failed else _OK,
            status_message=_text(said, "error.message") or _text(said, "error"),
        )
        decoded.add(fields, event.resource, _SCOPES[kind])

    def _session(self, key: str) -> _AgentSession:
        session = self._sessions.setdefault(key, _AgentSession())
        self._sessions.move_to_end(key)
        if len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return session


_DONE: Final = "response.completed"


def _call(kind: str, said: dict[str, Any]) -> dict[str, Any]:
    """A call's attributes. Gemini counts thoughts beside the output, the conventions inside."""
    found: dict[str, Any] = {
        semconv.OPERATION_NAME: semconv.OP_CHAT,
        semconv.PROVIDER_NAME: "openai" if kind == _CODEX else "gcp.gemini",
        semconv.REQUEST_MODEL: _text(said, "model"),
    }
    for name, keys in _USAGE.items():
        counts = [count for key in keys if (count := number(said.get(key))) is not None]
        if counts:
            found[name] = round(counts[0])
    thoughts = found.get(semconv.USAGE_REASONING_OUTPUT_TOKENS, 0)
    if kind == _GEMINI and semconv.USAGE_OUTPUT_TOKENS in found:
        found[semconv.USAGE_OUTPUT_TOKENS] += thoughts
    first = number(said.get("ttft_ms"))
    if first is not None:
        found[semconv.RESPONSE_TIME_TO_FIRST_CHUNK] = first / 1000
    if text := _text(said, "response_text"):
        found[semconv.OUTPUT_MESSAGES] = _message("assistant", text)
    return found


def _tool(said: dict[str, Any]) -> dict[str, Any]:
    found = {
        semconv.OPERATION_NAME: semconv.OP_EXECUTE_TOOL,
        semconv.TOOL_NAME: _text(said, "tool_name") or _text(said, "function_name"),
        semconv.TOOL_CALL_ID: _text(said, "call_id"),
        semconv.TOOL_CALL_ARGUMENTS: _text(said, "arguments") or _text(said, "function_args"),
        semconv.TOOL_CALL_RESULT: _text(said, "output"),
    }
    return {key: value for key, value in found.items() if value}


def _failed(said: dict[str, Any]) -> str:
    """The error's type; empty where nothing failed."""
    status = number(said.get("http.response.status_code", said.get("status_code")))
    told = _text(said, "error.type") or _text(said, "error_type")
    if told or str(said.get("success")).lower() == "false" or said.get("error.message"):
        return told or (str(round(status)) if status and status >= 400 else semconv.ERROR_OTHER)
    return str(round(status)) if status and status >= 400 else ""


def _message(role: str, text: str) -> str:
    return orjson.dumps([{"role": role, "parts": [text_part(text)]}]).decode()


def _text(said: dict[str, Any], key: str) -> str:
    value = said.get(key)
    return "" if value is None else str(value)
