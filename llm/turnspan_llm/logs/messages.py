"""The tree of messages that llm 0.32 and newer logs turns as."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from turnspan.runtime.type_guards import is_dict, is_list
from turnspan_llm.logs.generations import Layout


class MessageTree:
    """Reads single chains of the tree; keeps hashes, no texts."""

    def __init__(self, connection: sqlite3.Connection, layout: Layout) -> None:
        self._connection = connection
        payload = "payload" if layout.has("parts", "payload") else "NULL"
        self._parts = (
            f'SELECT type, text, {payload} FROM "parts" WHERE message_hash = ? ORDER BY position'
        )
        self._fragments = layout.has("fragments", "id", "content")

    def prompt(self, parent: str | None) -> str:
        """The text of the user's message that a turn answers; empty where a tool's result is."""
        message = self._message(parent)
        return self._text(parent) if message and message[1] == "user" else ""

    def reply(self, parent: str | None, tip: str | None) -> tuple[str, dict[str, str]]:
        """What the model said between the two messages, and all parts between them by the names
        that the condensed JSON of the provider's answer refers to."""
        own: list[str] = []
        hash_: str | None = tip
        while hash_ is not None and hash_ != parent:
            message = self._message(hash_)
            if message is None or hash_ in own:
                break
            own.append(hash_)
            hash_ = message[0]
        own.reverse()
        said: list[str] = []
        texts: dict[str, str] = {}
        for number, hash_ in enumerate(own):
            role = (self._message(hash_) or ("", ""))[1]
            for position, (kind, text) in enumerate(self._texts(hash_)):
                texts[f"{number}.{position}.text"] = text
                if role == "assistant" and kind == "text":
                    said.append(text)
        return "".join(said), texts

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


_DEEPEST: Final = 100


class UnresolvedError(ValueError):
    """The JSON refers to what the row does not have, or is none."""


def resolved(text: str | None, texts: Mapping[str, str]) -> Any:
    """The JSON value with its references replaced.

    Raises:
        UnresolvedError: a reference leads nowhere, or it is no JSON.
    """
    if text is None:
        return None
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnresolvedError(f"no JSON: {error}") from None
    return _whole(value, texts, 0)


def _whole(value: Any, texts: Mapping[str, str], depth: int) -> Any:
    if depth > _DEEPEST:
        raise UnresolvedError("too deep")
    if is_list(value):
        return [_whole(item, texts, depth + 1) for item in value]
    if not is_dict(value):
        return value
    items = value
    if len(items) == 1:
        ((key, inner),) = items.items()
        if key == "$":
            return _named(inner, texts)
        if key == "$r" and is_list(inner):
            return "".join(_piece(piece, texts) for piece in inner)
        if key == "$raw" and is_dict(inner):
            items = inner  # the provider's own, which looks like a reference
    return {name: _whole(item, texts, depth + 1) for name, item in items.items()}


def _piece(piece: Any, texts: Mapping[str, str]) -> str:
    if isinstance(piece, str):
        return piece
    return _named(piece.get("$") if is_dict(piece) else None, texts)


def _named(name: Any, texts: Mapping[str, str]) -> str:
    if not isinstance(name, str) or name not in texts:
        raise UnresolvedError(f"no text {name!r}")
    return texts[name]
