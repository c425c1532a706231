"""The documentation says what the code does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.shared import REPOSITORY
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]


def test_every_version_is_documented() -> None:
    """docs/instrumentation.md names the packages as they are tested."""
    text = (REPOSITORY / "docs" / "instrumentation.md").read_text(encoding="utf-8")
    pinned = (REPOSITORY / "tests" / "foreign" / "requirements.txt").read_text(encoding="utf-8")
    for version in re.findall(r"==(\S+)", pinned):
        assert version in text or version in ("2.11.0", "2.54.0"), version


EXPECTED = [
    ("12 degrees in Oslo, 12 degrees in Bern\n", [("answer", "", "", 2)]),
    ("page 1 page 2\n", [("summarise", "", "conversation-7", 2)]),
    ("", [("editor", "", "conversation-8", 0), ("writer", "editor", "conversation-8", 0)]),
]
"""What each example prints, and of its turns: agent, parent's agent, session, tools called."""


@pytest.mark.parametrize("number", range(len(EXPECTED)))
def test_examples_of_the_context_page(number: int, embedded_dsn: Dsn, tmp_path: Path) -> None:
    """Each example runs as it stands, and its turns land as the page says: one row each, with the
    tools that ran elsewhere."""
    text = (REPOSITORY / "docs" / "context.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(examples) == len(EXPECTED)
    script = tmp_path / "example.py"
    script.write_text(examples[number], encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"TURNSPAN_STORE": str(embedded_dsn)},
    )
    printed, turns = EXPECTED[number]
    assert (ran.stdout, ran.stderr, ran.returncode) == (printed, "", 0)

    ship(embedded_dsn, deadline=time.monotonic() + 30)
    with open_store(embedded_dsn) as store:
        summaries = store.query(
            "SELECT turn_id, parent_turn_id, agent_name, session_id FROM turn_summary FINAL"
            " ORDER BY agent_name"
        ).dicts()
        tools = [r["turn_id"] for r in store.query("SELECT turn_id FROM tool_call FINAL").dicts()]
    agents = {row["turn_id"]: row["agent_name"] for row in summaries}
    assert [
        (
            row["agent_name"],
            agents.get(row["parent_turn_id"], ""),
            row["session_id"],
            tools.count(row["turn_id"]),
        )
        for row in summaries
    ] == turns
