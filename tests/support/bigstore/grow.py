"""Many sessions out of few: every landed session copied under new ids, at its own time.

Copy n of a session begins at a random moment of the n-th slice of DAYS days. Texts, tokens, tools,
stop reasons and the order of events are the real ones. Times within a session and durations are
stretched: the runs were played against a model server that answers at once.
"""

from __future__ import annotations

from turnspan_clickhouse.rows.tables import RECORDS, Definition, Record, columns
from turnspan_clickhouse.store.client import Store

DAYS = 60
BEGIN = "toDateTime64('2026-09-20 00:00:00', 9, 'UTC')"
STRETCH = 300
"""A played call takes about 25 ms; a real one some seconds."""
BATCH = 8
"""Copies an insert."""


def new_session(old: str) -> str:
    """A session's id in copy ``copy``, as random as a UUID."""
    return f"lower(hex(sipHash128(copy, {old})))"


def new_id(old: str) -> str:
    """A span's or turn's id in copy ``copy``."""
    return f"if({old} = '', '', lower(hex(sipHash64(copy, {old}))))"


def new_trace(old: str) -> str:
    """A trace's id in copy ``copy``."""
    return f"if({old} = '', '', lower(hex(sipHash128(copy, {old}))))"


def new_time(old: str, session: str) -> str:
    """A moment of a session in copy ``copy`` of ``copies``; ``first`` is when it began."""
    return (
        f"{BEGIN} + toIntervalNanosecond(intDiv({DAYS} * 86400000000000, copies) * copy"
        f" + sipHash64(copy, {session}) % intDiv({DAYS} * 86400000000000, copies)"
        f" + {STRETCH} * (toUnixTimestamp64Nano({old}) - toUnixTimestamp64Nano(first)))"
    )


def _changed(session: str) -> dict[str, str]:
    ids = ("turn_id", "parent_turn_id", "span_id", "parent_span_id", "assembly_id")
    times = ("start_time", "first_seen", "written_at")
    return {
        session: new_session(session),
        **{name: new_id(name) for name in ids},
        **{name: new_time(name, session) for name in times},
        "trace_id": new_trace("trace_id"),
        "response_id": f"concat('chatcmpl-', {new_id('response_id')})",
        "duration": f"duration * {STRETCH}",
        "time_to_first_chunk": f"time_to_first_chunk * {STRETCH}",
    }


def grow(store: Store, real: str, copies: int, wanted: range | None = None) -> None:
    """Fill the store's record tables with ``copies`` copies (or some of them) of ``real``'s."""
    for record in RECORDS:
        if record is Definition:
            store.command(f"INSERT INTO definition SELECT * FROM {real}.definition")
        elif {"session_id", "scope"} & {name for name, _ in columns(record)}:
            chosen = list(wanted or range(copies))
            for at in range(0, len(chosen), BATCH):
                store.command(_insert(record, real, copies, chosen[at : at + BATCH]))


def _insert(record: type[Record], real: str, copies: int, chosen: list[int]) -> str:
    names = [name for name, _ in columns(record)]
    session = "scope" if "scope" in names else "session_id"
    changed = _changed(session)
    values = ", ".join(changed.get(name, name) for name in names)
    return (
        f"INSERT INTO {record.table} ({', '.join(names)})"
        f" WITH toUInt64({copies}) AS copies SELECT {values}"
        f" FROM (SELECT * FROM {real}.{record.table} FINAL) AS r"
        f" INNER JOIN {beginnings(real)} AS b ON b.begun = r.{session}"
        f" CROSS JOIN (SELECT arrayJoin({chosen}) AS copy) AS c"
        " SETTINGS max_block_size = 8192, max_threads = 2"
    )


JUDGED = (
    ("turn", "turn_id", "turn_summary", "start_time", 20, "['outcome', 'training_flag']"),
    ("llm_call", "span_id", "llm_call", "start_time", 100, "['score']"),
    ("turn", "lower(hex(sipHash64(span_id)))", "llm_call", "start_time", 50_000, "['outcome']"),
)
"""What is judged, by which id, of which table, one in how many; the last never landed."""


def judge(store: Store) -> None:
    """Judgments on a twentieth of the turns and a hundredth of the calls, and some astray."""
    for subject, id_, table, time, every, kinds in JUDGED:
        store.command(
            "INSERT INTO annotation (project, subject_kind, subject_id, kind, annotation_id,"
            " outcome, training_flag, score, author, source, created_at, written_at)"
            f" SELECT project, '{subject}', {id_} AS judged, kind,"
            " lower(hex(sipHash128(judged, kind))),"
            " if(kind = 'outcome', ['used', 'modified', 'rejected'][1 + sipHash64(judged) % 3],"
            " ''),"
            " if(kind = 'training_flag', toInt8(sipHash64(judged) % 2) * 2 - 1, NULL),"
            " if(kind = 'score', sipHash64(judged) % 10 + 1, NULL),"
            f" 'bench', 'human', {time} + INTERVAL 1 HOUR, {time} + INTERVAL 1 HOUR"
            f" FROM {table} ARRAY JOIN {kinds} AS kind WHERE sipHash64(span_id) % {every} = 0"
        )


def beginnings(real: str) -> str:
    """A subquery: every session that was recorded, and when it began."""
    return (
        "(SELECT session_id AS begun, min(start_time) AS first"
        f" FROM {real}.span GROUP BY session_id)"
    )
