"""The receiver's connections: so many at once, and none that keeps its place without a request.

The server's own protocol (h11, or httptools where that is installed) has a deadline for neither the
first head nor a next one that has begun, and holds as many connections as the process has files.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import uvicorn

    from turnspan_clickhouse.receive.asgi import ReceiveApp

MAX_HEAD_BYTES = 64 * 2**10
"""Of the request line and the headers together."""
_LINGER_SECONDS = 5.0
_MAX_LINGERING = 100
_BLANK_LINE = re.compile(rb"\n\r?\n")
"""What ends a head, for uvicorn's protocols too: some clients write no carriage returns."""


def receiving_server(app: ReceiveApp, ending: int) -> uvicorn.Server:
    """A server of the application, within the limits of its settings; ``ending`` as for
    ``http_server``."""
    attributes = {"receiving": app, "head_seconds": app.settings.head_timeout}
    return http_server(app, ReceiverConnection, attributes, ending)


def http_server(
    app: Any, ours: type[HeadLimits], attributes: dict[str, Any], ending: int
) -> uvicorn.Server:
    """A server whose protocol (whichever is installed) has ours before it, with these attributes;
    when it ends, it waits so many seconds for what it still answers."""
    import uvicorn
    from uvicorn.protocols.http import auto

    theirs: type[asyncio.Protocol] = auto.AutoHTTPProtocol
    config = uvicorn.Config(
        app,
        http=type(ours.__name__, (ours, theirs), {"lingering": {}, **attributes}),
        h11_max_incomplete_event_size=2**19,  # ours comes first: a read is of 256 kB at most
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,  # an address may name a session
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=ending,
    )
    return uvicorn.Server(config)


class HeadLimits(asyncio.Protocol):
    """What uvicorn's protocol gets beside its own: a time and a size for heads, and refusals that
    are read.

    A socket that is closed with something unread is reset, and the other side's system throws the
    answer away. So what still comes is read, and thrown away, until the other side has ended; for
    some seconds, of so many connections: the one that was refused first makes room.

    ``super()`` here is uvicorn's protocol: see ``http_server``.
    """

    lingering: dict[HeadLimits, None]
    connections: set[Any]
    cycle: Any
    transport: asyncio.Transport
    head_seconds = 10.0
    """How long a connection may take for a head."""
    due: asyncio.TimerHandle | None = None
    """When the head is late that it is at."""
    _head = b""
    """What has come of it."""
    _refused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for its first head."""
        super().connection_made(transport)
        self.expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more of it."""
        self.met()
        self.lingering.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; watch how long a head takes and how large it is."""
        if self._refused:
            return
        before = self.cycle
        if self.due is None and (before is None or before.response_complete):
            self.expect()  # the next head of a connection that is kept
        if self.due is not None:
            come = self._head + data
            end = _BLANK_LINE.search(come, max(0, len(self._head) - 2))
            self._head = come[: end.start()] if end else come
            if len(self._head) > MAX_HEAD_BYTES:
                large = "414 URI Too Long", "431 Request Header Fields Too Large"
                one_line = b"\n" not in self._head[:MAX_HEAD_BYTES]
                self.refuse(large[not one_line], "a head was too large")
                return
        super().data_received(data)
        if self.cycle is not before:
            self.met()

    def eof_received(self) -> None:
        """The other side has no more to say."""
        if not self._refused:
            super().eof_received()

    def expect(self) -> None:
        """A head is to come."""
        self._head = b""
        self.due = asyncio.get_running_loop().call_later(self.head_seconds, self.late)

    def met(self) -> None:
        """It has come, or is waited for no more."""
        if self.due is not None:
            self.due.cancel()
            self.due = None

    def late(self) -> None:
        """It is waited for no more: the connection ends."""
        if self._head:
            self.refuse("408 Request Timeout", "a head took too long")
        else:  # it was only kept open: nothing to tell
            self.met()
            self.transport.close()

    def refuse(self, status: str, why: str) -> None:
        """Answer, and end the connection; it takes no place among the others any more."""
        self.met()
        if self.transport.is_closing():
            return
        self._refused = True
        self.connections.discard(self)
        self.transport.write(self.answer(status, why))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.lingering[self] = None
        if len(self.lingering) > _MAX_LINGERING:
            next(iter(self.lingering)).transport.close()
        asyncio.get_running_loop().call_later(_LINGER_SECONDS, self.transport.close)

    def answer(self, status: str, why: str) -> bytes:
        """What the other side reads."""
        del why
        return f"HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".encode()


class ReceiverConnection(HeadLimits):
    """A connection of the receiver: one of so many, and counted where it is refused."""

    receiving: ReceiveApp

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, unless there are as many as may be."""
        super().connection_made(transport)
        if len(self.connections) > self.receiving.settings.max_connections:
            why = "a connection was refused: as many as may be are open"
            self.refuse("503 Service Unavailable\r\nretry-after: 5", why)

    def answer(self, status: str, why: str) -> bytes:
        """Counted by its status."""
        self.receiving.closed(status[:3], why)
        return super().answer(status, why)
