"""OpenAI's chat completions: requests read, replies written as JSON and as stream chunks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from turnspan_demo.model import Fault, Reply
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

PATH = "/v1/chat/completions"


def read(body: bytes, headers: Mapping[str, str]) -> ChatRequest:
    """Read a request. Raises BadRequestError."""
    data = parse(body)
    model = data.get("model")
    if not isinstance(model, str) or not model:
        raise BadRequestError("you must provide a model parameter")
    system: list[str] = []
    messages: list[Said] = []
    for number, raw in enumerate(items(data.get("messages"), "'messages'")):
        what = f"messages[{number}]"
        message = mapping(raw, what)
        role = message.get("role")
        if role in ("system", "developer"):
            system.append(text_of(message.get("content"), what))
        elif role in ("user", "assistant", "tool"):
            messages.append(_message(role, message, what))
        else:
            raise BadRequestError(f"{what}: {role!r} is not a known role.")
    options = mapping(data.get("stream_options") or {}, "'stream_options'")
    metadata = mapping(data.get("metadata") or {}, "'metadata'")
    keys = (headers.get(RUN_HEADER), data.get("user"), metadata.get("run"))
    return ChatRequest(
        provider="openai",
        model=model,
        system="\n\n".join(system),
        messages=tuple(messages),
        tools_text=dumps(data["tools"]) if data.get("tools") else "",
        stream=bool(data.get("stream")),
        include_usage=bool(options.get("include_usage")),
        keys=tuple(str(key) for key in keys if key),
        instance=headers.get(INSTANCE_HEADER) or "",
    )


def _message(role: str, message: dict[str, Any], what: str) -> Said:
    text = text_of(message.get("content"), what)
    calls: list[tuple[str, str]] = []
    for raw in items(message.get("tool_calls") or [], what):
        function = mapping(mapping(raw, what).get("function"), what)
        arguments = canonical_arguments(str(function.get("arguments", "")))
        calls.append((str(function.get("name", "")), arguments))
    if role == "tool" and not message.get("tool_call_id"):
        raise BadRequestError(f"{what}: a tool message needs a 'tool_call_id'.")
    return Said(role, text, tuple(calls))


def respond(
    request: ChatRequest, reply: Reply, tokens: Tokens, serial: int, first: bool
) -> dict[str, Any]:
    """The whole reply as one JSON object."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": reply.text if reply.text or not reply.tools else None,
        "refusal": None,
        "annotations": [],
    }
    if reply.tools:
        message["tool_calls"] = [
            {
                "id": tool.id,
                "type": "function",
                "function": {"name": tool.name, "arguments": tool.arguments},
            }
            for tool in reply.tools
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish(reply)}
    return {
        **_envelope(request, serial, "chat.completion"),
        "choices": [choice],
        "usage": usage(tokens, first),
    }


def stream(
    request: ChatRequest, reply: Reply, tokens: Tokens, serial: int, first: bool
) -> Iterator[str]:
    """The reply as server-sent events, ``data: [DONE]`` included."""
    head = _envelope(request, serial, "chat.completion.chunk")
    tail: dict[str, Any] = {"usage": None} if request.include_usage else {}

    def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return _event({**head, "choices": [choice], **tail})

    opening = None if reply.tools and not reply.text else ""
    yield chunk({"role": "assistant", "content": opening, "refusal": None})
    if reply.text:
        for piece in pieces(reply.text, 24):
            yield chunk({"content": piece})
    for index, tool in enumerate(reply.tools):
        function = {"name": tool.name, "arguments": ""}
        started = {"index": index, "id": tool.id, "type": "function", "function": function}
        yield chunk({"tool_calls": [started]})
        for piece in pieces(tool.arguments, 12):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, finish(reply))
    if request.include_usage:
        yield _event({**head, "choices": [], "usage": usage(tokens, first)})
    yield "data: [DONE]\n\n"


def finish(reply: Reply) -> str:
    """OpenAI's finish reason."""
    return "tool_calls" if reply.tools and reply.finish == "stop" else reply.finish


def usage(tokens: Tokens, first: bool) -> dict[str, Any]:
    """OpenAI's usage object; cached tokens are part of the prompt's."""
    return {
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.prompt + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.openai_cached(first), "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": tokens.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def error(status: int, message: str) -> ErrorReply:
    """An error with a message of ours, in OpenAI's form."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    code = "recording_not_found" if status == 404 else None
    return ErrorReply(status, _error(message, kind, code))


def fault(kind: Fault, model: str) -> ErrorReply:
    """The error that a fault answers with."""
    if kind.kind == "rate_limit":
        message = (
            f"Rate limit reached for {model} on tokens per min (TPM): Limit 30000, Used 29412, "
            "Requested 1204. Please try again in 1.232s."
        )
        body = _error(message, "tokens", "rate_limit_exceeded")
        return ErrorReply(429, body, {"retry-after": "1", "retry-after-ms": "30"})
    if kind.kind == "overloaded":
        message = "The engine is currently overloaded, please try again later."
        return ErrorReply(503, _error(message, "service_unavailable", None), _SOON)
    message = "The server had an error while processing your request. Sorry about that!"
    return ErrorReply(500, _error(message, "server_error", None), _SOON)


_SOON = {"retry-after-ms": "30"}


def _error(message: str, kind: str, code: str | None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _envelope(request: ChatRequest, serial: int, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-replay{serial:08d}",
        "object": kind,
        "created": int(time.time()),
        "model": request.model,
        "service_tier": "default",
        "system_fingerprint": "fp_replay",
    }


def _event(value: dict[str, Any]) -> str:
    return f"data: {dumps(value)}\n\n"
