"""The views and the indexes, where rows land anew in another turn or week."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from land import agent_run as run
from support.landing import insert
from turnspan_clickhouse.rows.tables import LlmCall, TurnSummary
from turnspan_clickhouse.store.client import Store

pytestmark = pytest.mark.both_kinds(False)


def plain(store: Store, sql: str) -> list[dict[str, Any]]:
    """As teams ask: no ``final`` setting, so the views must see to it themselves."""
    return store.query(sql, settings={"final": 0}).dicts()


def test_what_an_index_found_is_looked_for_again_in_its_own_week_only(store: Store) -> None:
    """The sorting key begins with the week: where a skip index left granules over, the engine adds
    those of equal keys, and none of them lies in another week."""
    week = 7 * 86_400 * run.SECOND
    for n in range(3):
        insert(
            store,
            *(
                LlmCall(
                    project="weeks",
                    session_id=session,
                    turn_id=f"{session}-{n}",
                    span_id="c",
                    start_time=run.T0 + (40 + n) * week,
                )
                for session in ("a", "z")
            ),
        )
    plan = store.query("EXPLAIN indexes = 1 SELECT * FROM llm_call WHERE turn_id = 'a-1'")
    steps = [str(line).strip() for (line,) in plan.rows]
    expanded = next(at for at, step in enumerate(steps) if step.startswith("PrimaryKeyExpand"))
    parts = next(step for step in steps[expanded:] if step.startswith("Parts: "))
    assert parts == "Parts: 1/1", steps


def test_what_moved_to_another_turn_is_not_found_under_the_old_one(store: Store) -> None:
    """A call lands again under the agent that took it over, a turn under the turn around it: no
    index may leave the newest version out while it finds an older one."""
    call = LlmCall(project="moved", session_id="m", turn_id="old", span_id="c1", start_time=run.T0)
    turn = TurnSummary(project="moved", session_id="m", turn_id="nested", start_time=run.T0)
    insert(store, replace(call, written_at=1), replace(turn, written_at=1, stop_reason="done"))
    moved = replace(turn, written_at=2, stop_reason="done", parent_turn_id="new")
    insert(store, replace(call, written_at=2, turn_id="new"), moved)

    for asked in (
        "SELECT count() FROM llm_call_full WHERE turn_id = '{turn}'",
        "SELECT count() FROM agent_telemetry WHERE record_type = 'llm_call' AND turn_id = '{turn}'",
    ):
        assert [plain(store, asked.replace("{turn}", t))[0]["count()"] for t in ("old", "new")] == [
            0,
            1,
        ], asked
    for settings in ({}, {"final": 0}):
        table = "llm_call" if not settings else "llm_call FINAL"
        rows = store.query(f"SELECT turn_id FROM {table} WHERE turn_id = 'old'", settings=settings)
        assert rows.dicts() == []
    summaries = plain(store, "SELECT record_type FROM agent_telemetry WHERE turn_id = 'nested'")
    assert [row["record_type"] for row in summaries] == ["subagent_summary"]
