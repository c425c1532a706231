"""Transcripts joined with the telemetry of the same sessions: one record of each thing.

One rule for every kind: the transcript's record is kept, with its ids, content and tokens, and
takes from the telemetry what only that knows: the duration, the time to the first token, the tries,
the stated cost, and who let a tool run. The telemetry itself stays as spans (``turnspan receive
--transcripts``), so the join gives the same whichever came first, and again after every import.

A call is found by the request's id, a tool by the call's. Where only one side knows it (Codex and
Gemini CLI write none of requests, Gemini CLI none of tools): by equal token counts, or the tool's
name, next in time and at most ten minutes apart.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import orjson

from turnspan import semconv
from turnspan_clickhouse import foreign_dialects
from turnspan_clickhouse.foreign_dialects import CODING_SCOPES, ForeignSpan
from turnspan_clickhouse.foreign_dialects.claude_code import number
from turnspan_clickhouse.rows.record import Record, columns
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall, TurnSummary
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask
from turnspan_records.sql import statement

_APART: Final = 600 * 10**9
"""Nanoseconds."""
_SESSIONS: Final = 50
"""Sessions that one statement asks about."""
_TOGETHER: Final = 500
"""Rows that one statement names."""
_LATE: Final = 900 * 10**9
"""How long after it was made a row lands, in nanoseconds."""
_STATED: Final = "provider"
"""The price version of a cost that was stated."""
_MARKED: Final = {"scopes": sorted(CODING_SCOPES), "mark": semconv.CODING_TELEMETRY}


@dataclass(frozen=True, slots=True)
class _Measured:
    """What is known of the time and the price of a call or a tool."""

    duration: float
    first: float | None = None
    tries: int = 1
    cost: Decimal | None = None
    price_version: str = ""
    decision: str = ""
    decision_source: str = ""


@dataclass(frozen=True, slots=True)
class _MeasuredRow:
    """A record of a transcript, or what telemetry told of one."""

    table: str
    session: str
    ids: frozenset[str]
    alike: str
    """What those of one thing have in common besides: token counts, or the tool's name."""
    end: int
    measured: _Measured
    span_id: str = ""
    turn_id: str = ""


class TelemetryJoin:
    """Joins again and again what was written since the last time."""

    def __init__(self) -> None:
        self._since = 0

    def join(self, store: Store, sessions: Sequence[str] = ()) -> int:
        """Complete the records of sessions (none named: of all that have news); returns how many
        records changed.

        Raises:
            StoreError: as ``Store.query``.
        """
        now, named = time.time_ns(), list(sessions)
        if not named:
            rows = ask(store, "coding/telemetry_sessions", **_MARKED, since=self._since).rows
            named = [str(row[0]) for row in rows]
            self._since = max(0, now - _LATE)
        return sum(
            _join(store, named[at : at + _SESSIONS]) for at in range(0, len(named), _SESSIONS)
        )


def _join(store: Store, sessions: list[str]) -> int:
    told = ask(store, "coding/telemetry", sessions=sessions, **_MARKED).rows
    facts = [fact for row in told if (fact := _fact(row)) is not None]
    rows = [_row(row) for row in ask(store, "coding/measured_calls", sessions=sessions).rows]
    better = [(row, _completed(row.measured, fact.measured)) for row, fact in _pairs(rows, facts)]
    better = [(row, found) for row, found in better if found != row.measured]
    for record in (LlmCall, ToolCall):
        found = {row.span_id: one for row, one in better if row.table == record.table}
        _rewrite(store, record, sessions, found)
    if any(row.measured.cost != found.cost for row, found in better):
        _price_turns(store, sessions, rows, {row.span_id: found.cost for row, found in better})
    return len(better)


def _row(row: Sequence[Any]) -> _MeasuredRow:
    session, span_id, turn_id, table, ids, alike, start, duration, *rest = row
    first, tries, cost, version, decision, source = rest
    measured = _Measured(float(duration), first, int(tries), cost, str(version), decision, source)
    end = int(start) + round(float(duration) * 1e9)
    known = frozenset(str(one) for one in ids if one)
    return _MeasuredRow(table, session, known, str(alike or ""), end, measured, span_id, turn_id)


def _fact(row: Sequence[Any]) -> _MeasuredRow | None:
    """What a span of telemetry told; None: of no call and no tool."""
    session, name, scope, attributes, start, duration = row
    said: dict[str, Any] = {key: value for key, value in attributes.items() if value != ""}
    said[semconv.OPERATION_NAME] = said.pop(semconv.CODING_TELEMETRY, "")
    first = number(said.get(semconv.RESPONSE_TIME_TO_FIRST_CHUNK))
    said[semconv.RESPONSE_TIME_TO_FIRST_CHUNK] = first
    call = foreign_dialects.read(ForeignSpan(str(name), str(scope), said))
    if call is None:
        return None
    end = int(start) + round(float(duration) * 1e9)
    if call.kind == foreign_dialects.TOOL:
        id_, alike = call.tool_call_id, call.tool_name
        decision = (str(said.get(key, "")) for key in semconv.CODING_DECISIONS)
        measured = _Measured(float(duration), None, 1, None, "", *decision)
    elif call.kind == foreign_dialects.INFERENCE and not call.error_type:
        cost = said.get("cost_usd")
        id_, alike = call.response_id, f"{call.usage.input_tokens} {call.usage.output_tokens}"
        measured = _Measured(
            float(duration),
            call.time_to_first_chunk,
            int(call.extra.get(semconv.TRIES) or said.get(semconv.TRIES) or 1),
            Decimal(str(cost)) if cost else None,
            _STATED if cost else "",
        )
    else:  # a call that failed is in no file
        return None
    table = "tool_call" if call.kind == foreign_dialects.TOOL else "llm_call"
    return _MeasuredRow(table, session, frozenset([id_] if id_ else ()), alike, end, measured)


def _pairs(
    rows: Sequence[_MeasuredRow], facts: Sequence[_MeasuredRow]
) -> Iterator[tuple[_MeasuredRow, _MeasuredRow]]:
    by_id = {(one.table, one.session, id_): one for one in facts for id_ in one.ids}
    named = {(one.table, one.session, id_) for one in rows for id_ in one.ids}
    alike: defaultdict[tuple[str, str, str], list[_MeasuredRow]] = defaultdict(list)
    for one in facts:
        if one.alike and not any((one.table, one.session, id_) in named for id_ in one.ids):
            alike[one.table, one.session, one.alike].append(one)
    for row in rows:
        known = (by_id.get((row.table, row.session, id_)) for id_ in sorted(row.ids))
        fact = next(filter(None, known), None)
        others = alike[row.table, row.session, row.alike]
        if fact is None and others:
            end = row.end
            nearest = min(others, key=lambda one: abs(one.end - end))
            if abs(nearest.end - end) <= _APART:
                others.remove(nearest)
                fact = nearest
        if fact is not None:
            yield row, fact


def _completed(row: _Measured, fact: _Measured) -> _Measured:
    """What a row knows with what was measured."""
    cost = None if fact.cost is None else fact.cost.quantize(Decimal("1e-12"))
    return _Measured(
        fact.duration or row.duration,
        row.first if fact.first is None else fact.first,
        max(row.tries, fact.tries),
        row.cost if cost is None else cost,
        row.price_version if cost is None else fact.price_version,
        fact.decision or row.decision,
        fact.decision_source if fact.decision else row.decision_source,
    )


_VALUES: Final[dict[str, tuple[str, Callable[[_Measured], Any]]]] = {
    "duration": ("{duration:Array(Float64)}[place]", lambda one: one.duration),
    "time_to_first_chunk": (
        "nullIf({time_to_first_chunk:Array(Float64)}[place], -1)",
        lambda one: -1.0 if one.first is None else one.first,
    ),
    "tries": ("toUInt8(least({tries:Array(UInt32)}[place], 255))", lambda one: one.tries),
    "cost_usd": (
        "toDecimal64OrNull({cost_usd:Array(String)}[place], 12)",
        lambda one: "" if one.cost is None else f"{one.cost:f}",
    ),
    "attributes": (
        "mapUpdate(attributes, JSONExtract({attributes:Array(String)}[place],"
        " 'Map(String, String)'))",
        lambda one: _noted(one),
    ),
    "price_version": ("{price_version:Array(String)}[place]", lambda one: one.price_version),
}
"""Columns that are written anew: by which expression, of which values."""


def _noted(one: _Measured) -> str:
    values = (one.decision, one.decision_source) if one.decision else ()
    return orjson.dumps(dict(zip(semconv.CODING_DECISIONS, values, strict=False))).decode()


def rewritten(record: type[Record], new: Mapping[str, str]) -> dict[str, str]:
    """The fragments ``names`` and ``values`` of rows that are written again: columns are as they
    were, or by an expression."""
    names = [name for name, _ in columns(record)]
    values = ", ".join(f"{new.get(name, name)} AS {name}" for name in names)
    return {"names": ", ".join(names), "values": values}


def _rewrite(
    store: Store, record: type[Record], sessions: list[str], found: Mapping[str, _Measured]
) -> None:
    """Write records anew, by their ids: of a turn only its cost."""
    key, only = ("turn_id", ("cost_usd",)) if record is TurnSummary else ("span_id", (*_VALUES,))
    used = [name for name, _ in columns(record) if name in only]
    new = {name: _VALUES[name][0] for name in used}
    new["written_at"] = "addMicroseconds(written_at, 1)"
    sql = statement("coding/rewrite", table=record.table, key=key, **rewritten(record, new))
    ids = sorted(found)
    for start in range(0, len(ids), _TOGETHER):
        some = ids[start : start + _TOGETHER]
        given = {name: [_VALUES[name][1](found[one]) for one in some] for name in used}
        store.command(sql, {**given, "sessions": sessions, "ids": some}, {"final": 1})


def _price_turns(
    store: Store,
    sessions: list[str],
    rows: Sequence[_MeasuredRow],
    calls: Mapping[str, Decimal | None],
) -> None:
    """A turn costs what its calls do, and those of the turns inside it."""
    turns = ask(store, "coding/turn_costs", sessions=sessions).rows
    around = {str(turn): str(parent) for turn, parent, _ in turns}
    sums: defaultdict[str, list[Decimal]] = defaultdict(list)
    for row in rows:
        cost, turn = calls.get(row.span_id, row.measured.cost), row.turn_id
        while cost is not None and turn and len(sums[turn]) <= len(rows):
            sums[turn].append(cost)
            turn = around.get(turn, "")
    costs = {turn: sum(some, Decimal(0)) for turn, some in sums.items() if some}
    found = {
        str(turn): _Measured(0.0, cost=costs[str(turn)])
        for turn, _, before in turns
        if costs.get(str(turn), before) != before
    }
    _rewrite(store, TurnSummary, sessions, found)
