"""Finished spans on their way out: OpenTelemetry's providers, the queue, other backends, and the
ways a process ends."""
