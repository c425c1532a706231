"""What the frames around the clients' functions have in common."""

from __future__ import annotations

import inspect
from typing import Any, Final, TypeAlias

from turnspan.patching.frame import Frame
from turnspan.patching.patches import Kwargs
from turnspan.wire.exchange import SentRequest, WireExchange, begin
from turnspan.wire.fetched_answers import FetchedAnswer

_DEPTH: Final = 12
_HTTPX: Final = ("httpx.", "httpx2.")

UnderWay: TypeAlias = WireExchange | FetchedAnswer
"""A request that was sent, as it is recorded or read along."""


class ClientFrame(Frame[UnderWay]):
    """The frame around what sends a client's requests."""

    def _sent(self, request: SentRequest, kwargs: Kwargs) -> tuple[UnderWay, Kwargs] | None:
        """Begin to record a request; its span is current until the head of its answer is there."""
        exchange = begin(request)
        if exchange is None:
            return None
        exchange.call.enter()
        return exchange, kwargs

    def _failed(self, call: UnderWay, owner: Any, error: BaseException, /) -> None:
        call.failed(error)

    def _unsettled(self, call: UnderWay, result: Any, /) -> None:
        call.lost()


def is_sent_by_httpx() -> bool:
    """Whether httpx sends this request by the client that is asked here: it is looked at there."""
    frame = inspect.currentframe()
    for _ in range(_DEPTH):
        frame = frame and frame.f_back
        if frame is None:
            return False
        if str(frame.f_globals.get("__name__")).startswith(_HTTPX):
            return True
    return False
