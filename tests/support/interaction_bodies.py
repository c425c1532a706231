"""Bodies of Google's Interactions API, as it sends them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

PIXEL = "iVBORw0KGgo="
USAGE: dict[str, Any] = {
    "total_tokens": 160,
    "total_input_tokens": 100,
    "input_tokens_by_modality": [
        {"modality": "text", "tokens": 60},
        {"modality": "image", "tokens": 40},
    ],
    "total_cached_tokens": 40,
    "cached_tokens_by_modality": [{"modality": "text", "tokens": 40}],
    "total_output_tokens": 20,
    "output_tokens_by_modality": [{"modality": "text", "tokens": 20}],
    "total_tool_use_tokens": 30,
    "tool_use_tokens_by_modality": [{"modality": "text", "tokens": 30}],
    "total_thought_tokens": 10,
}
"""Counts of every kind."""
FUNCTION: dict[str, Any] = {
    "type": "function",
    "name": "look",
    "description": "Look somewhere.",
    "parameters": {"type": "object", "properties": {"at": {"type": "string"}}},
}


def model_output(*contents: dict[str, Any] | str) -> dict[str, Any]:
    """A step in which the model says texts, or other contents."""
    blocks = [{"type": "text", "text": c} if isinstance(c, str) else c for c in contents]
    return {"type": "model_output", "content": blocks}


def thought_step(*texts: str, signature: str = "c2ln") -> dict[str, Any]:
    """A step in which it thinks."""
    step: dict[str, Any] = {"type": "thought", "signature": signature}
    if texts:
        step["summary"] = [{"type": "text", "text": text} for text in texts]
    return step


def function_call(name: str = "look", call_id: str = "c1", **arguments: Any) -> dict[str, Any]:
    """A step in which it asks for a function."""
    return {"type": "function_call", "id": call_id, "name": name, "arguments": arguments}


def function_result(result: Any, call_id: str = "c1", **more: Any) -> dict[str, Any]:
    """A step that brings a function's result."""
    return {
        "type": "function_result",
        "call_id": call_id,
        "name": "look",
        "result": result,
        **more,
    }


def search_steps(query: str = "tides") -> list[dict[str, Any]]:
    """The steps of Google's own search."""
    return [
        {
            "type": "google_search_call",
            "id": "s1",
            "arguments": {"queries": [query]},
            "signature": "c2ln",
        },
        {
            "type": "google_search_result",
            "call_id": "s1",
            "result": [{"search_suggestions": "<b>tides</b>"}],
            "signature": "c2ln",
        },
    ]


def interaction(
    *steps: dict[str, Any], id: str = "v1_a", status: str = "", **more: Any
) -> dict[str, Any]:
    """An interaction; one that has ended has its counts."""
    asked = any(step["type"] == "function_call" for step in steps)
    status = status or ("requires_action" if asked else "completed")
    body: dict[str, Any] = {
        "id": id,
        "status": status,
        "object": "interaction",
        "model": "gemini-2.5-flash",
        "created": "2026-06-05T17:35:35Z",
        "updated": "2026-06-05T17:35:36Z",
        "service_tier": "standard",
    }
    if status not in ("in_progress", "queued"):
        body |= {"steps": list(steps), "usage": USAGE}
    return body | more


def refusal(code: str, message: str = "no") -> dict[str, Any]:
    """An error's body."""
    return {"error": {"code": code, "message": message}}


def events(whole: dict[str, Any], *pieces: Sequence[dict[str, Any]] | None) -> list[Any]:
    """The events of a stream that makes up an interaction: by step, the
    deltas given, or one of each kind."""
    head = {key: whole[key] for key in ("id", "object", "model") if key in whole}
    made: list[dict[str, Any]] = [
        {
            "interaction": {**head, "status": "in_progress"},
            "event_type": "interaction.created",
        },
        {
            "interaction_id": head["id"],
            "status": "in_progress",
            "event_type": "interaction.status_update",
        },
    ]
    for index, step in enumerate(whole.get("steps", [])):
        given = pieces[index] if index < len(pieces) else None
        deltas = _deltas(step) if given is None else given
        made.append({"index": index, "step": _begun(step), "event_type": "step.start"})
        made += [{"index": index, "delta": d, "event_type": "step.delta"} for d in deltas]
        made.append({"index": index, "event_type": "step.stop"})
    last = {key: value for key, value in whole.items() if key != "steps"}
    made.append({"interaction": last, "event_type": "interaction.completed"})
    return [*((event["event_type"], event) for event in made), "[DONE]"]


def _begun(step: dict[str, Any]) -> dict[str, Any]:
    """What the start of a step says of it."""
    if step["type"] == "function_call":
        return {**step, "arguments": {}}
    return {key: step[key] for key in ("type", "id", "call_id", "name") if key in step}


def _deltas(step: dict[str, Any]) -> list[dict[str, Any]]:
    """A step in one piece of each kind."""
    kind = step["type"]
    if kind == "model_output":
        return list(step["content"])
    if kind == "thought":
        summaries = [{"type": "thought_summary", "content": c} for c in step.get("summary", [])]
        return [*summaries, {"type": "thought_signature", "signature": step["signature"]}]
    if kind == "function_call":
        return [{"type": "arguments_delta", "arguments": json.dumps(step["arguments"])}]
    return [{key: value for key, value in step.items() if key not in ("id", "call_id")}]


MODEL = "gemini-2.5-flash"
QUOTE: dict[str, Any] = {
    "type": "url_citation",
    "url": "https://sea.example",
    "start_index": 0,
    "end_index": 2,
}
IMAGE: dict[str, Any] = {"type": "image", "data": PIXEL, "mime_type": "image/png"}
SPEECH: dict[str, Any] = {"type": "audio", "data": "AAECAw==", "mime_type": "audio/wav"}
STEPS: list[dict[str, Any]] = [
    thought_step("Hm.", "So."),
    *search_steps(),
    {
        "type": "code_execution_call",
        "id": "x1",
        "arguments": {"language": "python", "code": "1+1"},
    },
    {"type": "code_execution_result", "call_id": "x1", "result": "2", "is_error": False},
    {
        "type": "url_context_call",
        "id": "u1",
        "arguments": {"urls": ["https://sea.example"]},
    },
    {
        "type": "url_context_result",
        "call_id": "u1",
        "result": [{"url": "https://sea.example", "status": "success"}],
    },
    {
        "type": "mcp_server_tool_call",
        "id": "m1",
        "name": "tides",
        "server_name": "sea",
        "arguments": {"z": 1, "a": 2},
    },
    {"type": "mcp_server_tool_result", "call_id": "m1", "name": "tides", "result": {"high": 3}},
    model_output({"type": "text", "text": "Let me look.", "annotations": [QUOTE]}, IMAGE, SPEECH),
    function_call(at="Rome", also={"b": 1, "a": 2}),
    function_call(call_id="c2"),
]
"""A step of each kind."""
