"""The clients through which requests leave a process, and when their wrappers are on."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Final

from turnspan.patching.patches import Patches
from turnspan.runtime.guard import guard

_PATCH: Final = guard("wire.patch")

_MODULES: Final = {
    "httpx": "turnspan.wire.httpx_client",
    "httpx2": "turnspan.wire.httpx_client",
    "httpcore": "turnspan.wire.httpcore_pool",
    "httpcore2": "turnspan.wire.httpcore_pool",
    "http.client": "turnspan.wire.http_connection",
    "aiohttp.client": "turnspan.wire.aiohttp_session",
    "grpc._channel": "turnspan.wire.unread_clients",
    "grpc.aio._channel": "turnspan.wire.unread_clients",
    "websockets.client": "turnspan.wire.unread_clients",
    "subprocess": "turnspan.wire.unread_clients",
}
"""What wraps a module once the application has imported it."""


class Clients:
    """The wrappers of all clients: on while anybody wants them."""

    def __init__(self) -> None:
        self._wanting: set[str] = set()
        self._waiting: set[str] = set()
        self._patches: Patches | None = None

    def start(self, who: str) -> None:
        """Put the wrappers on the clients imported now and later. Imports none; never raises."""
        first = not self._wanting
        self._wanting.add(who)
        if first:
            self._patches = Patches()
            for module in _MODULES:
                self._start(module)

    def _start(self, module: str) -> None:
        with _PATCH:
            if module in sys.modules:
                self._patch(module)
            elif module not in self._waiting:  # such a hook cannot be taken back
                import wrapt

                self._waiting.add(module)
                wrapt.register_post_import_hook(lambda _: self._patch(module), module)

    def _patch(self, module: str) -> None:
        with _PATCH:
            if self._patches is not None:
                import_module(_MODULES[module]).patch(module, self._patches)

    def stop(self, who: str) -> None:
        """Give the clients their functions back, once nobody wants the wrappers."""
        self._wanting.discard(who)
        if not self._wanting and self._patches is not None:
            self._patches.restore()
            self._patches = None


clients = Clients()
"""The process's."""
