"""What agents wrote and somebody judged: which call wrote it, and how people corrected it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.times import utc
from turnspan_records.judging.history import NOT_WITHDRAWN
from turnspan_records.training import judgments, scopes
from turnspan_records.training.counts import Counts, UnfitError
from turnspan_records.training.export_request import Filters
from turnspan_records.training.scopes import CallRow, TrainingScope

CORRECTION: Final = "correction"
"""The kind of an artifact that a person made of an agent's."""
MASKED: Final = "[REDACTED"

_MADE: Final = """
CREATE TABLE artifact (
    project TEXT, artifact_id TEXT, target TEXT, kind TEXT, content TEXT, content_bytes INTEGER,
    session_id TEXT, turn_id TEXT, call_id TEXT, attempt_id TEXT, created_at REAL);
"""
_INDEXED: Final = """
CREATE INDEX artifact_by_id ON artifact (artifact_id, project);
CREATE INDEX artifact_by_turn ON artifact (turn_id, project);
CREATE INDEX artifact_by_attempt ON artifact (attempt_id, project);
CREATE INDEX artifact_by_call ON artifact (call_id, project);
"""
_BY_TURN: Final = "turn_id = ? AND turn_id != ''"
_BY_ATTEMPT: Final = "turn_id = '' AND attempt_id = ?"


@dataclass(frozen=True, slots=True)
class ArtifactText:
    """One of them; ``call_id`` is the call that wrote it, ``content`` its text's hash in hex."""

    id: str
    target: str
    kind: str
    content: str
    content_bytes: int
    session_id: str
    turn_id: str
    call_id: str


@dataclass(frozen=True, slots=True)
class TextComparison:
    """Two texts of which somebody preferred one; one at least is a correction."""

    chosen: ArtifactText
    rejected: ArtifactText
    author: str = ""
    best: bool = False
    """Whether the chosen one is a correction that nobody rejected for another one."""

    @property
    def of_one_place(self) -> bool:
        """Whether they are of one target and turn: else a correction stands in for another text."""
        one, other = self.chosen, self.rejected
        turns = {one.turn_id, other.turn_id} - {""}
        return one.target == other.target and len(turns) < 2


def load(
    store: Store, filters: Filters, work: sqlite3.Connection, pages: int, counts: Counts
) -> None:
    """Copy the artifacts that somebody judged into a working table."""
    work.executescript(_MADE)
    for page in range(pages):
        rows = store.query(
            "SELECT project, artifact_id, target, kind, lower(hex(content)), content_bytes,"
            " session_id, turn_id, call_id, attempt_id, created_at FROM artifact"
            " WHERE ({only:String} = '' OR project = {only:String})"
            " AND cityHash64(artifact_id) % {pages:UInt64} = {page:UInt64}"
            " AND artifact_id IN (SELECT arrayJoin([subject_id, chosen_id, rejected_id])"
            f" FROM annotation WHERE subject_kind = 'artifact' AND {NOT_WITHDRAWN})",
            {"only": filters.project, "pages": pages, "page": page},
        ).rows
        for *known, created_at in rows:
            work.execute(
                "INSERT INTO artifact VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*known, utc(created_at).timestamp()),
            )
    work.executescript(_INDEXED)
    nowhere = (
        "SELECT count(*) FROM artifact"
        f" WHERE turn_id = '' AND call_id = '' AND attempt_id = '' AND kind != '{CORRECTION}'"
    )
    counts.dropped["artifact_without_turn"] += int(work.execute(nowhere).fetchone()[0])


class Artifacts:
    """Finds the judged artifacts of calls. Where there is none, it asks nothing."""

    def __init__(self, store: Store, work: sqlite3.Connection) -> None:
        self._store = store
        self._work = work
        self.any = work.execute("SELECT 1 FROM artifact LIMIT 1").fetchone() is not None
        self._texts: dict[str, tuple[str, str]] = {}

    def begin(self, project: str, found: Iterable[TrainingScope], *, texts: bool) -> None:
        """Sessions that are read together: say which call wrote what, and read it if that is
        wanted."""
        if not self.any:
            return
        calls = [call for scope in found for call in scope.calls]
        self._place(project, calls)
        self._texts = {}
        if texts:
            compared = self.compared(project, calls)
            hashes = {side.content for one in compared for side in (one.chosen, one.rejected)}
            self._texts = scopes.definitions(self._store, project, hashes)

    def _place(self, project: str, calls: Iterable[CallRow]) -> None:
        """What names no call was written by the last answer before it: of its turn, or else of its
        attempt, where the code in it is not decorated."""
        answers: dict[tuple[str, str], list[CallRow]] = {}
        for call in calls:
            if call.outputs and not call.error_type:
                answers.setdefault((_BY_TURN, call.turn_id), []).append(call)
                if call.attempt_id:
                    answers.setdefault((_BY_ATTEMPT, call.attempt_id), []).append(call)
        for (condition, id_), found in answers.items():
            waiting = self._work.execute(
                f"SELECT rowid, created_at FROM artifact WHERE {condition}"
                " AND project = ? AND call_id = ''",
                (id_, project),
            ).fetchall()
            for row, created_at in waiting:
                before = [c for c in found if utc(c.start_time).timestamp() <= created_at]
                self._work.execute(
                    "UPDATE artifact SET call_id = ?, turn_id = ? WHERE rowid = ?",
                    ((before or found)[-1].span_id, (before or found)[-1].turn_id, row),
                )

    def of(self, project: str, calls: Sequence[CallRow]) -> list[tuple[str, str]]:
        """What calls wrote, as subjects of judgments; what was written last comes first, and a
        correction is nothing that they wrote."""
        if not self.any:
            return []
        found: list[tuple[float, str]] = []
        for call in calls:
            found += self._work.execute(
                "SELECT created_at, artifact_id FROM artifact"
                " WHERE call_id = ? AND project = ? AND kind != ?",
                (call.span_id, project, CORRECTION),
            )
        return [("artifact", id_) for _, id_ in sorted(found, reverse=True)]

    def compared(self, project: str, calls: Sequence[CallRow]) -> list[TextComparison]:
        """The texts that somebody preferred to what these calls wrote, or the other way round."""
        if not self.any:
            return []
        found: list[TextComparison] = []
        for call in calls:
            found += self._compared(project, call)
        return found

    def _compared(self, project: str, call: CallRow) -> list[TextComparison]:
        made: list[TextComparison] = []
        own = self._work.execute(
            "SELECT artifact_id FROM artifact WHERE call_id = ? AND project = ? AND kind != ?"
            " ORDER BY artifact_id",
            (call.span_id, project, CORRECTION),
        ).fetchall()
        for (id_,) in own:
            for chosen_id, rejected_id, author in judgments.preferences_of(
                self._work, project, id_
            ):
                chosen = find(self._work, project, chosen_id)
                rejected = find(self._work, project, rejected_id)
                if chosen is None or rejected is None or not is_corrected(chosen, rejected):
                    continue
                best = chosen.kind == CORRECTION and not self._rejected(project, chosen.id)
                made.append(TextComparison(chosen, rejected, author, best))
        return made

    def _rejected(self, project: str, id_: str) -> bool:
        found = judgments.preferences_of(self._work, project, id_)
        return any(rejected == id_ for _, rejected, _ in found)

    def text(self, artifact: ArtifactText) -> str:
        """What an artifact says, of those that the sessions began with.

        Raises:
            UnfitError: it was not recorded, or not whole.
        """
        found = self._texts.get(artifact.content)
        if found is None:
            raise UnfitError("content_missing")
        text = found[0]
        # Masks change the length as well: where there is one, nobody can tell.
        if len(text.encode()) < artifact.content_bytes and MASKED not in text:
            raise UnfitError("content_truncated")
        if not text.strip():
            raise UnfitError("empty_reply")
        return text


def find(work: sqlite3.Connection, project: str, id_: str) -> ArtifactText | None:
    """A judged artifact by its id."""
    found = work.execute(
        "SELECT artifact_id, target, kind, content, content_bytes, session_id, turn_id, call_id"
        " FROM artifact WHERE artifact_id = ? AND project = ?",
        (id_, project),
    ).fetchone()
    return None if found is None else ArtifactText(*found)


def is_corrected(one: ArtifactText, other: ArtifactText) -> bool:
    """Whether they are compared by their texts: an agent's, and what a person made of it."""
    return CORRECTION in (one.kind, other.kind)


def unit_of(artifact_id: str) -> str:
    """What a text's sample is found by; no turn, call or session has an id with this character."""
    return f"artifact\x1f{artifact_id}"
