"""Recording requests to models from the wire, as ``turnspan.instrument()`` switches it on."""

from __future__ import annotations

from typing import Any

from opentelemetry import trace

from turnspan import config
from turnspan.patching.light_instrumentor import PythonInstrumentor
from turnspan.wire.clients import clients
from turnspan.wire.tracer import tracer


class HttpInstrumentor(PythonInstrumentor):
    """Records requests that go to a model by any HTTP client and are in no other record."""

    package = "http"
    _given = False

    @property
    def refusal(self) -> str:
        """Why it is off."""
        return "" if config.active().record_http else "switched off by TURNSPAN_RECORD_HTTP"

    def use_default_provider(self, provider: trace.TracerProvider | None) -> None:
        """Record under this provider, unless ``instrument`` was given another."""
        if not self._given:
            tracer.use(provider)

    def _instrument(self, **kwargs: Any) -> None:
        given = kwargs.get("tracer_provider")
        self._given = given is not None
        tracer.use(given)
        tracer.on = True
        clients.start("instrument")

    def _uninstrument(self, **kwargs: Any) -> None:
        tracer.on = False
        clients.stop("instrument")
