"""Why a turn stopped: the rules of docs/turns.md, in their order, and the loop detector."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from turnspan.turn.loop_detector import canonical
from turnspan.turn.tool_failure import tool_failed
from turnspan.turn.turn import NO_TURN, TokenUsage, Turn


def say(turn: Turn, text: str = "", *tools: str, finish: str = "stop") -> None:
    """One model call that writes text and asks for tools."""
    turn.begin_call()
    turn.end_call(
        model="m",
        finish_reasons=[finish],
        text=text,
        tool_requests=[(f"id-{name}", name, "{}") for name in tools],
        usage=TokenUsage(input_tokens=10, output_tokens=1),
    )


def run(
    turn: Turn, name: str, arguments: Any = None, result: Any = "ok", *, raised: bool = False
) -> None:
    """One executed tool."""
    turn.end_tool(turn.begin_tool(name, arguments), result, raised)


def completed(turn: Turn) -> None:
    say(turn, "", "search")
    run(turn, "search")
    say(turn, "found it")


def round_cap(turn: Turn) -> None:
    turn.max_rounds = 2
    for _ in range(2):
        say(turn, "", "search")
        run(turn, "search", {"page": turn.rounds}, turn.rounds)


def natural_end_on_the_last_round(turn: Turn) -> None:
    turn.max_rounds = 1
    say(turn, "done")


def tool_failure(turn: Turn) -> None:
    say(turn, "", "a", "b")
    run(turn, "a")
    run(turn, "b", result={"ok": False})
    say(turn, "that failed")


def failure_mended(turn: Turn) -> None:
    say(turn, "", "a")
    run(turn, "a", result='{"error": "gone"}')
    say(turn, "", "a")
    run(turn, "a", {"retry": 1}, result='{"error": null}')
    say(turn, "worked")


def silent(turn: Turn) -> None:
    for index in range(30):
        say(turn, "", "work")
        run(turn, "work", {"i": index}, index)


def empty(turn: Turn) -> None:
    say(turn, "  \n ")


def looping(turn: Turn) -> None:
    for index in range(3):
        say(turn, "", "poll")
        run(turn, "poll", {"id": 1, "timestamp": f"2026-01-01T00:00:0{index}Z"}, "pending")


def polling(turn: Turn) -> None:
    for percent in (10, 40, 70, 100):
        say(turn, "", "poll")
        run(turn, "poll", {"id": 1}, {"progress": percent})
    say(turn, "finished")


def a_loop_and_then_something_else(turn: Turn) -> None:
    for query in ("A", "A", "A", "A", "B", "C"):
        say(turn, "", "sql")
        run(turn, "sql", {"q": query}, "no rows")


def a_loop_long_ago(turn: Turn) -> None:
    for query in ("A", "A", "A", *"BCDEFGH"):
        say(turn, "", "sql")
        run(turn, "sql", {"q": query}, f"rows of {query}")


def a_loop_among_others(turn: Turn) -> None:
    for query in ("A", "B", "C", "A", "D", "E", "A", "F"):
        say(turn, "", "sql")
        run(turn, "sql", {"q": query}, "no rows")


def a_poll_among_others(turn: Turn) -> None:
    for number, query in enumerate(("A", "B", "A", "C", "A", "D", "A")):
        say(turn, "", "sql")
        run(turn, "sql", {"q": query}, {"done": number})


def a_cycle_of_parallel_calls(turn: Turn) -> None:
    """Two tools a round, which the pool starts in another order each time."""
    for number in range(2):
        ids = [f"{number}-a", f"{number}-b", f"{number}-c"]
        turn.begin_call()
        turn.end_call(
            model="m",
            finish_reasons=["tool_calls"],
            text="",
            tool_requests=[(call_id, call_id[-1], "{}") for call_id in ids],
            usage=None,
        )
        order = ids if number else ids[::-1]
        for fact in [turn.begin_tool(call_id[-1], {}, call_id) for call_id in order]:
            turn.end_tool(fact, "same", False)


def explicit(turn: Turn) -> None:
    tool_failure(turn)
    turn.stop("budget", detail="spent")


def aborted(turn: Turn) -> None:
    explicit(turn)
    turn.abort("closed the tab")


@pytest.mark.parametrize(
    ("story", "reason"),
    [
        (completed, "completed"),
        (round_cap, "round_cap"),
        (natural_end_on_the_last_round, "completed"),
        (tool_failure, "tool_failure"),
        (failure_mended, "completed"),
        (silent, "silent_rounds"),
        (empty, "empty_no_tools"),
        (looping, "loop_detected:poll called 3 times in the last 3 calls"),
        (polling, "completed"),
        (a_loop_and_then_something_else, "loop_detected:sql called 4 times in the last 6 calls"),
        (a_loop_among_others, "loop_detected:sql called 3 times in the last 8 calls"),
        (a_loop_long_ago, "completed"),
        (a_poll_among_others, "completed"),
        (a_cycle_of_parallel_calls, "loop_detected:cycle of 3: a, b, c"),
        (explicit, "budget"),
        (aborted, "user_aborted"),
    ],
)
def test_stop_reason(story: Callable[[Turn], None], reason: str) -> None:
    """The first rule that holds wins."""
    turn = Turn("t")
    story(turn)

    assert turn.finish(None).reason == reason


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("length", "max_tokens"),
        ("max_tokens", "max_tokens"),
        ("content_filter", "content_filter"),
        ("refusal", "refusal"),
        ("end_turn", "completed"),
    ],
)
def test_finish_reason_of_the_last_reply(finish: str, reason: str) -> None:
    """The provider's own word for the last reply."""
    turn = Turn("t")
    say(turn, "text", finish=finish)

    assert turn.finish(None).reason == reason


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (asyncio.CancelledError(), "user_aborted"),
        (KeyboardInterrupt(), "user_aborted"),
        (ValueError("x"), "error"),
        (SystemExit(1), "error"),
    ],
)
def test_exception_at_the_end(error: BaseException, reason: str) -> None:
    """Cancellation is the user's; any other exception is an error."""
    turn = Turn("t")
    say(turn, "text")

    assert turn.finish(error).reason == reason


@pytest.mark.parametrize("period", [1, 2, 3])
def test_seeded_loops_are_flagged_through_noise(period: int) -> None:
    """T-35: cycles of period 1, 2 and 3 with arguments that change each time."""
    turn = Turn("t")
    for index in range(6):
        say(turn, "", "x")
        name = f"tool{index % period}"
        noise = {"q": "same", "request_id": f"req_{index:012d}", "at": f"2026-01-01T10:0{index}:00"}
        run(turn, name, noise, "same result")

    assert turn.looping
    assert turn.no_progress_rounds == 6 - period
    assert turn.max_identical_tool_streak == (6 if period == 1 else 1)


def test_counters_and_nested_usage() -> None:
    """A nested turn's tokens count once in the turn around it, its rounds do not."""
    parent = Turn("p")
    say(parent, "", "delegate")
    child = Turn("c", parent=parent)
    say(child, "child")
    child.finish(None)
    say(parent, "done")
    parent.finish(None)

    assert (parent.rounds, child.rounds) == (2, 1)
    assert parent.usage.input_tokens == 30
    assert parent.usage.cache_read_tokens is None


def test_call_ids_are_found_among_the_requested_calls() -> None:
    """By name, then by arguments; each id is used once."""
    turn = Turn("t")
    turn.begin_call()
    turn.end_call(
        model="m",
        finish_reasons=["tool_calls"],
        text="",
        tool_requests=[("c1", "get", '{"id": 1}'), ("c2", "get", '{"id": 2}'), ("c3", "put", "{}")],
        usage=None,
    )

    assert turn.requested_call_id("get", {"id": 2}) == "c2"
    assert turn.requested_call_id("get", {"id": 9}) == "c1"
    assert turn.requested_call_id("get", {"id": 1}) == ""
    assert turn.requested_call_id("put", {}) == "c3"


def test_outside_any_turn_everything_is_inert() -> None:
    """stop, abort and set on no turn do nothing and raise nothing."""
    NO_TURN.stop("x")
    NO_TURN.abort()
    NO_TURN.set(intent="y", anything=1)

    assert NO_TURN.intent == ""


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ("Error: payment amount does not add up", False),
        ('{"error": "not found"}', True),
        ('{"error": null, "ok": true}', False),
        ('{"nested": {"error": "x"}}', False),
        ('  {"exit_code": 2, "stdout": ""}', True),
        ('{"exit_code": 0, "stderr": "error: 0 errors"}', False),
        ({"is_error": True}, True),
        ({"isError": True}, True),
        ({"ok": False}, True),
        ({"returncode": 1}, True),
        ('["error"]', False),
        ("{not json with error}", False),
        (None, False),
    ],
)
def test_failure_is_read_from_flags_never_from_words(result: Any, failed: bool) -> None:
    """A tool failed if it raised, or if its result says so."""
    assert tool_failed(result) is failed


def test_canonical_json_sorts_keys_and_masks_what_changes() -> None:
    """Two calls that differ only in key order and noise are one fingerprint."""
    first = canonical({"b": 1, "a": {"nonce": 5, "q": "x"}})
    second = canonical('{"a": {"q": "x", "nonce": 6}, "b": 1}')

    assert first == second
    assert canonical({"date": "2026-01-01"}) != canonical({"date": "2026-01-02"})
