"""The records of judgments, and of what became of what agents wrote."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.record import TIME, ProjectRecord, column


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Annotation(ProjectRecord):
    """One judgment; rows are only appended."""

    subject_kind: str = column("String", "")
    """What is judged: ``turn``, ``call``, ``tool``, ``span``, ``session``, ``artifact``,
    ``attempt`` or ``consortium``."""
    subject_id: str = column("String", "")
    """The id of the judged record."""
    kind: str = column("String", "", redact="annotation:kind")
    """``outcome``, ``training_flag``, ``score``, ``comment``, ``directive``, ``preference`` or
    ``evaluation:NAME``."""
    annotation_id: str = column("String", "")
    """The judgment's id; the same id is stored once."""
    outcome: str = column("String", "", redact="annotation:outcome")
    """``pending``, ``used``, ``modified`` or ``rejected``; an evaluation's label."""
    training_flag: int | None = column("Nullable(Int8)")
    """1 good candidate for training, -1 exclude, 0 neither."""
    score: float | None = column("Nullable(Float64)")
    """The score; people give 1 to 10."""
    comment: str = column("String", "", redact="annotation:comment")
    """The reason or note."""
    chosen_id: str = column("String", "")
    """The better record of a preference."""
    rejected_id: str = column("String", "")
    """The other record of a preference."""
    directive: str = column("String", "", redact="annotation:directive")
    """What to do differently."""
    author: str = column("String", "", redact="annotation:author")
    """Who judged; a machine's name begins with ``passive:``."""
    source: str = column("String", "", redact="annotation:source")
    """Where it was judged: a form, a job, a command."""
    created_at: int = column(TIME, 0)
    """When it was made."""
    confidence: float | None = column("Nullable(Float64)")
    """How sure the author is, from 0 to 1."""
    ranking_id: str = column("String", "")
    """The ranking that a preference is part of."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Withdrawal(ProjectRecord):
    """One withdrawal of a judgment."""

    subject_kind: str = column("String", "")
    subject_id: str = column("String", "")
    kind: str = column("String", "", redact="annotation:kind")
    withdrawal_id: str = column("String", "")
    """The withdrawal's id."""
    annotation_id: str = column("String", "")
    """The withdrawn judgment; empty for the newest of its kind at that time."""
    author: str = column("String", "", redact="annotation:author")
    """Who withdrew it. Without ``annotation_id``, only that author's judgments are meant; all if
    empty."""
    source: str = column("String", "", redact="annotation:source")
    comment: str = column("String", "", redact="annotation:comment")
    created_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ReviewQueue(ProjectRecord):
    """A saved queue of turns to judge."""

    name: str = column("String", "")
    """The queue's name."""
    definition: str = column("String", "")
    """What the queue contains, as JSON."""
    author: str = column("String", "")
    """Who saved it."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ArtifactCheckRow(ProjectRecord):
    """One check of an artifact in a wiki or repository; the newest of a source holds."""

    source: str = column("String", "")
    """The wiki or repository."""
    artifact_id: str = column("String", "")
    turn_id: str = column("String", "")
    target: str = column("String", "")
    decision: str = column("String", "")
    """``used``, ``modified``, ``rejected``, ``undecided``, ``not_found`` or ``not_judged``."""
    reason: str = column("String", "")
    """Why, in a sentence."""
    revision: str = column("String", "")
    """The agent's own revision."""
    found_by: str = column("String", "")
    """How it was found: ``text``, ``lines``, ``version`` or ``user and time``."""
    revised_at: int = column(TIME, 0)
    """When the agent's revision was saved."""
    later_revision: str = column("String", "")
    """The revision that decided."""
    correction_id: str = column("String", "")
    """The artifact with the person's text."""
    similarity: float | None = column("Nullable(Float64)")
    """Likeness of the agent's and the person's text, from 0 to 1."""
    decided_at: int = column(TIME, 0)
    """When the deciding revision was saved; for ``used``, the end of the window."""
    checked_at: int = column(TIME, 0)
    """When it was checked."""
