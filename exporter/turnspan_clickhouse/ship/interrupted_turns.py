"""Turns whose process died before they ended: reported ``interrupted``, with what they got done."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from turnspan_clickhouse.rows.tables import TurnSummary, columns
from turnspan_clickhouse.ship.sql import statement
from turnspan_clickhouse.store.client import Store

INTERRUPTED = "interrupted"
MAX_NAMED = 1_500
"""Turns that one statement names. They travel in its address: a server takes 128 KiB of a value
and 1 MiB of all. Of a turn around more turns than that, so many are counted."""

_COMPUTED = {
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
    "response_text",
    "rounds",
    "llm_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "cost_usd",
    "models",
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
        _insert(store, parameters | {"roots": roots, "members": members})
    return len(running)


def _together(
    families: Sequence[tuple[str, list[str]]],
) -> Iterator[list[tuple[str, list[str]]]]:
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


def _insert(store: Store, parameters: dict[str, list[str]]) -> None:
    names = [name for name, _ in columns(TurnSummary)]
    values = [
        _COMPUTED.get(name, f"c.{name}" if name in _OF_CALLS else f"s.{name}") + f" AS {name}"
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
