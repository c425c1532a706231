"""Archiving what a pass has marked: the rows, and the contents that they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from turnspan_clickhouse.rows.tables import RECORDS, Record, TurnSummary
from turnspan_clickhouse.store.migrations import store_id
from turnspan_records.keeping import registry
from turnspan_records.keeping.archives import Archive, ArchiveWriter, Manifest, writing
from turnspan_records.keeping.deciding import ARCHIVED, TURN
from turnspan_records.keeping.errors import ArchiveError
from turnspan_records.keeping.keys import row_key
from turnspan_records.keeping.reading import lines_of
from turnspan_records.keeping.references import CONTENT_KEY, CONTENTS, REFERENCES, named
from turnspan_records.keeping.work import Progress, Work

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
            done += _write(work, writer, record, source, where, rows)
            progress("archiving", min(done, total), total)
    return Archive(path).manifest


def _write(
    work: Work, writer: ArchiveWriter, record: type[Record], source: str, where: str, rows: int
) -> int:
    """Write the rows of one condition; returns how many there were."""
    written = 0
    for lines in lines_of(work.store, record, source, where, {}, rows):
        writer.add(record.table, lines)
        written += len(lines)
    if written != rows:
        raise ArchiveError(
            f"The archive got {written:,} of {rows:,} rows of {record.table}: they changed while "
            "it was written. Nothing was deleted; run it again."
        )
    return written


def _wanted(work: Work) -> Iterator[tuple[type[Record], str, str, int]]:
    """Records, newest versions only, with the conditions under which they are archived and how many
    there are."""
    for record in RECORDS:
        source = f"{work.tables.held(record)} AS r FINAL"
        for where in _conditions(work, record):
            found = work.store.query(
                f"SELECT count() FROM {source} WHERE {where}", None, {"final": 0}
            )
            if rows := int(found.rows[0][0]):
                yield record, source, where, rows


def _conditions(work: Work, record: type[Record]) -> Iterator[str]:
    if record is TurnSummary:
        yield f"{TURN} GLOBAL IN ({work.keys('turn', _OF_REASON)})"
        return
    for table, kind in CONTENTS.items():
        if kind is record:
            refs = [
                named(one, work.tables.held(one.record), _rows(work, one.record))
                for one in REFERENCES
                if one.to == table
            ]
            yield f"{CONTENT_KEY[table]} GLOBAL IN ({' UNION ALL '.join(refs)})"
            return
    for condition, _ in work.slices(record, ARCHIVED):
        yield condition


def _rows(work: Work, record: type[Record]) -> str:
    return f"{row_key(record)} GLOBAL IN ({work.keys(record.table, _OF_REASON)})"
