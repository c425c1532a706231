"""Which messages of a call are new: by position in the conversation that it continues."""

from __future__ import annotations

from turnspan_records.history import Continuation, History


def history(same: set[tuple[str, str]] | None = None) -> History:
    pairs = same or set()
    return History(lambda before, now: (before, now) in pairs, lambda one: one.startswith("sys"))


def new(told: Continuation, inputs: list[str]) -> list[str]:
    return [inputs[at] for at in told.new]


def test_a_resent_history_is_not_new_and_a_repeated_message_is() -> None:
    seen = history()
    assert new(seen.add(["sys", "hi"], ["a1"]), ["sys", "hi"]) == ["sys", "hi"]
    inputs = ["sys", "hi", "a1", "yes"]
    assert new(seen.add(inputs, ["a2"]), inputs) == ["yes"]
    inputs = ["sys", "hi", "a1", "yes", "a2", "yes"]
    told = seen.add(inputs, ["a3"])
    assert told.new == (5,) and told.dropped == 0


def test_a_reply_that_comes_back_in_another_spelling_is_the_same_message() -> None:
    seen = history({("a1", "a1-resent")})
    seen.add(["sys", "hi"], ["a1"])
    inputs = ["sys", "hi", "a1-resent", "more"]
    assert new(seen.add(inputs, []), inputs) == ["more"]


def test_a_shortened_history_tells_how_many_messages_were_dropped() -> None:
    seen = history()
    seen.add(["sys", "u1", "a1", "u2", "a2", "u3"], ["a3"])
    inputs = ["sys", "u2", "a2", "u3", "a3", "u4"]
    told = seen.add(inputs, ["a4"])
    assert new(told, inputs) == ["u4"] and told.dropped == 2


def test_a_rewritten_message_is_new_and_what_follows_is_not() -> None:
    seen = history()
    seen.add(["sys", "u1", "a1", "t1-long"], ["a2"])
    inputs = ["sys", "u1", "a1", "t1-short", "a2", "u2"]
    told = seen.add(inputs, [])
    assert new(told, inputs) == ["t1-short", "u2"] and told.dropped == 1


def test_a_fresh_conversation_of_the_same_agent_is_all_new_but_its_instructions() -> None:
    seen = history()
    seen.add(["sys", "u1"], ["a1"])
    inputs = ["sys", "v1"]
    told = seen.add(inputs, ["b1"])
    assert new(told, inputs) == ["v1"] and told.dropped == 0
    # Both go on: each continues its own.
    first, second = ["sys", "u1", "a1", "u2"], ["sys", "v1", "b1", "v2"]
    assert new(seen.add(first, []), first) == ["u2"]
    assert new(seen.add(second, []), second) == ["v2"]


def test_a_retry_of_the_same_request_has_nothing_new() -> None:
    seen = history()
    seen.add(["sys", "u1"], [])
    assert seen.add(["sys", "u1"], ["a1"]) == Continuation(())
