"""Judgments, as the export reads them: those that hold, by what they are about."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.judging.history import NOT_WITHDRAWN
from turnspan_records.training.export_request import Filters, JudgmentInForce

PAGE: Final = 200_000
"""Judgments that are read at once."""

_MADE: Final = """
CREATE TABLE judgment (
    project TEXT, subject_kind TEXT, subject_id TEXT, kind TEXT, outcome TEXT,
    training_flag INTEGER, score REAL, author TEXT, chosen_id TEXT, rejected_id TEXT,
    annotation_id TEXT);
CREATE TABLE flagged_out (
    project TEXT, subject_id TEXT, subject_kind TEXT,
    PRIMARY KEY (project, subject_id, subject_kind)) WITHOUT ROWID;
"""
_INDEXED: Final = """
CREATE INDEX about ON judgment (subject_id, subject_kind, project);
CREATE INDEX chosen ON judgment (chosen_id, project) WHERE kind = 'preference';
CREATE INDEX rejected ON judgment (rejected_id, project) WHERE kind = 'preference';
"""

_PAIR: Final = "[least(chosen_id, rejected_id), greatest(chosen_id, rejected_id)]"
_NEWEST: Final = f"""
SELECT project, if(subject_kind = 'llm_call', 'call', subject_kind), subject_id, kind, outcome,
    training_flag, score, author, chosen_id, rejected_id, annotation_id
FROM annotation
WHERE ({{only:String}} = '' OR project = {{only:String}})
    AND cityHash64(if(kind = 'preference', {_PAIR}[1], subject_id)) % {{pages:UInt64}}
        = {{page:UInt64}}
    AND (kind IN ('outcome', 'training_flag', 'score', 'preference')
        OR startsWith(kind, 'evaluation:'))
    AND {NOT_WITHDRAWN}
ORDER BY
    startsWith(author, 'passive:') OR startsWith(source, 'machine'),
    created_at DESC, written_at DESC, annotation_id DESC
LIMIT 1 BY
    project, subject_kind, kind, author, if(kind = 'preference', {_PAIR}, [subject_id])
"""
"""What each author said last, in the order in which ``annotation_current`` prefers it."""
_INSIDE: Final = "subject_kind IN ('tool', 'span')"
"""What is a part of a turn, and of nothing else that an export reads."""
_TURNS_OF: Final = (
    "SELECT project, span_id, turn_id FROM {table} WHERE turn_id != '' AND span_id IN"
    f" (SELECT subject_id FROM annotation WHERE {_INSIDE}"
    " AND kind = 'training_flag' AND training_flag = -1)"
)


def pages(store: Store, filters: Filters) -> int:
    """In how many pieces judgments are read."""
    counted = store.query(
        "SELECT count() FROM annotation WHERE ({only:String} = '' OR project = {only:String})",
        {"only": filters.project},
        {"final": 0},
    )
    return 1 + int(counted.rows[0][0]) // PAGE


def load(store: Store, filters: Filters, work: sqlite3.Connection, number: int) -> None:
    """Copy the judgments that hold into a working table, in so many pieces: of those of the authors
    that are asked for, the newest; and what anybody flagged -1 and did not take back."""
    work.executescript(_MADE)
    given: dict[str, object] = {"only": filters.project, "pages": number}
    for page in range(number):
        held: set[tuple[object, ...]] = set()
        for row in store.query(_NEWEST, {**given, "page": page}).rows:
            project, subject_kind, subject_id, kind, _, flag, _, author, *pair, _ = row
            if flag == -1:
                _flag(work, project, subject_kind, subject_id)
            # Both directions of a preference are one thing.
            about = frozenset(pair) if kind == "preference" else subject_id
            if filters.authors and author not in filters.authors:
                continue
            if (key := (project, subject_kind, kind, about)) not in held:
                held.add(key)
                work.execute(f"INSERT INTO judgment VALUES ({', '.join('?' * 11)})", row)
    if work.execute(f"SELECT 1 FROM flagged_out WHERE {_INSIDE} LIMIT 1").fetchone():
        for table in ("tool_call", "span"):
            for project, span_id, turn_id in store.query(_TURNS_OF.format(table=table)).rows:
                if flagged_out(work, project, [(kind, span_id) for kind in ("tool", "span")]):
                    _flag(work, project, "turn", turn_id)
    work.executescript(_INDEXED)


def _flag(work: sqlite3.Connection, project: str, subject_kind: str, subject_id: str) -> None:
    work.execute(
        "INSERT OR IGNORE INTO flagged_out VALUES (?, ?, ?)", (project, subject_id, subject_kind)
    )


def flagged_out(
    work: sqlite3.Connection, project: str, subjects: Iterable[tuple[str, str]]
) -> bool:
    """Whether anybody said of one of these that it is to be left out."""
    asked = "SELECT 1 FROM flagged_out WHERE project = ? AND subject_id = ? AND subject_kind = ?"
    return any(
        work.execute(asked, (project, subject_id, subject_kind)).fetchone()
        for subject_kind, subject_id in subjects
    )


def of(
    work: sqlite3.Connection, project: str, subjects: Sequence[tuple[str, str]]
) -> dict[str, JudgmentInForce]:
    """What holds of a record by kind of judgment. ``subjects`` are the record and what it is part
    of, the nearest first: a turn's own score counts, not that of its session."""
    found: dict[str, JudgmentInForce] = {}
    for subject_kind, subject_id in subjects:
        if not subject_id:
            continue
        rows = work.execute(
            "SELECT kind, outcome, training_flag, score, author FROM judgment"
            " WHERE subject_id = ? AND subject_kind = ? AND project = ? AND kind != 'preference'"
            " ORDER BY kind",
            (subject_id, subject_kind, project),
        )
        for kind, outcome, flag, score, author in rows:
            found.setdefault(
                kind, JudgmentInForce(kind, subject_kind, subject_id, outcome, flag, score, author)
            )
    return found


def scores_of(
    work: sqlite3.Connection, project: str, subjects: Sequence[tuple[str, str]]
) -> list[JudgmentInForce]:
    """Every score of some records, of one kind as well."""
    found: list[JudgmentInForce] = []
    for subject_kind, subject_id in subjects:
        judged = of(work, project, [(subject_kind, subject_id)])
        found += [said for said in judged.values() if said.score is not None]
    return found


def preferences_of(
    work: sqlite3.Connection, project: str, artifact_id: str
) -> list[tuple[str, str, str]]:
    """Chosen and rejected id and author of the preferences that an artifact is part of."""
    return work.execute(
        "SELECT chosen_id, rejected_id, author FROM judgment"
        " WHERE kind = 'preference' AND subject_kind = 'artifact' AND project = ?1"
        " AND (chosen_id = ?2 OR rejected_id = ?2) ORDER BY chosen_id, rejected_id",
        (project, artifact_id),
    ).fetchall()


def preferences(work: sqlite3.Connection) -> Iterator[tuple[str, str, str, str, str]]:
    """Project, kind of subject, chosen and rejected id and author of every preference."""
    yield from work.execute(
        "SELECT project, subject_kind, chosen_id, rejected_id, author FROM judgment"
        " WHERE kind = 'preference' ORDER BY project, subject_kind, chosen_id, rejected_id,"
        " annotation_id"
    )
