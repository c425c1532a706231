"""What was found becomes rows: judgments, corrections, and how far the looking is.

Every id and every time follows from what was found: who finds the same, on this machine or another
one, once or again after being killed, writes the same rows.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from hashlib import blake2b
from typing import Final

from turnspan import config
from turnspan.redaction.redactor import Redactor
from turnspan.redaction.truncate import limit_text
from turnspan.tracing.content_store import Judgment, WithdrawalFact
from turnspan.tracing.loop_facts import ArtifactMade
from turnspan_clickhouse.normalise import judgment_rows, loop_rows
from turnspan_clickhouse.normalise.message_store import MessageStore
from turnspan_clickhouse.normalise.row_context import RowContext
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.judgment_tables import ArtifactCheckRow
from turnspan_clickhouse.rows.tables import Annotation, Record
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import copied, utc
from turnspan_records.quality.artifact_checks import CORRECTION, ArtifactCheck, unified, worst
from turnspan_records.quality.sources import (
    MODIFIED,
    OUTCOMES,
    UNDECIDED,
    ArtifactVerdict,
    WrittenArtifact,
)

PENDING: Final = "pending"
NGRAMS: Final = 32_768
"""Bytes of a text that ``ngramDistanceUTF8`` takes."""
COMMENT: Final = 8_192
"""Bytes of the diff in a preference's comment."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)

Found = tuple[WrittenArtifact, ArtifactVerdict]


@dataclass(slots=True)
class FindingRows:
    """The rows of some artifacts in the order in which they are written, and what they say."""

    rows: list[Record] = field(default_factory=list[Record])
    checks: list[ArtifactCheck] = field(default_factory=list[ArtifactCheck])


class FindingWriter:
    """Makes the rows of one source's findings."""

    def __init__(self, author: str, name: str, now: int) -> None:
        self._author = author
        self._name = name
        self._now = now
        self._redactor = Redactor(config.active())

    def record(
        self,
        found: Sequence[Found],
        before: Mapping[tuple[str, str], ArtifactCheck],
        of_turns: Sequence[ArtifactCheck],
        similar: Callable[[str, str], tuple[float, str]],
    ) -> FindingRows:
        """The rows of what was found. How far the looking is comes last: until it is written down,
        all of it is done again."""
        recorded = FindingRows()
        for written, verdict in found:
            known = before.get((written.project, written.artifact_id))
            check = self._check(written, verdict, known)
            if known is not None and known.correction_id and not _differs(check, known):
                same = (known.correction_id, known.similarity)
                check = replace(check, correction_id=same[0], similarity=same[1])
            elif check.decision == MODIFIED and verdict.later_text is not None:
                correction_id = _digest("correction", written.artifact_id, verdict.later_revision)
                similarity, how = None, ""
                if written.text is not None:
                    similarity, how = similar(written.text, verdict.later_text)
                check = replace(check, correction_id=correction_id, similarity=similarity)
                recorded.rows += self._correction(written, verdict, check, how)
            if known is not None and known.correction_id not in ("", check.correction_id):
                recorded.rows.append(self._no_correction(known, check))
            if _differs(check, known):
                outcome = _outcome(check.decision)
                if outcome or (known is not None and _outcome(known.decision)):
                    recorded.rows.append(self._outcome(check, outcome or PENDING, verdict.later_by))
            recorded.checks.append(check)
        self._turns(recorded, of_turns)
        recorded.rows += [self._check_row(one) for one in recorded.checks]
        return recorded

    def _check(
        self, written: WrittenArtifact, verdict: ArtifactVerdict, known: ArtifactCheck | None
    ) -> ArtifactCheck:
        """What is known now. A decision that takes another one's place is the later one, whatever
        the source's clock says: the newest judgment holds."""
        decided = verdict.decided_at or written.created_at
        if known is not None:
            changed = _differs(verdict, known)
            decided = max(decided, known.decided + 1) if changed else known.decided
        revised = verdict.revised_at or written.created_at
        return copied(
            ArtifactCheck,
            verdict,
            project=written.project,
            source=self._name,
            artifact_id=written.artifact_id,
            turn_id=written.turn_id,
            target=written.target,
            revised_at=utc(revised),
            correction_id="",
            similarity=None,
            decided_at=utc(decided),
            checked_at=utc(self._now),
            decided=decided,
        )

    def _correction(
        self, written: WrittenArtifact, verdict: ArtifactVerdict, check: ArtifactCheck, how: str
    ) -> list[Record]:
        """The person's text as an artifact of the same turn, and that it was chosen."""
        assert verdict.later_text is not None
        batch = Batch(self._author, self._now)
        place = RowContext(written.project, self._redactor, MessageStore(), batch)
        made = ArtifactMade(
            resource={},
            artifact_id=check.correction_id,
            target=written.target,
            text=verdict.later_text,
            kind=CORRECTION,
            version=verdict.later_revision,
            session_id=written.session_id,
            trace_id=written.trace_id,
            turn_id=written.turn_id,
            call_id=written.call_id,
            loop={},  # no attempt of the agent's made it
            created_at=verdict.decided_at,
        )
        loop_rows.add(made, place)
        rows = [row for several in batch.rows.values() for row in several]
        comment = how and f"similarity {check.similarity:.3f} ({how})"
        if written.text is not None and self._redactor.settings.capture_content:
            diff, _ = limit_text(unified(written.text, verdict.later_text), COMMENT)
            comment = f"{comment}\n{diff}"
        said = replace(
            self._said(check, "artifact", check.correction_id),
            kind="preference",
            chosen_id=check.correction_id,
            rejected_id=check.artifact_id,
            score=check.similarity,
            comment=comment,
            annotation_id=_preference(check.correction_id),
        )
        return [*rows, self._row(said, written.project)]

    def _no_correction(self, known: ArtifactCheck, check: ArtifactCheck) -> Record:
        """That an earlier correction no longer holds."""
        taken_back = WithdrawalFact(
            resource={},
            subject_kind="artifact",
            subject_id=known.correction_id,
            kind="preference",
            annotation_id=_preference(known.correction_id),
            author=self._author,
            source=f"{self._name} {check.later_revision or check.revision}",
            comment=check.reason,
            created_at=check.decided,
        )
        return judgment_rows.withdrawal(taken_back, check.project, self._redactor, self._now)

    def _outcome(self, check: ArtifactCheck, outcome: str, by: str) -> Record:
        who = f" (revision {check.later_revision} by {by})" if by and check.later_revision else ""
        said = replace(
            self._said(check, "artifact", check.artifact_id),
            kind="outcome",
            outcome=outcome,
            comment=f"{check.reason}{who}",
            annotation_id=_digest(
                self._author, self._name, check.artifact_id, outcome, check.later_revision
            ),
        )
        return self._row(said, check.project)

    def _turns(self, recorded: FindingRows, of_turns: Sequence[ArtifactCheck]) -> None:
        """Turns end as badly as the worst of what they wrote, as soon as nothing is undecided that
        could end worse."""
        old = _by_turn(of_turns)
        new = _by_turn([*of_turns, *recorded.checks])
        for turn in dict.fromkeys((one.project, one.turn_id) for one in recorded.checks):
            if not turn[1]:
                continue
            before, outcome = _of_turn(old.get(turn, ())), _of_turn(new[turn])
            if outcome == before:
                continue
            checks = new[turn]
            last = max(checks, key=lambda one: one.decided)
            said = replace(
                self._said(last, "turn", turn[1]),
                kind="outcome",
                outcome=outcome or PENDING,
                comment=_told(checks),
                annotation_id=_digest(self._author, turn[1], outcome or PENDING),
            )
            recorded.rows.append(self._row(said, turn[0]))

    def _said(self, check: ArtifactCheck, kind: str, id_: str) -> Judgment:
        return Judgment(
            resource={},
            subject_kind=kind,
            subject_id=id_,
            author=self._author,
            source=f"{self._name} {check.later_revision or check.revision}".strip(),
            created_at=check.decided,
        )

    def _row(self, said: Judgment, project: str) -> Annotation:
        return judgment_rows.annotation(said, project, self._redactor, self._now)

    def _check_row(self, check: ArtifactCheck) -> ArtifactCheckRow:
        return copied(
            ArtifactCheckRow,
            check,
            reason=self._redactor.text(check.reason, "annotation:comment"),
            revised_at=(check.revised_at - _EPOCH) // timedelta(microseconds=1) * 1000,
            decided_at=check.decided,
            checked_at=self._now,
            written_at=self._now,
        )


def similarity(store: Store, one: str, other: str) -> tuple[float, str]:
    """How alike two texts are, from 0 to 1, and by which measure."""
    if max(len(one.encode()), len(other.encode())) <= NGRAMS:
        rows = store.query(
            "SELECT 1 - ngramDistanceUTF8({one:String}, {other:String})",
            {"one": one, "other": other},
        ).rows
        return float(rows[0][0]), "ngramDistanceUTF8"
    matcher = difflib.SequenceMatcher(None, one.splitlines(), other.splitlines(), autojunk=True)
    return matcher.ratio(), "difflib, by lines"


def _differs(check: ArtifactCheck | ArtifactVerdict, known: ArtifactCheck | None) -> bool:
    return known is None or (check.decision, check.later_revision) != (
        known.decision,
        known.later_revision,
    )


def _outcome(decision: str) -> str:
    return decision if decision in OUTCOMES else ""


def _by_turn(checks: Iterable[ArtifactCheck]) -> dict[tuple[str, str], list[ArtifactCheck]]:
    """The newest check of each artifact and source, by their turns."""
    newest = {(one.project, one.source, one.artifact_id): one for one in checks}
    turns: dict[tuple[str, str], list[ArtifactCheck]] = {}
    for one in newest.values():
        turns.setdefault((one.project, one.turn_id), []).append(one)
    return turns


def _of_turn(checks: Iterable[ArtifactCheck]) -> str:
    decisions = [one.decision for one in checks]
    outcome = worst(decisions, OUTCOMES)
    # What is still undecided may end worse, unless something is rejected already.
    return "" if UNDECIDED in decisions and outcome != OUTCOMES[0] else outcome


def _told(checks: Sequence[ArtifactCheck]) -> str:
    decisions = [one.decision for one in checks]
    counted = [f"{decisions.count(one)} {one}" for one in OUTCOMES if one in decisions]
    return f"of what it wrote: {', '.join(counted)}" if counted else "not decided any more"


def _preference(correction_id: str) -> str:
    return _digest("preference", correction_id)


def _digest(*values: str) -> str:
    return blake2b(repr(values).encode(errors="replace"), digest_size=16).hexdigest()
