"""The provider that counts, and the table of what it was asked and what became of it."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

from clients.counts import Counts
from clients.provider import Provider, provider

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch prices as it is imported
COUNTS = pytest.StashKey[Counts]()


@pytest.fixture(scope="session")
def counting() -> Generator[Provider]:
    """Counts requests."""
    with provider() as found:
        yield found


@pytest.fixture(scope="session")
def counts(request: pytest.FixtureRequest) -> Counts:
    """What each kind came to."""
    found = Counts()
    request.config.stash[COUNTS] = found
    return found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table."""
    found = terminalreporter.config.stash.get(COUNTS, None)
    if found is not None:
        terminalreporter.section("requests to models")
        for line in found.lines():
            terminalreporter.write_line(line)
