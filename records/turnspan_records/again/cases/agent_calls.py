"""Calling an agent for one case: plain or async, within a time, as an attempt of its own."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import CancelledError, Future, wait
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context

import turnspan
from turnspan.loop.lineages import Lineage
from turnspan_records.again.cases.dataset import Case

T = TypeVar("T")
_STEP: Final = "experiment case"


class AgentEndedError(RuntimeError):
    """The agent raised what would have ended the process or its task (``SystemExit``)."""


def in_thread(function: Callable[..., T], *arguments: Any) -> Future[T]:
    """Run a function in a daemon thread, in a copy of this context."""
    future: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        future.set_running_or_notify_cancel()  # nobody can cancel it, so that its result fits
        try:
            future.set_result(context.run(function, *arguments))
        except BaseException as error:  # noqa: BLE001  it is raised where the result is read
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="turnspan-experiment").start()
    return future


class EventLoop:
    """One event loop in a thread for all runs: clients that agents share are used in one loop."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def wait(self, coroutine: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Run a coroutine as a task of the loop, in a copy of this thread's context.

        Raises:
            TimeoutError: it took longer; it is cancelled.
        """
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                in_thread(self._loop.run_forever)
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        return _within(future, timeout)


LOOP: Final = EventLoop()


def _within(future: Future[T], timeout: float | None) -> T:
    # Wait apart from the result: a TimeoutError of the agent's own is its error.
    if not wait([future], timeout).done:
        future.cancel()
        raise TimeoutError(f"no answer within {timeout:g} seconds")
    try:
        return future.result()
    except CancelledError:  # of a task that the agent itself cancelled
        raise AgentEndedError("CancelledError") from None


async def _kept_in(awaitable: Awaitable[T]) -> T:
    try:
        return await awaitable
    except (SystemExit, KeyboardInterrupt) as error:  # it would end the loop, and all other cases
        raise AgentEndedError(f"{type(error).__name__}: {error}") from error


@dataclass(frozen=True, slots=True)
class AgentCalls:
    """An agent, called for cases as attempts of a version's lineage."""

    agent: Callable[[Any], Any]
    lineage: Lineage
    dataset: str
    timeout: float | None

    def attempt(self, case: Case, repetition: int) -> str:
        """Call the agent for a case; returns the attempt's id. What the agent raises is recorded:
        the attempt failed."""
        token = otel_context.attach(Context())  # a trace of its own, whatever calls this
        try:
            with self._recorded(case, repetition) as attempt:
                attempt.set(output=self._answer(case.input))
            return attempt.id
        finally:
            otel_context.detach(token)

    @contextlib.contextmanager
    def _recorded(self, case: Case, repetition: int) -> Generator[turnspan.Attempt]:
        rollout = self.lineage.rollout(repetition, task=case.id)
        # The attempt has recorded its error.
        with turnspan.step(_STEP), contextlib.suppress(Exception):
            trace_id = trace.get_current_span().get_span_context().trace_id
            about = {"dataset": self.dataset, "trace": f"{trace_id:032x}"}
            with rollout, rollout.attempt(input=case.input, parameters=about) as attempt:
                try:
                    yield attempt
                except Exception:
                    raise
                except BaseException as error:
                    raise AgentEndedError(f"{type(error).__name__}: {error}") from error
                finally:
                    # Before the attempt ends: what has finished has all its records, whenever the
                    # process is killed.
                    turnspan.flush(local=True)

    def _answer(self, given: Any) -> Any:
        if self.timeout is None or inspect.iscoroutinefunction(self.agent):
            answer = self.agent(given)
        else:
            answer = _within(in_thread(self.agent, given), self.timeout)
        if inspect.isawaitable(answer):
            return LOOP.wait(_kept_in(answer), self.timeout)
        if inspect.isgenerator(answer) or inspect.isasyncgen(answer):
            raise TypeError("the agent returned a generator: return its whole answer")
        return answer
