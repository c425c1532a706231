"""Rows of ``parts``, which llm 0.32 and newer keep, -> parts of the GenAI schema."""

from __future__ import annotations

from typing import Any

from turnspan.content.model import (
    REASONING,
    SERVER_TOOL_CALL,
    SERVER_TOOL_CALL_RESPONSE,
    TEXT,
    TOOL_CALL,
    Part,
    as_dict,
    as_list,
    text_part,
    unknown_part,
)
from turnspan.content.model import as_text as text_of
from turnspan_llm.importing.call_fields import Readers, outcome_part
from turnspan_llm.importing.source import Row
from turnspan_llm.importing.values import Notes
from turnspan_llm.logs.logged import as_text


class PartReader:
    """Makes parts; one row may make several: a tool's result, and the files that it has."""

    def __init__(self, readers: Readers, notes: Notes) -> None:
        self._readers = readers
        self._notes = notes

    def parts(self, row: Row) -> list[Part]:
        """The parts of a row."""
        kind = as_text(row.get("type"))
        where = f"parts {row.get('id')}"
        raw = as_text(row.get("payload"))
        read = self._notes.json(where, "payload", raw, "a part of its message")
        payload = as_dict(read)
        if payload is None:
            if raw.strip() not in ("", "null"):
                return [unknown_part({"type": kind, "text": row.get("text"), "payload": raw})]
            payload = {}
        if kind in (TEXT, REASONING):
            return [self._text(kind, row, payload, where)]
        if kind == TOOL_CALL:
            return [_call(payload)]
        if kind == "tool_result":
            return self._result(payload, where)
        if kind == "attachment":
            return self._files([payload.get("attachment")], payload, where)
        self._notes.add(where, f"its type {kind!r} is none of llm's: kept as it is")
        return [unknown_part({"type": kind, "text": row.get("text"), **payload})]

    def _text(self, kind: str, row: Row, payload: dict[str, Any], where: str) -> Part:
        pieces = as_list(payload.get("text_ref"))
        part: Part
        if pieces is None:
            part = {
                "type": kind,
                "content": as_text(row.get("text")) or text_of(payload.get("text")),
            }
        else:
            part = text_part("".join(self._piece(piece, where) for piece in pieces))
            part["type"] = kind
        if payload.get("redacted"):
            part["redacted"] = True
        return _with_metadata(part, payload)

    def _piece(self, piece: Any, where: str) -> str:
        fields = as_dict(piece) or {}
        if "literal" in fields:
            return as_text(fields["literal"])
        row = self._readers.definitions.fragment(fields.get("fragment"), where, self._notes)
        return as_text(row.get("content"))

    def _result(self, payload: dict[str, Any], where: str) -> list[Part]:
        id_, name = as_text(payload.get("tool_call_id")), as_text(payload.get("name"))
        if payload.get("server_executed"):
            said = {"type": name, "output": payload.get("output")}
            part: Part = {"type": SERVER_TOOL_CALL_RESPONSE, "id": id_, "name": name}
            part["server_tool_call_response"] = said
        else:
            exception = as_text(payload.get("exception"))
            part = outcome_part(id_, name, payload.get("output"), exception)
        files = self._files(as_list(payload.get("attachments")) or [], {}, where)
        return [_with_metadata(part, payload), *files]

    def _files(self, named: list[Any], payload: dict[str, Any], where: str) -> list[Part]:
        ids = [as_text(found["id"]) for each in named if (found := as_dict(each)) and "id" in found]
        parts = self._readers.attachments.parts(ids, where, self._notes)
        return [_with_metadata(part, payload) for part in parts]


def _call(payload: dict[str, Any]) -> Part:
    id_, name = as_text(payload.get("tool_call_id")), as_text(payload.get("name"))
    arguments = payload.get("arguments")
    if payload.get("server_executed"):
        part: Part = {"type": SERVER_TOOL_CALL, "id": id_, "name": name}
        part["server_tool_call"] = {"type": name, "arguments": arguments}
    else:
        part = {"type": TOOL_CALL, "id": id_, "name": name, "arguments": arguments}
    return _with_metadata(part, payload)


def _with_metadata(part: Part, payload: dict[str, Any]) -> Part:
    told = payload.get("provider_metadata")
    return {**part, "provider_metadata": told} if told else part
