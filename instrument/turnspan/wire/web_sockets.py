"""The library ``websockets``: a connection to a model is counted, what it carries is not read."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from turnspan.patching.patches import Args, Function, Kwargs, Patches
from turnspan.runtime.guard import guard
from turnspan.wire.gaps import watch

_CONNECT: Final = guard("wire.websockets")


def connect(wrapped: Function, protocol: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around the making of the opening request."""
    with _CONNECT:
        uri: Any = protocol.uri
        watch.to_record("WEBSOCKET", uri.host, urlsplit(str(uri.path)).path)
    return wrapped(*args, **kwargs)


def patch(patches: Patches) -> None:
    """Put the wrapper on."""
    patches.wrap("websockets.client", "ClientProtocol.connect", connect)
