"""Histories, tool calls and tool results as home-made tables hold them -> one provider's dialect.

The tables hold what the application had at hand: messages as OpenAI, Anthropic or Gemini write
them, or as the GenAI conventions do; tool calls of a reply, or the reply that they are in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from turnspan.content.model import as_dict, as_list, as_text
from turnspan.dialects import anthropic_messages, gemini, genai, openai_chat
from turnspan.dialects.convert import convert_message
from turnspan.turn.tool_failure import tool_failed
from turnspan_records.importing.home_tables.values import parse_json

_BLOCKS: Final = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})
"""Content that only Anthropic's messages have."""
_NAMES: Final = ("name", "tool_name", "tool", "function_name")
_ARGUMENTS: Final = ("arguments", "input", "args", "parameters", "params")
_IDS: Final = ("id", "tool_call_id", "tool_use_id", "call_id")
_RESULT_IDS: Final = ("tool_call_id", "tool_use_id", "call_id", "id")
_RESULTS: Final = ("result", "content", "output", "response", "value")
_NO_CALLS: Final = frozenset({"text", "thinking", "redacted_thinking", "reasoning", "image"})
"""Blocks of a reply that are no tool calls."""
_INSIDE: Final = ("tool_calls", "choices", "message", "content", "parts", "output")
"""Where a reply has its tool calls, from the outside to the inside."""
_MAX_DEPTH: Final = 6
_LONG_NUMBER: Final = re.compile(r"\d{19}")


@dataclass(frozen=True, slots=True)
class AskedTool:
    """A tool call that a reply asked for."""

    call_id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What an executed tool gave."""

    call_id: str
    name: str
    arguments: Any
    result: Any
    failed: bool


def messages_of(history: Any) -> list[Any] | None:
    """The messages of a history; None where it holds none."""
    body = as_dict(history)
    if body is not None:
        return as_list(body.get("messages")) or as_list(body.get("contents"))
    return as_list(history)


def dialect_of(messages: list[Any]) -> str:
    """In whose words messages are written; those of text alone are anybody's, and OpenAI's."""
    for message in messages:
        body = as_dict(message) or {}
        parts = as_list(body.get("parts"))
        if parts is not None:
            types = [as_dict(part) for part in parts]
            ours = all(part is not None and "type" in part for part in types)
            return genai.NAME if ours else gemini.NAME
        for block in as_list(body.get("content")) or ():
            if as_text((as_dict(block) or {}).get("type")) in _BLOCKS:
                return anthropic_messages.NAME
    return openai_chat.NAME


def request_of(messages: list[Any]) -> tuple[str, dict[str, Any]]:
    """The dialect that a call's content is given in, and its request."""
    dialect = dialect_of(messages)
    if dialect == gemini.NAME:  # whose answers name the model's turn in another way
        return genai.NAME, {"messages": [convert_message(gemini.NAME, m) for m in messages]}
    return dialect, {"messages": messages}


def response_of(dialect: str, text: str, thoughts: str, asked: list[AskedTool]) -> Any:
    """A reply in a dialect's words; None where nothing was said."""
    if not (text or thoughts or asked):
        return None
    if dialect == anthropic_messages.NAME:
        return {"role": "assistant", "content": _blocks(text, thoughts, asked)}
    if dialect == openai_chat.NAME:
        return {"choices": [{"message": _openai_message(text, thoughts, asked)}]}
    parts: list[dict[str, Any]] = []
    if thoughts:
        parts.append({"type": "reasoning", "content": thoughts})
    if text:
        parts.append({"type": "text", "content": text})
    parts += [
        {"type": "tool_call", "id": tool.call_id, "name": tool.name, "arguments": tool.arguments}
        for tool in asked
    ]
    return {"messages": [{"role": "assistant", "parts": parts}]}


def _blocks(text: str, thoughts: str, asked: list[AskedTool]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if thoughts:
        blocks.append({"type": "thinking", "thinking": thoughts, "signature": ""})
    if text:
        blocks.append({"type": "text", "text": text})
    return blocks + [
        {"type": "tool_use", "id": tool.call_id, "name": tool.name, "input": tool.arguments}
        for tool in asked
    ]


def _openai_message(text: str, thoughts: str, asked: list[AskedTool]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if thoughts:
        message["reasoning_content"] = thoughts
    if asked:
        message["tool_calls"] = [
            {
                "id": tool.call_id,
                "type": "function",
                "function": {"name": tool.name, "arguments": tool.arguments},
            }
            for tool in asked
        ]
    return message


def asked_tools(value: Any) -> tuple[list[AskedTool], int]:
    """The tool calls of a reply, and how many entries are none and nothing else that is known."""
    found: list[AskedTool] = []
    unknown = _collect(value, found, 0)
    return found, unknown


def _collect(value: Any, found: list[AskedTool], depth: int) -> int:
    items = as_list(value)
    if items is not None and depth <= _MAX_DEPTH:
        return sum(_collect(item, found, depth + 1) for item in items)
    body = as_dict(value)
    if body is None or depth > _MAX_DEPTH:
        return 0 if value is None else 1
    tool = _asked(body)
    if tool is not None:
        found.append(tool)
        return 0
    if as_text(body.get("type")) in _NO_CALLS:
        return 0
    for name in _INSIDE:
        inner = body.get(name)
        if isinstance(inner, (list, dict)):
            return _collect(inner, found, depth + 1)
    return 0 if not body or "role" in body else 1


def _asked(body: dict[str, Any]) -> AskedTool | None:
    inner = body
    for name in ("function", "functionCall", "function_call", "custom"):
        within = as_dict(body.get(name))
        if within is not None:
            inner = within
            break
    name = _first_text(inner, _NAMES)
    if not name or "result" in body or as_text(body.get("role")):
        return None
    return AskedTool(_first_text(body, _IDS), name, _exact(_first(inner, _ARGUMENTS)))


def _exact(arguments: Any) -> Any:
    """Arguments in a text, parsed if there is a number in it which others that parse it would make
    a double."""
    if isinstance(arguments, str) and _LONG_NUMBER.search(arguments):
        value, problem = parse_json(arguments)
        return arguments if problem else value
    return arguments


def tool_results(value: Any, asked: list[AskedTool]) -> tuple[list[ToolResult], int]:
    """What executed tools gave, each with the call that asked for it, and how many entries are no
    results.

    Entries name their call, by its id or in the order of the calls; a mapping has them by id.
    """
    items = as_list(value)
    body = as_dict(value)
    if items is None and body is not None:
        items = _of_mapping(body, asked)
    if items is None:
        return [], 0 if value is None else 1
    waiting = list(asked)
    found = [_result(item, waiting) for item in items]
    return [each for each in found if each is not None], found.count(None)


def _of_mapping(body: dict[str, Any], asked: list[AskedTool]) -> list[Any]:
    by_id = {tool.call_id for tool in asked if tool.call_id}
    if body and body.keys() <= by_id:
        return [{"tool_call_id": key, "result": value} for key, value in body.items()]
    for name in ("tool_results", "results"):
        inner = as_list(body.get(name))
        if inner is not None:
            return inner
    return [body] if body else []


def _result(item: Any, waiting: list[AskedTool]) -> ToolResult | None:
    body = as_dict(item)
    if body is None:
        tool = _take(waiting, "", "")
        if item is None and tool is None:
            return None
        known = tool or AskedTool("", "", None)
        return ToolResult(known.call_id, known.name, known.arguments, item, tool_failed(item))
    call_id, name = _first_text(body, _RESULT_IDS), _first_text(body, _NAMES)
    tool = _take(waiting, call_id, name) or AskedTool(call_id, name, _first(body, _ARGUMENTS))
    result = next((body[key] for key in _RESULTS if key in body), item)
    failed = (
        tool_failed(body)
        or tool_failed(result)
        or body.get("failed") is True
        or body.get("success") is False
        or as_text(body.get("status")) in ("error", "failed")
    )
    return ToolResult(call_id or tool.call_id, name or tool.name, tool.arguments, result, failed)


def _take(waiting: list[AskedTool], call_id: str, name: str) -> AskedTool | None:
    """The call that a result is of, which then waits no more: by its id, its name, its place."""
    for place, tool in enumerate(waiting):
        if call_id and tool.call_id:
            same = tool.call_id == call_id
        else:
            same = not name or tool.name == name
        if same:
            return waiting.pop(place)
    return None


def _first(body: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((body[name] for name in names if name in body), None)


def _first_text(body: dict[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = body.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return ""
