"""Histories that are frozen again and again: what is shared, with whom, and how much is kept."""

from __future__ import annotations

import threading
from typing import Any

from content.histories import said, shared
from turnspan.content.frozen_history import FrozenHistory
from turnspan.content.sizes import size_of_all
from turnspan.content.text_message import as_dict_message


def test_200_conversations_that_take_turns_each_share_their_messages() -> None:
    """However many are under way, what a call sends again is not copied again."""
    history = FrozenHistory()
    conversations = [said(f"{i}: hello", "yes?", "go on") for i in range(200)]
    before = [history.freeze(each) for each in conversations]
    for number in range(3):
        for i, each in enumerate(conversations):
            each += said(f"question {number} of {i}", f"answer {number} of {i}")
            frozen = history.freeze(each)
            assert frozen == each
            assert shared(before[i], frozen) == len(each) - 2
            before[i] = frozen


def test_200_conversations_that_begin_alike_are_told_apart_by_what_follows() -> None:
    """One system prompt and one first question for all: only later messages differ."""
    history = FrozenHistory()
    opening = said("You are helpful. " * 100, "Where is my order?")
    conversations = [[*opening, *said(f"{i}", f"answer to {i}")] for i in range(200)]
    before = [history.freeze(each) for each in conversations]
    for i, each in enumerate(conversations):
        each += said(f"more of {i}", "fine")
        assert shared(before[i], history.freeze(each)) == 4


def test_a_new_conversation_does_not_take_the_place_of_one_that_it_begins_like() -> None:
    """Another user asks the same first question: the long conversation stays known."""
    history = FrozenHistory()
    long = said("system", "question", "answer", "next", "and so on", "end")
    before = history.freeze(long)
    assert history.freeze(long[:2]) == long[:2]
    other = history.freeze([*long[:2], *said("something", "else")])
    assert shared(before, other) == 2
    assert shared(before, history.freeze([*long, *said("more")])) == len(long)


def test_an_edited_message_is_copied_and_the_others_stay_shared() -> None:
    """A cache marker that moves on, a tool's result that is cut: the rest is what it was."""
    history = FrozenHistory()
    messages = said(*(f"{i}" for i in range(10)))
    before = history.freeze(messages)
    for place in (9, 4, 2):
        messages[place]["content"] = f"edited {place}"
        frozen = history.freeze(messages)
        assert frozen == messages
        assert [old is new for old, new in zip(before, frozen, strict=True)] == [
            i != place for i in range(10)
        ]
        assert as_dict_message(before[place])["content"] != f"edited {place}", (
            "what a call saw never changes"
        )
        before = frozen


def test_what_is_kept_is_bounded_by_number() -> None:
    """The conversations idle for longest are forgotten; the newest are not."""
    history = FrozenHistory(limit=16)
    conversations = [said(f"{i}", "yes?") for i in range(100)]
    kept = [history.freeze(each) for each in conversations]
    for i in range(99, 90, -1):
        assert history.freeze(conversations[i])[0] is kept[i][0]
    assert history.freeze(conversations[0])[0] is not kept[0][0]
    assert len(known(history)) <= 16


def test_what_is_kept_is_bounded_by_size() -> None:
    """Many conversations or one opening for all, texts at any depth: never more than the bound,
    but for one conversation that alone is larger."""
    image = {"type": "image_url", "image_url": {"url": "x" * 5_000}}
    for same in (True, False):
        history = FrozenHistory(max_held=50_000)
        for i in range(100):
            content = [{"type": "text", "text": f"{i}"}, image]
            opening = said("system", "question" if same else f"question {i}")
            history.freeze([*opening, *said(f"{i}"), {"role": "user", "content": content}])
            assert held(history) <= 50_000
        assert held(history) > 30_000
        large = said("large", "y" * 60_000)
        frozen = history.freeze(large)
        assert history.freeze([*large, *said("more")])[0] is frozen[0]
        assert len(known(history)) == 1


def known(history: Any) -> dict[Any, list[Any]]:
    """The conversations that are known, by how they begin."""
    found: dict[Any, list[Any]] = history._known
    return found


def held(history: Any) -> int:
    """What they take."""
    kept = [each.kept for alike in known(history).values() for each in alike]
    found = sum(size_of_all(each.frozen) for each in kept)
    assert history._held == found
    return found


def test_threads_that_freeze_at_once_get_what_they_gave() -> None:
    """Room is made by all of them all the time; nobody gets another's messages or an error."""
    history = FrozenHistory(limit=8, max_held=20_000)
    wrong: list[Any] = []

    def work(name: int) -> None:
        try:
            for i in range(300):
                messages = said("system", f"{name} {i % 11}", "z" * 100, f"{name}")
                for _ in range(3):
                    messages += said(f"{i}")
                    if history.freeze(messages) != messages:
                        wrong.append(messages)
        except Exception as error:  # noqa: BLE001  whatever it is fails the test
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
