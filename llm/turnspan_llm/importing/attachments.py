"""Attachments of prompts and tool results -> parts of messages: bytes by their hash."""

from __future__ import annotations

import base64
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from turnspan import config
from turnspan.content.media import blob_part, digest_of, modality_of
from turnspan.content.model import URI, Part, unknown_part
from turnspan_llm.importing.accounts import Accounts
from turnspan_llm.importing.source import ROW, LogTables, Row
from turnspan_llm.importing.values import Notes
from turnspan_llm.logs.logged import as_text

_KEPT: Final = 64
"""Parts that are remembered: the same file is attached to many prompts."""
_LARGE: Final = 2**16
"""Characters of a part that is not remembered."""


class Attachments:
    """Reads attachments, one at a time: their bytes may be large."""

    def __init__(self, source: LogTables, accounts: Accounts) -> None:
        self._source = source
        self._accounts = accounts
        self._known: OrderedDict[str, Part] = OrderedDict()
        self._media = config.active().capture_media

    def parts(self, ids: Iterable[str], row: str, notes: Notes) -> list[Part]:
        """The parts of these attachments, in order; ``row`` has them."""
        return [self._part(id_, row, notes) for id_ in ids]

    def _part(self, id_: str, row: str, notes: Notes) -> Part:
        known = self._known.get(id_)
        if known is not None:
            self._known.move_to_end(id_)
            return known
        found = next(self._source.rows("attachments", "id", [id_]), None)
        if found is None:
            notes.add(row, f"its attachment {id_} is not in the log")
            return unknown_part({"attachment": id_, "missing": True})
        self._accounts.took_once("attachments", found[ROW], "parts of messages")
        part = self._made(id_, found)
        if len(str(part.get("content", ""))) < _LARGE:
            self._known[id_] = part
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return part

    def _made(self, id_: str, row: Row) -> Part:
        kind, content = as_text(row.get("type")), row.get("content")
        if content:
            raw = content if isinstance(content, bytes) else as_text(content).encode()
            said = base64.b64encode(raw).decode() if self._media else digest_of(raw)
            return blob_part(said, kind)
        where = as_text(row.get("url")) or as_text(row.get("path"))
        if not where:
            return unknown_part({"attachment": id_, "mime_type": kind})
        part: Part = {"type": URI, "modality": modality_of(kind), "uri": where}
        if kind:
            part["mime_type"] = kind
        # Of a file's bytes, or of the URL: llm's own name of it.
        part["attachment"] = id_
        return part
