"""Threads and processes that outlive a turn: each piece of their work belongs to its own."""

from __future__ import annotations

import asyncio
import multiprocessing
import multiprocessing.pool
import socket
import socketserver
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from socket import SOCK_STREAM
from typing import Any

import pytest
from opentelemetry import trace

import turnspan
from emit.conftest import Spans
from support.fan_out import place

pytestmark = pytest.mark.usefixtures("threads")


def test_long_lived_threads_are_outside(spans: Spans) -> None:
    """Threads that serve whoever comes do not belong to the turn that happened to start them."""
    seen: list[tuple[str, int]] = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            seen.append(place())

    with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
        with turnspan.agent("a"):
            threading.Thread(target=server.serve_forever, args=(0.01,)).start()
            with socket.create_connection(("127.0.0.1", server.server_address[1])) as client:
                client.recv(1)
        server.shutdown()
    assert seen == [("", 0)]


def place_for(item: int) -> tuple[str, int]:
    """The place of the work for one of many items."""
    return place()


def test_thread_pools_of_multiprocessing(spans: Spans) -> None:
    """ThreadPool carries each job's own turn, in all its ways to take one."""
    with multiprocessing.pool.ThreadPool(1) as pool:
        with turnspan.agent("a") as turn:
            expected = (turn.id, trace.get_current_span().get_span_context().span_id)
            assert pool.apply(place) == expected
            assert pool.apply_async(place).get() == expected
            assert pool.apply_async(func=place).get() == expected
            assert pool.map(place_for, range(2)) == [expected] * 2
            assert pool.starmap(place_for, [(1,)]) == [expected]
            assert list(pool.imap(place_for, range(2))) == [expected] * 2
            assert list(pool.imap_unordered(place_for, range(2), 2)) == [expected] * 2
        assert pool.apply(place) == ("", 0)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_process_pool_forked_in_a_turn_is_outside_it(spans: Spans) -> None:
    """Its workers serve later turns too: none takes the fork's turn for its own. A plain forked
    process belongs to the turn that forked it."""
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=fork) as executor:
        with turnspan.agent("a") as turn:
            assert executor.submit(place).result() == ("", 0)
            with fork.Pool(1) as pool:
                assert pool.apply(place) == ("", 0)
                assert pool.apply(place_of, (turnspan.inject(),))[0] == turn.id
            receiver, sender = fork.Pipe(duplex=False)
            process = fork.Process(target=lambda: sender.send(place()))
            process.start()
            assert receiver.recv()[0] == turn.id
            process.join()
        assert executor.submit(place).result() == ("", 0)
    receiver.close()
    sender.close()


def place_of(carrier: dict[str, str]) -> tuple[str, int]:
    """The place of work that goes on from a carrier."""
    with turnspan.extract(carrier):
        return place()


def test_pools_of_the_standard_library_itself(spans: Spans) -> None:
    """The event loop's own pool resolves names inside a turn as outside one."""

    async def resolve() -> Any:
        return await asyncio.get_running_loop().getaddrinfo("127.0.0.1", 80, type=SOCK_STREAM)

    with turnspan.agent("a"):
        assert asyncio.run(resolve()) == socket.getaddrinfo("127.0.0.1", 80, type=SOCK_STREAM)


def test_pool_started_in_a_turn_serves_others_outside_it(spans: Spans) -> None:
    """A pool's worker thread lives on: what is submitted later is not in the turn it began in."""
    with ThreadPoolExecutor(1) as pool:
        with turnspan.agent("first") as turn:
            assert pool.submit(place).result()[0] == turn.id
        assert pool.submit(place).result() == ("", 0)
        with turnspan.agent("second") as turn:
            assert pool.submit(place).result()[0] == turn.id
