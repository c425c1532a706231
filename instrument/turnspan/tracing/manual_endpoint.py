"""A model call recorded by hand: what was told of it, and how that reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from turnspan import semconv
from turnspan.content.frozen_history import FrozenHistory, FrozenOnce
from turnspan.content.snapshot import freeze_fields
from turnspan.runtime.inspection import looking
from turnspan.tracing.endpoint import UNFINISHED, Endpoint, ReplyFacts, write_usage
from turnspan.tracing.request_parameters import describe
from turnspan.turn.turn import TokenUsage, ToolRequest

_OPENAI: Final = "openai.chat"
_GENAI: Final = "genai"
_FREEZERS: Final = {"messages": FrozenHistory().freeze, "tools": FrozenOnce().freeze}


class ManualEndpoint(Endpoint):
    """The endpoint of a call recorded by hand, and what came back of it as far as it was told."""

    cached: Any = False
    service_tier = ""
    text: str | None = None
    thoughts: str | None = None
    finish_reason = ""
    model = ""
    id = ""

    def __init__(self, operation: str) -> None:
        self.operation = operation
        self.dialect = _OPENAI
        self.tool_calls: list[ToolRequest] = []
        self.usage = TokenUsage()

    def choose_dialect(self, body: dict[str, Any]) -> None:
        """The dialect of the messages given: GenAI's where one has parts."""
        messages = body.get("messages")
        if isinstance(messages, str):
            body["messages"] = [{"role": "user", "content": messages}]
        elif isinstance(messages, (list, tuple)) and any(
            isinstance(m, Mapping) and "parts" in m for m in cast("list[Any]", messages)
        ):
            self.dialect = _GENAI
        elif "system" in body:  # OpenAI's form has no field for it
            system = {"role": "system", "content": body.pop("system")}
            body["messages"] = [system, *(messages or ())]

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes."""
        attributes[semconv.OPERATION_NAME] = self.operation
        describe(body, attributes)

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the request that no later change reaches."""
        with looking:
            return freeze_fields(body, _FREEZERS)

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write the attributes of what was self."""
        if self.id:
            attributes[semconv.RESPONSE_ID] = self.id
        if self.model:
            attributes[semconv.RESPONSE_MODEL] = self.model
        reason = self.finish_reason or (UNFINISHED if cut else "")
        if reason:
            attributes[semconv.RESPONSE_FINISH_REASONS] = (reason,)
        if self.service_tier:
            attributes[semconv.RESPONSE_SERVICE_TIER] = self.service_tier
        if self.cached:
            attributes[semconv.RESPONSE_CACHED] = True
        write_usage(self.usage, attributes)

    def reply(self, response: Any) -> ReplyFacts:
        """What was told, for the turn."""
        reasons = [self.finish_reason] if self.finish_reason else []
        text = self.text or "" if self.has_answer else None
        return ReplyFacts(self.model, reasons, text, self.tool_calls, self.usage)

    def error_code(self, error: BaseException) -> Any:
        """An error of an unknown library goes by its class."""
        return None

    @property
    def is_filled(self) -> bool:
        """Whether anything was told."""
        return bool(self.text or self.thoughts or self.tool_calls or self.finish_reason)

    @property
    def has_answer(self) -> bool:
        """Whether it was told what the model said, were it nothing."""
        return self.text is not None or bool(self.thoughts or self.tool_calls)

    def plain(self, so_far: str | None = None) -> dict[str, Any]:
        """The response in the dialect of the request; before its end with the text ``so_far``."""
        text = so_far if self.text is None else self.text
        return self._genai(text) if self.dialect == _GENAI else self._openai(text)

    def _openai(self, text: str | None) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if self.thoughts:
            message["reasoning_content"] = self.thoughts
        if self.tool_calls:
            message["tool_calls"] = [
                {"id": i, "type": "function", "function": {"name": n, "arguments": a}}
                for i, n, a in self.tool_calls
            ]
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason or None}
        choices = [choice] if text is not None or self.has_answer else []
        return {"id": self.id, "model": self.model, "choices": choices}

    def _genai(self, text: str | None) -> dict[str, Any]:
        parts: list[dict[str, Any]] = []
        if self.thoughts:
            parts.append({"type": "reasoning", "content": self.thoughts})
        if text:
            parts.append({"type": "text", "content": text})
        for call_id, name, arguments in self.tool_calls:
            parts.append({"type": "tool_call", "id": call_id, "name": name, "arguments": arguments})
        message: dict[str, Any] = {"role": "assistant", "parts": parts}
        if self.finish_reason:
            message["finish_reason"] = self.finish_reason
        messages = [message] if text is not None or self.has_answer else []
        return {"id": self.id, "model": self.model, "messages": messages}
