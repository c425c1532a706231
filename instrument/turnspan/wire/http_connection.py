"""Python's own client, ``http.client``: requests, urllib3, urllib and botocore send through it.

A request is written in pieces, and is known in full when its answer is waited for: its span begins
then, with the time at which the first piece was written. The file that the answer is read from is
replaced by one that reads along.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from turnspan.patching.patches import Args, Function, Kwargs, Patches
from turnspan.runtime.guard import guard
from turnspan.tracing.limited_calls import allow_here
from turnspan.wire.answer_bytes import MAX_KEPT, Chunks
from turnspan.wire.exchange import Body, SentRequest, WireExchange, begin
from turnspan.wire.gaps import watch
from turnspan.wire.requests_seen import ModelRequestSeen

_PENDING: Final = "_turnspan_request"
_END: Final = b"\r\n\r\n"

_PUT: Final = guard("wire.http.request")
_ANSWER: Final = guard("wire.http.answer")


class WrittenRequest:
    """A request that is being written to a connection."""

    def __init__(self, seen: ModelRequestSeen, connection: Any, path: str) -> None:
        self._limited = allow_here()
        self.began = (time.time_ns(), time.perf_counter())
        self._seen = seen
        self._scheme = "https" if hasattr(connection, "_context") else "http"
        self._port: int | None = getattr(connection, "_tunnel_port", None) or connection.port
        self._path = path
        self._pieces: list[bytes] = []
        self._size = 0
        self._whole = True

    def write(self, data: Any) -> None:
        """A piece is written; of a file that the client reads itself nothing is known."""
        if not isinstance(data, (bytes, bytearray)):
            self._whole = False
            return
        self._size += len(data)
        if self._size <= MAX_KEPT:
            self._pieces.append(bytes(data))
        else:
            self._whole = False

    def begin(self) -> WireExchange | None:
        """Begin to record it, as far as it was written."""
        head, _, body = b"".join(self._pieces).partition(_END)
        headers = _headers(head)
        if "chunked" in headers.get("transfer-encoding", "").lower():
            body = Chunks(True, None).feed(body)
        return begin(
            SentRequest(
                self._seen,
                self._scheme,
                self._port,
                self._path,
                body if self._whole else None,
                headers.get("content-type", ""),
                self.began,
                self._limited,
            )
        )


def _headers(head: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in head.decode("latin-1").split("\r\n")[1:]:
        name, _, value = line.partition(":")
        found[name.strip().lower()] = value.strip()
    return found


def putrequest(wrapped: Function, connection: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around ``putrequest``: a request begins."""
    with _PUT:
        own = connection.__dict__
        own.pop(_PENDING, None)
        method = args[0] if args else kwargs["method"]
        path: Any = args[1] if len(args) > 1 else kwargs["url"]
        path = path if isinstance(path, str) else path.decode("ascii", "replace")
        host = str(getattr(connection, "_tunnel_host", None) or connection.host)
        seen = watch.to_record(method, host, path)
        if seen is not None:
            own[_PENDING] = WrittenRequest(seen, connection, path)
    return wrapped(*args, **kwargs)


def send(wrapped: Function, connection: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around ``send``: a piece of a request."""
    request: WrittenRequest | None = connection.__dict__.get(_PENDING)
    if request is None:
        return wrapped(*args, **kwargs)
    with _PUT:
        request.write(args[0] if args else kwargs["data"])
    try:
        return wrapped(*args, **kwargs)
    except BaseException as error:
        with _ANSWER:
            connection.__dict__.pop(_PENDING, None)
            exchange = request.begin()
            if exchange is not None:
                exchange.failed(error)
        raise


def getresponse(wrapped: Function, connection: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around ``getresponse``: the request is written, its answer is waited for."""
    request: WrittenRequest | None = connection.__dict__.pop(_PENDING, None)
    if request is None:
        return wrapped(*args, **kwargs)
    exchange: WireExchange | None = None
    with _PUT:
        exchange = request.begin()
    try:
        response = wrapped(*args, **kwargs)
    except BaseException as error:
        if exchange is not None:
            with _ANSWER:
                exchange.failed(error)
        raise
    if exchange is not None:
        with _ANSWER:
            _follow(exchange, response)
    return response


def _follow(exchange: WireExchange, response: Any) -> None:
    """Read along with whoever reads the response: urllib3's has Python's own in it."""
    inner: Any = getattr(response, "_fp", response)
    inner = inner if hasattr(inner, "chunked") else response
    headers: Mapping[str, str] = {key.lower(): value for key, value in inner.headers.items()}
    body = exchange.answered(inner.status, headers)
    if inner.fp is None:
        body.finish()
        return
    length = inner.length if isinstance(inner.length, int) else None
    inner.fp = ReadAlong(inner.fp, body, Chunks(bool(inner.chunked), length))


class ReadAlong:
    """The file that an answer is read from."""

    def __init__(self, file: Any, body: Body, chunks: Chunks) -> None:
        self._file = file
        self._body = body
        self._chunks = chunks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def _note(self, data: bytes, *, asked: bool = True) -> bytes:
        with _ANSWER:
            if data:
                self._body.feed(self._chunks.feed(data))
            if self._chunks.complete or (asked and not data):
                self._body.finish(complete=self._chunks.complete or self._chunks.until_closed)
        return data

    def _read(self, method: str, size: int | None) -> bytes:
        try:
            data: bytes = getattr(self._file, method)(size)
        except BaseException as error:
            self._body.finish(error)
            raise
        return self._note(data, asked=size != 0)

    def read(self, size: int | None = -1) -> bytes:
        """As the file's."""
        return self._read("read", size)

    def read1(self, size: int = -1) -> bytes:
        """As the file's."""
        return self._read("read1", size)

    def readline(self, size: int = -1) -> bytes:
        """As the file's."""
        return self._read("readline", size)

    def readinto(self, buffer: Any) -> Any:
        """As the file's."""
        try:
            size = self._file.readinto(buffer)
        except BaseException as error:
            self._body.finish(error)
            raise
        self._note(bytes(memoryview(buffer)[: size or 0]), asked=len(buffer) > 0)
        return size

    def close(self) -> None:
        """As the file's."""
        try:
            self._file.close()
        finally:
            self._body.finish(complete=self._chunks.complete)


def patch(module: str, patches: Patches) -> None:
    """Put the wrappers on."""
    patches.wrap(module, "HTTPConnection.putrequest", putrequest)
    patches.wrap(module, "HTTPConnection.send", send)
    patches.wrap(module, "HTTPConnection.getresponse", getresponse)
