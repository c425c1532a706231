"""Transcripts joined with the telemetry of the same sessions: one record of each thing.

One rule for every kind: the transcript's record is kept, with its ids, content and tokens, and
takes from the telemetry what only that measures: the duration, the time to the first token, the
tries and the stated cost. The telemetry itself stays as spans (``turnspan receive --transcripts``),
so the join gives the same whichever came first, and again after every import.

A call is found by the request's id, a tool by the call's. Where only one side knows it (Codex and
Gemini CLI write none of requests, Gemini CLI none of tools): by equal token counts, or the tool's
name, next in time and at most ten minutes apart.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from turnspan import semconv
from turnspan_clickhouse import foreign_dialects
from turnspan_clickhouse.foreign_dialects import CODING_SCOPES, ForeignSpan
from turnspan_clickhouse.foreign_dialects.claude_code import number
from turnspan_clickhouse.rows.record import Record, columns
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall, TurnSummary
from turnspan_clickhouse.store.client import Store
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


@dataclass(frozen=True, slots=True)
class _Measured:
    """What is known of the time and the price of a call or a tool."""

    duration: float
    first: float | None = None
    tries: int = 1
    cost: Decimal | None = None
    price_version: str = ""


@dataclass(slots=True)
class _MeasuredRow:
    """A record of a transcript, or what telemetry told of one."""

    table: str
    ids: frozenset[tuple[str, str]]
    """With their session."""
    alike: tuple[str, str]
    """The session, and what those of one thing have in common besides: token counts, or the tool's
    name."""
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
        now = time.time_ns()
        told: dict[str, Any] = {"scopes": sorted(CODING_SCOPES), "mark": semconv.CODING_TELEMETRY}
        named = list(sessions)
        if not named:
            given = {**told, "since": self._since}
            rows = store.query(statement("coding/telemetry_sessions"), given).rows
            named = [str(row[0]) for row in rows]
        some = (named[at : at + _SESSIONS] for at in range(0, len(named), _SESSIONS))
        changed = sum(_join(store, each, told) for each in some)
        if not sessions:
            self._since = max(0, now - _LATE)
        return changed


def _join(store: Store, sessions: list[str], told: Mapping[str, Any]) -> int:
    given = {"sessions": sessions}
    spans = store.query(statement("coding/telemetry"), {**given, **told}).rows
    facts = [fact for row in spans if (fact := _fact(row)) is not None]
    rows = [_row(row) for row in store.query(statement("coding/measured_calls"), given).rows]
    changed: dict[str, dict[str, _Measured]] = {}
    for table in ("llm_call", "tool_call"):
        pairs = _pairs(
            [row for row in rows if row.table == table],
            [fact for fact in facts if fact.table == table],
        )
        better = ((row, _completed(row.measured, fact.measured)) for row, fact in pairs)
        changed[table] = {row.span_id: found for row, found in better if found != row.measured}
    _rewrite(store, LlmCall, sessions, "span_id", changed["llm_call"])
    _rewrite(store, ToolCall, sessions, "span_id", changed["tool_call"])
    calls = changed["llm_call"]
    if any(row.span_id in calls and calls[row.span_id].cost != row.measured.cost for row in rows):
        _price_turns(store, sessions, rows, calls)
    return sum(map(len, changed.values()))


def _row(row: Sequence[Any]) -> _MeasuredRow:
    session, span_id, turn_id, table, ids, alike, start, duration, first, tries, cost, version = row
    measured = _Measured(float(duration), first, int(tries), cost, str(version))
    end = int(start) + round(float(duration) * 1e9)
    known = frozenset((str(session), str(one)) for one in ids if one)
    like = (str(session), str(alike or ""))
    return _MeasuredRow(str(table), known, like, end, measured, span_id, turn_id)


def _fact(row: Sequence[Any]) -> _MeasuredRow | None:
    """What a span of telemetry told; None: of no call and no tool."""
    session, name, scope, attributes, start, duration = row
    said: dict[str, Any] = {key: value for key, value in attributes.items() if value != ""}
    said[semconv.OPERATION_NAME] = said.pop(semconv.CODING_TELEMETRY, "")
    said[semconv.RESPONSE_TIME_TO_FIRST_CHUNK] = number(
        said.get(semconv.RESPONSE_TIME_TO_FIRST_CHUNK)
    )
    call = foreign_dialects.read(ForeignSpan(str(name), str(scope), said))
    if call is None:
        return None
    end = int(start) + round(float(duration) * 1e9)
    if call.kind == foreign_dialects.TOOL:
        ids = frozenset((str(session), one) for one in (call.tool_call_id,) if one)
        like = (str(session), call.tool_name)
        return _MeasuredRow("tool_call", ids, like, end, _Measured(float(duration)))
    if call.kind != foreign_dialects.INFERENCE or call.error_type:  # one that failed is in no file
        return None
    cost = said.get("cost_usd")
    measured = _Measured(
        float(duration),
        call.time_to_first_chunk,
        int(call.extra.get(semconv.TRIES) or said.get(semconv.TRIES) or 1),
        Decimal(str(cost)) if cost else None,
        _STATED if cost else "",
    )
    like = (str(session), f"{call.usage.input_tokens} {call.usage.output_tokens}")
    ids = frozenset((str(session), one) for one in (call.response_id,) if one)
    return _MeasuredRow("llm_call", ids, like, end, measured)


def _pairs(
    rows: Sequence[_MeasuredRow], facts: Sequence[_MeasuredRow]
) -> Iterable[tuple[_MeasuredRow, _MeasuredRow]]:
    by_id = {one: fact for fact in facts for one in fact.ids}
    alike: defaultdict[tuple[str, str], list[_MeasuredRow]] = defaultdict(list)
    named = {one for row in rows for one in row.ids}
    for fact in facts:
        if fact.alike[1] and not fact.ids & named:
            alike[fact.alike].append(fact)
    for row in rows:
        found = [by_id[one] for one in sorted(row.ids) if one in by_id]
        others = alike[row.alike]
        if not found and others:
            end = row.end
            nearest = min(others, key=lambda one: abs(one.end - end))
            if abs(nearest.end - end) <= _APART:
                others.remove(nearest)
                found = [nearest]
        if found:
            yield row, found[0]


def _completed(row: _Measured, fact: _Measured) -> _Measured:
    """What a row knows with what was measured."""
    cost = None if fact.cost is None else fact.cost.quantize(Decimal("1e-12"))
    return _Measured(
        fact.duration or row.duration,
        row.first if fact.first is None else fact.first,
        max(row.tries, fact.tries),
        row.cost if cost is None else cost,
        row.price_version if cost is None else fact.price_version,
    )


_VALUES: Final = {
    "duration": "{durations:Array(Float64)}[place]",
    "time_to_first_chunk": "nullIf({firsts:Array(Float64)}[place], -1)",
    "tries": "toUInt8(least({tries:Array(UInt32)}[place], 255))",
    "cost_usd": "toDecimal64OrNull({costs:Array(String)}[place], 12)",
    "price_version": "{versions:Array(String)}[place]",
    "written_at": "addMicroseconds(written_at, 1)",
}


def _rewrite(
    store: Store,
    record: type[Record],
    sessions: list[str],
    key: str,
    found: Mapping[str, _Measured],
    only: Sequence[str] = tuple(_VALUES),
) -> None:
    names = [name for name, _ in columns(record)]
    used = {name: _VALUES[name] for name in only if name in _VALUES}
    values = [f"{used.get(name, name)} AS {name}" for name in names]
    sql = statement(
        "coding/rewrite",
        table=record.table,
        key=key,
        names=", ".join(names),
        values=", ".join(values),
    )
    ids = sorted(found)
    for start in range(0, len(ids), _TOGETHER):
        some = ids[start : start + _TOGETHER]
        each = [found[one] for one in some]
        given: dict[str, Any] = {
            "sessions": sessions,
            "ids": some,
            "durations": [one.duration for one in each],
            "firsts": [-1.0 if one.first is None else one.first for one in each],
            "tries": [one.tries for one in each],
            "costs": ["" if one.cost is None else f"{one.cost:f}" for one in each],
            "versions": [one.price_version for one in each],
        }
        asked = {name: value for name, value in given.items() if f"{{{name}:" in sql}
        store.command(sql, asked, {"final": 1})


def _price_turns(
    store: Store, sessions: list[str], rows: Sequence[_MeasuredRow], calls: Mapping[str, _Measured]
) -> None:
    """A turn costs what its calls do, and those of the turns inside it."""
    turns = store.query(statement("coding/turn_costs"), {"sessions": sessions}).rows
    around = {str(turn): str(parent) for turn, parent, _ in turns}
    sums: defaultdict[str, list[Decimal]] = defaultdict(list)
    for row in rows:
        cost = calls.get(row.span_id, row.measured).cost
        turn = row.turn_id
        while cost is not None and turn and len(sums[turn]) <= len(rows):
            sums[turn].append(cost)
            turn = around.get(turn, "")
    found = {
        str(turn): _Measured(0.0, cost=sum(sums[str(turn)], Decimal(0)))
        for turn, _, cost in turns
        if sums[str(turn)] and sum(sums[str(turn)], Decimal(0)) != cost
    }
    _rewrite(store, TurnSummary, sessions, "turn_id", found, ("cost_usd", "written_at"))
