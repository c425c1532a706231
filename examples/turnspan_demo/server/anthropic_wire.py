"""Anthropic's messages: requests read, replies written as JSON and as stream events."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from turnspan_demo.model import Fault, Reply, arguments_of
from turnspan_demo.server.conversation import ChatRequest, Said, canonical_arguments
from turnspan_demo.server.estimate import Tokens
from turnspan_demo.server.wire import (
    INSTANCE_HEADER,
    RUN_HEADER,
    BadRequestError,
    ErrorReply,
    dumps,
    items,
    mapping,
    parse,
    pieces,
    text_of,
)

PATH = "/v1/messages"
_STOP_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}


def read(body: bytes, headers: Mapping[str, str]) -> ChatRequest:
    """Read a request. Raises BadRequestError."""
    data = parse(body)
    model = data.get("model")
    if not isinstance(model, str) or not model:
        raise BadRequestError("model: Field required")
    if not isinstance(data.get("max_tokens"), int):
        raise BadRequestError("max_tokens: Field required")
    messages: list[Said] = []
    for number, raw in enumerate(items(data.get("messages"), "messages")):
        what = f"messages.{number}"
        message = mapping(raw, what)
        role = message.get("role")
        if role not in ("user", "assistant"):
            raise BadRequestError(f"{what}.role: must be 'user' or 'assistant'")
        messages.extend(_messages(role, message.get("content"), what))
    if not messages or messages[0].role != "user":
        raise BadRequestError("messages: first message must use the user role")
    metadata = mapping(data.get("metadata") or {}, "metadata")
    thinking = mapping(data.get("thinking") or {}, "thinking")
    keys = (headers.get(RUN_HEADER), metadata.get("user_id"))
    return ChatRequest(
        provider="anthropic",
        model=model,
        system=text_of(data.get("system"), "system"),
        messages=tuple(messages),
        tools_text=dumps(data["tools"]) if data.get("tools") else "",
        stream=bool(data.get("stream")),
        thinking=thinking.get("type") in ("enabled", "adaptive"),
        cached='"cache_control"' in body.decode("utf-8", "replace"),
        keys=tuple(str(key) for key in keys if key),
        instance=headers.get(INSTANCE_HEADER) or "",
    )


def _messages(role: str, content: object, what: str) -> Iterator[Said]:
    """A message of Anthropic's: a user message may hold tool results and a text after them."""
    if isinstance(content, str):
        yield Said(role, content)
        return
    texts: list[str] = []
    tools: list[tuple[str, str]] = []
    results = False
    for number, raw in enumerate(items(content, f"{what}.content")):
        block = mapping(raw, f"{what}.content.{number}")
        kind = block.get("type")
        if kind == "text":
            if not block.get("text"):
                raise BadRequestError(f"{what}.content.{number}.text: must be non-empty")
            texts.append(str(block["text"]))
        elif kind == "tool_use":
            arguments = canonical_arguments(dumps(block.get("input", {})))
            tools.append((str(block.get("name", "")), arguments))
        elif kind == "tool_result":
            results = True
            yield Said("tool", text_of(block.get("content"), what))
        elif kind not in ("thinking", "redacted_thinking"):
            raise BadRequestError(f"{what}.content.{number}: {kind!r} is not supported here")
    if texts or tools or not results:
        yield Said(role, "".join(texts), tuple(tools))


def respond(
    request: ChatRequest, reply: Reply, tokens: Tokens, serial: int, first: bool
) -> dict[str, Any]:
    """The whole reply as one JSON object."""
    return {
        **_envelope(request, serial),
        "content": _blocks(request, reply),
        "stop_reason": finish(reply),
        "stop_sequence": None,
        "usage": usage(request, tokens, first, tokens.output),
    }


def stream(
    request: ChatRequest, reply: Reply, tokens: Tokens, serial: int, first: bool
) -> Iterator[str]:
    """The reply as server-sent events."""
    start: dict[str, Any] = {
        **_envelope(request, serial),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage(request, tokens, first, 1),
    }
    yield _event("message_start", {"message": start})
    yield _event("ping", {})
    for index, block in enumerate(_blocks(request, reply)):
        empty, deltas = _deltas(block)
        yield _event("content_block_start", {"index": index, "content_block": empty})
        for delta in deltas:
            yield _event("content_block_delta", {"index": index, "delta": delta})
        yield _event("content_block_stop", {"index": index})
    delta = {"stop_reason": finish(reply), "stop_sequence": None}
    totals = usage(request, tokens, first, tokens.output)
    totals.pop("service_tier")
    yield _event("message_delta", {"delta": delta, "usage": totals})
    yield _event("message_stop", {})


def _blocks(request: ChatRequest, reply: Reply) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.thinking and request.thinking:
        signature = base64.b64encode(hashlib.sha512(reply.thinking.encode()).digest()).decode()
        blocks.append({"type": "thinking", "thinking": reply.thinking, "signature": signature})
    if reply.text:
        blocks.append({"type": "text", "text": reply.text})
    for tool in reply.tools:
        body = {"id": tool.id, "name": tool.name, "input": arguments_of(tool.arguments)}
        blocks.append({"type": "tool_use", **body})
    return blocks


def _deltas(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it starts, and the deltas that complete it."""
    if block["type"] == "text":
        texts = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"], 24)]
        return {**block, "text": ""}, texts
    if block["type"] == "thinking":
        thoughts = [
            {"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"], 24)
        ]
        signed = {"type": "signature_delta", "signature": block["signature"]}
        return {**block, "thinking": "", "signature": ""}, [*thoughts, signed]
    parts = ["", *pieces(dumps(block["input"]), 12)]
    inputs = [{"type": "input_json_delta", "partial_json": piece} for piece in parts]
    return {**block, "input": {}}, inputs


def finish(reply: Reply) -> str:
    """Anthropic's stop reason."""
    return _STOP_REASONS["tool_calls" if reply.tools and reply.finish == "stop" else reply.finish]


def usage(request: ChatRequest, tokens: Tokens, first: bool, output: int) -> dict[str, Any]:
    """Anthropic's usage object: what was read from or written to the cache is *not* input.

    A request with a ``cache_control`` mark has its tools and system prompt cached.
    """
    cached = min(tokens.prefix, tokens.prompt) if request.cached else 0
    return {
        "input_tokens": tokens.prompt - cached,
        "cache_creation_input_tokens": cached if first else 0,
        "cache_read_input_tokens": 0 if first else cached,
        "output_tokens": output,
        "service_tier": "standard",
    }


def error(status: int, message: str) -> ErrorReply:
    """An error with a message of ours, in Anthropic's form."""
    kinds = {404: "not_found_error", 400: "invalid_request_error"}
    return ErrorReply(status, _error(kinds.get(status, "api_error"), message))


def fault(kind: Fault, model: str) -> ErrorReply:
    """The error that a fault answers with."""
    if kind.kind == "rate_limit":
        message = (
            "This request would exceed your organization's rate limit of 40,000 input tokens per "
            f"minute for {model}. Please reduce the prompt length or try again later."
        )
        body = _error("rate_limit_error", message)
        return ErrorReply(429, body, {"retry-after": "1", "retry-after-ms": "30"})
    if kind.kind == "overloaded":
        return ErrorReply(529, _error("overloaded_error", "Overloaded"), _SOON)
    return ErrorReply(500, _error("api_error", "Internal server error"), _SOON)


_SOON = {"retry-after-ms": "30"}


def _error(kind: str, message: str) -> dict[str, Any]:
    return {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": "req_replay",
    }


def _envelope(request: ChatRequest, serial: int) -> dict[str, Any]:
    return {
        "id": f"msg_replay{serial:08d}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
    }


def _event(kind: str, body: dict[str, Any]) -> str:
    return f"event: {kind}\ndata: {dumps({'type': kind, **body})}\n\n"
