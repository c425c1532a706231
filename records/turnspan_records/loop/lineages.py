"""The improvement loop as it was recorded: an experiment, its lineages, and what hangs off them.

Scores are what people and judges said of attempts and artifacts: of a kind ``score`` where there is
one, else the average of the evaluations (``evaluation:...``). Nothing here is summed up in advance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from operator import itemgetter
from typing import Any

import orjson

from turnspan.runtime.type_guards import is_dict
from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access.fields import of_row, utc
from turnspan_records.access.questions import ask
from turnspan_records.lookup import RecordRef
from turnspan_records.loop.improvement import (
    ArtifactRecord,
    AttemptRecord,
    ConfigChange,
    EvolutionRecord,
    ExperimentRecord,
    InsightRecord,
    LineageEventRecord,
    LineageRecord,
    RolloutRecord,
    VersionRecord,
    mean,
    score_of,
)
from turnspan_records.messages import load_definitions
from turnspan_records.sql import statement

_PARTS = ("lineage", "rollout", "attempt", "artifact")


class AmbiguousError(LookupError):
    """Several projects have an experiment of this name."""


def experiments(store: Store, *, project: str = "", limit: int = 20) -> Result:
    """The experiments, last worked on first. Raises ``StoreError`` as ``Store.query``."""
    return ask(store, "lineages/experiments", project=project, limit=limit)


def experiment_of(store: Store, found: RecordRef) -> str:
    """The experiment that a record is of; empty where it is of none.

    Raises ``StoreError`` as ``Store.query``.
    """
    if found.kind not in _PARTS:
        return ""
    asked = {"project": found.project, "id": found.id}
    rows = store.query(statement("lineages/experiment_of", kind=found.kind), asked).rows
    return str(rows[0][0]) if rows else ""


def experiment(store: Store, session: str, *, project: str = "") -> ExperimentRecord:
    """Load everything about an experiment, as ``turnspan lineage`` prints it.

    Raises:
        KeyError: no experiment has this name.
        AmbiguousError: several projects have one; name the project.
        StoreError: as ``Store.query``.
    """
    where = {"experiment": session, "project": project}
    projects = sorted(str(row[0]) for row in ask(store, "lineages/projects", **where).rows)
    if not projects:
        raise KeyError(session)
    if len(projects) > 1:
        raise AmbiguousError(", ".join(projects))
    parameters: dict[str, Any] = {"project": projects[0], "experiment": session}
    made = ExperimentRecord(projects[0], session)
    for row in ask(store, "lineages/experiment", **parameters).dicts():
        made.need, made.constraints = str(row["need"]), str(row["constraints"])
    rows = ask(store, "lineages/lineages", **parameters).dicts()
    parameters["lineages"] = [str(row["lineage_id"]) for row in rows]
    made.lineages += [of_row(LineageRecord, row) for row in rows]
    _fill(store, {one.lineage_id: one for one in made.lineages}, parameters)
    rows = ask(store, "lineages/insights", **parameters).dicts()
    made.insights += [_insight(row, made.lineages) for row in rows]
    return made


def _fill(
    store: Store, lineages: Mapping[str, LineageRecord], parameters: Mapping[str, Any]
) -> None:
    def of(kind: str) -> list[dict[str, Any]]:
        return ask(store, f"lineages/{kind}", **parameters).dicts()

    for row in of("events"):
        lineages[row["lineage_id"]].events.append(of_row(LineageEventRecord, row))
    for row in of("evolutions"):
        lineages[row["lineage_id"]].evolutions.append(of_row(EvolutionRecord, row))
    scores: dict[str, dict[str, list[float]]] = {}
    for row in of("scores"):
        given = scores.setdefault(str(row["subject_id"]), {})
        given.setdefault(str(row["kind"]), []).append(float(row["score"]))
    judged = {id_: {kind: mean(each) for kind, each in by.items()} for id_, by in scores.items()}
    attempts = _attempts(store, parameters, judged)
    for row in of("rollouts"):
        rollout = of_row(RolloutRecord, row)
        rollout.attempts = attempts.get(rollout.rollout_id, [])
        for number, attempt in enumerate(rollout.attempts, 1):
            attempt.number, attempt.final = number, attempt.attempt_id == rollout.final_attempt_id
        lineages[row["lineage_id"]].rollouts.append(rollout)
    by_id = {one.attempt_id: one for each in attempts.values() for one in each}
    for row in of("artifacts"):
        own = judged.get(row["artifact_id"], {})
        made = of_row(ArtifactRecord, row, scores=own, score=score_of([own]))
        maker = by_id.get(row["attempt_id"]) or lineages[row["lineage_id"]]
        maker.artifacts.append(made)
    for lineage in lineages.values():
        for rollout in lineage.rollouts:
            _sum_up(rollout)
    _add_versions(store, lineages, of("versions"), str(parameters["project"]))


def _attempts(
    store: Store, parameters: Mapping[str, Any], judged: Mapping[str, dict[str, float]]
) -> dict[str, list[AttemptRecord]]:
    """The attempts by their rollout, with what their calls used and their turns said."""
    rows = ask(store, "lineages/attempts", **parameters).dicts()
    if not rows:
        return {}
    since = {**parameters, "since": f"{utc(rows[0]['started_at']):%Y-%m-%d %H:%M:%S}"}
    used = {str(row["attempt_id"]): row for row in ask(store, "lineages/used", **since).dicts()}
    said = {str(row["attempt_id"]): row for row in ask(store, "lineages/said", **since).dicts()}
    found: dict[str, list[AttemptRecord]] = {}
    for row in rows:
        id_ = str(row["attempt_id"])
        for name in ("input", "output"):
            row[name] = row[name] or (str(said[id_][name]) if id_ in said else "")
        made = of_row(AttemptRecord, row | used.get(id_, {}), scores=judged.get(id_, {}))
        found.setdefault(str(row["rollout_id"]), []).append(made)
    return found


def _sum_up(rollout: RolloutRecord) -> None:
    """Say of a rollout and its attempts what they were judged with and cost."""
    for attempt in rollout.attempts:
        attempt.score = score_of([attempt.scores, *(one.scores for one in attempt.artifacts)])
        if attempt.final:
            rollout.score = attempt.score
        if attempt.cost_usd is not None:
            rollout.cost_usd = (rollout.cost_usd or Decimal(0)) + attempt.cost_usd


def _add_versions(
    store: Store,
    lineages: Mapping[str, LineageRecord],
    rows: Sequence[dict[str, Any]],
    project: str,
) -> None:
    bodies = load_definitions(store, project, [str(row["content_hash"]) for row in rows])
    configs = {
        str(row["version_id"]): orjson.loads(bodies[row["content_hash"]])
        for row in rows
        if row["content_hash"] in bodies
    }
    for row in rows:
        lineage = lineages[row["lineage_id"]]
        version = of_row(VersionRecord, row, config=configs.get(row["version_id"]))
        units = _units(lineage, version.version_id)
        version.judged = len(units)
        version.score = mean(units) if units else None
        lineage.versions.append(version)
    for lineage in lineages.values():
        first = {one.version_id: one.started_at for one in reversed(lineage.rollouts)}
        by_use = [(first.get(one.version_id, one.created_at), one) for one in lineage.versions]
        lineage.versions = [one for _, one in sorted(by_use, key=itemgetter(0))]
        _compare_versions(lineage, configs)


def _units(lineage: LineageRecord, version_id: str) -> list[float]:
    """What a version was judged with, once for each attempt that counts and each artifact of no
    attempt."""
    tried = [one.score for one in lineage.rollouts if one.version_id == version_id]
    alone = [one.score for one in lineage.artifacts if one.version_id == version_id]
    return [score for score in (*tried, *alone) if score is not None]


def _compare_versions(lineage: LineageRecord, configs: Mapping[str, Any]) -> None:
    """Say of each version what differs from the one that it was made from, or the one before."""
    made_from = {one.to_version: one.from_version for one in lineage.evolutions}
    before = ""
    for version in lineage.versions:
        source = made_from.get(version.version_id, before)
        if source:
            version.made_from = source
            version.changes = differences(configs.get(source), version.config)
        before = version.version_id


def differences(before: Any, after: Any) -> list[ConfigChange]:
    """What differs between two configurations, by the names at their top."""
    if not (is_dict(before) and is_dict(after)):
        old, new = {"configuration": before}, {"configuration": after}
    else:
        old, new = before, after
    return [
        ConfigChange(name, _text(old, name), _text(new, name))
        for name in sorted({*old, *new})
        if (name in old) != (name in new) or old.get(name) != new.get(name)
    ]


def _text(configuration: Mapping[str, Any], name: str) -> str | None:
    value = configuration.get(name)
    if isinstance(value, str) or name not in configuration:
        return value
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()


def _insight(row: dict[str, Any], lineages: Sequence[LineageRecord]) -> InsightRecord:
    made = of_row(InsightRecord, row)
    evolutions = [one for lineage in lineages for one in lineage.evolutions]
    if made.evolution_ids:
        about = [one for one in evolutions if one.evolution_id in made.evolution_ids]
    else:
        about = [
            one
            for lineage in lineages
            if made.lineage_id in ("", lineage.lineage_id)
            for one in lineage.evolutions
            if made.change in one.changes
        ]
    deltas = [one.score_delta for one in about if one.score_delta is not None]
    made.successes = sum(1 for delta in deltas if delta > 0)
    made.failures = len(deltas) - made.successes
    made.average_impact = mean(deltas) if deltas else None
    return made
