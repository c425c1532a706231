"""Judgments, as the export reads them: those that hold, by what they are about."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.training.wanted import Filters, Judged

PAGE: Final = 200_000
"""Judgments that are read at once."""

_MADE: Final = """
CREATE TABLE judgment (
    project TEXT, subject_kind TEXT, subject_id TEXT, kind TEXT, outcome TEXT,
    training_flag INTEGER, score REAL, author TEXT, chosen_id TEXT, rejected_id TEXT,
    annotation_id TEXT);
"""
_INDEXED: Final = """
CREATE INDEX about ON judgment (subject_id, subject_kind, project);
CREATE INDEX chosen ON judgment (chosen_id, project) WHERE kind = 'preference';
CREATE INDEX rejected ON judgment (rejected_id, project) WHERE kind = 'preference';
"""


def pages(store: Store, filters: Filters) -> int:
    """In how many pieces judgments are read."""
    counted = store.query(
        "SELECT count() FROM annotation WHERE ({only:String} = '' OR project = {only:String})",
        {"only": filters.project},
        {"final": 0},
    )
    return 1 + int(counted.rows[0][0]) // PAGE


def load(store: Store, filters: Filters, work: sqlite3.Connection, number: int) -> None:
    """Copy the judgments that hold into a working table, in so many pieces."""
    work.executescript(_MADE)
    of_project = "({only:String} = '' OR project = {only:String})"
    for page in range(number):
        rows = store.query(
            "SELECT project, subject_kind, subject_id, kind, outcome, training_flag, score,"
            " author, chosen_id, rejected_id, annotation_id FROM annotation_current"
            f" WHERE {of_project} AND cityHash64(subject_id) % {{pages:UInt64}} = {{page:UInt64}}"
            " AND (kind IN ('outcome', 'training_flag', 'score', 'preference')"
            " OR startsWith(kind, 'evaluation:'))"
            " AND (empty({authors:Array(String)}) OR author IN {authors:Array(String)})",
            {
                "only": filters.project,
                "pages": number,
                "page": page,
                "authors": list(filters.authors),
            },
        ).rows
        work.executemany(f"INSERT INTO judgment VALUES ({', '.join('?' * 11)})", rows)
    work.executescript(_INDEXED)


def of(
    work: sqlite3.Connection, project: str, subjects: Sequence[tuple[str, str]]
) -> dict[str, Judged]:
    """What holds of a record by kind of judgment. ``subjects`` are the record and what it is part
    of, the nearest first: a turn's own score counts, not that of its session."""
    found: dict[str, Judged] = {}
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
                kind, Judged(kind, subject_kind, subject_id, outcome, flag, score, author)
            )
    return found


def scores_of(
    work: sqlite3.Connection, project: str, subjects: Sequence[tuple[str, str]]
) -> list[Judged]:
    """Every score of some records, of one kind as well."""
    found: list[Judged] = []
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
