"""What an application says of a context assembly -> its row, and one for each of its items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from turnspan import semconv
from turnspan.redaction.redactor import Redactor
from turnspan.runtime.throttle import give_way
from turnspan.tracing.assembly import Assembly, AssemblyItem
from turnspan.tracing.content_store import ContextFact
from turnspan_clickhouse.normalise.context_texts import land
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import NO_HASH, ContextAssemblyRow, ContextItemRow

if TYPE_CHECKING:
    from turnspan_clickhouse.normalise.fact_rows import FactRows

RUNNING: Final = "running"
FINAL: Final = "final"
ITEM_KIND: Final = "context_item"
"""What an item's text is called among the definitions."""


def context_rows(fact: ContextFact, rows: FactRows, batch: Batch) -> None:
    """Add what a fact about an assembly says."""
    assembly = fact.assembly
    if fact.stage == "assembled":
        rows.contexts.add(assembly, fact.text)
    elif fact.stage == "ended":
        _add_whole(assembly, rows, batch)
    elif not assembly.ended:  # else the final row is on its way
        batch.add(_begun(assembly, RUNNING, rows, batch))


def _begun(assembly: Assembly, status: str, rows: FactRows, batch: Batch) -> ContextAssemblyRow:
    """What an assembly's row says from the beginning; its identity is in it."""
    place = assembly.place
    origin = rows.origin(place.resource)
    column = rows.cleaner.column
    return ContextAssemblyRow(
        project=origin.project,
        service=origin.service,
        environment=origin.environment,
        session_id=column(semconv.CONVERSATION_ID, place.session_id),
        turn_id=place.turn_id,
        trace_id=f"{place.trace_id:032x}",
        span_id=f"{place.span_id:016x}",
        parent_span_id=f"{place.parent_span_id:016x}" if place.parent_span_id else "",
        assembly_id=assembly.id,
        start_time=assembly.start_time,
        status=status,
        agent_name=column(semconv.AGENT_NAME, place.agent_name),
        task_type=rows.redactor.text(assembly.task, "context:task"),
        budget=assembly.budget,
        writer=batch.writer,
        written_at=batch.written_at,
    )


def _add_whole(assembly: Assembly, rows: FactRows, batch: Batch) -> None:
    """Add an assembly that has ended, with its items and texts."""
    redactor = rows.redactor
    row = _begun(assembly, FINAL, rows, batch)
    items = assembly.items()
    row.duration = assembly.seconds
    if redactor.settings.capture_content:
        row.entities = [redactor.text(one, "context:entity") for one in assembly.entities]
    row.used, row.used_estimated = assembly.used(items)
    row.considered = len(items)
    row.kept = sum(item.kept for item in items)
    row.dropped = row.considered - row.kept
    row.bypassed = assembly.bypassed
    row.bypass_reason = redactor.text(assembly.bypass_reason, "context:reason")
    for step in assembly.steps:
        row.step_names.append(redactor.text(step.name, "context:step"))
        row.step_durations.append(assembly.seconds_of(step))
        row.step_errors.append(step.error_type)
    row.error_type = assembly.error_type
    row.context_hash = land(
        assembly.text, row.project, row.start_time, rows.message_store, redactor, batch
    )
    taken: set[str] = set()
    for position, item in enumerate(items):
        give_way()
        made = _item(row, position, item, rows, batch)
        made.item_id = _free(made.item_id, taken)
        batch.add(made)
    batch.add(row)


def _free(item_id: str, taken: set[str]) -> str:
    """The id, numbered where masking has made two ids one."""
    name, number = item_id, 2
    while name in taken:
        name, number = f"{item_id}#{number}", number + 1
    taken.add(name)
    return name


def _item(
    of: ContextAssemblyRow, position: int, item: AssemblyItem, rows: FactRows, batch: Batch
) -> ContextItemRow:
    redactor = rows.redactor
    return ContextItemRow(
        project=of.project,
        session_id=of.session_id,
        turn_id=of.turn_id,
        trace_id=of.trace_id,
        assembly_id=of.assembly_id,
        start_time=of.start_time,
        item_id=redactor.text(item.id, "context:id"),
        position=position,
        section=redactor.text(item.section, "context:section"),
        source=redactor.text(item.source, "context:source"),
        tokens=item.tokens,
        tokens_estimated=item.tokens_estimated,
        score=item.score,
        kept=item.kept,
        reason=redactor.text(item.reason, "context:reason"),
        hop=item.hop,
        requires_depth=item.requires_depth,
        content_hash=_content(of, item, redactor, rows, batch),
        written_at=batch.written_at,
    )


def _content(
    of: ContextAssemblyRow, item: AssemblyItem, redactor: Redactor, rows: FactRows, batch: Batch
) -> bytes:
    """The hash of an item's text, which lands once, however many assemblies consider it."""
    if not item.text or not redactor.settings.capture_content:
        return NO_HASH
    return rows.message_store.definition(
        ITEM_KIND,
        redactor.text(item.text, "context"),
        project=of.project,
        when=of.start_time,
        batch=batch,
    )
