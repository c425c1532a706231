"""httpcore (and httpcore2), where an application sends through it and not through httpx."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from turnspan.patching.patches import Args, Kwargs, Patches
from turnspan.wire.client_frame import ClientFrame, UnderWay
from turnspan.wire.exchange import SentRequest
from turnspan.wire.gaps import watch
from turnspan.wire.httpx_client import AsyncReadAlong, SyncReadAlong

_DEPTH = 10


class HttpcorePool(ClientFrame):
    """Around ``handle_request`` of a pool and its asynchronous twin."""

    place = "wire.httpcore"

    def _begin(self, owner: Any, args: Args, kwargs: Kwargs, /) -> tuple[UnderWay, Kwargs] | None:
        request = args[0] if args else kwargs["request"]
        if request.method != b"POST" or _is_of_httpx():
            return None
        url = request.url
        host, path = url.host.decode("ascii"), url.target.decode("ascii")
        seen = watch.to_record("POST", host, path)
        if seen is None:
            return None
        body = getattr(request.stream, "_content", None)
        kind = _texts(request.headers).get("content-type", "")
        sent = SentRequest(seen, url.scheme.decode("ascii"), url.port, path, body, kind)
        return self._sent(sent, kwargs)

    def _answered(self, call: UnderWay, result: Any, /) -> None:
        body = call.answered(result.status, _texts(result.headers))
        kind = AsyncReadAlong if hasattr(result.stream, "__aiter__") else SyncReadAlong
        result.stream = kind(result.stream, body)


def _texts(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in headers}


def _is_of_httpx() -> bool:
    """Whether httpx sends this: its client was looked at."""
    frame = inspect.currentframe()
    for _ in range(_DEPTH):
        frame = frame.f_back if frame is not None else None
        if frame is None:
            return False
        if str(frame.f_globals.get("__name__")).startswith("httpx"):
            return True
    return False


def patch(module: str, patches: Patches) -> None:
    """Put the wrappers on a library of this name."""
    pool = HttpcorePool()
    for name in ("ConnectionPool", "HTTPProxy", "SOCKSProxy"):
        if patches.has(module, f"{name}.handle_request"):
            patches.wrap(module, f"{name}.handle_request", pool.call)
    for name in ("AsyncConnectionPool", "AsyncHTTPProxy", "AsyncSOCKSProxy"):
        if patches.has(module, f"{name}.handle_async_request"):
            patches.wrap(module, f"{name}.handle_async_request", pool.acall)
