"""What became of a turn's edits in the working tree: the judgment that hooks record.

When a turn ends, the files that it edited are noted as the agent left them, with what they were
before. When the user writes the next prompt, or ends the session, the same files are looked at
again: as the agent left them is ``used``, as they were before (undone, ``git restore``, ``git
revert``, deleted) is ``rejected``, anything else ``modified``. The judgment's author is a machine:
a person's holds before it (``annotation_current``).

No hook tells of a turn that the user interrupts. At the next prompt, or when the session ends, the
transcript does. How the agent left a file is then known only where nobody has written it since the
edit: ``used``. Else it is ``rejected`` if nothing of the edits is left, ``modified`` if something
is; a file that the agent edits again meanwhile says nothing.

A hook works while the agent goes on, and may be overtaken by the next one. So what counts is when
the agent called it: a prompt says nothing of a turn that ended later, and a file that changed later
says nothing of what was there then.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Generator, Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

import orjson

from turnspan_clickhouse.files.atomic_files import private_folder, remove, write_whole
from turnspan_clickhouse.files.lock_queue import LockQueue
from turnspan_clickhouse.receive.settings import FOLLOWING
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask
from turnspan_records.coding.authorship.edits import CHANGING, FileChange, changes_of
from turnspan_records.importing.ids import hex_id
from turnspan_records.judging.annotation import annotate
from turnspan_records.lookup import RecordRef
from turnspan_records.quality.git_command import Repository
from turnspan_records.quality.sources import SourceError

AUTHOR: Final = "passive:coding-hooks"
SOURCE: Final = "machine:hook"
_PATIENCE: Final = 60.0
"""Seconds that a hook waits for another one of its session."""
_SOON: Final = 20.0
"""Seconds after a turn in which nobody looks at what it edited and ends the session."""
_KEPT: Final = 30 * 86_400
"""Seconds until the notes and locks of a session that nobody ended go."""
_LARGEST: Final = 16 * 2**20
"""Bytes of a file that is looked at."""
_SETTLED: Final = 2.0
"""Seconds after an edit in which its file is still written by the agent, or by its formatter."""
_BEGUN: Final = 10**9
"""Nanoseconds: a turn that began so shortly before its prompt's hook is that prompt's."""
_MISSING: Final = "missing"
_CHANGED: Final = "changed after the turn"


@dataclass(slots=True)
class EditedTurn:
    """A turn that has ended, with the files that it edited."""

    project: str
    turn_id: str
    until: int
    """When the last edit that is noted began, in nanoseconds since the epoch."""
    files: dict[str, list[str]]
    """By path: the file's state as the agent left it, then those from before."""
    noted_at: float = 0.0
    """When it had ended, in seconds since the epoch."""
    judged: bool = False


class EditJudge:
    """Notes and judges the turns of one session.

    Args:
        spool: of the store; notes are in a folder of it, judgments land from it.
        session_id: the tool's.
        folder: the session's working folder.
        at: when the agent called, in seconds since the epoch.
    """

    def __init__(self, spool: Spool, session_id: str, folder: Path, at: float) -> None:
        self._spool, self._session, self._folder, self._at = spool, session_id, folder, at
        name = blake2b(session_id.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        self._path = spool.folder / FOLLOWING / f"{name}.json"

    @contextlib.contextmanager
    def alone(self) -> Generator[None]:
        """One hook of a session after the other, as they came. Who has waited long goes on all the
        same: what two of them write is the same."""
        private_folder(self._path.parent)
        lock = LockQueue(self._path.with_suffix(".lock")).take(_PATIENCE)
        try:
            yield
        finally:
            if lock is not None:
                lock.release()

    def end(self) -> None:
        """The session is over: judge its last turn, unless it ends with that turn, as ``claude -p``
        does: nobody has seen the edits yet. Then the note stays for who resumes the session. Raises
        as ``judge``.
        """
        known = self._known()
        if known is not None and not known.judged and self._at - known.noted_at < _SOON:
            return
        self.judge()
        with contextlib.suppress(FileNotFoundError):
            remove(self._path)
        for path in self._path.parent.glob("?" * len(self._path.stem) + ".*"):
            with contextlib.suppress(OSError):  # another hook was first
                if path.stat().st_mtime < time.time() - _KEPT:
                    path.unlink()

    def judge(self, edited_again: Collection[str] = ()) -> None:
        """Judge the turn that was noted last, if it had ended then, once, by its files but those
        that were edited again.

        Raises:
            SpoolError: the spool cannot be written.
        """
        known = self._known()
        if known is None or known.judged or known.noted_at > self._at:
            return
        outcome = _outcome(
            {
                name: states
                for name, states in known.files.items()
                if name not in edited_again and _changed_at(Path(name)) <= self._at
            }
        )
        if outcome:
            annotate(
                *(self._spool, RecordRef("turn", known.turn_id, known.project)),
                outcome=outcome,
                author=AUTHOR,
                source=SOURCE,
                id=hex_id("coding-hooks", known.turn_id),
            )
            known.judged = True
            self._write(known)

    def note(self, store: Store) -> None:
        """Note the files of the session's last turn as they are now. An earlier turn that is not
        judged yet is judged by the files that were not edited again.

        Raises:
            SpoolError: the spool cannot be written.
            StoreError: as ``Store.query``.
        """
        known = self._known()
        turns = ask(store, "coding/last_turn", session=self._session).rows
        if not turns:
            return
        project, turn_id, began = str(turns[0][0]), str(turns[0][1]), int(turns[0][2])
        by_file, until, _ = self._edited(store, began, known)
        if not by_file:
            return
        files = {
            str(path): [self._left(path), *_before(path, each)] for path, each in by_file.items()
        }
        if known is not None and known.turn_id != turn_id:
            self.judge(edited_again=files)
        self._write(EditedTurn(project, turn_id, until, files, self._at))

    def note_interrupted(self, store: Store) -> None:
        """Note the session's newest turn if the user interrupted it. Raises as ``note``."""
        known = self._known()
        before = int(self._at * 1e9) - _BEGUN
        turns = ask(store, "coding/interrupted_turn", session=self._session, before=before).rows
        if not turns or (known is not None and known.turn_id == turns[0][1]):
            return
        project, turn_id, began = str(turns[0][0]), str(turns[0][1]), int(turns[0][2])
        by_file, until, ended = self._edited(store, began, known)
        files: dict[str, list[str]] = {}
        for path, edits in by_file.items():
            untouched = _changed_at(path) <= ended[path] / 1e9 + _SETTLED
            gone = [_state(path)] if _is_undone(path, edits) else []
            left = _state(path) if untouched and path.is_file() else _CHANGED
            files[str(path)] = [left, *_before(path, edits), *gone]
        if files:
            self._write(EditedTurn(project, turn_id, until, files, until / 1e9))

    def _edited(
        self, store: Store, began: int, known: EditedTurn | None
    ) -> tuple[dict[Path, list[FileChange]], int, dict[Path, int]]:
        """The edits of the session's files since a turn began, but those that were noted before;
        when the last one began, and when each file's last one ended; times in ns."""
        since = max(began, known.until + 1 if known is not None else 0)
        of = {"session": self._session, "since": since, "tools": CHANGING}
        edits = ask(store, "coding/session_edits", **of).rows
        found: dict[Path, list[FileChange]] = {}
        ended: dict[Path, int] = {}
        for name, arguments, _, end in edits:
            for change in changes_of(str(name), str(arguments)):
                if not change.by_command:
                    path = self._folder / change.path
                    found.setdefault(path, []).append(change)
                    ended[path] = int(end)
        return found, max((int(edit[2]) for edit in edits), default=0), ended

    def _left(self, path: Path) -> str:
        return _state(path) if _changed_at(path) <= self._at else _CHANGED

    def _write(self, noted: EditedTurn) -> None:
        write_whole(self._path, orjson.dumps(asdict(noted)))

    def _known(self) -> EditedTurn | None:
        try:
            return EditedTurn(**orjson.loads(self._path.read_bytes()))
        except (OSError, orjson.JSONDecodeError, TypeError):
            return None  # of no earlier turn, or of another version


def _outcome(files: Mapping[str, list[str]]) -> str:
    found: set[str] = set()
    for name, (left, *before) in files.items():
        now = _state(Path(name))
        found.add("used" if now == left else "rejected" if now in before else "modified")
    return next(iter(found), "") if len(found) <= 1 else "modified"


def _changed_at(path: Path) -> float:
    """When a file was written, or what is left of its path where it was removed; in seconds since
    the epoch."""
    for place in (path, *path.parents):
        with contextlib.suppress(OSError):
            return place.stat().st_mtime
    return 0.0


def _state(path: Path) -> str:
    """What tells a file's content from another: a digest of it."""
    try:
        if not path.is_file():
            return _MISSING
        if path.stat().st_size > _LARGEST:
            return f"{path.stat().st_size}:{path.stat().st_mtime_ns}"
        return _digest(path.read_bytes())
    except OSError as error:
        return f"unreadable: {error.strerror}"


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def _before(path: Path, edits: list[FileChange]) -> list[str]:
    """The states that a file may have had before its edits: with them undone, and as committed."""
    states: list[str] = []
    with contextlib.suppress(OSError, UnicodeDecodeError):
        text = path.read_bytes().decode() if path.is_file() else ""
        for times in (1, -1):  # replaced once, or everywhere
            states += _undone(text, edits, times)
    with contextlib.suppress(SourceError, ValueError, OSError):
        repository = Repository(path.parent if path.parent.is_dir() else path.parents[1])
        if repository.top is not None:
            name = path.resolve().relative_to(repository.top.resolve()).as_posix()
            states.append(_MISSING)  # unless it is in the commit
            states[-1] = _digest(repository.blob(f"HEAD:{name}"))
    return states


def _is_undone(path: Path, edits: list[FileChange]) -> bool:
    """Whether a file has what was there before its edits, and nothing of what they put there."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        text = path.read_bytes().decode()
        return all(
            bool(edit.before and edit.after)
            and "\n".join(edit.before or ()) in text
            and "\n".join(edit.after or ()) not in text
            for edit in edits
        )
    return False


def _undone(text: str, edits: list[FileChange], times: int) -> Iterator[str]:
    for edit in reversed(edits):
        new = "\n".join(edit.after or ())
        if edit.before is None or not new or new not in text:
            return
        text = text.replace(new, "\n".join(edit.before), times)
    yield _digest(text.encode())
