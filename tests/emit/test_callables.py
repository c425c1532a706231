"""A decorated callable is still all that it was: what hangs on it, how it is inspected, copied and
pickled, for every kind of callable there is."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import operator
import pickle
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import turnspan
from emit.conftest import Spans
from turnspan.tracing.content_store import ToolContent

KINDS: dict[str, Callable[..., Any]] = {
    "agent": turnspan.agent,
    "tool": turnspan.tool,
    "step": turnspan.step,
    "workflow": turnspan.workflow,
}


@pytest.fixture(params=KINDS)
def decorate(request: pytest.FixtureRequest) -> Any:
    """Each of the decorators."""
    return KINDS[request.param]


def plain(a: int, /, b: int = 2, *, c: int = 3) -> tuple[int, int, int]:
    """Docs."""
    return a, b, c


async def later(a: int, /, b: int = 2, *, c: int = 3) -> tuple[int, int, int]:
    """Docs."""
    return a, b, c


def items(a: int, /, b: int = 2, *, c: int = 3) -> Iterator[int]:
    """Docs."""
    yield from (a, b, c)


async def stream(a: int, /, b: int = 2, *, c: int = 3) -> AsyncIterator[int]:
    """Docs."""
    for each in (a, b, c):
        yield each


class Object:
    """Something with state that can be called."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, a: int, /, b: int = 2, *, c: int = 3) -> tuple[int, int, int]:
        self.calls.append(a)
        return a, b, c

    def method(self, a: int, /, b: int = 2, *, c: int = 3) -> tuple[int, int, int]:
        """Docs."""
        self.calls.append(a)
        return a, b, c

    def __len__(self) -> int:
        return len(self.calls)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Object) and self.calls == other.calls

    __hash__ = None  # type: ignore[assignment]


class AsyncObject:
    """The same with a coroutine."""

    async def __call__(self, a: int, /, b: int = 2, *, c: int = 3) -> tuple[int, int, int]:
        return a, b, c


LAMBDA: Callable[..., Any] = lambda *a: a  # noqa: E731
MAKERS: dict[str, Callable[[], Any]] = {
    "function": lambda: plain,
    "coroutine": lambda: later,
    "generator": lambda: items,
    "async generator": lambda: stream,
    "lambda": lambda: LAMBDA,
    "lru_cache": lambda: functools.lru_cache(plain),
    "cache of coroutine": lambda: functools.cache(later),
    "singledispatch": lambda: functools.singledispatch(plain),
    "partial": lambda: functools.partial(plain, b=7),
    "partial of coroutine": lambda: functools.partial(later, b=7),
    "partial of generator": lambda: functools.partial(items, b=7),
    "bound method": lambda: Object().method,
    "object": Object,
    "coroutine object": AsyncObject,
    "builtin": lambda: len,
    "method of a builtin": lambda: "a,b".split,
    "method descriptor": lambda: str.upper,
    "itemgetter": lambda: operator.itemgetter("a"),
}
ASKED = (
    *("__module__", "__doc__", "__dict__", "__defaults__", "__kwdefaults__", "__annotations__"),
    *("__self__", "__func__", "__text_signature__", "func", "args", "keywords", "calls"),
    *("cache_info", "cache_clear", "cache_parameters", "register", "dispatch", "registry"),
)
INSPECTED: tuple[Callable[[Any], Any], ...] = (
    inspect.signature,
    inspect.getdoc,
    inspect.getsource,
    inspect.isfunction,
    inspect.ismethod,
    inspect.isbuiltin,
    inspect.isroutine,
    inspect.isgeneratorfunction,
    inspect.iscoroutinefunction,
    inspect.isasyncgenfunction,
    asyncio.iscoroutinefunction,
    callable,
    lambda f: inspect.iscoroutinefunction(getattr(f, "__call__", None)),  # noqa: B004
)


def told(ask: Callable[[Any], Any], subject: Any) -> Any:
    """What is answered, or how it is refused."""
    try:
        return ask(subject)
    except (TypeError, ValueError, AttributeError, OSError) as error:
        return type(error)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_it_is_what_it_was(make: Callable[[], Any], decorate: Any) -> None:
    """Whatever it is asked; ``__wrapped__`` is what was decorated."""
    original = make()
    decorated = decorate(original)

    for name in ASKED:
        expected: Any = getattr(original, name, None)
        found: Any = getattr(decorated, name, None)
        if name == "__dict__" and expected is not None:
            found = {key: value for key, value in found.items() if key != "__wrapped__"}
            expected = {key: value for key, value in expected.items() if key != "__wrapped__"}
        assert found == expected, name
    for ask in INSPECTED:
        assert told(ask, decorated) == told(ask, original), ask
    assert decorated.__wrapped__ is original
    assert isinstance(decorated, type(original))


@pytest.mark.parametrize("name", ["lru_cache", "object", "partial", "builtin"])
def test_it_is_copied_as_it_was(spans: Spans, name: str, decorate: Any) -> None:
    """What is one of a kind stays that; a copy of an object is recorded as the object is."""
    original = MAKERS[name]()
    decorated = decorate(original)
    for copier in (copy.copy, copy.deepcopy):
        copied = copier(decorated)
        assert (copied is decorated) == (copier(original) is original)
        copied([1] if name == "builtin" else 1)
    assert len(spans.all()) == 2


@turnspan.tool
@functools.lru_cache
def looked_up(a: int) -> int:
    """Of the module."""
    return a


@turnspan.tool
def counted() -> Iterator[int]:
    """Of the module."""
    yield 1


any_tool: Any = turnspan.tool


class Desk:
    """A class with decorated methods of all kinds."""

    @turnspan.tool
    @functools.lru_cache  # noqa: B019
    def cached(self, a: int) -> int:
        """Kept."""
        return a

    @functools.singledispatchmethod
    def dispatcher(self, value: Any) -> str:
        """By type."""
        return "other"

    sort: Any = any_tool(dispatcher)

    @sort.register  # type: ignore[untyped-decorator, unused-ignore]
    def _(self, value: int) -> str:
        return "int"

    @turnspan.tool
    def rows(self, count: int) -> Iterator[int]:
        """A generator."""
        yield from range(count)


def test_pickling(spans: Spans) -> None:
    """By name where it has one, else as it was before it was decorated."""
    for each in (looked_up, counted):
        assert pickle.loads(pickle.dumps(each)) is each
    assert list(pickle.loads(pickle.dumps(Desk().rows))(2)) == [0, 1]
    again = pickle.loads(pickle.dumps(turnspan.tool(functools.partial(plain, 1))))
    assert again() == (1, 2, 3)
    thing = pickle.loads(pickle.dumps(turnspan.tool(Object())))
    assert (thing(1), thing.calls) == ((1, 2, 3), [1])


def test_caches_and_dispatchers_work(spans: Spans) -> None:
    """Through what hangs on them, also as methods; each call is recorded with its arguments."""
    desk = Desk()
    assert [desk.cached(1), desk.cached(1), desk.cached(a=2)] == [1, 1, 2]
    assert Desk.cached.cache_info().hits == 1
    Desk.cached.cache_clear()
    assert [desk.sort(1), desk.sort("a")] == ["int", "other"]
    assert list(desk.rows(2)) == [0, 1]

    names = ["cached"] * 3 + ["dispatcher"] * 2 + ["rows"]
    assert spans.names() == [f"execute_tool {name}" for name in names]
    contents = [spans.content(span) for span in spans.all()]
    given = [each.arguments for each in contents if isinstance(each, ToolContent)]
    assert given == [{"a": 1}, {"a": 1}, {"a": 2}, {"value": 1}, {"value": "a"}, {"count": 2}]


@turnspan.tool
@functools.singledispatch
def spelled(value: Any) -> str:
    """A dispatcher."""
    return "other"


@spelled.register
def _(value: int) -> str:
    return "int"


def test_a_dispatcher_is_added_to(spans: Spans) -> None:
    """``register`` of the decorated one."""
    assert [spelled(1), spelled("a")] == ["int", "other"]
    assert spelled.dispatch(bool)(True) == "int"


def test_arguments_of_what_is_bound_already(spans: Spans) -> None:
    """The object of a method, or the module of a builtin, is none of its arguments."""
    thing = Object()
    assert turnspan.tool(thing.method)(4, b=5) == (4, 5, 3)
    assert turnspan.tool(len)([1, 2]) == 2
    assert turnspan.tool(thing)(6) == (6, 2, 3)
    contents = [spans.content(span) for span in spans.all()]
    given = [each.arguments for each in contents if isinstance(each, ToolContent)]
    assert given == [{"a": 4, "b": 5}, {"obj": [1, 2]}, {"a": 6}]
    assert thing.calls == [4, 6]
