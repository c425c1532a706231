"""Tools, their instances, schemas, fragments and attached files: what many calls of a log share."""

from __future__ import annotations

import base64
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from turnspan import config
from turnspan.content.media import blob_part, digest_of, modality_of
from turnspan.content.model import URI, Part, as_dict, dumps_text, unknown_part
from turnspan_llm.importing.accounts import Accounts
from turnspan_llm.importing.source import ROW, LogTables, Row
from turnspan_llm.importing.values import Notes
from turnspan_llm.logs.logged import as_text

_KEPT: Final = 500
_LARGE: Final = 2**16
"""Characters of content that is not remembered."""
_NO_JSON: Final = "it is no JSON, and kept as it is"


class SharedRows:
    """Reads such rows, each about once, and an attachment at a time: its bytes may be large."""

    def __init__(self, source: LogTables, accounts: Accounts) -> None:
        self._source = source
        self._accounts = accounts
        self._known: OrderedDict[tuple[str, Any], Any] = OrderedDict()
        self._media = config.active().capture_media

    def tool(self, id_: Any, row: str, notes: Notes) -> dict[str, Any]:
        """A tool's definition, by the GenAI schema."""
        became, make = "tool definitions of calls", partial(_definition, id_, notes)
        unknown = {"type": "unknown", "value": {"tool": str(id_), "missing": True}}
        return dict(self._made("tools", id_, became, make, unknown, row, notes))

    def schema(self, id_: Any, row: str, notes: Notes) -> Any:
        """The schema that a reply had to follow."""
        became, make = "request parameters of calls", partial(_schema, id_, notes)
        return self._made("schemas", id_, became, make, {"missing": str(id_)}, row, notes)

    def instance(self, id_: Any) -> str:
        """The toolbox that served a call, with how it was configured, as JSON."""
        return str(self._made("tool_instances", id_, "attributes of tool calls", _configured, ""))

    def fragment(self, id_: Any, row: str, notes: Notes) -> Row:
        """A fragment, which prompts are made of."""
        return dict(self._made("fragments", id_, "text of messages", dict, {}, row, notes))

    def files(self, ids: Iterable[str], row: str, notes: Notes) -> list[Part]:
        """The parts of these attachments, in order; ``row`` has them."""
        parts: list[Part] = []
        for id_ in ids:
            unknown = unknown_part({"attachment": id_, "missing": True})
            became = "parts of messages"
            parts.append(self._made("attachments", id_, became, self._file, unknown, row, notes))
        return parts

    def _made(
        self,
        table: str,
        id_: Any,
        became: str,
        make: Callable[[Row], Any],
        missing: Any,
        row: str = "",
        notes: Notes | None = None,
    ) -> Any:
        """What is made of a row, or was before; ``missing`` if it is not in the log, which is noted
        of the ``row`` that names it."""
        key = (table, id_)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        found = next(self._source.rows(table, "id", [id_]), None)
        if found is None:
            if notes is not None:
                notes.add(row, f"its {table.removesuffix('s')} {id_} is not in the log")
            return missing
        self._accounts.took_once(table, found[ROW], became)
        made = make(found)
        if len(str((as_dict(made) or {}).get("content", ""))) < _LARGE:
            self._known[key] = made
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return made

    def _file(self, row: Row) -> Part:
        id_, kind, content = as_text(row["id"]), as_text(row.get("type")), row.get("content")
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


def _configured(row: Row) -> str:
    said = {key: value for key, value in row.items() if key not in (ROW, "id")}
    return dumps_text(said) if said else ""


def _schema(id_: Any, notes: Notes, row: Row) -> Any:
    return notes.json_or_text(as_text(row.get("content")), f"schemas {id_}, content", _NO_JSON)


def _definition(id_: Any, notes: Notes, row: Row) -> dict[str, Any]:
    definition: dict[str, Any] = {"type": "function", "name": as_text(row.get("name"))}
    if row.get("description"):
        definition["description"] = as_text(row["description"])
    schema = as_text(row.get("input_schema"))
    if schema:
        where = f"tools {id_}, input_schema"
        definition["parameters"] = notes.json_or_text(schema, where, _NO_JSON)
    if row.get("plugin"):
        definition["plugin"] = as_text(row["plugin"])
    return definition
