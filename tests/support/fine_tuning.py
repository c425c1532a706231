"""What OpenAI's documentation asks of the lines of a fine-tuning file, as code of our own.

After the API reference (``FineTuneChatRequestInput``, ``FineTunePreferenceRequestInput``) and the
guides on supervised fine-tuning, vision fine-tuning and direct preference optimization.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from turnspan.content.model import as_list

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
URL = re.compile(r"https?://.+|data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/=]+")
KEYS: Mapping[str, frozenset[str]] = {
    "system": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset({"role", "content", "name", "tool_calls", "weight"}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}


def faults(line: Mapping[str, Any]) -> list[str]:
    """What is wrong with a line of supervised fine-tuning; nothing if it is right."""
    return [
        *_unknown(line, {"messages", "tools", "parallel_tool_calls"}, "line"),
        *_conversation(line.get("messages")),
        *_ends_well(line.get("messages")),
        *_tools(line),
    ]


def preference_faults(line: Mapping[str, Any]) -> list[str]:
    """What is wrong with a line of direct preference optimization."""
    given = line.get("input", {})
    found = [
        *_unknown(line, {"input", "preferred_output", "non_preferred_output"}, "line"),
        *_unknown(given, {"messages", "tools", "parallel_tool_calls"}, "input"),
        *_conversation(given.get("messages")),
        *_tools(given),
    ]
    for side in ("preferred_output", "non_preferred_output"):
        output = as_list(line.get(side)) or []
        if len(output) != 1 or output[0]["role"] != "assistant":
            found.append(f"{side} is not one assistant's message")
        else:
            found += _conversation([*given["messages"], *output])
    return found


def _unknown(value: Mapping[str, Any], known: set[str], what: str) -> Iterator[str]:
    for key in value:
        if key not in known:
            yield f"unknown key of a {what}: {key}"


def _conversation(messages: Any) -> Iterator[str]:
    given = as_list(messages)
    if not given:
        yield "no messages"
        return
    waiting: set[str] = set()
    images = 0
    for message in given:
        role = message.get("role")
        if role not in KEYS:
            yield f"unknown role: {role}"
            continue
        yield from _unknown(message, set(KEYS[role]), "message")
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                yield "a tool's message answers no call"
            waiting.discard(message["tool_call_id"])
        elif waiting:
            yield "a call was not answered before the next message"
        yield from _content(message)
        images += str(message.get("content")).count("'image_url': {")
        for call in message.get("tool_calls", ()):
            yield from _call(call)
            waiting.add(call["id"])
    if images > 10:
        yield "more than ten images"


def _content(message: Mapping[str, Any]) -> Iterator[str]:
    content = message.get("content")
    if content is None:
        if not message.get("tool_calls"):
            yield "a message without content"
    elif not isinstance(content, str):
        for block in as_list(content) or [{"type": "nothing"}]:
            if block["type"] == "image_url":
                if message["role"] != "user":
                    yield "an image that is not the user's"
                if not URL.fullmatch(block["image_url"]["url"]):
                    yield "an image that is no URL"
            elif block["type"] != "text" or not isinstance(block["text"], str):
                yield f"unknown piece of content: {block['type']}"
    if message.get("weight") not in (None, 0, 1):
        yield "a weight that is neither 0 nor 1"


def _call(call: Mapping[str, Any]) -> Iterator[str]:
    if set(call) != {"id", "type", "function"} or call["type"] != "function" or not call["id"]:
        yield "a call without id, type and function"
    elif not NAME.fullmatch(call["function"]["name"]):
        yield f"a function's name: {call['function']['name']}"
    elif not isinstance(json.loads(call["function"]["arguments"]), dict):
        yield "arguments that are no JSON object"


def _ends_well(messages: Any) -> Iterator[str]:
    said = [one for one in messages or () if one.get("role") == "assistant"]
    if not said or messages[-1]["role"] != "assistant":
        yield "the last message is not the assistant's"
    elif all(one.get("weight") == 0 for one in said):
        yield "nothing is to be learned"


def _tools(line: Mapping[str, Any]) -> Iterator[str]:
    tools = line.get("tools", [])
    if len(tools) > 128:
        yield "more than 128 tools"
    if "parallel_tool_calls" in line and (
        "tools" not in line or line["parallel_tool_calls"] not in (True, False)
    ):
        yield "parallel_tool_calls without tools, or no truth value"
    for tool in tools:
        function = tool.get("function", {})
        if set(tool) != {"type", "function"} or tool["type"] != "function":
            yield "a tool that is no function"
        elif not NAME.fullmatch(str(function.get("name"))):
            yield "a function without a name"
        elif not isinstance(function.get("parameters", {}), dict):
            yield "parameters that are no JSON schema"
