"""In a rerun a tool gets its recorded result, of the class that it had, and does not run."""

from __future__ import annotations

import asyncio
import enum
import json
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict

import pydantic
import pytest

import turnspan
from support.rerun_protocol import ProtocolServer, rerun_here
from turnspan import semconv
from turnspan.testing import record
from turnspan.tracing.tool_answers import class_of
from turnspan.wire.rerunning.recorded_values import CannotRebuildError, error_of, value_of
from turnspan_clickhouse.rows.tables import ToolCall, TurnSummary


class ShopError(Exception):
    """An error of the application's."""


class QuotaError(Exception):
    """One that is not made from a text."""

    def __init__(self, used: int, limit: int) -> None:
        super().__init__(f"{used} of {limit}")


class Mood(str, enum.Enum):
    SUNNY = "sunny"


@dataclass
class Hit:
    title: str
    score: float = 0.0
    rank: int = field(init=False, default=0)


@dataclass
class Page:
    hits: list[Hit]
    mood: Mood | None = None


class Row(TypedDict):
    title: str
    page: dict[str, Any]


class Pair(NamedTuple):
    left: Hit
    right: int


class Model(pydantic.BaseModel):
    name: str = pydantic.Field(alias="theName")
    hits: list[Hit] = []


class Opaque:
    pass


class Loose(NamedTuple):
    left: Any
    right: Any


ran: list[str] = []


@pytest.fixture(autouse=True)
def _none_ran() -> Iterator[None]:
    ran.clear()
    yield
    assert ran == [], "a tool ran for real"


TOLD_BY_THE_TEXT: list[Any] = [
    *("a text", "- 1", "truth", 1, 2.5, True, None, {"a": [1, {"b": None}]}, [], [1, "2"]),
]
NOT_TOLD: list[Any] = [
    *("", '{"a": 1}', "[1]", "12", "true", "null", '"quoted"'),
    *(Hit("x", 0.5), [Hit("x"), Hit("y")], Page([Hit("x")], Mood.SUNNY), Pair(Hit("x"), 2)),
    *((1, 2), {3}, frozenset({4}), Model(theName="n", hits=[Hit("x")]), Mood.SUNNY, Loose(1, "2")),
]


def _recorded(value: Any) -> tuple[str, str]:
    """The text and the class that a row has of a tool's result."""
    with record() as recorded:

        @turnspan.tool
        def give() -> Any:  # nothing to know the class by
            return value

        give()
        tool = recorded.tool()
        (row,) = recorded.rows(ToolCall)
    return row.result, tool.attributes.get(semconv.TOOL_RESULT_CLASS, "")


@pytest.mark.parametrize("value", [*TOLD_BY_THE_TEXT, *NOT_TOLD], ids=repr)
def test_a_result_comes_back_as_it_was_recorded(value: Any) -> None:
    """Without an annotation its recorded class tells; only what the row's text cannot tell is
    recorded."""
    text, kind = _recorded(value)
    again = value_of(text, kind, None)
    assert again == value and type(again) is type(value)
    assert bool(kind) == any(value is each for each in NOT_TOLD)


def test_an_annotation_tells_where_nothing_was_recorded() -> None:
    """As in records of earlier versions; where it is wrong, the value is plain JSON."""

    async def pages() -> list[Page]: ...  # type: ignore[empty-body]
    def rows() -> Iterator[Row]: ...  # type: ignore[empty-body]
    def number() -> int: ...  # type: ignore[empty-body]

    assert value_of('[{"hits": [], "mood": null}]', "", pages) == [Page([])]
    (row,) = value_of('[{"title": "t", "page": {"hits": []}}]', "", rows)
    assert row == {"title": "t", "page": {"hits": []}}
    assert value_of('{"a": 1}', "", str) == '{"a": 1}'
    assert value_of('"text"', "", number) == "text"
    with pytest.raises(CannotRebuildError, match="Opaque"):
        value_of("<Opaque object>", class_of(Opaque()), None)
    with pytest.raises(CannotRebuildError, match="gone"):
        value_of("{}", "module_that.is_gone", None)


def test_without_pydantic_dataclasses_are_made_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """In lists and in each other; of other classes the tool runs for real."""
    monkeypatch.setitem(sys.modules, "pydantic", None)

    def pages() -> list[Page]: ...  # type: ignore[empty-body]

    assert value_of('[{"hits": [{"title": "t"}]}]', "", pages) == [Page([Hit("t")])]
    assert value_of("[1, 2]", "builtins.tuple", None) == (1, 2)
    with pytest.raises(CannotRebuildError, match="Mood"):
        value_of('"sunny"', f"{Mood.__module__}.Mood", None)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        *((KeyError("x"), KeyError), (ValueError("bad"), ValueError), (ShopError("no"), ShopError)),
        *((QuotaError(1, 2), QuotaError), (TimeoutError(), TimeoutError)),
    ],
)
def test_an_error_has_its_class_and_its_text(error: Exception, kind: type[Exception]) -> None:
    """Also of a class that is made from something else; an unknown one is made from Exception."""
    again = error_of(type(error).__qualname__, str(error))
    assert isinstance(again, kind) and str(again) == str(error)
    assert type(again).__qualname__ == kind.__qualname__
    assert repr(again) == repr(error) or kind is QuotaError
    unknown = error_of("client.GoneError", "why")
    assert (type(unknown).__name__, type(unknown).__mro__[1], str(unknown)) == (
        *("GoneError", Exception, "why"),
    )


def test_an_error_is_of_all_classes_of_its_name() -> None:
    """Which of them it was is not recorded: a handler of any catches it."""
    names: dict[str, Any] = {"__qualname__": "desk.SameNamed"}
    one, other = (type("SameNamed", (base,), names) for base in (ValueError, LookupError))
    derived = type("SameNamed", (one,), names)
    for _ in range(2):  # what was made the first time is none of them
        error = error_of("desk.SameNamed", "why")
        assert type(error).__bases__ == (other, derived) and str(error) == "why"


class Shop:
    @turnspan.tool
    def method(self, item: str) -> Hit:
        ran.append(item)
        return Hit(item)

    @staticmethod
    @turnspan.tool
    def static(item: str) -> list[Hit]:
        ran.append(item)
        return []

    @turnspan.tool
    def steps(self, item: str) -> Iterator[Hit]:
        ran.append(item)
        yield Hit(item)


@turnspan.tool
async def search(item: str) -> dict[str, int]:
    ran.append(item)
    return {}


@turnspan.tool
async def watch(item: str) -> AsyncIterator[str]:
    ran.append(item)
    yield item


@turnspan.tool
def steps(item: str) -> Iterator[str]:
    ran.append(item)
    yield item


def test_decorated_tools_of_every_kind_are_answered(rerun: ProtocolServer) -> None:
    """Their functions do not run, though they were decorated before the rerun; each call asks with
    its arguments as a row has them."""
    hit = {"title": "x", "score": 1}
    rerun.answer("method", hit)
    rerun.answer("static", [hit])
    rerun.answer("steps", [hit, hit])
    rerun.answer("search", {"a": 1})
    rerun.answer("watch", "all of it")
    rerun.answer("steps", ["a", "b"])

    async def asynchronous() -> Any:
        return await search("s"), [item async for item in watch("w")]

    with record() as recorded:
        assert Shop().method("m") == Hit("x", 1)
        assert Shop.static(item="s") == [Hit("x", 1)]
        assert list(Shop().steps("g")) == [Hit("x", 1), Hit("x", 1)]
        assert asyncio.run(asynchronous()) == ({"a": 1}, ["all of it"])
        assert list(steps("g")) == ["a", "b"]
        names = [tool.name for tool in recorded.tools()]
    assert names == [question["name"] for question in rerun.asked]
    assert [json.loads(question["arguments"])["item"] for question in rerun.asked] == list("msgswg")
    assert rerun.notes == []


def test_a_failure_is_raised_again_and_a_divergence_stops(rerun: ProtocolServer) -> None:
    """A tool whose result says that it failed gives that; what diverged runs nothing."""
    failed = {"failed": True, "error_type": "ShopError", "error_message": "sold out"}
    rerun.answer("search", "", **failed)
    rerun.answer("search", {"ok": 0}, failed=True, error_type="tool_error")
    rerun.tools["search"].append({"action": "diverged", "message": "tool search: another item"})
    with pytest.raises(ShopError, match=r"^sold out$"):
        asyncio.run(search("a"))
    assert asyncio.run(search("a")) == {"ok": 0}
    with pytest.raises(turnspan.RerunDiverged, match="another item"):
        asyncio.run(search("a"))


def test_what_cannot_be_given_runs_for_real_and_is_reported(rerun: ProtocolServer) -> None:
    """A live tool, a block of code, and a result whose class no JSON makes."""

    @turnspan.tool
    def opaque() -> Any:
        ran.append("opaque")
        return Opaque()

    rerun.answer("opaque", "<Opaque>", result_class="app.Opaque")
    opaque()
    rerun.tools["opaque"].append({"action": "run"})
    opaque()
    with turnspan.tool("block") as block:
        block.result = 1
    assert [len(ran), len(rerun.asked)] == [2, 2]
    ran.clear()
    assert [note["text"] for note in rerun.notes] == [
        "opaque: its result is a app.Opaque, which cannot be made again",
        "block: it is a block of code",
    ]


def test_a_rerun_that_lost_its_server_runs_no_tool(protocol: ProtocolServer) -> None:
    """An error says so: the tool's function may do what must not be done twice."""
    protocol.port = 9
    lost = pytest.raises(turnspan.TurnspanError, match="does not answer")
    with rerun_here(protocol.environment()), lost:
        Shop().method("m")


def test_a_session_and_its_turns_are_the_reruns_own(rerun: ProtocolServer) -> None:
    """In the records; the turns name the session that is played."""

    @turnspan.agent
    def desk(question: str) -> str:
        return question

    with record() as recorded, turnspan.session("thread-1"):
        desk("hi")
        (turn,) = recorded.turns()
    assert turn.session_id == "thread-1~0a1b2c3d"
    assert turn.attributes[semconv.RERUN_ID] == "0a1b2c3d"
    assert turn.attributes[semconv.RERUN_OF] == "thread-1"


def test_a_forks_turns_belong_to_its_attempt(protocol: ProtocolServer) -> None:
    """The variable has what ``turnspan.inject`` returns inside the attempt."""
    with record() as recorded:
        line = turnspan.experiment("fork-1").lineage("l")
        with line.rollout(1).attempt() as attempt:
            carrier = turnspan.inject()
        with rerun_here(protocol.environment(attempt=json.dumps(carrier))):

            @turnspan.agent
            def desk(question: str) -> str:
                return question

            desk("hi")
        (turn,) = recorded.rows(TurnSummary)
    assert turn.attempt_id == attempt.id
