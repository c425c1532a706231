"""What the calls of all generations say in the same columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from turnspan.content.model import Message, Part, as_dict, as_list, dumps_text
from turnspan.content.model import as_text as text_of
from turnspan.turn.turn import TokenUsage, ToolRequest
from turnspan_llm.grouping.model import RowPlace
from turnspan_llm.importing.accounts import Accounts
from turnspan_llm.importing.shared_rows import SharedRows
from turnspan_llm.importing.source import ROW, LogTables, Row
from turnspan_llm.importing.values import Notes, count_of, duration_of, start_of
from turnspan_llm.logs.logged import as_text


@dataclass(slots=True)
class ToolOutcome:
    """What a tool came to, as the next call's request brings it."""

    key: str
    """What tells it from the other results of its call, the same at every import."""
    call_id: str
    name: str
    output: Any
    exception: str = ""
    attributes: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(slots=True)
class LoggedCall:
    """One response of llm's."""

    table: str
    id: str
    session: str
    model: str
    start: int
    """Ns since the epoch."""
    end: int
    messages: list[Message] = field(default_factory=list[Message])
    """Everything the model was sent, history included."""
    reply: list[Message] = field(default_factory=list[Message])
    text: str = ""
    """What it wrote for the user to read."""
    user_text: str = ""
    """What the user asked; empty for a call that only brings tools' results."""
    begins: bool = True
    """Whether it begins a turn: it is not the next round of a chain of tools."""
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    requests: list[ToolRequest] = field(default_factory=list[ToolRequest])
    outcomes: list[ToolOutcome] = field(default_factory=list[ToolOutcome])
    usage: TokenUsage = field(default_factory=TokenUsage)
    response_model: str = ""
    response_id: str = ""
    finish_reasons: list[str] = field(default_factory=list[str])
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    """What the row says beside, as attributes of the call."""
    consortium: RowPlace | None = None
    """The run that it belongs to, its role in it, and the iteration; 0 of an output."""

    @property
    def row(self) -> str:
        """Where it stands, for people."""
        return f"{self.table} {self.id}"


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
_CACHE_READ: Final = (
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("cached_tokens",),
    ("cache_read_input_tokens",),
    ("cachedContentTokenCount",),
)
_CACHE_WRITTEN: Final = (("cache_creation_input_tokens",),)
_REASONING: Final = (
    ("completion_tokens_details", "reasoning_tokens"),
    ("output_tokens_details", "reasoning_tokens"),
    ("reasoning_tokens",),
    ("thoughtsTokenCount",),
)
_MAX_REASONS: Final = 16


class Readers:
    """What the readers of all generations share."""

    def __init__(self, source: LogTables, accounts: Accounts) -> None:
        self.source = source
        self.accounts = accounts
        self.shared = SharedRows(source, accounts)


def begun(table: str, row: Row, session: str, before: int, notes: Notes) -> LoggedCall:
    """A call, as far as it is told without its messages; ``before`` is when the one before it in
    its conversation had ended."""
    id_ = id_of(row)
    where = f"{table} {id_}"
    said = as_text(row.get("datetime_utc"))
    start, as_said = start_of(said, id_)
    duration, sound = duration_of(row.get("duration_ms"))
    call = LoggedCall(
        table=table,
        id=id_,
        session=session or id_,
        model=as_text(row.get("model")),
        start=before if start is None else start,
        end=(before if start is None else start) + duration,
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


def settle(call: LoggedCall, row: Row, readers: Readers, notes: Notes) -> None:
    """Add what stands beside a call's messages: options, schema, tokens, the provider's answer."""
    _options(call, row, notes)
    if row.get("schema_id") is not None:
        schema = readers.shared.schema(row["schema_id"], call.row, notes)
        call.parameters["schema"] = schema
    details = _json(call, row, "token_details", notes)
    call.usage = _usage(row.get("input_tokens"), row.get("output_tokens"), details)
    for column in ("input_tokens", "output_tokens"):
        value = row.get(column)
        if value is not None and count_of(value) is None:
            call.attributes[PREFIX + column] = as_text(value)
            notes.add(f"{call.row}, {column}", "no number of tokens: it is kept as an attribute")
    _describe(call, _json(call, row, "response_json", notes))
    for column, value in row.items():
        if column not in _READ and value is not None:
            call.attributes[PREFIX + column] = as_text(value)


def _json(call: LoggedCall, row: Row, column: str, notes: Notes) -> Any:
    return notes.json(call.row, column, as_text(row.get(column)), PREFIX + column)


def _options(call: LoggedCall, row: Row, notes: Notes) -> None:
    text = as_text(row.get("options_json"))
    value = _json(call, row, "options_json", notes)
    options = as_dict(value)
    if options is None:
        if value is not None:
            call.parameters["options"] = value
        elif text.strip() not in ("", "null"):
            call.attributes[PREFIX + "options_json"] = text
        return
    for name, option in options.items():
        call.parameters[f"option.{name}" if name in _OWN else name] = option


def _usage(input_tokens: Any, output_tokens: Any, details: Any) -> TokenUsage:
    """The counts of a row; ``details`` is what the provider told beside, as a plug-in keeps it."""
    told = as_dict(details) or {}
    usage = TokenUsage(
        count_of(input_tokens),
        count_of(output_tokens),
        _first(told, _CACHE_READ),
        _first(told, _CACHE_WRITTEN),
        _first(told, _REASONING),
    )
    if usage.input_tokens is not None and (
        "cache_read_input_tokens" in told or "cache_creation_input_tokens" in told
    ):
        # Anthropic counts what its cache held beside the input; here it is part of it.
        usage.input_tokens += (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    return usage


def _first(told: dict[str, Any], paths: tuple[tuple[str, ...], ...]) -> int | None:
    for path in paths:
        value: Any = told
        for key in path:
            value = (as_dict(value) or {}).get(key)
        found = count_of(value)
        if found is not None:
            return found
    return None


def _describe(call: LoggedCall, answer: Any) -> None:
    """Fill in what the answer is known by, which model gave it and why it ended."""
    told = as_dict(answer)
    if told is None:
        return
    call.response_id = text_of(told.get("id")) or text_of(told.get("responseId"))
    call.response_model = (
        call.response_model or text_of(told.get("model")) or text_of(told.get("modelVersion"))
    )
    # By the names of OpenAI's, Anthropic's and Google's answers.
    found = [text_of(told.get(key)) for key in ("finish_reason", "stop_reason", "finishReason")]
    for key in ("choices", "candidates"):
        for choice in (as_list(told.get(key)) or [])[:_MAX_REASONS]:
            fields = as_dict(choice) or {}
            found.append(
                text_of(fields.get("finish_reason")) or text_of(fields.get("finishReason"))
            )
    call.finish_reasons = [reason for reason in found if reason]


def message(role: str, parts: list[Part]) -> Message:
    """A message of the GenAI schema."""
    return {"role": role, "parts": parts}


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
