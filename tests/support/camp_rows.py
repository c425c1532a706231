"""A small experiment: a lineage of two versions, each tried once with success, and judged."""

from __future__ import annotations

from typing import Any

from support.rows import PROJECT, SECOND, T0, call, turn
from turnspan_clickhouse.rows import loop_tables as rows
from turnspan_clickhouse.rows.tables import Annotation, Definition, Record

LINEAGE, ROLLOUTS = "4" * 32, ("a" * 32, "b" * 32)
ATTEMPTS = ("c" * 32, "d" * 32, "e" * 32)
VERSIONS = ("f" * 64, "0" * 64)


def at(seconds: float) -> int:
    return T0 + round(seconds * SECOND)


def made(record: Any, /, **values: Any) -> Any:
    return record(project=PROJECT, written_at=T0, **values)


def score(kind: str, id_: str, given: float, name: str = "score") -> Any:
    return made(
        Annotation,
        subject_kind=kind,
        subject_id=id_,
        kind=name,
        annotation_id=f"{id_}{name}",
        score=given,
        created_at=at(100),
    )


def attempt(number: int, rollout: int, status: str, **values: Any) -> Any:
    return made(
        rows.AttemptRow,
        lineage_id=LINEAGE,
        rollout_id=ROLLOUTS[rollout],
        attempt_id=ATTEMPTS[number],
        cycle=rollout + 1,
        version_id=VERSIONS[rollout],
        status=status,
        model="m",
        started_at=at(number),
        duration=1.0,
        **values,
    )


def prompt(number: int, body: str) -> Any:
    return made(Definition, hash=bytes([number]) * 16, kind="agent_version", body=body)


def camp_rows() -> list[Record]:
    """All its records; the experiment is called ``camp``."""
    lineage = {"lineage_id": LINEAGE}
    return [
        made(rows.ExperimentRow, experiment_id="camp", need="articles", constraints="short"),
        made(rows.LineageRow, experiment_id="camp", label="A", opened_at=T0, **lineage),
        made(
            rows.LineageEventRow,
            kind="strategy",
            event_id="1",
            text="plain",
            created_at=T0,
            **lineage,
        ),
        *(
            made(
                rows.AgentVersion,
                version_id=version,
                name=f"A{number}",
                content=bytes([number]) * 16,
                created_at=at(number),
                **lineage,
            )
            for number, version in enumerate(VERSIONS, 1)
        ),
        prompt(1, '{"prompt":"You write.","tools":[]}'),
        prompt(2, '{"prompt":"You write well."}'),
        *(
            made(
                rows.RolloutRow,
                rollout_id=rollout,
                cycle=number + 1,
                version_id=VERSIONS[number],
                started_at=at(number),
                task="page",
                **lineage,
            )
            for number, rollout in enumerate(ROLLOUTS)
        ),
        attempt(0, 0, "failed", error_type="ValueError", error_message="too long"),
        attempt(1, 0, "succeeded", output="The first."),
        attempt(2, 1, "succeeded"),
        turn(
            "1" * 16,
            2.5,
            attempt_id=ATTEMPTS[2],
            user_message="Write.",
            response_text="A second.",
            **lineage,
        ),
        call("2" * 16, 2.6, attempt_id=ATTEMPTS[2], input_tokens=7, output_tokens=3, **lineage),
        made(
            rows.ArtifactRow,
            target="page",
            artifact_id="9" * 32,
            content=bytes([3]) * 16,
            attempt_id=ATTEMPTS[2],
            rollout_id=ROLLOUTS[1],
            version_id=VERSIONS[1],
            created_at=at(3),
            **lineage,
        ),
        prompt(3, "A second."),
        made(
            rows.EvolutionRow,
            evolution_id="7" * 32,
            from_version=VERSIONS[0],
            to_version=VERSIONS[1],
            changes={"prompt": "well"},
            created_at=at(2),
            **lineage,
        ),
        made(
            rows.InsightRow,
            experiment_id="camp",
            insight_id="8" * 32,
            pattern="care helps",
            change="prompt",
            created_at=at(4),
        ),
        score("attempt", ATTEMPTS[1], 4),
        score("artifact", "9" * 32, 7),
        score("artifact", "9" * 32, 0.1, "evaluation:wit"),
    ]
