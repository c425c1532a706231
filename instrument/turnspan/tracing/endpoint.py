"""What a provider's API is to the core: how its requests, responses and streams read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from turnspan import semconv
from turnspan.content.snapshot import freeze
from turnspan.runtime.mypyc import mypyc_attr
from turnspan.runtime.type_guards import kind_of
from turnspan.turn.turn import TokenUsage, ToolRequest, Turn

UNFINISHED: Final = "error"
"""The finish reason of a choice that never finished (conventions, ``finish_reasons``)."""


@dataclass(slots=True)
class ReplyFacts:
    """What a response means for the turn."""

    model: str = ""
    finish_reasons: Sequence[str] = ()
    text: str | None = ""
    """What the model wrote for the user to read; ``None``: that is not known."""
    tool_requests: Sequence[ToolRequest] = ()
    """The tool calls that the model asked the application for."""
    usage: TokenUsage | None = None
    refused: bool = False
    """Whether it carries a refusal, whatever its finish reason says."""
    made_by: Turn | None = None
    """The turn whose call this completes, where it is the end of one made in the background: the
    tokens are that turn's."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Accumulator:
    """Folds the chunks of one stream into the response they make up."""

    __slots__ = ("done", "first")

    def __init__(self) -> None:
        self.done = False
        """Whether everything that matters has arrived (a reader may stop before the last byte)."""
        self.first: float | None = None
        """When the first chunk arrived, by ``time.perf_counter``."""

    def fold(self, chunk: Any) -> bool:
        """Take a chunk in; true for a chunk that carries nothing but token usage."""
        raise NotImplementedError

    def response(self) -> dict[str, Any] | None:
        """The response as the API would have sent it unstreamed; ``None`` before any chunk.

        Another thread may ask while chunks are folded: nothing that they are folded into changes.
        """
        raise NotImplementedError


@mypyc_attr(allow_interpreted_subclasses=True)
class Endpoint:
    """One inference API of a provider: how its requests, responses and streams read."""

    operation: str = semconv.OP_CHAT
    dialect: str = ""

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes, those a sampler may want included."""
        raise NotImplementedError

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the request that no later change reaches."""
        return {key: freeze(value) for key, value in body.items()}

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write the attributes of a response, an SDK's model or frozen.

        ``cut``: it broke off; what has not finished then, finished with ``UNFINISHED``.
        """
        raise NotImplementedError

    def reply(self, response: Any) -> ReplyFacts | None:
        """What a response, an SDK's model or frozen, means for the turn; ``None``: nothing."""
        return None

    def accumulator(self) -> Accumulator:
        """A fresh accumulator for one stream."""
        raise NotImplementedError

    def error_code(self, error: BaseException) -> Any:
        """The provider's own code of an error, if it has one."""
        if isinstance(getattr(type(error), "code", None), property):
            return None  # aiohttp's warns whoever asks, and is a number
        return getattr(error, "code", None)


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of an SDK's model, also those it has no name for, or of what was frozen of one.

    None of anything else, such as the plain text of an answer that was no JSON.
    """
    if kind_of(value) is dict:
        frozen: dict[str, Any] = value
        return frozen
    fields: dict[str, Any] = getattr(value, "__dict__", {})
    extra: dict[str, Any] | None = getattr(value, "__pydantic_extra__", None)
    return {**fields, **extra} if extra else fields


def describe_reply(reply: ReplyFacts, attributes: dict[str, Any]) -> None:
    """Write what a stop reason depends on, for whoever does not get the reply itself."""
    if reply.refused:
        attributes[semconv.RESPONSE_REFUSED] = True
    text = reply.text
    if text is not None and not text.strip():
        attributes[semconv.RESPONSE_BLANK] = True


def write_usage(usage: TokenUsage, attributes: dict[str, Any]) -> None:
    """Write the known token counts."""
    cached, written = usage.cache_read_tokens, usage.cache_write_tokens
    given, made, reasoned = usage.input_tokens, usage.output_tokens, usage.reasoning_tokens
    write_tokens(attributes, given, made, cached, written, reasoned)


def write_tokens(
    attributes: dict[str, Any], given: Any, made: Any, cached: Any, written: Any, reasoned: Any
) -> None:
    """Write those that are known of the token counts of a ``TokenUsage``."""
    if given is not None:
        attributes[semconv.USAGE_INPUT_TOKENS] = given
    if made is not None:
        attributes[semconv.USAGE_OUTPUT_TOKENS] = made
    if cached is not None:
        attributes[semconv.USAGE_CACHE_READ_INPUT_TOKENS] = cached
    if written is not None:
        attributes[semconv.USAGE_CACHE_WRITE_INPUT_TOKENS] = written
    if reasoned is not None:
        attributes[semconv.USAGE_REASONING_OUTPUT_TOKENS] = reasoned


def write_named(
    fields: Mapping[str, Any], names: tuple[tuple[str, str], ...], attributes: dict[str, Any]
) -> None:
    """Write those of a response's fields that say something."""
    for key, name in names:
        value = fields.get(key)
        if value:
            attributes[name] = value


def write_counts(
    counts: Mapping[str, Any], names: tuple[tuple[str, str], ...], attributes: dict[str, Any]
) -> None:
    """Write those of a provider's counts that are known."""
    for key, name in names:
        count = counts.get(key)
        if count is not None:
            attributes[name] = count


_SEEN_AS: Final = {"document": "image"}
"""A page of a PDF is an image to the models, and is priced as one."""


def add_tokens(attributes: dict[str, Any], kind: str, modality: Any, count: Any) -> None:
    """Count tokens of a kind (``semconv.INPUT``, ...) and a modality; none where there are none."""
    if not isinstance(count, int) or not count or not isinstance(modality, str):
        return
    seen: str = modality.lower()
    name = semconv.USAGE_BY_MODALITY.get((kind, _SEEN_AS.get(seen, seen)))
    if name is not None:
        attributes[name] = attributes.get(name, 0) + count
