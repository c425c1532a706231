"""The rows of a session without its long texts: cut where they lie, so that they are not sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from turnspan.content.model import dumps_text
from turnspan_clickhouse.store.client import Store
from turnspan_records.conversation import MessageRecord
from turnspan_records.messages import ONE_SESSION
from turnspan_records.screens.outline_types import HEAD, Head
from turnspan_records.sql import statement

CUT = str(HEAD + 1)
"""One more, which tells whether there is more."""


@dataclass(frozen=True, slots=True)
class ToolResultPreview:
    """What a model was given as a tool's result; ``digest`` is that of all of it, without white
    space, to be compared with that of the tool's own."""

    text: str = ""
    digest: int = 0


def result_of(response: object) -> ToolResultPreview:
    """A part's response; empty where there is none."""
    return response if isinstance(response, ToolResultPreview) else ToolResultPreview()


@dataclass(slots=True)
class MessagePreviews:
    """The messages of a scope: cut, with the size of each, and what its spellings share."""

    messages: dict[str, MessageRecord] = field(default_factory=dict[str, MessageRecord])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    gists: dict[str, str] = field(default_factory=dict[str, str])


def load_heads(store: Store, project: str, scope: str) -> MessagePreviews:
    """Every message of a scope, its texts cut."""
    result = store.query(
        statement("outline/messages", cut=CUT), {"project": project, "scope": scope}, ONE_SESSION
    )
    found = MessagePreviews()
    for hash_, role, name, size, dialect, gist, heads in result.rows:
        parts = [_part(head) for head in heads]
        found.messages[hash_] = MessageRecord(hash_, role, name, parts, "", dialect)
        found.sizes[hash_] = size
        found.gists[hash_] = gist
    return found


_FIELDS = ("type", "id", "name", "content", "arguments", "response", "digest")


def _part(head: Any) -> dict[str, Any]:
    # A tuple with names comes as a dictionary, one without as a tuple.
    values = tuple(head.values()) if isinstance(head, dict) else head  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportUnknownArgumentType]
    part: dict[str, Any] = dict(zip(_FIELDS, values, strict=True))  # pyright: ignore[reportUnknownArgumentType]
    kind = part["type"]
    if kind != "tool_call":
        del part["arguments"]
    digest = part.pop("digest")
    part["response"] = ToolResultPreview(part["response"], digest)
    if kind != "tool_call_response":
        del part["response"]
    return part


def head_of(hash_: str, message: MessageRecord | None) -> Head:
    """The beginning of a message that was loaded whole; ``None`` where only its hash is known."""
    if message is None:
        return Head(hash_, recorded=False)
    text = message.text or next(
        (_shown(part) for part in message.parts if part.get("type") != "reasoning"), ""
    )
    kinds = tuple(dict.fromkeys(str(part.get("type", "")) for part in message.parts))
    size = len(dumps_text(message.parts))
    return Head(hash_, message.role, message.name, kinds, size, text[:HEAD])


def _shown(part: Mapping[str, Any]) -> str:
    value = part.get("response", part.get("arguments"))
    return value if isinstance(value, str) else dumps_text(value if value is not None else part)
