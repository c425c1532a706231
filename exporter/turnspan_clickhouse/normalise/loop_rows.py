"""The rows of artifacts and of the improvement loop."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from turnspan import semconv
from turnspan.content.media import digest_media
from turnspan.content.model import dumps_text
from turnspan.loop.versions import canonical_json
from turnspan.redaction.redactor import Redactor
from turnspan.redaction.truncate import limit_text, limit_value
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing import loop_facts as told
from turnspan.tracing.content_store import Fact
from turnspan_clickhouse.normalise.column_values import integer, text
from turnspan_clickhouse.normalise.message_store import MessageStore
from turnspan_clickhouse.rows import loop_tables as rows
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.rows.record import NO_HASH, Record

ARTIFACT: Final = "artifact"
AGENT_VERSION: Final = "agent_version"
"""Kinds of ``definition``."""

_OURS: Final = re.compile(r"[0-9a-f]{32}(?:[0-9a-f]{32})?")


class RowContext:
    """Where the rows of a fact go: project, redaction, batch."""

    __slots__ = ("batch", "message_store", "project", "redactor")

    def __init__(
        self, project: str, redactor: Redactor, message_store: MessageStore, batch: Batch
    ) -> None:
        self.project = project
        self.redactor = redactor
        self.message_store = message_store
        self.batch = batch

    def add(self, record: type[Record], **columns: Any) -> None:
        """Add a row of these columns, of this project and writer."""
        batch = self.batch
        said = {"project": self.project, "writer": batch.writer, "written_at": batch.written_at}
        batch.add(record(**said, **columns))

    def said(self, value: str, where: str) -> str:
        """A text that the application said of its work: redacted."""
        return self.redactor.text(value, where) if value else ""

    def known(self, value: Any) -> str:
        """An id: one of ours as it is, since it hides nothing and records are joined by it."""
        given = text(value)
        return given if _OURS.fullmatch(given) else self.said(given, "loop:id")

    def content(self, value: Any, where: str) -> tuple[str, int]:
        """Content as it may be written, and its size in bytes where it was cut; nothing where
        content is not recorded."""
        if value is None or not self.redactor.settings.capture_content:
            return "", 0
        kept = digest_media(value)
        redactor = self.redactor
        kept = redactor.text(kept, where) if isinstance(kept, str) else redactor.value(kept, where)
        kept, size = limit_value(kept, redactor.settings.content_limit_bytes)
        return kept if isinstance(kept, str) else dumps_text(kept), size

    def define(self, kind: str, body: str, when: int) -> bytes:
        """The hash of a text that is stored once."""
        return self.message_store.definition(
            kind, body, project=self.project, when=when, batch=self.batch
        )


def add(fact: Fact, place: RowContext) -> None:
    """Add the row of a fact of the improvement loop."""
    _BUILDERS[type(fact)](fact, place)


def _artifact(fact: told.ArtifactMade, place: RowContext) -> None:
    loop = fact.loop
    content, size = NO_HASH, len(fact.text.encode("utf-8", "replace"))
    if place.redactor.settings.capture_content:
        body = place.said(fact.text, ARTIFACT)
        body, _ = limit_text(body, place.redactor.settings.content_limit_bytes)
        content = place.define(ARTIFACT, body, fact.created_at)
    place.add(
        rows.ArtifactRow,
        target=place.said(fact.target, f"attribute:{semconv.TURN_TARGET}"),
        artifact_id=fact.artifact_id,
        kind=place.said(fact.kind, "artifact:kind"),
        version=place.said(fact.version, "artifact:version"),
        content=content,
        content_bytes=size,
        session_id=place.said(fact.session_id, f"attribute:{semconv.CONVERSATION_ID}"),
        trace_id=fact.trace_id,
        turn_id=fact.turn_id,
        call_id=fact.call_id,
        lineage_id=place.known(loop.get(semconv.LINEAGE_ID)),
        rollout_id=place.known(loop.get(semconv.ROLLOUT_ID)),
        attempt_id=place.known(loop.get(semconv.ATTEMPT_ID)),
        version_id=place.known(loop.get(semconv.TURN_AGENT_VERSION)),
        cycle=integer(loop.get(semconv.CYCLE)),
        created_at=fact.created_at,
    )


def _experiment(fact: told.ExperimentOpened, place: RowContext) -> None:
    bounds = fact.constraints
    if bounds is not None and not isinstance(bounds, str):
        bounds = dumps_text(place.redactor.value(digest_media(bounds), "experiment:constraints"))
    place.add(
        rows.ExperimentRow,
        experiment_id=place.said(fact.experiment_id, "experiment:id"),
        need=place.said(fact.need, "experiment:need"),
        constraints=place.said(bounds or "", "experiment:constraints"),
        created_at=fact.created_at,
    )


def _lineage(fact: told.LineageOpened, place: RowContext) -> None:
    place.add(
        rows.LineageRow,
        experiment_id=place.said(fact.experiment_id, "experiment:id"),
        lineage_id=fact.lineage_id,
        label=place.said(fact.label, "lineage:label"),
        opened_at=fact.created_at,
    )


def _lineage_event(fact: told.LineageTold, place: RowContext) -> None:
    place.add(
        rows.LineageEventRow,
        lineage_id=fact.lineage_id,
        kind=fact.kind,
        event_id=fact.event_id,
        text=place.said(fact.text, f"lineage:{fact.kind}"),
        author=place.said(fact.author, "lineage:author"),
        created_at=fact.created_at,
    )


def _version(fact: told.VersionMade, place: RowContext) -> None:
    content = NO_HASH
    if fact.config is not None and place.redactor.settings.capture_content:
        body = canonical_json(place.redactor.value(fact.config, AGENT_VERSION)).decode()
        content = place.define(AGENT_VERSION, body, fact.created_at)
    place.add(
        rows.AgentVersion,
        lineage_id=fact.lineage_id,
        version_id=fact.version_id,
        name=place.said(fact.name, "version:name"),
        content=content,
        created_at=fact.created_at,
    )


def _rollout(fact: told.RolloutTold, place: RowContext) -> None:
    where = fact.place
    place.add(
        rows.RolloutRow,
        lineage_id=where.lineage_id,
        rollout_id=where.rollout_id,
        cycle=where.cycle,
        task=place.said(where.task, "rollout:task"),
        version_id=place.known(where.version_id),
        status=fact.status,
        final_attempt_id=fact.final_attempt_id,
        error_type=fact.error_type,
        started_at=fact.started_at,
        duration=fact.duration,
    )


def _attempt(fact: told.AttemptTold, place: RowContext) -> None:
    fact.taken = True  # first: what changes from here on is told again
    where, redactor = fact.place, place.redactor
    given, given_size = place.content(fact.input, "user_message")
    output, output_size = place.content(fact.output, "response_text")
    cut = {"input": given_size, "output": output_size}
    message = fact.error_message if redactor.settings.capture_content else ""
    parameters = fact.parameters
    if parameters is not None:
        parameters = dumps_text(redactor.value(digest_media(parameters), "parameters"))
    place.add(
        rows.AttemptRow,
        lineage_id=where.lineage_id,
        rollout_id=where.rollout_id,
        attempt_id=fact.attempt_id,
        cycle=where.cycle,
        version_id=place.known(where.version_id),
        status=fact.status,
        model=place.said(fact.model, f"attribute:{semconv.REQUEST_MODEL}"),
        parameters=parameters or "",
        input=given,
        output=output,
        error_type=fact.error_type,
        error_message=place.said(message, "error"),
        attributes=EncodedMap.of(
            {semconv.TRUNCATED_PREFIX + name: str(size) for name, size in cut.items() if size}
        ),
        started_at=fact.started_at,
        duration=fact.duration,
    )


def _evolution(fact: told.Evolved, place: RowContext) -> None:
    changes = dict(fact.changes)
    if not changes and fact.configs is not None:
        changes = dict.fromkeys(_differing(*fact.configs), "")
    place.add(
        rows.EvolutionRow,
        lineage_id=fact.lineage_id,
        evolution_id=fact.evolution_id,
        from_version=place.known(fact.from_version),
        to_version=place.known(fact.to_version),
        trigger=place.said(fact.trigger, "evolution:trigger"),
        hypothesis=place.said(fact.hypothesis, "evolution:hypothesis"),
        plan=place.said(fact.plan, "evolution:plan"),
        changes=EncodedMap.of(_redacted(changes, place)),
        author=place.said(fact.author, "evolution:author"),
        created_at=fact.created_at,
    )


def _redacted(changes: Mapping[str, str], place: RowContext) -> dict[str, str]:
    return {
        place.said(kind, "evolution:change"): place.said(what, "evolution:change")
        for kind, what in changes.items()
    }


def _differing(before: Any, after: Any) -> list[str]:
    """The names at the top of two configurations whose values differ."""
    if not (is_dict(before) and is_dict(after)):
        return ["configuration"]
    names = sorted({*before, *after})
    missing = object()
    return [name for name in names if before.get(name, missing) != after.get(name, missing)]


def _insight(fact: told.InsightHad, place: RowContext) -> None:
    place.add(
        rows.InsightRow,
        experiment_id=place.said(fact.experiment_id, "experiment:id"),
        lineage_id=fact.lineage_id,
        insight_id=fact.insight_id,
        pattern=place.said(fact.pattern, "insight:pattern"),
        change=place.said(fact.change, "evolution:change"),
        evolution_ids=list(fact.evolution_ids),
        confidence=fact.confidence,
        author=place.said(fact.author, "insight:author"),
        created_at=fact.created_at,
    )


_BUILDERS: Final[dict[type[Fact], Callable[[Any, RowContext], None]]] = {
    told.ArtifactMade: _artifact,
    told.ExperimentOpened: _experiment,
    told.LineageOpened: _lineage,
    told.LineageTold: _lineage_event,
    told.VersionMade: _version,
    told.RolloutTold: _rollout,
    told.AttemptTold: _attempt,
    told.Evolved: _evolution,
    told.InsightHad: _insight,
}
KINDS: Final = tuple(_BUILDERS)
"""The facts that ``add`` takes."""
