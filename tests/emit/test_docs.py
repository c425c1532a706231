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
from turnspan import config
from turnspan.metrics import instruments
from turnspan.turn import stop_reasons
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store


def test_every_variable_is_documented_with_its_default() -> None:
    """docs/configuration.md has a row for each option, with the real default."""
    text = (REPOSITORY / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([A-Z_]+)` \|[^|]*\| ([^|]*) \|", text, re.MULTILINE))
    defaults = config.Settings()

    assert set(rows) == {option.variable for option in config.OPTIONS}
    for option in config.OPTIONS:
        default = getattr(defaults, option.field)
        written = rows[option.variable].strip().strip("`")
        if option.field not in ("project", "content_on_spans", "content_on_events"):
            assert written == str(default).lower(), option.variable


def test_every_metric_and_version_is_documented() -> None:
    """docs/instrumentation.md names what is recorded, and the packages as they are tested."""
    text = (REPOSITORY / "docs" / "instrumentation.md").read_text(encoding="utf-8")
    written = re.findall(r"`(gen_ai[a-z_.]*|turnspan[a-z_.]*)`((?:, `\.[a-z_.]*`)*)", text)
    names = {first for first, _ in written}
    for first, rest in written:
        for last in re.findall(r"`(\.[a-z_.]*)`", rest):
            names |= {f"{prefix}{last}" for prefix in _prefixes(first)}
    for metric in (*instruments.METRICS, *instruments.OBSERVED):
        assert metric.name in names, metric.name
    pinned = (REPOSITORY / "tests" / "foreign" / "requirements.txt").read_text(encoding="utf-8")
    for version in re.findall(r"==(\S+)", pinned):
        assert version in text or version in ("2.11.0", "2.54.0"), version


def test_every_stop_reason_is_documented() -> None:
    """docs/turns.md has each stop reason that a turn may be given."""
    text = (REPOSITORY / "docs" / "turns.md").read_text(encoding="utf-8")
    words = vars(stop_reasons).items()
    named = {value for name, value in words if name.isupper() and name[0] != "_"}
    reasons = [value for value in named if isinstance(value, str)]
    assert len(reasons) == 11
    assert [reason for reason in reasons if f"`{reason}" not in text] == []


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


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
