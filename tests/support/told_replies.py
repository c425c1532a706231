"""The same reply of each API, whole and as the events of a stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from support.model_replies import chat, chunk, message


@dataclass
class Told:
    """What the provider says: whole, or as a stream's events."""

    body: dict[str, Any]
    events: list[Any] = field(default_factory=list[Any])
    status: int = 200


def chat_told(text: str | None = "Hi", reason: str = "stop", **message: Any) -> Told:
    """A chat completion."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in text or ""]
    deltas += [{"refusal": piece} for piece in message.get("refusal") or ""]
    deltas += [{"tool_calls": [{"index": 0, **call}]} for call in message.get("tool_calls") or ()]
    events = [*map(chunk, deltas), chunk({}, reason), "[DONE]"]
    return Told(chat(text, reason, **message), events)


def response_told(*blocks: dict[str, Any], status: str = "completed", **more: Any) -> Told:
    """A response of one message of these blocks; streamed, its last event never comes."""
    spoken = {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "content": list(blocks),
    }
    body = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": "gpt-5",
        "output": [spoken],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        **more,
    }
    events: list[tuple[str, dict[str, Any]]] = []

    def event(kind: str, **fields: Any) -> None:
        events.append((kind, {"type": kind, "sequence_number": len(events), **fields}))

    event("response.created", response={**body, "status": "in_progress", "output": []})
    event("response.output_item.added", output_index=0, item={**spoken, "content": []})
    at = {"item_id": "msg_1", "output_index": 0}
    for index, block in enumerate(blocks):
        kind = "refusal" if block["type"] == "refusal" else "output_text"
        for piece in block.get("refusal") or block["text"]:
            event(f"response.{kind}.delta", content_index=index, delta=piece, logprobs=[], **at)
    final = {"completed": "completed", "incomplete": "incomplete"}[status]
    event(f"response.{final}", response={**body, "output": []})  # some leave it out
    return Told(body, events)


def message_told(text: str = "Hi", reason: str = "end_turn") -> Told:
    """An Anthropic message."""
    blocks = [{"type": "text", "text": text}] if text else []
    body = {**message(*blocks, reason=reason), "content": blocks}
    events: list[tuple[str, dict[str, Any]]] = []

    def event(kind: str, **fields: Any) -> None:
        events.append((kind, {"type": kind, **fields}))

    event("message_start", message={**body, "content": [], "stop_reason": None})
    if text:
        event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        for piece in text:
            delta = {"type": "text_delta", "text": piece}
            event("content_block_delta", index=0, delta=delta)
        event("content_block_stop", index=0)
    ending = {"stop_reason": reason, "stop_sequence": None}
    event("message_delta", delta=ending, usage={"output_tokens": 3})
    event("message_stop")
    return Told(body, events)
