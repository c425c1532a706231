"""The results of a run, printed at its end and written down after one of everything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stacks.table import Results, write


@pytest.fixture(scope="session")
def results(request: pytest.FixtureRequest) -> Iterator[Results]:
    """What became of the cells that were played."""
    yield request.config.stash[_RESULTS]


_RESULTS: pytest.StashKey[Results] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Begin with no results."""
    config.stash[_RESULTS] = Results()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table; write it where every cell was played."""
    found = terminalreporter.config.stash[_RESULTS]
    if found.played:
        terminalreporter.write_line(found.text())
        write(found)
