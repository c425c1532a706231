"""The rows of a session without its long texts: cut where they lie, so that they are not sent."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from turnspan.content.model import dumps_text
from turnspan_clickhouse.store.client import Store
from turnspan_records.conversation import MessageRecord
from turnspan_records.messages import ONE_SESSION
from turnspan_records.replay import MOST_NAMED
from turnspan_records.screens.outline_types import HEAD, Head
from turnspan_records.sql import statement

CUT = str(HEAD + 1)
"""One more, which tells whether there is more: what ``message.head`` has of a text."""


@dataclass(frozen=True, slots=True)
class ToolResultPreview:
    """What a model was given as a tool's result; ``digest`` is that of all of it, without white
    space, to be compared with that of the tool's own."""

    text: str = ""
    digest: str = ""


def result_of(response: object) -> ToolResultPreview:
    """A part's response; empty where there is none."""
    return response if isinstance(response, ToolResultPreview) else ToolResultPreview()


@dataclass(slots=True)
class MessagePreviews:
    """The messages of a scope: cut, with the size of each, and what its spellings share."""

    messages: dict[str, MessageRecord] = field(default_factory=dict[str, MessageRecord])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    gists: dict[str, str] = field(default_factory=dict[str, str])


def load_heads(
    store: Store, project: str, scope: str, hashes: Collection[str] = ()
) -> MessagePreviews:
    """The messages of a scope, their texts cut: all of them, or those named, if these are few."""
    named = sorted(hashes) if len(hashes) <= MOST_NAMED else []
    parameters = {"project": project, "scope": scope, "hashes": named}
    result = store.query(statement("outline/messages"), parameters, ONE_SESSION)
    found = MessagePreviews()
    for hash_, role, name, dialect, head in result.rows:
        size, gist, parts = orjson.loads(head)
        found.messages[hash_] = MessageRecord(hash_, role, name, [*map(_part, parts)], "", dialect)
        found.sizes[hash_] = size
        found.gists[hash_] = f"gist {gist}" if gist else hash_
    return found


def _part(head: Sequence[str]) -> dict[str, Any]:
    """A part of the column ``message.head``."""
    kind, id_, name, content, arguments, response, digest = head
    part: dict[str, Any] = {"type": kind, "id": id_, "name": name, "content": content}
    if kind == "tool_call":
        part["arguments"] = arguments
    elif kind == "tool_call_response":
        part["response"] = ToolResultPreview(response, digest)
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
