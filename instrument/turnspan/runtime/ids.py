"""Ids from the operating system's random source: ``random.seed(0)`` in an application, or a fork,
never makes two spans share one (the SDK's default generator uses ``random``)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider


class SecureIdGenerator(IdGenerator):
    """Trace and span ids from ``os.urandom``; never zero, which OpenTelemetry reserves."""

    def generate_trace_id(self) -> int:
        """A 128-bit id."""
        return int.from_bytes(os.urandom(16), "big") or self.generate_trace_id()

    def generate_span_id(self) -> int:
        """A 64-bit id."""
        return int.from_bytes(os.urandom(8), "big") or self.generate_span_id()

    def is_trace_id_random(self) -> bool:
        """All bits are random, which samplers of other services may rely on."""
        return True


def secure(provider: TracerProvider) -> None:
    """Give a provider that draws its ids from ``random`` (the SDK's default) ours instead.

    Tracers that the provider made before keep what they have; a generator of the application's own
    choice is left alone.
    """
    generator = provider.id_generator
    if type(generator) is RandomIdGenerator:
        provider.id_generator = SecureIdGenerator()  # type: ignore[assignment]  # the stub is narrow
