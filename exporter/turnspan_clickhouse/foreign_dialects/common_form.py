"""Brings what dialects read to one form, whoever wrote it."""

from __future__ import annotations

from typing import Final

from turnspan.content.json_codec import EXTRA, WRITING, WRITTEN
from turnspan.content.model import Message, Part
from turnspan_clickhouse.foreign_dialects.base import (
    INFERENCE,
    ForeignCall,
    first,
    integer,
    parsed,
    text,
)


def settle(call: ForeignCall) -> None:
    """Bring messages to one form, whoever wrote them, so that the same call lands as the same rows.

    Parts have the schema's keys first and no empty ones, arguments are parsed, the system prompt of
    a provider with a field for it is no message, the items of a reply are one message, and a tool's
    result has the id of the call that asked for it.
    """
    if call.kind == INFERENCE:
        _join_reply(call)
        _mend_ids(call.input)
    for message in (*call.input, *call.output):
        message["parts"] = [_settled(part) for part in message["parts"]]
    sent = call.input
    apart = call.provider == "anthropic" and call.system is None
    if apart and sent and sent[0]["role"] == "system":
        call.system = sent[0]["parts"]
        call.input = sent[1:]


def _join_reply(call: ForeignCall) -> None:
    """Some write a message for each item of a Responses reply; choices are asked for by number."""
    made = call.output
    choices = first(call.parameters, "n", "candidate_count", "candidateCount")
    if len(made) < 2 or (integer(choices) or 1) > 1:
        return
    if len(call.finish_reasons) == len(made):
        call.finish_reasons = call.finish_reasons[-1:]
    whole: Message = {**made[0], "parts": [part for said in made for part in said["parts"]]}
    call.output = [whole]


def _mend_ids(messages: list[Message]) -> None:
    """Pair calls and results that have ids of their own: the item's of Responses for the call's,
    or a made-up one (``name_0``) where the result has none.
    """
    waiting: list[Part] = []
    for message in messages:
        parts = message["parts"]
        waiting += [part for part in parts if part.get("type") == "tool_call"]
        for part in parts:
            if part.get("type") == "tool_call_response":
                _answer(waiting, part)


def _answer(waiting: list[Part], result: Part) -> None:
    given = result.get("id")
    asked = next((call for call in waiting if call.get("id") == given), None)
    if asked is None:
        named = result.get("name") or text(given).rpartition("_")[0]
        alike = [call for call in waiting if call.get("name") == named]
        if alike:
            asked = alike[0]
            result["id"] = asked.get("id")
        elif given and len(waiting) == 1:
            asked = waiting[0]
            asked["id"] = given
    if asked is not None:
        waiting.remove(asked)


_KEYS: Final = (
    "type",
    "id",
    "name",
    "arguments",
    "response",
    "content",
    "modality",
    "uri",
    "file_id",
    "mime_type",
)


def _settled(part: Part) -> Part:
    found = {key: part[key] for key in _KEYS if part.get(key) is not None}
    found.update({key: v for key, v in part.items() if key not in _DROPPED and v is not None})
    if found["type"] == "tool_call":
        found["arguments"] = parsed(found.get("arguments", {}))
    elif found["type"] == "tool_call_response":
        found.setdefault("response", None)
    return found


_DROPPED: Final = WRITING | {EXTRA, WRITTEN, *_KEYS}
