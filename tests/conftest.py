"""Fixtures shared by every area; they live in ``tests/support``."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest

from support.representatives import one_kind_of_store

pytest_plugins = (
    "support.imported_modules",
    "support.cassette_table",
    "support.cluster",
    "support.databases",
    "support.demo_records",
    "support.deployment",
    "support.internal_errors",
    "support.mediawiki",
    "support.needs",
    "support.replay_table",
    "support.settings",
    "support.shared",
    "support.seams",
    "support.stores",
    "support.traces",
)

PAGE = "tests/page/"
_SHORT = frozenset({"content", "emit", "no_code", "privacy", "providers", "testing"})


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on two servers, and what asks the same of a second kind of store, are of
    `make release-check`. The page's come first, which take one process half of a parallel run, and
    the areas whose files take seconds last: then none is still busy when the others are done."""
    tests = [item for item in items if isinstance(item, pytest.Function)]
    for item in tests:
        if "cluster" in item.fixturenames:
            item.add_marker(pytest.mark.release)
    one_kind_of_store(tests)
    items.sort(
        key=lambda item: (item.path.parent.name in _SHORT) - (item.path.parent.name == "page")
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two more than cores: a test often waits for a process, a server or a browser."""
    return (os.cpu_count() or 1) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Each process of a parallel run gets whole files; the page's all go to one, which then is the
    only one with a browser, and with pages over the demo's records."""
    if config.getoption("dist") != "loadfile":
        return None
    scheduler: Any = importlib.import_module("xdist.scheduler").LoadFileScheduling(config, log)
    file_of = scheduler._split_scope

    def scope(test: str) -> str:
        return PAGE if test.startswith(PAGE) else str(file_of(test))

    scheduler._split_scope = scope
    return scheduler
