"""Fixtures shared by every area; they live in ``tests/support``."""

from __future__ import annotations

import pytest

pytest_plugins = (
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
    "support.stores",
    "support.traces",
)

_SHORT = frozenset({"content", "emit", "no_code", "privacy", "providers", "testing"})


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on two servers are of `make release-check`. The areas whose files take seconds come
    last: then no process of a parallel run is still at a long file when the others are done."""
    for item in items:
        if isinstance(item, pytest.Function) and "cluster" in item.fixturenames:
            item.add_marker(pytest.mark.release)
    items.sort(key=lambda item: item.path.parent.name in _SHORT)
