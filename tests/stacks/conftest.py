"""The results of a run, printed at its end and written down after one of everything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stacks.matrix import cells, in_ci
from stacks.table import Results, write


@pytest.fixture(scope="session")
def results(request: pytest.FixtureRequest) -> Iterator[Results]:
    """What became of the cells that were played."""
    yield request.config.stash[_RESULTS]


_RESULTS: pytest.StashKey[Results] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--ci``: only as many as fit in CI."""
    parser.addoption("--ci", action="store_true", help="the cells that CI plays")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what CI does not play."""
    if config.getoption("--ci"):
        chosen = tuple(f"[{cell.id}]" for cell in cells() if in_ci(cell))
        items[:] = [item for item in items if item.name.endswith(chosen) or _is_of_llm(item)]


def _is_of_llm(item: pytest.Item) -> bool:
    return item.path.stem.startswith("test_llm")


def pytest_configure(config: pytest.Config) -> None:
    """Begin with no results."""
    config.stash[_RESULTS] = Results()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table; write it where every cell was played."""
    found = terminalreporter.config.stash[_RESULTS]
    if found.played:
        terminalreporter.write_line(found.text())
        write(found)
