"""Traces that were exported: OTLP, and what other observability tools write of theirs."""
