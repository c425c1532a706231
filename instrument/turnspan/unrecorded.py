"""Calls of models that nothing recorded: counted where they leave the process.

The functions through which Python's HTTP clients send a request, and the one that starts a process,
are wrapped once the application has imported them. A request counts if its path asks a model for
something, it goes to a provider's host or comes from a known SDK, and neither a recorded call nor
another package's span of a model call is around it. Nothing of the request is kept but the name of
the library and of the host.

What is seen is said once at exit, and written into the spool for ``turnspan doctor``.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from opentelemetry import context as otel_context
from opentelemetry import trace

from turnspan import config, semconv
from turnspan.config import logger
from turnspan.patching.models_on_the_wire import (
    INSIDE,
    PACKAGES,
    agent_program,
    asks_a_model,
    is_provider,
    sender,
)
from turnspan.runtime.forks import in_child
from turnspan.runtime.guard import guard
from turnspan.tracing.begin_call import current_call, is_suppressed

_SEEN: Final = guard("unrecorded.seen")
_PATCH: Final = guard("unrecorded.patch")
_MAX_KINDS: Final = 200
_MODEL_SPANS: Final = frozenset({"LLM", "EMBEDDING", "RERANKER"})
_BY_HAND: Final = "record it by hand with turnspan.inference(...)"
PROCESS: Final = "process"


@dataclass(slots=True)
class Unrecorded:
    """Calls of one library to one host."""

    library: str
    """What sent them; a program's name where it is an agent of its own; empty: plain HTTP."""
    host: str
    """Where they went; ``process`` for an agent of its own."""
    calls: int = 0
    last: float = 0.0
    """When the last one was seen, seconds since the epoch."""
    remedy: str = ""

    def __str__(self) -> str:
        if self.host == PROCESS:
            runs = "run" if self.calls == 1 else "runs"
            return f"what {self.calls:,} {runs} of {self.library} asked its models is not recorded"
        calls = "call" if self.calls == 1 else "calls"
        of = f"of {self.library} ({self.host})" if self.library else f"to {self.host} by plain HTTP"
        return f"{self.calls:,} {calls} {of} may have gone unrecorded"


class Watch:
    """Counts them, from ``start`` to ``stop``."""

    def __init__(self) -> None:
        self.active = False
        self._lock = threading.Lock()
        self._found: dict[tuple[str, str], Unrecorded] = {}
        self._patched: list[tuple[Any, str, Any, Any]] = []
        self._waiting: set[str] = set()
        in_child(self._after_fork)

    # -- putting the wrappers on

    def start(self) -> None:
        """Watch the clients imported now and later. Imports none of them; never raises."""
        if not self.active and config.active().watch_unrecorded:
            self.active = True
            with _PATCH:
                self._start()

    def _start(self) -> None:
        for module, patch in _PATCHES:
            if module in sys.modules:
                self._patch(module, patch)
            elif module not in self._waiting:  # such a hook cannot be taken back
                import wrapt

                self._waiting.add(module)
                wrapt.register_post_import_hook(self._imported(module, patch), module)

    def end(self) -> None:
        """Say what was seen, and begin anew with the next ``start``. Never raises."""
        with _SEEN:
            self.stop()
            self.say()
            self.forget()

    def stop(self) -> None:
        """Give the clients their functions back, except what somebody has wrapped since."""
        self.active = False
        for owner, name, original, ours in reversed(self._patched):
            if _own(owner).get(name) is ours:
                setattr(owner, name, original)
        self._patched.clear()

    def _imported(self, module: str, patch: _Patch) -> Callable[[Any], None]:
        def imported(_: Any) -> None:
            if self.active:
                self._patch(module, patch)

        return imported

    def _patch(self, module: str, patch: _Patch) -> None:
        with _PATCH:
            patch(self, sys.modules[module])

    def wrap(self, owner: Any, name: str, look: _Look, *, after: bool = False) -> None:
        """Have ``look`` see the arguments of a class's own method, if it has one of this name."""
        original: Any = None if owner is None else _own(owner).get(name)
        if original is None or any(o is owner and n == name for o, n, _, _ in self._patched):
            return

        def ours(*args: Any, **kwargs: Any) -> Any:
            if self.active and not after:
                with _SEEN:
                    look(args, kwargs)
            result = original(*args, **kwargs)
            if self.active and after:
                with _SEEN:
                    look(args, kwargs)
            return result

        functools.update_wrapper(ours, original)
        if inspect.iscoroutinefunction(original):
            mark = getattr(inspect, "markcoroutinefunction", None)  # since 3.12
            if mark is not None:
                mark(ours)
        setattr(owner, name, ours)
        self._patched.append((owner, name, original, ours))

    # -- what leaves the process

    def asked(self, host: str) -> None:
        """A request that asks a model for something is about to be sent."""
        if INSIDE.get() or current_call() is not None or _is_traced():
            return
        if is_suppressed(otel_context.get_current()):
            return
        library = sender(inspect.currentframe())
        if (library or is_provider(host)) and not _is_left_to_others(library):
            self.count(library, host)

    def started(self, command: Any) -> None:
        """A process is about to be started."""
        agent = agent_program(command)
        if agent and not _is_left_to_others(f"{agent}_agent_sdk"):
            self.count(agent, PROCESS)

    def count(self, library: str, host: str) -> None:
        """Count one."""
        with self._lock:
            found = self._found.get((library, host))
            if found is None:
                if len(self._found) >= _MAX_KINDS:
                    return
                found = self._found[library, host] = Unrecorded(library, host)
            found.calls += 1
            found.last = time.time()

    # -- what was seen

    def seen(self) -> list[Unrecorded]:
        """What was seen so far, most often first, each with what would record it."""
        with self._lock:
            found = list(self._found.values())
        for one in found:
            one.remedy = one.remedy or remedy(one.library, one.host)
        return sorted(found, key=lambda one: -one.calls)

    def total(self) -> int:
        """How many calls were seen so far."""
        return sum(one.calls for one in list(self._found.values()))

    def say(self) -> None:
        """One line in the log of all that was seen; nothing where that is nothing."""
        found = self.seen()
        if not found:
            return
        told = "; ".join(f"{one}: {one.remedy}" for one in found[:5])
        more = f"; and {len(found) - 5} more (turnspan doctor)" if len(found) > 5 else ""
        logger.warning("%s%s.", told[:1].upper() + told[1:], more)

    def forget(self) -> None:
        """Forget what was seen."""
        with self._lock:
            self._found.clear()

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        self._found = {}  # the parent's to tell


_Look = Callable[["Sequence[Any]", "Mapping[str, Any]"], None]
_Patch = Callable[[Watch, Any], None]

watch = Watch()
"""The process's watch."""


def _own(owner: Any) -> dict[str, Any]:
    """What a class defines itself."""
    return dict(cast("dict[str, Any]", vars(owner)))


def _is_traced() -> bool:
    """Whether the span current here is another package's, of a model call."""
    span: Any = trace.get_current_span()
    if not span.is_recording():
        return False
    attributes: Mapping[str, Any] = getattr(span, "attributes", None) or {}
    scope: str = getattr(getattr(span, "instrumentation_scope", None), "name", "")
    if scope.partition(".")[0] == semconv.SCOPE_PREFIX:
        return False  # a turn or a tool of ours, in which the call is made
    return (
        attributes.get(semconv.OPERATION_NAME) in semconv.INFERENCE_OPERATIONS
        or attributes.get("openinference.span.kind") in _MODEL_SPANS
        or "llm.request.type" in attributes
    )


def _is_left_to_others(library: str) -> bool:
    """Whether others record this library, or nobody is to."""
    # With the instrumentors, when they are asked for.
    from turnspan import instrumentation

    return bool(library) and instrumentation.is_left_to_others(library)


def remedy(library: str, host: str) -> str:
    """What would have recorded a call."""
    # With the instrumentors, when they are asked for.
    from turnspan import instrumentation

    if host == PROCESS:
        library = f"{library}_agent_sdk"
        if library not in sys.modules:
            return "it may send its spans over OTLP to turnspan receive (docs/receive.md)"
    if instrumentation.is_ours(library):
        if instrumentation.is_on(library):
            return _BY_HAND
        return "call turnspan.instrument()"
    package = PACKAGES.get(library)
    if package is None:
        return _BY_HAND
    if instrumentation.is_installed(library):
        return f"call turnspan.instrument(), which records it with {package}"
    return f"pip install {package} (turnspan.instrument() then enables it)"


# -- the clients: each wrapper looks first, under a guard, and passes on exactly what it was given


def _httpx(watch: Watch, module: Any) -> None:
    def look(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        request = args[1] if len(args) > 1 else kwargs["request"]
        if request.method == "POST" and asks_a_model(request.url.path):
            watch.asked(request.url.host)

    watch.wrap(getattr(module, "Client", None), "send", look)
    watch.wrap(getattr(module, "AsyncClient", None), "send", look)


def watch_http_client(watch: Watch, module: Any) -> None:
    """Python's own client; others send through it."""

    def look(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        method = args[1] if len(args) > 1 else kwargs["method"]
        if method == "POST":
            connection: Any = args[0]
            path: Any = args[2] if len(args) > 2 else kwargs["url"]
            if asks_a_model(path if isinstance(path, str) else path.decode("ascii", "replace")):
                tunnelled = getattr(connection, "_tunnel_host", None)
                watch.asked(str(tunnelled or connection.host))

    watch.wrap(module.HTTPConnection, "putrequest", look)


def _aiohttp(watch: Watch, module: Any) -> None:
    def look(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        method = args[1] if len(args) > 1 else kwargs["method"]
        if method == "POST":
            from urllib.parse import urlsplit  # which the client has loaded

            url = urlsplit(str(args[2] if len(args) > 2 else kwargs["str_or_url"]))
            if asks_a_model(url.path):
                base: Any = getattr(args[0], "_base_url", None)
                watch.asked(url.hostname or str(getattr(base, "host", "")))

    watch.wrap(getattr(module, "ClientSession", None), "_request", look)


def _subprocess(watch: Watch, module: Any) -> None:
    def look(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        watch.started(args[1] if len(args) > 1 else kwargs.get("args"))

    watch.wrap(module.Popen, "__init__", look, after=True)  # once it runs


_PATCHES: Final[tuple[tuple[str, _Patch], ...]] = (
    ("httpx", _httpx),
    ("httpx2", _httpx),
    ("http.client", watch_http_client),
    ("aiohttp", _aiohttp),
    ("subprocess", _subprocess),
)
