"""What pytest finds when Turnspan is installed: the fixtures of ``turnspan.testing``.

Every run of pytest in such an environment loads this module, so it loads nothing but pytest (which
is why it is not in ``turnspan``, whose import brings OpenTelemetry's API) until a test asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

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


@pytest.fixture
def turnspan_rerun(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """``turnspan_rerun(recording, ...)``, with the arguments of ``turnspan.rerun``, plays a
    recording to the rest of the test; returns the server. A test whose requests or tool calls
    diverge from the recording fails.
    """
    # As above.
    import turnspan

    with ExitStack() as opened:
        servers: list[Any] = []

        def play(recording: Any, **options: Any) -> Any:
            servers.append(opened.enter_context(turnspan.rerun(recording, **options)))
            return servers[-1]

        yield play
        diverged = [str(one) for server in servers for one in server.report().divergences]
    if diverged:
        pytest.fail("\n".join(diverged), pytrace=False)
