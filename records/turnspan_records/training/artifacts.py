"""What agents wrote and somebody judged: which call wrote it, and how people corrected it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import utc
from turnspan_records.messages import load_sources
from turnspan_records.sql import statement
from turnspan_records.training import judgments
from turnspan_records.training.counts import Counts, UnfitError
from turnspan_records.training.export_request import Filters
from turnspan_records.training.scopes import CallRow, TrainingScope

CORRECTION: Final = "correction"
"""The kind of an artifact that a person made of an agent's."""
MASKED: Final = "[REDACTED"

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
    for page in range(pages):
        given = {"only": filters.project, "pages": pages, "page": page}
        for *known, created_at in store.query(statement("training/judged_artifacts"), given).rows:
            values = (*known, utc(created_at).timestamp())
            work.execute(f"INSERT INTO artifact VALUES ({', '.join('?' * 11)})", values)
    nowhere = work.execute(statement("training/artifacts_of_nothing")).fetchone()[0]
    counts.dropped["artifact_without_turn"] += int(nowhere)


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
            self._texts = load_sources(self._store, project, hashes, None)

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
            sql = statement("training/artifacts_of_no_call", condition=condition)
            waiting = self._work.execute(sql, (id_, project)).fetchall()
            for row, created_at in waiting:
                before = [c for c in found if utc(c.start_time).timestamp() <= created_at]
                last = (before or found)[-1]
                self._work.execute(
                    "UPDATE artifact SET call_id = ?, turn_id = ? WHERE rowid = ?",
                    (last.span_id, last.turn_id, row),
                )

    def of(self, project: str, calls: Sequence[CallRow]) -> list[tuple[str, str]]:
        """What calls wrote, as subjects of judgments; what was written last comes first, and a
        correction is nothing that they wrote."""
        if not self.any:
            return []
        found = [row for call in calls for row in self._written(project, call)]
        return [("artifact", id_) for _, id_ in sorted(found, reverse=True)]

    def compared(self, project: str, calls: Sequence[CallRow]) -> list[TextComparison]:
        """The texts that somebody preferred to what these calls wrote, or the other way round."""
        if not self.any:
            return []
        return [one for call in calls for one in self._compared(project, call)]

    def _written(self, project: str, call: CallRow) -> list[tuple[float, str]]:
        sql = statement("training/artifacts_of_call")
        return self._work.execute(sql, (call.span_id, project)).fetchall()

    def _compared(self, project: str, call: CallRow) -> list[TextComparison]:
        made: list[TextComparison] = []
        for _, id_ in self._written(project, call):
            compared = judgments.preferences_of(self._work, project, id_)
            for chosen_id, rejected_id, author in compared:
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
    found = work.execute(statement("training/artifact"), (id_, project)).fetchone()
    return None if found is None else ArtifactText(*found)


def is_corrected(one: ArtifactText, other: ArtifactText) -> bool:
    """Whether they are compared by their texts: an agent's, and what a person made of it."""
    return CORRECTION in (one.kind, other.kind)


def unit_of(artifact_id: str) -> str:
    """What a text's sample is found by; no turn, call or session has an id with this character."""
    return f"artifact\x1f{artifact_id}"
