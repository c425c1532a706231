"""What an SDK's own objects cost that an application sends back: in histories, and as tools."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, cast

from anthropic.types import TextBlock, ToolUseBlock
from google.genai.types import Content, FunctionCall, FunctionDeclaration, Part, Schema, Tool, Type
from openai.types.chat import ChatCompletionMessage

from content.histories import said, shared
from turnspan.content.frozen_history import FrozenHistory, FrozenOnce
from turnspan.content.snapshot import freeze


def test_sdk_objects_in_a_history_are_copied_once() -> None:
    """As the providers' guides do it: the reply itself, or its blocks, go into the next request."""
    blocks = [
        TextBlock(type="text", text="I look."),
        ToolUseBlock(type="tool_use", id="t", name="ls", input={"all": True, "depth": 1}),
    ]
    reply = ChatCompletionMessage.model_validate(
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "t", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
            ],
            "reasoning": "a field of another vendor",
        }
    )
    part = Part(function_call=FunctionCall(name="ls", args={"depth": 1.5}))
    replies: list[Any] = [
        {"role": "assistant", "content": blocks},
        {"role": "assistant", "content": [*blocks, {"type": "text", "text": "and more"}]},
        reply,
        Content(role="model", parts=[part]),
    ]
    for said_so in replies:
        history = FrozenHistory()
        messages: list[Any] = [*said("go"), said_so]
        before = history.freeze(messages)
        assert before == freeze(messages)
        for number in range(3):
            messages += [*said(f"{number}"), copy.deepcopy(said_so)]
            after = history.freeze(messages)
            assert after == freeze(messages)
            assert shared(before, after) == len(before) == len(after) - 2
            before = after


def test_an_sdk_object_that_changed_is_copied_again() -> None:
    """A text, a number that is equal to another, a field that was not set, one of no class's."""
    block = ToolUseBlock(type="tool_use", id="t", name="ls", input={"depth": 1})
    changes: list[Callable[[], object]] = [
        lambda: setattr(block, "name", "find"),
        lambda: setattr(block, "input", {"depth": 1.0}),
        lambda: setattr(block, "input", {"depth": True}),
        lambda: cast("dict[str, Any]", block.input).update(depth=[1]),
        lambda: setattr(block, "caller", None),
        lambda: setattr(block, "of_no_class", 1),
        lambda: setattr(block, "of_no_class", True),
    ]
    history = FrozenHistory()
    messages: list[Any] = [*said("go"), {"role": "assistant", "content": [block]}, *said("on")]
    before = history.freeze(messages)
    for change in changes:
        told = repr(before)
        change()
        after = history.freeze(messages)
        assert repr(after) == repr(freeze(messages))
        assert [old is new for old, new in zip(before, after, strict=True)] == [True, False, True]
        assert repr(before) == told
        before = after


def test_tools_that_are_sdk_objects_are_copied_once() -> None:
    """Whoever hashes them can do so once; a change is another catalogue."""
    declared = FunctionDeclaration(
        name="ls", description="List.", parameters=Schema(type=Type.OBJECT, max_items=1)
    )
    tools = [Tool(function_declarations=[declared])]
    once = FrozenOnce()
    first = once.freeze(tools)
    assert first == freeze(tools)
    assert once.freeze(copy.deepcopy(tools)) is first
    declared.description = "List files."
    assert once.freeze(tools) == freeze(tools) != first
