"""Recorded conversations of undecorated agents, several at a time: whose is which?

At least 99 % of them are to be exact: every call in the conversation's one session, which no other
has a call in, and the turns with their user messages, rounds and tools as they were played.
"""

from __future__ import annotations

import json
import random
from contextlib import AbstractContextManager
from typing import Any

import pytest

from no_code.conftest import Stage
from no_code.talks import Around, Talk, differences, nothing_around, steps
from support.representatives import few
from support.shared import trajectories
from support.tau_bench import truth

FILES = ("tau-bench__gpt-4o-airline", "tau-bench-fork__tool-calling-retail")
EXACT = 0.99


def talks(count: int) -> list[Talk]:
    """Conversations of two benchmarks, in an order of no meaning."""
    found: list[Talk] = []
    for file in trajectories(*FILES):
        for number, run in enumerate(truth(file)):
            names = {call["function"]["name"] for m in run.sent for call in m.get("tool_calls", [])}
            tools = [_tool(name) for name in sorted(names)]
            found.append(Talk(f"{file.stem}#{number}", run.sent, tools))
    random.Random(7).shuffle(found)
    return found[:count]


def _tool(name: str) -> dict[str, Any]:
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def alike(talk: Talk) -> Talk:
    """The same conversation with the first words, system prompt and tools that all have."""
    messages = json.loads(json.dumps(talk.messages))
    first = next(message for message in messages if message["role"] == "user")
    first["content"] = "Hi, I need some help."
    for message in messages:
        if message["role"] == "system":
            message["content"] = "You are a customer service agent."
    return Talk(talk.name, messages, [_tool("think")])


def play(stage: Stage, given: list[Talk], together: int, provider: str, around: Around) -> None:
    """Play conversations, so many at a time, in an order of no meaning."""
    chance = random.Random(together)
    waiting = [steps(talk, stage.model, provider, around) for talk in given]
    running = [waiting.pop(0) for _ in range(min(together, len(waiting)))]
    while running:
        chosen = chance.choice(running)
        if next(chosen, self := object()) is self:
            running.remove(chosen)
            if waiting:
                running.append(waiting.pop(0))


def assert_exact(stage: Stage, given: list[Talk]) -> None:
    """At least 99 % of the conversations are exact."""
    wrong = differences(stage.rows, given)
    share = 1 - len(wrong) / len(given)
    print(f"{share:.1%} of {len(given)} conversations exact")
    assert share >= EXACT, dict(list(wrong.items())[:5])


@pytest.mark.slow
@pytest.mark.parametrize("provider", few(["openai", "anthropic"], ["openai"]))
@pytest.mark.parametrize("together", few([1, 2, 8], [8]))
def test_conversations_that_begin_alike(stage: Stage, together: int, provider: str) -> None:
    """The same first words, system prompt and tools: only what was answered tells them apart."""
    given = [alike(talk) for talk in talks(40)]
    play(stage, given, together, provider, nothing_around)
    assert_exact(stage, given)


@pytest.mark.slow
@pytest.mark.parametrize("provider", few(["openai", "anthropic"], ["anthropic"]))
@pytest.mark.parametrize("together", few([1, 8], [8]))
def test_conversations_as_they_were(stage: Stage, together: int, provider: str) -> None:
    """As recorded."""
    given = talks(40)
    play(stage, given, together, provider, nothing_around)
    assert_exact(stage, given)


@pytest.mark.slow
@pytest.mark.parametrize("provider", few(["openai", "anthropic"], ["anthropic"]))
def test_conversations_behind_a_web_server(stage: Stage, provider: str) -> None:
    """Each of the user's messages is a request of its own, with a span around all its calls."""
    tracer = stage.provider.get_tracer("web")

    def request(name: str) -> AbstractContextManager[Any]:
        return tracer.start_as_current_span(f"POST /chat {name}")

    given = [alike(talk) for talk in talks(40)]
    play(stage, given, 8, provider, request)
    assert_exact(stage, given)


@pytest.mark.slow
@pytest.mark.parametrize("provider", few(["openai", "anthropic"], ["anthropic"]))
def test_conversations_in_one_job(stage: Stage, provider: str) -> None:
    """One span of the application's is around all conversations of an agent, eight at a time."""
    given = [alike(talk) for talk in talks(40)]
    with stage.provider.get_tracer("job").start_as_current_span("evaluate"):
        play(stage, given, 8, provider, nothing_around)
    assert_exact(stage, given)
