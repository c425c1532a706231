"""The runs a model server can play: finds the reply that continues a conversation."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from turnspan_demo.model import PROVIDERS, Fault, Provider, Reply, Run, RunError, as_sent
from turnspan_demo.server.conversation import Chain, ChatRequest, Said, positions


@dataclass(frozen=True, slots=True)
class Found:
    """The reply a request is answered with.

    ``number`` counts the run's model calls from 0; ``fresh`` is how many of the request's messages
    were not in the call before (what a prompt cache does not hold yet).
    """

    run: Run
    number: int
    reply: Reply
    fresh: int


class NotRecordedError(Exception):
    """No run continues the conversation; the message says where it leaves the recording."""


class Library:
    """Runs by conversation. Safe to use from many threads.

    A request finds its run by the run's id, when it names one, and by the exact messages; without
    a name the first run (in the order added) whose recording begins with the same messages wins.
    """

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        self._found: dict[tuple[Provider, bytes], list[Found]] = {}
        self._runs: dict[str, Run] = {}
        self._failures: Counter[tuple[str, str, int]] = Counter()
        self._serial = itertools.count(1)
        self._lock = threading.Lock()
        for run in runs:
            self.add(run)

    @property
    def runs(self) -> list[Run]:
        """The runs, nested ones included."""
        return list(self._runs.values())

    def add(self, run: Run) -> None:
        """Add a run and those nested in it.

        Raises:
            RunError: another run has the same id.
        """
        for part in run.everything():
            if part.id in self._runs:
                raise RunError(f"Two runs are named {part.id!r}: give each its own id.")
            self._runs[part.id] = part
            for provider in PROVIDERS:
                self._index(part, provider)

    def _index(self, run: Run, provider: Provider) -> None:
        chain = Chain(run.system)
        for number, (new, reply) in enumerate(positions(as_sent(run, provider), provider)):
            for message in new:
                chain.add(message)
            found = Found(run, number, reply, len(new))
            self._found.setdefault((provider, chain.digest()), []).append(found)

    def find(self, request: ChatRequest) -> Found:
        """The reply that continues the request's conversation.

        Raises:
            NotRecordedError: there is none.
        """
        chain = Chain(request.system)
        for message in request.messages:
            chain.add(message)
        candidates = self._found.get((request.provider, chain.digest()), [])
        for key in request.keys:
            for found in candidates:
                if found.run.id == key:
                    return found
        named = [self._runs[key] for key in request.keys if key in self._runs]
        if candidates and not named:
            return candidates[0]
        raise NotRecordedError(self._explain(request, named or self.runs))

    def fault(self, found: Found, request: ChatRequest) -> Fault | None:
        """The fault that this request for a reply meets, if any; counts the request."""
        fault = found.reply.fault
        if fault is None or fault.kind == "broken_stream":
            return fault
        who = f"{request.provider}/{request.stream}/{request.instance}/{found.run.id}"
        with self._lock:
            key = (who, fault.kind, found.number)
            self._failures[key] += 1
            return fault if self._failures[key] <= fault.times else None

    def serial(self) -> int:
        """A number for an id, never given twice."""
        return next(self._serial)

    def _explain(self, request: ChatRequest, runs: list[Run]) -> str:
        if not runs:
            return "This server has no recorded runs: start it with some."
        best: tuple[int, Run, Said | None] = (-1, runs[0], None)
        for run in runs:
            if run.system != request.system:
                continue
            same, expected = _common(run, request)
            if same > best[0]:
                best = (same, run, expected)
        same, run, wanted = best
        if same < 0:
            return (
                f"No recorded run has this system prompt ({request.system[:60]!r}...): "
                "send the run's own system prompt and messages."
            )
        if same == len(request.messages):
            return f"Run {run.id!r} has no model reply at this point (after {same} messages)."
        got = request.messages[same]
        there = f"{wanted.role} {wanted.text[:80]!r}" if wanted else "its end"
        return (
            f"No recorded run continues this conversation. The nearest, {run.id!r}, agrees on "
            f"{same} messages; then comes {got.role} {got.text[:80]!r} where the recording has "
            f"{there}."
        )


def _common(run: Run, request: ChatRequest) -> tuple[int, Said | None]:
    """How many messages a run and a request share, and the run's next one."""
    recorded = (m for new, _ in positions(run, request.provider) for m in new)
    same = 0
    for message in recorded:
        if same == len(request.messages) or request.messages[same] != message:
            return same, message
        same += 1
    return same, None
