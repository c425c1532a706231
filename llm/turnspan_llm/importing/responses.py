"""Calls of llm 0.31 and older: a row of ``responses`` each, the history being that of the
conversation's rows before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from turnspan.content.model import Message, Part, text_part
from turnspan_llm.importing.call_fields import (
    PREFIX,
    LoggedCall,
    Readers,
    ToolOutcome,
    begun,
    fragments_told,
    id_of,
    message,
    outcome_part,
    settle,
)
from turnspan_llm.importing.source import ROW, LogTables, Row
from turnspan_llm.importing.values import Notes
from turnspan_llm.logs.generations import RESPONSES
from turnspan_llm.logs.logged import as_text

CALL, REPLY, TOOL, MESSAGE = "model calls", "replies of calls", "tool calls", "parts of messages"

Found = Callable[[str, Iterable[str]], list[int]]
"""The numbers of the rows of a table that belong to these responses."""


class ResponseRows:
    """The rows of many responses and of the tables beside them, read at once."""

    def __init__(self, source: LogTables, rows: list[int], found: Found) -> None:
        self._rows = {row[ROW]: row for row in source.rows(RESPONSES, "rowid", rows)}
        ids = [as_text(row["id"]) for row in self._rows.values() if row["id"] is not None]
        self._beside = {
            table: _by(source.rows(table, "response_id", ids), "response_id")
            for table in ("prompt_attachments", "prompt_fragments", "system_fragments")
        }
        for table in ("tool_responses", "tool_calls", "tool_results"):
            numbers = found(table, ids)
            self._beside[table] = _by(source.rows(table, "rowid", numbers), "response_id")
        results = [
            row["id"] for rows in self._beside["tool_results"].values() for row in rows
            if "id" in row
        ]  # fmt: skip
        files = source.rows("tool_results_attachments", "tool_result_id", results)
        self._files = _by(files, "tool_result_id")

    def row(self, number: int) -> Row | None:
        """A row of ``responses``, unless it has been removed since it was counted."""
        return self._rows.get(number)

    def beside(self, table: str, id_: str) -> list[Row]:
        """A response's rows of a table, in their order; they are counted as read elsewhere."""
        return self._beside[table].get(id_, [])

    def files(self, result: Any) -> list[Row]:
        """The rows that name a tool result's attachments."""
        return self._files.get(as_text(result), [])


class ResponseReader:
    """Reads the responses of a conversation in their order, each with the history before it."""

    def __init__(self, readers: Readers, read: ResponseRows, session: str, notes: Notes) -> None:
        self._readers = readers
        self._read = read
        self._session = session
        self._notes = notes
        self._history: list[Message] = []
        self._system = ""
        self._ended = 0
        self._awaiting = False

    def call(self, number: int) -> LoggedCall | None:
        """The next call."""
        row = self._read.row(number)
        if row is None:
            return None
        notes = self._notes
        self._readers.accounts.took(RESPONSES, CALL)
        call = begun(RESPONSES, row, self._session, self._ended, notes)
        self._ended = call.end
        asked = self._asked(call, row)
        call.messages = [*self._history, *asked]
        self._replied(call, row)
        settle(call, row, self._readers, notes)
        self._history = [*call.messages, *call.reply]
        self._awaiting = bool(call.requests)
        return call

    def _asked(self, call: LoggedCall, row: Row) -> list[Message]:
        """What this call adds to the history, in the order in which llm sends it."""
        asked: list[Message] = []
        system = self._system_of(call, row)
        if system and system != self._system:
            asked.append(message("system", [text_part(system)]))
            self._system = system
        asked += self._outcomes(call)
        text = self._prompt_of(call, row)
        files = [
            as_text(each["attachment_id"]) for each in self._ordered("prompt_attachments", call.id)
        ]
        parts = [text_part(text)] if text else []
        parts += self._readers.shared.files(files, call.row, self._notes)
        if parts:
            asked.append(message("user", parts))
        # The results of tools may not be written yet, while the call that asked for them is.
        call.begins = bool(text.strip()) or not (call.outcomes or self._awaiting)
        return asked

    def _system_of(self, call: LoggedCall, row: Row) -> str:
        rows = self._fragments("system_fragments", call)
        bits = [as_text(each.get("content")).strip() for each in rows]
        bits.append(as_text(row.get("system")).strip())
        # A prompt of one piece stays as it was written.
        return "\n\n".join(bit for bit in bits if bit) if rows else as_text(row.get("system"))

    def _prompt_of(self, call: LoggedCall, row: Row) -> str:
        pieces = [
            as_text(each.get("content")) for each in self._fragments("prompt_fragments", call)
        ]
        typed = as_text(row.get("prompt"))
        text = "\n".join([*pieces, *([typed] if typed else [])])
        call.user_text = typed or text
        return text

    def _fragments(self, table: str, call: LoggedCall) -> list[Row]:
        shared = self._readers.shared
        rows = [
            shared.fragment(each["fragment_id"], call.row, self._notes)
            for each in self._ordered(table, call.id)
        ]
        if rows:
            call.attributes[PREFIX + table] = fragments_told(rows)
        return rows

    def _ordered(self, table: str, id_: str) -> list[Row]:
        rows = self._read.beside(table, id_)
        self._readers.accounts.took(table, MESSAGE, len(rows))
        return sorted(rows, key=_place)

    def _outcomes(self, call: LoggedCall) -> list[Message]:
        rows = self._read.beside("tool_results", call.id)
        self._readers.accounts.took("tool_results", TOOL, len(rows))
        found: list[Message] = []
        for place, row in enumerate(rows):
            outcome = ToolOutcome(
                f"{call.id}/{place}",
                as_text(row.get("tool_call_id")),
                as_text(row.get("name")),
                as_text(row.get("output")),
                as_text(row.get("exception")),
            )
            if row.get("instance_id") is not None:
                instance = self._readers.shared.instance(row["instance_id"])
                outcome.attributes[PREFIX + "tool_instance"] = instance
            call.outcomes.append(outcome)
            part = outcome_part(outcome.call_id, outcome.name, outcome.output, outcome.exception)
            found.append(message("tool", [part, *self._brought(row, call)]))
        return found

    def _brought(self, result: Row, call: LoggedCall) -> list[Part]:
        """The files that a tool's result has; llm sends them with the next prompt, too."""
        rows = self._read.files(result.get("id"))
        self._readers.accounts.took("tool_results_attachments", MESSAGE, len(rows))
        ids = [as_text(row["attachment_id"]) for row in sorted(rows, key=_place)]
        return self._readers.shared.files(ids, call.row, self._notes)

    def _replied(self, call: LoggedCall, row: Row) -> None:
        parts: list[Part] = []
        if as_text(row.get("reasoning")):
            parts.append({"type": "reasoning", "content": as_text(row["reasoning"])})
        call.text = as_text(row.get("response"))
        if call.text:
            parts.append(text_part(call.text))
        calls = self._read.beside("tool_calls", call.id)
        self._readers.accounts.took("tool_calls", REPLY, len(calls))
        for asked in calls:
            id_, name = as_text(asked.get("tool_call_id")), as_text(asked.get("name"))
            where, text = f"tool_calls {id_of(asked)}, arguments", as_text(asked.get("arguments"))
            reason = "they are no JSON, and kept as they are"
            arguments: Any = self._notes.json_or_text(text, where, reason) if text else {}
            parts.append({"type": "tool_call", "id": id_, "name": name, "arguments": arguments})
            call.requests.append((id_, name, arguments))
        if parts:
            call.reply = [message("assistant", parts)]
        self._tools(call)

    def _tools(self, call: LoggedCall) -> None:
        rows = self._read.beside("tool_responses", call.id)
        self._readers.accounts.took("tool_responses", "tool definitions of calls", len(rows))
        shared = self._readers.shared
        call.tools = [shared.tool(row["tool_id"], call.row, self._notes) for row in rows]


def _by(rows: Iterable[Row], column: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[as_text(row[column])].append(row)
    return found


def _place(row: Row) -> tuple[float, int]:
    """Where a row stands among those of its response."""
    order = row.get("order")
    return order if isinstance(order, (int, float)) else 0, row[ROW]
