"""A tool that is run by a tool runner *and* decorated with ``turnspan.tool``: one span, not two.

The runner's span is there first: it knows the model's call id, and stands for calls that never
reach the function. The decorator, reached within it, adds what only it knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from opentelemetry import context as otel_context

from turnspan.tracing.recording import current
from turnspan.tracing.recording_protocol import NoRecording
from turnspan.tracing.tool_recording import ToolRecording, inside_tool

RUN_KEY: Final = otel_context.create_key("turnspan-tool-run")
_MAX_DEPTH: Final = 20


class ToolRun:
    """One run of a tool by a tool runner: its recording and the function that it will call."""

    __slots__ = ("_func", "error", "recording")

    def __init__(self, recording: ToolRecording, func: Any) -> None:
        self.recording = recording
        self.error: BaseException | None = None
        """What the function raised; a runner turns it into a result for the model."""
        self._func = func

    def claim(self, func: Any) -> bool:
        """Whether this run's function is, or wraps, ``func``; true at most once."""
        found = self._func
        for _ in range(_MAX_DEPTH):
            if found is None:
                return False
            if found is func:
                self._func = None
                return True
            inner = getattr(found, "__wrapped__", None)
            found = inner if inner is not None else getattr(found, "__func__", None)
        return False


def enter_run(recording: ToolRecording, func: Any) -> tuple[ToolRun, object]:
    """Begin a run and make it and its tool current; with what ``detach`` takes."""
    run = ToolRun(recording, func)
    inside = inside_tool(recording.tool, otel_context.get_current())
    return run, otel_context.attach(otel_context.set_value(RUN_KEY, run, inside))


class AttachedRecording(NoRecording):
    """Stands for the recording that a decorator would have begun."""

    __slots__ = ("_run",)

    def __init__(self, run: ToolRun) -> None:
        self._run = run

    def failed(self, error: BaseException, *, stream: bool = False) -> None:
        """The function raised; the run's recording says so."""
        self._run.error = error


def current_run() -> ToolRun | None:
    """The run that a tool runner is at, in this context."""
    run = current().get(RUN_KEY)
    return run if isinstance(run, ToolRun) else None


def attach_to_run(func: Any, attributes: Mapping[str, Any]) -> AttachedRecording | None:
    """What a decorated function records within a run that is for it; ``None`` outside of one."""
    run = current_run()
    if run is None or not run.claim(func):
        return None
    if attributes:
        run.recording.span.set_attributes(attributes)
    return AttachedRecording(run)
