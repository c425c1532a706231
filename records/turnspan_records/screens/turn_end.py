"""How a turn ended, in one question: why it stopped, and what it did last."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.questions import ask, ask_row
from turnspan_records.lookup import RecordRef
from turnspan_records.screens.stop_evidence import WINDOW, StopEvidence, stop_evidence

LAST_CALLS: Final = 4
HEAD: Final = 500
"""Characters of a text."""


@dataclass(frozen=True, slots=True)
class LastCall:
    """One of the last model calls of a turn; ``said`` is the beginning of its answer."""

    span_id: str
    round: int
    model: str
    start_time: datetime
    finish_reasons: tuple[str, ...]
    asked_for_tools: bool
    output_tokens: int | None
    error_type: str
    error_message: str
    said: str


@dataclass(frozen=True, slots=True)
class LastTool:
    """One of the last tool calls of a turn. ``same`` is how many of these are like it: tool,
    arguments and result."""

    span_id: str
    round: int
    name: str
    start_time: datetime
    failed: bool
    error_type: str
    error_message: str
    arguments: str
    result: str
    same: int


@dataclass(frozen=True, slots=True)
class NestedStop:
    """A turn inside the turn, and how that ended."""

    turn_id: str
    agent_name: str
    stop_reason: str
    stop_detail: str


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn ended: why, by ``stop``, and its last calls, tools and nested turns, the oldest of
    them first. ``duration`` is in seconds."""

    turn_id: str
    project: str
    session_id: str
    start_time: datetime
    duration: float
    agent_name: str
    user_message: str
    response_text: str
    rounds: int
    max_rounds: int | None
    llm_call_count: int
    tool_call_count: int
    tool_error_count: int
    cost_usd: Decimal | None
    error_type: str
    error_message: str
    stop: StopEvidence
    calls: tuple[LastCall, ...]
    tools: tuple[LastTool, ...]
    nested: tuple[NestedStop, ...]


def turn_end(store: Store, found: RecordRef) -> TurnEnd:
    """How the turn of a record ended: of a session its last one, of a call or a tool its own.

    Raises:
        KeyError: there is no turn of it.
        StoreError: as ``Store.query``.
    """
    place: dict[str, Any] = {"project": found.project, "session": found.session_id}
    turn = found.turn_id
    if found.kind == "session":
        last = ask(store, "turn/last", **place).rows
        turn = str(last[0][0]) if last else ""
    if not turn:
        raise KeyError(found.id)
    asked = {**place, "turn": turn, "head": HEAD}
    row = ask_row(store, "turn/end", found.id, **asked)

    def newest(kind: str, limit: int = LAST_CALLS) -> list[dict[str, Any]]:
        return ask(store, f"turn/end_{kind}", **asked, limit=limit).dicts()[::-1]

    stop = stop_evidence(store, found.project, turn)
    calls = tuple(of_row(LastCall, one) for one in newest("calls"))
    tools = newest("tools", WINDOW)
    alike = [one["alike"] for one in tools]
    return of_row(
        TurnEnd,
        row,
        stop=stop,
        calls=calls,
        tools=tuple(of_row(LastTool, one, same=alike.count(one["alike"])) for one in tools),
        nested=tuple(of_row(NestedStop, one) for one in newest("nested")),
    )
