"""The package ``llm``, at the oldest and the newest version that can be installed: its responses.

Each version has an environment of its own, as the stacks have; ``programs/llm_responses.py`` plays
all that a version knows and tells what was recorded of it.
"""

from __future__ import annotations

import json
import subprocess
from typing import Any, Final

import pytest

from stacks.running import PROGRAMS, at_home, python_of

VERSIONS: Final = ("llm-oldest", "llm-newest")
EVERYWHERE: Final = ("whole", "conversation", "refused", "session", "own")
SINCE_TOOLS: Final = ("tools", "tools refused", "own tools", "async tools", "events")

Case = dict[str, Any]

STUB: Final = ["gpt-4o-mini", "gpt-4o-mini", "stub"]
OWN: Final = ["own", "own-1", "own"]


@pytest.fixture(scope="module", params=VERSIONS)
def seen(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Case]:
    """What was recorded of each case, by its name."""
    version: str = request.param
    ran = subprocess.run(
        [str(python_of(version)), str(PROGRAMS / "llm_responses.py")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=at_home(tmp_path_factory.mktemp("llm")),
    )
    assert ran.returncode == 0, ran.stderr[-6000:]
    found: dict[str, Case] = json.loads(ran.stdout.splitlines()[-1])
    assert found.pop("internal errors") == {}
    expected = {*EVERYWHERE, *(SINCE_TOOLS if version == VERSIONS[1] else ())}
    assert expected <= found.keys()
    return found


def calls_of(case: Case, *names: str) -> list[Any]:
    """What is known of each call, by these names."""
    return [[call[name] for name in names] for call in case["calls"]]


def test_a_response_through_an_sdk_is_its_one_call(seen: dict[str, Case]) -> None:
    """The SDK knows the request; ``llm`` the model's name."""
    whole = seen["whole"]
    assert whole["said"] == "Hello"
    assert calls_of(whole, "provider", "model", "stream", "parameters", "system", "messages") == [
        [
            "openai",
            STUB,
            [False, ""],
            {"temperature": 0.5},
            "Be short",
            [["system", "Be short"], ["user", "Hi"]],
        ]
    ]
    assert calls_of(whole, "reply", "finish", "tokens") == [
        [[["assistant", "Hello"]], ["stop"], [10, 5]]
    ]
    refused = seen["refused"]
    error = ["BadRequestError", "Error code: 400 - no such model"]
    assert calls_of(refused, "stream", "error") == [[[True, "error"], error]]


def test_a_conversation_is_a_session(seen: dict[str, Case]) -> None:
    """By its id in the log, unless the application names one."""
    talk = seen["conversation"]
    assert talk["said"] == ["One", "Two"]
    assert calls_of(talk, "session", "messages", "stream") == [
        [0, [["user", "1"]], [True, "complete"]],
        [0, [["user", "1"], ["assistant", "One"], ["user", "2"]], [True, "complete"]],
    ]
    assert (len(talk["session"]), talk["turns"]) == (26, 2)
    assert seen["session"]["session"] == "given"


def test_a_response_without_an_sdk_is_recorded_by_what_llm_knows(seen: dict[str, Case]) -> None:
    """Messages, attachment, system prompt, usage, finish reason; how a stream ended."""
    own = seen["own"]
    assert own["said"] == ["it rains", "it rains"]
    assert own["times"]
    named = calls_of(own, "provider", "model", "stream", "reply", "finish", "tokens")
    assert named == 2 * [
        ["custom", OWN, [True, "complete"], [["assistant", "it rains"]], ["stop"], [3, 4]]
    ]
    first, second = (
        [one for one in call["messages"] if one[0] != "system"] for call in own["calls"]
    )
    assert first == [["user", "look", "iVBORw0KGgo="]]
    assert second == [*first, ["assistant", "it rains"], ["user", "2"]]
    assert own["calls"][0]["system"] == "Be"
    assert len(own["session"]) == 26


@pytest.mark.parametrize(
    ("name", "outcome", "error"),
    [
        ("own fails", "error", ["RuntimeError", "boom"]),
        ("own left", "abandoned", ["", ""]),
        ("own async left", "abandoned", ["", ""]),
    ],
)
def test_a_response_that_breaks_off_is_recorded_with_what_came(
    seen: dict[str, Case], name: str, outcome: str, error: list[str]
) -> None:
    """Raised by the plugin, or left by its reader."""
    broken = calls_of(seen[name], "stream", "reply", "finish", "error")
    assert broken == [[[True, outcome], [["assistant", "it "]], ["error"], error]]


def test_a_response_is_recorded_once_however_it_is_read(seen: dict[str, Case]) -> None:
    """Not at all where nobody reads it: nothing is asked then."""
    assert seen["own unread"]["calls"] == []
    assert len(seen["own read twice"]["calls"]) == 1
    for name in ("own async", "own async events", "events"):
        if name in seen:
            assert calls_of(seen[name], "stream") == [[[True, "complete"]]]


def test_tools_are_recorded_as_they_run(seen: dict[str, Case]) -> None:
    """With their results and failures, in the turn whose model asked; hooks are still called."""
    if "tools" not in seen:
        return  # this version has none
    assert seen["tools"]["said"] == ["It rains.", ["rain in Oslo"]]
    [tool] = seen["tools"]["tools"]
    assert [tool[0], *tool[2:]] == ["weather", "rain in Oslo", False, True]
    assert calls_of(seen["tools"], "offered", "finish") == [
        [["weather"], ["tool_calls"]],
        [["weather"], ["stop"]],
    ]
    refused = seen["tools refused"]
    assert [refused["said"], refused["tools"][0][2]] == ["Well.", "Cancelled: not today"]
    assert seen["own tools"]["tools"] == [
        ["broken", "c1", "Error: nope", True, True],
        ["nowhere", "c2", 'Error: tool "nowhere" does not exist', False, True],
        ["weather", "c0", "rain in Oslo", False, True],
    ]
    both = seen["async tools"]["tools"]
    assert [[tool[0], tool[2]] for tool in both] == [
        ["sky", "grey in Oslo"],
        ["weather", "rain in Rome"],
    ]
    assert {seen[name]["turns"] for name in ("tools", "own tools", "async tools")} == {1}
