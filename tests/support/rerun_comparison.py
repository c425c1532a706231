"""What a rerun sent beside what was sent when its session was recorded."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from support.rerun_protocol import rerun_here
from turnspan.testing import Recorded, record
from turnspan_records.again.rerun.recording import SessionRecording
from turnspan_records.again.rerun.server import RerunServer

_LOCAL = ("127.0.0.1", "localhost", "::1")


class WatchedServer(RerunServer):
    """The real server, which keeps what came."""

    def __init__(self, recording: SessionRecording) -> None:
        super().__init__(recording)
        self.bodies: list[bytes] = []

    def answer(self, asked: Any, origin: str, data: bytes, *, retries: bool) -> Any:
        self.bodies.append(data)
        return super().answer(asked, origin, data, retries=retries)


@dataclass
class Comparison:
    """Counts of one rerun, or of many: ``+=`` them."""

    requests: int = 0
    """Those that were recorded."""
    equal: int = 0
    """Requests of the rerun that are byte by byte those recorded."""
    replies: int = 0
    """What became of the requests when they were recorded."""
    equal_replies: int = 0
    tools: int = 0
    """Tool executions that were recorded."""
    ran: int = 0
    """Executions of tools in the rerun."""
    elsewhere: int = 0
    """Connections and look-ups of names for anything but the rerun's server."""
    differences: list[str] = field(default_factory=list[str])
    """Divergences and notes, in words."""

    def __iadd__(self, other: Comparison) -> Comparison:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self

    @property
    def exact(self) -> bool:
        """Whether nothing is different."""
        same = (self.requests, self.replies) == (self.equal, self.equal_replies)
        return same and not (self.ran or self.elsewhere or self.differences)


def compare(
    recording: SessionRecording,
    sent: Sequence[bytes],
    replies: Sequence[Any],
    again: Callable[[Recorded], Sequence[Any]],
) -> Comparison:
    """Run a recorded session again.

    Args:
        recording: the session's.
        sent: the bodies of its requests.
        replies: what became of them.
        again: makes the same requests; returns what became of them. Gets what is recorded of it.
    """
    with WatchedServer(recording) as server, record() as found:
        with _connections(server.environment().port) as elsewhere, rerun_here(server.environment()):
            raised, got = "", list[Any]()
            try:
                got = [*again(found)]
            except Exception as error:  # noqa: BLE001  counted below
                raised = f"{type(error).__name__}: {error}"
        report = server.report()
    same = Counter(sent) & Counter(server.bodies)
    same_replies = Counter(map(repr, replies)) & Counter(map(repr, got))
    told = [*map(str, report.divergences), *(f"{n.kind}: {n.text}" for n in report.notes)]
    told += [f"{name} ran: {why}" for name, why in report.tools_ran.items()]
    told += [raised] * bool(raised)
    told += [f"call {one.number} was not asked for" for one in report.unasked]
    return Comparison(
        len(sent),
        same.total(),
        len(replies),
        same_replies.total(),
        len(recording.tools),
        len(report.tools_ran),
        len(elsewhere),
        told,
    )


_watched: list[Callable[[str, tuple[Any, ...]], None]] = []


@contextmanager
def _connections(port: int) -> Generator[list[str]]:
    """What this process reaches for meanwhile, but a port of this machine."""
    found: list[str] = []

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo":
            if args[0] not in (*_LOCAL, b"127.0.0.1", None):
                found.append(f"{event} {args[0]}")
        elif isinstance(args[1], tuple) and args[1][1] != port:
            found.append(f"{event} {args[1]}")

    if not _hooked:
        sys.addaudithook(_audit)  # for the life of the process: a hook cannot be removed
        _hooked.append(True)
    _watched.append(watch)
    try:
        yield found
    finally:
        _watched.remove(watch)


_hooked: list[bool] = []
_EVENTS = ("socket.connect", "socket.getaddrinfo", "socket.sendto")


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if event in _EVENTS:
        for watch in _watched:
            watch(event, args)
