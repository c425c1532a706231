"""What an application says of a context assembly -> its row, and one for each of its items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from turnspan import semconv
from turnspan.runtime.throttle import give_way
from turnspan.tracing.assembly import Assembly
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
    return rows.context(place.resource, batch).row(
        ContextAssemblyRow,
        place,
        rows.origins.of(place.resource),
        session_id=rows.cleaner.column(semconv.CONVERSATION_ID, place.session_id),
        trace_id=f"{place.trace_id:032x}",
        span_id=f"{place.span_id:016x}",
        parent_span_id=f"{place.parent_span_id:016x}" if place.parent_span_id else "",
        assembly_id=assembly.id,
        start_time=assembly.start_time,
        status=status,
        task_type=assembly.task,
        budget=assembly.budget,
    )


def _add_whole(assembly: Assembly, rows: FactRows, batch: Batch) -> None:
    """Add an assembly that has ended, with its items and texts."""
    context = rows.context(assembly.place.resource, batch)
    row = _begun(assembly, FINAL, rows, batch)
    items = assembly.items()
    row.duration = assembly.seconds
    if context.captured:
        row.entities = [context.redacted(one, "context:entity") for one in assembly.entities]
    row.used, row.used_estimated = assembly.used(items)
    row.considered = len(items)
    row.kept = sum(item.kept for item in items)
    row.dropped = row.considered - row.kept
    row.bypassed = assembly.bypassed
    row.bypass_reason = context.redacted(assembly.bypass_reason, "context:reason")
    for step in assembly.steps:
        row.step_names.append(context.redacted(step.name, "context:step"))
        row.step_durations.append(assembly.seconds_of(step))
        row.step_errors.append(step.error_type)
    row.error_type = assembly.error_type
    row.context_hash = land(assembly.text, row.project, row.start_time, rows.message_store, batch)
    taken: set[str] = set()
    for position, item in enumerate(items):
        give_way()
        content = NO_HASH
        if item.text and context.captured:  # it lands once, however many assemblies consider it
            body = context.redacted(item.text, "context")
            content = context.define(ITEM_KIND, body, row.start_time)
        made = context.row(
            ContextItemRow, item, row, item_id=item.id, position=position, content_hash=content
        )
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
