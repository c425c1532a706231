"""Wrap a function of any kind (plain, coroutine, generator, async generator) around a recording.

The user's function is called outside every guard, its value kept in a local, and that local
returned. A wrapper is of the same kind as what it wraps, so that ``inspect`` says the same of both.
The recording is the current span only while the user's own code runs: never across a consumer's
loop body, so that the code after an abandoned generator keeps its own parent.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from turnspan.runtime.guard import guard
from turnspan.runtime.value_exceptions import is_cancelled
from turnspan.tracing.recording_protocol import NO_RECORDING, Recording, StartRecording, WrapperOf

F = TypeVar("F", bound=Callable[..., Any])


def wrap(func: F, begin_for: Callable[[Callable[..., Any]], StartRecording]) -> F:
    """Return ``func`` wrapped; ``begin_for(inner)`` gives what starts a recording of one call.

    Raises:
        TypeError: ``func`` is a class, which as a function would be a class no more.
    """
    descriptor = cast("Any", func)
    for kind in (classmethod, staticmethod):
        if type(descriptor) is kind:
            inner: Any = wrap(cast("Any", func).__func__, begin_for)
            return cast("F", kind(inner))
    if isinstance(descriptor, functools.partialmethod):
        later = cast("Any", descriptor)
        method: Any = wrap(later.func, begin_for)
        return cast("F", functools.partialmethod(method, *later.args, **later.keywords))
    if inspect.isclass(func):
        raise TypeError(
            f"decorate a method of the class {func.__name__} (its run or __call__), not the class"
        )
    kind_of_wrapper = _wrapper_of(func)
    if type(func) is not types.FunctionType or kind_of_wrapper in _LATER:
        # wrapt, only for callables that are no functions.
        from turnspan.tracing.wrapped_callable import around

        later = kind_of_wrapper in _LATER
        return cast("F", around(func, kind_of_wrapper, begin_for, later=later))
    wrapper: Any = functools.update_wrapper(kind_of_wrapper(func, begin_for(func)), func)
    wrapper.__defaults__, wrapper.__kwdefaults__ = func.__defaults__, func.__kwdefaults__
    return cast("F", wrapper)


def called_of(func: Any) -> Any:
    """What says of which kind a callable is: itself, or the ``__call__`` of a callable object."""
    if inspect.isroutine(func) or isinstance(func, functools.partial):
        return cast("Any", func)
    return getattr(func, "__call__", func)  # noqa: B004


def _wrapper_of(func: Any) -> WrapperOf:
    kind = called_of(func)
    if inspect.isasyncgenfunction(kind):
        return _wrap_async_generator
    if inspect.isgeneratorfunction(kind):
        return _wrap_generator
    if inspect.iscoroutinefunction(kind):
        return _wrap_coroutine
    return _wrap_plain


def _wrap_plain(func: Callable[..., Any], begin: StartRecording) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        recording = begin(args, kwargs)
        token = recording.enter()
        try:
            result = (recording.instead or func)(*args, **kwargs)
        except BaseException as error:
            recording.leave(token)
            recording.failed(error)
            raise
        recording.leave(token)
        if (
            type(result) in _RUNS_LATER
            and recording is not NO_RECORDING
            and sys.getrefcount(result) <= 2  # nobody but this frame holds it
        ):
            return _follow(result, recording)
        recording.succeeded(result)
        return result

    return wrapper


def _wrap_coroutine(func: Callable[..., Any], begin: StartRecording) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        recording = begin(args, kwargs)
        token = recording.enter()
        try:
            result = await (recording.instead or func)(*args, **kwargs)
        except BaseException as error:
            recording.leave(token)
            recording.failed(error)
            raise
        recording.leave(token)
        recording.succeeded(result)
        return result

    return wrapper


def _wrap_generator(func: Callable[..., Any], begin: StartRecording) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        recording = begin(args, kwargs)
        generator: Any = None
        sent: Any = None
        thrown: BaseException | None = None
        while True:
            token = recording.enter()
            try:
                if generator is None:
                    generator = (recording.instead or func)(*args, **kwargs)
                if thrown is not None:
                    item = generator.throw(thrown)
                elif sent is None:
                    item = next(generator)
                else:
                    item = generator.send(sent)
            except StopIteration as stop:
                recording.leave(token)
                _finished(recording, thrown, stop.value)
                return stop.value
            except BaseException as error:
                recording.leave(token)
                _raised(recording, thrown, error)
                thrown = None  # it holds this frame, which must not hold it
                raise
            recording.suspend(token, item)
            thrown = None
            try:
                sent = cast("Any", (yield item))
            except BaseException as error:  # noqa: BLE001  thrown in; GeneratorExit when closed
                sent, thrown = None, error

    return wrapper


def _wrap_async_generator(func: Callable[..., Any], begin: StartRecording) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        recording = begin(args, kwargs)
        generator: Any = None
        sent: Any = None
        thrown: BaseException | None = None
        while True:
            token = recording.enter()
            try:
                if generator is None:
                    generator = (recording.instead or func)(*args, **kwargs)
                    step = _first_step(generator)
                elif thrown is not None:
                    step = generator.athrow(thrown)
                else:
                    step = generator.asend(sent)
                item = await step
            except StopAsyncIteration:
                recording.leave(token)
                _finished(recording, thrown, None)
                return
            except BaseException as error:
                recording.leave(token)
                _raised(recording, thrown, error)
                thrown = None  # it holds this frame, which must not hold it
                raise
            recording.suspend(token, item)
            thrown = None
            try:
                sent = cast("Any", (yield item))
            except BaseException as error:  # noqa: BLE001  thrown in; GeneratorExit when closed
                sent, thrown = None, error

    return wrapper


_LATER: Final = frozenset({_wrap_generator, _wrap_async_generator})


def _finished(recording: Recording, thrown: BaseException | None, result: Any) -> None:
    """A generator returned: by itself, or because it was closed."""
    if isinstance(thrown, GeneratorExit):
        recording.abandoned()
    else:
        recording.exhausted(result)


def _raised(recording: Recording, thrown: BaseException | None, error: BaseException) -> None:
    """A generator raised. Passing on how its consumer left it is no failure."""
    left = isinstance(thrown, GeneratorExit) and isinstance(error, GeneratorExit)
    # Cancellation that arrives at a yield is the event loop closing what was left.
    if left or (thrown is not None and is_cancelled(error)):
        recording.abandoned()
    else:
        recording.failed(error, stream=True)


def _first_step(generator: Any) -> Any:
    """Begin an async generator that nobody but its wrapper knows of.

    The event loop closes the generators it knows of when it ends, all at the same time: were this
    one among them, its wrapper would find it running when it closes it in turn.
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        return generator.asend(None)  # the hooks are read here, not when it is awaited
    finally:
        sys.set_asyncgen_hooks(*hooks)


# -- plain functions that return what has yet to run ------------------

_RUNS_LATER: Final = frozenset({types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType})
"""A function that is none of these kinds may return one (a partial of a method, a dispatcher, a
lambda): what it does happens then, and so does what is to be recorded. One that the application
keeps a reference to is returned as it is: dropping our wrapper would close it."""


class _Unstarted:
    """A recording handed to a coroutine or generator that may never be started."""

    __slots__ = ("_recording",)

    def __init__(self, recording: Recording) -> None:
        self._recording: Recording | None = recording

    def begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Recording:
        """It starts: the recording is its own from here on."""
        recording, self._recording = self._recording, None
        return recording if recording is not None else NO_RECORDING

    def __del__(self) -> None:
        if self._recording is not None:
            self._recording.abandoned()


def _follow(running: Any, recording: Recording) -> Any:
    """The same coroutine or generator, recorded until its end."""
    with guard("wrapping.follow"):
        begin = _Unstarted(recording).begin
        if inspect.iscoroutine(running):
            followed = _wrap_coroutine(lambda: running, begin)()
        elif inspect.isgenerator(running):
            followed = _wrap_generator(lambda: running, begin)()
        else:
            followed = _wrap_async_generator(lambda: running, begin)()
        followed.__name__, followed.__qualname__ = running.__name__, running.__qualname__
        return followed
    return running
