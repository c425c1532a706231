"""Calls of llm 0.32 and newer: a row of ``turns`` each, over a tree of messages that stands for
every history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from turnspan.content.model import (
    REASONING,
    SERVER_TOOL_CALL,
    SERVER_TOOL_CALL_RESPONSE,
    TEXT,
    TOOL_CALL,
    Message,
    Part,
    as_dict,
    as_list,
    text_part,
    unknown_part,
)
from turnspan.content.model import as_text as text_of
from turnspan_llm.importing.call_fields import (
    PREFIX,
    LoggedCall,
    Readers,
    ToolOutcome,
    begun,
    fragments_told,
    message,
    outcome_part,
    settle,
)
from turnspan_llm.importing.responses import CALL, MESSAGE
from turnspan_llm.importing.source import ROW, Row
from turnspan_llm.importing.values import Notes
from turnspan_llm.logs.generations import TURNS
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
        row = self._readers.shared.fragment(fields.get("fragment"), where, self._notes)
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
        parts = self._readers.shared.files(ids, where, self._notes)
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


@dataclass(frozen=True, slots=True)
class TreeMessage:
    """A message of the tree."""

    parent: str
    message: Message


class Tree:
    """The messages that a conversation's chains go through, each read once."""

    def __init__(self, readers: Readers, notes: Notes) -> None:
        self._readers = readers
        self._notes = notes
        self._parts = PartReader(readers, notes)
        self._nodes: dict[str, TreeMessage | None] = {}

    def chain(self, tip: str, until: str | None = None) -> list[TreeMessage]:
        """The messages up to one, the oldest first, or those after ``until``."""
        self._read_up(tip)
        found: list[TreeMessage] = []
        met: set[str] = set()
        hash_ = tip
        while hash_ and hash_ != until and hash_ not in met:
            met.add(hash_)
            node = self._nodes.get(hash_)
            if node is None:
                break
            found.append(node)
            hash_ = node.parent
        found.reverse()
        return found

    def _read_up(self, tip: str) -> None:
        """Read what is not known yet, up to the root or to what is."""
        rows: dict[str, Row] = {}
        hash_ = tip
        while hash_ and hash_ not in self._nodes and hash_ not in rows:
            row = next(self._readers.source.rows("messages", "hash", [hash_]), None)
            if row is None:
                self._notes.add(f"messages {hash_}", "it is not in the log, nor what was before it")
                self._nodes[hash_] = None
                break
            rows[hash_] = row
            hash_ = as_text(row["parent_hash"])
        if rows:
            self._keep(rows)

    def _keep(self, rows: dict[str, Row]) -> None:
        readers, parts = self._readers, dict[str, list[Row]]()
        referring: list[Any] = []
        for row in readers.source.rows("parts", "message_hash", rows):
            readers.accounts.took_once("parts", row[ROW], MESSAGE)
            parts.setdefault(as_text(row["message_hash"]), []).append(row)
            if row.get("payload") is not None:
                referring.append(row["id"])
        for table in ("part_attachments", "part_fragments") if referring else ():
            for row in readers.source.rows(table, "part_id", referring):
                readers.accounts.took_once(table, row[ROW], MESSAGE)
        for hash_, row in rows.items():
            readers.accounts.took_once("messages", row[ROW], "messages")
            self._nodes[hash_] = self._node(row, parts.get(hash_, []))

    def _node(self, row: Row, rows: list[Row]) -> TreeMessage:
        parts: list[Part] = []
        for each in sorted(rows, key=lambda row: (row.get("position") or 0, row[ROW])):
            parts += self._parts.parts(each)
        made = message(as_text(row.get("role")), parts)
        metadata = as_text(row.get("provider_metadata"))
        if metadata:
            value = self._notes.json(
                f"messages {row['hash']}", "provider_metadata", metadata, "its message"
            )
            made["provider_metadata"] = metadata if value is None else value
        return TreeMessage(as_text(row.get("parent_hash")), made)


class Thread:
    """Reads the turns of a thread in their order."""

    def __init__(self, readers: Readers, session: str, notes: Notes, ended: int = 0) -> None:
        self._readers = readers
        self._session = session
        self._notes = notes
        self._tree = Tree(readers, notes)
        self._ended = ended

    def calls(self, numbers: list[int]) -> Iterator[LoggedCall]:
        """The calls of these rows."""
        for row in self._readers.source.rows(TURNS, "rowid", numbers):
            self._readers.accounts.took(TURNS, CALL)
            yield self._call(row)

    def _call(self, row: Row) -> LoggedCall:
        notes = self._notes
        call = begun(TURNS, row, self._session, self._ended, notes)
        self._ended = call.end
        parent, tip = (as_text(row.get(f"{end}_message_hash")) for end in ("parent", "tip"))
        before = self._tree.chain(parent)
        after = self._tree.chain(tip, parent)
        call.messages = [node.message for node in before]
        call.reply = [node.message for node in after]
        self._read_reply(call)
        self._read_asked(call, before)
        self._beside(call)
        settle(call, row, self._readers, notes)
        return call

    def _read_reply(self, call: LoggedCall) -> None:
        texts: list[str] = []
        for reply in call.reply:
            for part in reply["parts"]:
                if part.get("type") == TEXT:
                    texts.append(str(part["content"]))
                elif part.get("type") == TOOL_CALL:
                    request = (str(part["id"]), str(part["name"]), part.get("arguments"))
                    call.requests.append(request)
        call.text = "".join(texts)

    def _read_asked(self, call: LoggedCall, before: list[TreeMessage]) -> None:
        """What is new in a request: what the user and the tools said since the last answer."""
        new: list[TreeMessage] = []
        for node in reversed(before):
            if node.message["role"] not in ("user", "tool"):
                break
            new.append(node)
        new.reverse()
        said = [node for node in new if node.message["role"] == "user"]
        call.user_text = "\n".join(_text(node.message) for node in said)
        for node in new:
            if node.message["role"] == "tool":
                self._read_outcomes(call, node.message)
        asks = any(part.get("type") == TEXT for node in said for part in node.message["parts"])
        call.begins = asks or not call.outcomes

    def _read_outcomes(self, call: LoggedCall, brought: Message) -> None:
        for part in brought["parts"]:
            if part.get("type") == "tool_call_response":
                place = len(call.outcomes)
                outcome = ToolOutcome(
                    f"{call.id}/{place}",
                    str(part["id"]),
                    str(part["name"]),
                    part.get("response"),
                    str(part.get("exception") or ""),
                )
                call.outcomes.append(outcome)

    def _beside(self, call: LoggedCall) -> None:
        """Tools, fragments and toolboxes that the turn was given."""
        readers, notes = self._readers, self._notes
        for row in readers.source.rows("turn_tools", "turn_id", [call.id]):
            readers.accounts.took("turn_tools", "tool definitions of calls")
            tool = readers.shared.tool(row["tool_id"], call.row, notes)
            instance = row.get("instance_id")
            if instance is not None:
                tool = {**tool, "instance": readers.shared.instance(instance)}
            call.tools.append(tool)
        given: dict[str, list[Row]] = {}
        rows = readers.source.rows("turn_fragments", "turn_id", [call.id])
        for row in sorted(rows, key=lambda row: row.get("order") or 0):
            readers.accounts.took("turn_fragments", "attributes of calls")
            fragment = readers.shared.fragment(row["fragment_id"], call.row, notes)
            given.setdefault(as_text(row.get("kind")), []).append(fragment)
        for kind, fragments in given.items():
            call.attributes[f"{PREFIX}{kind}_fragments"] = fragments_told(fragments)
        # llm sends them before what the user wrote, in one text.
        sent = "\n".join(as_text(row.get("content")) for row in given.get("prompt", []))
        if sent and call.user_text.startswith(sent):
            call.user_text = call.user_text[len(sent) :].removeprefix("\n") or call.user_text
        served = {
            as_text(row["tool_call_id"]): row
            for row in readers.source.rows("tool_instantiations", "turn_id", [call.id])
        }
        readers.accounts.took("tool_instantiations", "attributes of tool calls", len(served))
        for outcome in call.outcomes:
            row_ = served.get(outcome.call_id)
            if row_ is not None and row_.get("instance_id") is not None:
                told = readers.shared.instance(row_["instance_id"])
                outcome.attributes[PREFIX + "tool_instance"] = told


def _text(said: Message) -> str:
    return "\n".join(str(part["content"]) for part in said["parts"] if part.get("type") == TEXT)
