"""One turn over threads, tasks, processes: one trace, no orphans, one turn (T-06, T-08, T-37)."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import ForkContext, SpawnContext
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

import turnspan
from emit.conftest import Spans
from support.fan_out import helper, piece, place, work_elsewhere
from support.representatives import few
from turnspan import semconv
from turnspan.runtime.ids import SecureIdGenerator
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

pytestmark = [pytest.mark.usefixtures("threads", "kept_engine"), pytest.mark.with_schema]

WAYS = 9 if sys.version_info >= (3, 11) else 8
"""How many ways ``fan_out`` takes."""


def attribute(span: ReadableSpan, key: str) -> Any:
    assert span.attributes is not None
    return span.attributes.get(key)


async def fan_out() -> list[str]:
    """Do one piece of work in every way that leaves the calling thread or task."""
    loop = asyncio.get_running_loop()
    found: list[str] = []

    def note(where: str) -> None:
        found.append(piece(where))

    async def task(where: str) -> None:
        await asyncio.sleep(0)
        note(where)

    with ThreadPoolExecutor(2) as pool:
        found.append(await asyncio.wrap_future(pool.submit(piece, "submit")))
        found.extend(pool.map(piece, ["map"]))
        found.append(await loop.run_in_executor(pool, piece, "executor"))
    found.append(await loop.run_in_executor(None, piece, "default executor"))
    found.append(await asyncio.to_thread(piece, "to_thread"))
    await asyncio.create_task(task("task"))
    if sys.version_info >= (3, 11):
        async with asyncio.TaskGroup() as group:
            group.create_task(task("group"))
    for thread in (
        threading.Thread(target=note, args=("thread",)),
        threading.Timer(0.001, note, ("timer",)),
    ):
        thread.start()
        await asyncio.to_thread(thread.join)
    return found


def test_turn_that_fans_out_is_one_trace(spans: Spans) -> None:
    """T-06: 1 trace, 0 parentless children, one turn id, over every way to leave the thread."""

    @turnspan.agent
    async def boss(question: str) -> list[str]:
        return await fan_out()

    with turnspan.session("s-1", user_id="u-1"):
        found = asyncio.run(boss("go"))

    root = spans.one("invoke_agent boss")
    assert root.context is not None
    turn_id = attribute(root, semconv.TURN_ID)
    assert found == [turn_id] * WAYS
    assert {span.context.trace_id for span in spans.all() if span.context} == {
        root.context.trace_id
    }
    assert [span.name for span in spans.all() if span.parent is None] == [root.name]
    assert {attribute(span, semconv.TURN_ID) for span in spans.all()} == {turn_id}
    assert {attribute(span, semconv.CONVERSATION_ID) for span in spans.all()} == {"s-1"}
    assert spans.names().count("chat m") == WAYS
    pieces = [span for span in spans.all() if span.name == "execute_tool piece"]
    assert len(pieces) == WAYS
    assert {span.parent.span_id for span in pieces if span.parent} == {root.context.span_id}
    assert attribute(root, semconv.TURN_TOOL_CALLS) == WAYS
    assert attribute(root, semconv.TURN_LLM_CALLS) == WAYS


Landing = Callable[..., list[list[dict[str, Any]]]]


@pytest.fixture
def landing(embedded_dsn: Dsn) -> Iterator[Landing]:
    """An application that records to a fresh store; gives what asks it once all has landed."""
    resource = Resource.create({"service.name": "app"})
    provider = TracerProvider(resource=resource, id_generator=SecureIdGenerator())
    turnspan.configure(store=str(embedded_dsn), exporters=["turnspan"], tracer_provider=provider)

    def rows(*questions: str) -> list[list[dict[str, Any]]]:
        assert turnspan.flush().ok
        ship(embedded_dsn, deadline=time.monotonic() + 30)
        with open_store(embedded_dsn) as store:
            return [store.query(sql).dicts() for sql in questions]

    yield rows
    turnspan.shutdown()
    provider.shutdown()


@pytest.mark.parametrize(
    "context",
    [multiprocessing.get_context("spawn"), multiprocessing.get_context("fork")],
    ids=["spawn", "fork"],
)
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_turn_over_processes_has_one_summary(
    landing: Landing,
    embedded_dsn: Dsn,
    context: SpawnContext | ForkContext,
) -> None:
    """T-37: work in another process, given a carrier, lands as the same turn's; one row a turn."""
    receiver, sender = context.Pipe(duplex=False)
    with turnspan.session("s-1", user_id="u-1"), turnspan.agent("boss") as turn:
        piece("here")
        carrier = turnspan.inject()
        arguments = (str(embedded_dsn), carrier, "there", sender)
        process = context.Process(target=work_elsewhere, args=arguments)
        process.start()
        sender.close()
        assert receiver.poll(60)
        seen = receiver.recv()
        process.join(60)
    receiver.close()

    assert process.exitcode == 0
    assert seen["flushed"]
    assert seen["turn"] == seen["tool"] == turn.id
    assert seen["rounds"] == 2  # one here, one there

    turns, calls, tools, users, spans = landing(
        "SELECT turn_id, parent_turn_id, agent_name, session_id FROM turn_summary FINAL",
        "SELECT turn_id, session_id, trace_id, round, service FROM llm_call FINAL",
        "SELECT turn_id, session_id, trace_id FROM tool_call FINAL",
        "SELECT DISTINCT user_id FROM turn_summary FINAL",
        "SELECT span_id, parent_span_id FROM span FINAL",
    )
    assert sorted((t["agent_name"], t["turn_id"], t["parent_turn_id"]) for t in turns) == [
        ("boss", turn.id, ""),
        ("helper", seen["helper"], turn.id),
    ]
    assert sorted((c["turn_id"] == turn.id, c["round"]) for c in calls) == [
        (False, 1),
        (True, 1),
        (True, 2),
    ]
    assert [t["turn_id"] for t in tools] == [turn.id, turn.id]
    assert {row["session_id"] for row in turns + calls + tools} == {"s-1"}
    assert len({row["trace_id"] for row in calls + tools}) == 1
    assert [row["user_id"] for row in users] == ["u-1"]
    known = {row["span_id"] for row in spans}
    assert [row["span_id"] for row in spans if row["parent_span_id"] not in known] == [turn.id]


def test_concurrent_turns_do_not_mix(spans: Spans) -> None:
    """T-06: 50 concurrent turns, in threads that share a pool and in tasks: no span of one carries
    the id, the session or the trace of another."""
    shared = ThreadPoolExecutor(4)

    @turnspan.agent("thread turn")
    def in_thread(number: int) -> None:
        list(shared.map(piece, ["pool"] * 3))
        helper("sub")

    @turnspan.agent("task turn")
    async def in_task(number: int) -> None:
        await asyncio.gather(*(asyncio.to_thread(piece, "to_thread") for _ in range(3)))
        await asyncio.get_running_loop().run_in_executor(shared, piece, "pool")
        await asyncio.sleep(random.random() / 1000)
        piece("here")

    def one_thread(number: int) -> None:
        with turnspan.session(f"s-{number}"):
            in_thread(number)

    async def one_task(number: int) -> None:
        async with turnspan.session(f"s-{number}"):
            await in_task(number)

    async def all_tasks() -> None:
        await asyncio.gather(*(one_task(number) for number in range(25, 50)))

    callers = [threading.Thread(target=one_thread, args=(number,)) for number in range(25)]
    for caller in callers:
        caller.start()
    asyncio.run(all_tasks())
    for caller in callers:
        caller.join()
    shared.shutdown()

    roots = [span for span in spans.all() if span.parent is None]
    assert sorted(attribute(r, semconv.CONVERSATION_ID) for r in roots) == sorted(
        f"s-{number}" for number in range(50)
    )
    by_trace = {root.context.trace_id: root for root in roots if root.context}
    assert len(by_trace) == 50
    nested = {
        attribute(s, semconv.TURN_ID): attribute(s, semconv.TURN_PARENT_ID)
        for s in spans.all()
        if s.name == "invoke_agent helper"
    }
    for span in spans.all():
        assert span.context is not None
        root = by_trace[span.context.trace_id]
        turn = attribute(span, semconv.TURN_ID)
        assert nested.get(turn, turn) == attribute(root, semconv.TURN_ID)
        assert attribute(span, semconv.CONVERSATION_ID) == attribute(root, semconv.CONVERSATION_ID)


def test_session_without_a_turn_crosses_threads(spans: Spans) -> None:
    """A turn that begins in a pool belongs to the session around the submit."""
    with turnspan.session("s-9"), ThreadPoolExecutor(1) as pool:
        pool.submit(helper, "hi").result()

    assert attribute(spans.one("invoke_agent helper"), semconv.CONVERSATION_ID) == "s-9"


def test_generator_abandoned_in_another_thread(spans: Spans) -> None:
    """A generator begun here and dropped in a thread: one span, no error, nothing left current."""

    @turnspan.agent("streamer")
    def stream() -> Iterator[str]:
        yield "a"
        piece("inside")
        yield "b"
        yield "never"

    def drop(items: list[Iterator[str]]) -> tuple[str, int]:
        generator = items.pop()
        next(generator)
        del generator
        return place()

    generator = stream()
    next(generator)
    items = [generator]
    del generator
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(drop, items).result() == ("", 0)

    span = spans.one("invoke_agent streamer")
    assert attribute(span, semconv.STREAM_OUTCOME) == "abandoned"
    assert span.status.is_unset
    inside = spans.one("execute_tool piece")
    assert inside.parent is not None
    assert attribute(inside, semconv.TURN_ID) == attribute(span, semconv.TURN_ID)


IDS = """
import random, sys
import turnspan
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
if sys.argv[1] == "application":
    trace.set_tracer_provider(TracerProvider())
turnspan.configure(exporters=["none"])
random.seed(0)
for number in range(int(sys.argv[2])):
    with turnspan.agent("a") as turn:
        span = trace.get_current_span().get_span_context()
        print(f"{span.trace_id:032x}")
        print(f"{span.span_id:016x}")
        assert turn.id == f"{span.span_id:016x}"
"""


@pytest.mark.parametrize("turns", few([500, 5_000], [500]))
@pytest.mark.parametrize("provider", ["ours", "application"])
def test_ids_are_unique_after_seeding(provider: str, turns: int) -> None:
    """T-08: two processes with one seed, 10,000 ids each (in `make test` 1,000): none is drawn
    twice, also under a TracerProvider of the application's."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", IDS, provider, str(turns)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    printed = [process.communicate(timeout=120)[0].split() for process in started]

    assert [process.returncode for process in started] == [0, 0]
    assert [len(ids) for ids in printed] == [2 * turns, 2 * turns]
    assert len({*printed[0], *printed[1]}) == 4 * turns


CHILDREN = """
import multiprocessing, sys
import turnspan

def child(configure):
    if configure:
        turnspan.configure(service_name="child")
    with turnspan.tool("last words"):
        pass

if __name__ == "__main__":
    method = sys.argv[1]
    turnspan.configure(service_name="parent")
    process = multiprocessing.get_context(method).Process(target=child, args=(method != "fork",))
    process.start()
    process.join()
    print(process.exitcode)
"""


@pytest.mark.parametrize("method", few(["fork", "spawn", "forkserver"], ["fork", "spawn"]))
def test_child_process_leaves_nothing_behind(
    embedded_dsn: Dsn, tmp_path: Path, method: str
) -> None:
    """A child of multiprocessing ends without the interpreter's exit: its last span lands."""
    script = tmp_path / "script.py"
    script.write_text(CHILDREN, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, str(script), method],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"TURNSPAN_STORE": str(embedded_dsn)},
    )
    assert (ran.stdout, ran.stderr) == ("0\n", "")
    ship(embedded_dsn, deadline=time.monotonic() + 30)
    with open_store(embedded_dsn) as store:
        rows = store.query("SELECT name FROM tool_call FINAL").dicts()
    assert [row["name"] for row in rows] == ["last words"]
