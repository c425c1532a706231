"""Contexts, values and errors that are hard on a wrapper: the application never notices it."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import weakref
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode

import turnspan
from emit.conftest import Spans
from turnspan import semconv
from turnspan.tracing.content_store import ToolContent


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


# -- contexts ------------------


def test_user_context_variables_in_wrapped_code(spans: Spans) -> None:
    """What a wrapped function sets is set for its caller, as ever; also over a yield."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")

    @turnspan.step
    def function() -> None:
        variable.set("function")

    @turnspan.step
    def generator() -> Iterator[str]:
        variable.set("generator")
        yield variable.get()
        yield variable.get()

    @turnspan.step
    async def coroutine() -> None:
        variable.set("coroutine")

    async def main() -> str:
        await coroutine()
        return variable.get()

    function()
    assert variable.get() == "function"
    running = generator()
    assert next(running) == variable.get() == "generator"
    variable.set("consumer")
    assert next(running) == "consumer"
    assert asyncio.run(main()) == "coroutine"


def test_async_generators_left_open_when_the_loop_ends(
    spans: Spans, caplog: pytest.LogCaptureFixture
) -> None:
    """The event loop closes all it knows of at the same time: ours and what is inside do not get in
    each other's way, the clean-up of the application runs once, nothing is logged."""
    cleaned: list[int] = []

    @turnspan.agent("stream")
    async def stream(number: int) -> AsyncIterator[int]:
        try:
            yield number
            yield number
        finally:
            await asyncio.sleep(0.001)
            cleaned.append(number)

    async def main() -> list[AsyncIterator[int]]:
        left = [stream(number) for number in range(20)]
        for generator in left:
            async for _ in generator:
                break
        return left

    with caplog.at_level(logging.DEBUG):
        asyncio.run(main())
    assert sorted(cleaned) == list(range(20))
    assert [record for record in caplog.records if record.name != "asyncio"] == []
    assert [record.message for record in caplog.records if "error" in record.message] == []
    assert len(spans.all()) == 20
    assert {attribute(span, semconv.STREAM_OUTCOME) for span in spans.all()} == {"abandoned"}


def test_async_generator_without_an_event_loop_of_hooks(spans: Spans) -> None:
    """Driven by hand and dropped: the span ends, and the loop's hooks are what they were."""

    @turnspan.step("x")
    async def stream() -> AsyncIterator[int]:
        yield 1
        yield 2

    generator: Any = stream()
    with pytest.raises(StopIteration):
        generator.__anext__().send(None)
    del generator
    gc.collect()
    assert attribute(spans.one("x"), semconv.STREAM_OUTCOME) == "abandoned"


@pytest.mark.parametrize("kind", ["agent", "tool", "step", "workflow"])
def test_block_left_in_another_context(spans: Spans, kind: str) -> None:
    """Entered in one context and left in another (as web frameworks do with a dependency, and the
    event loop with an abandoned generator): the span ends, nothing stays current."""
    scope: Any = getattr(turnspan, kind)("x")
    first, second = contextvars.copy_context(), contextvars.copy_context()
    first.run(scope.__enter__)
    second.run(scope.__exit__, None, None, None)
    assert len(spans.all()) == 1
    assert not trace.get_current_span().get_span_context().is_valid


def test_block_inside_an_abandoned_async_generator(
    spans: Spans, caplog: pytest.LogCaptureFixture
) -> None:
    """``with turnspan.agent(...)`` around yields: the turn ends, aborted, when the loop ends."""

    async def stream() -> AsyncIterator[int]:
        with turnspan.agent("x"):
            yield 1
            yield 2

    async def main() -> AsyncIterator[int]:
        generator = stream()
        async for _ in generator:
            break
        return generator

    with caplog.at_level(logging.DEBUG, logger="opentelemetry"):
        asyncio.run(main())
    assert caplog.records == []
    assert attribute(spans.one("invoke_agent x"), semconv.TURN_STOP_REASON) == "user_aborted"


# -- values ------------------


class Hostile:
    """An object whose every special method raises."""

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __str__(self) -> str:
        raise RuntimeError("str")

    def __len__(self) -> int:
        raise RuntimeError("len")

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("iter")

    def __bool__(self) -> bool:
        raise RuntimeError("bool")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    def __hash__(self) -> int:
        raise RuntimeError("hash")


@pytest.mark.tests_internal_errors
def test_hostile_values_cost_only_themselves(spans: Spans) -> None:
    """T-32: the same objects come back, the spans and the turn's verdict are there, and a marker
    stands for what cannot be read."""
    hostile = Hostile()

    @turnspan.tool
    def echo(value: Any) -> Any:
        return value

    @turnspan.step
    def stream(value: Any) -> Iterator[Any]:
        yield value

    @turnspan.agent
    def boss(message: Any) -> Any:
        assert echo(message) is message
        assert next(stream(message)) is message
        return message

    assert boss(hostile) is hostile
    turn, tool = spans.one("invoke_agent boss"), spans.one("execute_tool echo")
    assert nested_in(tool, turn)
    assert nested_in(spans.one("stream"), turn)
    assert attribute(turn, semconv.TURN_STOP_REASON) == "completed"
    content = spans.content(tool)
    assert isinstance(content, ToolContent)
    assert content.arguments == {"value": "<unreadable Hostile>"}
    assert content.result == "<unreadable Hostile>"


class HostileError(Exception):
    """An error that cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError("str")


@pytest.mark.tests_internal_errors
def test_error_that_cannot_be_printed(spans: Spans) -> None:
    """It reaches the caller; the span is an error of its type."""
    error = HostileError()

    @turnspan.tool
    def fail() -> None:
        raise error

    with pytest.raises(HostileError) as caught:
        fail()
    assert caught.value is error
    span = spans.one("execute_tool fail")
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == attribute(span, semconv.ERROR_TYPE) == "HostileError"


@pytest.mark.parametrize("kind", ["function", "coroutine", "generator", "thrown"])
def test_errors_hold_nothing(spans: Spans, kind: str) -> None:
    """An error that passed through us is freed when the application lets go of it: no cycle."""

    @turnspan.step
    def function() -> None:
        raise Oops

    @turnspan.step
    async def coroutine() -> None:
        raise Oops

    @turnspan.step
    def generator() -> Iterator[int]:
        yield 1
        raise Oops

    def run() -> weakref.ref[Oops]:
        try:
            if kind == "function":
                function()
            elif kind == "coroutine":
                coroutine().send(None)
            elif kind == "generator":
                list(generator())
            else:
                running: Any = generator()
                next(running)
                running.throw(Oops())
        except Oops as error:
            assert error.__context__ is None
            return weakref.ref(error)
        raise AssertionError

    gc.collect()
    gc.disable()
    try:
        assert run()() is None
    finally:
        gc.enable()


def test_labels_of_other_types(spans: Spans) -> None:
    """Where we ask for a text or a number and get something else, the rest is still recorded."""
    odd: Any = {"version": 3, "max_rounds": 2.5}

    @turnspan.agent("a", **odd)
    def answer(question: str) -> str:
        said: Any = {"intent": 5, "chat_mode": None, "target": True}
        turnspan.current_turn().set(**said)
        missing: Any = None
        with turnspan.tool("t", call_id=missing, description=missing, type=missing) as call:
            call.result = 1
        return "yes"

    with turnspan.session("s") as session:
        session.id = odd["version"]
        session.user_id = odd["max_rounds"]
        answer("?")

    span = spans.one("invoke_agent a")
    assert attribute(span, semconv.TURN_STOP_REASON) == "completed"
    assert attribute(span, semconv.TURN_AGENT_VERSION) == "3"
    assert attribute(span, semconv.TURN_INTENT) == 5
    assert attribute(span, semconv.TURN_TARGET) is True
    assert nested_in(spans.one("execute_tool t"), span)
    assert spans.content(span) is not None
