"""What was said of one record: every judgment, with what holds, and every withdrawal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from turnspan.annotations.judgments import is_machine
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import utc
from turnspan_records.judging.unlanded import NOTHING, Unlanded
from turnspan_records.sql import statement

ASSESSING: Final = frozenset({"outcome", "training_flag", "score"})
"""The kinds of judgments by which a turn is judged; a note alone is none."""


_SETTLING: Final = ("kind", "outcome", "training_flag", "author", "source")


def settles(said: Mapping[str, Any]) -> bool:
    """Whether a turn of which this was said is done in a queue, unless it is withdrawn."""
    return (
        said["kind"] in ASSESSING
        and said["outcome"] != "pending"
        and said["training_flag"] != 0
        and not is_machine(str(said["author"]), str(said["source"]))
    )


@dataclass(frozen=True, slots=True)
class JudgmentRecord:
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
    def settles(self) -> bool:
        """Whether a turn with this judgment is done in a queue."""
        said = {name: getattr(self, name) for name in _SETTLING}
        return self.withdrawn_at is None and settles(said)

    @property
    def verdict(self) -> str:
        """What it says, in a word; of a comment or a directive its text."""
        if self.kind == "preference":
            return f"{self.chosen_id} over {self.rejected_id}"
        value = {"training_flag": self.training_flag, "score": self.score}.get(self.kind)
        if value is not None:
            return f"{value:g}"
        if self.kind.startswith("evaluation:") and self.score is not None:
            return f"{self.score:g} {self.outcome}".strip()
        return self.outcome or self.directive or self.comment


_Identity = tuple[str, str, str]


def judgments(
    store: Store, project: str, kind: str, id: str, *, also: Unlanded = NOTHING
) -> list[JudgmentRecord]:
    """All judgments of a record, oldest first, with the preferences that name it.

    ``kind`` is ``turn``, ``call``, ``tool``, ``span``, ``session``, ``artifact``, ``attempt`` or
    ``consortium``. A judgment that was sent again appears once, with its newest time. ``also`` is
    what waits in the spool, read before. Raises ``StoreError`` as ``Store.query``."""
    kinds = ["call", "llm_call"] if kind == "call" else [kind]
    parameters: dict[str, Any] = {"project": project, "kinds": kinds, "id": id}
    landed = store.query(statement("judging/judgments"), parameters).dicts()
    waiting = [one for one in also.judgments if _is_about(one, project, kinds, id)]
    rows = {_identity(row): row for row in landed}
    rows.update({_identity(row): row for row in map(_as_stored, waiting)})
    if not rows:
        return []
    parameters["ids"] = sorted({str(row["subject_id"]) for row in rows.values()})
    withdrawn: dict[_Identity, Mapping[str, Any]] = {}
    if store.query("SELECT count() FROM withdrawal", settings={"final": 0}).rows[0][0]:
        taken_back = store.query(statement("judging/withdrawn"), parameters).dicts()
        withdrawn = {_identity(row): row for row in taken_back}
    _tell_since(store, parameters, also, rows, withdrawn)
    holding = _holding(row for row in rows.values() if _identity(row) not in withdrawn)
    in_order = sorted(rows.values(), key=lambda row: (row["rank"][1], row["id"]))
    return [_judged(row, holding, withdrawn) for row in in_order]


def _is_about(row: Mapping[str, Any], project: str, kinds: list[str], id_: str) -> bool:
    of_it = row["subject_id"] == id_ or (row["kind"] == "preference" and row["rejected_id"] == id_)
    return bool(of_it and row["project"] == project and row["subject_kind"] in kinds)


def _as_stored(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row that waits, as the store will give it."""
    made = {name: value for name, value in row.items() if name not in ("project", "written_at")}
    made["id"] = made.pop("annotation_id")
    person = not is_machine(str(row["author"]), str(row["source"]))
    made["rank"] = (person, row["created_at"], row["written_at"], made["id"])
    return made


def _tell_since(
    store: Store,
    parameters: Mapping[str, Any],
    also: Unlanded,
    rows: Mapping[_Identity, Mapping[str, Any]],
    withdrawn: dict[_Identity, Mapping[str, Any]],
) -> None:
    """Tell what waits in the order of time, as ``annotation_withdrawn`` will once it has landed."""
    for row in also.judgments:
        own = _identity(row, "annotation_id")
        before = withdrawn.get(own)
        if before is not None and utc(before["withdrawn_at"]) < utc(row["created_at"]):
            del withdrawn[own]  # judged again since
    subjects = {(str(row["subject_kind"]), str(row["subject_id"])) for row in rows.values()}
    taken = [
        one
        for one in also.withdrawals
        if one["project"] == parameters["project"]
        and (one["subject_kind"], one["subject_id"]) in subjects
    ]
    if not taken:
        return
    landing = store.query(statement("judging/landed_withdrawals"), parameters).rows
    landed = {str(row[0]) for row in landing}
    for one in taken:
        if one["withdrawal_id"] in landed:
            continue
        fits = [
            identity
            for identity, row in sorted(rows.items(), key=lambda each: tuple(each[1]["rank"])[1:])
            if identity not in withdrawn
            and (row["subject_kind"], row["subject_id"], row["kind"])
            == (one["subject_kind"], one["subject_id"], one["kind"])
            and utc(row["created_at"]) <= utc(one["created_at"])
            and (
                row["id"] == one["annotation_id"]
                or (not one["annotation_id"] and one["author"] in ("", row["author"]))
            )
        ]
        if fits:
            withdrawn[fits[-1]] = {
                "withdrawn_at": one["created_at"],
                "withdrawn_by": one["author"],
                "reason": one["comment"],
            }


def _identity(row: Mapping[str, Any], id_: str = "id") -> _Identity:
    return str(row["kind"]), str(row["subject_id"]), str(row[id_])


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
) -> JudgmentRecord:
    identity = _identity(row)
    values: dict[str, Any] = {name: value for name, value in row.items() if name != "rank"}
    values.update(created_at=utc(row["created_at"]), holds=identity in holding)
    if taken_back := withdrawn.get(identity):
        values["withdrawn_at"] = utc(taken_back["withdrawn_at"])
        values["withdrawn_by"] = taken_back["withdrawn_by"]
        values["reason"] = taken_back["reason"]
    return JudgmentRecord(**values)
