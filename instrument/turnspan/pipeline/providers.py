"""The TracerProviders that a recorder's processors are on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnspan.runtime.guard import guard
from turnspan.runtime.otel_private import remove_processor

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider


class Providers:
    """The one in use, and those that were made for the recorder before."""

    def __init__(self) -> None:
        self.made: list[TracerProvider] = []
        """Made here. The newest is in use; the others may still be, by tracers that somebody
        kept."""
        self.current: TracerProvider | None = None

    def use(self, provider: TracerProvider, *, owned: bool) -> None:
        """Record under this provider; ``owned``: it was made here."""
        self.current = provider
        if owned:
            self.made.append(provider)

    def add(self, processor: SpanProcessor) -> None:
        """Put a processor on all of them."""
        for provider in self._all():
            provider.add_span_processor(processor)

    def remove(self, processor: SpanProcessor) -> None:
        """Take a processor off all of them."""
        for provider in self._all():
            with guard("recorder.remove"):
                remove_processor(provider, processor)

    def _all(self) -> list[TracerProvider]:
        current = self.current
        if current is None or current in self.made:
            return list(self.made)
        return [*self.made, current]
