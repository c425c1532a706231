"""Messages as their records keep them, and back: what shows that nothing of one is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from turnspan.content.media import digest_media
from turnspan.content.model import Message, dumps, dumps_text
from turnspan.dialects.convert import convert_sealed, rebuild_message


@dataclass(frozen=True, slots=True)
class SealedMessage:
    """A message as its record keeps it; ``parts`` is JSON, ``source`` see ``convert_sealed``."""

    role: str
    name: str
    parts: str
    source: str


def seal_message(dialect: str, raw: Any, *, keep_bytes: bool = False) -> SealedMessage:
    """Everything that a ``message`` record keeps of a provider's message."""
    message, source = convert_sealed(dialect, raw, keep_bytes=keep_bytes)
    parts = dumps_text(message["parts"])
    return SealedMessage(message["role"], message.get("name", ""), parts, source)


def rebuild_record(dialect: str, role: str, name: str, parts: str, source: str) -> Any:
    """The provider's message of a ``message`` record (its columns as they are)."""
    if source:
        return orjson.loads(source)
    return rebuild_message(dialect, role, name, orjson.loads(parts))


def source_if_needed(dialect: str, raw: Any, message: Message) -> str:
    """``""`` if the message is rebuilt byte for byte, else the provider's JSON of it."""
    written = dumps(digest_media(raw))
    name = message.get("name", "")
    rebuilt = rebuild_message(dialect, message["role"], name, message["parts"])
    return "" if dumps(rebuilt) == written else written.decode()
