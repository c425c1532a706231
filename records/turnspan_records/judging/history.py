"""What was said of one record: every judgment, with what holds, and every withdrawal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from turnspan_clickhouse.store.client import Store
from turnspan_records.rows import utc


@dataclass(frozen=True, slots=True)
class Judged:
    """One judgment of a record."""

    id: str
    subject_kind: str
    subject_id: str
    kind: str
    """``outcome``, ``training_flag``, ``score``, ``comment``, ``directive``, ``preference``, or
    ``evaluation:`` and its name."""
    outcome: str
    training_flag: int | None
    score: float | None
    comment: str
    directive: str
    chosen_id: str
    rejected_id: str
    author: str
    source: str
    confidence: float | None
    ranking_id: str
    """Of a preference that a ranking is made of: the id of the ranking."""
    created_at: datetime
    holds: bool
    """Whether it is what ``annotation_current`` shows."""
    withdrawn_at: datetime | None = None
    withdrawn_by: str = ""
    reason: str = ""
    """Why it was withdrawn."""

    @property
    def said(self) -> str:
        """What it says, in a word; of a comment or a directive its text."""
        if self.kind == "preference":
            return f"{self.chosen_id} over {self.rejected_id}"
        value = {"training_flag": self.training_flag, "score": self.score}.get(self.kind)
        if value is not None:
            return f"{value:g}"
        if self.kind.startswith("evaluation:") and self.score is not None:
            return f"{self.score:g} {self.outcome}".strip()
        return self.outcome or self.directive or self.comment


_COLUMNS = """
SELECT annotation_id AS id, subject_kind, subject_id, kind, outcome, training_flag, score, comment,
    directive, chosen_id, rejected_id, author, source, confidence, ranking_id, created_at,
    -- In nanoseconds: the driver's times are coarser, and two judgments may be as close.
    (NOT (startsWith(author, 'passive:') OR startsWith(source, 'machine')),
        toUnixTimestamp64Nano(created_at), toUnixTimestamp64Nano(written_at), annotation_id) AS rank
FROM annotation
WHERE project = {project:String} AND subject_kind IN {kinds:Array(String)}
"""
_JUDGMENTS = f"""
SELECT * FROM
({_COLUMNS} AND subject_id = {{id:String}}
UNION ALL
{_COLUMNS} AND kind = 'preference' AND rejected_id = {{id:String}})
ORDER BY created_at, id
"""
_WITHDRAWN = """
SELECT kind, subject_id, annotation_id AS id, withdrawn_at, withdrawn_by, reason
FROM annotation_withdrawn
WHERE project = {project:String} AND subject_kind IN {kinds:Array(String)}
    AND subject_id IN {ids:Array(String)}
"""

_Identity = tuple[str, str, str]


def judgments(store: Store, project: str, kind: str, id: str) -> list[Judged]:
    """Every judgment of a record, the oldest first; preferences over it as well.

    ``kind`` is ``turn``, ``call``, ``tool``, ``span``, ``session``, ``artifact`` or ``attempt``. A
    judgment that was told again is there once, with the time of the last telling. Raises
    ``StoreError`` as ``Store.query``.
    """
    kinds = ["call", "llm_call"] if kind == "call" else [kind]
    parameters: dict[str, Any] = {"project": project, "kinds": kinds, "id": id}
    rows = store.query(_JUDGMENTS, parameters).dicts()
    if not rows:
        return []
    withdrawn: dict[_Identity, Mapping[str, Any]] = {}
    if store.query("SELECT count() FROM withdrawal", settings={"final": 0}).rows[0][0]:
        parameters["ids"] = sorted({str(row["subject_id"]) for row in rows})
        withdrawn = {_identity(row): row for row in store.query(_WITHDRAWN, parameters).dicts()}
    holding = _holding(row for row in rows if _identity(row) not in withdrawn)
    return [_judged(row, holding, withdrawn) for row in rows]


def _identity(row: Mapping[str, Any]) -> _Identity:
    return str(row["kind"]), str(row["subject_id"]), str(row["id"])


def _holding(rows: Iterable[Mapping[str, Any]]) -> set[_Identity]:
    """What ``annotation_current`` shows of the rows of a record, of which none is missing. To ask
    the view would have it work out the withdrawals of all records."""
    newest: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for row in sorted(rows, key=lambda row: tuple(row["rank"])):
        about = [str(row["subject_id"])]
        if row["kind"] == "preference":
            about = sorted((str(row["chosen_id"]), str(row["rejected_id"])))
        key = (str(row["subject_kind"]), str(row["kind"]), *about)
        newest[key] = row
    return {_identity(row) for row in newest.values()}


def _judged(
    row: Mapping[str, Any],
    holding: set[_Identity],
    withdrawn: Mapping[_Identity, Mapping[str, Any]],
) -> Judged:
    identity = _identity(row)
    values: dict[str, Any] = {name: value for name, value in row.items() if name != "rank"}
    values.update(created_at=utc(row["created_at"]), holds=identity in holding)
    if taken_back := withdrawn.get(identity):
        values["withdrawn_at"] = utc(taken_back["withdrawn_at"])
        values["withdrawn_by"] = taken_back["withdrawn_by"]
        values["reason"] = taken_back["reason"]
    return Judged(**values)
