from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.rerun_protocol import ProtocolServer, protocol_server, rerun_here
from turnspan.testing import ModelServer, Reply


@pytest.fixture
def protocol() -> Iterator[ProtocolServer]:
    """A rerun's server; what it answers of models repeats what it was asked."""
    with (
        ModelServer(lambda asked: Reply(f"said to {asked.messages[-1:]}")) as models,
        protocol_server(models) as server,
    ):
        yield server


@pytest.fixture
def rerun(protocol: ProtocolServer) -> Iterator[ProtocolServer]:
    """The same, and a rerun in this process."""
    with rerun_here(protocol.environment()):
        yield protocol
