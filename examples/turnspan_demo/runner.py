"""Plays many runs at once against a model server of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass

from turnspan_demo.agents import connect, play
from turnspan_demo.model import Expected, Provider, Run, expected
from turnspan_demo.server import ModelServer

WORKERS = 6


@dataclass(frozen=True, slots=True)
class Session:
    """One run to play with one provider's SDK, and the session it is recorded as."""

    run: Run
    provider: Provider
    id: str

    @property
    def expected(self) -> Expected:
        """What the recorder must see of it."""
        return expected(self.run)


def sessions(
    runs: Iterable[Run], providers: Sequence[Provider] | None = None, *, stamp: str = ""
) -> list[Session]:
    """A session for every run and provider; ``providers`` ``None`` takes each run's own.

    ``stamp`` ends the session ids and keeps one demonstration apart from another.
    """
    stamp = stamp or _stamp()
    return [
        Session(run, provider, f"{run.id}-{provider}-{stamp}")
        for run in runs
        for provider in (run.providers if providers is None else providers)
    ]


def play_all(
    planned: Sequence[Session],
    *,
    stream: bool | None = None,
    workers: int = WORKERS,
    done: Callable[[Session], None] | None = None,
) -> None:
    """Play sessions, several at a time; ``done`` is called as each is over.

    Raises:
        Exception: what a run raised that its recording does not say it should.
    """
    runs = {session.run.id: session.run for session in planned}
    with ModelServer(runs.values()) as server:
        urls: dict[Provider, str] = {
            "openai": server.openai_url,
            "anthropic": server.anthropic_url,
        }
        wanted: set[Provider] = {session.provider for session in planned}
        clients = {provider: connect(provider, urls[provider]) for provider in wanted}

        def one(session: Session) -> None:
            play(session.run, clients[session.provider], session.id, stream=stream)
            if done is not None:
                done(session)

        with ThreadPoolExecutor(workers, thread_name_prefix="agent") as pool:
            try:
                futures = [pool.submit(copy_context().run, one, session) for session in planned]
                for future in futures:
                    future.result()
            finally:
                pool.shutdown(cancel_futures=True)
        for client in clients.values():
            client.close()


def _stamp() -> str:
    """A short word that grows with time, seconds apart."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    word, left = "", int(time.time())
    while left:
        left, digit = divmod(left, 36)
        word = digits[digit] + word
    return word
