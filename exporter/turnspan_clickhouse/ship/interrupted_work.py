"""Turns, calls, attempts, rollouts and consortium runs whose process died before they ended:
reported ``interrupted``, turns with what they got done."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.rows.consortium_tables import Consortium
from turnspan_clickhouse.rows.loop_tables import AttemptRow, RolloutRow
from turnspan_clickhouse.rows.record import columns
from turnspan_clickhouse.rows.tables import RunningCall, TurnSummary
from turnspan_clickhouse.ship.retry_policy import MISSING_SCHEMA
from turnspan_clickhouse.ship.sql import statement
from turnspan_clickhouse.store.client import Store

INTERRUPTED = "interrupted"
MAX_NAMED = 1_500
"""Turns that one statement names. They travel in its address: a server takes 128 KiB of a value
and 1 MiB of all. Of a turn around more turns than that, so many are counted."""

_OF_TURNS = {
    "duration": "if(greatest(c.last_end, t.last_end) > s.start_time,"
    " dateDiff('nanosecond', s.start_time, greatest(c.last_end, t.last_end)) / 1e9, 0)",
    "status": "{interrupted:String}",
    "stop_reason": "{interrupted:String}",
    "stop_detail": "'the process ended before the turn did'",
    "written_at": "greatest(now64(9), addNanoseconds(s.written_at, 1))",
    "tool_call_count": "t.tool_call_count",
    "tool_error_count": "t.tool_error_count",
}
_OF_CALLS = (
    *("response_text", "rounds", "llm_call_count", "input_tokens", "output_tokens"),
    *("cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "cost_usd", "models"),
)


def interrupt_turns(store: Store, writers: Sequence[str]) -> int:
    """Mark the running turns of dead writers ``interrupted``; returns how many there were.

    Counters, tokens, cost, the last reply and the duration come from the calls and tools that
    ended. Call it when everything those writers spooled has landed; twice does nothing more.

    Raises:
        StoreError: as ``Store.query``.
    """
    parameters = {"writers": list(writers)}
    running = [
        (str(row[0]), str(row[3]))
        for row in store.query(statement("running_turns"), parameters).rows
    ]
    if not running:
        return 0
    family = store.query(statement("turn_families"), parameters).rows
    children: dict[tuple[str, str], list[str]] = {}
    for project, turn, parent in family:
        if parent:
            children.setdefault((str(project), str(parent)), []).append(str(turn))
    families = [(root, _descendants(project, root, children)) for project, root in running]
    for some in _together(families):
        pairs = [(root, member) for root, members in some for member in members]
        roots, members = [root for root, _ in pairs], [member for _, member in pairs]
        _insert_turns(store, parameters | {"roots": roots, "members": members})
    return len(running)


def _together(families: Sequence[tuple[str, list[str]]]) -> Iterator[list[tuple[str, list[str]]]]:
    """The families in parts that one statement can name."""
    some: list[tuple[str, list[str]]] = []
    named = 0
    for root, members in families:
        if some and named + len(members) > MAX_NAMED:
            yield some
            some, named = [], 0
        some.append((root, members[:MAX_NAMED]))
        named += len(members)
    yield some


def _descendants(project: str, root: str, children: dict[tuple[str, str], list[str]]) -> list[str]:
    found, waiting = [root], [root]
    while waiting:
        for child in children.get((project, waiting.pop()), ()):
            if child not in found:
                found.append(child)
                waiting.append(child)
    return found


def _insert_turns(store: Store, parameters: dict[str, list[str]]) -> None:
    names = [name for name, _ in columns(TurnSummary)]
    values = [
        _OF_TURNS.get(name, f"c.{name}" if name in _OF_CALLS else f"s.{name}") + f" AS {name}"
        for name in names
    ]
    sql = statement("interrupt_turns", names=", ".join(names), values=", ".join(values))
    named = sorted((*parameters["writers"], *parameters["roots"]))
    token = hashlib.sha256("\0".join(named).encode()).hexdigest()
    store.command(
        sql,
        {**parameters, "interrupted": INTERRUPTED},
        {"insert_deduplication_token": f"{INTERRUPTED}-{token}", "final": 1},
    )


@dataclass(frozen=True, slots=True)
class _Work:
    """A table of what can be cut short. ``id`` is its column in ``llm_call``, by which the last
    that is known of each is found; empty where calls are not of it."""

    record: type[AttemptRow | RolloutRow | Consortium | RunningCall]
    what: str
    id: str = ""


_WORK: Final = (
    _Work(AttemptRow, "attempt", "attempt_id"),
    _Work(RolloutRow, "rollout"),
    _Work(Consortium, "run", "consortium_id"),
    _Work(RunningCall, "call"),
)
# A row that another process has written since (a rollout may be opened again, a run's id may be
# another tool's) stays the newest: by a nanosecond.
_COMPUTED: Final = {
    "status": "{interrupted:String}",
    "written_at": "addNanoseconds(s.written_at, 1)",
    "error_message": "{cut_short:String}",
}
_DURATION: Final = (
    "if(c.last_end > s.started_at, dateDiff('nanosecond', s.started_at, c.last_end) / 1e9, 0)"
)


def interrupt_work(store: Store, writers: Sequence[str]) -> int:
    """Mark what dead writers left running ``interrupted``; returns how many.

    Call it when everything those writers spooled has landed; twice does nothing more. A store of
    before there were attempts, or runs, has none of theirs.

    Raises:
        StoreError: as ``Store.query``.
    """
    parameters = {"writers": list(writers)}
    found = 0
    for work in _WORK:
        sql = statement("running_work", table=work.record.table)
        try:
            running = int(store.query(sql, parameters).rows[0][0])
        except QueryError as error:
            if error.code in MISSING_SCHEMA:
                return found
            raise
        if running:
            found += running
            _insert(store, work, parameters)
    return found


def _insert(store: Store, work: _Work, parameters: dict[str, list[str]]) -> None:
    table, names = work.record.table, [name for name, _ in columns(work.record)]
    computed = dict(_COMPUTED)
    given: dict[str, object] = {
        **parameters,
        "interrupted": INTERRUPTED,
        "cut_short": f"the process ended before the {work.what} did",
    }
    ended = ""
    if work.id:
        sql = statement("dying_work", table=table, id=work.id)
        dying = store.query(sql, parameters).rows
        computed["duration"] = _DURATION
        given["dying"] = [str(row[0]) for row in dying]
        given["since"] = str(dying[0][1])
        ended = statement("last_calls", id=work.id)
    values = [computed.get(name, f"s.{name}") + f" AS {name}" for name in names]
    pieces = {"names": ", ".join(names), "values": ", ".join(values), "ended": ended}
    sql = statement("interrupt_work", table=table, **pieces)
    token = hashlib.sha256("\0".join(sorted(parameters["writers"])).encode()).hexdigest()
    store.command(sql, given, {"insert_deduplication_token": f"{table}-{token}", "final": 1})
