"""Generators that are made in one place and run in another, as every streaming response is.

``with session(): return StreamingResponse(stream())``: the framework runs the generator when the
session's block is long over. It belongs where it was made.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

import turnspan
from emit.conftest import Spans
from turnspan import semconv


def attribute(span: ReadableSpan, key: str) -> Any:
    """What a span says."""
    return (span.attributes or {}).get(key)


def stream(question: str) -> Iterator[str]:
    """A reply in pieces, with a step inside."""
    for word in question.split():
        with turnspan.step("inside"):
            yield word


async def astream(question: str) -> AsyncIterator[str]:
    """The same."""
    for word in question.split():
        await asyncio.sleep(0)
        with turnspan.step("inside"):
            yield word


class Agent:
    """Generators that are methods."""

    @turnspan.agent("boss")
    def method(self, question: str) -> Iterator[str]:
        """A method."""
        yield from stream(question)

    @turnspan.agent("boss")
    @classmethod
    def of_class(cls, question: str) -> Iterator[str]:
        """A class's."""
        yield from stream(question)

    @turnspan.agent("boss")
    @staticmethod
    async def static(question: str) -> AsyncIterator[str]:
        """A function's."""
        async for word in astream(question):
            yield word


class Callable_:
    """An object whose call is a generator."""

    def __call__(self, question: str) -> Iterator[str]:
        yield from stream(question)


FUNCTION: Callable[[str], Any] = lambda question: stream(question)  # noqa: E731
ASYNC_FUNCTION: Callable[[str], Any] = lambda question: astream(question)  # noqa: E731
boss: Any = turnspan.agent("boss")
MADE: dict[str, Callable[[str], Any]] = {
    "generator": boss(stream),
    "async generator": boss(astream),
    "method": lambda question: Agent().method(question),
    "classmethod": Agent.of_class,
    "staticmethod": Agent.static,
    "partial": lambda question: boss(functools.partial(stream, question))(),
    "partial of async": lambda question: boss(functools.partial(astream, question))(),
    "object": boss(Callable_()),
    "function": boss(FUNCTION),
    "function of async": boss(ASYNC_FUNCTION),
}


async def answered(app: Starlette, path: str) -> str:
    """What the application sends."""
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": path, "headers": []}
    scope |= {"query_string": b"", "http_version": "1.1", "root_path": ""}
    pieces: list[bytes] = []
    over = asyncio.Event()

    async def receive() -> MutableMapping[str, Any]:
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        pieces.append(message.get("body", b""))

    await app(scope, receive, send)
    return b"".join(pieces).decode()


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_a_streaming_response_keeps_its_session(spans: Spans, made: Callable[[str], Any]) -> None:
    """Of every kind of decorated generator, each request its own."""

    async def endpoint(request: Request) -> StreamingResponse:
        with turnspan.session(request.path_params["id"], user_id="u"):
            return StreamingResponse(made("a b c"))

    app = Starlette(routes=[Route("/{id}", endpoint)])

    async def main() -> list[str]:
        return await asyncio.gather(*(answered(app, f"/s{number}") for number in range(5)))

    assert asyncio.run(main()) == ["abc"] * 5
    turns: dict[str, str] = {}
    for span in spans.all():
        if span.name == "invoke_agent boss":
            assert span.context is not None
            turns[attribute(span, semconv.CONVERSATION_ID)] = attribute(span, semconv.TURN_ID)
            assert attribute(span, semconv.USER_ID) == "u"
    inside = [
        (attribute(span, semconv.CONVERSATION_ID), attribute(span, semconv.TURN_ID))
        for span in spans.all()
        if span.name == "inside"
    ]
    assert turns.keys() == {f"s{number}" for number in range(5)}
    assert sorted(inside) == sorted(pair for pair in turns.items() for _ in range(3))


@pytest.mark.parametrize("kind", ["agent", "tool", "step", "workflow"])
def test_it_belongs_to_the_turn_it_is_called_in(spans: Spans, kind: str) -> None:
    """Whichever decorator; also when that turn is over before the first step."""
    made: Any = getattr(turnspan, kind)("late")(stream)

    @turnspan.agent("first")
    def first() -> Any:
        return [made("a")]

    with turnspan.session("mine"):
        (running,) = first()
    with turnspan.session("other"), turnspan.agent("second"):
        assert list(running) == ["a"]

    one = spans.one("invoke_agent first")
    late = next(span for span in spans.all() if span.name.endswith("late"))
    assert attribute(late, semconv.CONVERSATION_ID) == "mine"
    assert one.context is not None
    assert late.parent is not None
    assert late.parent.span_id == one.context.span_id
    key = semconv.TURN_PARENT_ID if kind == "agent" else semconv.TURN_ID
    assert attribute(late, key) == attribute(one, semconv.TURN_ID)


def test_what_the_call_does_not_say_is_taken_from_where_it_runs(spans: Spans) -> None:
    """Made outside of everything, or in a session only: the rest is that of the first step."""
    outside = boss(stream)("a")
    with turnspan.session("call"):
        in_session = boss(stream)("b")
    with turnspan.session("step"), turnspan.workflow("flow"):
        assert [*outside, *in_session] == ["a", "b"]

    flow = spans.one("invoke_workflow flow")
    assert flow.context is not None
    turns = [span for span in spans.all() if span.name == "invoke_agent boss"]
    assert [attribute(span, semconv.CONVERSATION_ID) for span in turns] == ["step", "call"]
    assert {span.parent.span_id for span in turns if span.parent} == {flow.context.span_id}


def test_a_decorator_that_gives_the_session(spans: Spans) -> None:
    """``session`` around a generator function that is run elsewhere."""
    given = turnspan.session("given")(boss(stream))("a")
    with turnspan.session("elsewhere"):
        assert list(given) == ["a"]
    span = spans.one("invoke_agent boss")
    assert attribute(span, semconv.CONVERSATION_ID) == "given"
