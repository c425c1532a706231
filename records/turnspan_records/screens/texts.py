"""Texts of messages by their hashes: as many as fit into an answer, and long ones in ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from turnspan.content.model import dumps_text
from turnspan.redaction.truncate import limit_parts
from turnspan_clickhouse.store.client import Store
from turnspan_records.conversation import Message
from turnspan_records.messages import load_definitions, load_messages, prompt_text

ANSWER = 1_000_000
"""Bytes of JSON that one answer has at most, but for its last message."""
LONGEST = 256_000
"""A message that takes more comes with its texts cut; the rest comes in ranges of as much."""


@dataclass(frozen=True, slots=True)
class MessageText:
    """A message. ``parts`` is its JSON in the GenAI schema; where it is ``cut``, each part that was
    cut says so (``truncated``, ``original_bytes``), and ``text_range`` has the rest."""

    hash: str
    role: str
    name: str
    parts: str
    size: int
    cut: bool


@dataclass(frozen=True, slots=True)
class Texts:
    """The messages that fit, in the order in which they were asked for; ``left`` are the hashes of
    those that did not, ``missing`` of those that are not recorded or were pruned."""

    messages: tuple[MessageText, ...]
    left: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextRange:
    """Characters of a part's text from ``start`` on; it has ``total``."""

    text: str
    start: int
    total: int


def texts(store: Store, project: str, scope: str, hashes: Sequence[str]) -> Texts:
    """Messages of a scope (a session, or a trace without one). Raises as ``Store.query``."""
    found: list[MessageText] = []
    missing: list[str] = []
    room = ANSWER
    wanted = list(dict.fromkeys(hashes))
    known = load_messages(store, project, scope, wanted)
    for at, hash_ in enumerate(wanted):
        message = known.get(hash_)
        if message is None:
            missing.append(hash_)
            continue
        if room <= 0:
            return Texts(tuple(found), tuple(wanted[at:]), tuple(missing))
        found.append(_text_of(message))
        room -= len(found[-1].parts)
    return Texts(tuple(found), (), tuple(missing))


def _text_of(message: Message) -> MessageText:
    parts = dumps_text(message.parts)
    cut = len(parts) > LONGEST
    if cut:
        parts = dumps_text(limit_parts(message.parts, LONGEST // max(1, len(message.parts))))
    return MessageText(
        message.hash, message.role, message.name, parts, len(dumps_text(message.parts)), cut
    )


def text_range(
    store: Store, project: str, scope: str, hash_: str, part: int, start: int
) -> TextRange:
    """More of the text of a message's part.

    Raises:
        KeyError: there is no such message or part.
        StoreError: as ``Store.query``.
    """
    message = load_messages(store, project, scope, [hash_]).get(hash_)
    if message is None or not 0 <= part < len(message.parts):
        raise KeyError(hash_)
    text = _part_text(message.parts[part])
    return TextRange(text[start : start + LONGEST], start, len(text))


def _part_text(part: dict[str, Any]) -> str:
    for key in ("content", "response", "arguments", "result"):
        value = part.get(key)
        if value is not None:
            return value if isinstance(value, str) else dumps_text(value)
    return dumps_text(part)


def definition_text(store: Store, project: str, hash_: str) -> str:
    """A system prompt's text, or a tool catalogue's JSON.

    Raises:
        KeyError: it is not in the store.
    """
    found = load_definitions(store, project, [hash_])
    if hash_ not in found:
        raise KeyError(hash_)
    return prompt_text(found[hash_])
