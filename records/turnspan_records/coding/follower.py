"""Following transcripts: each time files have changed, what is new in them is imported.

A position in the store says how far that is, so a follower that is killed goes on where it was, and
what a tool deletes stays. Where the store is away, rows wait in the spool.

No file says that its agent was killed, agents keep no file open, and several work in one folder at
once. So a turn counts as interrupted when its session's files have rested for ``LIVE_SECONDS``;
lines that come later make it run again.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from turnspan_clickhouse.errors import SpoolError, StoreError
from turnspan_clickhouse.files.atomic_files import private_folder
from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.files.lock_holders import Holder, holder, signed
from turnspan_clickhouse.receive.settings import FOLLOWING
from turnspan_clickhouse.rows.tables import TurnSummary
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.client import Store
from turnspan_records.access import Note, Opener
from turnspan_records.coding.folder_changes import FolderChanges
from turnspan_records.coding.telemetry_join import TelemetryJoin, rewritten
from turnspan_records.coding.transcripts.coding_log import LIVE_SECONDS
from turnspan_records.coding.transcripts.tools import TOOLS
from turnspan_records.importing.import_run import import_log
from turnspan_records.importing.sources import ImportReport, SourceLog, SourceLogError
from turnspan_records.sql import statement

_REST: Final = 2.0
"""How many times as long as an import took of a processor the next one is waited for: a long
session is read from its beginning each time it grows."""
_LONGEST_REST: Final = 30.0
_TOGETHER: Final = 500
"""Sessions that one statement names."""


@dataclass(slots=True)
class TranscriptFollower:
    """Imports transcripts as they grow."""

    opener: Opener
    spool: Spool
    """The store's."""
    log: Callable[[], SourceLog]
    """Makes the log of the transcripts, as they are now."""
    project: str
    """Of the records; empty: each transcript's own."""
    ended: threading.Event
    """Set when it is to end; what is read by then lands."""
    landed: Callable[[ImportReport], None]
    """Told of every import that has read something."""
    note: Note
    """Told what went wrong, once until it is over."""
    _writer: SpoolWriter = field(init=False)
    _telemetry: TelemetryJoin = field(default_factory=TelemetryJoin)
    _reached: tuple[str, int] | None = None
    _trouble: str = ""

    def __post_init__(self) -> None:
        self._writer = SpoolWriter(self.spool)

    def follow(self, changes: FolderChanges) -> None:
        """Import whenever something has changed, until ``ended``."""
        for _ in changes:
            began = time.process_time()
            if not self.land():
                changes.retry()
            took = time.process_time() - began
            self.ended.wait(min(_LONGEST_REST, _REST * took))

    def close(self) -> None:
        """Nothing is followed any more: turns that have not ended count as interrupted."""
        self._writer.close()

    def land(self) -> bool:
        """Import what is new; whether all of it has landed. What went wrong is noted."""
        try:
            report = import_log(
                *(self.opener, self.spool, self.log()),
                project=self.project,
                known=self._reached,
                writer=self._writer,
                ended=self.ended.is_set,
            )
            if not report.waiting:
                with self.opener() as store:
                    self._telemetry.join(store)
                    _interrupt_rested(store)
        except (SourceLogError, SpoolError, StoreError) as error:
            trouble = f"{str(error).rstrip('.')}. It is tried again."
        else:
            self._reached = report.reached
            trouble = f"it waits in the spool: {report.waiting}" if report.waiting else ""
            if report.seen:
                self.landed(report)
        if trouble and trouble != self._trouble:
            self.note(trouble)
        self._trouble = trouble
        return not trouble


_RESTED: Final = {
    "status": "'interrupted'",
    "stop_reason": "'interrupted'",
    "stop_detail": "'no line was written for an hour'",
    "written_at": "addNanoseconds(written_at, 1)",
}


def _interrupt_rested(store: Store) -> None:
    """End the turns whose row, written each time a file of their session grew, is old."""
    given: dict[str, Any] = {"before": time.time_ns() - round(LIVE_SECONDS * 1e9)}
    rows = store.query(statement("coding/rested_sessions"), given, {"final": 0}).rows
    for at in range(0, len(rows), _TOGETHER):  # those alone are read whole
        given["sessions"] = [str(row[0]) for row in rows[at : at + _TOGETHER]]
        sql = statement("coding/interrupt_rested", **rewritten(TurnSummary, _RESTED))
        store.command(sql, given, {"final": 1})


def lock_following(spool: Spool) -> FileLock | Holder | None:
    """The lock of the one follower of a store; who holds it (None: nobody knows), where another
    does. Raises ``OSError``."""
    path = private_folder(spool.folder / FOLLOWING) / "watch.lock"
    lock = FileLock.take(path)
    if lock is None:
        return holder(path)
    lock.write(signed())
    return lock


def transcript_folders(folders: Sequence[Path] = ()) -> list[Path]:
    """The folders that are watched: those that are named, else where the coding agents keep
    transcripts for this user. Of a file, a database's, it is the folder around it."""
    found = list(folders) or [
        folder for tool in TOOLS for folder in tool.folders(Path.home(), os.environ)
    ]
    return list(dict.fromkeys(one.parent if one.is_file() else one for one in found))
