"""What a turn answered: the value that was returned, whatever it is, else the model's last text."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pydantic
import pytest

import turnspan
from support.normalised import Rows, provider
from turnspan import config
from turnspan.runtime.guard import errors
from turnspan.tracing.state import default


class Mood(enum.Enum):
    """How it went."""

    GOOD = "good"


class Place(pydantic.BaseModel):
    """A model with a default, which an answer has as well."""

    name: str
    country: str = "NO"


class Report(pydantic.BaseModel):
    """A model of models."""

    places: list[Place]
    when: datetime.date = datetime.date(2026, 1, 2)
    mood: Mood = Mood.GOOD


@dataclasses.dataclass
class Score:
    """A dataclass, with a model in it."""

    value: int
    place: Place


OSLO = {"name": "Oslo", "country": "NO"}

ANSWERS: list[tuple[Any, Any]] = [
    ("text", "text"),
    ("", ""),
    ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
    ({1: "one", "0": 2.5}, '{"0":2.5,"1":"one"}'),
    ([], "[]"),
    ({}, "{}"),
    (0, "0"),
    (False, "false"),
    ((1, "x"), '[1,"x"]'),
    (Place(name="Oslo"), OSLO),
    (Score(3, Place(name="Oslo")), {"value": 3, "place": OSLO}),
    ({"at": [Place(name="Oslo")]}, {"at": [OSLO]}),
    (Report(places=[Place(name="Oslo")]), {"places": [OSLO], "when": "2026-01-02", "mood": "good"}),
    (Mood.GOOD, "good"),
]


@pytest.fixture
def rows() -> Iterator[Rows]:
    """Where everything lands that is recorded."""
    rows = Rows()
    made = provider(rows)
    default.provider = made
    default.content.attach()
    yield rows
    default.content.detach()
    default.provider = None
    made.shutdown()


def think() -> None:
    """A model call that writes a text."""
    with turnspan.inference(provider="mine", model="m", messages="hi") as call:
        call.response(text="thought")


def returns(answer: Any, thinks: bool) -> None:
    """A plain agent."""

    @turnspan.agent("a")
    def agent() -> Any:
        if thinks:
            think()
        return answer

    agent()


def coroutine(answer: Any, thinks: bool) -> None:
    """An asynchronous one."""

    @turnspan.agent("a")
    async def agent() -> Any:
        if thinks:
            think()
        return answer

    asyncio.run(agent())


@pytest.mark.parametrize("run", [returns, coroutine])
@pytest.mark.parametrize("thinks", [False, True], ids=["alone", "after a model"])
@pytest.mark.parametrize(("answer", "expected"), ANSWERS, ids=[repr(a) for a, _ in ANSWERS])
def test_the_returned_value_is_the_answer(
    rows: Rows, answer: Any, expected: Any, thinks: bool, run: Callable[[Any, bool], None]
) -> None:
    """Text as it is, all else as canonical JSON with every field; a value is never an empty one."""
    run(answer, thinks)

    (turn,) = rows.turns
    found = turn.response_text
    if not isinstance(expected, str):
        assert list(json.loads(found)) == sorted(expected)
        found = json.loads(found)
    assert found == expected
    assert turn.stop_reason == ("completed" if expected else "empty_no_tools")


def test_what_returns_nothing_answers_with_the_models_text(rows: Rows) -> None:
    """And where no model spoke either, the answer is blank."""
    returns(None, thinks=True)
    coroutine(None, thinks=False)

    assert [(turn.response_text, turn.stop_reason) for turn in rows.turns] == [
        ("thought", "completed"),
        ("", "empty_no_tools"),
    ]


def test_what_the_application_says_it_answers(rows: Rows) -> None:
    """``turn.set`` beats what is returned."""

    @turnspan.agent("a")
    def agent() -> dict[str, int]:
        turnspan.current_turn().set(response_text="said")
        return {"status": 200}

    agent()
    assert [turn.response_text for turn in rows.turns] == ["said"]


def pieces(*items: Any) -> Iterator[Any]:
    """A generator of these."""
    yield from items


async def apieces(*items: Any) -> AsyncIterator[Any]:
    """An asynchronous one."""
    for item in items:
        yield item


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (("a", "b"), "ab"),
        (({"n": 1}, Place(name="Oslo")), [{"n": 1}, OSLO]),
        (("a", {"n": 1}), ["a", {"n": 1}]),
        ((), ""),
    ],
)
def test_a_generators_items_are_joined(
    rows: Rows, items: tuple[Any, ...], expected: Any, asynchronous: bool
) -> None:
    """Texts to one text, all else to a list."""

    async def drain() -> None:
        async for _ in turnspan.agent("a")(apieces)(*items):
            pass

    if asynchronous:
        asyncio.run(drain())
    else:
        list(turnspan.agent("a")(pieces)(*items))

    (turn,) = rows.turns
    found = turn.response_text
    assert (found if isinstance(expected, str) else json.loads(found)) == expected


@pytest.mark.tests_internal_errors
def test_an_answer_that_cannot_be_read_costs_nothing_else(rows: Rows) -> None:
    """The caller gets it; the turn ends, says that there was one, and the failure is counted."""

    class Hostile(dict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError("no")

    answer = Hostile(a=1)
    assert turnspan.agent("a")(lambda: answer)() is answer

    (turn,) = rows.turns
    assert turn.response_text
    assert turn.stop_reason == "completed"
    assert errors.counts() == {"recording.freeze": 1}


def test_without_content_it_is_judged_but_not_kept(rows: Rows) -> None:
    """The value decides the stop reason, and lands nowhere."""
    before = config.active()
    config.activate(config.resolve({"capture_content": False}))
    try:
        returns({"secret": 1}, thinks=False)
    finally:
        config.activate(before)

    assert [(turn.response_text, turn.stop_reason) for turn in rows.turns] == [("", "completed")]
