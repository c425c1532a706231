"""httpcore (and httpcore2), where an application sends through it and not through httpx."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from turnspan.patching.patches import Args, Kwargs, Patches
from turnspan.wire.client_frame import ClientFrame, UnderWay, is_sent_by_httpx
from turnspan.wire.exchange import SentRequest
from turnspan.wire.gaps import watch
from turnspan.wire.httpx_client import AsyncReadAlong, SyncReadAlong


class HttpcorePool(ClientFrame):
    """Around ``handle_request`` of a pool and its asynchronous twin."""

    place = "wire.httpcore"

    def _begin(self, owner: Any, args: Args, kwargs: Kwargs, /) -> tuple[UnderWay, Kwargs] | None:
        request = args[0] if args else kwargs["request"]
        if request.method != b"POST" or is_sent_by_httpx():
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


def patch(module: str, patches: Patches) -> None:
    """Put the wrappers on a library of this name."""
    pool = HttpcorePool()
    for name in ("ConnectionPool", "HTTPProxy", "SOCKSProxy"):
        if patches.has(module, f"{name}.handle_request"):
            patches.wrap(module, f"{name}.handle_request", pool.call)
    for name in ("AsyncConnectionPool", "AsyncHTTPProxy", "AsyncSOCKSProxy"):
        if patches.has(module, f"{name}.handle_async_request"):
            patches.wrap(module, f"{name}.handle_async_request", pool.acall)
