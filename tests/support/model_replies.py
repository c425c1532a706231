"""What the providers' APIs send, as small as the SDKs accept it."""

from __future__ import annotations

from typing import Any

USAGE: dict[str, Any] = {
    "prompt_tokens": 11,
    "completion_tokens": 7,
    "total_tokens": 18,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 2},
}

WEATHER_CALL: dict[str, Any] = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
}


def chat(text: str | None = "Hello", reason: str = "stop", **message: Any) -> dict[str, Any]:
    """A chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-mini-2024-07-18",
        "system_fingerprint": "fp_1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": reason,
            }
        ],
        "usage": USAGE,
    }


def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    """A chunk of a streamed chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        **more,
    }


def chat_stream(*texts: str) -> list[Any]:
    """The chunks of a streamed reply, up to the end mark."""
    first = chunk({"role": "assistant", "content": ""})
    last = [chunk({}, "stop"), chunk({}, choices=[], usage=USAGE)]
    return [first, *(chunk({"content": text}) for text in texts), *last, "[DONE]"]


def message(*blocks: dict[str, Any], reason: str = "end_turn") -> dict[str, Any]:
    """An Anthropic message; without blocks, one that says Hello."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": list(blocks) or [{"type": "text", "text": "Hello"}],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 5,
            "output_tokens": 7,
            "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 20,
        },
    }


def _named(event: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return str(event["type"]), event


def message_stream(*texts: str) -> list[Any]:
    """The events of a streamed message: thinking, text and a tool call."""
    start: dict[str, Any] = {**message(), "content": [], "stop_reason": None}
    start["usage"]["output_tokens"] = 1
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": "Let me "},
                {"type": "thinking_delta", "thinking": "see."},
                {"type": "signature_delta", "signature": "c2ln"},
            ],
        ),
        (
            {"type": "text", "text": ""},
            [{"type": "text_delta", "text": text} for text in texts],
        ),
        (
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}},
            [
                {"type": "input_json_delta", "partial_json": '{"city":'},
                {"type": "input_json_delta", "partial_json": ' "Oslo"}'},
            ],
        ),
    ]
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
        events.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": "tool_use", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 42}})
    events.append({"type": "message_stop"})
    return [_named(event) for event in events]
