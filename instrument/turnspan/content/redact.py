"""Redaction: every text passes here before it is written anywhere.

First the built-in masks, then the application's hook. Both fail closed: where one raises, a marker
stands instead of the text, and the failure is counted.
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from turnspan.config import Settings
from turnspan.content.blocks import WRITING, WRITTEN
from turnspan.content.model import TEXT, Part, as_dict, as_list, dumps_text
from turnspan.content.secrets import mask_secrets, names_secret
from turnspan.guard import errors

FAILED: Final = "[redaction failed]"
"""Stands where redaction raised."""

DROPPED: Final = "[REDACTED]"
"""Stands where the application's hook returned ``None``."""

_NAMED: Final = "[REDACTED:{}]"
_MAX_DEPTH: Final = 100

_STRUCTURE: Final = frozenset(
    {
        "",
        "assistant",
        "auto",
        "content",
        "developer",
        "function",
        "image_url",
        "input_text",
        "message",
        "object",
        "output_text",
        "role",
        "string",
        "system",
        "text",
        "tool",
        "tool_call",
        "tool_call_response",
        "tool_result",
        "tool_use",
        "type",
        "user",
    }
)
"""Words of the messages' own grammar, which the hook is not asked about."""


class Redactor:
    """Applies the masks and the hook of some settings. Never raises, never returns raw text then.

    ``where`` says what the text is: ``input``, ``output``, ``system``, ``tool_definitions``,
    ``tool_arguments``, ``tool_result``, ``error``, ``user_message``, ``response_text`` or
    ``attribute:<key>``.
    """

    def __init__(self, settings: Settings) -> None:
        self._masks = settings.mask_secrets
        self._hook = settings.redact
        self.active = self._masks or self._hook is not None
        """Whether anything is ever changed."""

    def text(self, text: str, where: str) -> str:
        """The text as it may be written."""
        try:
            return self._text(text, where)
        except Exception as error:  # noqa: BLE001  fail closed: the raw text must not pass
            errors.record(f"redact ({where.partition(':')[0]})", error)
            return FAILED

    def value(self, value: Any, where: str) -> Any:
        """A structure of dictionaries, lists and scalars as it may be written.

        The same object when nothing changed; otherwise changed branches are new and the rest is
        shared. Keys are masked too, and texts under keys like ``password`` or ``api_key``.
        """
        if not self.active:
            return value
        try:
            return self._value(value, where, 0)
        except Exception as error:  # noqa: BLE001  fail closed: the raw value must not pass
            errors.record(f"redact ({where.partition(':')[0]})", error)
            return FAILED

    def parts(self, parts: list[Part], where: str) -> list[Part]:
        """A message's parts as they may be written.

        As ``value``, but what a part says of the provider's writing (the order of its keys) is left
        as it is: it is none of the application's text, and the message is rebuilt by it.
        """
        if not self.active:
            return parts
        redacted: list[Part] = self.value(parts, where)
        if redacted is parts:
            return parts
        if type(redacted) is not list:
            return [{"type": TEXT, "content": FAILED}]
        kept: list[Part] = []
        for found, before in zip(redacted, parts, strict=True):
            part = found
            writing = before.keys() & WRITING
            if writing:
                part = {**part, **{key: before[key] for key in writing}}
            if WRITTEN in part and part.get("arguments") != before.get("arguments"):
                # The text the model wrote would give away what its arguments no longer say.
                part = {key: value for key, value in part.items() if key != WRITTEN}
            kept.append(part)
        return kept

    def json(self, text: str, where: str) -> str:
        """JSON text as it may be written: JSON again, redacted value by value."""
        if not self.active:
            return text
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            return self.text(text, where)
        redacted = self.value(value, where)
        return text if redacted is value else dumps_text(redacted)

    def _text(self, text: str, where: str) -> str:
        if self._masks:
            text = mask_secrets(text)
        hook = self._hook
        if hook is None or text in _STRUCTURE:
            return text
        redacted = hook(text, where)
        if redacted is None:
            return DROPPED
        if not isinstance(redacted, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"redact returned {type(redacted).__name__}, not text or None")
        return redacted

    def _value(self, value: Any, where: str, depth: int) -> Any:
        if isinstance(value, str):
            return self.text(value, where)
        mapping = as_dict(value)
        if mapping is not None:
            return self._dict(mapping, where, depth)
        items = as_list(value)
        if items is not None:
            return self._list(items, where, depth)
        if isinstance(value, (bytes, bytearray)):
            return self.text(bytes(value).decode("utf-8", "replace"), where)
        return value

    def _list(self, items: list[Any], where: str, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            return FAILED
        changed: list[Any] | None = None
        for index, item in enumerate(items):
            redacted = self._value(item, where, depth + 1)
            if redacted is not item and redacted != item:
                if changed is None:
                    changed = list(items)
                changed[index] = redacted
        return items if changed is None else changed

    def _dict(self, items: dict[Any, Any], where: str, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            return FAILED
        changed = False
        result: dict[Any, Any] = {}
        for key, item in items.items():
            named = names_secret(key) if self._masks and isinstance(key, str) else ""
            if named and isinstance(item, str) and item:
                kept = item if item.startswith("[REDACTED") else _NAMED.format(named)
            else:
                kept = self._value(item, where, depth + 1)
            name = mask_secrets(key) if self._masks and isinstance(key, str) else key
            result[name] = kept
            changed = changed or name is not key or (kept is not item and kept != item)
        return result if changed else items
