"""Requests of httpcore, through which httpx sends, go to a rerun's server.

A redirected request has a pool of its own: the application's may lead through a proxy or TLS.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from turnspan.patching.patches import Args, Function, Kwargs
from turnspan.wire.rerunning.inner_patches import ModulePatches, unwrapped
from turnspan.wire.rerunning.redirects import redirects
from turnspan.wire.rerunning.server_client import HOST

_KEPT: Final = ("timeout", "trace")
"""The extensions of a request that are not about its own connection."""


class HttpPools:
    """The wrappers of one library of this kind."""

    def __init__(self, module: str) -> None:
        self._module = module

    @property
    def patches(self) -> ModulePatches:
        """The wrappers."""
        sync, later = "ConnectionPool.handle_request", "AsyncConnectionPool.handle_async_request"
        return {self._module: {sync: self.send, later: self.asend}}

    def send(self, wrapped: Function, pool: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``handle_request``."""
        request = args[0] if args else kwargs["request"]
        redirected = self._redirected(request)
        if redirected is None:
            return wrapped(*args, **kwargs)
        own = sys.modules[self._module].ConnectionPool(max_keepalive_connections=0)
        return unwrapped(wrapped)(own, redirected)

    async def asend(self, wrapped: Function, pool: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``handle_async_request``."""
        request = args[0] if args else kwargs["request"]
        redirected = self._redirected(request)
        if redirected is None:
            return await wrapped(*args, **kwargs)
        own = sys.modules[self._module].AsyncConnectionPool(max_keepalive_connections=0)
        return await unwrapped(wrapped)(own, redirected)

    def _redirected(self, request: Any) -> Any:
        """The request as the server gets it; ``None`` if it is none of a model's."""
        url = request.url
        scheme, host = url.scheme.decode("ascii"), url.host.decode("ascii")
        target, headers = url.target.decode("ascii"), request.headers
        socket = any(name.lower() == b"upgrade" for name, _ in headers)
        method = "WEBSOCKET" if socket else request.method.decode("ascii")
        more = redirects.headers(method, scheme, host, url.port, target)
        if more is None:
            return None
        library = sys.modules[self._module]
        own = [(name.encode(), value.encode()) for name, value in more.items()]
        return library.Request(
            request.method,
            library.URL(scheme=b"http", host=HOST, port=redirects.port, target=url.target),
            headers=[*headers, *own],
            content=request.stream,
            extensions={key: request.extensions[key] for key in _KEPT if key in request.extensions},
        )
