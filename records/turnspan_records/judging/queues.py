"""Queues: which turns are to be judged, and in which order. Some come with Turnspan; any may be
saved under a name, for everybody who reads the store."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timezone
from typing import Any, Final

from turnspan_clickhouse.rows.tables import ReviewQueue
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.row_writer import write_rows
from turnspan_records.access.window import window
from turnspan_records.judging.history import judgments, settles
from turnspan_records.judging.unlanded import NOTHING, Unlanded
from turnspan_records.lookup import RecordRef
from turnspan_records.sql import statement

ORDERS: Final[Mapping[str, str]] = {
    "oldest": "start_time, turn_id",
    "newest": "start_time DESC, turn_id",
    "dearest": "cost DESC, start_time, turn_id",
    "random": "cityHash64({seed:UInt64}, turn_id), turn_id",
}
"""What SQL makes of the order of a queue."""


@dataclass(frozen=True, slots=True)
class Queue:
    """Ended root turns that a person judges one by one.

    A turn is judged once a person gave it an outcome other than ``pending``, a training flag other
    than 0, or a score, and did not withdraw it."""

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
    """The number of turns in a queue, and how many are not judged yet."""

    total: int
    left: int


@dataclass(slots=True)
class Summary:
    """What a reviewer has said in a queue, and how far that agrees with the passive signal."""

    outcomes: dict[str, int] = field(default_factory=dict[str, int])
    """Turns by outcome."""
    flags: dict[str, int] = field(default_factory=dict[str, int])
    """Turns by training flag."""
    scores: int = 0
    mean_score: float | None = None
    both: int = 0
    """Turns that have an outcome of both, ``alike`` of them the same one."""
    alike: int = 0


JUDGED: Final = statement("judging/_judged")
"""What a person has judged, by project and turn: anybody, or with ``each`` the ``author``."""


def waiting(
    store: Store, queue: Queue, author: str, *, limit: int = 100, also: Unlanded = NOTHING
) -> list[RecordRef]:
    """The next turns of a queue for ``author`` to judge, in the queue's order. ``also`` is what
    waits in the spool, read before.

    Raises:
        ValueError: the queue's order or window is not valid.
        StoreError: as ``Store.query``.
    """
    order = ORDERS.get(queue.order)
    if order is None:
        raise ValueError(f"order is one of {', '.join(ORDERS)}: not {queue.order!r}")
    result = store.query(
        statement("judging/waiting", source=_source(queue), order=order),
        {**_parameters(queue, author), **_since(store, queue, author, also), "limit": limit},
    )
    return [
        RecordRef("turn", str(turn), str(project), str(session), str(trace), str(turn))
        for project, turn, session, trace in result.rows
    ]


def progress(store: Store, queue: Queue, author: str, *, also: Unlanded = NOTHING) -> Progress:
    """The number of turns in a queue, and of those that ``author`` has not judged.

    Raises as ``waiting``."""
    result = store.query(
        statement("judging/progress", source=_source(queue)),
        {**_parameters(queue, author), **_since(store, queue, author, also)},
    )
    total, left = result.rows[0]
    return Progress(int(total), int(left))


def summary(store: Store, queue: Queue, author: str) -> Summary:
    """What ``author`` has said of the turns of a queue. Raises as ``waiting``."""
    source, parameters = _source(queue), _parameters(queue, author)
    made = Summary()
    figures = store.query(statement("judging/own_figures", source=source), parameters)
    for kind, outcome, flag, number, mean in figures.rows:
        if kind == "outcome":
            made.outcomes[str(outcome)] = int(number)
        elif kind == "training_flag":
            made.flags[str(flag)] = int(number)
        else:
            made.scores, made.mean_score = int(number), float(mean)
    alike = store.query(statement("judging/agreement", source=source), parameters)
    made.both, made.alike = map(int, alike.rows[0])
    return made


def queues(store: Store) -> dict[str, Queue]:
    """The queues by name: the built-in ones and the saved ones.

    Raises ``StoreError`` as ``Store.query``."""
    rows = store.query(statement("judging/queues")).rows
    saved = {str(name): _read(str(name), str(definition)) for name, definition in rows}
    return {**BUILT_IN, **saved}


def chosen_queue(store: Store, name: str, given: Mapping[str, Any]) -> Queue:
    """The queue of a name, of none the first; with what is given instead of its own.

    Raises:
        ValueError: there is no such queue, or its window is none.
        StoreError: as ``Store.query``.
    """
    known = queues(store)
    queue = known.get(name or next(iter(known)))
    if queue is None:
        raise ValueError(f"There is no queue {name!r}, but {', '.join(known)}.")
    queue = replace(queue, **given)
    window(queue.since or None, queue.until or None)
    return queue


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


def _since(store: Store, queue: Queue, author: str, also: Unlanded) -> dict[str, list[str]]:
    """What the judgments that wait say of the queue's turns: which are done, which are not any
    more."""
    told = [(*_turn(row), row) for row in also.judgments if row["subject_kind"] == "turn"]
    taken = {_turn(row) for row in also.withdrawals if row["subject_kind"] == "turn"}
    done = {
        (project, id_)
        for project, id_, row in told
        if (project, id_) not in taken
        and settles(row)
        and (not queue.each or row["author"] == author)
    }
    again: set[tuple[str, str]] = set()
    for project, id_ in taken:
        each = judgments(store, project, "turn", id_, also=also)
        settled = any(one.settles and (not queue.each or one.author == author) for one in each)
        (done if settled else again).add((project, id_))
    return {"done": sorted(map(_key, done)), "again": sorted(map(_key, again))}


def _turn(row: Mapping[str, Any]) -> tuple[str, str]:
    return str(row["project"]), str(row["subject_id"])


def _key(turn: tuple[str, str]) -> str:
    """As ``judging/_key.sql``."""
    return f"{len(turn[0].encode())}:{turn[0]}{turn[1]}"


def _source(queue: Queue) -> str:
    return statement("judging/sampled" if queue.sample else "judging/_matching")


def _parameters(queue: Queue, author: str) -> dict[str, object]:
    bounds = window(queue.since or None, queue.until or None)
    return {
        "project": queue.project,
        "agent": queue.agent,
        "odd": queue.odd,
        "reasons": list(queue.stop_reasons),
        **bounds.parameters,
        "sample": queue.sample,
        "seed": queue.seed,
        "each": queue.each,
        "author": author,
    }
