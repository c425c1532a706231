"""The diagnostics give right answers, on the embedded engine and on a server."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from support.landing import insert
from support.rows import PROJECT, T0, call, tool, turn
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.window import Window
from turnspan_records.diagnostics import diagnostics, find
from turnspan_records.screens.errors import error_shapes


def answer(store: Store, name: str, **options: Any) -> list[dict[str, Any]]:
    return find(name).run(store, **options).dicts()


def picked(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def test_every_diagnostic_says_what_it_asks_and_runs_on_an_empty_store(store: Store) -> None:
    assert len(diagnostics()) >= 12
    for one in diagnostics().values():
        assert one.title and one.question.endswith("?") and one.remedy
        assert one.run(store).rows == []


def test_how_turns_end_counts_each_root_turn_once_and_running_ones_apart(store: Store) -> None:
    insert(
        store,
        turn("a1", 0, duration=2.0, cost_usd=Decimal("0.5")),
        turn("a2", 1, duration=4.0),
        turn("a3", 2, stop_reason="loop_detected:search called 3 times", rounds=8),
        turn("a4", 3, stop_reason="loop_detected:edit called 5 times", rounds=6),
        turn("a5", 4, status="interrupted", stop_reason=""),
        turn("a6", 5, status="running", stop_reason=""),
        turn("n1", 1, parent_turn_id="a1", stop_reason="error"),
    )
    # The running row of a2 was landed before its final one.
    insert(store, turn("a2", 1, status="running", stop_reason="", written_at=T0 - 1))
    rows = answer(store, "how_turns_end")
    assert picked(rows, "stop_reason", "turns", "share", "avg_rounds") == [
        ("completed", 2, 0.4, 4.0),
        ("loop_detected", 2, 0.4, 7.0),
        ("interrupted", 1, 0.2, 4.0),
        ("running", 1, None, 4.0),
    ]
    assert rows[0]["cost_usd"] == Decimal("0.5") and rows[1]["cost_usd"] is None


def test_early_stops_are_root_turns_cut_off_in_fewer_than_three_rounds(store: Store) -> None:
    insert(
        store,
        turn("b1", 0, stop_reason="max_tokens", rounds=1, user_message="x" * 999),
        turn("b2", 1, stop_reason="round_cap", rounds=3),
        turn("b3", 2, stop_reason="completed", rounds=1),
        turn("b4", 3, status="running", stop_reason="", rounds=0),
        turn("b5", 4, stop_reason="error", rounds=2, stop_detail="ValueError: no"),
        turn("b6", 5, stop_reason="error", rounds=2, parent_turn_id="b5"),
        turn("b7", 6, status="interrupted", stop_reason="", rounds=0),
    )
    rows = answer(store, "early_stops")
    assert picked(rows, "turn", "stop_reason") == [
        ("b7", "interrupted"),
        ("b5", "error"),
        ("b1", "max_tokens"),
    ]
    assert len(rows[2]["user_message"]) == 240
    assert rows[1]["detail"] == "ValueError: no"


def test_project_window_and_limit_narrow_the_answer(store: Store) -> None:
    insert(
        store,
        turn("c1", 0, stop_reason="error", rounds=1),
        turn("c2", 60, stop_reason="error", rounds=1),
        turn("c3", 120, stop_reason="error", rounds=1, project="other"),
    )
    since = datetime.fromtimestamp(T0 / 1e9 + 30, timezone.utc)
    assert picked(answer(store, "early_stops", project=PROJECT), "turn") == [("c2",), ("c1",)]
    late = answer(store, "early_stops", window=Window(since=since))
    assert picked(late, "turn") == [("c3",), ("c2",)]
    early = answer(store, "early_stops", window=Window(until=since))
    assert picked(early, "turn") == [("c1",)]
    assert picked(answer(store, "early_stops", limit=1), "turn") == [("c3",)]


def test_failing_tools_give_the_rate_the_usual_error_and_the_last_failure(store: Store) -> None:
    failed: dict[str, Any] = {"failed": True, "error_type": "KeyError", "turn_id": "t1"}
    insert(
        store,
        tool("d1", 0, turn_id="t1"),
        tool("d2", 1, **failed, error_message="first"),
        tool("d3", 2, **failed, error_message="second"),
        tool(
            "d4", 3, **{**failed, "error_type": "OSError", "turn_id": "t2"}, error_message="third"
        ),
        tool("d5", 4, name="edit"),
    )
    (row,) = answer(store, "failing_tools")
    assert (row["tool"], row["failures"], row["calls"], row["failure_rate"]) == (
        "search",
        3,
        4,
        0.75,
    )
    assert (row["turns"], row["usual_error"]) == (2, "KeyError")
    assert (row["last_error"], row["last_span"]) == ("third", "d4")


def test_loops_are_found_by_streak_by_idle_rounds_and_by_stop_reason(store: Store) -> None:
    insert(
        store,
        turn("e1", 0, max_identical_tool_streak=3),
        turn("e2", 1, no_progress_rounds=9, parent_turn_id="e1"),
        turn("e3", 2, stop_reason="loop_detected:search called: 3 times"),
        turn(
            "e5",
            -1,
            stop_reason="loop_detected:a called 2 times called 4 times in the last 8 calls",
            max_identical_tool_streak=1,
            no_progress_rounds=1,
        ),
        turn("e4", 3, max_identical_tool_streak=2, no_progress_rounds=2),
    )
    rows = answer(store, "loops")
    assert picked(rows, "turn", "identical_calls", "idle_rounds") == [
        ("e2", 0, 9),
        ("e1", 3, 0),
        ("e5", 4, 1),
        ("e3", 0, 0),
    ]
    assert (rows[3]["stop_reason"], rows[3]["detail"]) == (
        "loop_detected",
        "search called: 3 times",
    )


def test_tools_that_fail_by_their_words_are_told_apart_from_those_that_raised(
    store: Store,
) -> None:
    insert(
        store,
        tool("w1", 1, name="book", result="Error: no seat"),
        tool("w2", 2, name="book", result='{"error": "no seat"}'),
        tool("w3", 3, name="book", result="booked; Error handling is on page 2"),
        tool("w4", 4, name="look", result="ERROR 404"),
        tool("w5", 5, name="look", failed=True, error_type="OSError", error_message="gone"),
        tool("w6", 6, name="errors", result="errorless run"),
    )
    rows = answer(store, "failing_tools")
    assert picked(rows, "tool", "failures", "said_failures", "calls", "last_span") == [
        ("look", 1, 1, 2, "w5"),
        ("book", 0, 2, 3, "w2"),
    ]
    assert [row["last_error"] for row in rows] == ["gone", '{"error": "no seat"}']


def test_a_call_without_an_answer_counts_under_the_model_that_answers(store: Store) -> None:
    """By the answers of its day, else the last one; never of another project; else as asked."""
    day = 86_400
    failed = {"error_type": "RateLimitError", "error_message": "slow down"}
    insert(
        store,
        *(call(f"a{at}", at, response_model="gpt-4o-05") for at in range(3)),
        call("a9", 9, **failed),
        *(call(f"b{at}", day + at, response_model="gpt-4o-08") for at in range(2)),
        call("b9", day + 9, **failed),
        call("c9", 2 * day, **failed),
        call("d1", 1, project="other", **failed),
        call("e1", 1, request_model="gone", **failed),
    )
    rows = answer(store, "usage_by_model_and_day", project=PROJECT)
    assert sorted(picked(rows, "model", "calls", "errors")) == [
        ("gone", 1, 1),
        ("gpt-4o-05", 4, 1),
        ("gpt-4o-08", 1, 1),
        ("gpt-4o-08", 3, 1),
    ]
    shapes = error_shapes(store, project=PROJECT).shapes
    counted = {(one.name, one.times, one.of) for one in shapes}
    assert counted == {("gone", 1, 1), ("gpt-4o-05", 1, 4), ("gpt-4o-08", 2, 4)}
    kinds = answer(store, "errors_by_type", project=PROJECT)
    assert sorted(picked(kinds, "name", "times")) == [
        ("gone", 1),
        ("gpt-4o-05", 1),
        ("gpt-4o-08", 2),
    ]
    (other,) = error_shapes(store, project="other").shapes
    assert (other.name, other.of) == ("gpt-4o", 1)


def test_slow_calls_come_slowest_first_with_their_speed(store: Store) -> None:
    insert(
        store,
        call("f1", 0, duration=2.0, output_tokens=100, response_model="gpt-4o-2024"),
        call("f2", 1, duration=9.0, time_to_first_chunk=8.0),
        call("f3", 2, duration=0.0, output_tokens=5),
    )
    rows = answer(store, "slow_calls")
    assert picked(rows, "span", "model", "duration_seconds", "tokens_per_second") == [
        ("f2", "gpt-4o", 9.0, None),
        ("f1", "gpt-4o-2024", 2.0, 50.0),
        ("f3", "gpt-4o", 0.0, None),
    ]
    assert rows[0]["first_chunk_seconds"] == 8.0


def test_expensive_calls_leave_out_those_without_a_price(store: Store) -> None:
    insert(
        store,
        call("g1", 0, cost_usd=Decimal("0.000000000001")),
        call("g2", 1, cost_usd=Decimal("1.5")),
        call("g3", 2),
    )
    assert picked(answer(store, "expensive_calls"), "span", "cost_usd") == [
        ("g2", Decimal("1.500000000000")),
        ("g1", Decimal("0.000000000001")),
    ]


def test_usage_is_summed_by_model_and_day_and_says_what_has_no_price(store: Store) -> None:
    day = 86_400
    insert(
        store,
        call("h1", 0, input_tokens=10, output_tokens=1, cost_usd=Decimal("0.1"), duration=1.0),
        call("h2", 1, input_tokens=20, cache_read_tokens=5, error_type="APIError", duration=1.0),
        call("h3", day, input_tokens=7, request_model="o9", cost_usd=Decimal("0.2"), duration=3.0),
    )
    insert(store, call("h1", 0, input_tokens=10, output_tokens=1, cost_usd=Decimal("0.1")))
    rows = answer(store, "usage_by_model_and_day")
    names = ("model", "calls", "errors", "input_tokens", "cached_tokens", "cost_usd", "unpriced")
    assert picked(rows, *names) == [
        ("o9", 1, 0, 7, None, Decimal("0.200000000000"), 0),
        ("gpt-4o", 2, 1, 30, 5, Decimal("0.100000000000"), 1),
    ]
    assert [str(row["day"]) for row in rows] == ["2026-09-22", "2026-09-21"]


def test_silent_turns_are_those_without_a_word_for_the_user(store: Store) -> None:
    insert(
        store,
        turn("i1", 0, user_message="hi", response_text="fine"),
        turn("i2", 1, user_message="hi", response_text=" \n "),
        turn("i7", 6),
        turn("i3", 2, stop_reason="empty_no_tools"),
        turn("i4", 3, stop_reason="completed", response_text="done", silent_rounds=31),
        turn("i5", 4, stop_reason="error"),
        turn("i6", 5, status="running", stop_reason=""),
    )
    assert picked(answer(store, "silent_turns"), "turn") == [("i4",), ("i3",), ("i2",)]


def test_errors_are_grouped_over_calls_tools_and_turns(store: Store) -> None:
    insert(
        store,
        call("j1", 0, error_type="RateLimitError", error_message="slow down"),
        call("j2", 9, error_type="RateLimitError", error_message="slower"),
        tool("j3", 1, failed=True),
        turn("j4", 2, error_type="ValueError", error_message="bad", agent_name="planner"),
        turn("j5", 3, error_type="ValueError", parent_turn_id="j4"),
    )
    rows = answer(store, "errors_by_type")
    assert picked(rows, "source", "name", "error", "times", "last_span") == [
        ("model call", "gpt-4o", "RateLimitError", 2, "j2"),
        ("tool", "search", "failed result", 1, "j3"),
        ("turn", "planner", "ValueError", 1, "j4"),
    ]
    assert rows[0]["last_message"] == "slower"


def test_tool_usage_counts_calls_turns_and_time(store: Store) -> None:
    insert(
        store,
        tool("k1", 0, turn_id="t1", duration=1.0),
        tool("k2", 1, turn_id="t1", duration=2.0),
        tool("k3", 2, turn_id="t2", duration=3.0, failed=True, session_id="s2"),
        tool("k4", 3, turn_id="t2", name="edit"),
    )
    rows = answer(store, "tool_usage")
    names = ("tool", "calls", "turns", "sessions", "calls_per_turn", "busy_seconds")
    assert picked(rows, *names) == [("search", 3, 2, 2, 1.5, 6.0), ("edit", 1, 1, 1, 1.0, 0.0)]
    assert rows[0]["failure_rate"] == pytest.approx(1 / 3)


def test_unfinished_turns_show_running_ones_first_and_not_the_replaced(store: Store) -> None:
    insert(store, turn("l3", 2, status="running", stop_reason="", written_at=T0 - 1))
    insert(
        store,
        turn("l1", 0, status="running", stop_reason=""),
        turn("l2", 1, status="interrupted", stop_reason="", duration=5.0),
        turn("l3", 2),
    )
    rows = answer(store, "unfinished_turns")
    assert picked(rows, "turn", "status") == [("l1", "running"), ("l2", "interrupted")]
    assert rows[0]["age_seconds"] > 0 and rows[1]["age_seconds"] == 5.0


def test_context_growth_follows_the_prompt_through_a_session(store: Store) -> None:
    insert(
        store,
        call("m1", 0, input_tokens=100),
        call("m2", 1, input_tokens=500, cache_read_tokens=300),
        call("m3", 2, input_tokens=400),
        call("m4", 3, error_type="APIError"),
        call("m5", 0, session_id="s2", input_tokens=50),
    )
    rows = answer(store, "context_growth")
    names = ("session", "calls", "first_input_tokens", "largest_input_tokens", "last_input_tokens")
    assert picked(rows, *names) == [("s1", 3, 100, 500, 400), ("s2", 1, 50, 50, 50)]
    assert rows[0]["tokens_added_per_call"] == 200 and rows[0]["cached_share"] == 0.3


def test_a_limit_counts_records_and_not_what_was_landed_again_or_replaced(store: Store) -> None:
    """The first few are found by narrow columns: neither a record landed three times nor a version
    that a newer one replaced may stand in another's place there, before any merge."""
    failed = dict[str, Any](failed=True, error_type="timeout", error_message="slow")
    turns = [
        turn(f"l{n}", n, rounds=1, stop_reason="error", max_identical_tool_streak=3 + n)
        for n in range(4)
    ]
    silent = [turn(f"m{n}", n, user_message="Hi", response_text=" \n") for n in range(10, 13)]
    hanging = [turn(f"r{n}", n, status="running", stop_reason="") for n in range(20, 23)]
    calls = [call(f"l{n}", n, duration=n, cost_usd=Decimal(n)) for n in range(1, 5)]
    tools = [tool(f"l{n}", n, name=f"t{n % 2}", **failed) for n in range(4)]
    for _ in range(3):
        insert(store, *turns, *silent, *hanging, *calls, *tools)
    newer = T0 + 1
    insert(
        store,
        turn("l3", 3, written_at=newer),
        turn("m12", 12, user_message="Hi", response_text="Hello.", written_at=newer),
        turn("r22", 22, written_at=newer),
        call("l4", 4, duration=0.5, written_at=newer),
        tool("l3", 3, name="t1", written_at=newer),
    )
    assert [
        picked(answer(store, name, limit=2), column)
        for name, column in (
            ("early_stops", "turn"),
            ("loops", "turn"),
            ("silent_turns", "turn"),
            ("unfinished_turns", "turn"),
            ("slow_calls", "span"),
            ("expensive_calls", "span"),
            ("failing_tools", "last_span"),
            ("errors_by_type", "last_span"),
        )
    ] == [
        [("l2",), ("l1",)],
        [("l2",), ("l1",)],
        [("m11",), ("m10",)],
        [("r21",), ("r20",)],
        [("l3",), ("l2",)],
        [("l3",), ("l2",)],
        [("l2",), ("l1",)],
        [("l2",), ("l1",)],
    ]


def test_a_diagnostic_is_found_by_name_with_dashes_and_by_its_beginning() -> None:
    for name in ("early-stops", "ear", "premature_stops"):
        assert find(name).name == "early_stops"
    for unknown in ("", "s", "nothing"):
        with pytest.raises(KeyError):
            find(unknown)
