"""Coding a provider's JSON objects as GenAI parts, and back, byte for byte.

A ``Spec`` maps one kind of object to one kind of part, key by key. Keys without a place in the
schema go on the part under their own names. Where the provider's keys are not in the order that the
spec expects (SDK objects, wire JSON and hand-written dictionaries differ), ``keys`` on the part
remembers it. The same for whole messages: ``layout`` and ``extra`` on the first part.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import orjson

from turnspan.content.model import (
    STANDARD_PARTS,
    TEXT,
    TOOL_CALL,
    UNKNOWN,
    Part,
    as_dict,
    unknown_part,
)
from turnspan.runtime.type_guards import is_dict, is_list

KEYS: Final = "keys"
LAYOUT: Final = "layout"
EXTRA: Final = "extra"
BARE: Final = "text"
"""The layout of a message that is nothing but a text, without role or object."""
STYLE: Final = "style"
WRITTEN: Final = "arguments_text"

WRITING: Final = frozenset({KEYS, LAYOUT, STYLE})
"""What a part says about how its provider wrote it: order and style, never content."""

_RESERVED: Final = WRITING | {EXTRA}
_OURS: Final = frozenset({"type", "content", KEYS, LAYOUT, EXTRA, STYLE, WRITTEN})


@dataclass(frozen=True, slots=True)
class Spec:
    """How objects of one provider type become parts of one type.

    ``fields`` are (provider's key, part's key) pairs; all are required, and with ``type`` before
    them they are the expected order.
    """

    raw_type: str
    part_type: str
    fields: tuple[tuple[str, str], ...]
    order: tuple[str, ...] = field(init=False)
    keys: frozenset[str] = field(init=False)
    names: Mapping[str, str] = field(init=False)
    taken: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", ("type", *(key for key, _ in self.fields)))
        object.__setattr__(self, "keys", frozenset(self.order))
        object.__setattr__(self, "names", dict(self.fields))
        object.__setattr__(self, "taken", _OURS | {name for _, name in self.fields})

    def encode(self, raw: Mapping[str, Any]) -> Part:
        """The part of an object of this spec; a generic part if the object is not as expected."""
        part: Part = {"type": self.part_type}
        for key, name in self.fields:
            if key not in raw:
                return unknown_part(raw)
            part[name] = raw[key]
        order = tuple(raw)
        if order != self.order:
            names = self.names
            for key in order:
                if key not in names and key != "type":
                    if key in self.taken:
                        return unknown_part(raw)
                    part[key] = raw[key]
            part[KEYS] = joined(order)
        return part

    def decode(self, part: Part) -> dict[str, Any]:
        """The object that ``encode`` made the part of."""
        keys = part.get(KEYS)
        names = self.names
        return {
            key: self.raw_type if key == "type" else part[names.get(key, key)]
            for key in (self.order if keys is None else split(keys))
        }


def generic_part(raw: Any) -> Part:
    """A provider's object of a type without a spec: as it is, if it can stand among the parts."""
    block = as_dict(raw)
    if block is not None:
        kind = block.get("type")
        if isinstance(kind, str) and kind not in STANDARD_PARTS and not block.keys() & _RESERVED:
            return dict(block)
    return unknown_part(raw)


def generic_raw(part: Part) -> Any:
    """The inverse of ``generic_part``."""
    if part["type"] == UNKNOWN:
        return part["value"]
    return {k: v for k, v in part.items() if k != LAYOUT and k != EXTRA}


@lru_cache(maxsize=4096)
def joined(keys: tuple[str, ...]) -> str:
    """Keys as one text."""
    return ",".join(map(str, keys))


@lru_cache(maxsize=4096)
def split(keys: str) -> tuple[str, ...]:
    """The inverse of ``joined``."""
    return tuple(keys.split(",")) if keys else ()


def put_layout(parts: list[Part], layout: str, expected: str, extra: dict[str, Any] | None) -> None:
    """Note on the first part how the message was written, where it is not as expected."""
    if not parts:
        return
    if layout != expected:
        parts[0][LAYOUT] = layout
    if extra:
        parts[0][EXTRA] = extra


def only_text(parts: list[Part]) -> bool:
    """Whether the parts are at most one text: what a plain string stands for."""
    return not parts or (len(parts) == 1 and parts[0]["type"] == TEXT)


def first(parts: Iterable[Part]) -> Part:
    """The first of the parts.

    Raises:
        LookupError: there is none.
    """
    for part in parts:
        return part
    raise LookupError("no such part")


# -- arguments of tool calls: JSON text on the wire, an object in the schema -----------------------

_OBJECT: Final = "object"
_SPACED: Final = "spaced"
_UNICODE: Final = "spaced_unicode"
_INDENT_2: Final = "indent_2"
_INDENT_4: Final = "indent_4"


def arguments_part(name: Any, arguments: Any) -> Part:
    """A tool_call part; text that is a JSON object or array is parsed.

    ``style`` (or, for a style of its own, ``arguments_text``) is what brings the text back byte for
    byte.
    """
    part: Part = {"type": TOOL_CALL, "name": name, "arguments": arguments}
    if isinstance(arguments, (dict, list)):
        part[STYLE] = _OBJECT
    if not isinstance(arguments, str) or arguments[:1] not in ("{", "["):
        return part
    try:
        value = orjson.loads(arguments)
        style = _style_of(value, arguments)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError, RecursionError):
        return part  # no JSON, or so deep that it can be read, but not be written again
    part["arguments"] = value
    if style is None:
        part[WRITTEN] = arguments
    elif style:
        part[STYLE] = style
    return part


def arguments_text(part: Part) -> Any:
    """The arguments as the model wrote them: the inverse of ``arguments_part``."""
    if WRITTEN in part:
        return part[WRITTEN]
    value = part["arguments"]
    style = part.get(STYLE, "")
    if style == _OBJECT or not isinstance(value, (dict, list)):
        return value  # pyright: ignore[reportUnknownVariableType]
    return _written(value, style)  # pyright: ignore[reportUnknownArgumentType]


def _style_of(value: Any, text: str) -> str | None:
    if "\n" in text:
        candidates: tuple[str, ...] = (_INDENT_2, _INDENT_4)
    elif '": ' in text or ", " in text:
        candidates = (_SPACED, _UNICODE, "")
    else:
        candidates = ("", _SPACED)
    for style in candidates:
        if _written(value, style) == text:
            return style
    return None


def _written(value: Any, style: str) -> str:
    if not style:
        return orjson.dumps(value).decode()
    if style == _SPACED:
        return json.dumps(value)
    if style == _UNICODE:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=4 if style == _INDENT_4 else 2)


def canonical(answer: Any) -> Any:
    """A frozen answer whose JSON does not depend on the order in which its keys were written."""
    if is_dict(answer):
        named = {str(key): item for key, item in answer.items()}
        return {key: canonical(named[key]) for key in sorted(named)}
    if is_list(answer):
        return [canonical(item) for item in answer]
    return answer
