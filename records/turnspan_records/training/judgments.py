"""Judgments, as the export reads them: those that hold, by what they are about."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.sql import statement
from turnspan_records.training.export_request import Filters, JudgmentInForce

PAGE: Final = 200_000
"""Judgments that are read at once."""

_INSIDE: Final = "subject_kind IN ('tool', 'span')"
"""What is a part of a turn, and of nothing else that an export reads."""


def load(store: Store, filters: Filters, work: sqlite3.Connection, number: int) -> None:
    """Copy the judgments that hold into a working table, in so many pieces: of those of the authors
    that are asked for, the newest; and what anybody flagged -1 and did not take back."""
    given: dict[str, object] = {"only": filters.project, "pages": number}
    for page in range(number):
        held: set[tuple[object, ...]] = set()
        for row in store.query(
            statement("training/newest_judgments"), {**given, "page": page}
        ).rows:
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
            sql = statement("training/turns_of_parts", table=table)
            for project, span_id, turn_id in store.query(sql).rows:
                if flagged_out(work, project, [(kind, span_id) for kind in ("tool", "span")]):
                    _flag(work, project, "turn", turn_id)


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
        about = (subject_id, subject_kind, project)
        rows = work.execute(statement("training/in_force"), about)
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
    sql = statement("training/preferences_of")
    return work.execute(sql, (project, artifact_id)).fetchall()


def preferences(work: sqlite3.Connection) -> Iterator[tuple[str, str, str, str, str]]:
    """Project, kind of subject, chosen and rejected id and author of every preference."""
    yield from work.execute(statement("training/preferences"))
