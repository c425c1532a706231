"""Work that runs elsewhere in the context of whoever started it.

A thread, or a task, that was handed a context runs in one of its own, which ends with the turn
(``tracing.handed``).
"""

from __future__ import annotations

import contextvars
import functools
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context

from turnspan.runtime.guard import guard
from turnspan.tracing import handed
from turnspan.tracing.context import SESSION_KEY, TURN_KEY
from turnspan.tracing.recording import detach

CARRY = guard("threads.carry")
ENTER = guard("threads.enter")
LEAVE = guard("threads.leave")

OTHER: Final = "opentelemetry.instrumentation.threading"


class Carried:
    """A callable that runs in the given context wherever it is called."""

    __slots__ = ("_context", "_func")

    def __init__(self, func: Callable[..., Any], context: Context) -> None:
        self._func = func
        self._context = context

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the function; what it gives or raises is untouched."""
        func, entered = self._func, Entered(self._context, given=True)
        # The traceback of an error holds this frame, and must not hold the turn through it.
        del self
        try:
            return func(*args, **kwargs)
        finally:
            entered.leave()

    def __reduce__(self) -> tuple[Any, ...]:
        # Executors that copy the work (into another interpreter) get it without the context.
        return functools.partial, (self._func,)


HERE = threading.local()
"""What this thread was handed: ``handed``."""
OF_TASK: Final[contextvars.ContextVar[handed.Handed | None]] = contextvars.ContextVar(
    "turnspan-task", default=None
)
"""What the task here was handed."""


class Entered:
    """A thread in a context of its own, for as long as the work lasts."""

    __slots__ = ("_before", "_handed", "_token")

    def __init__(self, context: Context, *, given: bool = False) -> None:
        self._token: object | None = None
        self._handed: handed.Handed | None = None
        self._before: handed.Handed | None = None
        with ENTER:
            self._before = getattr(HERE, "handed", None)
            # Work that was submitted in time is its turn's, although it begins late.
            self._handed = HERE.handed = handed.begin(context, given=given)
            self._token = otel_context.attach(self._handed.context)

    def leave(self) -> None:
        """The work is done."""
        with LEAVE:
            detach(self._token)
            HERE.handed = self._before
            mine, self._handed = self._handed, None  # the traceback of an error holds this object
            if mine is not None:
                handed.done(mine)


def carried(func: Callable[..., Any]) -> Callable[..., Any]:
    """``func``, to run elsewhere in the present context; itself where there is nothing to carry."""
    with CARRY:
        context = context_to_carry()
        if context is not None:
            return Carried(func, context)
    return func


def context_to_carry() -> Context | None:
    """The current context, where there is something to carry and nobody else does it."""
    context = otel_context.get_current()
    if context and belongs(context) and not carried_by_another():
        return context
    return None


def belongs(context: Context) -> bool:
    """Whether work begun in this context belongs to a turn, a session or a recording span."""
    return (
        TURN_KEY in context
        or SESSION_KEY in context
        or trace.get_current_span(context).is_recording()
    )


def carried_by_another() -> bool:
    """Whether opentelemetry-instrumentation-threading is on: it does the same."""
    module = sys.modules.get(OTHER)
    if module is None:
        return False
    return bool(module.ThreadingInstrumentor().is_instrumented_by_opentelemetry)
