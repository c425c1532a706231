"""What LiteLLM's functions take and give, read as OpenAI's APIs, whose shape it gives to all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from turnspan import semconv
from turnspan.content.snapshot import freeze
from turnspan.providers.openai.chat import ChatAccumulator, ChatCompletions
from turnspan.providers.openai.completions import CompletionAccumulator, Completions
from turnspan.providers.openai.embeddings import Embeddings
from turnspan.runtime.later import later
from turnspan.runtime.type_guards import is_dict, is_list
from turnspan.tracing.endpoint import Accumulator, Endpoint, ReplyFacts, fields_of

PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "completion": ("model", "messages"),
    "acompletion": ("model", "messages"),
    "text_completion": ("prompt", "model"),
    "atext_completion": ("prompt", "model"),
    "embedding": ("model", "input"),
    "aembedding": ("model", "input"),
}
"""The functions that are recorded, and their first parameters, in order."""

_PRIVATE: Final = later(
    r"key|token(?!s)|secret|passw|credential|header|auth|client|session|callback|litellm|logg"
    r"|metadata|api_base|base_url|api_version|timeout|retr|fallback|mock|custom_llm_provider"
    r"|deployment|model_list|model_info|proxy|_id$|cost|acompletion|aembedding|region|endpoint"
    r"|pass_through|merge_reasoning|cach(?:e|ing)$"
)
"""Arguments that are LiteLLM's own or secret, and no part of what the model is asked."""
_PLAIN: Final = (str, int, float, bool, list, tuple, dict)


def body_of(entry: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """What the model is asked: the arguments but those that are LiteLLM's own."""
    body: dict[str, Any] = {}
    body.update(zip(PARAMETERS[entry], args, strict=False))
    for key, value in kwargs.items():
        if value is None or _PRIVATE.search(key):
            continue
        if isinstance(value, (*_PLAIN, type)) or hasattr(value, "model_fields"):
            body[key] = value
    return body


class LiteLLMChat(ChatCompletions):
    """``completion`` and ``acompletion``."""

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes."""
        super().describe(body, attributes)
        del attributes[semconv.OPENAI_API_TYPE]  # the provider need not be OpenAI
        if isinstance(body.get("response_format"), type):
            attributes[semconv.OUTPUT_TYPE] = "json"

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write the attributes of a reply."""
        super().describe_response(response, attributes, cut=cut)
        counts = fields_of(fields_of(response).get("usage"))
        written = _written(counts)
        if written is not None:
            attributes[semconv.USAGE_CACHE_WRITE_INPUT_TOKENS] = written
            hour = _written_for_an_hour(counts)
            if hour:
                attributes[semconv.USAGE_CACHE_WRITE_1H_INPUT_TOKENS] = hour

    def reply(self, response: Any) -> ReplyFacts:
        """What a reply means for the turn."""
        reply = super().reply(response)
        written = _written(fields_of(fields_of(response).get("usage")))
        if written is not None and reply.usage is not None:
            reply.usage.cache_write_tokens = written
        return reply

    def accumulator(self) -> Accumulator:
        """A fresh accumulator."""
        return ChunkAccumulator()


def _written(counts: Mapping[str, Any]) -> int | None:
    """Tokens written to a cache: Anthropic's count, which LiteLLM keeps beside OpenAI's."""
    count = counts.get("cache_creation_input_tokens")
    if count is None:
        count = fields_of(counts.get("prompt_tokens_details")).get("cache_creation_tokens")
    return count if isinstance(count, int) else None


def _written_for_an_hour(counts: Mapping[str, Any]) -> int:
    details = fields_of(counts.get("prompt_tokens_details")).get("cache_creation_token_details")
    count = fields_of(details).get("ephemeral_1h_input_tokens")
    return count if isinstance(count, int) else 0


class LiteLLMText(Completions):
    """``text_completion`` and ``atext_completion``."""

    def accumulator(self) -> Accumulator:
        """A fresh accumulator."""
        return TextAccumulator()


class TextAccumulator(CompletionAccumulator):
    """Folds the chunks of a streamed text completion."""

    chunks: Any = None
    """The chunks as LiteLLM has them, with the token usage that it keeps from the caller."""

    def response(self) -> dict[str, Any] | None:
        """The completion as it would have come unstreamed."""
        return with_usage(super().response(), self.chunks)


class ChunkAccumulator(ChatAccumulator):
    """Folds ``ModelResponseStream`` objects, of which providers fill different fields."""

    chunks: Any = None
    """The chunks as LiteLLM has them, with the token usage that it keeps from the caller."""
    left_out: ClassVar[tuple[str, ...]] = ("provider_specific_fields",)

    def response(self) -> dict[str, Any] | None:
        """The reply as it would have come unstreamed."""
        return with_usage(super().response(), self.chunks)


def with_usage(response: dict[str, Any] | None, chunks: Any) -> dict[str, Any] | None:
    """A response with the provider's last word on token usage among LiteLLM's ``chunks``."""
    if response is None or not is_list(chunks):
        return response
    for chunk in chunks[::-1]:
        usage = fields_of(chunk).get("usage")
        if usage is not None:
            frozen = freeze(usage)
            if is_dict(frozen):
                response["usage"] = frozen
            break
    return response


def endpoints() -> dict[str, Endpoint]:
    """What each function is, by its name."""
    chat, texts, embeddings = LiteLLMChat(), LiteLLMText(), Embeddings()
    return {
        "completion": chat,
        "acompletion": chat,
        "text_completion": texts,
        "atext_completion": texts,
        "embedding": embeddings,
        "aembedding": embeddings,
    }
