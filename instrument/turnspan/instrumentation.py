"""``turnspan.instrument()``: record the calls of every supported SDK that is installed, carry turns
into threads, and enable the installed instrumentations of other packages for everything else.

Cheap, and safe to call early and often: no SDK is imported here. An SDK that the application
imports later is instrumented at that moment. docs/instrumentation.md has the whole picture.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias

from turnspan.patching.third_party import (
    OURS,
    Choice,
    Enabled,
    InstrumentationChoice,
    Package,
    choose,
    disabled,
    packages,
)
from turnspan.runtime import installed
from turnspan.runtime.guard import guard

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

    from turnspan.patching.instrumentor import SdkInstrumentor
    from turnspan.patching.threads import ThreadingInstrumentor

    Instrumentor: TypeAlias = SdkInstrumentor | ThreadingInstrumentor

_INSTRUMENTORS: Final = (
    ("openai", "turnspan.providers.openai.instrumentor", "OpenAIInstrumentor"),
    ("anthropic", "turnspan.providers.anthropic.instrumentor", "AnthropicInstrumentor"),
    ("google_genai", "turnspan.providers.google_genai.instrumentor", "GoogleGenAIInstrumentor"),
    ("litellm", "turnspan.providers.litellm.instrumentor", "LiteLLMInstrumentor"),
    ("llm", "turnspan.providers.llm.instrumentor", "LlmInstrumentor"),
    ("mcp", "turnspan.providers.mcp.instrumentor", "McpInstrumentor"),
    ("threads", "turnspan.patching.threads", "ThreadingInstrumentor"),
    ("http", "turnspan.wire.instrumentor", "HttpInstrumentor"),
)

_DISTRIBUTIONS: Final = {"google_genai": "google-genai"}
"""The distributions of their libraries, where these are called otherwise."""
_NO_LIBRARY: Final = ("threads", "http")
"""What is a part of Python."""

_lock = threading.Lock()
_provider: TracerProvider | None = None
_excluded: set[str] = set()
"""What the application wants not to be recorded."""
_refused: dict[str, str] = {}
"""Why those of ours that were not wanted are off, by name."""
_choices: list[Choice] = []
_enabled: dict[str, Enabled] = {}
"""The other packages that are on, by distribution."""


@dataclass(frozen=True, slots=True)
class Instrumented:
    """What became of one library (or of threads) with one instrumentation of it."""

    name: str
    enabled: bool
    detail: str = ""
    """Why it is not enabled, or what is to be known about it."""
    version: str = ""
    """The installed version (of another package: the package's); empty where not installed."""
    missing: tuple[str, ...] = ()
    """Private parts of the SDK that were not found, so that something degrades."""
    by: str = OURS
    """The distribution that records it."""


def instrument(
    *,
    tracer_provider: TracerProvider | None = None,
    only: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
) -> list[Instrumented]:
    """Record the calls of every installed GenAI library; returns the state of each.

    Turnspan itself records the SDKs of OpenAI, Anthropic and Google, LiteLLM, the package ``llm``
    and the tools of MCP servers. Every other library is recorded by its installed OpenTelemetry
    instrumentation (an official one, else OpenInference, else OpenLLMetry). Work that a turn starts
    in a thread belongs to the turn (docs/context.md). Instrumented libraries stay as they are.

    Args:
        tracer_provider: where the spans go; default: the provider of ``configure``, else
            OpenTelemetry's global one.
        only: only these libraries (``langchain``), distributions
            (``openinference-instrumentation-langchain``) or entry points of Turnspan
            (``turnspan_openai``).
        exclude: all but these, named likewise, and those in OTEL_PYTHON_DISABLED_INSTRUMENTATIONS.

    Raises:
        ConfigError: a name is unknown. Nothing else raises. A name that is almost right is only
            logged; inside a recorded block, an unknown name too.
    """
    wanted = InstrumentationChoice.of(only, exclude, disabled())
    wanted.check([name for name, _, _ in _INSTRUMENTORS])
    with _lock, guard("instrument"):
        _excluded.clear()
        _excluded.update(wanted.exclude)
        for name, _, _ in _INSTRUMENTORS:
            with guard(f"instrument {name}"):
                _start(name, wanted, tracer_provider)
        _choices[:] = choose(packages(), _taken(), wanted)
        for choice in _choices:
            distribution = choice.package.distribution
            if not choice.reason and distribution not in _enabled:
                with guard(f"instrument {distribution}"):
                    _enabled[distribution] = Enabled(choice.package, tracer_provider or _provider)
                    _enabled[distribution].start()
    return report()


def _start(name: str, wanted: InstrumentationChoice, provider: TracerProvider | None) -> None:
    if not _is_there(name):
        return
    instrumentor = _instrumentor(name)
    if instrumentor.is_instrumented_by_opentelemetry:
        return
    reason = wanted.refused(name, OURS, f"{OURS}_{name}")
    _refused[name] = reason
    if not reason:
        instrumentor.instrument(tracer_provider=provider)
        instrumentor.use_default_provider(_provider)


def _loaded() -> list[tuple[str, Instrumentor]]:
    """Those of ours whose modules are loaded: no other one is on."""
    found: list[tuple[str, Instrumentor]] = []
    for name, module, _ in _INSTRUMENTORS:
        with guard(f"instrument {name}"):
            if module in sys.modules:
                found.append((name, _instrumentor(name)))
    return found


def _taken() -> list[str]:
    """The libraries that ours record."""
    loaded = _loaded()
    return [n for n, one in loaded if one.is_instrumented_by_opentelemetry and not one.refusal]


def use_tracer_provider(provider: TracerProvider | None) -> None:
    """Record under this provider where ``instrument`` was given none; ``None``: the global one."""
    global _provider
    with _lock:
        _provider = provider
        for name, instrumentor in _loaded():
            with guard(f"instrument {name}"):
                instrumentor.use_default_provider(provider)


def uninstrument() -> None:
    """Restore the libraries' and threads' own functions. Never raises."""
    with _lock:
        for name, instrumentor in _loaded():
            with guard(f"uninstrument {name}"):
                if instrumentor.is_instrumented_by_opentelemetry:
                    instrumentor.uninstrument()
        for distribution, enabled in _enabled.items():
            with guard(f"uninstrument {distribution}"):
                enabled.stop()
        _enabled.clear()
        _choices.clear()
        _refused.clear()
        _excluded.clear()


def report() -> list[Instrumented]:
    """What is instrumented now and by whom, and what is not and why."""
    found = [_state(name) for name, _, _ in _INSTRUMENTORS]
    with guard("report"):
        choices = _choices or [Choice(package, "not instrumented") for package in packages()]
        found += [_state_of(choice) for choice in choices]
    return found


def plan(disabled_entries: Iterable[str] = ()) -> list[Instrumented]:
    """What ``instrument()`` would do here with nothing imported yet; changes nothing."""
    wanted = InstrumentationChoice.of(None, (), frozenset(disabled_entries))
    found: list[Instrumented] = []
    for name, _, _ in _INSTRUMENTORS:
        instrumentor = _instrumentor(name)
        version = instrumentor.version
        reason = "" if version else "not installed"
        reason = reason or wanted.refused(name, OURS, f"{OURS}_{name}")
        reason = reason or _unsupported(instrumentor)
        found.append(Instrumented(name, not reason, reason, version))
    taken = [one.name for one in found if one.enabled]
    return found + [
        _of_package(choice.package, choice.reason, enabled=not choice.reason)
        for choice in choose(packages(), taken, wanted)
    ]


def is_excluded(library: str) -> bool:
    """Whether nobody is to record a library."""
    return library in _excluded


def is_left_to_others(library: str) -> bool:
    """Whether another package's instrumentation of a library is on, or nobody is to record it."""
    return library in _excluded or any(
        each.package.library == library and each.active and each.instrumentor is not None
        for each in list(_enabled.values())
    )


def _unsupported(instrumentor: Instrumentor) -> str:
    from opentelemetry.instrumentation.dependencies import get_dependency_conflicts

    conflict = get_dependency_conflicts(instrumentor.instrumentation_dependencies())
    if conflict is None:
        return ""
    return f"made for {conflict.required or conflict.required_any}"


def _is_there(name: str) -> bool:
    """Whether the library is installed: without it to import its instrumentor costs 1 ms."""
    return name in _NO_LIBRARY or bool(installed.version(_DISTRIBUTIONS.get(name, name)))


def _instrumentor(name: str) -> Instrumentor:
    module, kind = next((m, k) for n, m, k in _INSTRUMENTORS if n == name)
    instrumentor: Instrumentor = getattr(import_module(module), kind)()
    return instrumentor


def _state(name: str) -> Instrumented:
    with guard(f"report {name}"):
        if not _is_there(name):
            return Instrumented(name, False, "not installed")
        instrumentor = _instrumentor(name)
        version = instrumentor.version
        if not instrumentor.is_instrumented_by_opentelemetry:
            wanted = ", ".join(instrumentor.instrumentation_dependencies())
            detail = f"not instrumented (made for {wanted})" if wanted else "not instrumented"
            return Instrumented(name, False, _refused.get(name) or detail, version)
        if instrumentor.refusal:
            return Instrumented(name, False, instrumentor.refusal, version)
        detail = "" if instrumentor.imported else "waits for the application to import it"
        return Instrumented(name, True, detail, version, tuple(instrumentor.missing))
    return Instrumented(name, False, "its state cannot be read")


def _of_package(package: Package, detail: str, *, enabled: bool) -> Instrumented:
    name, version = package.library, package.version
    return Instrumented(name, enabled, detail, version, by=package.distribution)


def _state_of(choice: Choice) -> Instrumented:
    package = choice.package
    enabled = _enabled.get(package.distribution)
    reason = choice.reason
    if enabled is None or enabled.refusal:
        reason = reason or (enabled.refusal if enabled is not None else "not instrumented")
        return _of_package(package, reason, enabled=False)
    detail = "" if enabled.instrumentor is not None else "waits for the application to import it"
    if enabled.was_on:
        detail = "enabled by the application"
    return _of_package(package, detail, enabled=True)
