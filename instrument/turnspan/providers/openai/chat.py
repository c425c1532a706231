"""OpenAI chat completions: how the request, the response and the stream of chunks read."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from turnspan import semconv
from turnspan.content.frozen_history import FrozenHistory, FrozenOnce
from turnspan.content.snapshot import freeze, freeze_fields
from turnspan.providers.openai.pieces import block_text, joined_content, joined_text, merged
from turnspan.providers.openai.usage import describe_usage, read_usage, usage_of
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.endpoint import UNFINISHED, Accumulator, Endpoint, ReplyFacts, fields_of
from turnspan.tracing.provider_errors import code_of, problem_of
from turnspan.tracing.request_parameters import describe
from turnspan.turn.turn import ToolRequest

DIALECT: Final = "openai.chat"

_FORMATS: Final = {"text": "text", "json_object": "json", "json_schema": "json"}

_HEAD: Final = ("id", "model", "created", "service_tier", "system_fingerprint")
"""The fields of a chunk that every chunk repeats."""
_NOTHING: Final[dict[str, Any]] = {}

_FREEZERS: Final = {"messages": FrozenHistory().freeze, "tools": FrozenOnce().freeze}


class ChatCompletions(Endpoint):
    """``POST /chat/completions``."""

    dialect = DIALECT

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
        fields = fields_of(response)
        get = fields.get
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
        if not choices or fields_of(choices[0]).get("error"):
            problem = problem_of(response)
            if problem:
                attributes[semconv.ERROR_TYPE] = code_of(problem)
        usage = usage_of(fields)
        if usage is not None:
            describe_usage(usage, attributes)

    def reply(self, response: Any) -> ReplyFacts:
        """What a chat completion means for the turn."""
        fields = fields_of(response)
        usage = usage_of(fields)
        reply = ReplyFacts(
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

    def accumulator(self) -> Accumulator:
        """A fresh accumulator."""
        return ChatAccumulator()


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


def _requested(tool: Mapping[str, Any]) -> ToolRequest:
    asked = fields_of(tool.get("function") or tool.get("custom") or _NOTHING)
    arguments = asked.get("arguments", asked.get("input"))
    return (tool.get("id") or "", asked.get("name") or "", arguments)


class ChatAccumulator(Accumulator):
    """Folds ``ChatCompletionChunk`` objects."""

    left_out: ClassVar[tuple[str, ...]] = ()
    """Fields outside the schema that are not kept."""

    __slots__ = ("_choices", "_head", "_texts", "_usage")

    def __init__(self) -> None:
        super().__init__()
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
        usage = usage_of(fields)
        if usage is not None:
            self._usage = freeze(usage)
        choices = fields.get("choices") or ()
        for choice in choices:
            self._fold_choice(fields_of(choice))
        return usage is not None and not choices

    def _fold_choice(self, fields: Mapping[str, Any]) -> None:
        index = fields.get("index") or 0
        state = self._choices.get(index)
        if state is None:
            state = self._choices[index] = _Choice(self.left_out)
            if index == 0:
                self._texts = state.texts
        state.fold(fields_of(fields.get("delta")))  # some servers close with a choice without one
        reason = fields.get("finish_reason")
        if reason is not None:
            state.finish_reason = reason
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


_SCHEMA: Final = frozenset({"role", "content", "refusal", "tool_calls", "function_call"})
"""The fields of a delta that are folded on their own."""
_TOOL_SCHEMA: Final = frozenset({"index", "id", "type", "function"})
"""The same of a piece of a tool call."""


class _Choice:
    """One choice of a stream."""

    __slots__ = (
        "extras",
        "finish_reason",
        "left_out",
        "pieces",
        "refusals",
        "role",
        "texts",
        "tools",
    )

    def __init__(self, left_out: tuple[str, ...]) -> None:
        self.left_out = left_out
        self.texts: list[Any] = []
        self.refusals: list[str] = []
        self.role = "assistant"
        self.tools: list[_Tool] = []
        self.pieces: dict[str, list[str]] = {}
        """Texts outside OpenAI's schema, such as DeepSeek's ``reasoning_content``."""
        self.extras: dict[str, Any] = {}
        """Whatever else is outside it, merged."""
        self.finish_reason: str | None = None

    def fold(self, delta: Mapping[str, Any]) -> None:
        get = delta.get
        self.role = get("role") or self.role
        content = get("content")
        if content:
            self.texts.append(content)
        refusal = get("refusal")
        if refusal:
            self.refusals.append(refusal)
        for tool in get("tool_calls") or ():
            self._fold_tool(fields_of(tool))
        call = get("function_call")
        if call is not None:
            asked = fields_of(call)
            known = self.extras.setdefault("function_call", {"name": "", "arguments": ""})
            known["name"] += asked.get("name") or ""
            known["arguments"] += asked.get("arguments") or ""
        for name, value in delta.items():
            if value is not None and name not in _SCHEMA and name not in self.left_out:
                self._fold_extra(name, value)

    def _fold_tool(self, piece: Mapping[str, Any]) -> None:
        index, function = piece.get("index"), fields_of(piece.get("function"))
        for tool in reversed(self.tools):
            if tool.goes_on(index, piece.get("id"), function):
                break
        else:
            tool = _Tool(len(self.tools) if index is None else index)
            self.tools.append(tool)
        tool.fold(piece, function)

    def _fold_extra(self, name: str, value: Any) -> None:
        if isinstance(value, str) and name not in self.extras:
            self.pieces.setdefault(name, []).append(value)
        else:
            self.extras[name] = merged(self.extras.get(name), freeze(value), name)

    def plain(self, index: int) -> dict[str, Any]:
        message: dict[str, Any] = {"role": self.role, "content": joined_content(self.texts) or None}
        if self.refusals:
            message["refusal"] = "".join(self.refusals)
        if self.tools:
            ordered = sorted(self.tools, key=lambda tool: tool.index)
            message["tool_calls"] = [tool.plain() for tool in ordered]
        for name, texts in self.pieces.items():
            message[name] = joined_text(name, texts)
        message.update(self.extras)
        return {"index": index, "message": message, "finish_reason": self.finish_reason}


class _Tool:
    """One tool call of a choice: of a function, or of a custom tool."""

    __slots__ = ("extras", "id", "index", "kind", "name", "parts")

    def __init__(self, index: int) -> None:
        self.index = index
        self.id: str | None = None
        self.kind = "function"
        self.name = ""
        self.parts: list[str] = []
        self.extras: dict[str, Any] = {}

    def goes_on(self, index: Any, identity: Any, function: Mapping[str, Any]) -> bool:
        """Whether a piece is of this call. Some servers give every call the same index, or none;
        some give every piece an id of its own. A name begins a call."""
        begins = bool(function.get("name"))
        if index is None:
            return not begins and (not identity or identity == self.id)
        if index != self.index:
            return False
        return not (begins and identity and self.id and identity != self.id)

    def fold(self, piece: Mapping[str, Any], function: Mapping[str, Any]) -> None:
        self.id = self.id or piece.get("id")
        self.kind = piece.get("type") or self.kind
        self.name = self.name or function.get("name") or ""
        arguments = function.get("arguments")
        if arguments:
            self.parts.append(arguments)
        for key, value in piece.items():
            if key == "custom":
                given = fields_of(value)
                self.name = self.name or given.get("name") or ""
                self.parts.append(given.get("input") or "")
            elif value is not None and key not in _TOOL_SCHEMA:
                self.extras[key] = merged(self.extras.get(key), freeze(value), key)

    def plain(self) -> dict[str, Any]:
        made, text = self.kind, "".join(self.parts)
        if made == "custom":
            asked: dict[str, Any] = {"name": self.name, "input": text}
        else:
            asked = {"name": self.name, "arguments": text}
            made = "function"
        return {"id": self.id, "type": self.kind, made: asked, **self.extras}
