"""What tools brought after the last answer of a transcript: no later request has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from turnspan.content.model import (
    TOOL_CALL,
    TOOL_CALL_RESPONSE,
    Message,
    Part,
)
from turnspan.dialects.convert import convert_message


@dataclass(frozen=True, slots=True)
class LastResult:
    """One tool's."""

    call_id: str
    name: str
    arguments: Any
    value: Any


def last_results(dialect: str, answer: Any, after: Sequence[Any]) -> tuple[list[LastResult], int]:
    """The results that were asked for, and how many of the messages bring anything else."""
    calls = _parts(convert_message(dialect, answer), TOOL_CALL)
    asked = {str(call.get("id")): call for call in calls}
    found: list[LastResult] = []
    others = 0
    for raw in after:
        message = convert_message(dialect, raw)
        brought = _parts(message, TOOL_CALL_RESPONSE)
        known = [part for part in brought if str(part.get("id")) in asked]
        others += len(known) < len(message["parts"])
        for part in known:
            call = asked[str(part["id"])]
            found.append(
                LastResult(
                    str(part["id"]),
                    str(call.get("name") or ""),
                    call.get("arguments"),
                    part.get("response"),
                )
            )
    return found, others


def _parts(message: Message, kind: str) -> list[Part]:
    return [part for part in message["parts"] if part.get("type") == kind]
