"""The tracer under which requests are recorded from the wire."""

from __future__ import annotations

from typing import Any

from opentelemetry.trace import Tracer

from turnspan import semconv
from turnspan._version import __version__
from turnspan.tracing.otel_fast import tracer_of


class WireTracer:
    """The tracer, while requests are to be recorded."""

    def __init__(self) -> None:
        self.on = False
        self._tracer: Tracer | None = None

    def use(self, provider: Any) -> None:
        """Record under this provider; ``None``: under the global one."""
        self._tracer = tracer_of(semconv.SCOPE_WIRE, provider, __version__)

    def __call__(self) -> Tracer:
        """The tracer."""
        if self._tracer is None:
            self.use(None)
        assert self._tracer is not None
        return self._tracer


tracer = WireTracer()
"""The process's."""
