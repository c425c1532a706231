"""Calls of which nothing was captured are rows like any other, in the views as well."""

from __future__ import annotations

import pytest

from support import rows
from support.landing import insert
from turnspan_clickhouse.store.client import Store

pytestmark = pytest.mark.both_kinds(False)


@pytest.mark.parametrize("view", ["llm_call_full", "agent_telemetry"])
def test_a_view_shows_calls_that_saw_and_said_nothing(store: Store, view: str) -> None:
    """In a session without a message, and beside one that has some."""
    spoken = rows.message("user", rows.said("hi"), scope="spoken")
    insert(
        store,
        rows.call("c1", session_id="quiet"),
        rows.call("c2", session_id="spoken", input_messages=[spoken.hash]),
        rows.call("c3", session_id="spoken", at=1.0),
        spoken,
    )
    found = store.query(f"SELECT session_id FROM {view} ORDER BY session_id").rows
    assert [row[0] for row in found] == ["quiet", "spoken", "spoken"]
    assert len(store.query(f"SELECT * FROM {view}").rows) == 3
