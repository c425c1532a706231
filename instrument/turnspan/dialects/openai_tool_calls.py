"""The tool calls of a chat message: those of functions, of custom tools, and some written flat."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from turnspan.content.json_codec import (
    EXTRA,
    KEYS,
    LAYOUT,
    STYLE,
    WRITTEN,
    arguments_part,
    arguments_text,
    joined,
    split,
)
from turnspan.content.model import TOOL_CALL, Part, as_dict, unknown_part

_CALL_ORDER: Final = "id,type,function:name:arguments"
_CALL_FIELDS: Final = frozenset({"id", "type", "function", "custom", "name", "arguments"})
_CALL_TAKEN: Final = frozenset({KEYS, LAYOUT, EXTRA, STYLE, WRITTEN, "call_type", "legacy"})
_CUSTOM: Final = frozenset({"name", "input"})
_INNER: Final = ("function", "custom")
_FUNCTION: Final = frozenset({"name", "arguments"})


def call_part(raw: Any) -> Part:
    """The part of one of a message's tool calls."""
    call = as_dict(raw)
    if call is None or call.keys() & _CALL_TAKEN:
        return unknown_part(raw)
    function = as_dict(call.get("function"))
    if function is None and "function" not in call:
        return _other_call(call)
    if function is None or function.keys() != _FUNCTION or call.keys() & _FUNCTION:
        return unknown_part(raw)
    order = _order(tuple(call), tuple(function))
    return _called(call, function["name"], function["arguments"], order)


@lru_cache(maxsize=4096)
def _order(call: tuple[Any, ...], function: tuple[Any, ...]) -> str:
    """The order of a call's keys and of its function's, as one text."""
    within = ":".join(function)
    return ",".join([f"{key}:{within}" if key in _INNER else str(key) for key in call])


def _other_call(call: dict[str, Any]) -> Part:
    """A custom tool's call, or one written flat, as some libraries keep them."""
    custom = as_dict(call.get("custom"))
    if custom is not None and custom.keys() == _CUSTOM:
        if not isinstance(custom["input"], str) or call.keys() & _FUNCTION:
            return unknown_part(call)
        usual = tuple(custom) == ("name", "input")
        order = joined(tuple(call)) if usual else _order(tuple(call), tuple(custom))
        return _called(call, custom["name"], custom["input"], order)
    if "name" in call and "arguments" in call and "custom" not in call:
        return _called(call, call["name"], call["arguments"], joined(tuple(call)))
    return unknown_part(call)


def _called(call: dict[str, Any], name: Any, arguments: Any, order: str) -> Part:
    part = arguments_part(name, arguments)
    if "id" in call:
        part = {"type": TOOL_CALL, "id": call["id"], **part}
    for key, value in call.items():
        if key not in _CALL_FIELDS:
            part[key] = value
    if order != _CALL_ORDER:
        part[KEYS] = order
    if call.get("type", "function") != "function":
        part["call_type"] = call["type"]
    return part


def raw_call(part: Part) -> Any:
    """The inverse of ``call_part``."""
    arguments = arguments_text(part)
    fields = {"name": part["name"], "arguments": arguments, "input": arguments}
    raw: dict[str, Any] = {}
    for key in split(part.get(KEYS, _CALL_ORDER)):
        if key.startswith(("function:", "custom:")):
            outer, *inner = key.split(":")
            raw[outer] = {name: fields[name] for name in inner}
        elif key == "custom":
            raw[key] = {"name": part["name"], "input": arguments}
        elif key == "type":
            raw[key] = part.get("call_type", "function")
        else:
            raw[key] = arguments if key == "arguments" else part[key]
    return raw
