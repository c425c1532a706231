"""Decorators on functions of every kind: one ended span each, and the user's values untouched."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import logging
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode

import turnspan
from emit.conftest import Spans
from turnspan import semconv
from turnspan.tracing.content_store import ToolContent, TurnContent


def attribute(span: ReadableSpan, key: str) -> Any:
    assert span.attributes is not None
    return span.attributes.get(key)


def test_agent_names_its_span_and_keeps_what_was_said(spans: Spans) -> None:
    """A bare decorator: the function's name, the message argument, the returned text."""

    @turnspan.agent
    def helper(thread: int, user_message: str) -> str:
        return f"answer to {user_message} in {thread}"

    assert helper(3, "hello") == "answer to hello in 3"

    span = spans.one("invoke_agent helper")
    assert attribute(span, semconv.OPERATION_NAME) == "invoke_agent"
    assert attribute(span, semconv.AGENT_NAME) == "helper"
    assert attribute(span, semconv.TURN_STOP_REASON) == "completed"
    assert span.context is not None
    assert attribute(span, semconv.TURN_ID) == f"{span.context.span_id:016x}"
    content = spans.content(span)
    assert isinstance(content, TurnContent)
    assert content.user_message == "hello"
    assert content.turn.reply == "answer to hello in 3"


def test_tool_freezes_arguments_before_it_runs(spans: Spans) -> None:
    """What is recorded is what the call saw, however deep the tool mutates it."""

    @turnspan.tool
    def edit(document: dict[str, Any]) -> dict[str, Any]:
        """Edit a document in place.

        More text."""
        document["lines"].append("new")
        return document

    document: dict[str, Any] = {"lines": ["old"]}
    returned = edit(document)
    returned["lines"].append("later")

    assert returned is document
    span = spans.one("execute_tool edit")
    assert attribute(span, semconv.TOOL_DESCRIPTION) == "Edit a document in place."
    content = spans.content(span)
    assert isinstance(content, ToolContent)
    assert content.arguments == {"document": {"lines": ["old"]}}
    assert content.result == {"lines": ["old", "new"]}


def test_exception_reaches_the_caller_and_the_span(spans: Spans) -> None:
    """The same exception object comes out; the span is ERROR with its type."""
    failure = ValueError("no such file")

    @turnspan.tool
    def read() -> None:
        raise failure

    with pytest.raises(ValueError, match="no such file") as caught:
        read()

    assert caught.value is failure
    span = spans.one("execute_tool read")
    assert span.status.status_code is StatusCode.ERROR
    assert attribute(span, semconv.ERROR_TYPE) == "ValueError"
    assert attribute(span, semconv.TOOL_FAILED) is True


async def _double(value: int) -> int:
    await asyncio.sleep(0)
    return 2 * value


def test_kinds_of_functions_stay_what_they_are() -> None:
    """inspect says the same of the wrapped function, and its signature is preserved."""

    @turnspan.step
    async def coroutine(a: int, *, b: str = "x") -> str:
        return b * a

    @turnspan.step
    def generator(a: int) -> Iterator[int]:
        yield a

    @turnspan.step
    async def async_generator(a: int) -> AsyncIterator[int]:
        yield a

    assert inspect.iscoroutinefunction(coroutine)
    assert inspect.isgeneratorfunction(generator)
    assert inspect.isasyncgenfunction(async_generator)
    assert str(inspect.signature(coroutine)) == "(a: 'int', *, b: 'str' = 'x') -> 'str'"
    assert asyncio.run(coroutine(2)) == "xx"


def test_methods_partials_and_callable_objects(spans: Spans) -> None:
    """self and cls are not arguments of the tool; partials and objects keep working."""

    class Box:
        @turnspan.tool
        def method(self, a: int) -> int:
            return a

        @turnspan.tool
        @classmethod
        def of_class(cls, a: int) -> str:
            return f"{cls.__name__}{a}"

        @turnspan.tool
        @staticmethod
        def static(a: int) -> int:
            return -a

        def __call__(self, a: int) -> int:
            return a + 1

    box = Box()
    assert box.method(1) == 1
    assert Box.of_class(2) == "Box2"
    assert box.static(3) == -3
    assert turnspan.tool("object")(box)(4) == 5
    assert turnspan.tool(functools.partial(pow, 2))(5) == 32
    assert asyncio.run(turnspan.tool(functools.partial(_double, 4))()) == 8

    arguments: dict[str, Any] = {}
    for span in spans.all():
        content = spans.content(span)
        assert isinstance(content, ToolContent)
        arguments[span.name] = content.arguments
    assert arguments["execute_tool method"] == {"a": 1}
    assert arguments["execute_tool of_class"] == {"a": 2}
    assert arguments["execute_tool static"] == {"a": 3}
    assert arguments["execute_tool object"] == {"a": 4}
    assert "execute_tool pow" in arguments
    assert "execute_tool _double" in arguments


def test_generator_span_lasts_until_the_last_item(spans: Spans) -> None:
    """A complete generator: duration, output, what was sent in and the return value."""

    @turnspan.agent("streamer")
    def stream() -> Generator[str, str, str]:
        received = yield "a"
        yield f"b{received}"
        return "done"

    running: Any = stream()
    assert next(running) == "a"
    assert spans.names() == []
    assert running.send("!") == "b!"
    with pytest.raises(StopIteration) as stop:
        next(running)

    assert stop.value.value == "done"
    span = spans.one("invoke_agent streamer")
    assert attribute(span, semconv.STREAM_OUTCOME) == "complete"
    content = spans.content(span)
    assert isinstance(content, TurnContent)
    assert content.turn.reply == "ab!"


def test_abandoned_generator_is_exported_and_not_an_error(spans: Spans) -> None:
    """The consumer breaks off: the turn was aborted by the user, with the partial reply."""

    @turnspan.agent("streamer")
    def stream() -> Iterator[str]:
        yield "partial"
        yield "never"

    for _ in stream():
        break
    gc.collect()

    span = spans.one("invoke_agent streamer")
    assert span.status.status_code is StatusCode.UNSET
    assert attribute(span, semconv.STREAM_OUTCOME) == "abandoned"
    assert attribute(span, semconv.TURN_STOP_REASON) == "user_aborted"
    content = spans.content(span)
    assert isinstance(content, TurnContent)
    assert content.turn.reply == "partial"


def test_abandoned_async_generator_leaves_the_context_alone(
    spans: Spans, caplog: pytest.LogCaptureFixture
) -> None:
    """T-05: after the break the current span is what it was, the next call is a sibling, and
    OpenTelemetry logs nothing."""

    @turnspan.step("stream")
    async def stream() -> AsyncIterator[int]:
        yield 1
        yield 2

    @turnspan.step("after")
    async def after() -> None: ...

    async def main() -> None:
        before = trace.get_current_span()
        async for _ in stream():
            assert trace.get_current_span() is before
            break
        assert trace.get_current_span() is before
        await after()

    with caplog.at_level(logging.DEBUG, logger="opentelemetry.context"):
        asyncio.run(main())

    assert spans.one("after").parent is None
    assert attribute(spans.one("stream"), semconv.STREAM_OUTCOME) == "abandoned"
    assert caplog.records == []


def test_span_made_current_inside_a_generator_stays_inside(spans: Spans) -> None:
    """A generator's own current span is its own: the loop body never runs under it."""
    tracer = trace.get_tracer("t", tracer_provider=spans.provider)

    @turnspan.step("g")
    def generator() -> Iterator[trace.Span]:
        with tracer.start_as_current_span("inner") as inner:
            yield inner
            assert trace.get_current_span() is inner
            yield inner

    before = trace.get_current_span()
    for _ in generator():
        assert trace.get_current_span() is before

    assert trace.get_current_span() is before
    inner, outer = spans.one("inner"), spans.one("g")
    assert inner.parent is not None
    assert outer.context is not None
    assert inner.parent.span_id == outer.context.span_id


def test_exception_thrown_into_a_generator_reaches_its_body(spans: Spans) -> None:
    """throw() works as on the bare generator."""

    @turnspan.step("g")
    def generator() -> Iterator[str]:
        try:
            yield "first"
        except KeyError as error:
            yield f"caught {error}"

    running: Any = generator()
    assert next(running) == "first"
    assert running.throw(KeyError("k")) == "caught 'k'"
    assert list(running) == []
    assert spans.one("g").status.status_code is StatusCode.UNSET


def test_cancelled_coroutine_is_user_aborted(spans: Spans) -> None:
    """asyncio cancellation is the user's abort, not an error, and still propagates."""

    @turnspan.agent
    async def sleeper(query: str) -> None:
        await asyncio.sleep(60)

    async def main() -> None:
        task = asyncio.create_task(sleeper("wait"))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())

    span = spans.one("invoke_agent sleeper")
    assert span.status.status_code is StatusCode.UNSET
    assert attribute(span, semconv.TURN_STOP_REASON) == "user_aborted"


def test_context_managers_give_handles(spans: Spans) -> None:
    """with agent(...) as turn, with tool(...) as call, with step(...) as step."""
    with turnspan.session("s-1", user_id="u-1"), turnspan.agent("a", max_rounds=4) as turn:
        assert turnspan.current_turn() is turn
        turn.set(intent="diagnose", target="page", customer="acme", user_message="why?")
        with turnspan.tool("search", call_id="c-1", arguments={"q": 1}) as call:
            call.result = ["hit"]
        with turnspan.step("rank") as step:
            step.set(kept=3)
        turn.stop("loop_detected:same query", detail="twice")

    assert turnspan.current_turn().id == ""
    agent = spans.one("invoke_agent a")
    tool = spans.one("execute_tool search")
    assert agent.context is not None
    assert tool.parent is not None
    assert tool.parent.span_id == agent.context.span_id
    assert attribute(tool, semconv.TURN_ID) == turn.id
    assert attribute(tool, semconv.TOOL_CALL_ID) == "c-1"
    assert attribute(tool, semconv.CONVERSATION_ID) == "s-1"
    assert attribute(spans.one("rank"), "kept") == 3
    assert attribute(agent, semconv.USER_ID) == "u-1"
    assert attribute(agent, semconv.TURN_INTENT) == "diagnose"
    assert attribute(agent, semconv.TURN_STOP_REASON) == "loop_detected:same query"
    assert attribute(agent, semconv.TURN_MAX_ROUNDS) == 4
    assert attribute(agent, "customer") == "acme"


def test_nested_agents_name_their_parent_turn(spans: Spans) -> None:
    """A sub-agent's turn names the turn around it and shares its session."""

    @turnspan.agent
    def inner(task: str) -> str:
        return task.upper()

    @turnspan.agent
    def outer(question: str) -> str:
        return inner(question)

    with turnspan.session("s-2"):
        outer("hi")

    child, parent = spans.one("invoke_agent inner"), spans.one("invoke_agent outer")
    assert attribute(child, semconv.TURN_PARENT_ID) == attribute(parent, semconv.TURN_ID)
    assert attribute(parent, semconv.TURN_PARENT_ID) is None
    assert attribute(child, semconv.CONVERSATION_ID) == "s-2"


def test_one_scope_object_may_be_used_by_many_tasks(spans: Spans) -> None:
    """50 concurrent turns through one scope object: no span carries another turn's id."""
    scope = turnspan.agent("busy")

    async def run(number: int) -> None:
        with turnspan.session(f"s-{number}"):
            async with scope as turn:
                await asyncio.sleep(0)
                with turnspan.tool("work", arguments={"n": number}):
                    await asyncio.sleep(0.001)
                    assert turnspan.current_turn() is turn

    async def main() -> None:
        await asyncio.gather(*(run(n) for n in range(50)))

    asyncio.run(main())

    turns = {attribute(s, semconv.TURN_ID): s for s in spans.all() if "busy" in s.name}
    assert len(turns) == 50
    for tool in (s for s in spans.all() if s.name == "execute_tool work"):
        agent = turns[attribute(tool, semconv.TURN_ID)]
        assert attribute(agent, semconv.CONVERSATION_ID) == attribute(tool, semconv.CONVERSATION_ID)


class Hostile:
    """An object whose every special method raises."""

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __len__(self) -> int:
        raise RuntimeError("len")

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("iter")

    def __bool__(self) -> bool:
        raise RuntimeError("bool")


@pytest.mark.tests_internal_errors
def test_hostile_values_pass_through_untouched(spans: Spans) -> None:
    """T-32: hostile arguments and results change nothing for the user; the span still ends."""

    @turnspan.tool
    def echo(value: Any) -> Any:
        return value

    hostile = Hostile()
    assert echo(hostile) is hostile

    cycle: list[Any] = []
    cycle.append(cycle)
    assert echo(cycle) is cycle


def test_decorating_what_cannot_be_decorated_is_a_clear_error() -> None:
    """A mistake in code raises where it is made."""
    with pytest.raises(TypeError, match="expected a function to decorate or a name, not int"):
        turnspan.tool(3)  # type: ignore[call-overload]  # pyright: ignore
