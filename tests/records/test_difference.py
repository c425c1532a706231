"""What changed between two calls, held against a slow comparison and against hand-made pairs."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from support.landing import insert
from support.rows import PROJECT, answered, asked, call, message, said
from support.shop_session import hashes
from turnspan_clickhouse.rows.tables import Definition, MessageRow, Record
from turnspan_clickhouse.store.client import Store
from turnspan_records.screens.alignment import common_pairs
from turnspan_records.screens.difference import Difference, ParameterChange, diff
from turnspan_records.screens.outline_types import ToolsChange


def most_in_common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of a longest common subsequence, by the table of all of them."""
    row = [0] * (len(other) + 1)
    for a in one:
        before = row
        row = [0]
        for at, b in enumerate(other):
            row.append(before[at] + 1 if a == b else max(row[at], before[at + 1]))
    return row[-1]


def test_as_many_messages_are_the_same_as_can_be() -> None:
    """And each pair is one of equal messages, both in order; 3,000 pairs of histories."""
    chosen = random.Random(5)
    for _ in range(3_000):
        alphabet = "abcdefgh"[: chosen.randrange(1, 9)]
        one, other = (chosen.choices(alphabet, k=chosen.randrange(14)) for _ in range(2))
        pairs = common_pairs(one, other)
        assert len(pairs) == most_in_common(one, other), (one, other)
        assert all(one[a] == other[b] for a, b in pairs)
        for (a, b), (c, d) in pairwise(pairs):
            assert a < c and b < d


@pytest.mark.release
def test_long_histories_that_say_one_thing_again_and_again_take_no_long() -> None:
    one, other = ["yes"] * 20_000, ["no", *["yes"] * 19_000, "no"]
    assert len(common_pairs(one, other)) > 9_000


TALK = [message("user" if n % 2 == 0 else "assistant", said(f"message {n} of the talk"))
        for n in range(10)]  # fmt: skip
EDITED = message("user", said("message 4 of the other talk"))
SUMMARY = message("user", said("a summary so far"))
RESULT, CUT = message("tool", answered("c1", "long " * 50)), message("tool", answered("c1", "long"))
ASKS = message("assistant", asked("c1", "read", path="a"))


@pytest.fixture(scope="module")
def landed(module_store: Store) -> Store:
    """Pairs of calls of which something is known to have changed."""
    tools = [[{"name": "read", "description": "Reads."}, {"name": "write"}],
             [{"name": "read", "description": "Reads!"}, {"name": "search"}]]  # fmt: skip
    defined: list[Record] = [
        Definition(project=PROJECT, hash=bytes([at]) * 16, kind=kind, body=body)
        for at, kind, body in (
            (1, "system_prompt", "Be brief."),
            (2, "system_prompt", "Be long."),
            (3, "tool_definitions", json.dumps(tools[0])),
            (4, "tool_definitions", json.dumps(tools[1])),
        )
    ]
    calls = [
        one("base", TALK[:7], input_tokens=1000, cache_read_tokens=600, cache_write_tokens=100),
        one("grown", TALK[:9], cache_read_tokens=700),
        one("edited", [*TALK[:4], EDITED, *TALK[5:9]], cache_read_tokens=0),
        one("trimmed", [TALK[0], SUMMARY, *TALK[5:9]], cache_read_tokens=50),
        one("set up", TALK[:7], system_prompt=b"\2" * 16, tool_definitions=b"\4" * 16,
            request_parameters='{"temperature":0.7,"model":"m","stop":["a"]}'),
        one("read", [TALK[0], ASKS, RESULT]),
        one("read, cut", [TALK[0], ASKS, CUT]),
        one("bare", [TALK[0], *[MessageRow(hash=bytes([n]) * 16) for n in (9, 10)]]),
        one("bare too", [TALK[0], *[MessageRow(hash=bytes([n]) * 16) for n in (9, 11)]]),
    ]  # fmt: skip
    insert(module_store, *TALK, EDITED, SUMMARY, RESULT, CUT, ASKS, *defined, *calls)
    return module_store


def one(span: str, sent: list[MessageRow], **values: Any) -> Record:
    known: dict[str, Any] = {"system_prompt": b"\1" * 16, "tool_definitions": b"\3" * 16,
             "request_parameters": '{"temperature":0,"model":"m"}'}  # fmt: skip
    return call(span, input_messages=hashes(*sent), **{**known, **values})


def told(difference: Difference) -> list[tuple[str, int, int, int]]:
    return [(c.kind, c.before, c.after, c.count) for c in difference.messages]


def test_a_history_that_goes_on(landed: Store) -> None:
    found = diff(landed, PROJECT, "base", "grown")
    assert told(found) == [("same", 0, 0, 7), ("added", -1, 7, 1), ("added", -1, 8, 1)]
    cache = found.cache
    assert (cache.place, cache.shared_messages, cache.shared_tokens) == ("", 7, 1000)
    assert (cache.cached, cache.read, cache.lost) == (700, 700, 0)
    assert found.system.same and found.tools_same and not found.parameters
    assert diff(landed, PROJECT, "base", "base").nothing


def test_a_message_edited_in_place_breaks_the_cache_there(landed: Store) -> None:
    found = diff(landed, PROJECT, "base", "edited")
    assert told(found)[:3] == [("same", 0, 0, 4), ("edited", 4, 4, 1), ("same", 5, 5, 2)]
    cache = found.cache
    assert (cache.place, cache.message, cache.lost) == ("message", 4, 700)
    assert cache.shared_tokens is not None and 500 < cache.shared_tokens < 620
    change = found.messages[1]
    assert change.was is not None and change.now is not None
    assert (change.was.text, change.now.text) == (
        "message 4 of the talk",
        "message 4 of the other talk",
    )


def test_messages_dropped_for_a_summary(landed: Store) -> None:
    found = diff(landed, PROJECT, "base", "trimmed")
    assert told(found)[:6] == [
        ("same", 0, 0, 1),
        *(("dropped", n, -1, 1) for n in range(1, 5)),
        ("added", -1, 1, 1),
    ]
    assert found.cache.lost == 650


def test_another_set_up(landed: Store) -> None:
    """Parameters, tools and the system prompt; the cache breaks at what comes first."""
    found = diff(landed, PROJECT, "base", "set up")
    assert found.parameters == (
        ParameterChange("temperature", "0", "0.7"),
        ParameterChange("stop", "", '["a"]'),
    )
    assert found.tools == ToolsChange(("search",), ("write",), ("read",))
    assert not found.tools_same and not found.system.same
    assert (found.system.before.head, found.system.after.head) == ("Be brief.", "Be long.")
    assert (found.cache.place, found.cache.shared_tokens) == ("tools", 0)


def test_a_tool_result_that_was_cut_is_edited(landed: Store) -> None:
    """However little of it is left: it answers the same call."""
    assert told(diff(landed, PROJECT, "read", "read, cut"))[-1] == ("edited", 2, 2, 1)


def test_without_contents_it_still_tells_which(landed: Store) -> None:
    found = diff(landed, PROJECT, "bare", "bare too")
    assert told(found) == [("same", 0, 0, 2), ("dropped", 2, -1, 1), ("added", -1, 2, 1)]
    assert found.messages[1].was is not None and not found.messages[1].was.recorded
    assert found.cache.shared_tokens is None
    with pytest.raises(KeyError, match="nobody"):
        diff(landed, PROJECT, "base", "nobody")
