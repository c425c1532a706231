"""OpenAI chat completions: how the request, the response and the stream of chunks read."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from turnspan import semconv
from turnspan.content.shapes import is_dict, is_list
from turnspan.content.snapshot import FrozenHistory, FrozenOnce, freeze, freeze_fields
from turnspan.patching.endpoint import UNFINISHED, Reply, fields_of, refusal_of
from turnspan.patching.parameters import describe
from turnspan.providers.openai_pieces import block_text, joined_content
from turnspan.turn import ToolRequest, Usage

DIALECT: Final = "openai.chat"

_FORMATS: Final = {"text": "text", "json_object": "json", "json_schema": "json"}

_HEAD: Final = ("id", "model", "created", "service_tier", "system_fingerprint")
"""The fields of a chunk that every chunk repeats."""
_NOTHING: Final[dict[str, Any]] = {}

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
        if form is not None and is_dict(form):
            output = _FORMATS.get(form.get("type", ""))
            if output is not None:
                attributes[semconv.OUTPUT_TYPE] = output

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the request that no later change reaches."""
        return freeze_fields(body, _FREEZERS)

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write the attributes of a chat completion."""
        get = fields_of(response).get
        value = get("id")
        if value:
            attributes[semconv.RESPONSE_ID] = value
        value = get("model")
        if value:
            attributes[semconv.RESPONSE_MODEL] = value
        value = get("service_tier")
        if value:
            attributes[semconv.OPENAI_RESPONSE_SERVICE_TIER] = value
        value = get("system_fingerprint")
        if value:
            attributes[semconv.OPENAI_RESPONSE_SYSTEM_FINGERPRINT] = value
        choices = get("choices")
        if cut:
            attributes[semconv.RESPONSE_FINISH_REASONS] = unfinished_reasons(choices or ())
        elif choices:
            reasons = finish_reasons(choices)
            if reasons:
                attributes[semconv.RESPONSE_FINISH_REASONS] = reasons
        if not choices:
            problem = refusal_of(response)
            if problem:
                attributes[semconv.ERROR_TYPE] = str(problem.get("code") or "failed")
        usage = get("usage")
        if usage is not None:
            _describe_usage(fields_of(usage).get, attributes)

    def reply(self, response: Any) -> Reply:
        """What a chat completion means for the turn."""
        fields = fields_of(response)
        usage = fields.get("usage")
        reply = Reply(
            fields.get("model") or "",
            finish_reasons(fields.get("choices") or ()),
            usage=None if usage is None else read_usage(usage),
        )
        requests: list[ToolRequest] = []
        for choice in fields.get("choices") or ():
            message = fields_of(fields_of(choice).get("message") or _NOTHING)
            reply.text = reply.text or block_text(message.get("content"))
            refusal = message.get("refusal")
            if refusal:
                reply.refused = True
                reply.text = reply.text or str(refusal)
            requests.extend(_requested(fields_of(t)) for t in message.get("tool_calls") or ())
            legacy = message.get("function_call")
            if legacy:
                asked = fields_of(legacy)
                requests.append(("", asked.get("name") or "", asked.get("arguments")))
        reply.tool_requests = requests
        return reply

    def accumulator(self) -> ChatAccumulator:
        """A fresh accumulator."""
        return ChatAccumulator()

    def error_code(self, error: BaseException) -> Any:
        """``error.code`` as the API gave it."""
        return getattr(error, "code", None)


def finish_reasons(choices: Sequence[Any]) -> tuple[str, ...]:
    """Why each choice ended."""
    if len(choices) == 1:
        reason = fields_of(choices[0]).get("finish_reason")
        return (reason,) if reason else ()
    reasons = [fields_of(choice).get("finish_reason") for choice in choices]
    return tuple(reason for reason in reasons if reason)


def unfinished_reasons(choices: Sequence[Any]) -> tuple[str, ...]:
    """Why each choice of a stream ended that broke off; one at least was to come."""
    reasons = [fields_of(choice).get("finish_reason") or UNFINISHED for choice in choices]
    return tuple(reasons) or (UNFINISHED,)


def _describe_usage(get: Callable[[str], Any], attributes: dict[str, Any]) -> None:
    """Write the token counts that are known; the prompt's include the cached ones."""
    count = get("prompt_tokens")
    if count is not None:
        attributes[semconv.USAGE_INPUT_TOKENS] = count
    count = get("completion_tokens")
    if count is not None:
        attributes[semconv.USAGE_OUTPUT_TOKENS] = count
    details = get("prompt_tokens_details")
    if details is not None:
        within = fields_of(details)
        count = within.get("cached_tokens")
        if count is not None:
            attributes[semconv.USAGE_CACHE_READ_INPUT_TOKENS] = count
        count = within.get("cache_write_tokens")
        if count is not None:
            attributes[semconv.USAGE_CACHE_WRITE_INPUT_TOKENS] = count
    details = get("completion_tokens_details")
    if details is not None:
        count = fields_of(details).get("reasoning_tokens")
        if count is not None:
            attributes[semconv.USAGE_REASONING_OUTPUT_TOKENS] = count


def _requested(tool: Mapping[str, Any]) -> ToolRequest:
    asked = fields_of(tool.get("function") or tool.get("custom") or _NOTHING)
    arguments = asked.get("arguments", asked.get("input"))
    return (tool.get("id") or "", asked.get("name") or "", arguments)


def read_usage(usage: Any) -> Usage:
    """Token counts; OpenAI's prompt tokens include the cached ones already."""
    counts = fields_of(usage)
    prompt = fields_of(counts.get("prompt_tokens_details") or _NOTHING)
    completion = fields_of(counts.get("completion_tokens_details") or _NOTHING)
    return Usage(
        counts.get("prompt_tokens"),
        counts.get("completion_tokens"),
        prompt.get("cached_tokens"),
        prompt.get("cache_write_tokens"),
        completion.get("reasoning_tokens"),
    )


class ChatAccumulator:
    """Folds ``ChatCompletionChunk`` objects."""

    __slots__ = ("_choices", "_head", "_texts", "_usage", "done", "first")

    done: bool
    first: float | None

    def __init__(self) -> None:
        self.done = False
        self.first = None
        self._head: dict[str, Any] = {}
        self._choices: dict[int, _Choice] = {}
        self._usage: Any = None
        self._texts: list[str] | None = None
        """The text of choice 0, where nearly every chunk goes, once it has begun."""

    def fold(self, chunk: Any) -> bool:
        """Take a chunk in; true for the chunk that carries only usage."""
        # The short way, for text and nothing else, as nearly all chunks are. What costs are the
        # attributes of pydantic models, 30 ns each; a look into a dictionary is a quarter of that,
        # and the compiled build's looks into what it knows to be one are quicker still.
        try:
            choices: list[Any] = chunk.choices
            if len(choices) == 1:
                choice = choices[0]
                fields: dict[str, Any] = choice.__dict__
                if fields["finish_reason"] is None and not fields["index"]:
                    delta = fields["delta"]
                    said: dict[str, Any] = delta.__dict__
                    text = said["content"]
                    texts = self._texts
                    if (
                        text
                        and texts is not None
                        and said["tool_calls"] is None
                        and said["refusal"] is None
                        and said["function_call"] is None
                        and not delta.__pydantic_extra__
                    ):
                        texts.append(text)
                        return False
        except (KeyError, AttributeError, TypeError):  # none of what the API says it sends
            pass
        return self._fold_fully(chunk)

    def _fold_fully(self, chunk: Any) -> bool:
        if self.first is None:
            self.first = time.perf_counter()
        head, fields = self._head, fields_of(chunk)
        for name in _HEAD:
            value = fields.get(name)
            if value:
                head[name] = value
        usage = chunk.usage
        if usage is not None:
            self._usage = freeze(usage)
        choices = chunk.choices
        for choice in choices:
            self._fold_choice(choice)
        return usage is not None and not choices

    def _fold_choice(self, choice: Any) -> None:
        index = choice.index
        state = self._choices.get(index)
        if state is None:
            state = self._choices[index] = _Choice()
            if index == 0:
                self._texts = state.texts
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

    def __init__(self) -> None:
        self.texts: list[str] = []
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
        message: dict[str, Any] = {"role": self.role, "content": joined_content(self.texts) or None}
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
