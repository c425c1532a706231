"""What an exchange with an OpenAI-like API says, read from its recorded bodies alone.

Nothing of the product is used here: the tests compare the product's records with this.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from support.recordings import Exchange, loaded

ENDPOINT = re.compile(
    r"(?P<base>https?://[^?]+?)/(?P<kind>chat/completions|responses|embeddings|completions)"
    r"(?:/(?P<id>[^/?]+))?(?:\?(?P<query>.*))?"
)
_STATUSES = {
    400: "BadRequestError",
    401: "AuthenticationError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    422: "UnprocessableEntityError",
    429: "RateLimitError",
}


@dataclass
class Facts:
    """The record that an exchange should leave. ``None`` stands for an unknown count."""

    model: str = ""
    id: str = ""
    finish_reasons: list[str] = field(default_factory=list[str])
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    reasoning_tokens: int | None = None
    text: str = ""
    tool_calls: list[tuple[str, str, Any]] = field(default_factory=list[tuple[str, str, Any]])
    error_type: str = ""
    dimensions: int | None = None


def kind_of(exchange: Exchange) -> str:
    """``chat``, ``responses``, ``retrieve``, ``embeddings`` or ``completions``; else empty."""
    match = ENDPOINT.fullmatch(exchange.url)
    if match is None:
        return ""
    if match["id"]:
        return "retrieve" if match["kind"] == "responses" and exchange.method == "GET" else ""
    if exchange.method != "POST":
        return ""
    return "chat" if match["kind"] == "chat/completions" else match["kind"]


def streamed(exchange: Exchange) -> bool:
    """Whether the caller asked for a stream."""
    return bool((exchange.sent() or {}).get("stream"))


def facts_of(exchange: Exchange) -> Facts:
    """The facts of an exchange."""
    body = loaded(exchange.response)
    if exchange.status >= 400:
        return Facts(error_type=_error_type(exchange.status, body))
    kind = kind_of(exchange)
    if kind in ("responses", "retrieve"):
        if streamed(exchange):
            body = _final_response(list(events(exchange.response)))
        return _of_response(body, kind == "retrieve")
    if kind == "embeddings":
        return _of_embeddings(body)
    if not streamed(exchange):
        return _of_completion(body)
    facts = Facts()
    for chunk in events(exchange.response):
        _add_chunk(facts, chunk)
    facts.tool_calls = [(i, n, _parsed(a)) for i, n, a in facts.tool_calls]
    facts.finish_reasons = [reason for reason in facts.finish_reasons if reason]
    return facts


def events(body: bytes) -> Iterator[Any]:
    """The JSON of the server-sent events of a body."""
    for event in re.split(r"\r?\n\r?\n", body.decode("utf-8", "replace")):
        lines = [line[5:].lstrip() for line in event.splitlines() if line.startswith("data:")]
        data = "\n".join(lines)
        if data.startswith("[DONE]"):
            return
        if data:
            yield json.loads(data)


def _dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    found: list[Any] = value or []
    return found


def _error_type(status: int, body: Any) -> str:
    outer: Any = _dict(body)
    code: Any = _dict(outer.get("error", outer)).get("code")
    if isinstance(code, str) and re.fullmatch(r"[A-Za-z_][\w.-]{0,63}", code):
        return code
    return _STATUSES.get(status, "InternalServerError" if status >= 500 else "APIStatusError")


def _parsed(arguments: Any) -> Any:
    if isinstance(arguments, str) and arguments[:1] in ("{", "["):
        try:
            return json.loads(arguments)
        except ValueError:
            return arguments
    return arguments


def _add_usage(facts: Facts, usage: Any) -> None:
    if not usage:
        return
    facts.input_tokens = usage.get("prompt_tokens", usage.get("input_tokens"))
    facts.output_tokens = usage.get("completion_tokens", usage.get("output_tokens"))
    given = usage.get("prompt_tokens_details") or _dict(usage.get("input_tokens_details"))
    made = usage.get("completion_tokens_details") or _dict(usage.get("output_tokens_details"))
    places = ("prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens")
    counts = [given.get("cached_tokens"), *(usage.get(place) for place in places)]
    facts.cache_read_tokens = next((count for count in counts if count is not None), None)
    facts.reasoning_tokens = made.get("reasoning_tokens", usage.get("reasoning_tokens"))


def _of_completion(body: Any) -> Facts:
    facts = Facts(model=body.get("model") or "", id=body.get("id") or "")
    if "choices" not in body:  # Azure says so with a status of 200
        facts.error_type = body["error"]["code"]
    _add_usage(facts, body.get("usage"))
    choices = _list(body.get("choices"))
    facts.finish_reasons = [c["finish_reason"] for c in choices if c.get("finish_reason")]
    if not choices:
        return facts
    if "message" not in choices[0]:
        facts.text = choices[0].get("text") or ""
        return facts
    message = choices[0]["message"]
    content = message.get("content") or ""
    facts.text = content if isinstance(content, str) else _text_of(content)
    facts.text = facts.text or message.get("refusal") or ""
    for call in _list(message.get("tool_calls")):
        function = call["function"]
        facts.tool_calls.append((call["id"], function["name"], _parsed(function["arguments"])))
    if message.get("function_call"):
        call = message["function_call"]
        facts.tool_calls.append(("", call["name"], _parsed(call["arguments"])))
    return facts


def _text_of(blocks: list[Any]) -> str:
    return "".join(block["text"] for block in blocks if block["type"] == "text")


def _add_chunk(facts: Facts, chunk: Any) -> None:
    facts.model = facts.model or chunk.get("model") or ""
    facts.id = facts.id or chunk.get("id") or ""
    _add_usage(facts, chunk.get("usage") or _dict(chunk.get("x_groq")).get("usage"))
    for choice in _list(chunk.get("choices")):
        index = choice.get("index", 0)
        facts.finish_reasons += [""] * (index + 1 - len(facts.finish_reasons))
        facts.finish_reasons[index] = choice.get("finish_reason") or facts.finish_reasons[index]
        if index != 0:
            continue
        delta = _dict(choice.get("delta"))
        content = choice.get("text") or delta.get("content") or delta.get("refusal") or ""
        facts.text += content if isinstance(content, str) else _text_of(content)
        pieces = list(_list(delta.get("tool_calls")))
        if delta.get("function_call"):
            pieces.append({"index": 0, "id": "", "function": delta["function_call"]})
        for piece in pieces:
            while len(facts.tool_calls) <= piece.get("index", 0):
                facts.tool_calls.append(("", "", ""))
            known = cast("tuple[str, str, str]", facts.tool_calls[piece.get("index", 0)])
            function = _dict(piece.get("function"))
            facts.tool_calls[piece.get("index", 0)] = (
                piece.get("id") or known[0],
                known[1] or function.get("name") or "",
                known[2] + (function.get("arguments") or ""),
            )


def _final_response(found: list[Any]) -> Any:
    finals = ("response.completed", "response.incomplete", "response.failed")
    (response,) = [event["response"] for event in found if event.get("type") in finals]
    if not response["output"]:
        done = [e for e in found if e.get("type") == "response.output_item.done"]
        response["output"] = [e["item"] for e in sorted(done, key=lambda e: e["output_index"])]
    return response


def _of_response(body: Any, fetched: bool) -> Facts:
    facts = Facts(model=body.get("model") or "", id=body.get("id") or "")
    if not fetched:
        _add_usage(facts, body.get("usage"))
    reason = _dict(body.get("incomplete_details")).get("reason") or body.get("status")
    facts.finish_reasons = [reason] if reason and reason not in ("queued", "in_progress") else []
    if body.get("status") == "failed":
        facts.error_type = _dict(body.get("error")).get("code") or "failed"
    for item in body["output"]:
        if item["type"] == "message":
            for block in item["content"]:
                facts.text += block.get("text") or block.get("refusal") or ""
        elif item["type"] in ("function_call", "custom_tool_call"):
            asked = item.get("arguments", item.get("input"))
            facts.tool_calls.append((item["call_id"], item["name"], _parsed(asked)))
    return facts


def _of_embeddings(body: Any) -> Facts:
    facts = Facts(model=body.get("model") or "", id=body.get("id") or "")
    facts.input_tokens = _dict(body.get("usage")).get("prompt_tokens")
    first = body["data"][0]["embedding"]
    if isinstance(first, str):
        facts.dimensions = len(base64.b64decode(first)) // 4
    else:
        facts.dimensions = len(first)
    return facts
