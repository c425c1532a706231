"""The items of Responses: what asks the application for a tool, what answers, and how they land."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.sealing import rebuild_record, seal_message
from turnspan.dialects.convert import convert, convert_message

DIALECT = "openai.responses"

ASKED: list[tuple[dict[str, Any], str, Any]] = [
    (
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"a":1}'},
        "look",
        {"a": 1},
    ),
    ({"type": "custom_tool_call", "call_id": "c", "name": "math", "input": "4+4"}, "math", "4+4"),
    ({"input": "4+4", "name": "math", "type": "custom_tool_call", "call_id": "c"}, "math", "4+4"),
    (
        {
            "type": "computer_call",
            "id": "i",
            "call_id": "c",
            "action": {"type": "click", "x": 1},
            "pending_safety_checks": [],
            "status": "completed",
        },
        "computer",
        {"type": "click", "x": 1},
    ),
    (
        {"type": "computer_call", "id": "i", "call_id": "c", "actions": [{"type": "wait"}]},
        "computer",
        [{"type": "wait"}],
    ),
    (
        {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
        "local_shell",
        {"command": ["ls"]},
    ),
    (
        {
            "type": "shell_call",
            "call_id": "c",
            "action": {"commands": ["ls"]},
            "environment": {"type": "local"},
        },
        "shell",
        {"commands": ["ls"]},
    ),
    (
        {"type": "apply_patch_call", "call_id": "c", "operation": {"type": "delete_file"}},
        "apply_patch",
        {"type": "delete_file"},
    ),
]

HOSTED: list[dict[str, Any]] = [
    {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search"}},
    {"type": "file_search_call", "id": "f", "queries": ["q"], "status": "completed"},
    {"type": "code_interpreter_call", "id": "c", "code": "1", "outputs": [], "container_id": "x"},
    {"type": "mcp_call", "id": "m", "name": "n", "arguments": "{}", "server_label": "s"},
    {"type": "mcp_list_tools", "id": "m", "server_label": "s", "tools": []},
    {
        "type": "shell_call",
        "call_id": "c",
        "action": {"commands": ["ls"]},
        "environment": {"type": "container_reference", "container_id": "x"},
    },
]

EXIT: dict[str, Any] = {"stdout": "", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
ANSWERED: list[tuple[dict[str, Any], str, bool]] = [
    ({"type": "function_call_output", "call_id": "c", "output": "8"}, "c", False),
    ({"type": "custom_tool_call_output", "call_id": "c", "output": "8", "id": "x"}, "c", False),
    (
        {
            "type": "computer_call_output",
            "call_id": "c",
            "output": {"type": "computer_screenshot", "file_id": "f"},
        },
        "c",
        False,
    ),
    ({"type": "local_shell_call_output", "id": "c", "output": "{}"}, "c", False),
    ({"type": "shell_call_output", "call_id": "c", "output": [EXIT]}, "c", False),
    (
        {
            "type": "shell_call_output",
            "call_id": "c",
            "output": [EXIT, EXIT | {"outcome": {"type": "exit", "exit_code": 2}}],
        },
        "c",
        True,
    ),
    (
        {
            "type": "shell_call_output",
            "call_id": "c",
            "output": [EXIT | {"outcome": {"type": "timeout"}}],
        },
        "c",
        True,
    ),
    ({"type": "apply_patch_call_output", "call_id": "c", "status": "completed"}, "c", False),
    (
        {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no"},
        "c",
        True,
    ),
]


def reply(*items: dict[str, Any]) -> Any:
    """What a response of these items says."""
    return convert(DIALECT, {}, {"status": "completed", "output": list(items)})


@pytest.mark.parametrize(("item", "name", "arguments"), ASKED)
def test_what_the_application_is_asked_for(item: dict[str, Any], name: str, arguments: Any) -> None:
    """A tool call with the model's id, a name and what is asked."""
    assert reply(item).tool_calls == [{"id": "c", "name": name, "arguments": arguments}]


@pytest.mark.parametrize("item", HOSTED)
def test_what_the_provider_does_itself(item: dict[str, Any]) -> None:
    """In the messages as it is, but nothing that the application is asked for."""
    found = reply(item)
    assert found.tool_calls == []
    assert found.output[0]["parts"][0]["type"] == item["type"]


@pytest.mark.parametrize(("item", "call_id", "failed"), ANSWERED)
def test_what_the_application_answers(item: dict[str, Any], call_id: str, failed: bool) -> None:
    """A result by its call's id, and whether the tool failed by its own flags."""
    message = convert_message(DIALECT, item)
    (part,) = message["parts"]
    assert message["role"] == "tool"
    assert (part["type"], part["id"]) == ("tool_call_response", call_id)
    assert bool(part.get("is_error")) is failed


@pytest.mark.parametrize(
    "item", [*(a[0] for a in ASKED), *HOSTED, *(a[0] for a in ANSWERED)], ids=str
)
def test_every_item_can_be_rebuilt(item: dict[str, Any]) -> None:
    """Byte for byte, from its record alone."""
    sealed = seal_message(DIALECT, item)
    rebuilt = rebuild_record(DIALECT, sealed.role, sealed.name, sealed.parts, sealed.source)
    assert json.dumps(rebuilt) == json.dumps(item)


TERSE = {"type": "input_text", "text": "Be terse."}
PROMPTS: list[tuple[dict[str, Any], list[str]]] = [
    ({"input": [{"role": "system", "content": "Be terse."}]}, ["Be terse."]),
    ({"input": [{"role": "developer", "content": [TERSE]}]}, ["Be terse."]),
    (
        {"input": [{"type": "message", "role": "system", "content": [TERSE, TERSE]}]},
        ["Be terse."] * 2,
    ),
    (
        {"input": [{"role": "system", "content": "A"}, {"role": "developer", "content": "B"}]},
        ["A", "B"],
    ),
    ({"instructions": "A", "input": "hi"}, ["A"]),
    (
        {"instructions": "A", "input": [{"role": "developer", "content": [TERSE]}]},
        ["A", "Be terse."],
    ),
    ({"input": [{"role": "user", "content": "hi"}, {"role": "system", "content": "late"}]}, []),
]


@pytest.mark.parametrize(("request_", "expected"), PROMPTS)
def test_the_system_prompt_wherever_it_stands(
    request_: dict[str, Any], expected: list[str]
) -> None:
    """The instructions, and what the input begins with."""
    found = convert(DIALECT, request_)
    assert [part["content"] for part in found.system] == expected


SOUND: dict[str, Any] = {"format": "audio/pcm", "data": f"sha256:{'a' * 64};size=48000"}
SPOKEN: list[tuple[dict[str, Any], list[str]]] = [
    (
        {
            "id": "i",
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_audio", **SOUND, "seconds": 1.0, "transcript": "Hi"}],
        },
        ["text", "blob"],
    ),
    (
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Listen"},
                {"type": "input_audio", **SOUND, "seconds": 1.0, "truncated": True},
                {"type": "input_audio", **SOUND, "transcript": "This"},
            ],
        },
        ["text", "blob", "text", "blob"],
    ),
    (
        {"role": "user", "content": [{"type": "input_audio", "transcript": "no sound"}]},
        ["text", "input_audio"],
    ),
    ({"role": "user", "content": [{"type": "input_audio"}]}, ["input_audio"]),
    (
        {"role": "user", "content": [{"type": "input_audio", "input_audio": {"format": "mp3"}}]},
        ["input_audio"],
    ),
    (  # of the other side
        {"role": "user", "content": [{"type": "output_audio", "transcript": "x", "data": "y"}]},
        ["output_audio"],
    ),
]


@pytest.mark.parametrize(("raw", "kinds"), SPOKEN)
def test_what_is_spoken(raw: dict[str, Any], kinds: list[str]) -> None:
    """A transcript is text, and the sound beside it a blob; both together are the block again."""
    message = convert_message(DIALECT, raw)
    assert [part["type"] for part in message["parts"]] == kinds

    sealed = seal_message(DIALECT, raw)
    rebuilt = rebuild_record(DIALECT, sealed.role, sealed.name, sealed.parts, sealed.source)
    assert json.dumps(rebuilt) == json.dumps(raw)
    assert (sealed.source == "") is (kinds[0] in ("text", "blob"))
