"""Hand-made records: each helper fills in what its test does not care about."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from turnspan_clickhouse.rows.tables import LlmCall, MessageRow, ToolCall, TurnSummary

SECOND = 10**9
T0 = 1_790_000_000 * SECOND
"""2026-09-21 14:13:20 UTC: when hand-made records begin."""
PROJECT = "shop"


def turn(turn_id: str, at: float = 0.0, **values: Any) -> TurnSummary:
    """A completed root turn that began ``at`` seconds after T0."""
    known: dict[str, Any] = {
        "project": PROJECT,
        "session_id": "s1",
        "turn_id": turn_id,
        "span_id": turn_id,
        "trace_id": "f" * 32,
        "start_time": T0 + round(at * SECOND),
        "status": "final",
        "stop_reason": "completed",
        "rounds": 4,
        "written_at": T0,
    }
    return TurnSummary(**{**known, **values})


def call(span_id: str, at: float = 0.0, **values: Any) -> LlmCall:
    """A model call that began ``at`` seconds after T0."""
    known: dict[str, Any] = {
        "project": PROJECT,
        "session_id": "s1",
        "span_id": span_id,
        "trace_id": "f" * 32,
        "start_time": T0 + round(at * SECOND),
        "request_model": "gpt-4o",
        "written_at": T0,
    }
    return LlmCall(**{**known, **values})


def tool(span_id: str, at: float = 0.0, **values: Any) -> ToolCall:
    """A tool call that began ``at`` seconds after T0."""
    known: dict[str, Any] = {
        "project": PROJECT,
        "session_id": "s1",
        "span_id": span_id,
        "trace_id": "f" * 32,
        "start_time": T0 + round(at * SECOND),
        "name": "search",
        "written_at": T0,
    }
    return ToolCall(**{**known, **values})


def message(role: str, *parts: dict[str, Any], scope: str = "s1", **values: Any) -> MessageRow:
    """A message of a session; its hash is that of its role and parts."""
    text = json.dumps(parts)
    known: dict[str, Any] = {
        "project": PROJECT,
        "scope": scope,
        "hash": blake2b(f"{role}\0{text}".encode(), digest_size=16).digest(),
        "role": role,
        "parts": text,
        "dialect": "openai.chat",
        "first_seen": T0,
        "written_at": T0,
    }
    return MessageRow(**{**known, **values})


def said(text: str) -> dict[str, Any]:
    """A text part."""
    return {"type": "text", "content": text}


def asked(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    """A tool call part."""
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def answered(call_id: str, response: Any) -> dict[str, Any]:
    """A tool call response part."""
    return {"type": "tool_call_response", "id": call_id, "response": response}
