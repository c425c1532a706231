"""The Anthropic SDK's tool runners: each run a turn, each tool they execute a span.

Since 1.x the SDK has spans of its own for both; ours take their place. A run within a turn of the
application's belongs to that turn. Before 1.x the runner has no seam but the tool itself.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Final, cast

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan

from turnspan import config, semconv
from turnspan.patching.frame import ToolFrame
from turnspan.patching.patches import Args, Function, Kwargs, Patches
from turnspan.patching.stainless import Sdk
from turnspan.runtime.guard import guard
from turnspan.runtime.type_guards import is_dict, is_list
from turnspan.runtime.value_exceptions import is_abort
from turnspan.tracing import recording
from turnspan.tracing.agent_recording import TurnRecording, begin_turn
from turnspan.tracing.context import SESSION_KEY, TURN_KEY, active_turn, session_around
from turnspan.tracing.framework_sessions import session_of
from turnspan.tracing.tool_recording import begin_tool
from turnspan.tracing.tool_runner import ToolRun, current_run, enter_run
from turnspan.turn.turn import Session

_RUN_BEGIN = guard("anthropic.tool_runner")
_RUN_STEP = guard("anthropic.tool_runner_step")
_RUN_END = guard("anthropic.tool_runner_end")
_TOOL_BEGIN = guard("anthropic.tool_begin")
_TOOL_END = guard("anthropic.tool_end")

_RUNNER: Final = "anthropic.lib.tools._beta_runner"
_SESSIONS: Final = "anthropic.lib.tools._beta_session_runner"
_FUNCTIONS: Final = "anthropic.lib.tools._beta_functions"
_TRACING: Final = "anthropic.lib._tracing"
_LOOP: Final = (
    "BaseToolRunner._start_tool_runner_span",
    "as_current_span",
    "set_tool_runner_status",
)
"""How a run of the loop makes its span, makes it current, and says how it went."""

_UNTRACED: Final = SimpleNamespace(_tracer=None)
"""A client as the SDK's tracing of tools sees it: one that has no spans."""


class RunnerSpan(NonRecordingSpan):
    """Stands in for the SDK's span of a tool runner; what is told to it, our recording hears."""

    def __init__(self, turn: TurnRecording) -> None:
        super().__init__(turn.span.get_span_context())
        self.turn: TurnRecording | None = turn
        self.error: BaseException | None = None

    def end(self, end_time: int | None = None) -> None:
        """The runner is done, failed, or was left."""
        with _RUN_END:
            self._finish()

    def _finish(self) -> None:
        turn, self.turn = self.turn, None
        error, self.error = self.error, None
        if turn is None:
            return
        if error is None:
            turn.succeeded(None)
        elif isinstance(error, GeneratorExit):
            turn.abandoned()
        else:
            turn.failed(error)


class RunnerStep:
    """The runner's own code at work: our turn and span are current."""

    __slots__ = ("_span", "_token")

    def __init__(self, span: RunnerSpan) -> None:
        self._span = span
        self._token: object | None = None

    def __enter__(self) -> RunnerSpan:
        with _RUN_STEP:
            self._make_current()
        return self._span

    def _make_current(self) -> None:
        turn = self._span.turn
        if turn is not None:
            inside = otel_context.set_value(TURN_KEY, turn.turn)
            inside = otel_context.set_value(SESSION_KEY, turn.turn.session, inside)
            self._token = otel_context.attach(trace.set_span_in_context(turn.span, inside))

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        with _RUN_STEP:
            recording.detach(self._token)


class ToolSpan:
    """``with tool_use_span(...) as run:`` of the SDK, with our span in place of its own."""

    __slots__ = ("_arguments", "_inner", "_keywords", "_result", "_run", "_token", "_wrapped")

    def __init__(self, wrapped: Function, args: Args, kwargs: Kwargs) -> None:
        self._wrapped = wrapped
        self._arguments = args
        self._keywords = kwargs
        self._run: ToolRun | None = None
        self._token: object | None = None
        self._inner: Any = None
        self._result: Any = None

    def __enter__(self) -> Any:
        with _TOOL_BEGIN:
            self._begin()
        if self._inner is None:  # no recording: the SDK's own way
            self._inner = self._wrapped(*self._arguments, **self._keywords)
            return self._inner.__enter__()
        return self._result

    def _begin(self) -> None:
        tool, given = self._arguments[1], self._keywords
        inner = self._wrapped(_UNTRACED, *self._arguments[1:], **given)
        attributes: dict[str, Any] = {}
        if given.get("conversation_id") and active_turn() is None:
            attributes[semconv.CONVERSATION_ID] = given["conversation_id"]
        begun = begin_tool(
            given["tool_name"],
            call_id=given["tool_use_id"],
            description=_description(tool),
            arguments=given["input"],
            attributes=attributes,
        )
        self._run, self._token = enter_run(begun, getattr(tool, "func", None))
        self._result = inner.__enter__()
        self._inner = inner

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> Any:
        run, self._run = self._run, None
        if run is not None:
            with _TOOL_END:
                recording.detach(self._token)
                self._end(run, error)
        return self._inner.__exit__(kind, error, traceback)

    def _end(self, run: ToolRun, error: BaseException | None) -> None:
        result: Any = None
        failed = False
        try:
            said = self._result.result
            if is_dict(said):
                result = self._result.content or said.get("content")
                failed = said.get("is_error") is True
        finally:
            raised, run.error = error or run.error, None
            if error is not None or (failed and raised is not None and not is_abort(raised)):
                run.recording.outcome = result
                run.recording.failed(cast("BaseException", raised))
            else:
                run.recording.tool.failure = (_text(result) or "failed") if failed else ""
                run.recording.succeeded(result)


@dataclass(slots=True)
class _ToolCall:
    """A tool's own ``call`` under way."""

    run: ToolRun
    token: object | None = None
    own: bool = False
    """Whether the run is this call's, not a runner's."""


class ToolRunners(ToolFrame[_ToolCall]):
    """The wrappers for the SDK's tool runners."""

    place = "anthropic.tool"

    def __init__(self, sdk: Sdk) -> None:
        self._sdk = sdk
        self._bare = False
        """Whether this SDK's runner has no seam around a tool but the tool's own ``call``."""

    @property
    def _enabled(self) -> bool:
        return self._sdk.enabled and config.active().enabled

    def patch(self, patches: Patches) -> None:
        """Put the wrappers on; an SDK without tool runners, or with other ones, does without."""
        if not patches.has(_FUNCTIONS, "BetaFunctionTool.call", "BetaAsyncFunctionTool.call"):
            return
        patches.wrap(_FUNCTIONS, "BetaFunctionTool.call", self.call)
        patches.wrap(_FUNCTIONS, "BetaAsyncFunctionTool.call", self.acall)
        self._bare = not patches.has(_RUNNER, "tool_use_span")
        if self._bare:
            return
        for module in (_TRACING, _RUNNER, _SESSIONS):
            if module in sys.modules:  # one that is imported later gets what is wrapped here
                patches.wrap(module, "tool_use_span", self.tool_use)
        if patches.has(_RUNNER, *_LOOP):
            for name, wrapper in zip(_LOOP, (self.start_run, self.step, self.status), strict=True):
                patches.wrap(_RUNNER, name, wrapper)

    # -- a run

    def start_run(self, wrapped: Function, runner: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``_start_tool_runner_span``, which gives the span of one run of the loop."""
        with _RUN_BEGIN:
            if self._enabled:
                span = None if active_turn() is not None else self._begin_run(runner)
                runner._tool_runner_span = span
                return span
        return wrapped(*args, **kwargs)

    def _begin_run(self, runner: Any) -> RunnerSpan:
        limit = getattr(runner, "_max_iterations", None)
        rounds = limit if isinstance(limit, int) else None
        around = session_around()
        begun = begin_turn("", "", rounds, None, {})
        if around is not None and around.id:
            return RunnerSpan(begun)
        # A run is a turn of ours, which the worker joins to no conversation: it has a session now,
        # the framework's, or else one that is named as the worker names them.
        trace_id = begun.span.get_span_context().trace_id
        identity = session_of(otel_context.get_current()) or f"auto-{trace_id:032x}"
        begun.turn.session = Session(identity) if around is None else replace(around, id=identity)
        return RunnerSpan(begun)

    def step(self, wrapped: Function, _: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``as_current_span``."""
        span = args[0] if args else None
        return RunnerStep(span) if isinstance(span, RunnerSpan) else wrapped(*args, **kwargs)

    def status(self, wrapped: Function, _: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``set_tool_runner_status``."""
        span = args[0] if args else None
        if not isinstance(span, RunnerSpan):
            return wrapped(*args, **kwargs)
        span.error = args[1] if len(args) > 1 else kwargs.get("error")
        return None

    # -- a tool

    def tool_use(self, wrapped: Function, _: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``tool_use_span``."""
        return ToolSpan(wrapped, args, kwargs) if self._enabled else wrapped(*args, **kwargs)

    def _begin(self, tool: Any, args: Args, kwargs: Kwargs) -> tuple[_ToolCall, Kwargs] | None:
        """Around a tool's own ``call``: the runner's run, or one of its own where it has none."""
        run = current_run()
        # Outside a turn, an older runner's tools are read from the messages: not twice.
        if run is None and self._bare and self._enabled and active_turn() is not None:
            begun = begin_tool(
                tool.name,
                description=_description(tool),
                arguments=args[0] if args else kwargs.get("input"),
            )
            return _ToolCall(*enter_run(begun, getattr(tool, "func", None)), own=True), kwargs
        return None if run is None else (_ToolCall(run), kwargs)

    def _failed(self, call: _ToolCall, owner: Any, error: BaseException) -> None:
        if call.own:
            recording.detach(call.token)
            call.run.recording.failed(error)
        else:
            call.run.error = error

    def _answered(self, call: _ToolCall, result: Any) -> None:
        if call.own:
            recording.detach(call.token)
            call.run.recording.succeeded(result)


def _description(tool: Any) -> str:
    found = getattr(tool, "description", None)
    return found if isinstance(found, str) else ""


def _text(content: Any) -> str:
    """The text of a tool's result for the model."""
    if isinstance(content, str):
        return content
    if not is_list(content):
        return ""
    return " ".join(str(block["text"]) for block in content if is_dict(block) and "text" in block)
