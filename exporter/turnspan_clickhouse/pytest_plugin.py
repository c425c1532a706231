"""What pytest finds when Turnspan is installed: the fixtures of ``turnspan.testing``.

Every run of pytest in such an environment loads this module, so it loads nothing but pytest (which
is why it is not in ``turnspan``, whose import brings OpenTelemetry's API) until a test asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from turnspan.testing import ModelServer, Recorded


@pytest.fixture
def turnspan_recorded(request: pytest.FixtureRequest) -> Iterator[Recorded]:
    """What Turnspan records while the test runs, in memory and nowhere else; where the test fails,
    the conversation is part of its report."""
    # Only for a test that asks for it: pytest loads this module everywhere.
    from turnspan.testing import record

    with record() as recorded:
        yield recorded
    request.node.add_report_section("teardown", "turnspan", recorded.show())


@pytest.fixture
def turnspan_model() -> Iterator[ModelServer]:
    """A model provider on this machine, for the real SDKs: ``base_url=turnspan_model.url``.

    A test that leaves queued answers unasked for fails.
    """
    # As above.
    from turnspan.testing import ModelServer

    with ModelServer() as server:
        yield server
        if server.waiting:
            pytest.fail(f"{server.waiting} queued answers of turnspan_model were never asked for")
