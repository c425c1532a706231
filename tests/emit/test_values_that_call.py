"""Values whose own methods call what is recorded: they run once, and record nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import turnspan
from emit.conftest import Spans
from turnspan.runtime.guard import errors

ran: list[str] = []


def inner(value: Any) -> str:
    """What a value's methods call, recorded in some way."""
    ran.append(type(value).__name__)
    return "T"


class Shown:
    """Calls it to show itself."""

    def __repr__(self) -> str:
        return recorded(self)


class Named(str):
    """Calls it as a text."""

    def __str__(self) -> str:
        return recorded(self)


class Listed(list[int]):
    """Calls it when it is read."""

    def __iter__(self) -> Any:
        recorded(self)
        return super().__iter__()


@dataclass
class Held:
    """Holds one that calls it."""

    value: Any

    def __getattribute__(self, name: str) -> Any:
        if name == "value":
            recorded(1)
        return super().__getattribute__(name)


class Raising:
    """Calls it, and fails."""

    def __repr__(self) -> str:
        recorded(self)
        raise LookupError("no text")


class Failed(Exception):
    """Calls it when its message is asked for."""

    def __str__(self) -> str:
        return recorded(self)


recorded: Callable[[Any], str] = inner


def by_block(value: Any) -> str:
    """The context managers."""
    with turnspan.agent("a"), turnspan.tool("t"), turnspan.step("s"), turnspan.session("x"):
        with turnspan.inference(provider="p", model="m") as call:
            call.response(text="x")
        return inner(value)


def blocks(_func: Any) -> Callable[[Any], str]:
    """As a decorator."""
    return by_block


WAYS: list[Any] = [turnspan.tool, turnspan.agent, turnspan.step, turnspan.workflow, blocks]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("outer", [turnspan.tool("outer"), turnspan.agent("outer")])
@pytest.mark.parametrize(
    "value", [Shown(), Named("n"), Listed([1]), Held(Shown()), Raising(), [Shown()], {"a": Shown()}]
)
def test_value_is_read_once_and_records_nothing(
    spans: Spans, monkeypatch: pytest.MonkeyPatch, way: Any, outer: Any, value: Any
) -> None:
    """As an argument and as an answer."""
    monkeypatch.setitem(globals(), "recorded", way(inner))
    ran.clear()

    def given(question: Any) -> None:
        return None

    def answering() -> Any:
        return value

    outer(given)(value)
    assert len(ran) <= 2, "one reading, of a value and the one that it holds"
    ran.clear()
    assert outer(answering)() is value
    assert len(ran) <= 2
    assert len(spans.all()) == 2
    errors.reset()


@pytest.mark.parametrize("way", WAYS)
def test_error_that_calls(spans: Spans, monkeypatch: pytest.MonkeyPatch, way: Any) -> None:
    """Its message is asked for by us."""
    monkeypatch.setitem(globals(), "recorded", way(inner))

    def failing() -> None:
        raise Failed

    with pytest.raises(Failed):
        turnspan.tool("outer")(failing)()
    assert len(spans.all()) == 1
