"""What one recorder records with: its settings, tracers, content, metrics and statistics.

Nearly every process has one recorder, and then asking for the current one costs nothing. Where an
application has made another, that one is current inside its own decorators and blocks, and in
everything that these call, in whatever thread or task: it rides in OpenTelemetry's context.

A test's recording in memory stands in for a recorder meanwhile (``turnspan.testing``), in the whole
process: threads that carry no context are recorded by it, too.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import Tracer, TracerProvider

from turnspan import config, semconv
from turnspan.config import Settings
from turnspan.metrics.sink import Metrics
from turnspan.runtime import otel_private
from turnspan.runtime.guard import errors, guard
from turnspan.runtime.stats import Stats
from turnspan.tracing import otel_fast
from turnspan.tracing.content_store import ContentStore

_NO_RESOURCE: Final[Mapping[str, Any]] = {}
RECORDER_KEY: Final = otel_context.create_key("turnspan-recorder")


class State:
    """One recorder's own."""

    def __init__(self) -> None:
        self.settings: Settings = config.of_process()
        self.content = ContentStore()
        self.stats = Stats()
        self.metrics = Metrics(self.stats)
        self.closed = False
        """Whether it has recorded and does so no more."""
        self.late = 0
        """Spans of ours that ended since."""
        self.logger_provider: Any = None
        """Where events go (a LoggerProvider); ``None``: the global one."""
        self.stand_in: State | None = None
        """What records in its place; of one that has stood in for another, that one."""
        self.follows = False
        """Of a stand-in for the default recorder: whether its settings are that one's."""
        self.held: Mapping[str, Any] = {}
        """Of a stand-in: the settings that hold whatever ``configure`` says."""
        self._provider: TracerProvider | None = None
        self._tracers: dict[str, Tracer] = {}
        self.decorators: Tracer = self.tracer(semconv.SCOPE_DECORATORS)
        """The tracer of every span that a decorator makes."""
        self.stats.add(self._dropped)

    def tracer(self, scope: str, version: str | None = None) -> Tracer:
        """A tracer of this recorder's provider, one for each scope."""
        found = self._tracers.get(scope)
        if found is None:
            found = self._tracers[scope] = otel_fast.tracer_of(scope, self._provider, version)
        return found

    def like(self, tracer: Any) -> Tracer:
        """This recorder's own tracer of the same scope as another one's."""
        scope = getattr(tracer, "instrumentation_scope", None)
        name = getattr(scope, "name", "") or otel_private.scope_of_proxy(tracer)
        return self.tracer(str(name) or semconv.SCOPE_DECORATORS)

    @property
    def provider(self) -> TracerProvider | None:
        """Where spans go; ``None``: OpenTelemetry's global provider, whatever it becomes."""
        return self._provider

    @provider.setter
    def provider(self, provider: TracerProvider | None) -> None:
        self._provider = provider
        self._tracers = {}
        self.decorators = self.tracer(semconv.SCOPE_DECORATORS)

    def _dropped(self) -> Mapping[str, int]:
        return {
            **self.content.dropped,
            "not_configured": otel_fast.unconfigured.spans if self is default else 0,
            "after_shutdown": self.late,
            "metrics_full": self.metrics.dropped,
            "internal_error": errors.unaccounted,
        }


default: Final = State()
"""The recorder of ``turnspan.configure``."""


def _activated(settings: Settings) -> None:
    default.settings = settings
    other = default.stand_in
    while other is not None:
        if other.follows:
            other.settings = settings
        other = other.stand_in


config.activated = _activated
_several = False
"""Whether any other one may be current."""
_made = False
"""Whether there has ever been another recorder."""
_standing = 0
"""How many stand in for one now."""
_lock: Final = threading.Lock()


def another() -> State:
    """The state of one more recorder."""
    global _made
    made = State()
    with _lock:
        _made = True
        _look()
    return made


def stand_in(state: State, other: State) -> None:
    """From now on the other one records what this one would, in every thread."""
    global _standing
    with _lock:
        in_force(state).stand_in = other
        _standing += 1
        _look()


def step_back(state: State, other: State) -> None:
    """The other one stands in no more; what it has begun goes to nobody, what was made under it is
    this one's."""
    global _standing
    with _lock:
        before = state
        after = before.stand_in
        while after is not None and after is not other:
            before = after
            after = before.stand_in
        if after is not None:
            before.stand_in = other.stand_in
            other.stand_in = state
            _standing -= 1
            _look()


def in_force(state: State) -> State:
    """What records for this one: itself, or what stands in for it."""
    found = state
    other = found.stand_in
    while other is not None:
        found = other
        other = found.stand_in
    return found


def _look() -> None:
    """In a process with one recorder, where none stands in, nobody is asked for the current one."""
    global _several
    _several = _made or _standing > 0
    config.look_up = _settings if _several else None


def _settings() -> Settings:
    return current().settings


def current(context: Context | None = None) -> State:
    """The recorder of a context (default: the current one)."""
    return in_force(_named(context)) if _several else default


def _named(context: Context | None = None) -> State:
    found = (otel_context.get_current() if context is None else context).get(RECORDER_KEY)
    return found if isinstance(found, State) else default


def taking_facts(state: State) -> ContentStore | None:
    """Where this recorder's facts are told; ``None`` where nobody would write them."""
    return state.content if state.settings.enabled and state.content.active else None


def resource_among(*holders: Any) -> Mapping[str, Any]:
    """The resource that says whose record something is: that of the first that has one."""
    for holder in holders:
        resource: Any = getattr(holder, "resource", None)
        if resource is not None:
            found: Mapping[str, Any] = resource.attributes
            return found
    return _NO_RESOURCE


def another_one() -> State | None:
    """The current recorder, if it is not the default one: whatever is made now is its. Never
    raises."""
    with guard("recorder.current"):
        found = _named() if _several else default
        return None if found is default else found
    return None


def recording_for(own: State | None) -> State | None:
    """What records for this recorder, or else for the current one, if it makes records."""
    state = current() if own is None else in_force(own)
    return None if taking_facts(state) is None else state


def within(context: Context, state: State) -> Context:
    """The context in which this recorder is current."""
    if current(context) is state:
        return context
    return otel_context.set_value(RECORDER_KEY, state, context)
