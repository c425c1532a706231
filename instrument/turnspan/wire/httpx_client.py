"""httpx and its successor httpx2: what a client sends, and its answer, whole or streamed."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from turnspan.patching.patches import Args, Kwargs, Patches
from turnspan.wire.client_frame import ClientFrame, UnderWay
from turnspan.wire.exchange import Body, SentRequest
from turnspan.wire.fetched_answers import FetchedAnswer, fetch
from turnspan.wire.gaps import watch
from turnspan.wire.multipart import file_facts


class HttpxClient(ClientFrame):
    """Around ``Client.send`` and its asynchronous twin."""

    place = "wire.httpx"

    def __init__(self, module: str) -> None:
        self._module = module

    def _begin(self, client: Any, args: Args, kwargs: Kwargs, /) -> tuple[UnderWay, Kwargs] | None:
        request = args[0] if args else kwargs["request"]
        method, url = request.method, request.url
        host, path = url.host, url.path
        if method == "GET" or path.endswith("/files"):
            if method == "GET" and request.headers.get("upgrade", "").lower() == "websocket":
                watch.to_record("WEBSOCKET", host, path)
                return None
            fetched = fetch(method, url, request.stream)
            if fetched is not None:
                return fetched, kwargs
        seen = watch.to_record(method, host, path)
        if seen is None:
            return None
        sent = SentRequest(
            seen,
            url.scheme,
            url.port,
            url.raw_path.decode("ascii"),
            _body(request),
            request.headers.get("content-type", ""),
        )
        return self._sent(sent, kwargs)

    def _answered(self, call: UnderWay, result: Any, /) -> None:
        headers = dict(result.headers)
        if result.is_stream_consumed and not _is_as_it_came(result):
            headers.pop("content-encoding", None)
        body = call.answered(result.status_code, headers)
        if result.is_stream_consumed:
            body.feed(result.content)
            body.finish()
        elif result.is_closed:
            body.finish()
        else:
            result.stream = read_along(sys.modules[self._module], result.stream, body)


def read_along(library: Any, stream: Any, body: Body | FetchedAnswer) -> Any:
    """The stream that an answer is read from, as the library's own: it reads along."""
    sync, asynchronous = library.SyncByteStream, library.AsyncByteStream
    if isinstance(stream, asynchronous) and not isinstance(stream, sync):
        base = asynchronous
    else:
        base = sync
    kind = _KINDS.get(base)
    if kind is None:
        mixin = AsyncReadAlong if base is asynchronous else SyncReadAlong
        kind = _KINDS[base] = type(mixin.__name__, (mixin, base), {})
    return kind(stream, body)


_KINDS: Final[dict[Any, Any]] = {}


class SyncReadAlong:
    """Passes an answer's bytes on as they come."""

    def __init__(self, stream: Any, body: Body | FetchedAnswer) -> None:
        self._stream = stream
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        body = self._body
        try:
            for data in self._stream:
                body.feed(data)
                yield data
        except GeneratorExit:
            body.finish(complete=False)
            raise
        except BaseException as error:
            body.finish(error)
            raise
        body.finish()

    def close(self) -> None:
        """As the stream's."""
        try:
            self._stream.close()
        finally:
            self._body.finish(complete=False)


class AsyncReadAlong:
    """The same for an asynchronous client."""

    def __init__(self, stream: Any, body: Body | FetchedAnswer) -> None:
        self._stream = stream
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body = self._body
        try:
            async for data in self._stream:
                body.feed(data)
                yield data
        except GeneratorExit:
            body.finish(complete=False)
            raise
        except BaseException as error:
            body.finish(error)
            raise
        body.finish()

    async def aclose(self) -> None:
        """As the stream's."""
        try:
            await self._stream.aclose()
        finally:
            self._body.finish(complete=False)


def _is_as_it_came(response: Any) -> bool:
    """Whether the library undoes no encoding of a response that was read: it knows none of it."""
    return type(getattr(response, "_decoder", None)).__name__ == "IdentityDecoder"


def _body(request: Any) -> Any:
    """What is sent, where it is known before it is: not what the application makes on the way."""
    content = getattr(request, "_content", None)
    if content is not None:
        return content
    fields = getattr(request.stream, "fields", None)
    if fields is None:
        return None
    found: dict[str, Any] = {}
    for field in fields:
        file = getattr(field, "file", None)
        if file is None:
            value: Any = field.value if isinstance(field.value, str) else str(field.value)
        else:
            kind = str(field.headers.get("Content-Type", ""))
            if isinstance(file, (bytes, str)):
                data = file.encode() if isinstance(file, str) else file
                value = file_facts(data, field.filename, kind)
            else:  # a file of the application's, which is not ours to read
                value = {"file": field.filename, "media_type": kind}
        found[field.name] = value
    return found


def patch(module: str, patches: Patches) -> None:
    """Put the wrappers on a library of this name."""
    client = HttpxClient(module)
    patches.wrap(module, "Client.send", client.call)
    patches.wrap(module, "AsyncClient.send", client.acall)
