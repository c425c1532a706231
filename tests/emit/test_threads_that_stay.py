"""Threads that outlive the turn they were started in: no row of one user in another's turn."""

from __future__ import annotations

import asyncio
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace

import turnspan
from emit.conftest import Spans
from support.fan_out import place
from turnspan.tracing.context import session_around

pytestmark = pytest.mark.usefixtures("threads")

USERS = ("ada", "bob", "eve")


def where() -> tuple[str, str]:
    """The current turn and session."""
    session = session_around()
    return turnspan.current_turn().id, "" if session is None else session.id


class Worker:
    """Serves whoever comes, in a thread that is started in some way."""

    def __init__(self, work: queue.Queue[Any]) -> None:
        self.work = work
        self.done: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def run(self) -> None:
        """Say where each piece of work is done."""
        while self.work.get() is not None:
            self.done.put(where())


def bare(run: Callable[[], None]) -> None:
    """A thread of its own."""
    threading.Thread(target=run, daemon=True).start()


@pytest.fixture
def pooled() -> Iterator[Callable[[Callable[[], None]], Any]]:
    """A worker of a pool, taken for good."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit


@pytest.mark.parametrize("kind", [queue.Queue, queue.LifoQueue])
@pytest.mark.parametrize("pool", [False, True])
def test_worker_works_in_the_turn_of_each_item(
    spans: Spans, kind: type[queue.Queue[Any]], pool: bool, pooled: Callable[..., Any]
) -> None:
    """Also while the turn that it was started in goes on, and for the same object as an item."""
    worker = Worker(kind())
    with turnspan.session("s-first"), turnspan.agent("first") as first:
        (pooled if pool else bare)(worker.run)
        worker.work.put("work")
        assert worker.done.get(timeout=10) == (first.id, "s-first")
        for user in USERS:
            with turnspan.session("s-" + user), turnspan.agent("helper") as turn:
                worker.work.put("work")
                assert worker.done.get(timeout=10) == (turn.id, "s-" + user)
    worker.work.put("work")
    assert worker.done.get(timeout=10) == ("", "")
    worker.work.put(None)


@pytest.mark.parametrize("pool", [False, True])
def test_thread_leaves_the_turn_that_has_ended(
    spans: Spans, pool: bool, pooled: Callable[..., Any]
) -> None:
    """And its session, and the span: whoever records there begins a trace of its own."""
    go: queue.SimpleQueue[None] = queue.SimpleQueue()
    seen: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def run() -> None:
        for _ in range(3):
            go.get(timeout=10)
            seen.put((*where(), trace.get_current_span().get_span_context().is_valid))

    def step() -> Any:
        go.put(None)
        return seen.get(timeout=10)

    with turnspan.session("s-ada"):
        with turnspan.agent("ada") as turn:
            (pooled if pool else bare)(run)
            assert step() == (turn.id, "s-ada", True)
        assert step() == ("", "s-ada", False)
    with turnspan.session("s-bob"), turnspan.agent("bob"):
        assert step() == ("", "", False)


@pytest.mark.parametrize("kind", [asyncio.Queue, asyncio.LifoQueue])
def test_task_works_in_the_turn_of_each_item(spans: Spans, kind: type[asyncio.Queue[Any]]) -> None:
    """A worker that is started lazily inside a turn serves whoever comes."""
    asyncio.run(items_of_many(kind))


async def items_of_many(kind: type[asyncio.Queue[Any]]) -> None:
    """Two turns at once, and then none."""
    work, done = kind(), asyncio.Queue[Any]()

    async def serve() -> None:
        while await work.get() is not None:
            done.put_nowait(where())

    with turnspan.session("s-first"), turnspan.agent("first") as first:
        serving = asyncio.create_task(serve())
        await work.put("work")
        assert await done.get() == (first.id, "s-first")
        for user in USERS:
            with turnspan.session("s-" + user), turnspan.agent("helper") as turn:
                await work.put("work")
                assert await done.get() == (turn.id, "s-" + user)
                assert where() == (turn.id, "s-" + user), "an answer changes nothing"
    await work.put("work")
    assert await done.get() == ("", "")
    await work.put(None)
    await serving


def test_task_leaves_the_turn_that_has_ended(spans: Spans) -> None:
    """What is awaited inside the turn is its own; what goes on later belongs to nobody."""
    asyncio.run(a_task_that_stays())


async def a_task_that_stays() -> None:
    """Its turn ends, and another one begins."""
    go, seen = asyncio.Event(), asyncio.Queue[Any]()

    async def run() -> None:
        seen.put_nowait((*where(), trace.get_current_span().get_span_context().is_valid))
        await go.wait()
        seen.put_nowait((*where(), trace.get_current_span().get_span_context().is_valid))

    with turnspan.session("s-ada"), turnspan.agent("ada") as turn:
        running = [asyncio.create_task(run()), asyncio.ensure_future(run())]
        assert [await seen.get(), await seen.get()] == [(turn.id, "s-ada", True)] * 2
    with turnspan.session("s-bob"), turnspan.agent("bob"):
        go.set()
        assert [await seen.get(), await seen.get()] == [("", "", False)] * 2
    await asyncio.gather(*running)


def test_late_work_of_a_pool_is_its_turn_s(spans: Spans) -> None:
    """It was given as a piece of work."""
    wait = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(wait.wait, 10)
        with turnspan.agent("a") as turn:
            late = pool.submit(place)
        wait.set()
        assert late.result()[0] == turn.id


def test_answer_from_a_queue_changes_nothing(spans: Spans) -> None:
    """Inside a block of its own, a thread that takes an item waits for an answer."""
    answers: queue.Queue[str] = queue.Queue()
    found: list[str] = []

    def run() -> None:
        with turnspan.tool("ask"):
            answers.get(timeout=10)
            found.append(turnspan.current_turn().id)

    with turnspan.agent("asking") as asking:
        thread = threading.Thread(target=run)
        thread.start()
        with turnspan.agent("answering"):
            answers.put("x")
        thread.join()
    assert found == [asking.id]


def test_queue_that_is_full_or_emptied_by_hand_keeps_nothing(spans: Spans) -> None:
    """Neither the turn nor the item."""
    small: queue.Queue[str] = queue.Queue(1)
    with turnspan.agent("a"):
        small.put("x")
        with pytest.raises(queue.Full):
            small.put_nowait("y")
        small.queue.clear()
        small.put("z")
    assert small.get() == "z"
    assert not vars(small)["_turnspan_items"]


PROGRAM = """
import queue, threading, turnspan
from opentelemetry import trace
turnspan.configure(service_name="x", exporters=["turnspan"])
turnspan.instrument()
go, seen = queue.SimpleQueue(), queue.SimpleQueue()
def run():
    while go.get():
        seen.put(trace.get_current_span().get_span_context().trace_id)
def step():
    go.put(True)
    return seen.get(timeout=10)
tracer = trace.get_tracer("framework")
with tracer.start_as_current_span("root") as root:
    with tracer.start_as_current_span("tool"):
        threading.Thread(target=run, daemon=True).start()
    inside = step() == root.get_span_context().trace_id
with tracer.start_as_current_span("other"):
    print(inside, step())
"""


def test_undecorated_thread_leaves_the_trace_whose_root_has_ended(tmp_path: Path) -> None:
    """A framework's spans are the turn there; one that ends inside it ends nothing."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"HOME": str(tmp_path), "TURNSPAN_STORE": f"chdb://{tmp_path}/store"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["True", "0"]
