"""What the columns of a set are, as its card declares them: `datasets` guesses them from the first
ten megabytes of a file else, and fails on what comes later.

A shape is the name of a type, ``json`` for what has no fixed one, a list of one shape, a dictionary
of shapes, or ``None`` where nothing but null was there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import orjson

from turnspan.content.model import as_dict, as_list

Shape: TypeAlias = "str | list[Shape] | dict[str, Shape] | None"
JSON: Final = "json"
_FREE: Final = frozenset({"arguments", "tools"})
"""What has fields of its own in every line, and would get those of all the others."""
_JSON: Final = re.compile(r'\s*(?:[\[{"\d-]|(?:null|true|false|NaN|Infinity)\s*$)')
_MESSAGES: Final = frozenset(
    {
        *("messages", "prompt", "completion", "chosen", "rejected", "input"),
        *("preferred_output", "non_preferred_output"),
    }
)
_TYPES: Final = {"str": "string", "bool": "bool", "int": "int64", "float": "float64"}


def fitting(known: Shape, value: Any, name: str = "") -> Shape:
    """The shape of what a shape fits and of this value, which is called so; ``known`` may be
    changed."""
    kind = _TYPES.get(type(value).__name__)
    if value is None or known == JSON or (kind and known in (None, kind)):
        return known if value is None else known or kind
    fixed = name not in _FREE
    if fixed and (by_name := as_dict(value)) is not None and isinstance(known, dict | None):
        fields = {} if known is None else known
        for key, one in by_name.items():
            fields[key] = fitting(fields.get(key), one, key)
        return fields
    if fixed and (items := as_list(value)) is not None and isinstance(known, list | None):
        each: list[Shape] = [None] if known is None else known
        for one in items:
            each[0] = fitting(each[0], one)
        return each
    return "float64" if isinstance(known, str) and {known, kind} == {"int64", "float64"} else JSON


def told_apart(line: Any) -> Any:
    """A line, or a piece of one, of a set in which some messages are blocks: a text that would be
    taken for JSON is a block too. Where a column has texts and blocks, `datasets` gives back such a
    text (a tool's ``{"left": 2}``, an answer of ``42``) as what it says in JSON."""
    if isinstance(line, list):
        return [told_apart(one) for one in line]  # pyright: ignore[reportUnknownVariableType]
    message = as_dict(line)
    if message is None:
        return line
    text = message.get("content") if "role" in message else None
    if isinstance(text, str) and _JSON.match(text):
        return {**message, "content": [{"type": "text", "text": text}]}
    return {name: told_apart(one) if name in _MESSAGES else one for name, one in message.items()}


def features(columns: Mapping[str, Shape]) -> list[str]:
    """The lines of a card's head that declare columns; JSON is YAML."""
    return [f"  - {orjson.dumps(one).decode()}" for one in _named(columns)]


def _named(fields: Mapping[str, Shape]) -> list[dict[str, object]]:
    return [{"name": name, **_typed(shape)} for name, shape in fields.items()]


def _typed(shape: Shape) -> dict[str, object]:
    if isinstance(shape, dict):
        return {"struct": _named(shape)}
    if isinstance(shape, list):
        inner = _typed(shape[0])
        return {"list": inner.get("dtype") or inner.get("struct") or inner}
    return {"dtype": shape or "string"}
