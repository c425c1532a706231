"""What each table is ordered by: of rows that are equal there, the newest holds."""

from __future__ import annotations

from typing import Final

from turnspan_clickhouse.rows.record import Record
from turnspan_clickhouse.rows.tables import RECORDS

_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "tombstone": ("project", "kind", "key", "forgetting_id"),
    "llm_call": ("project", "session_id", "start_time", "span_id"),
    "turn_summary": ("project", "session_id", "start_time", "turn_id"),
    "annotation": ("project", "subject_kind", "kind", "subject_id", "annotation_id"),
    "withdrawal": ("project", "subject_kind", "kind", "subject_id", "withdrawal_id"),
    "review_queue": ("project", "name"),
    "artifact": ("project", "target", "artifact_id"),
    "artifact_check": ("project", "source", "artifact_id"),
    "evolution": ("project", "lineage_id", "evolution_id"),
    "insight": ("project", "insight_id"),
    "agent_version": ("project", "lineage_id", "version_id"),
    "attempt": ("project", "lineage_id", "rollout_id", "attempt_id"),
    "rollout": ("project", "lineage_id", "rollout_id"),
    "lineage_event": ("project", "lineage_id", "kind", "event_id"),
    "lineage": ("project", "experiment_id", "lineage_id"),
    "experiment": ("project", "experiment_id"),
    "consortium": ("project", "consortium_id"),
    "consortium_iteration": ("project", "consortium_id", "arbiter_id"),
    "consortium_member": ("project", "consortium_id", "member_id"),
    "tool_call": ("project", "session_id", "start_time", "span_id"),
    "message": ("project", "scope", "hash"),
    "definition": ("project", "hash"),
    "context_assembly": ("project", "session_id", "start_time", "assembly_id"),
    "context_item": ("project", "session_id", "start_time", "assembly_id", "item_id"),
    "span": ("project", "trace_id", "start_time", "span_id"),
    "import_position": ("project", "kind", "source"),
}

KEYS: Final[dict[type[Record], tuple[str, ...]]] = {
    record: _KEYS[record.table] for record in RECORDS
}
"""By the record's class. The week that some tables begin with follows from the time."""
