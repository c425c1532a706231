"""The page's connections: a request whose head is too large is answered.

uvicorn refuses it too, but closes with the rest of it unread, whereupon the other side's system
throws the answer away: its user sees a connection that was reset.
"""

from __future__ import annotations

import asyncio
import json

from turnspan_console.web.guard import SECURITY_HEADERS

MAX_HEAD_BYTES = 64 * 2**10
"""Of the request line and the headers together."""
_LINGER_SECONDS = 5.0
_END = b"\r\n\r\n"


class Heads(asyncio.Protocol):
    """What uvicorn's protocol gets beside its own: a size for heads, with an answer that arrives.

    Put before that protocol among the bases of a class (``page_protocol``): ``super()`` is it.
    """

    cycle: object
    transport: asyncio.Transport
    _head = b""
    _refused = False

    def data_received(self, data: bytes) -> None:
        """Read on, unless it is more than a head may have."""
        if self._refused:
            return  # until the other side has said all that it had to say, and reads
        if not self._in_body():
            head, end, _ = (self._head + data).partition(_END)
            if len(head) > MAX_HEAD_BYTES:
                self._refuse(head)
                return
            self._head = b"" if end else head
        super().data_received(data)

    def eof_received(self) -> None:
        """The other side has no more to say."""
        if self._refused:
            self.transport.close()
        else:
            super().eof_received()

    def _in_body(self) -> bool:
        cycle = self.cycle
        return cycle is not None and not getattr(cycle, "response_complete", True)

    def _refuse(self, head: bytes) -> None:
        self._refused, self._head = True, b""
        self.transport.write(_answer(of_address=b"\r\n" not in head[:MAX_HEAD_BYTES]))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        asyncio.get_running_loop().call_later(_LINGER_SECONDS, self.transport.close)


def page_protocol() -> type[asyncio.Protocol]:
    """uvicorn's own protocol (whichever is installed) with our size around it."""
    from uvicorn.protocols.http import auto

    theirs: type[asyncio.Protocol] = auto.AutoHTTPProtocol
    return type("PageProtocol", (Heads, theirs), {})


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
