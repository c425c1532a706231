"""Threads: work done for a turn in another thread stays in the turn.

OpenTelemetry's context does not cross ``ThreadPoolExecutor.submit`` (and so not
``loop.run_in_executor``), ``threading.Thread``, ``threading.Timer`` or
``multiprocessing.pool.ThreadPool``. While a turn, a session or a recording span is current, these
carry the context of whoever started the work to the thread that does it, for as long as the work
lasts. At any other time they do what they always did. Nothing else crosses: context variables of
the application's own behave as ever.

A thread that outlives its turn leaves it (``tracing.handed``), and one that takes work from a
``queue.Queue`` goes over to the turn in which that was put there. So does a task of ``asyncio``,
which has the context by itself, with an ``asyncio.Queue``.

A thread of the standard library's own (a pool's worker, a log listener, a server's loop) outlives
the turn in which it happened to be started, so it starts outside any; so do the workers of process
pools, which a fork inside a turn would otherwise leave in it for good.
"""

from __future__ import annotations

import contextvars
import functools
import queue
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures.thread import ThreadPoolExecutor
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context

from turnspan.patching.carried_work import (
    CARRY,
    ENTER,
    HERE,
    LEAVE,
    OF_TASK,
    OTHER,
    Entered,
    belongs,
    carried,
    carried_by_another,
    context_to_carry,
)
from turnspan.patching.light_instrumentor import PythonInstrumentor
from turnspan.runtime.guard import guard
from turnspan.tracing import handed
from turnspan.tracing.recording import detach

_LONG_LIVED: Final = frozenset(
    {
        "anyio",
        "asyncio",
        "concurrent",
        "http",
        "logging",
        "multiprocessing",
        "opentelemetry",
        "socketserver",
        "turnspan",
        "turnspan_clickhouse",
        "wsgiref",
    }
)
"""Packages whose threads serve whoever comes, not whoever started them."""

_POOL_WORKERS: Final = frozenset({"concurrent.futures.process", "multiprocessing.pool"})


class ThreadingInstrumentor(PythonInstrumentor):
    """Carries the current turn, session and span into threads. Takes nothing from the user's work.

    Steps back where ``opentelemetry-instrumentation-threading`` is on, whichever came first.
    """

    package = "threads"
    _restore: tuple[Callable[[], None], ...] = ()
    _waiting = False
    _on = False

    @property
    def refusal(self) -> str:
        """Why threads are not carried by us; empty where they are."""
        return "" if self._on and not carried_by_another() else f"{OTHER} does it"

    def use_default_provider(self, provider: trace.TracerProvider | None) -> None:
        """No spans are made here, so nothing depends on the provider."""

    def _instrument(self, **kwargs: Any) -> None:
        if carried_by_another():
            return  # a wrapper on top of that one would keep it from being taken off
        self._on = True
        self._patch(ThreadPoolExecutor, "submit", _submit)
        self._patch(threading.Thread, "start", _start)
        self._patch(queue.Queue, "put", _put)
        self._patch(queue.Queue, "get", _get)
        if "start" in vars(threading.Timer):  # what the other one leaves behind when taken off
            self._patch(threading.Timer, "start", _start)
        for name in _WHEN_IMPORTED:
            if name in sys.modules:
                self._imported(sys.modules[name])
            elif not self._waiting:  # such a hook cannot be taken back: never a second one
                import wrapt

                wrapt.register_post_import_hook(self._imported, name)
        self._waiting = True

    def _uninstrument(self, **kwargs: Any) -> None:
        self._on = False
        for restore in reversed(self._restore):
            restore()
        self._restore = ()

    def _imported(self, module: Any) -> None:
        with guard("instrument threads"):
            for owner, name, make in _WHEN_IMPORTED[module.__name__] if self._on else ():
                self._patch(getattr(module, owner), name, make)

    def _patch(self, owner: Any, name: str, make: _Make) -> None:
        attributes: Mapping[str, Any] = owner.__dict__
        inherited = name not in attributes
        original = getattr(owner, name)
        alive = [True]
        wrapper = functools.wraps(original)(make(original, alive))
        setattr(owner, name, wrapper)

        def restore() -> None:
            alive.clear()  # where somebody wrapped ours since, it stays below, and does nothing
            if attributes.get(name) is wrapper:
                if inherited:
                    delattr(owner, name)
                else:
                    setattr(owner, name, original)

        self._restore = (*self._restore, restore)


_Make = Callable[[Any, list[bool]], Callable[..., Any]]
"""``make(original, alive)`` gives a wrapper that does nothing once ``alive`` is empty."""


def _submit(original: Any, alive: list[bool]) -> Callable[..., Any]:
    def submit(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return original(self, carried(fn) if alive else fn, *args, **kwargs)

    return submit


def _create_task(original: Any, alive: list[bool]) -> Callable[..., Any]:
    def create_task(self: Any, coro: Any, **options: Any) -> Any:
        own = _task_context() if alive and options.get("context") is None else None
        if own is None:
            return original(self, coro, **options)
        return own.run(original, self, coro, **options)

    return create_task


def _task_context() -> contextvars.Context | None:
    """A copy of the context variables, of which the new task takes its own, with a context of
    OpenTelemetry's that ends with the turn."""
    with CARRY:
        context = otel_context.get_current()
        if context and belongs(context):
            own, mine = contextvars.copy_context(), handed.begin(context)
            own.run(otel_context.attach, mine.context)
            own.run(OF_TASK.set, mine)
            return own
    return None


def _pool_method(original: Any, alive: list[bool]) -> Callable[..., Any]:
    def method(self: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        return original(self, carried(func) if alive else func, *args, **kwargs)

    return method


def _start(original: Any, alive: list[bool]) -> Callable[..., Any]:
    def start(self: Any) -> Any:
        take_back = _carry_run(self) if alive else None
        try:
            return original(self)
        except BaseException:
            if take_back is not None:  # no thread could be started
                take_back()
            raise

    return start


def _carry_run(thread: threading.Thread) -> Callable[[], None] | None:
    """Have the thread run in the present context; returns what undoes that.

    ``run`` is replaced on the object, as a class of the application's may have one of its own.
    """
    with CARRY:
        context = context_to_carry()
        if context is None or thread.ident is not None or _is_long_lived(thread):
            return None
        attributes = thread.__dict__
        own = attributes.get("run")
        run, held = thread.run, [context]

        def take_back() -> None:
            if attributes.get("run") is carry:
                del attributes["run"]
                if own is not None:
                    attributes["run"] = own

        def carry() -> None:
            take_back()
            entered = Entered(held.pop())
            try:
                run()
            finally:
                entered.leave()

        attributes["run"] = carry
        return take_back
    return None


def _is_long_lived(thread: threading.Thread) -> bool:
    target = getattr(thread, "_target", None)
    plain = type(thread).run is threading.Thread.run and target is not None
    module = getattr(target if plain else type(thread), "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] in _LONG_LIVED


_ITEMS: Final = "_turnspan_items"
"""Where a queue keeps who put what: lists of contexts by the identity of the item."""


def _put(original: Any, alive: list[bool]) -> Callable[..., Any]:
    def put(self: Any, item: Any, *args: Any, **kwargs: Any) -> Any:
        waiting = _note_item(self, item) if alive else None
        try:
            return original(self, item, *args, **kwargs)
        except BaseException:
            if waiting:  # it is full
                waiting.pop()
            raise

    return put


def _get(original: Any, alive: list[bool]) -> Callable[..., Any]:
    def get(self: Any, *args: Any, **kwargs: Any) -> Any:
        item = original(self, *args, **kwargs)
        if alive:
            _take_item(self, item)
        return item

    return get


def _note_item(waiting_in: Any, item: Any) -> list[Context | None] | None:
    with CARRY:
        context = context_to_carry()
        items = waiting_in.__dict__.get(_ITEMS)
        if context is None and not items:
            return None
        if items is None:
            items = waiting_in.__dict__.setdefault(_ITEMS, {})
        waiting: list[Context | None] = items.setdefault(id(item), [])
        waiting.append(context)
        return waiting
    return None


def _take_item(taken_from: Any, item: Any) -> None:
    """A thread that takes work goes over to the turn of whoever put it there.

    Only one that runs in nothing but what it was handed: inside a block or a call of its own, an
    item is an answer.
    """
    with ENTER:
        context: Context | None = None
        items = taken_from.__dict__.get(_ITEMS)
        if items:
            waiting = items.get(id(item))
            if waiting:
                context = waiting.pop(0)
                if any(other is not context for other in waiting):
                    context = Context()  # the same object by several: whose it is, nobody knows
            if not waiting:
                items.pop(id(item), None)
            if not taken_from.qsize():
                items.clear()  # what was taken past get() must not pile up
        mine: handed.Handed | None = OF_TASK.get() or getattr(HERE, "handed", None)
        if mine is None or otel_context.get_current() is not mine.context:
            return
        if context is not None or mine.item:
            mine.item = True
            mine.context = Context(context or {})
            otel_context.attach(mine.context)


def _run_process(original: Any, alive: list[bool]) -> Callable[..., Any]:
    def run(self: Any) -> Any:
        token = _leave_forked_turn(self) if alive else None
        try:
            return original(self)
        finally:
            with LEAVE:
                detach(token)

    return run


def _leave_forked_turn(process: Any) -> object | None:
    """In the worker of a process pool: leave the turn that the pool was forked in."""
    with ENTER:
        module = getattr(getattr(process, "_target", None), "__module__", None)
        if module in _POOL_WORKERS and belongs(otel_context.get_current()):
            return otel_context.attach(Context())
    return None


_WHEN_IMPORTED: Final[Mapping[str, tuple[tuple[str, str, _Make], ...]]] = {
    "asyncio": (
        ("BaseEventLoop", "create_task", _create_task),
        ("Queue", "put_nowait", _put),
        ("Queue", "get_nowait", _get),
    ),
    "multiprocessing.pool": (
        ("ThreadPool", "apply_async", _pool_method),
        ("ThreadPool", "_map_async", _pool_method),
        ("ThreadPool", "imap", _pool_method),
        ("ThreadPool", "imap_unordered", _pool_method),
    ),
    "multiprocessing.process": (("BaseProcess", "run", _run_process),),
}
"""Modules that are patched when the application imports them: classes, methods and wrappers."""
