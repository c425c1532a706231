"""What one test configures is not in force in the next, and what all tests run with."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnspan import config
from turnspan.tracing import otel_fast

AUTHORITY = Path(__file__).parents[1] / "data" / "authority.pem"
"""A certificate that signed nothing."""

WITHOUT_SDKS = {"OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "*"}
"""With these variables `turnspan doctor` imports no SDK, which takes 5 s of a processor."""


def pytest_configure() -> None:
    """No test connects over TLS, but every client of an SDK loads the authorities that it trusts:
    one instead of the machine's 140 takes 0.4 ms instead of 18, in the tests' processes as well."""
    os.environ["SSL_CERT_FILE"] = str(AUTHORITY)
    os.environ.pop("SSL_CERT_DIR", None)


@pytest.fixture(autouse=True)
def settings_stay_with_their_test() -> Iterator[None]:
    """``shutdown`` leaves the settings that ``configure`` has put in force, and spans of a process
    that never called it stay counted."""
    before = config.of_process()
    otel_fast.unconfigured.spans = 0  # of tests that record nothing, and say nothing of it
    yield
    if config.of_process() is not before:
        config.activate(before)


@pytest.fixture(autouse=True)
def instrumentation_stays_with_its_test() -> Iterator[None]:
    """What a test leaves on decides whether ``record`` of a later one instruments, and so whether a
    call is ours or an SDK's own span."""
    before = _instrumented()
    yield
    if left := _instrumented() - before:
        sys.modules["turnspan.instrumentation"].uninstrument()
        pytest.fail(f"it leaves {', '.join(sorted(left))} instrumented", pytrace=False)


def _instrumented() -> set[str]:
    """What is instrumented now, ours and others', without importing an instrumentor."""
    module = sys.modules.get("turnspan.instrumentation")
    if module is None:
        return set()
    ours = {name for name, one in module._loaded() if one.is_instrumented_by_opentelemetry}
    return ours | set(module._enabled)
