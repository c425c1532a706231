"""Run a recorded session again: its replies and tool results come from the records."""

from __future__ import annotations

from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path

from turnspan.wire import rerunning
from turnspan_clickhouse.store.client import Store
from turnspan_records.access import open_records
from turnspan_records.again.rerun.recording import (
    RecordingError,
    SessionRecording,
    load_recording,
    read_recording,
)
from turnspan_records.again.rerun.report import RerunReport
from turnspan_records.again.rerun.server import RerunServer
from turnspan_records.lookup import RecordRef, find
from turnspan_records.sessions import session_of_trace

__all__ = ["RecordingError", "RerunReport", "RerunServer", "SessionRecording", "rerun"]


@contextmanager
def rerun(
    recording: SessionRecording | Path | str,
    *,
    store: str | None = None,
    after: str = "stop",
    live_tools: Collection[str] = (),
    timing: bool = False,
) -> Generator[RerunServer]:
    """A block in which this process gets a recording's replies and tool results.

    Args:
        recording: one that was read, its file, or the id of a session or of a record in it.
        store: the DSN of the session's store; default: TURNSPAN_STORE, else the default store.
        after: what follows a divergence: ``stop`` (an error of the SDK's), ``nearest`` (the most
            similar record) or ``live`` (the provider).
        live_tools: the names of tools that run for real, or ``all``.
        timing: whether replies take the time that they took.

    Raises:
        RecordingError: there is no such session, or nothing in it that can be played.
        ConfigError: a rerun is under way in this process.
        StoreError: the store cannot be read.
    """
    found = recording if isinstance(recording, SessionRecording) else _found(recording, store)
    with RerunServer(found, after=after, live_tools=live_tools, timing=timing) as server:
        before = rerunning.begin(server.environment())
        try:
            yield server
        finally:
            rerunning.end(before)


def _found(recording: Path | str, dsn: str | None) -> SessionRecording:
    if Path(recording).is_file():
        return read_recording(Path(recording))
    with open_records(dsn) as store:
        known = find(store, str(recording))
        chosen = [one for one in known if one.kind in ("session", "trace")] or known
        if len(chosen) != 1:
            what = "Several records have" if chosen else "No file and no record has"
            raise RecordingError(f"{what} the id {str(recording)!r}: give a session's whole id.")
        return recording_of(store, chosen[0])


def recording_of(store: Store, record: RecordRef) -> SessionRecording:
    """The recording of the session that a record is of. Raises as ``load_recording``."""
    session_id = record.session_id
    if not session_id and record.trace_id:
        session_id = session_of_trace(store, record.project, record.trace_id)
    return load_recording(store, record.project, session_id, record.trace_id)
