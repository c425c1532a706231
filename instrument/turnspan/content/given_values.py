"""What an application gave where a word or a number is asked for: it may have given anything."""

from __future__ import annotations

from typing import Any

from turnspan.content.snapshot import freeze
from turnspan.runtime.guard import guard

_PLAIN = (str, int, float, bool, type(None))


def text_of(value: Any) -> str:
    """A text that an application gave, which may have given anything; empty where it is none."""
    if type(value) is str:
        return value
    with guard("text"):
        return "" if value is None else str.__str__(str(value))
    return ""


def label_of(value: Any) -> Any:
    """What an application gave where a word or a number is asked for: plain, and readable."""
    if type(value) in _PLAIN:
        return value
    with guard("label"):
        found = freeze(value)
        return found if type(found) in _PLAIN else str(found)
    return f"<unreadable {type(value).__name__}>"


def attributes_of(given: Any) -> dict[str, Any]:
    """The attributes that an application gave for its spans, those that can be read."""
    found: dict[str, Any] = {}
    if given is not None:
        with guard("attributes"):
            for key, value in given.items():
                found[text_of(key)] = _attribute_of(value)
    return found


def _attribute_of(value: Any) -> Any:
    if type(value) in (list, tuple) and all(type(item) in _PLAIN for item in value):
        return tuple(value)
    return label_of(value)


def number_of(value: Any) -> Any:
    """A number that an application gave; anything else is none."""
    found = label_of(value)
    return found if isinstance(found, (int, float)) else None
