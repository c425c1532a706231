"""Ids from the operating system's random source: ``random.seed(0)`` in an application, or a fork,
never makes two spans share one (the SDK's default generator uses ``random``)."""

from __future__ import annotations

import os

from opentelemetry.sdk.trace.id_generator import IdGenerator


class SecureIdGenerator(IdGenerator):
    """Trace and span ids from ``os.urandom``; never zero, which OpenTelemetry reserves."""

    def generate_trace_id(self) -> int:
        """A 128-bit id."""
        return int.from_bytes(os.urandom(16), "big") or self.generate_trace_id()

    def generate_span_id(self) -> int:
        """A 64-bit id."""
        return int.from_bytes(os.urandom(8), "big") or self.generate_span_id()
