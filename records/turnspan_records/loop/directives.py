"""What people say of lineages from outside the application: into the spool, whence it lands.

An agent that is improved in cycles reads it before the next one: ``lineage_current``, or
``turnspan_records.loop.lineages.experiment``.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from turnspan import config
from turnspan.redaction.redactor import Redactor
from turnspan_clickhouse.rows.loop_tables import LineageEventRow
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.questions import ask
from turnspan_records.access.row_writer import write_rows
from turnspan_records.lookup import RecordRef
from turnspan_records.sql import statement

Word: TypeAlias = Literal["directive", "once", "locked", "unlocked", "evolve"]
"""What is said: what is to be done differently in every cycle from now on (nothing: as before), or
in the next one; that it stays as it is, or may be evolved again; that a cycle was judged, and its
next version may be made."""

LONGEST: Final = 20_000
"""Characters of a directive or a reason."""

_OF: Final = {
    "turn": ("turn_summary", "turn_id"),
    "call": ("llm_call", "span_id"),
    "attempt": ("attempt", "attempt_id"),
    "rollout": ("rollout", "rollout_id"),
    "artifact": ("artifact", "artifact_id"),
}


@dataclass(slots=True)
class LineageNow:
    """A lineage, and what holds of it now."""

    project: str
    id: str
    label: str = ""
    directive: str = ""
    once: tuple[str, ...] = ()
    """What was said for the next cycle."""
    locked: bool = False
    evolve: bool = False
    """Whether its next version was asked for, after its last rollout began."""


def lines_of(store: Store, found: Sequence[RecordRef]) -> list[LineageNow | None]:
    """The lineages that these records are of, or that they are; ``None`` for one of no lineage.

    Raises ``StoreError`` as ``Store.query``.
    """
    ids = [(one.project, _lineage_id(store, one)) for one in found]
    known: dict[tuple[str, str], LineageNow] = {}
    for project in dict.fromkeys(of for of, id_ in ids if id_):
        wanted = sorted({id_ for of, id_ in ids if of == project and id_})
        for row in ask(store, "lineages/current", project=project, ids=wanted).dicts():
            id_ = str(row["lineage_id"])
            known[project, id_] = of_row(LineageNow, row, project=project, id=id_)
    return [(known.get((of, id_)) or LineageNow(of, id_)) if id_ else None for of, id_ in ids]


def steer(
    spool: Spool,
    lineages: Collection[tuple[str, str]],
    word: Word,
    text: str = "",
    *,
    author: str,
    id: str,
) -> int:
    """Say one thing of lineages, by project and id; on disk when this returns. ``text`` is the
    directive, or the reason. ``id`` is its own: said again with it, it is the same word. Returns of
    how many lineages it was said.

    Raises:
        ValueError: there is no such word, or its text is missing or too long.
        SpoolError: the spool cannot be written.
    """
    if word not in get_args(Word):
        raise ValueError(f"a lineage takes {', '.join(get_args(Word))}: not {word!r}")
    if word == "once" and not text.strip():
        raise ValueError("write what to do differently in the next cycle")
    if len(text) > LONGEST:
        raise ValueError(f"{LONGEST:,} characters are the most, not {len(text):,}")
    redactor, now = Redactor(config.active()), time.time_ns()
    return write_rows(
        spool,
        [
            LineageEventRow(
                project=project,
                lineage_id=lineage,
                kind=word,
                event_id=id,
                text=redactor.text(text, f"lineage:{word}"),
                author=redactor.text(author, "lineage:author"),
                created_at=now,
                written_at=now,
            )
            for project, lineage in dict.fromkeys(lineages)
        ],
    )


def _lineage_id(store: Store, found: RecordRef) -> str:
    if found.kind == "lineage":
        return found.id
    if found.kind not in _OF:
        return ""
    table, column = _OF[found.kind]
    sql = statement("lineages/lineage_of", table=table, column=column)
    rows = store.query(sql, {"project": found.project, "id": found.id}).rows
    return str(rows[0][0]) if rows else ""
