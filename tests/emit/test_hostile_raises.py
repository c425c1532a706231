"""Whatever a value's own methods raise stays with the value; what is delivered meanwhile does not.

Not only errors: a ``KeyboardInterrupt``, a ``SystemExit`` or a ``GeneratorExit`` out of a
``__repr__`` must not take the place of the caller's result. A real Ctrl-C must reach the caller.
"""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import turnspan
from emit.conftest import Spans
from turnspan.runtime.guard import errors

pytestmark = pytest.mark.tests_internal_errors

METHODS = (
    *("__repr__", "__str__", "__format__", "__bytes__", "__bool__", "__len__", "__iter__"),
    *("__next__", "__getitem__", "__contains__", "__eq__", "__ne__", "__lt__", "__hash__"),
    *("__int__", "__float__", "__index__", "__getattr__", "__copy__", "__deepcopy__", "__reduce__"),
    *("keys", "items", "get", "copy", "model_dump", "model_dump_json", "to_dict", "dict", "json"),
)


class Custom(BaseException):
    """A framework's own way to unwind."""


def _throw(kind: type[BaseException], *_: Any, **__: Any) -> Any:
    if kind is SystemExit:
        sys.exit(3)
    raise kind


def hostile(kind: type[BaseException], *bases: type[Any]) -> Any:
    """An object whose every method raises this, of a class that may inherit from a plain type."""
    methods: dict[str, Any] = {name: functools.partialmethod(_of, kind) for name in METHODS}
    if bases:
        methods.pop("__getattr__")
    made: Any = type("Hostile", bases, methods)
    return made()


def _of(_self: Any, kind: type[BaseException], *_: Any, **__: Any) -> Any:
    return _throw(kind)


KINDS = (RuntimeError, KeyboardInterrupt, SystemExit, GeneratorExit, Custom, StopIteration)
SHAPES: dict[str, Callable[[type[BaseException]], Any]] = {
    "object": hostile,
    "str": lambda kind: hostile(kind, str),
    "int": lambda kind: hostile(kind, int),
    "float": lambda kind: hostile(kind, float),
    "dict": lambda kind: hostile(kind, dict),
    "list": lambda kind: hostile(kind, list),
    "bytes": lambda kind: hostile(kind, bytes),
    "in a list": lambda kind: [1, hostile(kind)],
    "in a dict": lambda kind: {"a": {"b": hostile(kind)}},
    "as an error": lambda kind: hostile(kind, Exception),
}


@pytest.fixture(params=KINDS, ids=lambda kind: str(kind.__name__))
def kind(request: pytest.FixtureRequest) -> type[BaseException]:
    """What the methods raise."""
    found: type[BaseException] = request.param
    return found


@pytest.fixture(params=SHAPES)
def make(request: pytest.FixtureRequest, kind: type[BaseException]) -> Callable[[], Any]:
    """Makes a value whose methods raise it. (Pytest looks at what a fixture gives.)"""
    return functools.partial(SHAPES[request.param], kind)


def unharmed(work: Callable[[], bool]) -> None:
    """Nothing comes out of this but True. (Pytest would look at the values of a traceback.)"""
    try:
        fine = work()
    except BaseException as error:  # noqa: BLE001
        steps = traceback.extract_tb(error.__traceback__)
        where = [f"{Path(step.filename).name}:{step.lineno}" for step in steps]
        fine = False
        pytest.fail(f"{type(error).__name__} from {where}", pytrace=False)
    if not fine:
        pytest.fail("the caller's own value did not come back", pytrace=False)


def test_arguments_and_results(spans: Spans, make: Callable[[], Any]) -> None:
    """Of every kind of decorated function; each ends its span."""

    @turnspan.tool
    def tool(given: Any, *, more: Any = None) -> Any:
        return given

    @turnspan.step
    def stream(given: Any) -> Iterator[Any]:
        yield given

    @turnspan.tool
    async def coroutine(given: Any) -> Any:
        return given

    @turnspan.workflow
    async def numbers(given: Any) -> AsyncIterator[Any]:
        yield given

    @turnspan.agent
    def boss(message: Any) -> Any:
        same = tool(message, more=message) is message and next(stream(message)) is message
        return message if same else None

    async def work(value: Any) -> bool:
        items = [item is value async for item in numbers(value)]
        return items == [True] and await coroutine(value) is value

    def all_of_them() -> bool:
        value = make()
        return boss(value) is value and boss(message=value) is value and asyncio.run(work(value))

    unharmed(all_of_them)
    assert len(spans.all()) == 8


def test_blocks_and_labels(spans: Spans, make: Callable[[], Any]) -> None:
    """Whatever is said to a block, a turn, a session or a judgment."""

    def work() -> bool:
        value = make()
        with turnspan.session(value, user_id=value, more=value):
            with turnspan.agent("a", version=value, attributes={"x": value}) as turn:
                turn.set(intent=value, target=value, user_message=value, response_text=value)
                turn.set(task_type=value, chat_mode=value, mine=value)
                with turnspan.tool("t", call_id=value, description=value, arguments=value) as call:
                    call.result = value
                    call.fail(value)
                with turnspan.tool("u", type=value, attributes=value):
                    pass
                with turnspan.step("s") as step:
                    step.set(z=value)
                turnspan.annotate(outcome=value, comment=value, score=value, author=value)
                turnspan.annotate(value, kind=value)
                turnspan.prefer(value, value, reason=value, author=value, confidence=value)
                turnspan.prefer("a", "b", reason=value, author=value, source=value, id=value)
                turnspan.rank(value, ties=value, kind=value)
                turnspan.rank(["a", value, "b"], ties=[value], author=value, id=value)
                turnspan.withdraw(value, value, kind=value, id=value)
                turnspan.withdraw("a", "score", reason=value, author=value, id=value)
                turnspan.evaluation(value, score=value, label=value, span=value)
                turn.stop(value, value)
                turn.abort(value)
            with turnspan.agent(max_rounds=value), turnspan.inference(model="m") as reply:
                reply.response(text="fine")
            turnspan.inject(value)
            with turnspan.extract(value):
                pass
        return True

    unharmed(work)
    assert sorted(span.name.split()[0] for span in spans.all()) == [
        "chat",
        "execute_tool",
        "execute_tool",
        "invoke_agent",
        "invoke_agent",
        "s",
    ]


def test_model_calls_by_hand(spans: Spans, make: Callable[[], Any]) -> None:
    """The request, the reply, and what is said of them."""

    def work() -> bool:
        value = make()
        with turnspan.inference(
            provider=value, model=value, messages=value, tools=value, server_address=value
        ) as call:
            call.chunk(value)
            call.response(text=value, input_tokens=value, tool_calls=value, finish_reason=value)
        for messages in ([value], [{"role": "user", "content": value}], [{"role": value}]):
            with turnspan.inference(
                model="m", operation=value, messages=messages, system=value, temperature=value
            ) as call:
                call.response(text="fine", tool_calls=[value], model=value, id=value)
        return True

    unharmed(work)


@pytest.mark.parametrize("kind_of", ["function", "generator", "coroutine"])
def test_errors_that_cannot_be_looked_at(
    spans: Spans, kind: type[BaseException], kind_of: str
) -> None:
    """The caller gets the very error that was raised, whatever its own methods do."""
    error = hostile(kind, Exception)

    @turnspan.tool
    def function() -> None:
        raise error

    @turnspan.tool
    def generator() -> Iterator[int]:
        yield 1
        raise error

    @turnspan.tool
    async def coroutine() -> None:
        raise error

    caught: BaseException | None = None
    try:
        if kind_of == "function":
            function()
        elif kind_of == "generator":
            list(generator())
        else:
            coroutine().send(None)
    except BaseException as given:  # noqa: BLE001
        caught = given
    if caught is not error:
        pytest.fail("another error arrived", pytrace=False)
    assert len(spans.all()) == 1


# -- what is delivered ------------------


class Slow:
    """A value at which we are looking when a signal comes."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __repr__(self) -> str:
        os.kill(os.getpid(), self._number)
        for _ in range(100_000):  # the handler runs in here
            pass
        return "slow"


class Timeout(Exception):
    """An application's, by its own alarm."""


def _time_is_up(_number: int, _frame: FrameType | None) -> None:
    raise Timeout


class Leaver:
    """A handler that is an object."""

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        sys.exit(5)

    def method(self, _number: int, _frame: FrameType | None) -> None:
        """A handler that is a method."""
        self(_number, _frame)


@pytest.mark.parametrize(
    ("number", "handler", "expected"),
    [
        (signal.SIGINT, signal.default_int_handler, KeyboardInterrupt),
        (signal.SIGALRM, _time_is_up, Timeout),
        (signal.SIGTERM, Leaver(), SystemExit),
        (signal.SIGTERM, Leaver().method, SystemExit),
        (signal.SIGUSR1, functools.partial(_time_is_up), Timeout),
    ],
    ids=["ctrl-c", "alarm", "object", "method", "partial"],
)
def test_a_signal_reaches_the_application(
    spans: Spans, number: int, handler: Any, expected: type[BaseException]
) -> None:
    """Also where it comes while we look at a value, whatever class its handler's error is of."""

    @turnspan.tool
    def tool(value: Any) -> int:
        return 1

    before = signal.signal(number, handler)
    try:
        with pytest.raises(expected):
            tool(Slow(number))
    finally:
        signal.signal(number, before)
    assert errors.counts() == {}


def test_ctrl_c_under_asyncio(spans: Spans) -> None:
    """The event loop's own handler cancels the task; the second time it raises."""

    @turnspan.tool
    def tool(value: Any) -> int:
        return 1

    async def main() -> None:
        tool(Slow(signal.SIGINT))
        await asyncio.sleep(5)

    # A shell has what it runs in the background ignore Ctrl-C, and asyncio leaves that so.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(main())
    finally:
        signal.signal(signal.SIGINT, before)
    assert errors.counts() == {}
