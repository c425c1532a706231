"""Requests to models that nothing recorded: counted where they leave the process, and said.

A request counts if it asks a model for something (``requests_seen``), nothing that records it is
around it, and the wire is not recorded. Nothing of it is kept but the names of the library and the
host. What is seen is said once at exit, and written into the spool for ``turnspan doctor``.
"""

from __future__ import annotations

import inspect
import sys
import threading
import time
from dataclasses import dataclass
from string import ascii_letters, digits
from typing import Any, Final

from turnspan import config
from turnspan.config import logger
from turnspan.patching.models_on_the_wire import agent_program, sender
from turnspan.runtime.forks import in_child
from turnspan.runtime.guard import guard
from turnspan.tracing.begin_call import current_call
from turnspan.wire.clients import clients
from turnspan.wire.operations import COSTING
from turnspan.wire.requests_seen import ModelRequestSeen, is_covered, seen
from turnspan.wire.tracer import tracer

_SEEN: Final = guard("unrecorded.seen")
_MAX_KINDS: Final = 200
_BY_HAND: Final = "record it by hand with turnspan.inference(...)"
PROCESS: Final = "process"
_WEBSOCKET: Final = " by WebSocket"
_GRPC: Final = " by gRPC"
_PACKED: Final = " packed in "
_UNPACKERS: Final = {"br": "brotli", "zstd": "backports.zstd"}
"""The package that undoes an encoding."""
_MAX_NAME: Final = 40
_TOKEN: Final = frozenset(f"{ascii_letters}{digits}!#$%&'*+-.^_`|~")
"""What the name of an encoding is made of (RFC 9110, section 5.6.2)."""


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
        if _PACKED in self.host:
            answers = "answer" if self.calls == 1 else "answers"
            of = f" of {self.library}" if self.library else ""
            return f"{self.calls:,} {answers}{of} ({self.host}) could not be read"
        calls = "call" if self.calls == 1 else "calls"
        of = f"of {self.library} ({self.host})" if self.library else f"to {self.host}"
        return f"{self.calls:,} {calls} {of} may have gone unrecorded"


class Watch:
    """Counts them, from ``start`` to ``stop``."""

    def __init__(self) -> None:
        self.active = False
        self.recorded = 0
        """Requests that were recorded, by whomever."""
        self._lock = threading.Lock()
        self._found: dict[tuple[str, str], Unrecorded] = {}
        in_child(self._after_fork)

    def start(self) -> None:
        """Watch the clients imported now and later. Imports none of them; never raises."""
        if not self.active and config.active().watch_unrecorded:
            self.active = True
            clients.start("watch")

    def end(self) -> None:
        """Say what was seen, and begin anew with the next ``start``. Never raises."""
        with _SEEN:
            self.stop()
            self.say()
            self.forget()

    def stop(self) -> None:
        """Count no more."""
        self.active = False
        clients.stop("watch")

    # -- what leaves the process

    def to_record(self, method: str, host: str, path: str) -> ModelRequestSeen | None:
        """A request is about to be sent: what it asks a model for, if it is to be recorded from the
        wire. Else it is counted, where nothing records it."""
        if method in COSTING and current_call() is not None:  # nearly always, and cheap to know
            self.recorded += 1
            return None
        request = seen(method, host, path)
        if request is None:
            return None
        if is_covered():
            self.recorded += 1
            return None
        if is_excluded(request.library):
            return None
        if tracer.on and method != "WEBSOCKET" and config.active().record_http:
            self.recorded += 1
            return request
        if self.active:
            self.count(request.library, host + _WEBSOCKET * (method == "WEBSOCKET"))
        return None

    def missed(self, host: str) -> None:
        """A model is asked over gRPC, which is not read."""
        library = sender(inspect.currentframe())
        if is_covered():
            self.recorded += 1
        elif self.active and not is_excluded(library):
            self.count(library, f"{host}{_GRPC}")

    def unread(self, library: str, host: str, encoding: str) -> None:
        """An answer comes in an encoding that nothing here undoes: its record lacks it."""
        if self.active:
            name = "".join(letter if letter in _TOKEN else "?" for letter in encoding[:_MAX_NAME])
            self.count(library, f"{host}{_PACKED}{name}")

    def started(self, command: Any) -> None:
        """A process was started."""
        agent = agent_program(command) if self.active else ""
        if not agent:
            return
        # With the instrumentors, when they are asked for.
        from turnspan import instrumentation

        if not instrumentation.is_left_to_others(f"{agent}_agent_sdk"):
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
        of_all = f" {self.recorded:,} were recorded." if self.recorded else ""
        logger.warning("%s%s.%s", told[:1].upper() + told[1:], more, of_all)

    def forget(self) -> None:
        """Forget what was seen."""
        with self._lock:
            self._found.clear()
            self.recorded = 0

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        self._found = {}  # the parent's to tell


watch = Watch()
"""The process's watch."""


def is_excluded(library: str) -> bool:
    """Whether nobody is to record this library."""
    # With the instrumentors, when they are asked for.
    from turnspan import instrumentation

    return bool(library) and instrumentation.is_excluded(library)


def remedy(library: str, host: str) -> str:
    """What would have recorded a request."""
    if host == PROCESS:
        if f"{library}_agent_sdk" in sys.modules:
            return _BY_HAND
        return "it may send its spans over OTLP to turnspan receive (docs/receive.md)"
    if host.endswith((_WEBSOCKET, _GRPC)):
        return _BY_HAND
    if _PACKED in host:
        package = _UNPACKERS.get(host.partition(_PACKED)[2])
        install = f"install {package}, or " if package else ""
        return f"{install}send Accept-Encoding: gzip"
    if not config.active().record_http:
        return "set TURNSPAN_RECORD_HTTP=true"
    return "call turnspan.instrument()"
