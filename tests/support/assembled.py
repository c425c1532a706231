"""A turn with two context assemblies, for the tests of the command."""

from __future__ import annotations

from typing import Any

from support.rows import PROJECT, T0, call, turn
from turnspan_clickhouse.rows.tables import ContextAssemblyRow, ContextItemRow, Definition, Record

TURN, CALL, OTHER, BARE = "1a" * 8, "2b" * 8, "3c" * 8, "4d" * 8
FULL, BYPASS = "5e" * 8, "6f" * 8
TEXT = "\n".join(f"line {number}" for number in range(1, 41))


def assembled() -> list[Record]:
    """A turn with a context of two sections that is over its budget, and one that is bypassed."""
    common: dict[str, Any] = {
        "project": PROJECT,
        "session_id": "thread-y",
        "turn_id": TURN,
        "trace_id": "e" * 32,
        "start_time": T0,
        "written_at": T0,
    }
    of: dict[str, Any] = {**common, "assembly_id": FULL}
    later: dict[str, Any] = {**common, "start_time": T0 + 5}
    made: list[Record] = [
        turn(TURN, session_id="thread-y"),
        turn(BARE, 9, session_id="thread-z"),
        call(CALL, 1, session_id="thread-y", turn_id=TURN, context_assembled=b"c" * 16,
             attributes={"turnspan.context.id": FULL}),
        call(OTHER, 2, session_id="thread-y", turn_id=TURN),
        ContextAssemblyRow(**of, span_id=FULL, duration=0.25, status="final", task_type="edit_page",
                        entities=["Cabo Norte"], budget=100, used=130, considered=3, kept=2,
                        dropped=1, step_names=["plan"], step_durations=[0.2],
                        step_errors=["KeyError"], context_hash=b"c" * 16),
        ContextItemRow(**of, item_id="Rules", section="instructions", tokens=90, kept=True),
        ContextItemRow(**of, item_id="Cabo Norte", position=1, section="encyclopedia", tokens=40,
                    score=0.8765, hop=0, kept=True, content_hash=b"i" * 16, source="wiki"),
        ContextItemRow(**of, item_id="Tides", position=2, section="encyclopedia", tokens=70,
                    reason="budget"),
        Definition(project=PROJECT, hash=b"c" * 16, kind="context_assembled", body=TEXT),
        Definition(project=PROJECT, hash=b"i" * 16, kind="context_item", body="Lit in 1887."),
        ContextAssemblyRow(**later, assembly_id=BYPASS, span_id=BYPASS,
                        status="final", task_type="query", bypassed=True, bypass_reason="plain",
                        step_names=["pre_check"], step_durations=[0.1], step_errors=[""],
                        entities=["Tides"]),
    ]  # fmt: skip
    return made
