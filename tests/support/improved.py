"""Answers with lineages, artifacts and corrections around them, to make training data of."""

from __future__ import annotations

from typing import Any

from support.rows import PROJECT, SECOND, T0
from support.training import Recorded
from turnspan_clickhouse.rows import loop_tables as rows
from turnspan_clickhouse.rows.tables import Definition, LlmCall


class Improved(Recorded):
    """Records as an application leaves them that improves its agent."""

    def now(self) -> int:
        """The time of the last record."""
        return T0 + round(self.at * SECOND)

    def lineage(self, id_: str, *, experiment: str = "camp") -> None:
        """A lineage of an experiment."""
        self._add(
            rows.LineageRow, experiment_id=experiment, lineage_id=id_, label=id_, opened_at=T0
        )

    def lock(self, lineage: str, kind: str = "locked", author: str = "coach") -> None:
        """Lock a lineage, or unlock it."""
        self.at += 1
        self._add(
            rows.LineageEventRow,
            lineage_id=lineage,
            kind=kind,
            event_id=f"{lineage}-{self.at}",
            author=author,
            created_at=self.now(),
        )

    def result(
        self,
        id_: str,
        lineage: str,
        question: str = "Q?",
        *,
        cycle: int = 1,
        version: str = "v1",
        status: str = "succeeded",
        task: str = "",
    ) -> None:
        """A rollout of one attempt with one turn, ``id_``; the attempt is called ``a-<id_>``."""
        loop: dict[str, Any] = {
            "lineage_id": lineage,
            "rollout_id": f"r-{id_}",
            "version_id": version,
            "cycle": cycle,
        }
        self.at += 1
        begun = self.now()
        self.turn(id_, question, f"Answer {id_}.", attempt_id=f"a-{id_}")
        for row in self.rows[-2:]:
            if isinstance(row, LlmCall):
                row.attempt_id = f"a-{id_}"
        self._add(rows.RolloutRow, task=task or question, status=status, started_at=begun, **loop)
        self._add(rows.AttemptRow, attempt_id=f"a-{id_}", status=status, started_at=begun, **loop)

    def wrote(self, id_: str, turn: str, text: str, **values: Any) -> None:
        """An artifact of a turn."""
        hash_ = f"artifact {id_}".encode().ljust(16)[:16]
        self.at += 1
        self.rows.append(
            Definition(project=PROJECT, hash=hash_, kind="artifact", body=text, written_at=T0)
        )
        known: dict[str, Any] = {
            "target": "page",
            "artifact_id": id_,
            "content": hash_,
            "content_bytes": len(text.encode()),
            "session_id": f"s-{turn}",
            "turn_id": turn,
            "created_at": self.now(),
        }
        self._add(rows.ArtifactRow, **{**known, **values})

    def correct(self, id_: str, agents: str, turn: str, text: str, **values: Any) -> None:
        """What a person made of an agent's artifact, and that it was chosen over it."""
        self.wrote(id_, turn, text, kind="correction", **values)
        self.prefer(id_, agents, subject="artifact")

    def _add(self, record: Any, **values: Any) -> None:
        self.rows.append(record(project=PROJECT, written_at=T0, **values))


def improved_records() -> Improved:
    """Two lineages of which one is locked, evaluated artifacts, and corrections."""
    made = Improved()
    for lineage in ("A", "B"):
        made.lineage(lineage)
        for cycle in (1, 2):
            made.result(f"{lineage}{cycle}", lineage, "Asked of all?", cycle=cycle)
    made.lock("A")
    for number in range(4):
        id_ = f"k{number}"
        made.turn(id_, f"Question {number}?", f"Text {number}.")
        made.wrote(f"by-{id_}", id_, f"Text {number}.")
        made.judge(f"by-{id_}", "score", "artifact", score=float(number))
        made.correct(f"of-{id_}", f"by-{id_}", id_, f"A better text {number}.")
    return made
