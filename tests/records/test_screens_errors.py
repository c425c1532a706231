"""What fails, in which shapes, and what the model did next."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

import pytest

from support.landing import insert
from support.rows import PROJECT, SECOND, T0, call, tool, turn
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.window import Window
from turnspan_records.diagnostics import diagnostics
from turnspan_records.sandbox import Sandbox
from turnspan_records.screens.errors import error_shapes, tool_failures


@pytest.fixture(scope="module")
def filled(module_store: Store) -> Iterator[Store]:
    """Turns whose tool fails, each with another end; errors that differ in numbers and names."""
    failed = {"name": "query", "failed": True, "error_type": "ToolError"}
    insert(
        module_store,
        *(turn(f"t{at}", at) for at in range(6)),
        tool("a1", 1, turn_id="t1", round=1, arguments='{"q":1}', **failed,
             error_message="Unknown column 'amount' at line 12"),
        tool("a2", 2, turn_id="t1", round=2, name="query", arguments='{"q":1}', result="ok"),
        tool("b1", 11, turn_id="t2", round=1, arguments='{"q":2}', **failed,
             error_message=f"Unknown column '{'total of ' * 30}' at line 3,005"),
        # Asked for at once with the one that failed: nothing was known then.
        tool("b2", 12, turn_id="t2", round=1, name="query", arguments='{"q":2}', result="ok"),
        tool("b3", 13, turn_id="t2", round=2, name="query", arguments='{"q":3}', result="ok"),
        tool("c1", 21, turn_id="t3", round=1, arguments='{"q":4}', **failed,
             error_message='Unknown column "x" at line 9'),
        tool("c2", 22, turn_id="t3", round=2, arguments='{"q":5}', **failed, error_message="gone"),
        tool("d1", 31, turn_id="t4", round=1, arguments='{"q":6}', **failed, error_message="gone"),
        tool("d2", 32, turn_id="t4", round=2, name="search"),
        tool("e1", 41, turn_id="t5", round=1, name="search", failed=True, result="no 3f9a0b1c2d"),
        *(call(f"l{at}", at, turn_id=f"t{at}", error_type="RateLimitError",
               error_message=f"Limit 30000, used {at}123, retry in {at}.5s (req 0f9a8b7c6d{at})")
          for at in range(1, 4)),
        call("l9", 9, turn_id="t5"),
    )  # fmt: skip
    yield module_store


def test_errors_of_one_shape_are_one(filled: Store) -> None:
    """What differs is a number, an id or a quoted part; the newest is the example."""
    found = error_shapes(filled, project=PROJECT).shapes
    assert [(one.source, one.name, one.shape, one.times, one.turns, one.of) for one in found] == [
        ("model call", "gpt-4o", "Limit #, used #, retry in #s (req #)", 3, 3, 4),
        ("tool", "query", "Unknown column … at line #", 3, 3, 8),
        ("tool", "query", "gone", 2, 2, 8),
        ("tool", "search", "no #", 1, 1, 2),
    ]
    assert found[1].example == 'Unknown column "x" at line 9'
    assert (found[1].place.turn, found[1].place.span) == ("t3", "c1")


def test_they_add_up_to_the_diagnostic(filled: Store) -> None:
    """By source, name and type; and the SQL that is shown gives them."""
    told = error_shapes(filled, project=PROJECT)
    sums: dict[tuple[str, str, str], int] = {}
    for one in told.shapes:
        key = (one.source, one.name, one.error)
        sums[key] = sums.get(key, 0) + one.times
    rows = diagnostics()["errors_by_type"].run(filled, project=PROJECT, limit=100).dicts()
    assert sums == {(row["source"], row["name"], row["error"]): row["times"] for row in rows}
    with Sandbox(filled) as sandbox:
        shown = sandbox.query(told.sql).dicts()
    assert [row["shape"] for row in shown] == [one.shape for one in told.shapes]


def test_what_the_model_did_next(filled: Store) -> None:
    """In a later round: the same again, something else, with what came of it, or nothing."""
    told = tool_failures(filled, "query", project=PROJECT)
    assert {one.did: (one.times, one.place.span) for one in told.next_steps} == {
        "same call again": (1, "a1"),
        "changed, worked": (1, "b1"),
        "changed, failed again": (1, "c1"),
        "no more tools": (1, "c2"),
        "other tools": (1, "d1"),
    }
    assert [one.place.span for one in told.fed if one.failed] == ["d1", "c2", "c1", "b1", "a1"]
    assert [one.place.span for one in told.fed if not one.failed] == ["b3", "b2", "a2"]
    [only] = tool_failures(filled, "search", project=PROJECT).next_steps
    assert (only.did, only.times) == ("no more tools", 1)
    assert tool_failures(filled, "nothing").fed == []
    with Sandbox(filled) as sandbox:
        assert len(sandbox.query(told.sql).rows) == 5


def test_an_alias_counts_under_what_answered_it_lately(store: Store) -> None:
    """On its day, else in the window and the month before it; older answers are not looked for."""
    day = 86_400
    insert(
        store,
        call("o1", 0, request_model="new", response_model="new-1"),
        call("o2", 0, request_model="old", response_model="old-1"),
        call("n1", 20 * day, request_model="new", response_model="", error_type="E"),
        call("n2", 60 * day, request_model="old", response_model="", error_type="E"),
        call("n3", 60 * day, request_model="new", response_model="new-2"),
        call("n4", 60 * day + 1, request_model="new", response_model="", error_type="E"),
    )

    def counted(since: int) -> dict[str, int]:
        when = Window(start(since * day), start(90 * day))
        [shapes] = [error_shapes(store, project=PROJECT, window=when).shapes]
        return {one.name: one.times for one in shapes}

    assert counted(0) == counted(19) == {"new-2": 2, "old-1": 1}
    assert counted(50) == {"new-2": 1, "old": 1}


def start(seconds: int) -> datetime:
    """So many seconds after T0."""
    return datetime.fromtimestamp(T0 / SECOND + seconds, timezone.utc)
