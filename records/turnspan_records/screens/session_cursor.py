"""What follows a session while it goes on, and what finds a word in it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_records.messages import ONE_SESSION
from turnspan_records.replay import scope_condition
from turnspan_records.sql import statement


@dataclass(frozen=True, slots=True)
class FoundInSession:
    """Where a text stands: messages by their hashes, the rest by their ids."""

    messages: tuple[str, ...]
    turns: tuple[str, ...]
    calls: tuple[str, ...]
    tools: tuple[str, ...]


def newest(store: Store, project: str, session_id: str, trace_id: str = "") -> str:
    """How far a session has come, as the ``cursor`` of its outline: when its newest row was
    written, and how many rows there are. What was written together need not land together."""
    sql = statement("session/newest", where=scope_condition(session_id))
    parameters = {
        "project": project,
        "session": session_id,
        "trace": trace_id,
        "scope": session_id or trace_id,
    }
    # That a row is there twice until it is merged costs one look too many, not one too few.
    ((written, count),) = store.query(sql, parameters, {**ONE_SESSION, "final": 0}).rows
    return f"{max(0, int(written or 0))}.{int(count)}"


def find_in_session(
    store: Store, project: str, session_id: str, text: str, trace_id: str = ""
) -> FoundInSession:
    """Where a session's recorded texts have these characters, in capitals or not."""
    parameters = {
        "project": project,
        "session": session_id,
        "trace": trace_id,
        "scope": session_id or trace_id,
        "text": text,
        # Messages are JSON: as these characters are written there.
        "written": json.dumps(text, ensure_ascii=False)[1:-1],
    }

    def ids(kind: str) -> tuple[str, ...]:
        sql = statement(f"session/find_{kind}", where=scope_condition(session_id))
        return tuple(str(row[0]) for row in store.query(sql, parameters, ONE_SESSION).rows)

    if not text:
        return FoundInSession((), (), (), ())
    return FoundInSession(ids("messages"), ids("turns"), ids("calls"), ids("tools"))
