"""Attempts, rollouts and consortium runs whose process died before they ended: reported
``interrupted``."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.rows.consortium_tables import Consortium
from turnspan_clickhouse.rows.loop_tables import AttemptRow, RolloutRow
from turnspan_clickhouse.rows.record import columns
from turnspan_clickhouse.ship.interrupted_turns import INTERRUPTED
from turnspan_clickhouse.ship.retry_policy import MISSING_SCHEMA
from turnspan_clickhouse.ship.sql import statement
from turnspan_clickhouse.store.client import Store


@dataclass(frozen=True, slots=True)
class _Work:
    """A table of what can be cut short. ``id`` is its column in ``llm_call``, by which the last
    that is known of each is found; empty where calls are not of it."""

    record: type[AttemptRow | RolloutRow | Consortium]
    what: str
    id: str = ""


_WORK: Final = (
    _Work(AttemptRow, "attempt", "attempt_id"),
    _Work(RolloutRow, "rollout"),
    _Work(Consortium, "run", "consortium_id"),
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
