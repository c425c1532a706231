"""Anthropic messages: how the request, the response and the stream of events read."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from turnspan import semconv
from turnspan.content.frozen_history import FrozenHistory, FrozenOnce
from turnspan.content.snapshot import freeze
from turnspan.runtime.type_guards import is_dict, kind_of
from turnspan.tracing.endpoint import (
    UNFINISHED,
    Accumulator,
    Endpoint,
    ReplyFacts,
    fields_of,
    write_named,
    write_usage,
)
from turnspan.tracing.provider_errors import code_of, problem_of
from turnspan.tracing.request_parameters import describe
from turnspan.turn.turn import TokenUsage, ToolRequest

DIALECT: Final = "anthropic.messages"

_ABSENT: Final = frozenset({"Omit", "NotGiven"})
"""The SDK's types for an argument that was not given; it takes them out later than we look."""

_ABOUT_RESPONSE: Final = (("id", semconv.RESPONSE_ID), ("model", semconv.RESPONSE_MODEL))
_NOTHING: Final[dict[str, Any]] = {}

_FREEZERS: Final = {"messages": FrozenHistory().freeze, "tools": FrozenOnce().freeze}


class Messages(Endpoint):
    """``POST /v1/messages``."""

    dialect = DIALECT

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes."""
        attributes[semconv.OPERATION_NAME] = semconv.OP_CHAT
        describe(body, attributes)
        output = body.get("output_config")
        if is_dict(output):
            if isinstance(output.get("effort"), str):
                attributes[semconv.REQUEST_REASONING_LEVEL] = output["effort"]
            if output.get("format"):
                attributes[semconv.OUTPUT_TYPE] = "json"
        if is_dict(body.get("output_format")):
            attributes[semconv.OUTPUT_TYPE] = "json"

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the request that no later change reaches."""
        return {
            key: _FREEZERS.get(key, freeze)(value)
            for key, value in body.items()
            if type(value).__name__ not in _ABSENT
        }

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write the attributes of a message."""
        fields = fields_of(response)
        write_named(fields, _ABOUT_RESPONSE, attributes)
        reason = fields.get("stop_reason") or (UNFINISHED if cut else None)
        if reason:
            attributes[semconv.RESPONSE_FINISH_REASONS] = (reason,)
        if "content" not in fields and not cut:
            problem = problem_of(response)
            if problem:
                attributes[semconv.ERROR_TYPE] = code_of(problem)
        content: Any = fields.get("content")
        block = fields_of(content[0]) if type(content) is list and content else _NOTHING
        if block.get("type") == "compaction" and block.get("content"):  # it comes before all else
            attributes[semconv.CONVERSATION_COMPACTED] = True
        usage = fields.get("usage")
        if usage is not None:
            write_usage(read_usage(usage), attributes)
            _read_billing(fields_of(usage), attributes)

    def reply(self, response: Any) -> ReplyFacts:
        """What a message means for the turn."""
        fields = fields_of(response)
        texts: list[str] = []
        requests: list[ToolRequest] = []
        for content in fields.get("content") or ():
            block = fields_of(content)
            kind = block.get("type")
            if kind == "text":
                texts.append(block.get("text") or "")
            elif kind == "tool_use":
                asked = (block.get("id") or "", block.get("name") or "", block.get("input"))
                requests.append(asked)
        reason = fields.get("stop_reason")
        usage = fields.get("usage")
        return ReplyFacts(
            fields.get("model") or "",
            [reason] if reason else [],
            "".join(texts),
            requests,
            None if usage is None else read_usage(usage),
        )

    def accumulator(self) -> MessageAccumulator:
        """A fresh accumulator."""
        return MessageAccumulator()

    def error_code(self, error: BaseException) -> Any:
        """The ``type`` of the API's error, such as ``overloaded_error``."""
        return fields_of(fields_of(getattr(error, "body", None)).get("error")).get("type")


def read_usage(usage: Any) -> TokenUsage:
    """Token counts; Anthropic reports cached tokens beside the input tokens, here they are in."""
    counts = fields_of(usage)
    plain = counts.get("input_tokens")
    read = counts.get("cache_read_input_tokens")
    written = counts.get("cache_creation_input_tokens")
    details = fields_of(counts.get("output_tokens_details") or _NOTHING)
    return TokenUsage(
        None if plain is None else plain + (read or 0) + (written or 0),
        counts.get("output_tokens"),
        read,
        written,
        details.get("thinking_tokens"),
    )


def _read_billing(usage: Mapping[str, Any], attributes: dict[str, Any]) -> None:
    """What else the price depends on."""
    for group, name, key in (
        ("cache_creation", "ephemeral_1h_input_tokens", semconv.USAGE_CACHE_WRITE_1H_INPUT_TOKENS),
        ("server_tool_use", "web_search_requests", semconv.USAGE_WEB_SEARCHES),
    ):
        within = usage.get(group)
        count = fields_of(within).get(name) if within is not None else None
        if isinstance(count, int) and count:
            attributes[key] = count
    for name, key in (
        ("service_tier", semconv.RESPONSE_SERVICE_TIER),
        ("speed", semconv.RESPONSE_SPEED),
    ):
        value = usage.get(name)
        if isinstance(value, str) and value != "standard":
            attributes[key] = value


_PIECES: Final = {
    "text_delta": ("text", "text"),
    "input_json_delta": ("input", "partial_json"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
}
"""Kinds of deltas: the field of the block that one goes on with, and where its piece is."""

_BEGUN: Final = {"input_json_delta": "tool_use", "thinking_delta": "thinking"}


class MessageAccumulator(Accumulator):
    """Folds ``RawMessageStreamEvent`` objects."""

    __slots__ = ("_blocks", "_index", "_message", "_parts")

    def __init__(self) -> None:
        super().__init__()
        self._message: dict[str, Any] | None = None
        self._blocks: dict[int, _StreamBlock] = {}
        self._index = -1
        self._parts: list[str] = []
        """The text parts of the block at ``_index``."""

    def fold(self, chunk: Any) -> bool:
        """Take an event in; never one that carries only what the caller did not ask for."""
        # The short way, for a piece of text; see ChatAccumulator.fold.
        fields = chunk if kind_of(chunk) is dict else chunk.__dict__
        if fields.get("index") == self._index and fields["type"] == "content_block_delta":
            text = fields_of(fields["delta"]).get("text")
            if text is not None:
                self._parts.append(text)
                return False
        self._fold_fully(fields)
        return False

    def _fold_fully(self, event: Mapping[str, Any]) -> None:
        if self.first is None:
            self.first = time.perf_counter()
        kind = event.get("type")
        if kind == "content_block_delta":
            self._fold_delta(event["index"], fields_of(event["delta"]))
        elif kind == "content_block_start":
            index = event["index"]
            block = self._blocks[index] = _StreamBlock(freeze(event["content_block"]))
            self._index = index
            self._parts = block.parts("text")
        elif kind == "message_start":
            self._message = freeze(event["message"])
        elif kind == "message_delta":
            self._fold_end(event)
        elif kind == "message_stop":
            self.done = True

    def _fold_delta(self, index: int, delta: Mapping[str, Any]) -> None:
        kind = delta.get("type")
        block = self._blocks.get(index)
        if block is None:  # Bedrock does not say that a text begins
            block = self._blocks[index] = _StreamBlock({"type": _BEGUN.get(kind or "", "text")})
        piece = _PIECES.get(kind or "")
        if piece is not None:
            block.parts(piece[0]).append(delta[piece[1]])
        elif kind == "citations_delta":
            block.citations.append(freeze(delta["citation"]))

    def _fold_end(self, event: Mapping[str, Any]) -> None:
        if self._message is None:
            self._message = {}
        message = self._message
        changes = freeze(event["delta"])
        message.update({k: v for k, v in changes.items() if v is not None})
        usage = event.get("usage")
        if usage is not None:
            counts = message.setdefault("usage", {})
            counts.update({k: v for k, v in freeze(usage).items() if v is not None})

    def response(self) -> dict[str, Any] | None:
        """The message as it would have come unstreamed."""
        if self._message is None and not self._blocks:
            return None
        message: dict[str, Any] = dict(self._message or {})
        message["content"] = [block.plain() for _, block in sorted(self._blocks.items())]
        return message


class _StreamBlock:
    """One content block of a stream."""

    __slots__ = ("_block", "_parts", "citations")

    def __init__(self, block: dict[str, Any]) -> None:
        self._block = block
        self._parts: dict[str, list[str]] = {}
        self.citations: list[Any] = []

    def parts(self, name: str) -> list[str]:
        return self._parts.setdefault(name, [])

    def plain(self) -> dict[str, Any]:
        block = dict(self._block)
        for name, parts in self._parts.items():
            if name == "input":
                block["input"] = _loaded("".join(parts))
            elif parts:
                block[name] = (block.get(name) or "") + "".join(parts)
        if self.citations:
            block["citations"] = [*(block.get("citations") or ()), *self.citations]
        return block


def _loaded(text: str) -> Any:
    """A tool's arguments; the text itself where the stream broke off within them."""
    if not text:
        return {}
    import orjson

    try:
        return orjson.loads(text)
    except ValueError:
        return text
