"""Texts of messages by their hashes: as many as fit into an answer, and long ones in ranges; and
what a tool was asked and gave, in ranges too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from turnspan.content.model import as_dict, as_list, dumps_text
from turnspan.redaction.truncate import ORIGINAL_BYTES, TRUNCATED, limit_parts
from turnspan_clickhouse.store.client import Store
from turnspan_records.conversation import MessageRecord
from turnspan_records.messages import load_definitions, load_messages, prompt_text
from turnspan_records.sql import statement

ANSWER = 1_000_000
"""Bytes of JSON that one answer has at most, but for its last message."""
LONGEST = 256_000
"""A message that takes more comes with its texts cut; the rest comes in ranges of as much."""

ToolField: TypeAlias = Literal["arguments", "result"]


@dataclass(frozen=True, slots=True)
class MessageText:
    """A message. ``parts`` is its JSON in the GenAI schema; ``cut`` are the places of those parts
    that are cut here, of which ``text_range`` has the rest."""

    hash: str
    role: str
    name: str
    parts: str
    size: int
    cut: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Texts:
    """The messages that fit, in the order in which they were asked for; ``left`` are the hashes of
    those that did not, ``missing`` of those that are not recorded or were pruned."""

    messages: tuple[MessageText, ...]
    left: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextRange:
    """Characters of a text from ``start`` on; it has ``total``. Where it was recorded cut,
    ``original_bytes`` is what it had, else 0."""

    text: str
    start: int
    total: int
    original_bytes: int = 0


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


def _text_of(message: MessageRecord) -> MessageText:
    parts = dumps_text(message.parts)
    size = len(parts)
    cut: tuple[int, ...] = ()
    if size > LONGEST:
        kept = limit_parts(message.parts, LONGEST // max(1, len(message.parts)))
        pairs = zip(kept, message.parts, strict=True)
        cut = tuple(at for at, (part, whole) in enumerate(pairs) if part is not whole)
        parts = dumps_text(kept)
    return MessageText(message.hash, message.role, message.name, parts, size, cut)


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
    whole = message.parts[part]
    text = _part_text(whole)
    original = int(whole.get(ORIGINAL_BYTES) or 0) if whole.get(TRUNCATED) else 0
    return TextRange(text[start : start + LONGEST], start, len(text), original)


def tool_range(store: Store, project: str, span_id: str, field: ToolField, start: int) -> TextRange:
    """More of what a tool was asked, or gave.

    Raises:
        KeyError: there is no such tool call.
        StoreError: as ``Store.query``.
    """
    sql = statement("texts/tool", field=field)
    parameters = {"project": project, "span": span_id, "start": start, "longest": LONGEST}
    rows = store.query(sql, parameters).rows
    if not rows:
        raise KeyError(span_id)
    text, total = rows[0]
    return TextRange(str(text), start, int(total))


def _part_text(part: dict[str, Any]) -> str:
    for key in ("content", "response", "arguments", "result"):
        value = part.get(key)
        if value is not None:
            return value if isinstance(value, str) else _blocks_text(value) or dumps_text(value)
    return dumps_text(part)


def _blocks_text(value: Any) -> str:
    """Of a list of text blocks, as Anthropic's tools answer, their texts."""
    blocks = [as_dict(block) or {} for block in as_list(value) or ()]
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    known = [text for text in texts if isinstance(text, str)]
    return "\n".join(known) if len(known) == len(blocks) else ""


def definition_text(store: Store, project: str, hash_: str) -> str:
    """A system prompt's text, or a tool catalogue's JSON.

    Raises:
        KeyError: it is not in the store.
    """
    found = load_definitions(store, project, [hash_])
    if hash_ not in found:
        raise KeyError(hash_)
    return prompt_text(found[hash_])
