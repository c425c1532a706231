"""The blocks inside a context assembly: its steps, and the calls that are said to use it."""

from __future__ import annotations

import time
from dataclasses import replace

from opentelemetry import context as otel_context

from turnspan import config, semconv
from turnspan.runtime.guard import guard
from turnspan.tracing import recording
from turnspan.tracing.assembly import MAX_NOTES, Assembly, AssemblyStep
from turnspan.tracing.block_stack import OpenBlocks, WithBlock
from turnspan.tracing.context import SESSION_KEY, session_around
from turnspan.tracing.recording import SpanRecording, detach
from turnspan.tracing.state import another_one
from turnspan.turn.turn import Session

_Opened = tuple[AssemblyStep, SpanRecording | None, object | None]
"""A step that was entered, its span, and what makes the span before current again."""


class StepSpan(WithBlock["StepSpan"]):
    """One step of an assembly: a span, and its duration in the record. A context manager."""

    def __init__(self, assembly: Assembly, name: str) -> None:
        self._assembly = assembly
        self._name = name
        self._state = another_one()
        self._blocks: OpenBlocks[_Opened] = OpenBlocks()
        self._span: SpanRecording | None = None

    def set(self, **attributes: str | bool | int | float) -> None:
        """Put attributes on the step's span."""
        if self._span is not None:
            with guard("context.step"):
                self._span.span.set_attributes(attributes)

    def __enter__(self) -> StepSpan:
        step = AssemblyStep(self._name, time.perf_counter())
        span: SpanRecording | None = None
        with guard("context.step"):
            if len(self._assembly.steps) < MAX_NOTES and not self._assembly.ended:
                self._assembly.steps.append(step)
            if config.active().enabled:
                named = {semconv.STEP_NAME: self._name}
                self._span = span = recording.begin_span(self._name, named, self._state)
        self._blocks.push((step, span, None if span is None else span.enter()))
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        opened = self._blocks.pop()
        if opened is not None:
            step, span, token = opened
            with guard("context.step"):
                step.end(name_of(error))
            if span is not None:
                leave(span, token, error)


class AttachedCalls(WithBlock[None]):
    """The model calls made inside are said to use an assembly. A context manager."""

    def __init__(self, assembly_id: str) -> None:
        self._id = assembly_id
        self._open: OpenBlocks[object | None] = OpenBlocks()

    def __enter__(self) -> None:
        token: object | None = None
        with guard("context.attached"):
            token = otel_context.attach(_saying(self._id))
        self._open.push(token)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with guard("context.attached"):
            detach(self._open.pop())


def leave(span: SpanRecording, token: object | None, error: BaseException | None) -> None:
    """A block is over: the span before is current again, and this one ends."""
    span.leave(token)
    if error is None:
        span.succeeded(None)
    else:
        span.failed(error)


def name_of(error: BaseException | None) -> str:
    """An error's type; empty for none."""
    return "" if error is None else type(error).__qualname__


def _saying(assembly_id: str) -> otel_context.Context:
    """The current context, in which every span says that it used an assembly.

    What a session puts on spans does that, so a call pays nothing where nobody says it.
    """
    around = recording.current()
    session = session_around(around) or Session()
    attributes = {**session.attributes, semconv.CONTEXT_ID: assembly_id}
    return otel_context.set_value(SESSION_KEY, replace(session, attributes=attributes), around)
