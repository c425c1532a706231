"""The page's connections: none keeps its place without a request, and a request whose head is too
large is answered.

uvicorn refuses the latter too, but closes with the rest of it unread, whereupon the other side's
system throws the answer away: its user sees a connection that was reset.
"""

from __future__ import annotations

import asyncio
import json

from turnspan_console.web.guard import SECURITY_HEADERS

MAX_HEAD_BYTES = 64 * 2**10
"""Of the request line and the headers together."""
HEAD_SECONDS = 10.0
"""How long a connection may take for a head."""
MAX_HEADS = 100
"""How many connections may be at it at once: the one that began first makes room."""
_LINGER_SECONDS = 5.0
_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_END = b"\r\n\r\n"


class HeadLimits(asyncio.Protocol):
    """What uvicorn's protocol gets beside its own: a time and a size for heads, and answers.

    Put before that protocol among the bases of a class (``page_protocol``): ``super()`` is it.
    """

    cycle: object
    transport: asyncio.Transport
    _head = b""
    _refused = False
    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for its first head."""
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._met()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless it is more than a head may have."""
        if self._refused:
            return  # until the other side has said all that it had to say, and reads
        if self.cycle is None or getattr(self.cycle, "response_complete", True):  # not in a body
            if self._due is None:
                self._expect()  # of a connection that is kept
            head, end, _ = (self._head + data).partition(_END)
            if len(head) > MAX_HEAD_BYTES:
                self._refuse(head)
                return
            self._head = b"" if end else head
            if end:
                self._met()
        super().data_received(data)

    def eof_received(self) -> None:
        """The other side has no more to say."""
        if self._refused:
            self.transport.close()
        else:
            super().eof_received()

    def _expect(self) -> None:
        self._due = asyncio.get_running_loop().call_later(HEAD_SECONDS, self._late)
        _expected[self] = None
        if len(_expected) > MAX_HEADS:
            next(iter(_expected))._late()

    def _met(self) -> None:
        _expected.pop(self, None)
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _late(self) -> None:
        self._met()
        if self._head:  # else it was only kept open: nothing to tell
            self.transport.write(_TOO_LATE)
        self.transport.close()

    def _refuse(self, head: bytes) -> None:
        self._met()
        self._refused, self._head = True, b""
        self.transport.write(_answer(of_address=b"\r\n" not in head[:MAX_HEAD_BYTES]))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        asyncio.get_running_loop().call_later(_LINGER_SECONDS, self.transport.close)


_expected: dict[HeadLimits, None] = {}


def page_protocol() -> type[asyncio.Protocol]:
    """uvicorn's own protocol (whichever is installed) with our size around it."""
    from uvicorn.protocols.http import auto

    theirs: type[asyncio.Protocol] = auto.AutoHTTPProtocol
    return type("PageProtocol", (HeadLimits, theirs), {})


def _answer(*, of_address: bool) -> bytes:
    status = "414 URI Too Long" if of_address else "431 Request Header Fields Too Large"
    what = "An address" if of_address else "The headers of a request"
    body = json.dumps({"error": f"{what} may have 64 kB at most."}).encode()
    headers = {
        **dict(SECURITY_HEADERS),
        "content-type": "application/json",
        "content-length": str(len(body)),
        "cache-control": "no-store",
        "connection": "close",
    }
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + _END + body
