"""Functions and values that are hard to wrap: one ended span each, and the user's own untouched."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import inspect
import pickle
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, cast

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode

import turnspan
from emit.conftest import Spans
from turnspan import semconv
from turnspan.tracing.content_store import ToolContent, TurnContent


def attribute(span: ReadableSpan, key: str) -> Any:
    assert span.attributes is not None
    return span.attributes.get(key)


def lasted(span: ReadableSpan) -> float:
    """A span's duration, in seconds."""
    assert span.start_time is not None
    assert span.end_time is not None
    return (span.end_time - span.start_time) / 1e9


def nested_in(child: ReadableSpan, parent: ReadableSpan) -> bool:
    assert parent.context is not None
    return child.parent is not None and child.parent.span_id == parent.context.span_id


class Oops(Exception):
    """An error of the application's."""


@turnspan.step("inner")
def inner() -> None:
    """Something that has a span of its own."""


# -- functions that return what has yet to run ------------------


async def later(value: int) -> int:
    """A coroutine with a child."""
    await asyncio.sleep(0.01)
    inner()
    return value


def items(count: int) -> Iterator[int]:
    """A generator with a child."""
    for number in range(count):
        time.sleep(0.005)
        inner()
        yield number


async def async_items(count: int) -> AsyncIterator[int]:
    """An async generator with a child."""
    for number in range(count):
        await asyncio.sleep(0.005)
        inner()
        yield number


def gives_later(value: int) -> Coroutine[Any, Any, int]:
    return later(value)


def gives_items(count: int) -> Iterator[int]:
    return items(count)


def gives_async_items(count: int) -> AsyncIterator[int]:
    return async_items(count)


class Service:
    """Methods, and an object that can be called."""

    async def run(self, value: int) -> int:
        return await later(value)

    async def __call__(self, value: int) -> int:
        return await later(value)


async def collect(source: AsyncIterator[int]) -> list[int]:
    return [item async for item in source]


@functools.singledispatch
def dispatched(value: object) -> Coroutine[Any, Any, int]:
    raise NotImplementedError


@dispatched.register
def _(value: int) -> Coroutine[Any, Any, int]:
    return later(value)


@pytest.mark.parametrize(
    "function",
    [
        later,
        gives_later,
        functools.partial(later),
        functools.partial(Service().run),
        functools.partial(Service()),
        Service().run,
        Service(),
        dispatched,
    ],
    ids=[
        "coroutine",
        "function",
        "partial",
        "of method",
        "of object",
        "method",
        "object",
        "dispatch",
    ],
)
def test_coroutines_of_every_origin(spans: Spans, function: Callable[[int], Any]) -> None:
    """The span lasts until the coroutine is over and is the parent of what happens inside."""
    decorated: Any = turnspan.tool("x")(function)
    if not isinstance(function, Service):  # of which inspect knows less than we do
        assert inspect.iscoroutinefunction(decorated) == inspect.iscoroutinefunction(function)
    running = decorated(3)
    assert inspect.iscoroutine(running)
    assert asyncio.run(running) == 3

    span = spans.one("execute_tool x")
    assert lasted(span) >= 0.01
    assert nested_in(spans.one("inner"), span)
    content = spans.content(span)
    assert isinstance(content, ToolContent)
    assert content.result == 3


@pytest.mark.parametrize(
    "function",
    [items, gives_items, functools.partial(items)],
    ids=["generator", "function", "partial"],
)
def test_generators_of_every_origin(spans: Spans, function: Callable[[int], Any]) -> None:
    """As for coroutines; the items are the output."""
    running = turnspan.agent("x")(function)(2)
    assert inspect.isgenerator(running)
    assert list(running) == [0, 1]

    span = spans.one("invoke_agent x")
    assert lasted(span) >= 0.01
    assert all(nested_in(s, span) for s in spans.all() if s.name == "inner")
    assert attribute(span, semconv.STREAM_OUTCOME) == "complete"
    content = spans.content(span)
    assert isinstance(content, TurnContent)
    assert content.turn.reply == [0, 1]


@pytest.mark.parametrize(
    "function",
    [async_items, gives_async_items, functools.partial(async_items)],
    ids=["generator", "function", "partial"],
)
def test_async_generators_of_every_origin(spans: Spans, function: Callable[[int], Any]) -> None:
    """As for coroutines; the items are the output."""
    running: Any = turnspan.agent("x")(function)(2)
    assert inspect.isasyncgen(cast("object", running))
    assert asyncio.run(collect(running)) == [0, 1]

    span = spans.one("invoke_agent x")
    assert lasted(span) >= 0.01
    assert all(nested_in(s, span) for s in spans.all() if s.name == "inner")
    content = spans.content(span)
    assert isinstance(content, TurnContent)
    assert content.turn.reply == [0, 1]


def test_returned_generator_that_is_never_started(spans: Spans) -> None:
    """The function did run: its span ends when the generator is dropped, without an error."""
    running = turnspan.agent("x")(gives_items)(2)
    del running
    gc.collect()
    span = spans.one("invoke_agent x")
    assert attribute(span, semconv.STREAM_OUTCOME) == "abandoned"
    assert span.status.status_code is StatusCode.UNSET


def test_generator_that_the_application_keeps_is_its_own(spans: Spans) -> None:
    """A function that hands out one generator again and again: each loop goes on where the last
    broke off, as without us."""
    kept = items(4)

    @turnspan.step("x")
    def stream() -> Iterator[int]:
        return kept

    assert stream() is kept
    for _ in stream():
        break
    gc.collect()
    assert list(stream()) == [1, 2, 3]
    assert spans.names().count("x") == 3


def test_generator_function_that_is_never_started_has_no_span(spans: Spans) -> None:
    """Nothing ran, so there is nothing to tell."""
    turnspan.agent("x")(items)(2)
    gc.collect()
    assert spans.all() == ()


def test_generator_duration_ends_after_the_last_item(spans: Spans) -> None:
    """The time that the consumer takes between items counts, the time after the end does not."""
    for _ in turnspan.step("x")(items)(2):
        time.sleep(0.01)
    ended = time.time_ns()
    time.sleep(0.01)
    span = spans.one("x")
    assert lasted(span) >= 0.03
    assert span.end_time is not None
    assert span.end_time <= ended


@pytest.mark.parametrize("error", [None, Oops("x"), asyncio.CancelledError()])
def test_generator_without_items_has_an_outcome(spans: Spans, error: Any) -> None:
    """Also one that yields nothing says how it ended."""

    @turnspan.step("x")
    def generator() -> Iterator[int]:
        if error is not None:
            raise error
        yield from ()

    with contextlib.suppress(Oops, asyncio.CancelledError):
        list(generator())
    expected = {type(None): "complete", Oops: "error", asyncio.CancelledError: "cancelled"}
    assert attribute(spans.one("x"), semconv.STREAM_OUTCOME) == expected[type(error)]


@pytest.mark.parametrize("func", [items, async_items])
def test_wrong_arguments_raise_at_the_call(func: Any, spans: Spans) -> None:
    """As they do undecorated, before any step is taken; the span says so."""
    wrong: Any = turnspan.step("x")(func)

    with pytest.raises(TypeError, match="positional argument"):
        wrong(1, 2, 3)

    assert spans.one("x").status.status_code is StatusCode.ERROR


def test_a_decorated_generator_function_is_still_one(spans: Spans) -> None:
    """To whoever inspects it, as a method too; and its generators carry its name."""

    class Source:
        start = 3

        @turnspan.step("x")
        def items(self, count: int = 2) -> Iterator[int]:
            """So many."""
            yield from range(self.start, self.start + count)

    assert inspect.isgeneratorfunction(Source.items)
    assert inspect.isgeneratorfunction(Source().items)
    assert str(inspect.signature(Source().items)) == "(count: 'int' = 2) -> 'Iterator[int]'"
    assert (Source.items.__name__, Source.items.__doc__) == ("items", "So many.")
    made: Any = Source().items()
    assert made.__qualname__.endswith("Source.items")
    assert [list(Source().items(1)), list(Source.items(Source()))] == [[3], [3, 4]]
    assert spans.names() == ["x", "x"]


# -- callables of every kind ------------------


def test_partials(spans: Spans) -> None:
    """Of a class, a method, a builtin; they take the name of what is inside."""
    made = turnspan.tool(functools.partial(complex, 1))(2)
    assert made == complex(1, 2)
    assert turnspan.tool(functools.partial(Oops, "a"))().args == ("a",)
    assert spans.names() == ["execute_tool complex", "execute_tool Oops"]
    wrapped: Any = turnspan.tool(functools.partial(functools.partial(pow, 2), 3))
    assert wrapped() == 8
    assert wrapped.__name__ == "pow"


def test_partial_methods_and_stacked_descriptors(spans: Spans) -> None:
    """Descriptors stay descriptors, on either side of the decorator."""

    class Box:
        size = 2

        @turnspan.tool
        def scale(self, by: int, *, plus: int = 0) -> int:
            return self.size * by + plus

        double: Any = turnspan.tool(cast("Any", functools.partialmethod(scale, 2, plus=1)))

        @classmethod
        @turnspan.tool
        def named(cls, name: str) -> str:
            return cls.__name__ + name

        @staticmethod
        @turnspan.tool
        def free(value: int) -> int:
            return value

        @property
        @turnspan.tool
        def area(self) -> int:
            return self.size**2

    class Sub(Box):
        size = 3

        @turnspan.tool
        def scale(self, by: int, *, plus: int = 0) -> int:
            return super().scale(by, plus=plus)

    box: Any = Sub()
    assert box.double() == 7
    assert Sub.named("!") == "Sub!"
    assert box.free(1) == 1
    assert box.area == 9
    assert Sub.scale(box, 2) == 6
    assert Box.scale(box, 1) == 3


def test_classes_are_refused() -> None:
    """A decorated class would be a function: no isinstance, no subclass. The message says what to
    do instead."""
    for decorator in (turnspan.agent, turnspan.tool("named")):
        with pytest.raises(TypeError, match=r"decorate a method of the class Service \("):
            decorator(Service)  # pyright: ignore


@turnspan.agent
def importable(question: str) -> str:
    """A module's function."""
    return question


def test_decorated_functions_can_be_pickled() -> None:
    """As process pools need it: by name, like the function itself."""
    assert pickle.loads(pickle.dumps(importable)) is importable
    assert importable.__doc__ == "A module's function."
    assert inspect.unwrap(importable) is not importable
