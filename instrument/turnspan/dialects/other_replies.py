"""Replies of Anthropic's and of Google's APIs, whole and as the events of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from turnspan.content.model import as_dict, as_list, as_text, dumps_text
from turnspan.dialects.response_parts import ResponseParts, known_counts, pieces_of

_UNFINISHED: Final = "error"
_PIECES: Final = ("text", "thinking")
"""Blocks that come in pieces: in the field of that name, which their deltas have too."""
_GEMINI_REASONS: Final = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
_STANDARD: Final = str.maketrans("-_", "+/")


# -- Anthropic's messages --------------------------------------------------------------------------


def join_message(parts: ResponseParts) -> dict[str, Any]:
    """An Anthropic message."""
    said = (as_dict(parts.messages[0]) if parts.messages else None) or {}
    content: Any = said.get("content") or []
    tokens = parts.tokens
    read, written = tokens.cache_read_tokens or 0, tokens.cache_write_tokens or 0
    counted = known_counts(
        cache_read_input_tokens=tokens.cache_read_tokens,
        cache_creation_input_tokens=tokens.cache_write_tokens,
    )
    if tokens.reasoning_tokens is not None:
        counted["output_tokens_details"] = {"thinking_tokens": tokens.reasoning_tokens}
    return {
        "id": parts.id,
        "type": "message",
        "role": said.get("role", "assistant"),
        "model": parts.model,
        "content": [{"type": "text", "text": content}] if isinstance(content, str) else content,
        "stop_reason": None if parts.reason == _UNFINISHED else parts.reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": max(0, (tokens.input_tokens or 0) - read - written),
            "output_tokens": tokens.output_tokens or 0,
            **counted,
        },
    }


def message_events(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of a streamed message."""
    begun: dict[str, Any] = {**body, "content": [], "stop_reason": None}
    begun["usage"] = {**body["usage"], "output_tokens": 1}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(body["content"]):
        start, deltas = _block_pieces(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    counted = {"output_tokens": body["usage"]["output_tokens"]}
    yield {"type": "message_delta", "delta": ended, "usage": counted}
    yield {"type": "message_stop"}


def _block_pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """How a block begins, and what its deltas add; most kinds come whole."""
    kind = as_text(block.get("type"))
    if kind in _PIECES and isinstance(block.get(kind), str):
        deltas = [{"type": f"{kind}_delta", kind: piece} for piece in pieces_of(block[kind])]
        empty = {**block, kind: ""}
        for cited in as_list(block.get("citations")) or []:
            deltas.append({"type": "citations_delta", "citation": cited})
            empty["citations"] = []
        if block.get("signature"):
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            empty["signature"] = ""
        return empty, deltas
    if kind.endswith("tool_use") and "input" in block:
        written = block["input"]
        text = written if isinstance(written, str) else dumps_text(written)
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": text}]
    return block, []


# -- Gemini ----------------------------------------------------------------------------------------


def join_gemini(parts: ResponseParts) -> dict[str, Any]:
    """An answer of ``generateContent``."""
    body = dict(parts.details)
    known = dict(enumerate(as_list(body.pop("candidates", None)) or []))
    reasons = dict(enumerate(parts.finish_reasons))
    blocked = "promptFeedback" in body
    candidates: list[dict[str, Any]] = []
    for at in range(max(len(parts.messages), len(known), 0 if blocked else len(reasons))):
        reason = reasons.get(at)
        made: dict[str, Any] = {"index": at}
        if at < len(parts.messages):
            made = {"content": _received(parts.messages[at]), **made}
        if reason and reason != _UNFINISHED:
            made["finishReason"] = _GEMINI_REASONS.get(reason, reason.upper())
        candidates.append({**made, **(as_dict(known.get(at)) or {})})
    if candidates:
        body = {"candidates": candidates, **body}
    if "usageMetadata" not in body and parts.tokens.known:
        body["usageMetadata"] = _gemini_usage(parts)
    return {**body, "modelVersion": parts.model, "responseId": parts.id}


def _gemini_usage(parts: ResponseParts) -> dict[str, Any]:
    tokens = parts.tokens
    reasoned = tokens.reasoning_tokens or 0
    return {
        "promptTokenCount": tokens.input_tokens or 0,
        "candidatesTokenCount": (tokens.output_tokens or 0) - reasoned,
        "thoughtsTokenCount": reasoned,
        "totalTokenCount": tokens.both,
        "cachedContentTokenCount": tokens.cache_read_tokens or 0,
    }


def _received(raw: Any) -> Any:
    """A content as the API sends it: signatures in the usual base64."""
    content = as_dict(raw)
    parts = as_list(content.get("parts")) if content is not None else None
    if content is None or parts is None:
        return raw
    return {**content, "parts": [_received_part(part) for part in parts]}


def _received_part(raw: Any) -> Any:
    signature = (as_dict(raw) or {}).get("thoughtSignature")
    if not isinstance(signature, str):
        return raw
    return {**raw, "thoughtSignature": signature.translate(_STANDARD)}


def gemini_chunks(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The chunks of a streamed answer: a part, or a piece of a text, each. The last one has all
    that the answer says beside its parts."""
    candidates: list[dict[str, Any]] = body.get("candidates") or []
    head: dict[str, Any] = {key: body[key] for key in ("modelVersion", "responseId") if key in body}
    waiting: list[tuple[int, Any, Any]] = []
    for at, candidate in enumerate(candidates):
        content = as_dict(candidate.get("content")) or {}
        parts = _gemini_pieces(as_list(content.get("parts")) or [])
        waiting += [(at, content.get("role"), part) for part in parts]
    lasts = {at: number for number, (at, _, _) in enumerate(waiting)}
    for number, (at, role, part) in enumerate(waiting):
        index = candidates[at].get("index", at)
        said = {"content": {"parts": [part], "role": role}, "index": index}
        if number < len(waiting) - 1 and lasts[at] != number:
            yield {"candidates": [said], **head}
        elif number < len(waiting) - 1:
            yield {"candidates": [{**candidates[at], **said}], **head}
        else:
            yield {**body, "candidates": [{**candidates[at], **said}]}
    if not waiting:
        yield body


def _gemini_pieces(parts: list[Any]) -> Iterator[Any]:
    for raw in parts:
        text = (as_dict(raw) or {}).get("text")
        if not isinstance(text, str) or not text or "thoughtSignature" in raw:
            yield raw
            continue
        for piece in pieces_of(text):
            yield {**raw, "text": piece}
