"""Which messages of a call are new: by position in the conversation that it continues."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter
from collections.abc import Sequence

from turnspan_records.history import Continuation, History


def history(spelled: dict[str, str] | None = None) -> History:
    gists = spelled or {}
    return History(lambda one: gists.get(one, one), lambda one: one.startswith("sys"))


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
    seen = history({"a1-resent": "a1"})
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
    assert seen.add(["sys", "u1"], ["a1"]) == Continuation((), kept=2, before=0)


def told_slowly(chains: list[list[str]], inputs: Sequence[str]) -> tuple[tuple[int, ...], int]:
    """What is new and how many were dropped, by comparing whole lists."""

    def shared(chain: Sequence[str]) -> int:
        pairs = zip(chain, inputs, strict=False)
        return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(chain), len(inputs)))

    chain = max(reversed(chains[-24:]), key=shared, default=list[str]())
    common = shared(chain)
    rest = Counter(chain[common:])
    new: list[int] = []
    for at in range(common, len(inputs)):
        if rest[inputs[at]] > 0:
            rest[inputs[at]] -= 1
        else:
            new.append(at)
    if chain and common == len(chain):
        chains.reverse()
        chains.remove(chain)
        chains.reverse()
    if all(one.startswith("sys") for one in inputs[:common]) and (
        len(inputs) - common - len(new) < max(2, len(new))
    ):
        return tuple(range(common, len(inputs))), 0
    return tuple(new), rest.total() if common < len(inputs) else 0


def test_what_is_told_is_what_comparing_whole_lists_tells() -> None:
    """Agents that take turns, histories that grow, shrink, slide, branch and are edited."""
    chosen = random.Random(11)
    seen, chains = history(), list[list[str]]()
    sent: dict[str, list[str]] = {"a": [], "b": []}
    for number in range(3_000):
        agent = chosen.choice("ab")
        before = sent[agent]
        inputs = edited(chosen, before or ["sys"], sent[chosen.choice("ab")])
        outputs = [f"a{chosen.randrange(30)}"]
        repeated = 0
        while repeated < min(len(before), len(inputs)) and before[repeated] == inputs[repeated]:
            repeated += 1
        wanted = told_slowly(chains, inputs)
        chains.append([*inputs, *outputs])
        told = seen.add(inputs[repeated:], outputs, thread=agent, repeated=repeated)
        assert (told.new, told.dropped) == wanted, number
        sent[agent] = inputs


def edited(chosen: random.Random, before: list[str], other: list[str]) -> list[str]:
    """A history as the next call may send it, of 40 messages at most."""
    inputs = list(before)
    change = chosen.randrange(9)
    if change == 0:
        inputs = inputs[: chosen.randrange(len(inputs) + 1)]
    elif change == 1 and len(inputs) > 2:
        del inputs[1]
    elif change == 2:
        inputs = list(other)
    elif change == 3:
        inputs.insert(chosen.randrange(len(inputs) + 1), f"e{chosen.randrange(1_000)}")
    else:
        inputs += [f"u{chosen.randrange(50)}" for _ in range(chosen.randrange(1, 3))]
    return inputs[:40]


def test_a_history_takes_memory_for_what_is_new_in_it() -> None:
    """Four times the calls take about four times the memory, not sixteen times."""

    def grow(calls: int) -> int:
        seen = history()
        tracemalloc.start()
        for number in range(calls):
            rest = [f"a{number - 1}", f"u{number}"] if number else ["sys", "u0"]
            told = seen.add(rest, [f"a{number}"], repeated=2 * number)
            assert len(told.new) == (1 if number else 2) and not told.dropped
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    less, more = grow(500), grow(2_000)
    assert more < 5 * less
