"""What carrying turns into threads leaves as it was: values, errors, signatures, context variables,
memory, other people's patches."""

from __future__ import annotations

import asyncio
import concurrent.futures.thread
import contextvars
import gc
import inspect
import multiprocessing
import multiprocessing.pool
import multiprocessing.process
import pickle
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry import context as otel_context

import turnspan
from emit.conftest import Spans
from support.fan_out import place
from turnspan.instrumentation import Instrumented
from turnspan.patching import carried_work
from turnspan.patching import threads as patched_threads
from turnspan.patching.threads import ThreadingInstrumentor
from turnspan.runtime.guard import errors

pytestmark = pytest.mark.usefixtures("threads")

SUBMIT, START = ThreadPoolExecutor.submit, threading.Thread.start
RUN = multiprocessing.process.BaseProcess.run


def in_thread(work: Callable[[], Any], kind: type[threading.Thread] = threading.Thread) -> Any:
    """What ``work`` gives in a bare thread."""
    found: list[Any] = []
    thread = kind(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def test_everything_is_given_back() -> None:
    """instrument() is idempotent and uninstrument() leaves the standard library as it was."""
    assert ThreadPoolExecutor.submit is not SUBMIT
    once = ThreadPoolExecutor.submit
    turnspan.instrument()
    assert ThreadPoolExecutor.submit is once

    turnspan.uninstrument()
    assert ThreadPoolExecutor.submit is SUBMIT
    assert threading.Thread.start is START
    assert multiprocessing.process.BaseProcess.run is RUN
    assert "apply_async" not in vars(multiprocessing.pool.ThreadPool)

    turnspan.instrument()
    assert multiprocessing.process.BaseProcess.run is not RUN


def test_signatures_are_faithful() -> None:
    """Names, docstrings and parameters are those of the functions underneath."""
    for ours, theirs in ((ThreadPoolExecutor.submit, SUBMIT), (threading.Thread.start, START)):
        assert inspect.signature(ours) == inspect.signature(theirs)
        assert ours.__doc__ == theirs.__doc__
        assert ours.__qualname__ == theirs.__qualname__
    with ThreadPoolExecutor(1) as pool, pytest.raises(TypeError, match="submit"):
        pool.submit()  # type: ignore[call-arg]  # pyright: ignore


def test_nothing_is_wrapped_outside_a_turn() -> None:
    """Without a turn, a session or a recording span the executor gets the very function."""

    def caller() -> str:
        frame = inspect.currentframe()
        assert frame is not None
        assert frame.f_back is not None
        return frame.f_back.f_code.co_filename

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(caller).result() == concurrent.futures.thread.__file__
        with turnspan.agent("a"):
            assert pool.submit(caller).result() == carried_work.__file__

    thread = threading.Thread(target=caller)
    thread.start()
    assert "run" not in vars(thread)
    thread.join()


def test_keyword_arguments_pass_through(spans: Spans) -> None:
    """Also those named as parameters of ours."""

    def work(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return args, kwargs

    with turnspan.agent("a"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(work, 1, self=2, fn=3, func=4).result() == (
            (1,),
            {"self": 2, "fn": 3, "func": 4},
        )


def test_work_can_be_copied(spans: Spans) -> None:
    """An executor that pickles what it is given gets the function, as ever."""
    with turnspan.agent("a"):
        work = carried_work.carried(divmod)
    assert work is not divmod
    assert pickle.loads(pickle.dumps(work))(7, 2) == (3, 1)


class Failure(Exception):
    """An error of the application's."""


def test_errors_are_untouched(spans: Spans) -> None:
    """The same exception object, not chained to anything of ours; also BaseExceptions."""
    failure, stop = Failure("x"), SystemExit(3)

    def fail(error: BaseException) -> None:
        raise error

    with turnspan.agent("a"), ThreadPoolExecutor(1) as pool:
        future = pool.submit(fail, failure)
        assert future.exception() is failure
        assert failure.__cause__ is None
        assert failure.__context__ is None
        assert pool.submit(fail, stop).exception() is stop
        missing: Any = None
        with pytest.raises(TypeError, match="'NoneType' object is not callable"):
            pool.submit(missing).result()
        assert pool.submit(place).result()[0]

    seen: list[Any] = []
    hook, threading.excepthook = threading.excepthook, seen.append
    try:
        with turnspan.agent("a"):
            thread = threading.Thread(target=fail, args=(failure,))
            thread.start()
            thread.join()
    finally:
        threading.excepthook = hook
    assert [args.exc_value for args in seen] == [failure]


def test_thread_that_cannot_start(spans: Spans) -> None:
    """A second start() raises as ever and leaves nothing behind; run() may be called by hand."""
    ran: list[str] = []
    with turnspan.agent("a"):
        thread = threading.Thread(target=ran.append, args=("x",))
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="threads can only be started once"):
            thread.start()
        assert "run" not in vars(thread)
        by_hand = threading.Thread(target=ran.append, args=("y",))
        by_hand.run()
    assert ran == ["x", "y"]


def test_thread_subclasses(spans: Spans) -> None:
    """A class with a run() of its own is carried as well, and so is a run set on the object."""
    seen: list[str] = []

    class Own(threading.Thread):
        def run(self) -> None:
            seen.append(turnspan.current_turn().id)

    with turnspan.agent("a") as turn:
        started = [Own(), threading.Thread()]
        started[1].run = lambda: seen.append(turnspan.current_turn().id)  # type: ignore[method-assign]
        for thread in started:
            thread.start()
            thread.join()
    assert seen == [turn.id, turn.id]


def test_user_context_variables_behave_as_without_us(spans: Spans) -> None:
    """A variable set here is not seen there; one set there (by an initializer) stays there."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    variable.set("caller")

    def read_then_set(value: str) -> str:
        found = variable.get()
        variable.set(value)
        return found

    def start_up() -> None:
        variable.set("initializer")

    def all_of_it() -> list[str]:
        found = [in_thread(variable.get)]
        with ThreadPoolExecutor(1, initializer=start_up) as pool:
            found += [pool.submit(read_then_set, "a").result()]
            found += [pool.submit(read_then_set, "b").result()]
        found.append(asyncio.run(asyncio.to_thread(variable.get)))
        found.append(variable.get())
        return found

    turnspan.uninstrument()
    expected = all_of_it()
    turnspan.instrument()
    with turnspan.agent("a"):
        assert all_of_it() == expected == ["unset", "initializer", "a", "caller", "caller"]


def test_context_ends_with_the_task(spans: Spans) -> None:
    """The worker is left as it was found; also after an error, and where the task left a mess."""

    def mess() -> None:
        otel_context.attach(otel_context.set_value("left", "behind"))
        raise Failure

    with ThreadPoolExecutor(1) as pool:
        with turnspan.agent("a"):
            pool.submit(mess).exception()
        assert pool.submit(place).result() == ("", 0)
        assert pool.submit(otel_context.get_current).result() == {}


def test_memory_is_let_go(spans: Spans) -> None:
    """Once the task is over nothing of ours holds the turn: not the worker, the future, its error,
    the thread object."""

    class Marker:
        pass

    def fail() -> None:
        raise Failure

    def run(pool: ThreadPoolExecutor) -> tuple[list[Any], weakref.ref[Marker]]:
        marker = Marker()
        token = otel_context.attach(otel_context.set_value("marker", marker))
        with turnspan.agent("a"):
            kept: list[Any] = [pool.submit(place), pool.submit(fail)]
            kept[1].exception()
            thread = threading.Thread(target=place)
            thread.start()
            thread.join()
        otel_context.detach(token)
        return [*kept, thread], weakref.ref(marker)

    with ThreadPoolExecutor(1) as pool:
        kept, reference = run(pool)
        pool.submit(place).result()
        gc.collect()
        assert reference() is None
    assert len(kept) == 3


def test_other_instrumentation_of_threads_is_left_to_it(spans: Spans) -> None:
    """opentelemetry-instrumentation-threading does the same: ours steps back, in either order.

    It pins a release of the SDK that the newest OTLP exporters refuse, so it is not among the
    requirements: ``make setup`` installs it without its own.
    """
    package = pytest.importorskip("opentelemetry.instrumentation.threading")
    official: Any = package.ThreadingInstrumentor()

    def both() -> list[str]:
        with ThreadPoolExecutor(1) as pool:  # a pool each: the other's workers stay in their turn
            return [pool.submit(place).result()[0], in_thread(place)[0]]

    with turnspan.agent("a") as turn:
        official.instrument()
        try:
            assert carried_work.carried(place) is place
            assert both() == [turn.id] * 2
        finally:
            official.uninstrument()
        assert both() == [turn.id] * 2
        turnspan.uninstrument()
        assert both() == ["", ""]

        official.instrument()
        try:
            before = ThreadPoolExecutor.submit
            state = {item.name: item for item in turnspan.instrument()}["threads"]
            assert ThreadPoolExecutor.submit == before
            assert not state.enabled
            assert "opentelemetry.instrumentation.threading does it" in state.detail
            assert both() == [turn.id] * 2
        finally:
            official.uninstrument()
    turnspan.uninstrument()
    assert ThreadPoolExecutor.submit is SUBMIT
    assert threading.Thread.start is START


def test_wrapper_of_somebody_else_stays_and_ours_sleeps(spans: Spans) -> None:
    """A function that was wrapped again after us is not torn out; ours does nothing any more."""
    ours = ThreadPoolExecutor.submit

    def theirs(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return ours(self, fn, *args, **kwargs)

    ThreadPoolExecutor.submit = theirs  # type: ignore[method-assign]
    try:
        turnspan.uninstrument()
        assert ThreadPoolExecutor.submit is theirs
        with turnspan.agent("a"), ThreadPoolExecutor(1) as pool:
            assert pool.submit(place).result() == ("", 0)
    finally:
        ThreadPoolExecutor.submit = SUBMIT  # type: ignore[method-assign]


@pytest.mark.tests_internal_errors
def test_failure_of_ours_costs_only_the_context(
    spans: Spans, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T-32: whatever fails here, the work runs, gives its value and is counted."""

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ours")

    with turnspan.agent("a"), ThreadPoolExecutor(1) as pool:
        for module, name in (
            (carried_work, "belongs"),
            (patched_threads, "_is_long_lived"),
            (otel_context, "attach"),
            (carried_work, "detach"),
        ):
            with monkeypatch.context() as patch:
                patch.setattr(module, name, broken)
                assert pool.submit(divmod, 7, 2).result() == (3, 1)
                assert in_thread(lambda: 5) == 5
            assert errors.counts()
            errors.reset()


def test_state_is_reported() -> None:
    """turnspan.instrument() and the doctor say whether threads are carried."""
    state = {item.name: item for item in turnspan.instrument()}["threads"]
    assert state == Instrumented("threads", True, "", ThreadingInstrumentor().version)
