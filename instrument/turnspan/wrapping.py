"""Wrap a function of any kind (plain, coroutine, generator, async generator) around a recording.

The user's function is called outside every guard, its value kept in a local, and that local
returned. A wrapper is of the same kind as what it wraps, so that ``inspect`` says the same of both.
The recording is the current span only while the user's own code runs: never across a consumer's
loop body, so that the code after an abandoned generator keeps its own parent.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


class Recording(Protocol):
    """One execution being recorded. No method ever raises (each guards itself)."""

    def enter(self) -> object | None:
        """Make the span current; returns a token for ``leave``."""
        ...

    def leave(self, token: object | None) -> None:
        """Make the former span current again."""
        ...

    def suspend(self, token: object | None) -> None:
        """As ``leave``, at a yield: the next ``enter`` finds the context as the code left it."""
        ...

    def item(self, value: Any) -> None:
        """A generator yielded this."""
        ...

    def done(self, result: Any) -> None:
        """The code returned; ends the span."""
        ...

    def exhausted(self, result: Any) -> None:
        """A generator ran to its end; ends the span with the items as its output."""
        ...

    def failed(self, error: BaseException) -> None:
        """The code raised; ends the span."""
        ...

    def abandoned(self) -> None:
        """The consumer left a generator before its end; ends the span, without an error."""
        ...


Begin = Callable[[tuple[Any, ...], dict[str, Any]], Recording]


def wrap(func: F, begin_for: Callable[[Callable[..., Any]], Begin]) -> F:
    """Return ``func`` wrapped; ``begin_for(inner)`` gives what starts a recording of one call."""
    descriptor = cast("Any", func)
    for kind in (classmethod, staticmethod):
        if type(descriptor) is kind:
            inner: Any = wrap(cast("Any", func).__func__, begin_for)
            return cast("F", kind(inner))
    wrapper = _wrapper_of(func)(func, begin_for(func))
    return cast("F", functools.update_wrapper(wrapper, func))


def _wrapper_of(func: Any) -> Callable[[Callable[..., Any], Begin], Callable[..., Any]]:
    kind = func
    if not inspect.isroutine(func) and not isinstance(func, functools.partial):
        kind = getattr(func, "__call__", func)  # noqa: B004  the kind of a callable object's call
    if inspect.isasyncgenfunction(kind):
        return _wrap_async_generator
    if inspect.isgeneratorfunction(kind):
        return _wrap_generator
    if inspect.iscoroutinefunction(kind):
        return _wrap_coroutine
    return _wrap_plain


def _wrap_plain(func: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        recording = begin(args, kwargs)
        token = recording.enter()
        try:
            result = func(*args, **kwargs)
        except BaseException as error:
            recording.leave(token)
            recording.failed(error)
            raise
        recording.leave(token)
        recording.done(result)
        return result

    return wrapper


def _wrap_coroutine(func: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        recording = begin(args, kwargs)
        token = recording.enter()
        try:
            result = await func(*args, **kwargs)
        except BaseException as error:
            recording.leave(token)
            recording.failed(error)
            raise
        recording.leave(token)
        recording.done(result)
        return result

    return wrapper


def _wrap_generator(func: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        recording = begin(args, kwargs)
        generator = func(*args, **kwargs)
        sent: Any = None
        thrown: BaseException | None = None
        while True:
            token = recording.enter()
            try:
                if thrown is not None:
                    item = generator.throw(thrown)
                elif sent is None:
                    item = next(generator)
                else:
                    item = generator.send(sent)
            except StopIteration as stop:
                recording.leave(token)
                recording.exhausted(stop.value)
                return stop.value
            except BaseException as error:
                recording.leave(token)
                recording.failed(error)
                raise
            recording.suspend(token)
            recording.item(item)
            thrown = None
            try:
                sent = cast("Any", (yield item))
            except GeneratorExit:
                _close(generator, recording)
                raise
            except BaseException as error:  # noqa: BLE001  what the consumer threw in
                sent, thrown = None, error

    return wrapper


def _close(generator: Any, recording: Recording) -> None:
    token = recording.enter()
    try:
        generator.close()
    except BaseException as error:
        recording.leave(token)
        recording.failed(error)
        raise
    recording.leave(token)
    recording.abandoned()


def _wrap_async_generator(func: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        recording = begin(args, kwargs)
        generator = func(*args, **kwargs)
        sent: Any = None
        thrown: BaseException | None = None
        while True:
            token = recording.enter()
            try:
                if thrown is not None:
                    item = await generator.athrow(thrown)
                else:
                    item = await generator.asend(sent)
            except StopAsyncIteration:
                recording.leave(token)
                recording.exhausted(None)
                return
            except BaseException as error:
                recording.leave(token)
                # Cancellation that arrives at a yield is the event loop closing what was left.
                if thrown is not None and isinstance(error, asyncio.CancelledError):
                    recording.abandoned()
                else:
                    recording.failed(error)
                raise
            recording.suspend(token)
            recording.item(item)
            thrown = None
            try:
                sent = cast("Any", (yield item))
            except GeneratorExit:
                await _aclose(generator, recording)
                raise
            except BaseException as error:  # noqa: BLE001  what the consumer threw in
                sent, thrown = None, error

    return wrapper


async def _aclose(generator: Any, recording: Recording) -> None:
    token = recording.enter()
    try:
        await generator.aclose()
    except BaseException as error:
        recording.leave(token)
        recording.failed(error)
        raise
    recording.leave(token)
    recording.abandoned()
