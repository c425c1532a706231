"""How a call reads that no SDK of ours recorded: by what ``llm`` itself knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from turnspan import semconv
from turnspan.content.frozen_history import FrozenOnce
from turnspan.content.model import REASONING, TEXT, TOOL_CALL, Message
from turnspan.content.snapshot import freeze
from turnspan.providers.llm.messages import answered, asked
from turnspan.runtime.type_guards import is_dict, is_list
from turnspan.tracing.endpoint import UNFINISHED, Endpoint, ReplyFacts, write_usage
from turnspan.tracing.request_parameters import describe
from turnspan.turn.turn import TokenUsage

_REASONS: Final = ("finish_reason", "stop_reason", "finishReason", "done_reason")
_CHOICES: Final = ("choices", "candidates")
_tools: Final = FrozenOnce()

_PROVIDERS: Final = {
    "__main__": "custom",
    "llm": "openai",  # the models that come with it
    "llm_anthropic": "anthropic",
    "llm_azure": "azure.ai.openai",
    "llm_bedrock": "aws.bedrock",
    "llm_bedrock_anthropic": "aws.bedrock",
    "llm_bedrock_meta": "aws.bedrock",
    "llm_claude": "anthropic",
    "llm_claude_3": "anthropic",
    "llm_cohere": "cohere",
    "llm_command_r": "cohere",
    "llm_consortium": "llm-consortium",
    "llm_gemini": "gcp.gemini",
    "llm_grok": "x_ai",
    "llm_mistral": "mistral_ai",
    "llm_moonshot": "moonshot_ai",
    "llm_palm": "gcp.gemini",
    "llm_vertex": "gcp.vertex_ai",
    "llm_xai": "x_ai",
}
"""The conventions' names of providers, by the plugin's module; others go by the plugin's own."""
_PREFIX: Final = "llm_"


def provider_of(model: Any) -> str:
    """The provider of a model."""
    plugin = str(type(model).__module__).partition(".")[0]
    return _PROVIDERS.get(plugin) or plugin.removeprefix(_PREFIX)


def model_of(model: Any) -> str:
    """What ``llm`` calls a model."""
    name: Any = getattr(model, "model_id", None)
    return name if isinstance(name, str) else ""


class PluginResponse(Endpoint):
    """The endpoint of one response of ``llm``."""

    dialect = "genai"

    def __init__(self, response: Any, before: list[Any]) -> None:
        self._response = response
        self._before = before
        """The responses before it in its conversation."""

    def body(self) -> dict[str, Any]:
        """The request without its messages."""
        prompt = self._response.prompt
        body: dict[str, Any] = {"model": model_of(self._response.model)}
        body |= {name: value for name, value in dict(prompt.options).items() if value is not None}
        if self._response.stream:
            body["stream"] = True
        schema: Any = getattr(prompt, "schema", None)
        if schema:
            body["schema"] = schema
        return body

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes."""
        attributes[semconv.OPERATION_NAME] = self.operation
        describe(body, attributes)
        if "schema" in body:
            attributes[semconv.OUTPUT_TYPE] = "json"

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the request that no later change reaches."""
        prompt = self._response.prompt
        messages, system = asked(prompt, self._before)
        frozen: dict[str, Any] = freeze({**body, "messages": messages})
        if system:
            frozen["system"] = system
        tools = [_definition(tool) for tool in getattr(prompt, "tools", None) or ()]
        if tools:
            frozen["tools"] = _tools.freeze(tools)
        return frozen

    def reply_of(self, texts: list[str]) -> dict[str, Any]:
        """What came back, in the dialect; ``texts`` are the pieces that its reader got."""
        messages = freeze(answered(self._response, texts))
        reason = _finish_reason(self._json())
        if reason and messages:
            messages[-1]["finish_reason"] = reason
        return {"messages": messages}

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write the attributes of what came back."""
        said = self._json()
        identity = said.get("id")
        if isinstance(identity, str) and identity:
            attributes[semconv.RESPONSE_ID] = identity
        model = self._model(said)
        if model:
            attributes[semconv.RESPONSE_MODEL] = model
        reason = UNFINISHED if cut else _finish_reason(said)
        if reason:
            attributes[semconv.RESPONSE_FINISH_REASONS] = (reason,)
        write_usage(self._usage(), attributes)

    def reply(self, response: Any) -> ReplyFacts:
        """What came back, for the turn."""
        said = self._json()
        reason = _finish_reason(said)
        messages: list[Message] = response["messages"]
        parts = [part for message in messages for part in message["parts"]]
        text = "".join(part["content"] for part in parts if part["type"] == TEXT)
        requests = [
            (part["id"], part["name"], part["arguments"])
            for part in parts
            if part["type"] == TOOL_CALL
        ]
        thought = any(part["type"] == REASONING for part in parts)
        known = text if text or requests or thought or reason else None
        return ReplyFacts(
            self._model(said), [reason] if reason else [], known, requests, self._usage()
        )

    def _json(self) -> dict[str, Any]:
        found: Any = self._response.response_json
        return found if is_dict(found) else {}

    def _model(self, said: Mapping[str, Any]) -> str:
        found: Any = getattr(self._response, "resolved_model", None) or said.get("model")
        return found if isinstance(found, str) else ""

    def _usage(self) -> TokenUsage:
        response = self._response
        details: Any = response.token_details
        return TokenUsage(
            _count(response.input_tokens),
            _count(response.output_tokens),
            _detail(details, "prompt_tokens_details", "cached_tokens"),
            None,
            _detail(details, "completion_tokens_details", "reasoning_tokens"),
        )


def _definition(tool: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description or "",
        "parameters": tool.input_schema,
    }


def _finish_reason(said: Mapping[str, Any]) -> str:
    """Why the model stopped, where the plugin keeps the provider's reply."""
    for name in _REASONS:
        reason = said.get(name)
        if isinstance(reason, str) and reason:
            return reason.lower()
    for name in _CHOICES:
        choices = said.get(name)
        if is_list(choices) and choices and is_dict(choices[0]):
            return _finish_reason(choices[0])
    return ""


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _detail(details: Any, group: str, name: str) -> int | None:
    """A count of OpenAI's, which counts it among the others."""
    inner = details.get(group) if is_dict(details) else None
    return _count(inner.get(name)) if is_dict(inner) else None
