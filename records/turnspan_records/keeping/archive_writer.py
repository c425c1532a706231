"""Archiving what a pass has marked: the rows, and the contents that they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from turnspan_clickhouse.rows.loop_tables import ArtifactRow
from turnspan_clickhouse.rows.tables import (
    RECORDS,
    Annotation,
    LlmCall,
    Record,
    SpanRow,
    ToolCall,
    TurnSummary,
    Withdrawal,
)
from turnspan_clickhouse.store.migrations import store_id
from turnspan_records.access import copies_registry as registry
from turnspan_records.keeping.archives import Archive, Manifest, writing
from turnspan_records.keeping.deletion_plan import ARCHIVED, TURN
from turnspan_records.keeping.errors import ArchiveError
from turnspan_records.keeping.keys import row_key
from turnspan_records.keeping.lines import lines_of
from turnspan_records.keeping.references import CONTENT_KEY, CONTENTS, named
from turnspan_records.keeping.work import Progress, Weeks, Work

JUDGMENTS: Final = (Annotation, Withdrawal)
_SUBJECTS: Final[Mapping[type[Record], str]] = {
    TurnSummary: "turn_id, session_id, attempt_id",
    LlmCall: "span_id, turn_id, session_id, attempt_id, consortium_id",
    ToolCall: "span_id",
    SpanRow: "span_id",
    ArtifactRow: "artifact_id",
}
_OF_REASON: Final = f"reason = '{ARCHIVED}'"


def archive(work: Work, path: Path, about: Mapping[str, Any], progress: Progress) -> Manifest:
    """Write and verify the archive of what is marked as archived, and have its folder known. One
    that is there already, since a pass was cut short after it, is verified again.

    Raises:
        ArchiveError: it could not be written, or read back as it was written.
        StoreError: as ``Store.query``.
    """
    registry.register("archive", path, store_id(work.store))
    if path.exists():
        found = Archive(path)
        found.verify(progress)
        return found.manifest
    wanted = list(_wanted(work))
    total = sum(rows for *_, rows in wanted)
    done = 0
    with writing(path, about, progress=progress) as writer:
        for record, source, where, rows in wanted:
            written = 0
            for lines in lines_of(work.store, record, source, where, {}, rows):
                writer.add(record.table, lines)
                written += len(lines)
            if written != rows:
                raise ArchiveError(
                    f"The archive got {written:,} of {rows:,} rows of {record.table}: they changed "
                    "while it was written. Nothing was deleted; run it again."
                )
            done += written
            progress("archiving", min(done, total), total)
    return Archive(path).manifest


def _wanted(work: Work) -> Iterator[tuple[type[Record], str, str, int]]:
    """Records, newest versions only, with the conditions under which they are archived and how many
    there are."""
    weeks = work.weeks(ARCHIVED)
    for record in RECORDS:
        # A judgment may lie on another node than what it is of.
        tables = work.tables
        held = tables.everywhere(record) if record in JUDGMENTS else tables.held(record)
        source = f"{held} AS r FINAL"
        for where in _conditions(work, record, weeks):
            if rows := work.number(f"SELECT count() FROM {source} WHERE {where}"):
                yield record, source, where, rows


def _conditions(work: Work, record: type[Record], weeks: Weeks) -> Iterator[str]:
    if record is TurnSummary:
        yield f"{TURN} GLOBAL IN ({work.keys('turn', _OF_REASON)})"
        return
    for table, kind in CONTENTS.items():
        if kind is record:
            refs = named(table, work.tables.held, partial(_rows, work))
            yield f"{CONTENT_KEY[table]} GLOBAL IN ({refs})"
            return
    if record in JUDGMENTS:
        compared = ["subject_id"] if record is Withdrawal else ["subject_id", "rejected_id"]
        judged = " UNION ALL ".join(_judged(work))
        yield " OR ".join(f"(project, {one}) GLOBAL IN ({judged})" for one in compared)
        return
    for condition, _ in work.slices(record, weeks, ARCHIVED):
        yield condition


def _judged(work: Work) -> Iterator[str]:
    """Queries of what is archived and may have been judged: project and id. Its judgments stay in
    the store as well: those in the archive are for another store."""
    for record, ids in _SUBJECTS.items():
        turn = f"{TURN} GLOBAL IN ({work.keys('turn', _OF_REASON)})"
        where = turn if record is TurnSummary else _rows(work, record)
        yield (
            f"SELECT project, arrayJoin([{ids}]) AS id FROM {work.tables.held(record)}"
            f" WHERE {where} AND id != ''"
        )


def _rows(work: Work, record: type[Record]) -> str:
    return f"{row_key(record)} GLOBAL IN ({work.keys(record.table, _OF_REASON)})"
