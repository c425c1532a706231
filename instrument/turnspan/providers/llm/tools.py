"""The tools that a response runs, told by the hooks that ``llm`` has for it.

``execute_tool_calls`` takes a function that is called before each tool and one for after it. Ours
call the application's own; what these return or raise goes to ``llm`` as it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry.trace import SpanKind, Tracer

from turnspan import config, semconv
from turnspan.patching.instrumentor import Wrappers
from turnspan.providers.llm.open_response import session_in
from turnspan.runtime.guard import guard
from turnspan.tracing import tool_answers
from turnspan.tracing.context import SESSION_KEY
from turnspan.tracing.recording import detach, safe_freeze
from turnspan.tracing.tool_recording import ToolRecording, inside_tool, open_tool

_BEFORE: Final = guard("llm.before_tool")
_AFTER: Final = guard("llm.after_tool")


class Hooks:
    """Ours, for one call of ``execute_tool_calls``."""

    def __init__(self, tracer: Tracer, response: Any, before: Any, after: Any) -> None:
        self._tracer = tracer
        self._theirs_before: Callable[..., Any] | None = before
        self._theirs_after: Callable[..., Any] | None = after
        self._conversation: Any = response.conversation
        self._running: dict[int, tuple[ToolRecording, object]] = {}
        """The tools that run now, by the call's identity, and what ``detach`` takes of each."""

    def before(self, tool: Any, call: Any) -> Any:
        """A tool is about to run; none where there is no tool of this name."""
        given = None if self._theirs_before is None else self._theirs_before(tool, call)
        if inspect.isawaitable(given):
            return self._abefore(given, tool, call)
        self._begin(tool, call)
        return given

    async def _abefore(self, given: Awaitable[Any], tool: Any, call: Any) -> Any:
        result = await given
        self._begin(tool, call)
        return result

    def after(self, tool: Any, call: Any, result: Any) -> Any:
        """It has run."""
        with _AFTER:
            running = self._running.pop(id(call), None)
            if running is not None:
                recording, token = running
                detach(token)
                if result.exception is None:
                    recording.succeeded(result.output)
                else:
                    recording.failed(result.exception)
        return None if self._theirs_after is None else self._theirs_after(tool, call, result)

    def broke_off(self, error: BaseException) -> None:
        """``execute_tool_calls`` raised this: what still runs has no end of its own."""
        with _AFTER:
            while self._running:
                _, (recording, token) = self._running.popitem()
                detach(token)
                recording.failed(error)

    def _begin(self, tool: Any, call: Any) -> None:
        with _BEFORE:
            if tool is None or not tool.implementation:
                return
            context = otel_context.get_current()
            attributes: dict[str, Any] = {}
            if tool.description:
                attributes[semconv.TOOL_DESCRIPTION] = tool.description
            session = session_in(context, self._conversation)
            if session is not None:
                context = otel_context.set_value(SESSION_KEY, session, context)
            opened = open_tool(
                self._tracer,
                f"execute_tool {call.name}",
                SpanKind.INTERNAL,
                context,
                call.name,
                arguments=safe_freeze(call.arguments),
                call_id=call.tool_call_id or "",
                attributes=attributes,
            )
            if tool_answers.answers is not None:
                tool_answers.answers.runs(opened, "llm executes it")
            recording = ToolRecording(context, opened)
            token = otel_context.attach(inside_tool(opened, context))
            self._running[id(call)] = (recording, token)


def with_hooks(
    sdk: Wrappers, response: Any, kwargs: dict[str, Any]
) -> tuple[Hooks | None, dict[str, Any]]:
    """Our hooks, and the arguments of ``execute_tool_calls`` with them."""
    with _BEFORE:
        if sdk.enabled and config.active().enabled:
            before, after = kwargs.get("before_call"), kwargs.get("after_call")
            hooks = Hooks(sdk.tracer, response, before, after)
            return hooks, {**kwargs, "before_call": hooks.before, "after_call": hooks.after}
    return None, kwargs


def after_tools(hooks: Hooks | None, error: BaseException) -> None:
    """The tools broke off with this error."""
    if hooks is not None:
        hooks.broke_off(error)
