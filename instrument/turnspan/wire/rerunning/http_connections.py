"""Requests of ``http.client`` go to a rerun's server: those of urllib, urllib3, requests, botocore.

These libraries connect before the request is known. In a rerun a connection gets a socket that is
not connected; when a request begins, the connection is made: to the server for a model's request,
else to where it is for.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from turnspan.patching.patches import Args, Function, Kwargs
from turnspan.wire.rerunning.inner_patches import ModulePatches
from turnspan.wire.rerunning.redirects import redirects
from turnspan.wire.rerunning.server_client import HOST

_REDIRECTED: Final = "_turnspan_redirected"
_CONNECTING: Final = "_turnspan_connecting"


class UnconnectedSocket(socket.socket):
    """Stands for the connection until the request is known."""

    connect_later: Callable[[], object]
    """Makes the connection that was asked for."""


def connect(wrapped: Function, connection: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around ``connect``."""
    if redirects.server is None or connection.__dict__.get(_CONNECTING):
        return wrapped(*args, **kwargs)
    connection.sock = unconnected = UnconnectedSocket()
    unconnected.connect_later = partial(wrapped, *args, **kwargs)
    if hasattr(connection, "is_verified"):  # urllib3 warns of a connection without a certificate
        connection.is_verified = True
    return None


def putrequest(wrapped: Function, connection: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around ``putrequest``: a request begins."""
    own = connection.__dict__
    if own.pop(_REDIRECTED, None) is connection.sock is not None:
        _replace(connection, None)
    method = args[0] if args else kwargs["method"]
    target = args[1] if len(args) > 1 else kwargs["url"]
    more = _headers(connection, str(method), target)
    if more is None:
        _connect(connection)
        return wrapped(*args, **kwargs)
    seconds = connection.timeout if isinstance(connection.timeout, (int, float)) else None
    _replace(connection, socket.create_connection((HOST, redirects.port), seconds))
    own[_REDIRECTED] = connection.sock
    result = wrapped(*args, **kwargs)
    for name, value in more.items():
        connection.putheader(name, value)
    return result


def _headers(connection: Any, method: str, target: Any) -> dict[str, str] | None:
    path = target if isinstance(target, str) else target.decode("ascii", "replace")
    scheme = "https" if connection.default_port == 443 else "http"
    host, port = connection.host, connection.port
    if getattr(connection, "_tunnel_host", None):
        host, port, scheme = connection._tunnel_host, connection._tunnel_port, "https"
    elif path.startswith(("http://", "https://")):  # to a proxy
        parts = urlsplit(path)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    return redirects.headers(method, scheme, str(host), port, path)


def _connect(connection: Any) -> None:
    """Make the connection that was asked for, as far as one was."""
    if redirects.server is not None and connection.sock is None and connection.auto_open:
        connection.connect()
    waiting = connection.sock
    if not isinstance(waiting, UnconnectedSocket):
        return
    _replace(connection, None)
    connection.__dict__[_CONNECTING] = True
    try:
        waiting.connect_later()
    finally:
        del connection.__dict__[_CONNECTING]


def _replace(connection: Any, other: socket.socket | None) -> None:
    before = connection.sock
    connection.sock = other
    if before is not None:
        before.close()


_CONNECTS: Final = {"HTTPConnection.connect": connect, "HTTPSConnection.connect": connect}
PATCHES: Final[ModulePatches] = {
    "http.client": {**_CONNECTS, "HTTPConnection.putrequest": putrequest},
    "urllib3.connection": _CONNECTS,
    "httplib2": {
        "HTTPConnectionWithTimeout.connect": connect,
        "HTTPSConnectionWithTimeout.connect": connect,
    },
}
