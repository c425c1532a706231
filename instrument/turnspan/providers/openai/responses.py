"""OpenAI's Responses API: how requests, responses and the events of a stream read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from turnspan import semconv
from turnspan.content.frozen_history import FrozenHistory, FrozenOnce
from turnspan.content.snapshot import freeze, freeze_fields
from turnspan.dialects.openai_items import asked_key, tool_name
from turnspan.providers.background import PENDING, BackgroundEndpoint
from turnspan.providers.openai.events import ResponsesAccumulator
from turnspan.providers.openai.usage import describe_modalities
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.endpoint import (
    UNFINISHED,
    ReplyFacts,
    fields_of,
    write_counts,
    write_named,
)
from turnspan.tracing.provider_errors import code_of, problem_of
from turnspan.tracing.request_parameters import describe
from turnspan.turn.turn import TokenUsage, ToolRequest

DIALECT: Final = "openai.responses"

_FORMATS: Final = {"text": "text", "json_object": "json", "json_schema": "json"}
_ABOUT_RESPONSE: Final = (
    ("id", semconv.RESPONSE_ID),
    ("model", semconv.RESPONSE_MODEL),
    ("service_tier", semconv.OPENAI_RESPONSE_SERVICE_TIER),
)
_COUNTS: Final = (
    ("input_tokens", semconv.USAGE_INPUT_TOKENS),  # the cached ones included
    ("output_tokens", semconv.USAGE_OUTPUT_TOKENS),
)
_INPUT_COUNTS: Final = (
    ("cached_tokens", semconv.USAGE_CACHE_READ_INPUT_TOKENS),
    ("cache_write_tokens", semconv.USAGE_CACHE_WRITE_INPUT_TOKENS),
)
_OUTPUT_COUNTS: Final = (("reasoning_tokens", semconv.USAGE_REASONING_OUTPUT_TOKENS),)
_CHARGED: Final = {
    "web_search_call": semconv.USAGE_WEB_SEARCHES,
    "file_search_call": semconv.USAGE_FILE_SEARCHES,
    "image_generation_call": semconv.USAGE_IMAGE_GENERATIONS,
}
_FREEZERS: Final = {"input": FrozenHistory().freeze, "tools": FrozenOnce().freeze}


class Responses(BackgroundEndpoint):
    """``POST /responses``."""

    dialect = DIALECT
    api_type = "responses"

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes."""
        attributes[semconv.OPERATION_NAME] = semconv.OP_CHAT
        attributes[semconv.OPENAI_API_TYPE] = self.api_type
        describe(body, attributes)
        model = body.get("model")
        if type(model) is str:
            attributes[semconv.REQUEST_MODEL] = model
        limit = body.get("max_output_tokens")
        if type(limit) is int:
            attributes[semconv.REQUEST_MAX_TOKENS] = limit
        tier = body.get("service_tier")
        if type(tier) is str and tier != "auto":
            attributes[semconv.OPENAI_REQUEST_SERVICE_TIER] = tier
        before = body.get("previous_response_id")
        if type(before) is str:
            attributes[semconv.REQUEST_PREVIOUS_RESPONSE_ID] = before
        _describe_options(body, attributes)

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the request that no later change reaches."""
        return freeze_fields(body, _FREEZERS)

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write the attributes of a response."""
        fields = fields_of(response)
        self.describe_identity(response, attributes, cut=cut)
        self.keep_pending(fields, attributes)
        usage = fields.get("usage")
        if usage is not None:
            counts = fields_of(usage)
            write_counts(counts, _COUNTS, attributes)
            write_counts(fields_of(counts.get("input_tokens_details")), _INPUT_COUNTS, attributes)
            write_counts(fields_of(counts.get("output_tokens_details")), _OUTPUT_COUNTS, attributes)
            describe_modalities(counts, attributes)
        for raw in fields.get("output") or ():
            item = fields_of(raw)
            kind = item.get("type") or ""
            if kind == "compaction":
                attributes[semconv.CONVERSATION_COMPACTED] = True
            name = _CHARGED.get(kind)
            # To open a page that was found, or to look for words in it, is not charged.
            if name and fields_of(item.get("action")).get("type", "search") == "search":
                attributes[name] = attributes.get(name, 0) + 1

    def describe_identity(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write which response it is and how it ended."""
        fields = fields_of(response)
        write_named(fields, _ABOUT_RESPONSE, attributes)
        reason = finish_reason(fields) or (UNFINISHED if cut else "")
        if reason:
            attributes[semconv.RESPONSE_FINISH_REASONS] = (reason,)
        if fields.get("status") == "failed" or not (fields.get("status") or fields.get("output")):
            problem = problem_of(response)
            if problem or fields.get("status"):
                attributes[semconv.ERROR_TYPE] = code_of(problem)

    def reply(self, response: Any) -> ReplyFacts | None:
        """What a response means for the turn."""
        fields = fields_of(response)
        reason = finish_reason(fields)
        usage = fields.get("usage")
        texts: list[str] = []
        requests: list[ToolRequest] = []
        refused = False
        for raw in fields.get("output") or ():
            item = fields_of(raw)
            kind = item.get("type") or ""
            if kind == "message":
                for each in item.get("content") or ():
                    block = fields_of(each)
                    said = block.get("text", block.get("refusal", block.get("transcript")))
                    refused = refused or block.get("type") == "refusal"
                    if type(said) is str:
                        texts.append(said)
            else:
                key = asked_key(item)
                if key:
                    asked = freeze(item[key])
                    requests.append((str(item["call_id"] or ""), tool_name(item), asked))
        return ReplyFacts(
            fields.get("model") or "",
            [reason] if reason else [],
            None if not texts and fields.get("status") in PENDING else "".join(texts),
            requests,
            None if usage is None else read_usage(usage),
            refused,
        )

    def accumulator(self) -> ResponsesAccumulator:
        """A fresh accumulator."""
        return ResponsesAccumulator()

    def error_code(self, error: BaseException) -> Any:
        """The provider's code; not that of a closed WebSocket, whose library warns of it."""
        return None if hasattr(error, "rcvd") else super().error_code(error)


def _describe_options(body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
    """Write what stands in objects of the request."""
    reasoning = body.get("reasoning")
    if is_dict(reasoning) and type(reasoning.get("effort")) is str:
        attributes[semconv.REQUEST_REASONING_LEVEL] = reasoning["effort"]
    text = body.get("text")
    form = text.get("format") if is_dict(text) else None
    if is_dict(form):
        output = _FORMATS.get(form.get("type", ""))
        if output is not None:
            attributes[semconv.OUTPUT_TYPE] = output
    prompt = body.get("prompt")
    if is_dict(prompt) and type(prompt.get("id")) is str:
        attributes[semconv.PROMPT_NAME] = prompt["id"]
        if type(prompt.get("version")) is str:
            attributes[semconv.PROMPT_VERSION] = prompt["version"]
    conversation = body.get("conversation")
    if is_dict(conversation):
        conversation = conversation.get("id")
    if type(conversation) is str:
        attributes[semconv.CONVERSATION_ID] = conversation


def finish_reason(fields: Mapping[str, Any]) -> str:
    """Why a response ended: its status, or the reason it is incomplete; empty while it has not."""
    details = fields_of(fields.get("incomplete_details"))
    status = fields.get("status")
    if status in PENDING:
        return ""
    return str(details.get("reason") or status or "")


def read_usage(usage: Any) -> TokenUsage:
    """Token counts; the input tokens include the cached ones already."""
    counts = fields_of(usage)
    given = fields_of(counts.get("input_tokens_details"))
    made = fields_of(counts.get("output_tokens_details"))
    return TokenUsage(
        counts.get("input_tokens"),
        counts.get("output_tokens"),
        given.get("cached_tokens"),
        given.get("cache_write_tokens"),
        made.get("reasoning_tokens"),
    )


_PATH: Final = "/responses/"
_OPERATIONS: Final = {
    ("get", ""): semconv.OP_FETCH_RESPONSE,
    ("post", "cancel"): semconv.OP_CANCEL_RESPONSE,
}


def asked_of(options: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The operation of a request about one response, and what it asks; ``None`` for any other."""
    url, method = options.get("url"), str(options.get("method")).lower()
    if type(url) is not str or not url.startswith(_PATH):
        return None
    identity, _, rest = url.removeprefix(_PATH).partition("?")[0].partition("/")
    operation = _OPERATIONS.get((method, rest))
    if not identity or operation is None:
        return None
    parameters = options.get("params")
    asked: dict[str, Any] = dict(parameters) if isinstance(parameters, Mapping) else {}  # pyright: ignore[reportUnknownArgumentType]
    return operation, {**asked, "response_id": unquote(identity)}
