"""Contents that nothing refers to: definitions and messages of which the last row has gone.

``mark_unreferenced`` decides, over everything that is marked already; ``Work.delete`` acts; and
``violations`` proves afterwards that nothing which stayed refers to what went, and that nothing was
left behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from turnspan_clickhouse.rows.record import Record
from turnspan_clickhouse.rows.tables import LlmCall, TurnSummary
from turnspan_records.keeping.keys import row_key
from turnspan_records.keeping.references import CONTENT_KEY, CONTENTS, SCOPE, ContentTable, named
from turnspan_records.keeping.work import Work
from turnspan_records.sql import statement

UNREFERENCED: Final = "'unreferenced'"
_PIECE: Final = 4_000_000
"""Contents whose keys the server holds at once: about 200 MB."""
_SLICED_BY: Final[dict[ContentTable, str]] = {
    "definition": "cityHash64(hash)",
    "message": "cityHash64(scope)",
}


@dataclass(frozen=True, slots=True)
class ZeroCheck:
    """One question whose answer must be 0, as a sentence, and the answer."""

    what: str
    count: int


def mark_unreferenced(work: Work, days: float = 0.0) -> None:
    """Mark the contents that no row refers to but those that are marked.

    What came in the last ``days`` before the pass began stays, and so do the messages of sessions
    that were at work in them: a process sends a text once, and names it by its hash for as long as
    it lives.
    """
    for table, record in CONTENTS.items():
        for condition, parameters in _unreferenced(work, table, days, leaving=True):
            work.mark(record, condition, parameters, reason=UNREFERENCED)
        marked = f"{row_key(record)} GLOBAL IN ({work.keys(table)})"
        work.put(_gone(table), "toDate(0)", CONTENT_KEY[table], work.tables.held(record), marked)


def violations(work: Work, days: float = 0.0) -> list[ZeroCheck]:
    """What a pass that has deleted its rows must not have left; every answer must be 0."""
    weeks = work.weeks()
    checks = [
        ZeroCheck(f"rows of {record.table} that were to go", work.left(record, weeks))
        for record in dict.fromkeys(one.record for one in work.counts())
    ]
    for table in CONTENTS:
        refer, unused = _references_to_marked(work, table), unreferenced(work, table, days)
        checks.append(ZeroCheck(f"rows that refer to a {table} that went", refer))
        checks.append(ZeroCheck(f"{table}s that nothing refers to", unused))
    return checks


def unreferenced(work: Work, table: ContentTable, days: float = 0.0) -> int:
    """How many contents nothing refers to, marked or not."""
    held = work.tables.held(CONTENTS[table])
    return sum(
        work.number(
            f"SELECT uniqExact({CONTENT_KEY[table]}) FROM {held} AS r WHERE {condition}", parameters
        )
        for condition, parameters in _unreferenced(work, table, days, leaving=False)
    )


def _references_to_marked(work: Work, table: ContentTable) -> int:
    """How many references there are to contents that this pass deleted and that are not back."""
    sql = statement(
        "keeping/references_to_gone",
        keys=named(table, work.tables.everywhere),
        content=CONTENT_KEY[table],
        gone=work.keys(_gone(table)),
        contents=work.tables.everywhere(CONTENTS[table]),
    )
    return work.number(sql)


def _unreferenced(
    work: Work, table: ContentTable, days: float, *, leaving: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Conditions on a table of contents; ``leaving``: marked rows refer to nothing any more."""
    held = work.tables.held(CONTENTS[table])
    number = 1 + work.number(f"SELECT count() FROM {held}") // _PIECE
    since = round((work.began - days * 86_400) * 1e9)
    parameters: dict[str, Any] = {"since": since}
    old = "written_at < fromUnixTimestamp64Nano({since:Int64}, 'UTC')"
    if table == "message" and days > 0:
        old += f" AND (project, scope) GLOBAL NOT IN ({_active(work)})"
    for place in range(number):
        part = f"modulo({_SLICED_BY[table]}, {number}) = {place}"
        staying = partial(_staying, work, leaving)
        wanted = named(table, work.tables.everywhere, staying, part)
        yield f"{part} AND {old} AND {CONTENT_KEY[table]} GLOBAL NOT IN ({wanted})", parameters


def _staying(work: Work, leaving: bool, record: type[Record]) -> str:
    """A condition on the rows of a table that are not marked."""
    return f"{row_key(record)} GLOBAL NOT IN ({work.keys(record.table)})" if leaving else "1"


def _active(work: Work) -> str:
    """The scopes in which something has begun in the last days."""
    return " UNION ALL ".join(
        f"SELECT project, {SCOPE} FROM {work.tables.everywhere(record)}"
        " WHERE start_time > fromUnixTimestamp64Nano({since:Int64}, 'UTC')"
        for record in (LlmCall, TurnSummary)
    )


def _gone(table: ContentTable) -> str:
    """The unit under which the contents of a table are marked that go, whatever their version."""
    return f"{table}:gone"
