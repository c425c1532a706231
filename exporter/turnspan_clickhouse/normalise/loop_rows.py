"""The rows of artifacts and of the improvement loop: what their facts do not say as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from turnspan import semconv
from turnspan.loop.versions import canonical_json
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing import loop_facts as told
from turnspan.tracing.content_store import Fact
from turnspan_clickhouse.normalise.column_values import integer
from turnspan_clickhouse.normalise.row_context import RowContext
from turnspan_clickhouse.rows import loop_tables as rows
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.rows.record import Record

ARTIFACT: Final = "artifact"
AGENT_VERSION: Final = "agent_version"
"""Kinds of ``definition``."""


def add(fact: Fact, context: RowContext) -> None:
    """Add the row of a fact of the improvement loop."""
    record, columns_of = _ROWS[type(fact)]
    columns = columns_of(fact, context) if columns_of is not None else {}
    context.add(record, fact, getattr(fact, "place", None), **columns)


def _artifact(fact: told.ArtifactMade, context: RowContext) -> dict[str, Any]:
    loop = fact.loop
    columns: dict[str, Any] = {
        "content_bytes": len(fact.text.encode("utf-8", "replace")),
        "lineage_id": loop.get(semconv.LINEAGE_ID),
        "rollout_id": loop.get(semconv.ROLLOUT_ID),
        "attempt_id": loop.get(semconv.ATTEMPT_ID),
        "version_id": loop.get(semconv.TURN_AGENT_VERSION),
        "cycle": integer(loop.get(semconv.CYCLE)),
    }
    if context.captured:
        body = context.limited(fact.text, ARTIFACT)
        columns["content"] = context.define(ARTIFACT, body, fact.created_at)
    return columns


def _experiment(fact: told.ExperimentOpened, context: RowContext) -> dict[str, Any]:
    bounds = fact.constraints
    if not isinstance(bounds, str):
        bounds = context.structure(bounds, "experiment:constraints")
    return {"constraints": bounds}


def _lineage(fact: told.LineageOpened, context: RowContext) -> dict[str, Any]:
    return {"opened_at": fact.created_at}


def _lineage_event(fact: told.LineageTold, context: RowContext) -> dict[str, Any]:
    return {"text": context.redacted(fact.text, f"lineage:{fact.kind}")}


def _version(fact: told.VersionMade, context: RowContext) -> dict[str, Any]:
    if fact.config is None or not context.captured:
        return {}
    body = canonical_json(context.redactor.value(fact.config, AGENT_VERSION)).decode()
    return {"content": context.define(AGENT_VERSION, body, fact.created_at)}


def _attempt(fact: told.AttemptTold, context: RowContext) -> dict[str, Any]:
    fact.taken = True  # first: what changes from here on is told again
    return {
        "parameters": context.structure(fact.parameters, "parameters"),
        "error_message": fact.error_message if context.captured else "",
    }


def _evolution(fact: told.Evolved, context: RowContext) -> dict[str, Any]:
    changes = dict(fact.changes)
    if not changes and fact.configs is not None:
        changes = dict.fromkeys(_differing(*fact.configs), "")
    where = "evolution:change"
    redacted = {
        context.redacted(kind, where): context.redacted(what, where)
        for kind, what in changes.items()
    }
    return {"changes": EncodedMap.of(redacted)}


def _differing(before: Any, after: Any) -> list[str]:
    """The names at the top of two configurations whose values differ."""
    if not (is_dict(before) and is_dict(after)):
        return ["configuration"]
    names = sorted({*before, *after})
    missing = object()
    return [name for name in names if before.get(name, missing) != after.get(name, missing)]


_ROWS: Final[
    dict[type[Fact], tuple[type[Record], Callable[[Any, RowContext], dict[str, Any]] | None]]
] = {
    told.ArtifactMade: (rows.ArtifactRow, _artifact),
    told.ExperimentOpened: (rows.ExperimentRow, _experiment),
    told.LineageOpened: (rows.LineageRow, _lineage),
    told.LineageTold: (rows.LineageEventRow, _lineage_event),
    told.VersionMade: (rows.AgentVersion, _version),
    told.RolloutTold: (rows.RolloutRow, None),
    told.AttemptTold: (rows.AttemptRow, _attempt),
    told.Evolved: (rows.EvolutionRow, _evolution),
    told.InsightHad: (rows.InsightRow, None),
}
KINDS: Final = tuple(_ROWS)
"""The facts that ``add`` takes."""
