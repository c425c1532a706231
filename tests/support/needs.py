"""``@pytest.mark.needs("module:Class.function(parameter)", ...)``: what a test asks of the SDKs.

Tests run against the newest supported SDKs and once more against the oldest, which lack some of
what is tested. There, and only there, such a test is skipped, with what is missing as the reason:
``-o oldest_sdks=true`` allows it. Otherwise a missing part fails the test.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

_PART = re.compile(r"(?P<module>[\w.]+)(:(?P<path>[\w.]+)(\((?P<parameter>\w+)\))?)?")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The switch of the environment with the oldest SDKs."""
    parser.addini("oldest_sdks", "skip what the oldest supported SDKs lack", "bool", default=False)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip or fail a test that needs what is not there."""
    lacking = [part for mark in item.iter_markers("needs") for part in missing(mark.args)]
    if not lacking:
        return
    reason = f"these SDKs have no {', '.join(lacking)}"
    if item.config.getini("oldest_sdks"):
        pytest.skip(reason)
    pytest.fail(reason, pytrace=False)


def missing(parts: tuple[str, ...]) -> Iterator[str]:
    """Those parts that are not there."""
    for part in parts:
        if not _there(part):
            yield part


def _there(part: str) -> bool:
    asked = _PART.fullmatch(part)
    assert asked is not None, f"not a module:Class.function(parameter): {part}"
    try:
        found: Any = import_module(asked["module"])
    except ModuleNotFoundError:
        return False
    for name in (asked["path"] or "").split("."):
        if name:
            # A module of the SDKs may import what it has only when asked for it.
            look_up = getattr if inspect.ismodule(found) else inspect.getattr_static
            found = look_up(found, name, None)
            if found is None:
                return False
    return not asked["parameter"] or asked["parameter"] in inspect.signature(found).parameters
