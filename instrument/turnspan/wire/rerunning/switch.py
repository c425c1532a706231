"""Switches a rerun on and off in this process."""

from __future__ import annotations

import os
import threading
from typing import Final

from turnspan.runtime import rerun_scope
from turnspan.runtime.errors import ConfigError
from turnspan.tracing import tool_answers
from turnspan.wire.rerunning import aiohttp_requests, http_connections, native_clients
from turnspan.wire.rerunning.environment import SERVER, RerunEnvironment
from turnspan.wire.rerunning.http_pools import HttpPools
from turnspan.wire.rerunning.inner_patches import put_when_imported
from turnspan.wire.rerunning.network import network
from turnspan.wire.rerunning.processes import PATCHES, processes
from turnspan.wire.rerunning.recorded_tools import RecordedTools
from turnspan.wire.rerunning.redirects import redirects
from turnspan.wire.rerunning.server_client import ServerClient

_lock = threading.Lock()
_PATCHES: Final = (
    *(HttpPools(module).patches for module in ("httpcore", "httpcore2")),
    *(http_connections.PATCHES, aiohttp_requests.PATCHES, native_clients.PATCHES),
    PATCHES,
)


def begin(environment: RerunEnvironment) -> dict[str, str | None]:
    """Play a recording in this process from now on, and in those that it starts.

    Returns:
        What ``end`` takes back: the environment variables as they were.

    Raises:
        ConfigError: a rerun is under way in this process.
    """
    with _lock:
        if rerun_scope.scope is not None:
            raise ConfigError("a rerun is under way in this process: end it before the next one")
        rerun_scope.scope = rerun_scope.RerunScope(environment.rerun_id, environment.attributes())
    variables = environment.variables(os.environ)
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    server = ServerClient(environment)
    redirects.begin(server)
    for patches in _PATCHES:
        put_when_imported(patches)
    tool_answers.answers = RecordedTools(server)
    network.begin(network=environment.network)
    processes.begin(environment)
    return before


def end(before: dict[str, str | None]) -> None:
    """End the rerun that ``begin`` began: requests and tools go where they are for."""
    processes.end()
    network.end()
    tool_answers.answers = None
    redirects.end()
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    rerun_scope.scope = None


def begin_from_environment() -> None:
    """Begin the rerun that the environment variables name, if they name one.

    Raises:
        ConfigError: they are malformed; the text says which.
    """
    if SERVER in os.environ and rerun_scope.scope is None:
        begin(RerunEnvironment.read(os.environ))
