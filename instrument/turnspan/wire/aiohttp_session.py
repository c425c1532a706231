"""aiohttp: what a session sends, and the reader that an answer is read from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import wrapt

from turnspan.patching.patches import Args, Kwargs, Patches
from turnspan.runtime.guard import guard
from turnspan.wire.client_frame import ClientFrame, UnderWay, is_sent_by_httpx
from turnspan.wire.exchange import Body, SentRequest
from turnspan.wire.fetched_answers import FetchedAnswer
from turnspan.wire.gaps import watch

_READ = guard("wire.aiohttp.read")


class AiohttpSession(ClientFrame):
    """Around ``ClientSession._request``, through which every request goes."""

    place = "wire.aiohttp"

    def _begin(self, owner: Any, args: Args, kwargs: Kwargs, /) -> tuple[UnderWay, Kwargs] | None:
        method = str(args[0] if args else kwargs["method"]).upper()
        address = args[1] if len(args) > 1 else kwargs["str_or_url"]
        if method == "GET" or is_sent_by_httpx():
            return None
        base = getattr(owner, "_base_url", None)
        url = urlsplit(str(address if base is None else base.join(type(base)(str(address)))))
        host = url.hostname or ""
        path = f"{url.path}?{url.query}" if url.query else url.path
        seen = watch.to_record(method, host, path)
        if seen is None:
            return None
        body = kwargs.get("json")
        if body is None:
            data = kwargs.get("data")
            body = data if isinstance(data, (bytes, bytearray, str)) else None
        return self._sent(SentRequest(seen, url.scheme, url.port, path, body), kwargs)

    def _answered(self, call: UnderWay, result: Any, /) -> None:
        headers: Mapping[str, str] = result.headers
        lower = {key.lower(): value for key, value in headers.items()}
        if getattr(result.content, "total_compressed_bytes", 0) is not None:
            lower.pop("content-encoding", None)  # the reader's bytes are unpacked
        body = call.answered(result.status, lower)
        result.content = ReaderAlong(result.content, body)


def _read_along(name: str) -> Any:
    """The reader's asynchronous method of this name, whose bytes are read along."""

    async def read(reader: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            data: Any = await getattr(reader._self_reader, name)(*args, **kwargs)
        except BaseException as error:
            reader._self_body.finish(error)
            raise
        reader._self_note(data[0] if name == "readchunk" else data)  # it tells more than the bytes
        return data

    return read


class ReaderAlong(wrapt.ObjectProxy[Any]):
    """The reader of an answer: whatever is read by its methods is read along."""

    def __init__(self, reader: Any, body: Body | FetchedAnswer) -> None:
        super().__init__(reader)
        self._self_reader = reader
        self._self_class: Any = type(reader)
        self._self_body = body

    def _self_note(self, data: bytes) -> None:
        with _READ:
            self._self_body.feed(data)
            if self._self_reader.at_eof():
                self._self_body.finish()

    read = _read_along("read")
    readany = _read_along("readany")
    readline = _read_along("readline")
    readuntil = _read_along("readuntil")
    readexactly = _read_along("readexactly")
    readchunk = _read_along("readchunk")

    def read_nowait(self, *args: Any, **kwargs: Any) -> Any:
        """As the reader's."""
        data: bytes = self._self_reader.read_nowait(*args, **kwargs)
        self._self_note(data)
        return data

    # These read by the methods above, of the object that they are called on.

    def __aiter__(self) -> Any:
        return self._self_class.__aiter__(self)

    def iter_chunked(self, n: int) -> Any:
        """As the reader's."""
        return self._self_class.iter_chunked(self, n)

    def iter_any(self) -> Any:
        """As the reader's."""
        return self._self_class.iter_any(self)

    def iter_chunks(self) -> Any:
        """As the reader's."""
        return self._self_class.iter_chunks(self)


async def connect(wrapped: Any, owner: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around the opening of a WebSocket."""
    with _READ:
        url = urlsplit(str(args[0] if args else kwargs.get("url")))
        watch.to_record("WEBSOCKET", url.hostname or "", url.path)
    return await wrapped(*args, **kwargs)


def patch(module: str, patches: Patches) -> None:
    """Put the wrappers on."""
    patches.wrap(module, "ClientSession._request", AiohttpSession().acall)
    patches.wrap(module, "ClientSession._ws_connect", connect)
