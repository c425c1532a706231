"""Values that are equal in Python and not the same are never recorded as each other.

Whatever remembers what it knows of a value is asked with one value and then with another that is
equal to it: a request's messages and tools, as they are frozen; rows, as they land.
"""

from __future__ import annotations

import enum
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest
from anthropic.types import ToolUseBlock
from openai.types.chat import ChatCompletionMessage

import turnspan
from support.kept_stores import migrated
from turnspan.content.equality import is_alike, written
from turnspan.content.frozen_history import FrozenHistory, FrozenOnce
from turnspan.content.snapshot import freeze
from turnspan.content.text_message import as_dict_message
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]


class Number(enum.IntEnum):
    """Equal to its value."""

    ONE = 1


class Text(str, enum.Enum):
    """Equal to its value, and the same text."""

    A = "a"


EQUAL: list[list[Any]] = [
    [1, 1.0, True, Number.ONE, Decimal(1)],
    [0, 0.0, -0.0, False, Decimal(0)],
    ["a", Text.A],
    [2**53, float(2**53)],
    [{"a": None}, OrderedDict(a=None)],
]
SHAPES: dict[str, Callable[[Any], Any]] = {
    "field": lambda value: {"role": "user", "content": "x", "n": value},
    "list": lambda value: {"role": "user", "content": ["x", value]},
    "deep": lambda value: {"role": "tool", "content": [{"type": "x", "input": {"a": [value]}}]},
    "tuple": lambda value: {"role": "user", "content": ("x", value)},
    "block": lambda value: {
        "role": "assistant",
        "content": [ToolUseBlock.model_construct(type="tool_use", input={"a": [value]})],
    },
    "object": lambda value: ChatCompletionMessage.model_construct(role="assistant", extra=value),
    "key": lambda value: {"role": "user", "content": {value: "x"}},
}
PAIRS = [pair for group in EQUAL for pair in permutations(group, 2)]


def plainly(value: Any) -> str:
    """What a frozen value says, types and signs and order and all; a text is a text."""
    return repr(as_dict_message(value)).replace("<Text.A: 'a'>", "'a'")


@pytest.fixture(params=SHAPES)
def shape(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """Where the value stands in a message."""
    found: Callable[[Any], Any] = SHAPES[request.param]
    return found


def shaped(shape: Callable[[Any], Any], value: Any) -> Any:
    """The message; a value that can be no key stands elsewhere."""
    try:
        return shape(value)
    except TypeError:
        return SHAPES["field"](value)


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=lambda value: f"{value!r}")
def test_histories(shape: Callable[[Any], Any], one: Any, other: Any) -> None:
    """Sent again, added to, cut short, in place or anew: each time what was sent."""
    history = FrozenHistory()
    hello = {"role": "user", "content": "hello"}
    first, second = shaped(shape, one), shaped(shape, other)
    more = {"role": "assistant", "content": "and?"}
    lists: list[list[Any]] = [
        [hello, first],
        [hello, second],
        [hello, first, more],
        [hello, second, more],
        [hello, second],
        [hello, first],
        [hello, second, more, first],
        [hello, first, more, second],
        [first],
        [second],
    ]
    for messages in lists:
        frozen = history.freeze(messages)
        assert [plainly(m) for m in frozen] == [plainly(freeze(m)) for m in messages]

    messages = [hello, first]
    for value in (first, second, first):
        messages[1] = value
        assert plainly(history.freeze(messages)[1]) == plainly(freeze(value))


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=lambda value: f"{value!r}")
def test_what_is_frozen_once(shape: Callable[[Any], Any], one: Any, other: Any) -> None:
    """Tool definitions: shared while they are the same, and no longer."""
    once = FrozenOnce()
    for value in (one, other, one, other):
        tools = [shaped(shape, value)]
        assert plainly(once.freeze(tools)) == plainly(freeze(tools))


def test_what_is_the_same_is_shared() -> None:
    """Whoever hashes it can do so once: also with numbers in it."""
    tools = {"tools": [{"name": "a", "strict": False, "max": 1.5, "min": 0}]}
    said: Any = [{"n": 1, "f": 2.5, "b": True, "x": None}]
    messages: list[Any] = [{"role": "system", "content": "x"}, {"role": "user", "content": said}]
    once, history = FrozenOnce(), FrozenHistory()
    assert once.freeze(tools["tools"]) is once.freeze(json.loads(json.dumps(tools))["tools"])
    first = history.freeze(messages)[1]
    again = json.loads(json.dumps(messages))
    assert history.freeze(again)[1] is first
    assert history.freeze([*again, {"role": "user", "content": "b"}])[1] is first


def test_numbers_that_are_none() -> None:
    """JSON has no infinity: what would be written as null is not taken for it."""
    for value in (float("nan"), float("inf"), -float("inf")):
        assert written([value]) == b""
        once = FrozenOnce()
        once.freeze([{"a": None}])
        assert repr(once.freeze([{"a": value}])) == repr([{"a": value}])
    assert written([{"a": None}]) == b'[{"a":null}]'
    assert is_alike({"a": [None, "b"]}, {"a": [None, "b"]})


@pytest.fixture
def landed(embedded_dsn: Dsn) -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
    """Records to a store, and asks it."""
    turnspan.configure(store=str(embedded_dsn), exporters=["turnspan"])

    def ask(sql: str) -> list[tuple[Any, ...]]:
        turnspan.shutdown()
        ship(embedded_dsn)
        with migrated(embedded_dsn) as store:
            return [tuple(row) for row in store.query(sql).rows]

    yield ask
    turnspan.shutdown()


JSON = [[1, 1.0, True], [0, 0.0, -0.0, False]]


def test_rows(landed: Callable[[str], list[tuple[Any, ...]]]) -> None:
    """Arguments, results, parameters, attributes, definitions and messages, one after another."""
    values = [value for group in JSON for value in group] * 2
    for place, value in enumerate(values):
        with turnspan.session("s"), turnspan.agent("a"), turnspan.step("s") as step:
            step.set(value=value)
            with turnspan.tool(f"t{place:02}", arguments={"v": value, "l": [value]}) as call:
                call.result = {"r": value}
            with turnspan.inference(
                model=f"m{place:02}",
                messages=[{"role": "user", "content": [{"type": "x", "n": {"v": value}}]}],
                tools=[{"type": "function", "function": {"name": "f", "strict": value}}],
                top_p=value,
                custom=[value, {"v": value}],
            ) as model:
                model.response(text="fine")
    expected = [json.dumps(value) for value in values]
    rows = landed(
        "SELECT 't', name, concat(arguments, '|', result) FROM tool_call "
        "UNION ALL SELECT 'c', request_model, request_parameters FROM llm_call "
        "UNION ALL SELECT 'd', c.request_model, d.body FROM llm_call c "
        "JOIN definition d ON d.hash = c.tool_definitions "
        "UNION ALL SELECT 'm', c.request_model, m.parts FROM llm_call c "
        "JOIN message m ON has(c.input_messages, m.hash) WHERE m.role = 'user' "
        "UNION ALL SELECT 's', toString(start_time), attributes['value'] FROM span "
        "WHERE attributes['value'] != ''"
    )
    found = {kind: [said for k, _, said in sorted(rows) if k == kind] for kind in "tcdms"}
    for place, text in enumerate(expected):
        assert found["t"][place] == f'{{"v":{text},"l":[{text}]}}|{{"r":{text}}}'
        assert f'"custom":[{text},{{"v":{text}}}]' in found["c"][place]
        assert f'"strict":{text}' in found["d"][place]
        assert f'"v":{text}' in found["m"][place]
    assert len(found["s"]) == len(values)
