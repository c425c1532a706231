"""Requests of aiohttp go to a rerun's server.

A session's connector makes the connection, to an address that the request names for that time; the
answer keeps the address that was asked for.
"""

from __future__ import annotations

import sys
from typing import Any, Final
from urllib.parse import urlsplit

from turnspan.patching.patches import Args, Function, Kwargs
from turnspan.runtime.type_guards import kind_of
from turnspan.wire.rerunning.inner_patches import ModulePatches
from turnspan.wire.rerunning.redirects import WEBSOCKET, redirects
from turnspan.wire.rerunning.server_client import HOST


async def connect(wrapped: Function, connector: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around ``BaseConnector.connect``, which finds the connection for a request."""
    request = args[0] if args else kwargs["req"]
    url: Any = request.url
    kind: Any = kind_of(url)
    more = redirects.headers(request.method, url.scheme, url.host or "", url.port, url.raw_path_qs)
    if more is None:
        return await wrapped(*args, **kwargs)
    request.headers.update(more)
    request.update_proxy(None, None, None)
    request.url = kind.build(scheme="http", host=HOST, port=redirects.port)
    plain = sys.modules["aiohttp.connector"].TCPConnector
    try:
        if isinstance(connector, plain):
            return await wrapped(*args, **kwargs)
        # A Unix socket's leads elsewhere. The connection closes with the answer.
        return await plain(force_close=True).connect(*args, **kwargs)
    finally:
        request.url = url


async def open_socket(wrapped: Function, session: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around the opening of a WebSocket."""
    url = urlsplit(str(args[0] if args else kwargs.get("url")))
    redirects.headers(WEBSOCKET, url.scheme, url.hostname or "", url.port, url.path)
    return await wrapped(*args, **kwargs)


PATCHES: Final[ModulePatches] = {
    "aiohttp.connector": {"BaseConnector.connect": connect},
    "aiohttp.client": {"ClientSession._ws_connect": open_socket},
}
