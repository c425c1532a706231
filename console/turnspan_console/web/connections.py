"""The page's connections: none keeps its place without a request, and a request whose head is too
large is answered (uvicorn refuses it too, but its answer is lost with what it has not read).
"""

from __future__ import annotations

import asyncio
import json

from turnspan_clickhouse.receive.connections import MAX_HEAD_BYTES, Refusable
from turnspan_console.web.guard import SECURITY_HEADERS

HEAD_SECONDS = 10.0
"""How long a connection may take for a head."""
MAX_HEADS = 100
"""How many connections may be at it at once: the one that began first makes room."""
_ROOM_SECONDS = 0.1
"""Later: what a connection has sent already is read before, however many came at once."""
_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_END = b"\r\n\r\n"


class HeadLimits(Refusable):
    """What uvicorn's protocol gets beside its own: a time and a size for heads, and answers."""

    cycle: object
    _head = b""
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
        in_body = self.cycle is not None and not getattr(self.cycle, "response_complete", True)
        if not self._refused and not in_body:
            if self._due is None:
                self._expect()  # of a connection that is kept
            head, end, _ = (self._head + data).partition(_END)
            if len(head) > MAX_HEAD_BYTES:
                self._met()
                self.refuse(_answer(of_address=b"\r\n" not in head[:MAX_HEAD_BYTES]))
            self._head = b"" if end else head
            if end:
                self._met()
        super().data_received(data)

    def _expect(self) -> None:
        loop = asyncio.get_running_loop()
        self._due = loop.call_later(HEAD_SECONDS, self._late)
        _expected[self] = None
        if len(_expected) > MAX_HEADS:
            loop.call_later(_ROOM_SECONDS, self._make_room, self._due.when())

    def _make_room(self, due: float) -> None:
        """Among those whose heads are due by then: they began before this one, or with it."""
        for one in [*_expected][: max(0, len(_expected) - MAX_HEADS)]:
            if one._due is not None and one._due.when() <= due:
                one._late()

    def _met(self) -> None:
        _expected.pop(self, None)
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _late(self) -> None:
        self._met()
        if self._head:
            self.refuse(_TOO_LATE)
        else:  # it was only kept open: nothing to tell
            self.transport.close()


_expected: dict[HeadLimits, None] = {}


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
