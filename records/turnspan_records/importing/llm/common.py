"""What the calls of all generations say in the same columns."""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.model import Message, Part, as_dict, dumps_text, text_part
from turnspan_records.importing.llm import answers
from turnspan_records.importing.llm.accounts import Accounts
from turnspan_records.importing.llm.attached import Attachments
from turnspan_records.importing.llm.calls import Call
from turnspan_records.importing.llm.definitions import Definitions
from turnspan_records.importing.llm.source import ROW, Row, Source
from turnspan_records.importing.llm.usage import usage_of
from turnspan_records.importing.llm.values import (
    Notes,
    count_of,
    duration_of,
    is_read,
    read_json,
    start_of,
)
from turnspan_records.llm_logs.logged import as_text

PREFIX: Final = "llm."
"""Of attributes that say what a log says and no column can hold."""
_OWN: Final = frozenset({"messages", "system", "tools", "schema"})
"""Fields of a request that no option of a model may take the place of."""
_READ: Final = frozenset(
    {
        ROW,
        *("id", "model", "resolved_model", "prompt", "system", "options_json", "response"),
        *("conversation_id", "duration_ms", "datetime_utc", "input_tokens", "output_tokens"),
        *("reasoning", "thread_id", "parent_message_hash", "tip_message_hash"),
        # Grouped or not, a call is the same: its run is told by the columns of the record.
        *("consortium_id", "is_arbiter_response"),
    }
)
"""Columns that have a place of their own; the others become attributes."""


class Readers:
    """What the readers of all generations share."""

    def __init__(self, source: Source, accounts: Accounts) -> None:
        self.source = source
        self.accounts = accounts
        self.attachments = Attachments(source, accounts)
        self.definitions = Definitions(source, accounts)


def begun(table: str, row: Row, session: str, before: int, notes: Notes) -> Call:
    """A call, as far as it is told without its messages; ``before`` is when the one before it in
    its conversation had ended."""
    id_ = id_of(row)
    where = f"{table} {id_}"
    said = as_text(row.get("datetime_utc"))
    start, as_said = start_of(said, id_)
    duration, sound = duration_of(row.get("duration_ms"))
    call = Call(
        table=table,
        id=id_,
        session=session or id_,
        model=as_text(row.get("model")),
        start=before if start is None else start,
        end=(before if start is None else start) + duration,
        messages=[],
        reply=[],
        text="",
        said="",
        begins=True,
        response_model=as_text(row.get("resolved_model")),
    )
    attributes = call.attributes
    attributes[PREFIX + "response.id"] = id_
    if not as_said:
        attributes[PREFIX + "datetime_utc"] = said
        told = "the end of the call before it" if start is None else "that in its id"
        notes.add(f"{where}, datetime_utc", f"no time of 1970 to 2128: {told} is taken")
    if not sound:
        attributes[PREFIX + "duration_ms"] = as_text(row.get("duration_ms"))
        notes.add(f"{where}, duration_ms", "no duration: 0 is taken, and it is kept")
    return call


def settle(call: Call, row: Row, readers: Readers, notes: Notes) -> None:
    """Add what stands beside a call's messages: options, schema, tokens, the provider's answer."""
    _options(call, row, notes)
    if row.get("schema_id") is not None:
        schema = readers.definitions.schema(row["schema_id"], call.row, notes)
        call.parameters["schema"] = schema
    details = notes.json(
        call.row, "token_details", as_text(row.get("token_details")), PREFIX + "token_details"
    )
    call.usage = usage_of(row.get("input_tokens"), row.get("output_tokens"), details)
    for column in ("input_tokens", "output_tokens"):
        value = row.get(column)
        if value is not None and count_of(value) is None:
            call.attributes[PREFIX + column] = as_text(value)
            notes.add(f"{call.row}, {column}", "no number of tokens: it is kept as an attribute")
    answer = notes.json(
        call.row, "response_json", as_text(row.get("response_json")), PREFIX + "response_json"
    )
    answers.describe(call, answer)
    for column, value in row.items():
        if column not in _READ and value is not None:
            call.attributes[PREFIX + column] = as_text(value)


def _options(call: Call, row: Row, notes: Notes) -> None:
    text = as_text(row.get("options_json"))
    value = notes.json(call.row, "options_json", text, PREFIX + "options_json")
    options = as_dict(value)
    if options is None:
        if value is not None:
            call.parameters["options"] = value
        elif text.strip() not in ("", "null"):
            call.attributes[PREFIX + "options_json"] = text
        return
    for name, option in options.items():
        call.parameters[f"option.{name}" if name in _OWN else name] = option


def message(role: str, parts: list[Part]) -> Message:
    """A message of the GenAI schema."""
    return {"role": role, "parts": parts}


def user_message(text: str, files: list[Part]) -> Message | None:
    """What a user sends; ``None`` for nothing."""
    parts = ([text_part(text)] if text else []) + files
    return message("user", parts) if parts else None


def arguments_of(text: str, row: str, notes: Notes) -> Any:
    """A tool call's arguments; what is no JSON stays text."""
    if not text:
        return {}
    value = read_json(text)
    if is_read(value):
        return value
    notes.add(f"{row}, arguments", "they are no JSON, and kept as they are")
    return text


def outcome_part(call_id: str, name: str, output: Any, exception: str) -> Part:
    """A tool's result as a part of a message."""
    part: Part = {"type": "tool_call_response", "id": call_id, "name": name, "response": output}
    if exception:
        part["is_error"] = True
        part["exception"] = exception
    return part


def id_of(row: Row) -> str:
    """A row's id; one that is missing must still tell it from the others."""
    return as_text(row.get("id")) or f"rowid:{row[ROW]}"


def fragments_told(rows: list[Row]) -> str:
    """Where the fragments of a prompt came from, as JSON: their text is in the messages."""
    keys = ("hash", "source", "datetime_utc")
    return dumps_text([{key: row[key] for key in keys if row.get(key) is not None} for row in rows])
