"""Content is recorded by every package, and each test begins and ends uninstrumented."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from foreign.exchange import Rows, ask_anthropic, ask_openai, run
from foreign.stub import serving
from turnspan import config
from turnspan.runtime.guard import errors
from turnspan.tracing.state import default

pytest_plugins = ("support.imported_modules",)

os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
os.environ["ANTHROPIC_OPEN_TELEMETRY"] = "false"  # it would trace itself beside the packages


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """The provider's stand-in."""
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def ours(url: str) -> dict[str, Rows]:
    """The exchange as our own instrumentors record it, by SDK.

    Before any other package patches an SDK: OpenInference's leaves the client classes of OpenAI
    with a ``request`` of their own behind, which no longer follows their base class.
    """
    return {
        "openai": run(
            "turnspan.providers.openai.instrumentor", "OpenAIInstrumentor", ask_openai, url
        ),
        "anthropic": run(
            "turnspan.providers.anthropic.instrumentor", "AnthropicInstrumentor", ask_anthropic, url
        ),
    }


@pytest.fixture(autouse=True)
def recorded(ours: dict[str, Rows]) -> Iterator[None]:
    """Default settings, somebody who takes the content, and nothing swallowed."""
    errors.reset()
    config.activate(config.resolve({}, {}))
    default.content.attach()
    yield
    default.content.detach()
    assert errors.counts() == {}
