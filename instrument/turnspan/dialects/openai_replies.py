"""Replies of OpenAI's APIs, whole and as the events of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, Final

from turnspan.content.model import as_dict, as_list, as_text
from turnspan.dialects.openai_items import ASKED
from turnspan.dialects.response_parts import (
    ResponseParts,
    TokenCounts,
    known_counts,
    pieces_of,
)

_CUT: Final = ("max_output_tokens", "content_filter")
"""Why a response is incomplete."""
_UNFINISHED: Final = "error"
"""The conventions' finish reason of a choice that never finished."""
_TEXTS: Final = {"output_text": ("text", "output_text"), "refusal": ("refusal", "refusal"),
                 "reasoning_text": ("text", "reasoning_text")}  # fmt: skip
"""Blocks that a stream brings in pieces: the field, and what its events are called."""
_STREAMED: Final = {
    "function_call": "function_call_arguments",
    "custom_tool_call": "custom_tool_call_input",
}


# -- chat completions and completions --------------------------------------------------------------


def join_completion(prefix: str, kind: str, field: str, parts: ResponseParts) -> dict[str, Any]:
    """A completion of this kind: its id begins with the prefix, its choices have a field for what
    the model says."""
    reasons = dict(enumerate(parts.finish_reasons))
    body = {
        "id": parts.id or f"{prefix}-{parts.created}",
        "object": kind,
        "created": parts.created,
        "model": parts.model,
        "choices": [
            {"index": at, field: message, "finish_reason": _finished(reasons.get(at)),
             "logprobs": None}
            for at, message in enumerate(parts.messages)
        ],
    }  # fmt: skip
    return {**body, "usage": chat_usage(parts.tokens)} if parts.tokens.known else body


def _finished(reason: str | None) -> str | None:
    return None if reason == _UNFINISHED else reason


def chat_usage(tokens: TokenCounts) -> dict[str, Any]:
    """Token counts in the words of chat completions."""
    return {
        "prompt_tokens": tokens.input_tokens or 0,
        "completion_tokens": tokens.output_tokens or 0,
        "total_tokens": tokens.both,
        "prompt_tokens_details": _cached(tokens),
        "completion_tokens_details": known_counts(reasoning_tokens=tokens.reasoning_tokens),
    }


def _cached(tokens: TokenCounts) -> dict[str, Any]:
    read, written = tokens.cache_read_tokens, tokens.cache_write_tokens
    return known_counts(cached_tokens=read, cache_write_tokens=written)


def chat_chunks(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The chunks of a streamed chat completion."""
    head = {**_head(body), "object": "chat.completion.chunk"}
    for choice in body["choices"]:
        for delta in _deltas(choice["message"]):
            yield {**head, "choices": [_choice(choice, {"delta": delta}, None)]}
        yield {**head, "choices": [_choice(choice, {"delta": {}}, choice["finish_reason"])]}


def completion_chunks(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The chunks of a streamed completion."""
    head = _head(body)
    for choice in body["choices"]:
        for piece in pieces_of(choice["text"]):
            yield {**head, "choices": [_choice(choice, {"text": piece}, None)]}
        yield {**head, "choices": [_choice(choice, {"text": ""}, choice["finish_reason"])]}


def with_usage(
    chunks: Iterator[dict[str, Any]], body: dict[str, Any], *, apart: bool
) -> Iterator[dict[str, Any]]:
    """The chunks, and the usage in one of its own, as who asks for it gets it, or in the last."""
    last: dict[str, Any] = {}
    for chunk in chunks:
        if last:
            yield last
        last = chunk
    usage = {"usage": body["usage"]} if "usage" in body else {}
    yield last if apart else {**last, **usage}
    if apart and usage:
        yield {**last, "choices": [], **usage}


def _head(body: dict[str, Any]) -> dict[str, Any]:
    return {key: body[key] for key in ("id", "object", "created", "model")}


def _choice(choice: dict[str, Any], said: dict[str, Any], reason: Any) -> dict[str, Any]:
    return {"index": choice["index"], **said, "finish_reason": reason}


def _deltas(message: Any) -> Iterator[dict[str, Any]]:
    """What the pieces of a message add: its texts, then its tool calls, then all else."""
    fields = as_dict(message) or {"content": message}
    yield {"role": fields.get("role", "assistant"), "content": ""}
    others = {k: v for k, v in fields.items() if v is not None and k not in ("role", "tool_calls")}
    texts = [key for key in others if key != "content" and isinstance(others[key], str)]
    for key in [*texts, "content"]:  # a model thinks before it speaks
        value = others.pop(key, "")
        for piece in pieces_of(value) if isinstance(value, str) else [value]:
            yield {key: piece}
    for index, call in enumerate(as_list(fields.get("tool_calls")) or []):
        yield {"tool_calls": [{"index": index, **call}]}
    if others:
        yield others


# -- responses -------------------------------------------------------------------------------------


def join_responses(parts: ResponseParts) -> dict[str, Any]:
    """A response of the Responses API."""
    asked, reason = parts.request, parts.reason or "completed"
    cut = reason in _CUT
    return {
        "id": parts.id,
        "object": "response",
        "created_at": parts.created,
        "status": "incomplete" if cut or reason == _UNFINISHED else reason,
        "error": None,
        "incomplete_details": {"reason": reason} if cut else None,
        "instructions": asked.get("instructions"),
        "max_output_tokens": asked.get("max_output_tokens"),
        "model": parts.model,
        "output": parts.messages,
        "parallel_tool_calls": asked.get("parallel_tool_calls", True),
        "previous_response_id": asked.get("previous_response_id"),
        "reasoning": asked.get("reasoning") or {"effort": None, "summary": None},
        "store": asked.get("store", True),
        "temperature": asked.get("temperature", 1.0),
        "text": asked.get("text") or {"format": {"type": "text"}},
        "tool_choice": asked.get("tool_choice") or "auto",
        "tools": asked.get("tools") or [],
        "top_p": asked.get("top_p", 1.0),
        "truncation": asked.get("truncation") or "disabled",
        "usage": _responses_usage(parts.tokens) if parts.tokens.known else None,
        "user": asked.get("user"),
        "metadata": asked.get("metadata") or {},
    }


def _responses_usage(tokens: TokenCounts) -> dict[str, Any]:
    return {
        "input_tokens": tokens.input_tokens or 0,
        "input_tokens_details": _cached(tokens),
        "output_tokens": tokens.output_tokens or 0,
        "output_tokens_details": known_counts(reasoning_tokens=tokens.reasoning_tokens),
        "total_tokens": tokens.both,
    }


def response_events(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of a streamed response."""
    numbers = count()
    begun: dict[str, Any] = {**body, "status": "in_progress", "output": [], "usage": None}
    last = ("response.created", "response.in_progress")
    events = [{"type": kind, "response": begun} for kind in last]
    for event in (*events, *_item_events(body["output"])):
        yield {**event, "sequence_number": next(numbers)}
    ended = {"type": f"response.{body['status']}", "response": body}
    yield {**ended, "sequence_number": next(numbers)}


def _item_events(items: list[Any]) -> Iterator[dict[str, Any]]:
    for place, raw in enumerate(items):
        item = as_dict(raw) or {}
        kind = as_text(item.get("type"))
        where = {"item_id": item.get("id") or "", "output_index": place}
        field = ASKED.get(kind, "") if kind in _STREAMED else ""
        empty: dict[str, Any] = {field: ""} if field else {}
        empty |= {key: [] for key in ("content", "summary") if isinstance(item.get(key), list)}
        started = {**item, **empty, **({"status": "in_progress"} if "status" in item else {})}
        yield {"type": "response.output_item.added", "output_index": place, "item": started}
        if field:
            name = {"name": item.get("name")} if kind == "function_call" else {}
            yield from _text_events(_STREAMED[kind], field, [item[field]], where, name)
        for at, part in enumerate(as_list(item.get("summary")) or []):
            inside = {**where, "summary_index": at}
            yield from _part_events(
                "reasoning_summary_part", "reasoning_summary_text", part, inside
            )
        for at, part in enumerate(as_list(item.get("content")) or []):
            inside = {**where, "content_index": at}
            yield from _part_events("content_part", "", part, inside)
        yield {"type": "response.output_item.done", "output_index": place, "item": item}


def _part_events(kind: str, text: str, raw: Any, where: dict[str, Any]) -> Iterator[dict[str, Any]]:
    part = as_dict(raw) or {}
    field, called = _TEXTS.get(as_text(part.get("type")), ("text" if text else "", text))
    empty = {field: ""} if field else {}
    yield {"type": f"response.{kind}.added", **where, "part": {**part, **empty}}
    if field:
        logs: dict[str, Any] = {"logprobs": []} if called == "output_text" else {}
        yield from _text_events(called, field, pieces_of(as_text(part.get(field))), where, logs)
    yield {"type": f"response.{kind}.done", **where, "part": part}


def _text_events(
    called: str,
    field: str,
    pieces: list[str],
    where: dict[str, Any],
    others: dict[str, Any],
) -> Iterator[dict[str, Any]]:
    beside = {} if "name" in others else others
    for piece in pieces:
        yield {"type": f"response.{called}.delta", **where, "delta": piece, **beside}
    yield {"type": f"response.{called}.done", **where, field: "".join(pieces), **others}
