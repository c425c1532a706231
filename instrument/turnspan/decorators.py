"""The decorators: ``agent``, ``tool``, ``workflow``, ``step``; each is a context manager as well.

They take functions of every kind: plain, coroutine, generator, async generator, methods,
classmethods, staticmethods, partials and callable objects; the signature stays what it was.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast, overload

from opentelemetry.trace import Span

from turnspan import config, semconv
from turnspan.content.given_values import attributes_of, mistaken, number_of, text_of
from turnspan.runtime.guard import errors, guard
from turnspan.runtime.inspection import looking
from turnspan.tracing import agent_recording, recording, tool_answers
from turnspan.tracing.agent_recording import TurnRecording
from turnspan.tracing.arguments import Parameters, first_line, name_of
from turnspan.tracing.block_stack import OpenBlocks, WithBlock
from turnspan.tracing.function_wrapper import wrap
from turnspan.tracing.recording import SpanRecording
from turnspan.tracing.recording_protocol import NO_RECORDING, Recording, StartRecording
from turnspan.tracing.state import another_one
from turnspan.tracing.tool_recording import ToolRecording, begin_tool
from turnspan.tracing.tool_runner import attach_to_run
from turnspan.turn.turn import NO_TURN, Turn

_DESCRIPTORS: Final = (
    classmethod,
    staticmethod,
    functools.partialmethod,
    functools.singledispatchmethod,
)

F = TypeVar("F", bound=Callable[..., Any])
Handle = TypeVar("Handle")


class SpanDecorator(WithBlock[Handle]):
    """A decorator and context manager for one kind of span; reusable, also by several tasks."""

    def __init__(self, name: str | None, attributes: Mapping[str, Any] | None) -> None:
        self._name = name or ""
        self._attributes = attributes_of(attributes)
        self._state = another_one()
        self._blocks: OpenBlocks[tuple[Recording, object | None]] = OpenBlocks()

    def __call__(self, func: F) -> F:
        """Decorate a function."""
        return wrap(func, self._begin_for)

    def __enter__(self) -> Handle:
        current, handle = self._open()
        self._blocks.push((current, current.enter()))
        return handle

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        block = self._blocks.pop()
        if block is not None:
            current, token = block
            current.leave(token)
            if error is None:
                current.succeeded(None)
            else:
                current.failed(error)

    def _begin_for(self, func: Callable[..., Any]) -> StartRecording:
        raise NotImplementedError

    def _open(self) -> tuple[Recording, Handle]:
        raise NotImplementedError


class AgentScope(SpanDecorator[Turn]):
    """``turnspan.agent(...)``."""

    def __init__(
        self,
        name: str | None = None,
        *,
        version: str = "",
        max_rounds: int | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(name, attributes)
        self._version = text_of(version)
        self._max_rounds = number_of(max_rounds)
        if max_rounds is not None and self._max_rounds is None:
            mistaken(TypeError("turnspan.agent(max_rounds=) is a number"), harmless=True)

    def _begin_for(self, func: Callable[..., Any]) -> StartRecording:
        parameters = Parameters(func)
        name = self._name or name_of(func)

        def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Recording:
            try:
                if config.active().enabled:
                    message = parameters.user_message(parameters.bind(args, kwargs))
                    return self._start(name, message)
            except BaseException as error:  # noqa: BLE001  ours, never the caller's
                errors.record("agent.begin", error)
            return NO_RECORDING

        return begin

    def _open(self) -> tuple[Recording, Turn]:
        with guard("agent.begin"):
            if config.active().enabled:
                started = self._start(self._name, None)
                return started, started.turn
        return NO_RECORDING, NO_TURN

    def _start(self, name: str, user_message: Any) -> TurnRecording:
        return agent_recording.begin_turn(
            name, self._version, self._max_rounds, user_message, self._attributes, self._state
        )


class ToolHandle:
    """A tool being executed inside ``with turnspan.tool(...) as call``."""

    __slots__ = ("_recording",)

    def __init__(self, recording: ToolRecording | None) -> None:
        self._recording = recording

    @property
    def result(self) -> Any:
        """The tool's result; set it before the block ends."""
        return None if self._recording is None else self._recording.outcome

    @result.setter
    def result(self, value: Any) -> None:
        if self._recording is not None:
            self._recording.outcome = value

    def fail(self, message: str) -> None:
        """Mark the tool as failed, without an exception."""
        if self._recording is not None:
            self._recording.tool.failure = text_of(message) or "failed"


class ToolScope(SpanDecorator[ToolHandle]):
    """``turnspan.tool(...)``."""

    def __init__(
        self,
        name: str | None = None,
        *,
        call_id: str = "",
        arguments: Any = None,
        description: str = "",
        type: str = "function",
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(name, attributes)
        self._call_id = text_of(call_id)
        self._arguments = arguments
        self._description = text_of(description)
        self._type = text_of(type)

    def _begin_for(self, func: Callable[..., Any]) -> StartRecording:
        parameters = Parameters(func)
        name = self._name or name_of(func)
        description = self._description or first_line(func)

        def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Recording:
            try:
                if config.active().enabled:
                    joined = attach_to_run(func, self._attributes)
                    if joined is not None:
                        return joined
                    started = self._start(name, description, parameters.bind(args, kwargs))
                    if tool_answers.answers is not None:
                        started.instead = tool_answers.answers.stand_in(started.tool, func)
                    return started
            except BaseException as error:  # noqa: BLE001  ours, never the caller's
                errors.record("tool.begin", error)
            return NO_RECORDING

        return begin

    def _open(self) -> tuple[Recording, ToolHandle]:
        with guard("tool.begin"):
            if config.active().enabled:
                name = self._name or "tool"
                started = self._start(name, self._description, self._arguments)
                if tool_answers.answers is not None:
                    tool_answers.answers.runs(started.tool, "it is a block of code")
                return started, ToolHandle(started)
        return NO_RECORDING, ToolHandle(None)

    def _start(self, name: str, description: str, arguments: Any) -> ToolRecording:
        return begin_tool(
            name,
            call_id=self._call_id,
            description=description,
            tool_type=self._type,
            arguments=arguments,
            attributes=self._attributes,
            state=self._state,
        )


class StepHandle:
    """A workflow or step being executed; ``set`` puts attributes on its span."""

    __slots__ = ("_span",)

    def __init__(self, span: Span | None) -> None:
        self._span = span

    def set(self, **attributes: str | bool | int | float) -> None:
        """Put attributes on the span."""
        if self._span is not None:
            with guard("step.set", "set"), looking:
                self._span.set_attributes(attributes)


class StepScope(SpanDecorator[StepHandle]):
    """``turnspan.step(...)``; the base of ``turnspan.workflow(...)``."""

    def _begin_for(self, func: Callable[..., Any]) -> StartRecording:
        name = self._name or name_of(func)

        def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Recording:
            try:
                if config.active().enabled:
                    return self._start(name)
            except BaseException as error:  # noqa: BLE001  ours, never the caller's
                errors.record("step.begin", error)
            return NO_RECORDING

        return begin

    def _open(self) -> tuple[Recording, StepHandle]:
        with guard("step.begin"):
            if config.active().enabled:
                started = self._start(self._name)
                return started, StepHandle(started.span)
        return NO_RECORDING, StepHandle(None)

    def _start(self, name: str) -> SpanRecording:
        attributes = {semconv.STEP_NAME: name, **self._attributes}
        return recording.begin_span(name or "step", attributes, self._state)


class WorkflowScope(StepScope):
    """``turnspan.workflow(...)``."""

    def _start(self, name: str) -> SpanRecording:
        attributes: dict[str, Any] = {semconv.OPERATION_NAME: semconv.OP_INVOKE_WORKFLOW}
        if name:
            attributes[semconv.AGENT_NAME] = name
        attributes.update(self._attributes)
        return recording.begin_span(
            f"invoke_workflow {name}" if name else "invoke_workflow", attributes, self._state
        )


@overload
def agent(func: F, /) -> F: ...
@overload
def agent(
    name: str | None = None,
    *,
    version: str = "",
    max_rounds: int | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> AgentScope: ...
def agent(name: Any = None, **options: Any) -> Any:
    """Record an agent's turn: an ``invoke_agent`` span and a ``turn_summary`` record.

    As a decorator, the function's name is the agent's name; the argument with a fitting name, else
    the first text, is the user's message. As a context manager, it returns the ``Turn``.

    Args:
        name: the agent's name.

    Keyword Args:
        version (str): the agent's version.
        max_rounds (int | None): the budget of model calls. If it is used up while the model still
            asks for tools, the stop reason is ``round_cap``. Turnspan does not enforce the budget.
        attributes (Mapping[str, Any] | None): your own span attributes.
    """
    _check("agent", options, ("version", "max_rounds", "attributes"))
    return _decorate(AgentScope, name, options)


@overload
def tool(func: F, /) -> F: ...
@overload
def tool(
    name: str | None = None,
    *,
    call_id: str = "",
    arguments: Any = None,
    description: str = "",
    type: str = "function",
    attributes: Mapping[str, Any] | None = None,
) -> ToolScope: ...
def tool(name: Any = None, **options: Any) -> Any:
    """Record an executed tool: an ``execute_tool`` span and a ``tool_call`` record.

    As a decorator, it records the function's arguments and return value. As a context manager, it
    returns a handle whose ``result`` you set.

    Args:
        name: the tool's name; default: the decorated function's name.

    Keyword Args:
        call_id (str): the id of the model's tool call; default: found by name and arguments among
            the model's requests.
        arguments (Any): the tool's arguments, for a context manager.
        description (str): what the tool does.
        type (str): the kind of tool, as in the GenAI conventions.
        attributes (Mapping[str, Any] | None): your own span attributes.
    """
    _check("tool", options, ("call_id", "arguments", "description", "type", "attributes"))
    return _decorate(ToolScope, name, options)


@overload
def workflow(func: F, /) -> F: ...
@overload
def workflow(
    name: str | None = None, *, attributes: Mapping[str, Any] | None = None
) -> WorkflowScope: ...
def workflow(name: Any = None, *, attributes: Mapping[str, Any] | None = None) -> Any:
    """Record a workflow that joins several agents: an ``invoke_workflow`` span."""
    return _decorate(WorkflowScope, name, {"attributes": attributes})


@overload
def step(func: F, /) -> F: ...
@overload
def step(name: str | None = None, *, attributes: Mapping[str, Any] | None = None) -> StepScope: ...
def step(name: Any = None, *, attributes: Mapping[str, Any] | None = None) -> Any:
    """Record a step of an agent's own work (assembling context, planning, ranking)."""
    return _decorate(StepScope, name, {"attributes": attributes})


def _check(public: str, options: dict[str, Any], known: tuple[str, ...]) -> None:
    for given in options.keys() - set(known):
        had = ", ".join(known)
        mistaken(TypeError(f"turnspan.{public} has no argument {given!r}; it has {had}"))
        del options[given]


def _decorate(scope: Callable[..., Any], name: Any, options: dict[str, Any]) -> Any:
    if name is None or isinstance(name, str):
        return scope(name, **options)
    if not callable(name) and not isinstance(name, _DESCRIPTORS):
        given = type(cast("object", name)).__name__
        mistaken(TypeError(f"expected a function to decorate or a name, not {given}"))
        return scope(text_of(name), **options)
    return scope(None, **options)(name)
