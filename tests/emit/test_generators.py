"""Decorated generators, driven by hand: next, send, throw and close do what they do undecorated.

Each story is told by the bare and by the decorated function, and must be the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import pytest

import turnspan
from emit.conftest import Spans


class Oops(Exception):
    """An error of the application's."""


def plain() -> Generator[Any, Any, str]:
    """Echoes what it is sent, survives a KeyError, cleans up when closed."""
    story: list[Any] = []
    try:
        for number in range(3):
            try:
                story.append((yield number, *story))
            except KeyError as error:
                story.append(repr(error))
        return f"end {story}"
    finally:
        story.append("clean")


def returns_on_close() -> Generator[Any, Any, str]:
    """Answers close() with a return value."""
    try:
        yield 1
    except GeneratorExit:
        return "closed"
    return "not closed"


def ignores_close() -> Generator[Any, Any, None]:
    """Yields when it is closed, which is an error."""
    try:
        yield 1
    except GeneratorExit:
        yield 2


def raises_on_close() -> Generator[Any, Any, None]:
    """Fails while it is closed."""
    try:
        yield 1
    finally:
        raise Oops("closing")


def raises_at_once() -> Generator[Any, Any, None]:
    """Fails before its first item."""
    raise Oops("at once")
    yield


def raises_stop() -> Generator[Any, Any, None]:
    """Raises StopIteration itself, which Python makes a RuntimeError."""
    yield 1
    raise StopIteration


GENERATORS = [
    plain,
    returns_on_close,
    ignores_close,
    raises_on_close,
    raises_at_once,
    raises_stop,
]

Step = tuple[str, Any]
STORIES: list[list[Step]] = [
    [("next", None)] * 5,
    [("next", None), ("send", "a"), ("send", 0), ("next", None)],
    [("send", "too early")],
    [("next", None), ("throw", KeyError("k")), ("next", None)],
    [("next", None), ("throw", Oops("o")), ("next", None)],
    [("next", None), ("throw", GeneratorExit()), ("next", None)],
    [("next", None), ("throw", StopIteration("s")), ("next", None)],
    [("throw", Oops("before"))],
    [("close", None), ("next", None)],
    [("next", None), ("close", None), ("close", None), ("next", None)],
    [("next", None), ("throw", KeyboardInterrupt())],
]


def tell(generator: Any, story: list[Step]) -> list[Any]:
    """Take the steps; what came of each."""
    told: list[Any] = []
    for name, value in story:
        method = getattr(generator, "__next__" if name == "next" else name)
        try:
            told.append(method(*(() if name in ("next", "close") else (value,))))
        except BaseException as error:  # noqa: BLE001  whatever comes is the story
            told.append((type(error), str(error), error is value, error.__suppress_context__))
    return told


@pytest.mark.parametrize("story", STORIES, ids=lambda s: "-".join(name for name, _ in s))
@pytest.mark.parametrize("function", GENERATORS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_generator_tells_the_same_story(
    spans: Spans, function: Callable[[], Any], story: list[Step]
) -> None:
    """next, send, throw and close give and raise the same, step by step; one ended span at most."""
    assert tell(turnspan.agent(function)(), story) == tell(function(), story)
    assert len(spans.all()) <= 1


async def a_plain() -> AsyncGenerator[Any, Any]:
    """As ``plain``, with awaits."""
    story: list[Any] = []
    try:
        for number in range(3):
            try:
                await asyncio.sleep(0)
                story.append((yield number, *story))
            except KeyError as error:
                story.append(repr(error))
    finally:
        await asyncio.sleep(0)
        story.append("clean")


async def a_ignores_close() -> AsyncGenerator[Any, Any]:
    """Yields when it is closed."""
    try:
        yield 1
    except GeneratorExit:
        yield 2


async def a_raises_on_close() -> AsyncGenerator[Any, Any]:
    """Fails while it is closed."""
    try:
        yield 1
    finally:
        await asyncio.sleep(0)
        raise Oops("closing")


async def a_raises_at_once() -> AsyncGenerator[Any, Any]:
    """Fails before its first item."""
    raise Oops("at once")
    yield


async def a_tell(generator: Any, story: list[Step]) -> list[Any]:
    """Take the steps; what came of each."""
    names = {"next": "__anext__", "send": "asend", "throw": "athrow", "close": "aclose"}
    told: list[Any] = []
    for name, value in story:
        method = getattr(generator, names[name])
        try:
            told.append(await method(*(() if name in ("next", "close") else (value,))))
        except BaseException as error:  # noqa: BLE001  whatever comes is the story
            told.append((type(error), str(error), error is value))
    return told


A_STORIES = [story for story in STORIES if not isinstance(story[-1][1], KeyboardInterrupt)]


@pytest.mark.parametrize("story", A_STORIES, ids=lambda s: "-".join(name for name, _ in s))
@pytest.mark.parametrize(
    "function",
    [a_plain, a_ignores_close, a_raises_on_close, a_raises_at_once],
    ids=lambda f: f.__name__,
)
def test_async_generator_tells_the_same_story(
    spans: Spans, function: Callable[[], Any], story: list[Step]
) -> None:
    """__anext__, asend, athrow and aclose give and raise the same, step by step."""
    decorated = asyncio.run(a_tell(turnspan.agent(function)(), story))
    assert decorated == asyncio.run(a_tell(function(), story))
    assert len(spans.all()) <= 1
