"""``turnspan.instrument()``: record the calls of every supported SDK that is installed, and carry
turns into threads.

Cheap, and safe to call early and often: no SDK is imported here. An SDK that the application
imports later is instrumented at that moment.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

from turnspan.guard import guard

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

_INSTRUMENTORS: Final = (
    ("openai", "turnspan.providers.openai", "OpenAIInstrumentor"),
    ("anthropic", "turnspan.providers.anthropic", "AnthropicInstrumentor"),
    ("mcp", "turnspan.providers.mcp", "McpInstrumentor"),
    ("threads", "turnspan.patching.threads", "ThreadingInstrumentor"),
)

_lock = threading.Lock()
_provider: TracerProvider | None = None


class Instrumentor(Protocol):
    """What is instrumented here: the SDKs (patching.instrumentor) and threads."""

    package: str
    missing: Any

    @property
    def is_instrumented_by_opentelemetry(self) -> bool: ...
    @property
    def imported(self) -> bool: ...
    @property
    def refusal(self) -> str: ...
    @property
    def version(self) -> str: ...

    def instrument(self, **kwargs: Any) -> Any: ...
    def uninstrument(self, **kwargs: Any) -> Any: ...
    def instrumentation_dependencies(self) -> Collection[str]: ...
    def use_default_provider(self, provider: TracerProvider | None) -> None: ...


@dataclass(frozen=True, slots=True)
class Instrumented:
    """What became of one SDK, or of threads."""

    name: str
    enabled: bool
    detail: str = ""
    """Why it is not enabled, or what is to be known about it."""
    version: str = ""
    """The installed version; empty where it is not installed."""
    missing: tuple[str, ...] = ()
    """Private parts of the SDK that were not found, so that something degrades."""


def instrument(*, tracer_provider: TracerProvider | None = None) -> list[Instrumented]:
    """Record the calls of every supported SDK that is installed; says what it did.

    Work that a turn starts in a thread then belongs to the turn as well (docs/context.md). What is
    instrumented already stays as it is. Never raises. ``tracer_provider`` is where the spans go;
    unless given, the one given to ``configure``, or else OpenTelemetry's global one.
    """
    with _lock:
        for instrumentor in _installed():
            with guard(f"instrument {instrumentor.package}"):
                if not instrumentor.is_instrumented_by_opentelemetry:
                    instrumentor.instrument(tracer_provider=tracer_provider)
                    instrumentor.use_default_provider(_provider)
    return report()


def use_tracer_provider(provider: TracerProvider | None) -> None:
    """Record under this provider where ``instrument`` was given none; ``None``: the global one."""
    global _provider
    with _lock:
        _provider = provider
        for name, module, _ in _INSTRUMENTORS:
            if module in sys.modules:  # else it is not instrumented
                with guard(f"instrument {name}"):
                    _instrumentor(name).use_default_provider(provider)


def uninstrument() -> None:
    """Give the SDKs and threads their own functions back. Never raises."""
    with _lock:
        for instrumentor in _installed():
            with guard(f"uninstrument {instrumentor.package}"):
                if instrumentor.is_instrumented_by_opentelemetry:
                    instrumentor.uninstrument()


def report() -> list[Instrumented]:
    """What is instrumented now, and what is not and why."""
    return [_state(name) for name, _, _ in _INSTRUMENTORS]


def _installed() -> Sequence[Instrumentor]:
    found: list[Instrumentor] = []
    for name, _, _ in _INSTRUMENTORS:
        with guard(f"instrument {name}"):
            instrumentor = _instrumentor(name)
            if instrumentor.version:
                found.append(instrumentor)
    return found


def _instrumentor(name: str) -> Instrumentor:
    module, kind = next((m, k) for n, m, k in _INSTRUMENTORS if n == name)
    instrumentor: Instrumentor = getattr(import_module(module), kind)()
    return instrumentor


def _state(name: str) -> Instrumented:
    with guard(f"report {name}"):
        instrumentor = _instrumentor(name)
        version = instrumentor.version
        if not version:
            return Instrumented(name, False, "not installed")
        if not instrumentor.is_instrumented_by_opentelemetry:
            wanted = ", ".join(instrumentor.instrumentation_dependencies())
            detail = f"not instrumented (made for {wanted})" if wanted else "not instrumented"
            return Instrumented(name, False, detail, version)
        if instrumentor.refusal:
            return Instrumented(name, False, instrumentor.refusal, version)
        detail = "" if instrumentor.imported else "waits for the application to import it"
        return Instrumented(name, True, detail, version, tuple(instrumentor.missing))
    return Instrumented(name, False, "its state cannot be read")
