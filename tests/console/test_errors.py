"""`turnspan errors`: what fails, and one tool closely."""

from __future__ import annotations

import json

from support.story import TOOL, Invoke


def test_what_failed_for_people_and_for_programs(filled: str, invoke: Invoke) -> None:
    """By shape, with the rate; the page shows the same."""
    shown = invoke("--store", filled, "errors")
    assert shown.exit_code == 0, shown.stderr
    heading, row = shown.stdout.splitlines()
    assert heading.split()[:5] == ["what", "name", "error", "times", "failure"]
    assert row.split()[:6] == ["tool", "stock", "OSError", "1", "100.0%", "1"]
    assert row.endswith("closed")
    [told] = json.loads(invoke("--store", filled, "errors", "--format", "json").stdout)["shapes"]
    assert (told["name"], told["times"], told["of"], told["place"]["span_id"]) == (
        "stock",
        1,
        1,
        TOOL,
    )


def test_a_tool_closely(filled: str, invoke: Invoke) -> None:
    """What it was fed, and what the model did next."""
    lines = [
        line.strip() for line in invoke("--store", filled, "errors", "stock").stdout.splitlines()
    ]
    assert lines[0] == "Tool stock"
    assert lines[3].split() == ["1", "time", "no", "more", "tools", "newest", TOOL]
    assert lines[lines.index("arguments that fail") + 2 :][:2] == [
        '{"size":42}',
        "→ Error: closed",
    ]
    assert lines[-1] == "none in this time"


def test_nothing_failed(filled: str, invoke: Invoke) -> None:
    """It is said, and is an exit code; programs get what there is."""
    shown = invoke("--store", filled, "errors", "--project", "nobody")
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert "nothing that failed" in shown.stderr
    shown = invoke("--store", filled, "errors", "unknown", "--format", "json")
    assert (shown.exit_code, json.loads(shown.stdout)["fed"]) == (1, [])
    assert "no failure of a tool 'unknown'" in shown.stderr
