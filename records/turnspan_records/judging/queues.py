"""Queues: which turns are to be judged, and in which order. Some come with Turnspan; any may be
saved under a name, for everybody who reads the store."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timezone
from typing import Any, Final

from turnspan_clickhouse.rows.tables import ReviewQueue
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.judging.writing import write_rows
from turnspan_records.lookup import Found
from turnspan_records.window import as_parameter, window

ORDERS: Final[Mapping[str, str]] = {
    "oldest": "start_time, turn_id",
    "newest": "start_time DESC, turn_id",
    "dearest": "cost DESC, start_time, turn_id",
    "random": "cityHash64({seed:UInt64}, turn_id), turn_id",
}
"""What SQL makes of the order of a queue."""


@dataclass(frozen=True, slots=True)
class Queue:
    """Root turns that have ended, of which somebody judges one after the other.

    A turn is judged by an outcome other than ``pending``, a training flag other than 0, or a score:
    of a person, and not withdrawn.
    """

    name: str = ""
    order: str = "oldest"
    """``oldest``, ``newest``, ``dearest`` or ``random``."""
    project: str = ""
    agent: str = ""
    odd: bool = False
    """Only turns that ended otherwise than ``completed``."""
    stop_reasons: tuple[str, ...] = ()
    """Only turns that stopped for one of these reasons (of loops: ``loop_detected``)."""
    since: str = ""
    until: str = ""
    """When they began: a date, or how long ago (``7d``)."""
    sample: int = 0
    """So many of them, drawn by ``seed``; 0 for all."""
    seed: int = 1
    each: bool = False
    """Whether every reviewer judges each turn; else what one has judged is done."""


BUILT_IN: Final[Mapping[str, Queue]] = {
    one.name: one
    for one in (
        Queue("unassessed"),
        Queue("dearest", order="dearest"),
        Queue("odd", order="newest", odd=True),
        Queue("sample", order="random", sample=50, each=True),
    )
}
"""The queues that come with Turnspan; the first is what is reviewed where none is named."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a queue is: turns in it, and those that are still to be judged."""

    total: int
    left: int


# Samples are drawn from all that match, judged or not: whoever goes on later has the same one.
_MATCHING = """
SELECT project, session_id, trace_id, turn_id, start_time, ifNull(t.cost_usd, 0) AS cost
FROM turn_summary AS t
WHERE parent_turn_id = '' AND status IN ('final', 'interrupted')
    AND ({project:String} = '' OR project = {project:String})
    AND ({agent:String} = '' OR agent_name = {agent:String})
    AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}
    AND (NOT {odd:Bool} OR status != 'final' OR t.stop_reason != 'completed')
    AND (empty({reasons:Array(String)}) OR has({reasons:Array(String)},
        if(status = 'final', substringIndex(t.stop_reason, ':', 1), t.status)))
"""
_SAMPLED = f"""
SELECT * FROM ({_MATCHING})
ORDER BY cityHash64({{seed:UInt64}}, turn_id), turn_id LIMIT {{sample:UInt32}}
"""
_JUDGED = """
SELECT project, subject_id FROM annotation
WHERE subject_kind = 'turn' AND kind IN ('outcome', 'training_flag', 'score')
    AND outcome != 'pending' AND ifNull(training_flag, 1) != 0
    AND NOT startsWith(author, 'passive:') AND NOT startsWith(source, 'machine')
    AND (NOT {each:Bool} OR author = {author:String})
    AND ((SELECT count() FROM withdrawal) = 0
        OR (project, subject_kind, kind, subject_id, annotation_id) NOT IN
            (SELECT project, subject_kind, kind, subject_id, annotation_id
            FROM annotation_withdrawn))
"""


def waiting(store: Store, queue: Queue, author: str, *, limit: int = 100) -> list[Found]:
    """The next turns of a queue that ``author`` is to judge, in its order.

    Raises:
        ValueError: the queue's order or window is none.
        StoreError: as ``Store.query``.
    """
    order = ORDERS.get(queue.order)
    if order is None:
        raise ValueError(f"order is one of {', '.join(ORDERS)}: not {queue.order!r}")
    source = _SAMPLED if queue.sample else _MATCHING
    result = store.query(
        f"SELECT project, turn_id, session_id, trace_id FROM ({source})"
        f" WHERE (project, turn_id) NOT IN ({_JUDGED})"
        f" ORDER BY {order} LIMIT {{limit:UInt32}}",
        {**_parameters(queue, author), "limit": limit},
    )
    return [
        Found("turn", str(turn), str(project), str(session), str(trace), str(turn))
        for project, turn, session, trace in result.rows
    ]


def progress(store: Store, queue: Queue, author: str) -> Progress:
    """How many turns are in a queue, and how many of them ``author`` is still to judge.

    Raises as ``waiting``.
    """
    source = _SAMPLED if queue.sample else _MATCHING
    result = store.query(
        f"SELECT count(), countIf((project, turn_id) NOT IN ({_JUDGED})) FROM ({source})",
        _parameters(queue, author),
    )
    total, left = result.rows[0]
    return Progress(int(total), int(left))


def queues(store: Store) -> dict[str, Queue]:
    """The queues by their names: those that come with Turnspan, and those that were saved.

    Raises ``StoreError`` as ``Store.query``.
    """
    rows = store.query(
        "SELECT name, argMax(definition, written_at) FROM review_queue GROUP BY name ORDER BY name"
    ).rows
    saved = {str(name): _read(str(name), str(definition)) for name, definition in rows}
    return {**BUILT_IN, **saved}


def save_queue(spool: Spool, queue: Queue, *, author: str = "") -> Queue:
    """Write a queue under its name to the spool; returns it as it was saved. It is everybody's when
    it has landed.

    A sample is drawn from what there is now: it stays the same when more is recorded.

    Raises:
        ValueError: it has no name, or that of one that comes with Turnspan.
        SpoolError: the spool cannot be written.
    """
    if not queue.name or queue.name in BUILT_IN:
        raise ValueError(f"a queue is saved under a name of its own: not {queue.name!r}")
    if queue.sample and not queue.until:
        queue = replace(queue, until=datetime.now(timezone.utc).isoformat(timespec="seconds"))
    window(queue.since or None, queue.until or None)
    said = {name: value for name, value in asdict(queue).items() if name != "name"}
    row = ReviewQueue(
        project=queue.project,
        name=queue.name,
        definition=json.dumps(said),
        author=author,
        written_at=time.time_ns(),
    )
    write_rows(spool, [row])
    return queue


def _read(name: str, definition: str) -> Queue:
    """A saved queue; what this version does not know of it is left out."""
    said: dict[str, Any] = json.loads(definition)
    known = {one.name for one in fields(Queue)} - {"name"}
    values = {key: value for key, value in said.items() if key in known}
    values["stop_reasons"] = tuple(values.get("stop_reasons", ()))
    return Queue(name, **values)


def _parameters(queue: Queue, author: str) -> dict[str, object]:
    bounds = window(queue.since or None, queue.until or None)
    return {
        "project": queue.project,
        "agent": queue.agent,
        "odd": queue.odd,
        "reasons": list(queue.stop_reasons),
        "since": as_parameter(bounds.since),
        "until": as_parameter(bounds.until),
        "sample": queue.sample,
        "seed": queue.seed,
        "each": queue.each,
        "author": author,
    }
