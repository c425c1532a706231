"""Tools of a rerun: each gets its recorded result, and its function does not run."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

from opentelemetry import context as otel_context

from turnspan import config
from turnspan.content.media import digest_media
from turnspan.content.model import dumps_text
from turnspan.redaction.redactor import Redactor
from turnspan.runtime.errors import RerunDiverged
from turnspan.runtime.type_guards import is_list
from turnspan.tracing.context import TOOL_KEY
from turnspan.tracing.function_wrapper import called_of
from turnspan.tracing.tool_recording import OpenTool
from turnspan.wire.rerunning.recorded_values import CannotRebuildError, error_of, value_of
from turnspan.wire.rerunning.redirects import redirects
from turnspan.wire.rerunning.server_client import ServerClient, place

_TOLD: Final = ("", "tool_error")
"""Error types of tools that failed without an exception: their results say so."""


class RecordedTools:
    """What answers the tools of a process in a rerun."""

    def __init__(self, server: ServerClient) -> None:
        self._server = server

    def stand_in(self, tool: OpenTool, function: Any) -> Any:
        """A function of ``function``'s kind that gives the recorded result, or raises the recorded
        error; ``None`` if ``function`` is to run."""
        try:
            give = self._asked(tool, function)
        except Exception as error:  # noqa: BLE001  raised where the tool would run
            give = _raising(error)
        # With the function's signature, which an SDK may read.
        return None if give is None else functools.wraps(function)(_of_kind(function, give))

    def result(self, wrapped: Any, gives: Any) -> Any:
        """``wrapped``, the function of an SDK that executes the current tool, or what gives the
        recorded result in its place, as a value of the type ``gives``."""

        def answer() -> Callable[[], Any] | None:
            tool = otel_context.get_current().get(TOOL_KEY)
            if not isinstance(tool, OpenTool) or tool.asked:
                return None
            return self._asked(tool, gives)

        async def arun(*args: Any, **kwargs: Any) -> Any:
            give = answer()
            return await wrapped(*args, **kwargs) if give is None else give()

        def run(*args: Any, **kwargs: Any) -> Any:
            give = answer()
            return wrapped(*args, **kwargs) if give is None else give()

        return arun if inspect.iscoroutinefunction(wrapped) else run

    def runs(self, tool: OpenTool, reason: str) -> None:
        """A tool runs for real whatever was recorded."""
        tool.asked = True
        redirects.note("tool_ran", f"{tool.name}: {reason}")

    def _asked(self, tool: OpenTool, gives: Any) -> Callable[[], Any] | None:
        """What gives the recorded result; ``None`` if the tool is to run."""
        tool.asked = True
        arguments = Redactor(config.active()).value(digest_media(tool.arguments), "tool_arguments")
        question = {
            "name": tool.name,
            "arguments": arguments if isinstance(arguments, str) else dumps_text(arguments),
            "call_id": tool.call_id,
            "place": place(),
        }
        answer = self._server.ask("/turnspan/tool", question)
        action = answer.get("action")
        if action == "run":
            return None
        if action != "answer":
            return _raising(RerunDiverged(str(answer.get("message") or "The rerun diverged.")))
        error_type = str(answer.get("error_type") or "")
        if error_type not in _TOLD:
            return _raising(error_of(error_type, str(answer.get("error_message") or "")))
        class_name = str(answer.get("result_class") or "")
        try:
            value = value_of(str(answer.get("result") or ""), class_name, gives)
        except CannotRebuildError as error:
            self.runs(tool, f"its result is a {class_name or error}, which cannot be made again")
            return None
        return lambda: value


def _raising(error: BaseException) -> Callable[[], Any]:
    def give() -> Any:
        raise error

    return give


def _of_kind(function: Any, give: Callable[[], Any]) -> Any:
    """A function that gives the value as a function of this kind does; whatever its arguments."""

    async def items(*_: Any, **__: Any) -> Any:
        for item in _items(give()):
            yield item

    def steps(*_: Any, **__: Any) -> Any:
        yield from _items(give())

    async def later(*_: Any, **__: Any) -> Any:
        return give()

    def now(*_: Any, **__: Any) -> Any:
        return give()

    kind = called_of(function)
    if inspect.isasyncgenfunction(kind):
        return items
    if inspect.isgeneratorfunction(kind):
        return steps
    return later if inspect.iscoroutinefunction(kind) else now


def _items(value: Any) -> Any:
    """What a generator yielded: a list of it, or its texts in one."""
    if value is None:
        return []
    return value if is_list(value) else [value]
