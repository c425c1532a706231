"""The receiver's connections: so many at once, and none that keeps its place without a request.

The server's own protocol (h11, or httptools where that is installed) has a deadline for neither the
first head nor a next one that has begun, and holds as many connections as the process has files.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import uvicorn

    from turnspan_clickhouse.receive.asgi import ReceiveApp

MAX_HEAD_BYTES = 64 * 2**10
_LINGER_SECONDS = 5.0
_MAX_LINGERING = 100
_CLOSED = "connection: close\r\ncontent-length: 0\r\n\r\n"
_TIMEOUT = f"HTTP/1.1 408 Request Timeout\r\n{_CLOSED}".encode()
_TOO_LARGE = f"HTTP/1.1 431 Request Header Fields Too Large\r\n{_CLOSED}".encode()
_FULL = f"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\n{_CLOSED}".encode()


def server_config(app: ReceiveApp, **options: Any) -> uvicorn.Config:
    """How uvicorn serves the application, within the limits of its settings."""
    import uvicorn

    return uvicorn.Config(
        app,
        http=protocol(Bounded, receiving=app),
        h11_max_incomplete_event_size=2**19,  # ours comes first: a read is of 256 kB at most
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        **options,
    )


def protocol(ours: type[Refusable], **more: object) -> type[asyncio.Protocol]:
    """uvicorn's own protocol (whichever is installed) with ours before it, for one server."""
    from uvicorn.protocols.http import auto

    theirs: type[asyncio.Protocol] = auto.AutoHTTPProtocol
    return type(ours.__name__, (ours, theirs), {"lingering": {}, **more})


class Refusable(asyncio.Protocol):
    """A connection whose other side reads why it was refused.

    A socket that is closed with something unread is reset, and the other side's system throws the
    answer away. So what still comes is read, and thrown away, until the other side has ended; for
    some seconds, of so many connections: the one that was refused first makes room.

    ``super()`` here is uvicorn's protocol: see ``protocol``.
    """

    lingering: dict[Refusable, None]
    connections: set[Any]
    transport: asyncio.Transport
    _refused = False

    def refuse(self, answer: bytes) -> None:
        """Answer, and end the connection; it takes no place among the others any more."""
        self._refused = True
        self.connections.discard(self)
        self.transport.write(answer)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.lingering[self] = None
        if len(self.lingering) > _MAX_LINGERING:
            next(iter(self.lingering)).transport.close()
        asyncio.get_running_loop().call_later(_LINGER_SECONDS, self.transport.close)

    def data_received(self, data: bytes) -> None:
        """Read on, unless it was refused."""
        if not self._refused:
            super().data_received(data)

    def eof_received(self) -> None:
        """The other side has no more to say."""
        if not self._refused:
            super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended, by whomever."""
        self.lingering.pop(self, None)
        super().connection_lost(exc)


class Bounded(Refusable):
    """What uvicorn's protocol gets beside its own: a deadline and a size for heads."""

    receiving: ReceiveApp
    cycle: Any
    _deadline: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, unless there are as many as may be."""
        super().connection_made(transport)
        if len(self.connections) > self.receiving.settings.max_connections:
            self.receiving.closed("503", "a connection was refused: as many as may be are open")
            self.refuse(_FULL)
        else:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more of it."""
        self._met()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; watch how long a head takes and how large it is."""
        if self._refused:
            return
        before = self.cycle
        if self._deadline is None and (before is None or before.response_complete):
            self._expect()  # the next head of a connection that is kept
        super().data_received(data)
        if self.cycle is not before:
            self._met()
        elif self._deadline is not None:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._give_up("431", "a head was too large", _TOO_LARGE)

    def _expect(self) -> None:
        self._head_bytes = 0
        self._deadline = asyncio.get_running_loop().call_later(
            self.receiving.settings.head_timeout,
            self._give_up,
            "408",
            "a head took too long",
            _TIMEOUT,
        )

    def _met(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self, kind: str, why: str, answer: bytes) -> None:
        self._met()
        if self.transport.is_closing():
            return
        if self._head_bytes:  # else it was only kept open: nothing to tell
            self.receiving.closed(kind, why)
            self.refuse(answer)
        else:
            self.transport.close()
