"""An event of a coding agent's hook, taken: the session's transcript lands, edits are judged."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from turnspan.content.model import as_dict
from turnspan_clickhouse.files.atomic_files import private_folder, remove, write_whole
from turnspan_clickhouse.receive.settings import FOLLOWING
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_records.access import open_dsn
from turnspan_records.coding.edit_outcomes import EditJudge
from turnspan_records.coding.telemetry_join import TelemetryJoin
from turnspan_records.coding.transcripts.tools import coding_log
from turnspan_records.importing.import_run import import_log

PROMPT: Final = "UserPromptSubmit"
END: Final = "SessionEnd"
_INTERRUPTED: Final = b"[Request interrupted by user"
"""Claude Code's: Codex has an event of its own for it."""
_TAIL: Final = 2**16
"""Bytes of a transcript's end in which a turn's interruption stands."""


class HookEventError(Exception):
    """What a coding agent gave is no event of its hook."""


@dataclass(frozen=True, slots=True)
class HookEvent:
    """What a hook is told: Claude Code's words, which Codex has too."""

    name: str
    """``Stop``, ..."""
    session_id: str
    folder: Path
    """The session's working folder."""
    transcript: Path | None
    """None: the agent writes none, as Codex of a session that is not kept."""

    @classmethod
    def of(cls, tool: str, text: str) -> HookEvent:
        """The event that a tool's text is.

        Raises:
            HookEventError: it is none.
        """
        try:
            loaded: Any = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise HookEventError(f"the event of {tool} is not JSON ({error})") from None
        said: Mapping[Any, Any] = as_dict(loaded) or {}
        session = said.get("session_id")
        if not isinstance(session, str) or not session:
            raise HookEventError(f"the event of {tool} names no session")
        named = said.get("transcript_path")
        path = Path(named).expanduser() if isinstance(named, str) and named else None
        folder = Path(str(said.get("cwd") or os.getcwd()))
        return cls(str(said.get("hook_event_name", "")), session, folder, path)

    def interrupted(self) -> bool:
        """Whether the user may have interrupted the turn before, as the transcript says it."""
        if self.transcript is None:
            return False
        try:
            with self.transcript.open("rb") as file:
                file.seek(max(0, self.transcript.stat().st_size - _TAIL))
                tail = file.read()
        except OSError:  # the session's first prompt: nothing is written yet
            return False
        return _INTERRUPTED in tail


def land_event(tool: str, text: str, dsn: Dsn, *, at: float) -> None:
    """Do what an event asks for: at a prompt or a session's end judge the edits of the turn before,
    at a turn's or a session's end (and after a turn that was interrupted) land the transcript, and
    note the edits that are to be judged.

    Args:
        tool: as ``turnspan import`` calls it.
        text: the event, as JSON.
        dsn: the store.
        at: when the agent called, in seconds since the epoch.

    Raises:
        HookEventError: it is no event.
        SourceLogError: the transcript cannot be read.
        SpoolError: the spool cannot be written.
        StoreError: the store cannot be used.
    """
    event = HookEvent.of(tool, text)
    spool = Spool(dsn.spool)
    judge = EditJudge(spool, event.session_id, event.folder, at)
    with judge.alone():
        stopped = event.name in (PROMPT, END) and event.interrupted()
        if event.name == PROMPT:  # before the agent edits again
            judge.judge()
            if not stopped:
                return
        if event.name == END and not stopped:
            judge.end()
        with open_dsn(dsn, create=True) as store:
            if event.transcript is not None:
                nested = event.transcript.with_suffix("")  # the transcripts of subagents
                paths = [event.transcript, *([nested] if nested.is_dir() else [])]
                import_log(lambda: nullcontext(store), spool, coding_log(tool, paths))
            TelemetryJoin().join(store, [event.session_id])
            if stopped:
                judge.note_interrupted(store)
                (judge.judge if event.name == PROMPT else judge.end)()
            elif event.name != END:
                judge.note(store)
            ship(store, spool=spool)


@dataclass(frozen=True, slots=True)
class HookFailure:
    """What a hook failed at last."""

    tool: str
    at: float
    """Seconds since the epoch."""
    error: str


def _failure(dsn: Dsn) -> Path:
    return dsn.spool / FOLLOWING / "hook-failure.json"


def remember_failure(dsn: Dsn, tool: str, error: BaseException) -> None:
    """Keep why a hook failed, for the doctor."""
    said = HookFailure(tool, time.time(), f"{type(error).__name__}: {error}"[:2000])
    with contextlib.suppress(OSError):  # the spool's own checks tell of that
        private_folder(_failure(dsn).parent)
        write_whole(_failure(dsn), orjson.dumps(said))


def forget_failure(dsn: Dsn) -> None:
    """A hook has worked since."""
    with contextlib.suppress(OSError):
        remove(_failure(dsn))


def last_failure(dsn: Dsn) -> HookFailure | None:
    """What a hook failed at, if none has worked since."""
    try:
        return HookFailure(**orjson.loads(_failure(dsn).read_bytes()))
    except (OSError, orjson.JSONDecodeError, TypeError):
        return None
