"""Gemini's ``generateContent``: how the request, the response and the stream of chunks read.

Bodies are those of the wire. Of the SDK's answers, that is what they hold; older SDKs parse it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

import orjson

from turnspan import semconv
from turnspan.content.frozen_history import FrozenHistory, FrozenOnce
from turnspan.content.snapshot import freeze, freeze_fields
from turnspan.dialects.gemini import finish_reasons
from turnspan.runtime.type_guards import is_dict, is_list
from turnspan.tracing.endpoint import (
    UNFINISHED,
    Accumulator,
    Endpoint,
    ReplyFacts,
    add_tokens,
    write_usage,
)
from turnspan.tracing.request_parameters import describe
from turnspan.turn.turn import TokenUsage, ToolRequest

DIALECT: Final = "gemini"

_FREEZERS: Final = {"contents": FrozenHistory().freeze, "tools": FrozenOnce().freeze}
_PARAMETERS: Final = (
    ("temperature", "temperature"),
    ("topP", "top_p"),
    ("topK", "top_k"),
    ("maxOutputTokens", "max_tokens"),
    ("stopSequences", "stop"),
    ("presencePenalty", "presence_penalty"),
    ("frequencyPenalty", "frequency_penalty"),
    ("seed", "seed"),
    ("candidateCount", "n"),
)
"""Gemini's generation parameters by the names that providers have in common."""
_JSON: Final = "application/json"
_MODALITIES: Final = {"AUDIO": "speech", "IMAGE": "image"}
_QUERIES: Final = ("webSearchQueries", "imageSearchQueries")
_DETAILS: Final = (
    ("promptTokensDetails", semconv.INPUT),
    ("promptTokenDetails", semconv.INPUT),  # of embeddings
    ("toolUsePromptTokensDetails", semconv.INPUT),
    ("candidatesTokensDetails", semconv.OUTPUT),
    ("cacheTokensDetails", semconv.CACHE_READ),
)
_NEWEST: Final = frozenset({"safetyRatings"})
_PIECEWISE: Final = frozenset({"chosenCandidates", "topCandidates"})


def body_of(response: Any) -> dict[str, Any] | None:
    """The JSON of an answer of the SDK's client: text in newer versions, parsed in older ones."""
    body: Any = getattr(response, "body", response)
    if not isinstance(body, (str, bytes)):
        return freeze(body) if is_dict(body) else None
    parsed: Any = {}
    if body:
        try:
            parsed = orjson.loads(body)
        except orjson.JSONDecodeError:
            return None
    return parsed if is_dict(parsed) else None


class GenerateContent(Endpoint):
    """``POST /models/...:generateContent`` and its stream."""

    operation = semconv.OP_GENERATE_CONTENT
    dialect = DIALECT

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes."""
        attributes[semconv.OPERATION_NAME] = semconv.OP_GENERATE_CONTENT
        config = body.get("generationConfig")
        if not is_dict(config):
            return
        given: dict[str, Any] = {}
        for key, name in _PARAMETERS:
            value = config.get(key)
            if value is not None:
                whole = key == "topK" and isinstance(value, float) and value.is_integer()
                given[name] = int(value) if whole else value
        describe(given, attributes)
        kind = config.get("responseMimeType")
        if kind == _JSON or config.get("responseSchema") or config.get("responseJsonSchema"):
            attributes[semconv.OUTPUT_TYPE] = "json"
        for modality in _items(config.get("responseModalities")):
            if modality in _MODALITIES:
                attributes[semconv.OUTPUT_TYPE] = _MODALITIES[modality]
        thinking = config.get("thinkingConfig")
        if is_dict(thinking):
            level = thinking.get("thinkingLevel") or thinking.get("thinking_level")
            if isinstance(level, str):
                attributes[semconv.REQUEST_REASONING_LEVEL] = level.lower()

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the request that no later change reaches, without what is for the SDK only."""
        sent = {k: v for k, v in body.items() if k[:1] != "_" and k != "config"}
        return freeze_fields(sent, _FREEZERS)

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write the attributes of an answer."""
        if not is_dict(response):
            return
        for key, name in (
            ("responseId", semconv.RESPONSE_ID),
            ("modelVersion", semconv.RESPONSE_MODEL),
        ):
            value = response.get(key)
            if isinstance(value, str) and value:
                attributes[name] = value
        reasons = finish_reasons(response)
        if cut:
            reasons = _cut_reasons(response)
        if reasons:
            attributes[semconv.RESPONSE_FINISH_REASONS] = tuple(reasons)
        usage = response.get("usageMetadata")
        if is_dict(usage):
            write_usage(read_usage(usage), attributes)
            describe_usage(usage, attributes)
        for candidate in _items(response.get("candidates")):
            _describe_searches(candidate, attributes)

    def reply(self, response: Any) -> ReplyFacts | None:
        """What an answer means for the turn."""
        if not is_dict(response):
            return None
        usage = response.get("usageMetadata")
        model = response.get("modelVersion")
        texts: list[str] = []
        requests: list[ToolRequest] = []
        for number, candidate in enumerate(_items(response.get("candidates"))):
            for part in _parts(candidate):
                text = part.get("text")
                if isinstance(text, str) and not number and part.get("thought") is not True:
                    texts.append(text)
                asked = part.get("functionCall")
                if is_dict(asked):
                    requests.append((asked.get("id") or "", asked.get("name") or "", _args(asked)))
        return ReplyFacts(
            model if isinstance(model, str) else "",
            finish_reasons(response),
            "".join(texts),
            requests,
            read_usage(usage) if is_dict(usage) else None,
        )

    def accumulator(self) -> ContentAccumulator:
        """A fresh accumulator."""
        return ContentAccumulator()

    def error_code(self, error: BaseException) -> Any:
        """The API's ``status``, such as ``RESOURCE_EXHAUSTED``."""
        return getattr(error, "status", None)


def read_usage(counts: Mapping[str, Any]) -> TokenUsage:
    """Token counts; Gemini reports the thoughts, and the prompts of its own tools, beside."""
    sent, within = counts.get("promptTokenCount"), counts.get("toolUsePromptTokenCount")
    said, thought = counts.get("candidatesTokenCount"), counts.get("thoughtsTokenCount")
    return TokenUsage(
        total(sent, within),
        total(said, thought),
        counts.get("cachedContentTokenCount"),
        None,
        thought,
    )


def describe_usage(counts: Mapping[str, Any], attributes: dict[str, Any]) -> None:
    """Write the tokens of each modality, and the service tier where it is not the usual one."""
    for key, kind in _DETAILS:
        for each in _items(counts.get(key)):
            if is_dict(each):
                add_tokens(attributes, kind, each.get("modality"), each.get("tokenCount"))
    within = counts.get("toolUsePromptTokenCount")
    if isinstance(within, int) and within:
        attributes[semconv.USAGE_TOOL_INPUT_TOKENS] = within
    for key in ("serviceTier", "trafficType"):
        tier = str(counts.get(key) or "").lower().removeprefix("on_demand").lstrip("_")
        if tier and tier != "standard" and not tier.endswith("unspecified"):
            attributes[semconv.RESPONSE_SERVICE_TIER] = tier


def _describe_searches(candidate: Any, attributes: dict[str, Any]) -> None:
    """Write how many queries Google Search was asked, and whether its maps were."""
    grounding = candidate.get("groundingMetadata") if is_dict(candidate) else None
    if not is_dict(grounding):
        return
    queries = sum(bool(query) for key in _QUERIES for query in _items(grounding.get(key)))
    queries = queries or int(bool(grounding.get("searchEntryPoint")))
    places = [one for one in _items(grounding.get("groundingChunks")) if is_dict(one)]
    for name, count in (
        (semconv.USAGE_WEB_SEARCHES, queries),
        (semconv.USAGE_MAP_SEARCHES, int(any("maps" in place for place in places))),
    ):
        if count:
            attributes[name] = attributes.get(name, 0) + count


def total(one: Any, more: Any) -> int | None:
    """The sum of two counts, as far as they are known."""
    if not isinstance(one, int) and not isinstance(more, int):
        return None
    return (one if isinstance(one, int) else 0) + (more if isinstance(more, int) else 0)


def _args(asked: Mapping[str, Any]) -> Any:
    given = asked.get("args")
    return {} if given is None else given


def _items(value: Any) -> list[Any]:
    return value if is_list(value) else []


def _parts(candidate: Any) -> list[dict[str, Any]]:
    content = candidate.get("content") if is_dict(candidate) else None
    parts = _items(content.get("parts")) if is_dict(content) else []
    return [part for part in parts if is_dict(part)]


def _cut_reasons(response: Mapping[str, Any]) -> list[str]:
    """Why each candidate of a stream ended that broke off; one at least was to come."""
    candidates = _items(response.get("candidates"))
    reasons: list[str] = []
    for candidate in candidates:
        reasons += finish_reasons({"candidates": [candidate]}) or [UNFINISHED]
    return reasons or [UNFINISHED]


class ContentAccumulator(Accumulator):
    """Folds the chunks of a stream, each an answer of its own."""

    __slots__ = ("_candidates", "_head", "_usage")

    def __init__(self) -> None:
        super().__init__()
        self._head: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._candidates: dict[int, _Candidate] = {}

    def fold(self, chunk: Any) -> bool:
        """Take a chunk in; never one that carries only what the caller did not ask for."""
        if self.first is None:
            self.first = time.perf_counter()
        body = body_of(chunk)
        if body is None:
            return False
        for key, value in body.items():
            if key == "usageMetadata":
                if is_dict(value):
                    self._usage.update(value)
            elif key != "candidates" and key != "sdkHttpResponse":
                self._head[key] = _grown(key, self._head.get(key), value)
        for each in _items(body.get("candidates")):
            if is_dict(each):
                index = each.get("index") or 0
                found = self._candidates.get(index)
                if found is None:
                    found = self._candidates[index] = _Candidate()
                found.fold(each)
        known = self._candidates.values()
        self.done = bool(known) and all(one.finished for one in known)
        return False

    def response(self) -> dict[str, Any] | None:
        """The answer as it would have come unstreamed."""
        if not self._head and not self._candidates and not self._usage:
            return None
        response = dict(self._head)
        if self._candidates:
            response["candidates"] = [one.plain() for _, one in sorted(self._candidates.items())]
        if self._usage:
            response["usageMetadata"] = self._usage
        return response


class _Candidate:
    """One candidate of a stream."""

    __slots__ = ("_fields", "_parts", "_role", "_texts", "finished")

    def __init__(self) -> None:
        self.finished = False
        self._fields: dict[str, Any] = {}
        self._parts: list[dict[str, Any]] = []
        self._texts: list[str] = []
        """The pieces of the last part's text."""
        self._role: Any = None

    def fold(self, candidate: dict[str, Any]) -> None:
        for key, value in candidate.items():
            if key != "content":
                self._fields[key] = _grown(key, self._fields.get(key), value)
        self.finished = bool(self._fields.get("finishReason"))
        content = candidate.get("content")
        if is_dict(content):
            self._role = content.get("role") or self._role
            for part in _parts(candidate):
                self._fold_part(part)

    def _fold_part(self, part: dict[str, Any]) -> None:
        text = part.get("text")
        if isinstance(text, str) and self._texts and _alike(self._parts[-1], part):
            self._texts.append(text)
            return
        self._settle()
        self._parts.append(part)
        self._texts = [text] if isinstance(text, str) else []

    def _settle(self) -> None:
        """Put the pieces of the last part's text together."""
        if len(self._texts) > 1:
            self._parts[-1] = {**self._parts[-1], "text": "".join(self._texts)}
            self._texts = [self._parts[-1]["text"]]

    def plain(self) -> dict[str, Any]:
        texts, parts = self._texts, [*self._parts]  # not settled here: another thread may ask
        if len(texts) > 1:
            parts[-1] = {**parts[-1], "text": "".join(texts)}
        candidate = dict(self._fields)
        if parts or self._role is not None:
            content: dict[str, Any] = {"parts": parts}
            if self._role is not None:
                content["role"] = self._role
            candidate["content"] = content
        return candidate


def _grown(key: str, known: Any, more: Any) -> Any:
    """What the chunks of a stream have said by now. Lists go on (grounding, citations) or say again
    all that they said; of anything else the newest counts. ``known`` is ours, and grows."""
    if more is None or known is None:
        return known if more is None else more
    if is_dict(known) and is_dict(more):
        for name, value in more.items():
            known[name] = _grown(name, known.get(name), value)
        return known
    if not is_list(known) or not is_list(more) or key in _NEWEST:
        return more
    if key in _PIECEWISE or (more != known[: len(more)] and known != more[: len(known)]):
        known.extend(more)
        return known
    return known if len(known) > len(more) else more


def _alike(before: dict[str, Any], part: dict[str, Any]) -> bool:
    """Whether two pieces of text are of one: both thought or both not, and nothing beside it."""
    thought = before.get("thought")
    if thought != part.get("thought"):
        return False
    return len(before) == len(part) == (1 if thought is None else 2)
