"""What is known of a turn without anybody judging it: what became of what it wrote."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from turnspan_clickhouse.store.client import Store
from turnspan_records.judging.history import JudgmentRecord
from turnspan_records.quality.artifact_checks import (
    ArtifactCheck,
    Correction,
    checks_of_turn,
    corrections,
    worst,
)
from turnspan_records.quality.sources import OUTCOMES


@dataclass(frozen=True, slots=True)
class Signal:
    """What was found of what a turn wrote, and what that suggests."""

    suggests: str = ""
    """``used``, ``modified`` or ``rejected``: the worst that holds of what machines said."""
    checks: list[ArtifactCheck] = field(default_factory=list[ArtifactCheck])
    revisions: list[Correction] = field(default_factory=list[Correction])
    """What people made of the turn's texts."""


def signal(store: Store, project: str, turn_id: str, told: Iterable[JudgmentRecord]) -> Signal:
    """The passive signal of a turn of which ``told`` was said. Raises as ``Store.query``."""
    said = [
        one.outcome
        for one in told
        if one.kind == "outcome" and one.withdrawn_at is None and one.author.startswith("passive:")
    ]
    checks = checks_of_turn(store, project, turn_id)
    corrected = {one.artifact_id for one in checks if one.correction_id}
    revisions = [
        revision
        for artifact_id in sorted(corrected)
        for revision in corrections(store, project=project, artifact_id=artifact_id)
    ]
    return Signal(worst(said, OUTCOMES), checks, revisions)
