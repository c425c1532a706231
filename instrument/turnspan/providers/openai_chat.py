"""OpenAI chat completions: how the request, the response and the stream of chunks read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from turnspan import semconv
from turnspan.content.shapes import is_dict, is_list
from turnspan.content.snapshot import FrozenHistory, FrozenOnce, freeze
from turnspan.patching.call import Facts, usage_attributes
from turnspan.patching.parameters import describe
from turnspan.turn import Usage

DIALECT: Final = "openai.chat"

_FORMATS: Final = {"text": "text", "json_object": "json", "json_schema": "json"}

_ABOUT_RESPONSE: Final = (
    ("id", semconv.RESPONSE_ID),
    ("model", semconv.RESPONSE_MODEL),
    ("service_tier", semconv.OPENAI_RESPONSE_SERVICE_TIER),
    ("system_fingerprint", semconv.OPENAI_RESPONSE_SYSTEM_FINGERPRINT),
)
_NOTHING: Final[Mapping[str, Any]] = {}

_FREEZERS: Final = {"messages": FrozenHistory().freeze, "tools": FrozenOnce().freeze}


class Chat:
    """``POST /chat/completions``."""

    operation: str = semconv.OP_CHAT
    dialect: str = DIALECT

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes."""
        attributes[semconv.OPERATION_NAME] = semconv.OP_CHAT
        attributes[semconv.OPENAI_API_TYPE] = "chat_completions"
        describe(body, attributes)
        tier = body.get("service_tier")
        if type(tier) is str and tier != "auto":
            attributes[semconv.OPENAI_REQUEST_SERVICE_TIER] = tier
        form = body.get("response_format")
        if is_dict(form):
            output = _FORMATS.get(form.get("type", ""))
            if output is not None:
                attributes[semconv.OUTPUT_TYPE] = output

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the request that no later change reaches."""
        return {key: _FREEZERS.get(key, freeze)(value) for key, value in body.items()}

    def facts(self, response: Mapping[str, Any]) -> Facts:
        """What a frozen chat completion says."""
        facts = Facts()
        attributes = facts.attributes
        for key, name in _ABOUT_RESPONSE:
            value = response.get(key)
            if value:
                attributes[name] = value
        facts.model = response.get("model") or ""
        for choice in response.get("choices") or ():
            self._read_choice(choice, facts)
        if facts.finish_reasons:
            attributes[semconv.RESPONSE_FINISH_REASONS] = facts.finish_reasons
        usage = response.get("usage")
        if usage:
            facts.usage = read_usage(usage)
            usage_attributes(facts.usage, attributes)
        return facts

    def _read_choice(self, choice: Any, facts: Facts) -> None:
        reason = choice.get("finish_reason")
        if reason:
            facts.finish_reasons.append(reason)
        message = choice.get("message") or _NOTHING
        text = message.get("content")
        if text and not facts.text and isinstance(text, str):
            facts.text = text
        for tool in message.get("tool_calls") or ():
            asked: Any = tool.get("function") or tool.get("custom") or _NOTHING
            arguments: Any = asked.get("arguments", asked.get("input"))
            facts.tool_requests.append((tool.get("id") or "", asked.get("name") or "", arguments))
        legacy = message.get("function_call")
        if legacy:
            facts.tool_requests.append(("", legacy.get("name") or "", legacy.get("arguments")))

    def accumulator(self) -> ChatAccumulator:
        """A fresh accumulator."""
        return ChatAccumulator()

    def error_code(self, error: BaseException) -> Any:
        """``error.code`` as the API gave it."""
        return getattr(error, "code", None)


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts; OpenAI's prompt tokens include the cached ones already."""
    prompt: Any = usage.get("prompt_tokens_details") or _NOTHING
    completion: Any = usage.get("completion_tokens_details") or _NOTHING
    return Usage(
        usage.get("prompt_tokens"),
        usage.get("completion_tokens"),
        prompt.get("cached_tokens"),
        prompt.get("cache_write_tokens"),
        completion.get("reasoning_tokens"),
    )


class ChatAccumulator:
    """Folds ``ChatCompletionChunk`` objects."""

    done: bool

    __slots__ = ("_choices", "_head", "_texts", "_usage", "done")

    def __init__(self) -> None:
        self.done = False
        self._head: dict[str, Any] = {}
        self._choices: dict[int, _Choice] = {}
        self._usage: Any = None
        self._texts: list[str] = []
        """The text of choice 0, where nearly every chunk goes."""

    def fold(self, chunk: Any) -> bool:
        """Take a chunk in; true for the chunk that carries only usage."""
        choices = chunk.choices
        if len(choices) == 1:
            choice = choices[0]
            delta = choice.delta
            # One field set: a chunk of text and nothing else, as nearly all of them are.
            if len(delta.__pydantic_fields_set__) == 1 and choice.index == 0 and self._choices:
                text = delta.content
                if text and choice.finish_reason is None:
                    self._texts.append(text)
                    return False
        return self._fold_fully(chunk)

    def _fold_fully(self, chunk: Any) -> bool:
        head = self._head
        for name in ("id", "model", "created", "service_tier", "system_fingerprint"):
            value = getattr(chunk, name, None)
            if value:
                head[name] = value
        usage = chunk.usage
        if usage is not None:
            self._usage = freeze(usage)
        for choice in chunk.choices:
            self._fold_choice(choice)
        return usage is not None and not chunk.choices

    def _fold_choice(self, choice: Any) -> None:
        index = choice.index
        state = self._choices.get(index)
        if state is None:
            state = self._choices[index] = _Choice(self._texts if index == 0 else [])
        state.fold(choice.delta)
        if choice.finish_reason is not None:
            state.finish_reason = choice.finish_reason
            self.done = all(c.finish_reason is not None for c in self._choices.values())

    def response(self) -> dict[str, Any] | None:
        """The chat completion as it would have come unstreamed."""
        if not self._head and not self._choices:
            return None
        response: dict[str, Any] = {
            **self._head,
            "choices": [c.plain(index) for index, c in sorted(self._choices.items())],
        }
        if self._usage is not None:
            response["usage"] = self._usage
        return response


class _Choice:
    """One choice of a stream."""

    __slots__ = ("extras", "finish_reason", "refusals", "role", "texts", "tools")

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.refusals: list[str] = []
        self.role = "assistant"
        self.tools: dict[Any, dict[str, Any]] = {}
        self.extras: dict[str, Any] = {}
        self.finish_reason: str | None = None

    def fold(self, delta: Any) -> None:
        if delta is None:  # some servers close with a choice that has no delta
            return
        if delta.role:
            self.role = delta.role
        if delta.content:
            self.texts.append(delta.content)
        if delta.refusal:
            self.refusals.append(delta.refusal)
        for tool in delta.tool_calls or ():
            self._fold_tool(tool)
        call = delta.function_call
        if call is not None:
            known = self.extras.setdefault("function_call", {"name": "", "arguments": ""})
            known["name"] += call.name or ""
            known["arguments"] += call.arguments or ""
        extras = delta.__pydantic_extra__
        if extras:
            self._fold_extras(extras)

    def _fold_tool(self, tool: Any) -> None:
        key = tool.index if tool.index is not None else len(self.tools)
        known = self.tools.get(key)
        if known is None:
            known = self.tools[key] = {"id": None, "type": "function", "name": "", "parts": []}
        known["id"] = tool.id or known["id"]
        known["type"] = tool.type or known["type"]
        function = tool.function
        if function is not None:
            known["name"] = known["name"] or function.name or ""
            if function.arguments:
                known["parts"].append(function.arguments)

    def _fold_extras(self, extras: Mapping[str, Any]) -> None:
        """Fields outside OpenAI's schema, such as DeepSeek's ``reasoning_content``."""
        for name, value in extras.items():
            known = self.extras.get(name)
            if isinstance(value, str) and is_list(known):
                known.append(value)
            elif isinstance(value, str):
                self.extras[name] = [value]
            elif value is not None:
                self.extras[name] = freeze(value)

    def plain(self, index: int) -> dict[str, Any]:
        message: dict[str, Any] = {"role": self.role, "content": "".join(self.texts) or None}
        if self.refusals:
            message["refusal"] = "".join(self.refusals)
        if self.tools:
            message["tool_calls"] = [_plain_tool(tool) for _, tool in sorted(self.tools.items())]
        for name, value in self.extras.items():
            message[name] = _joined(value)
        return {"index": index, "message": message, "finish_reason": self.finish_reason}


def _plain_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": tool["name"], "arguments": "".join(tool["parts"])}
    return {"id": tool["id"], "type": tool["type"], "function": function}


def _joined(value: Any) -> Any:
    if is_list(value) and all(isinstance(item, str) for item in value):
        return "".join(value)
    return value
