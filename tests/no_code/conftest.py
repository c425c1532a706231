"""Undecorated calls of both SDKs, and the rows that they land as."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from opentelemetry.sdk.trace import TracerProvider

from no_code.talks import Model
from support.normalised import Rows, provider
from turnspan.providers.anthropic.instrumentor import AnthropicInstrumentor
from turnspan.providers.openai.instrumentor import OpenAIInstrumentor
from turnspan.tracing.state import default


@dataclass
class Stage:
    """A model to talk to, what became of it, and where other spans come from."""

    model: Model
    rows: Rows
    provider: TracerProvider


@pytest.fixture
def stage() -> Iterator[Stage]:
    """Both SDKs, instrumented; what is decorated is recorded as well."""
    rows = Rows()
    made = provider(rows)
    instrumentors = (OpenAIInstrumentor(), AnthropicInstrumentor())
    default.content.attach()
    default.provider = made
    for each in instrumentors:
        each.instrument(tracer_provider=made)
    try:
        yield Stage(Model(), rows, made)
    finally:
        for each in instrumentors:
            each.uninstrument()
        default.provider = None
        made.shutdown()
        default.content.detach()
