"""Tools, their instances and schemas: what many calls of a log share."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final, cast

from turnspan.content.model import dumps_text
from turnspan_llm.importing.accounts import Accounts
from turnspan_llm.importing.source import ROW, LogTables, Row
from turnspan_llm.importing.values import Notes, is_read, read_json
from turnspan_llm.logs.logged import as_text

_KEPT: Final = 500
_LARGE: Final = 2**16
"""Characters of a fragment that is not remembered."""


class SharedDefinitions:
    """Reads definitions, each about once."""

    def __init__(self, source: LogTables, accounts: Accounts) -> None:
        self._source = source
        self._accounts = accounts
        self._known: OrderedDict[tuple[str, Any], Any] = OrderedDict()

    def tool(self, id_: Any, row: str, notes: Notes) -> dict[str, Any]:
        """A tool's definition, by the GenAI schema."""
        known = self._recall("tools", id_)
        if known is None:
            found = self._read("tools", id_, "tool definitions of calls")
            if found is None:
                notes.add(row, f"its tool {id_} is not in the log")
                return {"type": "unknown", "value": {"tool": str(id_), "missing": True}}
            known = self._keep("tools", id_, _definition(id_, found, notes))
        return cast("dict[str, Any]", known)

    def schema(self, id_: Any, row: str, notes: Notes) -> Any:
        """The schema that a reply had to follow."""
        known = self._recall("schemas", id_)
        if known is None:
            found = self._read("schemas", id_, "request parameters of calls")
            if found is None:
                notes.add(row, f"its schema {id_} is not in the log")
                return {"missing": str(id_)}
            text = as_text(found.get("content"))
            known = read_json(text)
            if not is_read(known):
                notes.add(f"schemas {id_}, content", "it is no JSON, and kept as it is")
                known = text
            self._keep("schemas", id_, known)
        return known

    def instance(self, id_: Any) -> str:
        """The toolbox that served a call, with how it was configured, as JSON."""
        known = self._recall("tool_instances", id_)
        if known is None:
            found = self._read("tool_instances", id_, "attributes of tool calls") or {ROW: 0}
            said = {key: value for key, value in found.items() if key not in (ROW, "id")}
            known = self._keep("tool_instances", id_, dumps_text(said) if said else "")
        return str(known)

    def fragment(self, id_: Any, row: str, notes: Notes) -> Row:
        """A fragment, which prompts are made of."""
        known = self._recall("fragments", id_)
        if known is None:
            known = self._read("fragments", id_, "text of messages")
            if known is None:
                notes.add(row, f"its fragment {id_} is not in the log")
                return {}
            if len(as_text(known.get("content"))) < _LARGE:
                self._keep("fragments", id_, known)
        return dict(known)

    def _read(self, table: str, id_: Any, became: str) -> Row | None:
        found = next(self._source.rows(table, "id", [id_]), None)
        if found is not None:
            self._accounts.took_once(table, found[ROW], became)
        return found

    def _recall(self, table: str, id_: Any) -> Any:
        known = self._known.get((table, id_))
        if known is not None:
            self._known.move_to_end((table, id_))
        return known

    def _keep(self, table: str, id_: Any, value: Any) -> Any:
        self._known[table, id_] = value
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return value


def _definition(id_: Any, row: Row, notes: Notes) -> dict[str, Any]:
    definition: dict[str, Any] = {"type": "function", "name": as_text(row.get("name"))}
    if row.get("description"):
        definition["description"] = as_text(row["description"])
    schema = as_text(row.get("input_schema"))
    if schema:
        value = read_json(schema)
        definition["parameters"] = value if is_read(value) else schema
        if not is_read(value):
            notes.add(f"tools {id_}, input_schema", "it is no JSON, and kept as it is")
    if row.get("plugin"):
        definition["plugin"] = as_text(row["plugin"])
    return definition
