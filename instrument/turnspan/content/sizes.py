"""What frozen values take to keep."""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.equality import Numbers
from turnspan.content.text_message import TextMessage
from turnspan.runtime.type_guards import is_dict, is_list

_CONTAINER = 200
"""Bytes of a small dictionary or list."""
_TEXT_MESSAGE = 56
_ODD: Final = 2**50
"""Added for each value that may be equal to what is other JSON: numbers, keys that are no text."""


def size_of_all(messages: list[Any]) -> int:
    """About how many bytes it takes to keep frozen messages alive."""
    return measured(messages)[0]


def measured(messages: list[Any]) -> tuple[int, list[tuple[int, Numbers]]]:
    """The same, and the places of those that are odd: a message that is equal may be other JSON."""
    size = 0
    odd: list[tuple[int, Numbers]] = []
    for place, message in enumerate(messages):
        measure = _measure(message)
        if measure >= _ODD:
            odd.append((place, Numbers(message)))
        size += measure % _ODD
    return size, odd


def size_of(value: Any) -> int:
    """About how many bytes it takes to keep a frozen value alive: its texts' lengths, and what a
    container takes. Texts may be the application's own, but live on here when it lets go of them.
    """
    return _measure(value) % _ODD


def _measure(value: Any) -> int:
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, TextMessage):
        return len(value.content) + _TEXT_MESSAGE
    size = 0
    if is_dict(value):
        fields: dict[Any, Any] = value  # the compiled build would demand texts for keys
        for key, item in fields.items():
            size += len(item) if type(item) is str else _measure(item)
            if type(key) is not str:
                size += _ODD
        return size + _CONTAINER
    if is_list(value):
        for item in value:
            size += _measure(item)
        return size + _CONTAINER
    return 0 if value is None else _ODD
