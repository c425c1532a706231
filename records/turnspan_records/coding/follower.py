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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from turnspan_clickhouse.errors import SpoolError, StoreError
from turnspan_clickhouse.files.atomic_files import private_folder
from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.files.lock_holders import Holder, holder, signed
from turnspan_clickhouse.receive.settings import FOLLOWING
from turnspan_clickhouse.rows.record import columns
from turnspan_clickhouse.rows.tables import TurnSummary
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.client import Store
from turnspan_records.access import Note, Opener
from turnspan_records.coding.folder_changes import FolderChanges
from turnspan_records.coding.telemetry_join import TelemetryJoin
from turnspan_records.coding.transcripts.coding_log import LIVE_SECONDS
from turnspan_records.coding.transcripts.tools import TOOLS
from turnspan_records.importing.import_run import import_log
from turnspan_records.importing.sources import ImportReport, Part, SourceLog, SourceLogError
from turnspan_records.sql import statement

_LOCK: Final = "watch.lock"
_REST: Final = 2.0
"""How many times as long as an import took of a processor the next one is waited for: a long
session is read from its beginning each time it grows."""
_LONGEST_REST: Final = 30.0


class StoppableLog:
    """A log whose import ends after the part that is under way, once ``ended`` is set."""

    def __init__(self, log: SourceLog, ended: threading.Event) -> None:
        self._log = log
        self._ended = ended
        self.kind, self.identity, self.own_projects = log.kind, log.identity, log.own_projects

    def total(self, after: str) -> int:
        """As ``SourceLog.total``."""
        return self._log.total(after)

    def parts(self, after: str) -> Iterator[Part]:
        """As ``SourceLog.parts``."""
        for part in self._log.parts(after):
            yield part
            if self._ended.is_set():
                return


class TranscriptFollower:
    """Imports transcripts as they grow.

    Args:
        opener: gives the store.
        spool: the store's.
        log: makes the log of the transcripts, as they are now.
        project: of the records; empty: each transcript's own.
        ended: set when it is to end; what is read by then lands.
        landed: told of every import that has read something.
        note: told what went wrong, once until it is over.
    """

    def __init__(
        self,
        opener: Opener,
        spool: Spool,
        log: Callable[[], SourceLog],
        project: str,
        ended: threading.Event,
        landed: Callable[[ImportReport], None],
        note: Note,
    ) -> None:
        self._opener = opener
        self._spool = spool
        self._log = log
        self._project = project
        self._ended = ended
        self._landed = landed
        self._note = note
        self._writer = SpoolWriter(spool)
        self._telemetry = TelemetryJoin()
        self._reached: tuple[str, int] | None = None
        self._trouble = ""

    def follow(self, changes: FolderChanges) -> None:
        """Import whenever something has changed, until ``ended``."""
        for _ in changes:
            began = time.process_time()
            if not self.land():
                changes.retry()
            took = time.process_time() - began
            self._ended.wait(min(_LONGEST_REST, _REST * took))

    def close(self) -> None:
        """Nothing is followed any more: turns that have not ended count as interrupted."""
        self._writer.close()

    def land(self) -> bool:
        """Import what is new; whether all of it has landed. What went wrong is noted."""
        trouble = ""
        try:
            log = StoppableLog(self._log(), self._ended)
            report = import_log(
                *(self._opener, self._spool, log),
                project=self._project,
                known=self._reached,
                writer=self._writer,
            )
            if not report.waiting:
                with self._opener() as store:
                    self._telemetry.join(store)
                    _interrupt_rested(store)
        except (SourceLogError, SpoolError, StoreError) as error:
            trouble = f"{str(error).rstrip('.')}. It is tried again."
        else:
            self._reached = report.reached
            trouble = f"it waits in the spool: {report.waiting}" if report.waiting else ""
            if report.seen:
                self._landed(report)
        if trouble and trouble != self._trouble:
            self._note(trouble)
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
    names = [name for name, _ in columns(TurnSummary)]
    values = ", ".join(f"{_RESTED.get(name, name)} AS {name}" for name in names)
    sql = statement("coding/interrupt_rested", names=", ".join(names), values=values)
    before = time.time_ns() - round(LIVE_SECONDS * 1e9)
    store.command(sql, {"before": before}, {"final": 1})


def lock_following(spool: Spool) -> FileLock | Holder | None:
    """The lock of the one follower of a store; who holds it (None: nobody knows), where another
    does.

    Raises:
        OSError: the spool's folder cannot be written.
    """
    path = private_folder(spool.folder / FOLLOWING) / _LOCK
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
