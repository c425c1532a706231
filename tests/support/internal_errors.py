"""A test fails when Turnspan swallowed an error of its own while it ran.

In an application such errors cost a piece of telemetry and are counted; in a test each one is a
bug. A test that provokes them is marked ``tests_internal_errors`` and asserts on them itself.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator

import pytest

from turnspan.runtime.guard import errors


@pytest.fixture(autouse=True)
def no_internal_errors(request: pytest.FixtureRequest) -> Iterator[None]:
    """Set up before and checked after every other fixture, so that their teardown counts too."""
    errors.reset()
    yield
    counts, last = errors.counts(), errors.last
    errors.reset()
    if counts and request.node.get_closest_marker("tests_internal_errors") is None:
        detail = "".join(traceback.format_exception(last)) if last is not None else ""
        pytest.fail(f"Turnspan swallowed {counts}; the last was:\n{detail}", pytrace=False)
