"""Google's Interactions API: how requests, interactions and the events of a stream read.

Bodies are those of the wire; the events of a stream are the SDK's objects, or plain.
"""

from __future__ import annotations

import time
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, Final

import orjson

from turnspan import semconv
from turnspan.content.snapshot import freeze
from turnspan.dialects.gemini_interactions import NAME, finish_reasons, made_steps
from turnspan.providers.background import BackgroundEndpoint
from turnspan.providers.google_genai.content import total
from turnspan.runtime.type_guards import is_dict, is_list
from turnspan.tracing.endpoint import (
    UNFINISHED,
    Accumulator,
    ReplyFacts,
    add_tokens,
    fields_of,
    write_named,
    write_usage,
)
from turnspan.tracing.provider_errors import code_of, problem_of
from turnspan.tracing.request_parameters import describe
from turnspan.turn.turn import TokenUsage, ToolRequest

_NAMED: Final = {"max_output_tokens": "max_tokens", "thinking_level": "reasoning_effort"}
"""Parameters by the names that providers have in common; others have theirs."""
_ABOUT_RESPONSE: Final = (("id", semconv.RESPONSE_ID), ("model", semconv.RESPONSE_MODEL))
_DETAILS: Final = (
    ("input_tokens_by_modality", semconv.INPUT),
    ("tool_use_tokens_by_modality", semconv.INPUT),
    ("output_tokens_by_modality", semconv.OUTPUT),
    ("cached_tokens_by_modality", semconv.CACHE_READ),
)
_CHARGED: Final = {
    "google_search": semconv.USAGE_WEB_SEARCHES,
    "google_maps": semconv.USAGE_MAP_SEARCHES,
}

_PIECES: Final = {
    "text": ("text", "text"),
    "text_annotation_delta": ("text", "text"),
    **{kind: (kind, "data") for kind in ("image", "audio", "video", "document")},
}
"""Pieces of a stream that are of a content: its type, and the field that goes on."""


class Interactions(BackgroundEndpoint):
    """``POST /interactions``."""

    operation = semconv.OP_GENERATE_CONTENT
    dialect = NAME

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes; an agent stands in the place of a model."""
        attributes[semconv.OPERATION_NAME] = semconv.OP_GENERATE_CONTENT
        model = body.get("model") or body.get("agent")
        if isinstance(model, str):
            attributes[semconv.REQUEST_MODEL] = model.rpartition("models/")[2]
        previous = body.get("previous_interaction_id")
        if isinstance(previous, str):
            attributes[semconv.REQUEST_PREVIOUS_RESPONSE_ID] = previous
        config = fields_of(body.get("generation_config"))
        parameters = {_NAMED.get(key, key): value for key, value in config.items()}
        describe({**parameters, "stream": body.get("stream")}, attributes)
        formats = body.get("response_format")
        forms = _dicts(formats if is_list(formats) else [formats])
        kinds = [form.get("type") for form in forms]
        mime_types = [form.get("mime_type") for form in forms]
        mime_types.append(body.get("response_mime_type"))
        modalities = body.get("response_modalities")
        if is_list(modalities):
            kinds += modalities
        if "application/json" in mime_types or "object" in kinds:
            attributes[semconv.OUTPUT_TYPE] = "json"
        elif "audio" in kinds or "image" in kinds:
            attributes[semconv.OUTPUT_TYPE] = "speech" if "audio" in kinds else "image"

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The request itself: it was read of the bytes that are sent, and is nobody else's."""
        return dict(body)

    def describe_identity(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write which interaction it is and how it ended."""
        fields = fields_of(response)
        write_named(fields, _ABOUT_RESPONSE, attributes)
        reasons = finish_reasons(fields) or ([UNFINISHED] if cut else [])
        if reasons:
            attributes[semconv.RESPONSE_FINISH_REASONS] = tuple(reasons)
        status, problem = fields.get("status"), problem_of(fields)
        if status == "failed" or (problem and not status):  # an error that nobody has parsed
            attributes[semconv.ERROR_TYPE] = code_of(problem)

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write the attributes of an interaction."""
        fields = fields_of(response)
        self.describe_identity(response, attributes, cut=cut)
        self.keep_pending(fields, attributes)
        tier = fields.get("service_tier")
        if isinstance(tier, str) and tier and tier != "standard":
            attributes[semconv.RESPONSE_SERVICE_TIER] = tier
        counts = fields.get("usage")
        if not is_dict(counts):
            return
        write_usage(read_usage(counts), attributes)
        for key, kind in _DETAILS:
            for row in _dicts(counts.get(key)):
                add_tokens(attributes, kind, row.get("modality"), row.get("tokens"))
        tool_tokens = counts.get("total_tool_use_tokens")
        if tool_tokens:
            attributes[semconv.USAGE_TOOL_INPUT_TOKENS] = tool_tokens
        for row in _dicts(counts.get("grounding_tool_count")):
            name, count = _CHARGED.get(str(row.get("type"))), row.get("count")
            if name and isinstance(count, int) and count:
                attributes[name] = attributes.get(name, 0) + count

    def reply(self, response: Any) -> ReplyFacts | None:
        """What an interaction means for the turn."""
        fields = fields_of(response)
        texts: list[str] = []
        requests: list[ToolRequest] = []
        for step in _dicts(made_steps(fields)):
            kind = step.get("type")
            if kind == "function_call":
                name, arguments = str(step.get("name") or ""), step.get("arguments")
                requests.append(
                    (str(step.get("id") or ""), name, {} if arguments is None else arguments)
                )
            elif kind == "model_output":
                blocks = [block.get("text") for block in _dicts(step.get("content"))]
                texts += [text for text in blocks if isinstance(text, str)]
        usage, reasons = fields.get("usage"), finish_reasons(fields)
        return ReplyFacts(
            str(fields.get("model") or ""),
            reasons,
            "".join(texts) if texts or reasons else None,
            requests,
            read_usage(usage) if is_dict(usage) else None,
        )

    def accumulator(self) -> InteractionAccumulator:
        """A fresh accumulator."""
        return InteractionAccumulator()

    def error_code(self, error: BaseException) -> Any:
        """The API's ``status``, such as ``RESOURCE_EXHAUSTED``, or its ``code``."""
        problem = fields_of(fields_of(getattr(error, "body", None)).get("error"))
        return problem.get("status") or problem.get("code")


def read_usage(counts: Mapping[str, Any]) -> TokenUsage:
    """Token counts; the thoughts, and what the API's own tools put into the prompt, are beside."""
    thought = counts.get("total_thought_tokens")
    return TokenUsage(
        total(counts.get("total_input_tokens"), counts.get("total_tool_use_tokens")),
        total(counts.get("total_output_tokens"), thought),
        counts.get("total_cached_tokens"),
        None,
        thought,
    )


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if is_dict(item)] if is_list(value) else []


class InteractionAccumulator(Accumulator):
    """Folds the events of a stream: each brings a piece of a step."""

    __slots__ = ("_interaction", "_pieces", "_steps", "_usage")

    def __init__(self) -> None:
        super().__init__()
        self._interaction: dict[str, Any] = {}
        self._steps: dict[int, dict[str, Any]] = {}
        self._pieces: dict[tuple[int, int], list[str]] = {}
        """Of texts and files, by step and block; of arguments, where the block is -1."""
        self._usage: dict[str, Any] | None = None
        """The newest counts that an event on the way brought."""

    def fold(self, chunk: Any) -> bool:
        """Take an event in; never one that carries only usage."""
        if self.first is None:
            self.first = time.perf_counter()
        fields = fields_of(chunk)
        kind, index = str(fields.get("event_type")), fields.get("index")
        if kind == "error":
            error = freeze(fields.get("error")) or {"message": "the stream failed"}
            self._interaction |= {"status": "failed", "error": error}
            self.done = True
        elif kind.startswith("interaction."):
            self._interaction |= _known(fields.get("interaction"))
            if fields.get("status"):
                self._interaction["status"] = str(fields["status"])
            self.done = kind == "interaction.completed"
        elif kind == "step.start" and isinstance(index, int):
            self._steps[index] = _known(fields.get("step"))
        elif kind == "step.delta" and isinstance(index, int):
            self._fold_piece(index, _known(fields.get("delta")))
        usage = fields.get("usage") or fields_of(fields.get("metadata")).get("usage")
        if usage is not None:
            self._usage = _known(usage)
        return False

    def _fold_piece(self, index: int, piece: dict[str, Any]) -> None:
        kind = str(piece.pop("type", ""))
        step = self._steps.setdefault(index, {"type": "model_output"})  # missing where it goes on
        if kind == "arguments_delta":
            self._pieces.setdefault((index, -1), []).append(str(piece.get("arguments") or ""))
        elif kind in _PIECES:
            content_type, key = _PIECES[kind]
            blocks: list[dict[str, Any]] = step.setdefault("content", [])
            goes_on = content_type in ("text", "audio") and bool(blocks)
            if not goes_on or blocks[-1].get("type") != content_type:
                blocks.append({"type": content_type})
            if key in piece:
                place, block = (index, len(blocks) - 1), blocks[-1]
                known = [str(block[key])] if key in block else []
                self._pieces.setdefault(place, known).append(str(piece.pop(key)))
            _extend(blocks[-1], piece)
        elif kind == "thought_summary":
            step.setdefault("summary", []).append(piece.get("content"))
        else:
            _extend(step, piece)

    def response(self) -> dict[str, Any] | None:
        """The interaction as it would have come unstreamed, as far as it came."""
        if not self._interaction and not self._steps:
            return None
        steps = self._steps.copy()  # and copies of what changes: another thread may ask as well
        for (index, place), pieces in [*self._pieces.items()]:
            step, whole = steps[index].copy(), "".join(pieces)
            steps[index] = step
            if place < 0:
                step["arguments"] = _parsed(whole)
                continue
            blocks = step["content"] = [*step["content"]]
            block = blocks[place]
            if block["type"] == "audio" and len(pieces) > 1:  # base64 each, maybe padded
                whole = b64encode(b"".join(map(b64decode, pieces))).decode()
            blocks[place] = {**block, "text" if block["type"] == "text" else "data": whole}
        response = dict(self._interaction)
        response["steps"] = response.get("steps") or [s for _, s in sorted(steps.items())]
        if self._usage is not None:
            response.setdefault("usage", self._usage)
        return response


def _parsed(text: str) -> Any:
    """Arguments; those that broke off stay a text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _known(value: Any) -> dict[str, Any]:
    """A copy of the fields that say something; of what the SDK has no class for, as it came."""
    frozen = freeze(value)
    fields: dict[str, Any] = frozen if is_dict(frozen) else {}
    if fields.get("type") == "UNKNOWN" and is_dict(fields.get("raw")):
        fields = fields["raw"]
    return {key: item for key, item in fields.items() if item is not None}


def _extend(known: dict[str, Any], more: dict[str, Any]) -> None:
    """Add the fields of a piece; lists go on, and an empty text says nothing."""
    for key, value in more.items():
        items = known.get(key)
        if is_list(items) and is_list(value):
            items.extend(value)
        elif value != "":
            known[key] = value
