"""Clients that connect below Python's sockets: a rerun refuses what they would send elsewhere.

A model that is asked by one of them, or by a WebSocket, is refused in every rerun: there is no
request that a server could answer.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from turnspan.patching.models_on_the_wire import is_provider
from turnspan.patching.patches import Args, Function, Kwargs
from turnspan.wire.operations import asks_a_model_anywhere
from turnspan.wire.rerunning.inner_patches import ModulePatches
from turnspan.wire.rerunning.network import network
from turnspan.wire.rerunning.redirects import WEBSOCKET, redirects

_LOCAL: Final = ("unix:", "unix-abstract:", "vsock:")
_URL_OPTION: Final = 10_002
"""libcurl's CURLOPT_URL."""


def open_channel(wrapped: Function, channel: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around the making of a gRPC channel."""
    target = args[0] if args else kwargs.get("target")
    name = target.decode() if isinstance(target, bytes) else str(target)
    if redirects.server is not None and not name.startswith(_LOCAL):
        for kind in ("ipv4:", "ipv6:", "dns:"):
            name = name.removeprefix(kind)
        _check(urlsplit(f"//{name.rpartition('/')[2]}"), "gRPC")
    return wrapped(*args, **kwargs)


def set_option(wrapped: Function, curl: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around ``Curl.setopt``, which names the address of a request."""
    if redirects.server is not None and len(args) > 1 and int(args[0]) == _URL_OPTION:
        url = args[1].decode("utf-8", "replace") if isinstance(args[1], bytes) else str(args[1])
        _check(urlsplit(url), "libcurl")
    return wrapped(*args, **kwargs)


def open_socket(wrapped: Function, protocol: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around the opening request of the library ``websockets``."""
    uri = protocol.uri
    redirects.headers(WEBSOCKET, "wss", uri.host, uri.port, str(uri.path))
    return wrapped(*args, **kwargs)


async def connect_loop(wrapped: Function, loop: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around uvloop's connections, which no audit hook sees."""
    host = kwargs.get("host", args[1] if len(args) > 1 else None)
    if host:
        network.check(str(host), kwargs.get("port", args[2] if len(args) > 2 else None))
    return await wrapped(*args, **kwargs)


def _check(parts: Any, kind: str) -> None:
    host = parts.hostname or ""
    if is_provider(host) or asks_a_model_anywhere("POST", parts.path or "/"):
        redirects.refuse_model(f"{kind} to {host}")
    network.check(host, parts.port)


PATCHES: Final[ModulePatches] = {
    "grpc._channel": {"Channel.__init__": open_channel},
    "grpc.aio._channel": {"Channel.__init__": open_channel},
    "curl_cffi.curl": {"Curl.setopt": set_option},
    "websockets.client": {"ClientProtocol.connect": open_socket},
    "uvloop": {"Loop.create_connection": connect_loop},
}
