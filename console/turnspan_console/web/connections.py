"""The page's connections: of those that are at a head, the one that began first makes room."""

from __future__ import annotations

import asyncio
import json

from turnspan_clickhouse.receive.connections import HeadLimits
from turnspan_console.web.guard import SECURITY_HEADERS

MAX_HEADS = 100
"""How many connections may be at a head at once."""
_ROOM_SECONDS = 0.1
"""Later: what a connection has sent already is read before, however many came at once."""


class PageConnection(HeadLimits):
    """A connection of the page; what is too large is told in words."""

    expected: dict[PageConnection, None]

    def expect(self) -> None:
        """A head is to come; there is room for so many."""
        super().expect()
        self.expected[self] = None
        if len(self.expected) > MAX_HEADS and self.due is not None:
            loop = asyncio.get_running_loop()
            loop.call_later(_ROOM_SECONDS, self._make_room, self.due.when())

    def met(self) -> None:
        """It has come, or is waited for no more."""
        self.expected.pop(self, None)
        super().met()

    def answer(self, status: str, why: str) -> bytes:
        """In words, as the page's other refusals."""
        if status.startswith("408"):
            return super().answer(status, why)
        what = "An address" if status.startswith("414") else "The headers of a request"
        body = json.dumps({"error": f"{what} may have 64 kB at most."}).encode()
        headers = {
            **dict(SECURITY_HEADERS),
            "content-type": "application/json",
            "content-length": str(len(body)),
            "cache-control": "no-store",
            "connection": "close",
        }
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode() + body

    def _make_room(self, due: float) -> None:
        """Among those whose heads are due by then: they began before this one, or with it."""
        for one in [*self.expected][: max(0, len(self.expected) - MAX_HEADS)]:
            if one.due is not None and one.due.when() <= due:
                one.late()
