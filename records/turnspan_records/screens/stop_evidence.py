"""Why a turn stopped: the rule that held (docs/reference/stop-reasons.md), and its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from turnspan.turn import stop_reasons as reasons
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask, ask_row
from turnspan_records.messages import ONE_SESSION

WINDOW = 8
"""Tool calls that the loop detector compares (docs/turns.md)."""

RULES: Mapping[str, tuple[int, str]] = {
    reasons.USER_ABORTED: (1, "it was cancelled"),
    "": (2, "the application called `turn.stop(reason)`"),
    reasons.BUDGET_EXCEEDED: (3, "a model call was not made: it would have gone beyond a limit"),
    reasons.LOOP_DETECTED: (4, "the loop detector fired: equal calls returned equal results"),
    reasons.ROUND_CAP: (
        5,
        "all allowed rounds were used, and the last reply still asked for tools",
    ),
    reasons.TOOL_FAILURE: (6, "a tool of the last batch failed"),
    reasons.ERROR: (7, "the turn raised an exception, or its last model call failed"),
    reasons.MAX_TOKENS: (8, "the model's last reply was cut at the token limit"),
    reasons.CONTENT_FILTER: (8, "a content filter stopped the model's last reply"),
    reasons.REFUSAL: (8, "the model's last reply is a refusal"),
    reasons.SILENT_ROUNDS: (9, "the model wrote no visible text for many tool rounds"),
    reasons.EMPTY_NO_TOOLS: (10, "no tool was called, and the reply is blank"),
    reasons.COMPLETED: (11, "no other rule held"),
}
"""A rule's number in docs/reference/stop-reasons.md, and its text. An empty reason is the
application's own."""


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """A call or a tool that shows it; ``kind`` is call or tool."""

    kind: str
    span_id: str
    says: str


@dataclass(frozen=True, slots=True)
class StopEvidence:
    """Why a turn stopped: the rule (``number`` in docs/reference/stop-reasons.md, 0 if the turn has
    not ended), its text, the facts of the turn it uses, and the rows that show it."""

    turn_id: str
    ended_how: str
    detail: str
    number: int
    rule: str
    facts: tuple[tuple[str, str], ...]
    rows: tuple[EvidenceRow, ...]


_Rows = Sequence[Mapping[str, Any]]


def stop_evidence(store: Store, project: str, turn_id: str) -> StopEvidence:
    """Why a turn stopped.

    Raises:
        KeyError: there is no such turn.
        StoreError: as ``Store.query``.
    """
    parameters = {"project": project, "turn": turn_id}
    turn = ask_row(store, "turn/stop", turn_id, **parameters)
    parameters["session"] = str(turn["session_id"])
    calls = ask(store, "turn/stop_calls", ONE_SESSION, **parameters).dicts()
    tools = ask(store, "turn/stop_tools", ONE_SESSION, **parameters).dicts()
    if turn["status"] != "final":
        said = "it runs" if turn["status"] == "running" else "its process died before it ended"
        return StopEvidence(
            turn_id, str(turn["status"]), "", 0, said, (), _last(calls, "the newest call")
        )
    reason = str(turn["stop_reason"])
    known = reasons.LOOP_DETECTED if reason.startswith(reasons.LOOP_DETECTED) else reason
    number, rule = RULES.get(known, RULES[""])
    return StopEvidence(
        turn_id,
        reason,
        str(turn["stop_detail"]),
        number,
        rule,
        tuple(_facts(known, turn)),
        _rows(known, calls, tools),
    )


def _facts(reason: str, turn: Mapping[str, Any]) -> list[tuple[str, str]]:
    names: Mapping[str, tuple[str, ...]] = {
        reasons.LOOP_DETECTED: ("max_identical_tool_streak", "no_progress_rounds"),
        reasons.ROUND_CAP: ("rounds", "max_rounds"),
        reasons.TOOL_FAILURE: ("tool_error_count", "tool_call_count"),
        reasons.ERROR: ("error_type", "error_message"),
        reasons.SILENT_ROUNDS: ("silent_rounds",),
        reasons.EMPTY_NO_TOOLS: ("tool_call_count",),
    }
    return [
        (name, str(turn[name]))
        for name in names.get(reason, ("rounds",))
        if turn[name] not in ("", None)
    ]


def _rows(reason: str, calls: _Rows, tools: _Rows) -> tuple[EvidenceRow, ...]:
    if reason == reasons.TOOL_FAILURE:
        return _failed_last(tools)
    if reason == reasons.LOOP_DETECTED:
        return _repeated(tools)
    if reason == reasons.ERROR:
        failed = [one for one in calls[-1:] if one["error_type"]]
        return tuple(EvidenceRow("call", one["span_id"], one["error_type"]) for one in failed)
    if reason == reasons.SILENT_ROUNDS:
        return _silent(calls)
    of = "last round's" if reason == reasons.ROUND_CAP else "last"
    return _last(calls, f"the {of} reply")


def _failed_last(tools: _Rows) -> tuple[EvidenceRow, ...]:
    last = max((int(tool["round"]) for tool in tools), default=0)
    failed = [tool for tool in tools if tool["failed"] and tool["round"] == last]
    # An application that numbers no rounds: the last that failed.
    failed = failed or [tool for tool in tools if tool["failed"]][-1:]
    return tuple(
        EvidenceRow("tool", tool["span_id"], f"{tool['name']}: {_error(tool)}") for tool in failed
    )


def _error(tool: Mapping[str, Any]) -> str:
    return ": ".join(filter(None, (tool["error_type"], tool["error_message"]))) or "failed"


def _repeated(tools: _Rows) -> tuple[EvidenceRow, ...]:
    last = tools[-WINDOW:]
    times = Counter((tool["asked"], tool["given"]) for tool in last)
    again = [tool for tool in last if times[tool["asked"], tool["given"]] > 1]
    # Values that change with every call are masked before the detector compares: then by name.
    again = again or [tool for tool in last if tool["name"] == last[-1]["name"]]
    return tuple(
        EvidenceRow("tool", tool["span_id"], f"{tool['name']} in round {tool['round']}")
        for tool in again
    )


def _silent(calls: _Rows) -> tuple[EvidenceRow, ...]:
    silent = [*takewhile(lambda call: not call["spoke"], reversed(calls))][::-1]
    ends = silent if len(silent) < 3 else (silent[0], silent[-1])
    return tuple(EvidenceRow("call", one["span_id"], f"round {one['round']}") for one in ends)


def _last(calls: _Rows, what: str) -> tuple[EvidenceRow, ...]:
    return tuple(
        EvidenceRow("call", one["span_id"], f"{what}: {_how(one)}" if _how(one) else what)
        for one in calls[-1:]
    )


def _how(call: Mapping[str, Any]) -> str:
    return str(call["error_type"] or call["finish"] or call["stream_outcome"])
