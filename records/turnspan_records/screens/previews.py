"""The rows of a session without its long texts: cut where they lie, so that they are not sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from turnspan.content.model import dumps_text
from turnspan_clickhouse.store.client import Store
from turnspan_records import rows
from turnspan_records.conversation import MessageRecord
from turnspan_records.messages import ONE_SESSION
from turnspan_records.screens.outline_types import HEAD, Head

_CUT = HEAD + 1
"""One more, which tells whether there is more."""

_MESSAGES = f"""
WITH
    JSONExtract(parts, 'Array(Tuple(type String, id String, name String, content String,
        arguments String, response String))') AS found,
    arrayStringConcat(arrayMap(p -> p.content, arrayFilter(p -> p.type = 'text', found)), '\\n\\n')
        AS said,
    arrayMap(p -> (p.id, p.name), arrayFilter(p -> p.type = 'tool_call', found)) AS asked,
    arrayMap(p -> if(startsWith(p.response, '[{{') AND NOT empty(
            JSONExtract(p.response, 'Array(Tuple(text String))')),
        arrayStringConcat(JSONExtract(p.response, 'Array(Tuple(text String))').1, '\\n'),
        p.response), found) AS responses
SELECT lower(hex(hash)) AS id, role, name, length(parts) AS size, dialect,
    if(role = 'assistant',
        concat('gist ', hex(sipHash128(trimBoth(said), asked))), lower(hex(hash))) AS gist,
    if(empty(found) AND parts != '' AND parts != '[]', [('text', '', '', leftUTF8(parts, {_CUT}),
            '', '', toUInt64(0))],
        arrayMap((p, answer) -> (p.type, p.id, p.name, leftUTF8(p.content, {_CUT}),
            leftUTF8(p.arguments, {_CUT}), leftUTF8(answer, {_CUT}),
            if(p.type = 'tool_call_response', sipHash64(
                replaceAll(replaceAll(replaceAll(answer, ' ', ''), '\\n', ''), '\\t', '')), 0)),
        found, responses)) AS heads
FROM message
WHERE project = {{project:String}} AND scope = {{scope:String}}
"""

TURNS = f"""
SELECT turn_id, parent_turn_id, trace_id, span_id, session_id, start_time, duration, status,
    agent_name, agent_version, leftUTF8(user_message, {_CUT}) AS user_message,
    leftUTF8(response_text, {_CUT}) AS response_text, stop_reason, stop_detail, rounds, max_rounds,
    llm_call_count, tool_call_count, tool_error_count, turn_intent, input_tokens, output_tokens,
    cost_usd, models, error_type, error_message,
    length(turn_summary.user_message) AS asked_bytes,
    length(turn_summary.response_text) AS answered_bytes, max_identical_tool_streak
FROM turn_summary WHERE {{where}} ORDER BY start_time, span_id
"""

CALLS = rows.CALLS.replace(
    rows.CALL_TEXTS,
    f" leftUTF8(response_text, {_CUT}) AS response_text,"
    f" leftUTF8(response_thoughts, {_CUT}) AS response_thoughts,"
    " if(tool_calls = '', '', toJSONString(arrayMap(c -> CAST((c.id, c.name,"
    f" leftUTF8(c.arguments, {_CUT})), 'Tuple(id String, name String, arguments String)'),"
    " JSONExtract(tool_calls,"
    " 'Array(Tuple(id String, name String, arguments String))')))) AS tool_calls,"
    " cache_write_tokens, tokens_estimated, consortium_id,"
    " length(sent.response_text) AS answered_bytes, length(input_messages) AS sent_count,"
    " lower(hex(tool_definitions)) AS tools_hash,",
)

TOOLS = f"""
SELECT span_id, name, call_id, start_time, duration, round,
    leftUTF8(arguments, {_CUT}) AS arguments, leftUTF8(result, {_CUT}) AS result, failed,
    error_type, error_message, turn_id, trace_id, parent_span_id,
    length(tool_call.arguments) AS asked_bytes, length(tool_call.result) AS answered_bytes,
    sipHash64(name, tool_call.arguments) AS asked_digest,
    if(tool_call.result = '', tool_call.error_message, tool_call.result) AS answered,
    sipHash64(replaceAll(replaceAll(replaceAll(answered, ' ', ''), '\\n', ''), '\\t', ''))
        AS answered_digest
FROM tool_call WHERE {{where}} ORDER BY start_time, span_id
"""


@dataclass(frozen=True, slots=True)
class ToolResultPreview:
    """What a model was given as a tool's result; ``digest`` is that of all of it, without white
    space, to be compared with that of the tool's own."""

    text: str = ""
    digest: int = 0


def given(response: object) -> ToolResultPreview:
    """A part's response; empty where there is none."""
    return response if isinstance(response, ToolResultPreview) else ToolResultPreview()


@dataclass(slots=True)
class MessagePreviews:
    """The messages of a scope: cut, with the size of each, and what its spellings share."""

    messages: dict[str, MessageRecord] = field(default_factory=dict[str, MessageRecord])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    gists: dict[str, str] = field(default_factory=dict[str, str])


def load_heads(store: Store, project: str, scope: str) -> MessagePreviews:
    """Every message of a scope, its texts cut."""
    result = store.query(_MESSAGES, {"project": project, "scope": scope}, ONE_SESSION)
    found = MessagePreviews()
    for hash_, role, name, size, dialect, gist, heads in result.rows:
        parts = [_part(head) for head in heads]
        found.messages[hash_] = MessageRecord(hash_, role, name, parts, "", dialect)
        found.sizes[hash_] = size
        found.gists[hash_] = gist
    return found


_FIELDS = ("type", "id", "name", "content", "arguments", "response", "digest")


def _part(head: Any) -> dict[str, Any]:
    # A tuple with names comes as a dictionary, one without as a tuple.
    values = tuple(head.values()) if isinstance(head, dict) else head  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportUnknownArgumentType]
    part: dict[str, Any] = dict(zip(_FIELDS, values, strict=True))  # pyright: ignore[reportUnknownArgumentType]
    kind = part["type"]
    if kind != "tool_call":
        del part["arguments"]
    digest = part.pop("digest")
    part["response"] = ToolResultPreview(part["response"], digest)
    if kind != "tool_call_response":
        del part["response"]
    return part


def head_of(hash_: str, message: MessageRecord | None) -> Head:
    """The beginning of a message that was loaded whole; ``None`` where only its hash is known."""
    if message is None:
        return Head(hash_, recorded=False)
    text = message.text or next(
        (_shown(part) for part in message.parts if part.get("type") != "reasoning"), ""
    )
    kinds = tuple(dict.fromkeys(str(part.get("type", "")) for part in message.parts))
    size = len(dumps_text(message.parts))
    return Head(hash_, message.role, message.name, kinds, size, text[:HEAD])


def _shown(part: Mapping[str, Any]) -> str:
    value = part.get("response", part.get("arguments"))
    return value if isinstance(value, str) else dumps_text(value if value is not None else part)
