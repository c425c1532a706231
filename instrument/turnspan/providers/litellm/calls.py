"""What LiteLLM's functions take and give, read as OpenAI's APIs, whose shape it gives to all."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from turnspan import semconv
from turnspan.content.snapshot import freeze
from turnspan.providers.openai.chat import ChatCompletions
from turnspan.providers.openai.completions import CompletionAccumulator, Completions
from turnspan.providers.openai.embeddings import Embeddings
from turnspan.providers.openai.pieces import joined_content
from turnspan.runtime.later import later
from turnspan.runtime.type_guards import is_dict, is_list
from turnspan.tracing.endpoint import Endpoint, ReplyFacts, fields_of

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


class LiteLLMChat:
    """``completion`` and ``acompletion``."""

    operation: str = semconv.OP_CHAT
    dialect: str = "openai.chat"

    def __init__(self) -> None:
        self._chat = ChatCompletions()

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes."""
        self._chat.describe(body, attributes)
        del attributes[semconv.OPENAI_API_TYPE]  # the provider need not be OpenAI
        if isinstance(body.get("response_format"), type):
            attributes[semconv.OUTPUT_TYPE] = "json"

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the request that no later change reaches."""
        return self._chat.freeze(body)

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write the attributes of a reply."""
        self._chat.describe_response(response, attributes, cut=cut)
        counts = fields_of(fields_of(response).get("usage"))
        written = _written(counts)
        if written is not None:
            attributes[semconv.USAGE_CACHE_WRITE_INPUT_TOKENS] = written
            hour = _written_for_an_hour(counts)
            if hour:
                attributes[semconv.USAGE_CACHE_WRITE_1H_INPUT_TOKENS] = hour

    def reply(self, response: Any) -> ReplyFacts | None:
        """What a reply means for the turn."""
        reply = self._chat.reply(response)
        written = _written(fields_of(fields_of(response).get("usage")))
        if written is not None and reply.usage is not None:
            reply.usage.cache_write_tokens = written
        return reply

    def accumulator(self) -> ChunkAccumulator:
        """A fresh accumulator."""
        return ChunkAccumulator()

    def error_code(self, error: BaseException) -> Any:
        """The code of the provider's error, where LiteLLM keeps it."""
        return getattr(error, "code", None)


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

    def accumulator(self) -> Any:
        """A fresh accumulator."""
        return TextAccumulator()


class TextAccumulator(CompletionAccumulator):
    """Folds the chunks of a streamed text completion."""

    chunks: Any = None
    """The chunks as LiteLLM has them, with the token usage that it keeps from the caller."""

    def response(self) -> dict[str, Any] | None:
        """The completion as it would have come unstreamed."""
        response = super().response()
        usage = usage_in(self.chunks)
        if response is not None and usage is not None:
            response["usage"] = usage
        return response


class ChunkAccumulator:
    """Folds ``ModelResponseStream`` objects, of which providers fill different fields."""

    def __init__(self) -> None:
        self.done = False
        self.first: float | None = None
        self.chunks: Any = None
        """The chunks as LiteLLM has them, with the token usage that it keeps from the caller."""
        self._head: dict[str, Any] = {}
        self._usage: Any = None
        self._choices: dict[int, _LiteLlmChoice] = {}

    def fold(self, chunk: Any) -> bool:
        """Take a chunk in; never one that carries only what the caller did not ask for."""
        if self.first is None:
            self.first = time.perf_counter()
        fields = fields_of(chunk)
        for name in ("id", "model", "created", "service_tier", "system_fingerprint"):
            if fields.get(name):
                self._head[name] = fields[name]
        if fields.get("usage") is not None:
            self._usage = freeze(fields["usage"])
        for each in fields.get("choices") or ():
            choice = fields_of(each)
            index = choice.get("index") or 0
            state = self._choices.get(index)
            if state is None:
                state = self._choices[index] = _LiteLlmChoice()
            state.fold(fields_of(choice.get("delta")))
            if choice.get("finish_reason"):
                state.finish_reason = choice["finish_reason"]
        known = self._choices.values()
        self.done = bool(known) and all(one.finish_reason for one in known)
        return False

    def response(self) -> dict[str, Any] | None:
        """The reply as it would have come unstreamed."""
        if not self._head and not self._choices:
            return None
        choices = [one.plain(index) for index, one in sorted(self._choices.items())]
        response: dict[str, Any] = {**self._head, "choices": choices}
        usage = usage_in(self.chunks) or self._usage
        if usage is not None:
            response["usage"] = usage
        return response


class _LiteLlmChoice:
    """One choice of a stream."""

    def __init__(self) -> None:
        self.finish_reason = ""
        self._role = "assistant"
        self._texts: list[str] = []
        self._tools: dict[Any, dict[str, Any]] = {}
        self._extras: dict[str, Any] = {}

    def fold(self, delta: Mapping[str, Any]) -> None:
        for name, value in delta.items():
            if value is None or name == "provider_specific_fields":
                continue
            if name == "role":
                self._role = value
            elif name == "content":
                self._texts.append(value)
            elif name == "tool_calls":
                for tool in value:
                    self._fold_tool(fields_of(tool))
            elif isinstance(value, str):
                self._extras[name] = self._extras.get(name, "") + value
            elif is_list(value):
                self._extras[name] = [*self._extras.get(name, ()), *freeze(value)]
            else:
                self._extras[name] = freeze(value)

    def _fold_tool(self, tool: Mapping[str, Any]) -> None:
        index = tool.get("index")
        key = len(self._tools) if index is None else index
        known = self._tools.get(key)
        if known is None:
            known = self._tools[key] = {"id": None, "type": "function", "name": "", "parts": []}
        known["id"] = tool.get("id") or known["id"]
        known["type"] = tool.get("type") or known["type"]
        function = fields_of(tool.get("function"))
        known["name"] = known["name"] or function.get("name") or ""
        if function.get("arguments"):
            known["parts"].append(function["arguments"])

    def plain(self, index: int) -> dict[str, Any]:
        message: dict[str, Any] = {
            "role": self._role,
            "content": joined_content(self._texts) or None,
            **self._extras,
        }
        if self._tools:
            message["tool_calls"] = [
                {
                    "id": tool["id"],
                    "type": tool["type"],
                    "function": {"name": tool["name"], "arguments": "".join(tool["parts"])},
                }
                for _, tool in sorted(self._tools.items())
            ]
        return {"index": index, "message": message, "finish_reason": self.finish_reason or None}


def usage_in(chunks: Any) -> dict[str, Any] | None:
    """The provider's last word on token usage among the chunks that LiteLLM keeps."""
    kept: list[Any] = []
    if is_list(chunks):
        kept.extend(chunks)
    kept.reverse()
    for chunk in kept:
        usage = fields_of(chunk).get("usage")
        if usage is not None:
            frozen = freeze(usage)
            return frozen if is_dict(frozen) else None
    return None


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
