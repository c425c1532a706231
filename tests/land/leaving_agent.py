"""Agent processes that leave in every way a process can.

usage: leaving_agent.py CASE LOG   (the store comes from TURNSPAN_STORE; PYTHONPATH=tests)

Each piece of work is one tool call; its id is written to LOG when the call has ended, so that what
was emitted and what landed can be compared row by row.
"""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from multiprocessing.context import BaseContext

import turnspan
from land.leaving_work import (
    CASE,
    LOG,
    PIECES,
    children,
    configure,
    named,
    note,
    record,
    record_calls,
)

# -- one process ------------------


def falls_off_the_end() -> None:
    configure()
    record("main")


def exits_in_a_handler() -> None:
    """Work in exit handlers of the application: one runs before ours, one after."""
    atexit.register(record, "last")
    configure()
    atexit.register(record, "first")
    record("main")


def leaves_at_once() -> None:
    configure()
    record("main")
    os._exit(7)


def is_terminated() -> None:
    configure()
    record("main")
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)


def is_hung_up() -> None:
    configure()
    record("main")
    os.kill(os.getpid(), signal.SIGHUP)
    time.sleep(60)


def is_terminated_with_a_turn_open() -> None:
    configure()
    with turnspan.session("s"), turnspan.agent("open"):
        record("main")
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)


def is_terminated_and_exits() -> None:
    """With a handler of the application's, set before."""

    def handler(*_: object) -> None:
        sys.exit(5)

    signal.signal(signal.SIGTERM, handler)
    configure()
    with turnspan.session("s"), turnspan.agent("open"):
        record("main")
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)


def is_terminated_and_flushes() -> None:
    """With a handler of the application's, set after, that works, flushes and is gone."""

    def handler(*_: object) -> None:
        record("handler")
        turnspan.flush(timeout=10)
        os._exit(6)

    configure()
    signal.signal(signal.SIGTERM, handler)
    record("main")
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM)).start()
    while True:  # so that it comes at any point of a flush
        record("main", 5)
        turnspan.flush(timeout=10)


def replaces_itself() -> None:
    configure()
    record("main")
    os.execv(sys.executable, [sys.executable, __file__, "falls_off_the_end", LOG])


def ends_with_a_turn_open() -> None:
    configure()
    scope = turnspan.agent("open")
    scope.__enter__()
    record("main")
    sys.exit(4)


def exits_in_a_thread() -> None:
    configure()

    def work() -> None:
        with turnspan.agent("thread"):
            record("thread")
            sys.exit(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    record("main")


def leaves_threads_behind() -> None:
    """Daemon threads that go on while the interpreter ends."""
    configure()
    for number in range(2):
        threading.Thread(target=record, args=(f"daemon-{number}", 1_000_000), daemon=True).start()
    time.sleep(0.3)


def is_interrupted() -> None:
    """Ctrl-C while asyncio runs a turn, of an agent that has been at work for a while.

    Before that, Python forgets its exit code for Ctrl-C: an import by an exit handler is enough.
    """
    configure()
    record("before")
    turnspan.flush()

    async def turn() -> None:
        with turnspan.session("s"), turnspan.agent("interrupted"):
            record("task")
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)

    asyncio.run(turn())


def flushes_and_stops_twice() -> None:
    configure()
    atexit.register(turnspan.shutdown)
    atexit.register(turnspan.flush)
    record("main")
    assert turnspan.flush() and turnspan.flush()
    record("main-2")
    assert turnspan.shutdown() and turnspan.shutdown()
    assert turnspan.flush()


def configures_again() -> None:
    for number in range(4):
        configure()
        configure()
        record(f"main-{number}")
        if number % 2:
            assert turnspan.shutdown()


# -- several processes ------------------


def forks_and_leaves() -> None:
    configure()
    record("before")

    def work(number: int) -> None:
        record(f"child-{number}", 100)
        os._exit(number)

    assert children(work) == [0, 1, 2, 3]
    record("after")


def forks_and_terminates() -> None:
    configure()
    record("before")

    def work(number: int) -> None:
        record(f"child-{number}", 100)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)

    assert children(work) == [-signal.SIGTERM] * 4


def forks_and_stops() -> None:
    """flush and shutdown, twice, in children; the parent goes on."""
    configure()
    record("before")

    def work(number: int) -> None:
        record(f"child-{number}")
        fine = turnspan.flush().ok and turnspan.flush().ok
        record(f"child-{number}-2")
        fine = fine and turnspan.shutdown().ok and turnspan.shutdown().ok
        os._exit(0 if fine else 1)

    assert children(work) == [0] * 4
    record("after")


def forks_and_judges() -> None:
    """Children that record judgments and nothing else."""
    configure()

    def work(number: int) -> None:
        for _ in range(PIECES):
            name = named(f"child-{number}")
            assert turnspan.annotate("0123456789abcdef", comment=name, id=name)
            note(name)
        os._exit(0)

    assert children(work, 2) == [0, 0]


def forks_unnoticed() -> None:
    """A fork in C, without Python's hooks, as uWSGI's."""
    configure()
    record("before")
    child = ctypes.PyDLL(None).fork()
    if child:
        record("after")
        assert os.waitpid(child, 0)[1] == 0
    else:
        record("child")
        time.sleep(0.8)
        record("child-2")


def forks_and_replaces() -> None:
    configure()
    record("before")

    def work(number: int) -> None:
        record(f"child-{number}")
        os.execv(sys.executable, [sys.executable, __file__, "falls_off_the_end", LOG])

    assert children(work, 2) == [0, 0]
    record("after")


def forks_in_a_turn(*, child_is_last: bool = True) -> None:
    """The child leaves by an exception through the block of the parent's turn."""
    configure()
    with turnspan.session("s"), turnspan.agent("forking"):
        record("parent")
        child = os.fork()
        if child == 0:
            record("child")
            time.sleep(0.7 * child_is_last)
            raise SystemExit(3)
        record("parent-2")
        time.sleep(0.7 * (not child_is_last))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3


def forks_in_a_turn_that_goes_on() -> None:
    forks_in_a_turn(child_is_last=False)


def becomes_a_daemon() -> None:
    """The classic double fork; the parents leave with ``os._exit``."""
    configure()
    record("first")
    done, still_open = os.pipe()
    if os.fork():
        os.close(still_open)
        os.read(done, 1)
        os._exit(0)
    os.setsid()
    record("second")
    if os.fork():
        os._exit(0)
    record("daemon")
    turnspan.flush()  # the pipe's end says that all is done
    os._exit(0)


def forks_under_load() -> None:
    """Threads record in one turn without a pause while the main thread forks."""
    configure()
    turnspan.instrument()  # carries the turn into the threads
    with turnspan.session("s"), turnspan.agent("busy"):
        stopping = threading.Event()

        def busy(number: int) -> None:
            while not stopping.is_set():
                record(f"thread-{number}", 20)

        threads = [threading.Thread(target=busy, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()

        def work(number: int) -> None:
            record(f"child-{number}", 10)
            os._exit(0)

        codes = [code for _ in range(4) for code in children(work)]
        stopping.set()
        for thread in threads:
            thread.join()
    assert codes == [0] * 16, codes


def forks_while_loading() -> None:
    """Children are forked while the parent's worker imports what its first model call needs."""
    configure()
    record_calls("parent")
    forked: list[int] = []
    threading.Thread(target=turnspan.flush).start()
    for number in range(6):
        time.sleep(0.03)
        child = os.fork()
        if child == 0:
            record_calls(f"child-{number}")
            os._exit(0)
        forked.append(child)
    assert [os.waitpid(child, 0)[1] for child in forked] == [0] * 6


def work_in_a_pool(number: int) -> int:
    if multiprocessing.get_start_method() != "fork":
        configure()
    record(f"task-{number}", 5)
    return number


def pool(context: BaseContext) -> None:
    configure()
    record("before")
    with context.Pool(2) as workers:  # leaving the block terminates them
        assert workers.map(work_in_a_pool, range(8)) == [*range(8)]
    record("after")


def pools_fork() -> None:
    pool(multiprocessing.get_context("fork"))


def pools_spawn() -> None:
    multiprocessing.set_start_method("spawn")
    pool(multiprocessing.get_context("spawn"))


def pools_forkserver() -> None:
    multiprocessing.set_start_method("forkserver")
    pool(multiprocessing.get_context("forkserver"))


def child_with_a_thread() -> None:
    threading.Timer(0.1, record, ("thread",)).start()
    record("child")


def unheard() -> None:
    """A worker whose main thread waits when SIGTERM comes, and is not the one that it comes to."""
    record("child")

    def signalled() -> None:
        time.sleep(0.2)
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    threading.Thread(target=signalled, daemon=True).start()
    time.sleep(60)


def deaf() -> None:
    """A worker whose main thread no signal reaches."""
    record("child")
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)


def children_are_terminated_unheard() -> None:
    """As a pool terminates its workers; their handlers would run when nobody waits any more."""
    configure()
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=work) for work in (unheard, deaf)]
    for process in processes:
        process.start()
    record("main")
    for process in processes:
        process.join(20)
        assert process.exitcode == -signal.SIGTERM


def child_records_nothing() -> None:
    """Its signals are the system's, as if nobody recorded here; those of one that does are not."""
    configure()
    record("before")

    def work(number: int) -> None:
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        if number:
            record("child")
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)

    assert children(work, 2) == [-signal.SIGTERM] * 2


def child_outlives_its_work() -> None:
    """A child of multiprocessing whose thread goes on after its function is done."""
    configure()
    process = multiprocessing.get_context("fork").Process(target=child_with_a_thread)
    process.start()
    process.join()
    assert process.exitcode == 0


if __name__ == "__main__":
    # As from a terminal: what started the tests may ignore these, and a child inherits that.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    globals()[CASE]()
