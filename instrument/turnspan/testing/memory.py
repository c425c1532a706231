"""Puts a recording in memory in the place of a recorder, and takes it away again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry._logs import NoOpLoggerProvider
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from turnspan import config, instrumentation, semconv
from turnspan.pipeline.program import with_service
from turnspan.runtime import otel_private
from turnspan.runtime.ids import SecureIdGenerator
from turnspan.tracing.state import State, default, in_force, stand_in, step_back

if TYPE_CHECKING:
    from opentelemetry.context import Context


class Ended(SpanProcessor):
    """The spans that have ended and were not looked at yet: those of the recording's own provider,
    and what is diverted."""

    # No ``on_start``: a processor that looks at none is recorded as quickly as in production.

    def __init__(self) -> None:
        self._spans: list[ReadableSpan] = []
        self._lock = threading.Lock()
        self.closed = False

    def on_end(self, span: ReadableSpan) -> None:
        """Keep a span that has ended."""
        with self._lock:
            if not self.closed:
                self._spans.append(span)

    def take(self) -> list[ReadableSpan]:
        """Those since the last time."""
        with self._lock:
            taken, self._spans = self._spans, []
        return taken


class Diversion(SpanProcessor):
    """Keeps what others record under the application's provider; spans that had begun before go
    where they were to go."""

    def __init__(self, ended: Ended) -> None:
        self._ended = ended
        self._begun: set[tuple[int, int]] = set()
        self.former: tuple[SpanProcessor, ...] = ()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """It has begun inside."""
        context = span.get_span_context()
        self._begun.add((context.trace_id, context.span_id))

    def on_end(self, span: ReadableSpan) -> None:
        """Keep it, or pass it on."""
        context = span.context
        key = (context.trace_id, context.span_id) if context is not None else (0, 0)
        if key in self._begun:
            self._begun.discard(key)
            self._ended.on_end(span)
            return
        for each in self.former:
            each.on_end(span)

    def shutdown(self) -> None:
        """The application shuts its provider down: that of its own processors."""
        for each in self.former:
            each.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Nothing waits."""
        return True


def begin(
    state: State,
    ended: Ended,
    held: Mapping[str, Any],
    service_name: str | None,
    instrument: bool,
) -> tuple[State, Callable[[], None]]:
    """Record in memory in the place of this recorder's state: what stands in, and what ends it."""
    before = in_force(state)
    existing = _provider_of(state)
    resource = Resource.create() if existing is None else existing.resource
    if service_name:
        resource = resource.merge(Resource({semconv.SERVICE_NAME: service_name}))
    made = TracerProvider(
        sampler=ALWAYS_ON,  # what the application samples is not what a test is about
        resource=with_service(resource),
        id_generator=SecureIdGenerator(),
        shutdown_on_exit=False,
    )
    otel_private.record_though_disabled(made)  # it is there to keep tests off the network
    made.add_span_processor(ended)
    standing = State()
    standing.provider = made
    standing.held = held
    standing.settings = replace(before.settings, **{"enabled": True, **held})
    standing.follows = state is default and not held
    standing.metrics.use(NoOpMeterProvider())
    standing.logger_provider = NoOpLoggerProvider()
    standing.content.attach()
    with ExitStack() as undo:
        undo.callback(standing.content.detach)
        undo.callback(made.shutdown)
        stand_in(state, standing)
        undo.callback(step_back, state, standing)
        if existing is not None:
            diversion = Diversion(ended)
            former = otel_private.put_processor(existing, diversion)
            if former is not None:
                diversion.former = former
                undo.callback(otel_private.put_back, existing, diversion, former)
        if instrument and not any(one.enabled for one in instrumentation.report()):
            instrumentation.instrument(tracer_provider=made)
            undo.callback(instrumentation.uninstrument)
        return standing, undo.pop_all().close
    raise AssertionError  # not reached: nothing above is swallowed


def _provider_of(state: State) -> TracerProvider | None:
    """The provider of the SDK under which the application's spans are made, if there is one."""
    found: Any = in_force(state).provider
    if found is None and state is default:
        try:
            found = trace.get_tracer_provider()
        except Exception:  # noqa: BLE001  OTEL_PYTHON_TRACER_PROVIDER names none
            return None
    return found if isinstance(found, TracerProvider) else None


def held_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings among these that were given, as ``configure`` checks them.

    Raises:
        ValueError: one is of the wrong type or out of range.
    """
    resolved = config.resolve(given, {})
    return {name: getattr(resolved, name) for name, value in given.items() if value is not None}
