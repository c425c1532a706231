"""The tree of messages that llm 0.32 and newer logs turns as."""

from __future__ import annotations

import json
import sqlite3
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from turnspan_llm.logs.generations import Layout

_KEPT: Final = 10_000
"""System prompts' hashes are remembered for so many messages: a conversation asks for the same one
again with every turn, and its length must not be walked each time."""


@dataclass(frozen=True, slots=True)
class TurnReply:
    """What a turn added to its conversation."""

    text: str
    reasoning: str
    texts: dict[str, str]
    """Its parts by the names that the condensed JSON of the provider's answer refers to."""


class MessageTree:
    """Reads single chains of the tree; keeps hashes, no texts."""

    def __init__(self, connection: sqlite3.Connection, layout: Layout) -> None:
        self._connection = connection
        payload = "payload" if layout.has("parts", "payload") else "NULL"
        self._parts = (
            f'SELECT type, text, {payload} FROM "parts" WHERE message_hash = ? ORDER BY position'
        )
        self._fragments = layout.has("fragments", "id", "content")
        self._systems: OrderedDict[str, str | None] = OrderedDict()

    def prompt(self, parent: str | None) -> str:
        """The text of the user's message that a turn answers; empty where a tool's result is."""
        message = self._message(parent)
        return self._text(parent) if message and message[1] == "user" else ""

    def reply(self, parent: str | None, tip: str | None) -> TurnReply:
        """What the model said between the two messages."""
        own: list[str] = []
        hash_: str | None = tip
        while hash_ is not None and hash_ != parent:
            message = self._message(hash_)
            if message is None or hash_ in own:
                break
            own.append(hash_)
            hash_ = message[0]
        own.reverse()
        said: dict[str, list[str]] = {"text": [], "reasoning": []}
        texts: dict[str, str] = {}
        for number, hash_ in enumerate(own):
            role = (self._message(hash_) or ("", ""))[1]
            for position, (kind, text) in enumerate(self._texts(hash_)):
                texts[f"{number}.{position}.text"] = text
                if role == "assistant" and kind in said:
                    said[kind].append(text)
        return TurnReply("".join(said["text"]), "".join(said["reasoning"]), texts)

    def system(self, parent: str | None) -> str | None:
        """The system prompt of the conversation that the message is in."""
        path: dict[str, None] = {}
        hash_, found = parent, None
        while hash_ is not None:
            if hash_ in self._systems:
                found = self._systems[hash_]
                break
            message = self._message(hash_)
            if message is None or hash_ in path:
                break
            path[hash_] = None
            if message[1] == "system":
                found = hash_
            hash_ = message[0]
        for passed in path:
            self._systems[passed] = found
        while len(self._systems) > _KEPT:
            self._systems.popitem(last=False)
        return None if found is None else self._text(found)

    def _message(self, hash_: str | None) -> tuple[str | None, str] | None:
        """A message's parent and role."""
        if hash_ is None:
            return None
        found = self._connection.execute(
            "SELECT parent_hash, role FROM messages WHERE hash = ?", (hash_,)
        ).fetchone()
        return None if found is None else (found[0], str(found[1]))

    def _text(self, hash_: str | None) -> str:
        return "".join(text for kind, text in self._texts(hash_) if kind == "text")

    def _texts(self, hash_: str | None) -> list[tuple[str, str]]:
        """The parts of a message: each with its type, the text empty where it is none."""
        rows = self._connection.execute(self._parts, (hash_,)).fetchall()
        return [
            (str(kind), text if isinstance(text, str) else self._referred(payload))
            for kind, text, payload in rows
        ]

    def _referred(self, payload: Any) -> str:
        """A text that is stored as a list of literals and fragments."""
        try:
            pieces: Any = json.loads(payload)["text_ref"]
            return "".join(
                str(piece["literal"]) if "literal" in piece else self._fragment(piece["fragment"])
                for piece in pieces
            )
        except (TypeError, ValueError, KeyError, RecursionError):
            return ""

    def _fragment(self, id_: object) -> str:
        if not self._fragments:
            return ""
        row = self._connection.execute(
            "SELECT content FROM fragments WHERE id = ?", (id_,)
        ).fetchone()
        return str(row[0]) if row else ""
