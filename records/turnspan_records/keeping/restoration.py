"""``restore``: the records of an archive back into a store, as they were.

They are inserted directly, not through the spool: an archive may be larger than a spool is allowed
to be, and would push waiting records out of it. A writer that may only insert is enough. Rows keep
their ``written_at``, so one that is there already is the same row once more, which readers see once
and merges make one; a deduplication token that stayed the same could not bring rows back that were
pruned again after an earlier restore.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from turnspan_clickhouse.rows.native_encoder import blocks
from turnspan_clickhouse.rows.record import Record
from turnspan_clickhouse.rows.tables import RECORDS
from turnspan_clickhouse.store.client import Store
from turnspan_records.keeping.archives import Archive, Manifest
from turnspan_records.keeping.copies import forgotten_of
from turnspan_records.keeping.errors import ArchiveError
from turnspan_records.keeping.lines import record_of, row_of
from turnspan_records.keeping.work import Progress

Forgotten: TypeAlias = Callable[[str, Mapping[str, Any]], bool]
"""Whether a row of a table (by its name, and its columns as a line of the archive has them) is of
somebody or something that was forgotten: then it stays away."""

_ROWS: Final = 5_000
"""Rows that are made into a block at once."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back, by table, and what stayed away since it was forgotten."""

    archive: Path
    manifest: Manifest
    rows: dict[str, int] = field(default_factory=dict[str, int])
    forgotten: dict[str, int] = field(default_factory=dict[str, int])


def restore(
    store: Store,
    archive: Path | str,
    *,
    forgotten: Forgotten | None = None,
    progress: Progress | None = None,
) -> Restored:
    """Bring the records of an archive back. All of it is read and compared first; a second time,
    and after one that was cut short, it makes no difference to readers.

    Contents come before the records that name them.

    Raises:
        ArchiveError: it is damaged, or of a newer Turnspan; nothing was written then.
        StoreError: as ``Store.query``; running it again mends it.
    """
    found = Archive(Path(archive))
    found.verify(progress)
    _require_known(found)
    forgotten = forgotten or forgotten_of(store, found)
    made = Restored(found.path, found.manifest)
    done = 0
    for record in reversed(RECORDS):
        for rows, away in _pieces(found, record, forgotten):
            if rows:
                for _, block in blocks(record, rows, _refuse):
                    store.insert_native(record.table, block, f"restore-{secrets.token_hex(16)}")
                made.rows[record.table] = made.rows.get(record.table, 0) + len(rows)
            if away:
                made.forgotten[record.table] = made.forgotten.get(record.table, 0) + away
            done += len(rows) + away
            if progress is not None:
                progress("restoring", done, found.manifest.rows)
    return made


def _require_known(archive: Archive) -> None:
    """Raise ``ArchiveError`` where a table has columns that this version does not know: before
    anything is written."""
    for record in RECORDS:
        for lines in archive.lines(record.table):
            record_of(record, row_of(lines[0]))
            break


def _pieces(
    archive: Archive, record: type[Record], forgotten: Forgotten | None
) -> Iterator[tuple[list[Record], int]]:
    """Rows of a table, some at a time, and how many beside them were forgotten."""
    for lines in archive.lines(record.table):
        for at in range(0, len(lines), _ROWS):
            rows: list[Record] = []
            part = lines[at : at + _ROWS]
            for line in part:
                row = row_of(line)
                if forgotten is None or not forgotten(record.table, row):
                    rows.append(record_of(record, row))
            yield rows, len(part) - len(rows)


def _refuse(error: Exception) -> None:
    raise ArchiveError(f"A row of the archive cannot be written: {error}.")
