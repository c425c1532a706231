"""A week's report, over the records of coding sessions and of other agents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.coding_sessions import MODEL, PROJECT, coding_turn, session
from support.kept_stores import KeptStores
from support.landing import insert
from support.rows import SECOND, T0, call, tool, turn
from support.shop_session import session as shop_session
from turnspan_clickhouse.rows.tables import Record, SpanRow
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.read_only import Cancellation
from turnspan_console.cli import turnspan
from turnspan_console.web.api import endpoints
from turnspan_console.web.endpoints import BadRequestError
from turnspan_records.coding.week import WeekReport, week_report, week_window

WEEK = "2026-W39"
"""In which hand-made records begin."""
HOSTILE = "\x1b[31mDelete <script>alert(1)</script> all\u202e the old files"
Rows = list[dict[str, Any]]


def rows(report: WeekReport, name: str) -> Rows:
    """The answer of one part."""
    [part] = [one for one in report.parts if one.question.name == name]
    return part.result.dicts()


def picked(found: Rows, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in found]


def _shell(id_: str, at: float, turn_id: str, command: str, **values: Any) -> Record:
    given = {"name": "Bash", "arguments": json.dumps({"command": command}), "project": PROJECT}
    return tool(id_, at, turn_id=turn_id, **given, **values)


def _compacted() -> list[Record]:
    """Sessions whose history became shorter: as a span, as an event of one, and unrecorded."""
    facts = {
        "turnspan.coding.compaction.trigger": "auto",
        "turnspan.coding.compaction.tokens_before": "150000",
    }
    event = json.dumps([{"name": "compaction", "attributes": facts}])
    found: list[Record] = []
    for at, name in enumerate(("cspan", "cevent", "cshrunk")):
        place: dict[str, Any] = {"project": PROJECT, "session_id": name}
        found.append(coding_turn(f"{name}-t", 100, f"Say {name} and one two three", **place))
        reads = {**place, "turn_id": f"{name}-t", "name": "Read", "result": "x" * 1000}
        for number, (when, path) in enumerate(((101, "a"), (102, "b"), (111, "a"), (112, "c"))):
            found.append(tool(f"{name}-{number}", when, arguments=f'{{"path": "{path}"}}', **reads))
        spans: dict[str, Any] = {**place, "turn_id": f"{name}-t", "trace_id": f"{at}" * 32}
        start = T0 + 105 * SECOND
        if name == "cspan":
            span = SpanRow(span_id=name, start_time=start, name="compaction", **spans)
            span.attributes = facts
            found.append(span)
        elif name == "cevent":
            found.append(SpanRow(span_id=name, start_time=start, name="x", events=event, **spans))
        else:
            for number, (when, tokens) in enumerate(((100, 90_000), (105, 9_000))):
                found.append(call(f"{name}-l{number}", when, input_tokens=tokens, **place,
                                  turn_id=f"{name}-t", agent_name="claude-code"))  # fmt: skip
    return found


def _working() -> list[Record]:
    """Two sessions in which a command failed and then worked in another form, with a loop."""
    found: list[Record] = []
    for id_ in ("w1", "w2"):
        place: dict[str, Any] = {"project": PROJECT, "session_id": id_}
        prompt = f"Please run the unit tests of module number {id_}"
        ends = {"stop_reason": "tool_failure", "tool_error_count": 1, "task_type": "test"}
        found += [
            coding_turn(id_, 200, prompt, max_identical_tool_streak=4, **ends, **place),
            _shell(f"{id_}a", 201, id_, "cd src && pytest -x", failed=True, session_id=id_),
            _shell(f"{id_}b", 202, id_, ".venv/bin/pytest -x", session_id=id_),
            _shell(f"{id_}c", 203, id_, "ls", session_id=id_),
        ]
    return found


def _counted() -> list[Record]:
    """What the agent counted of a session of the project, sent as another project; of a session
    without turns; and tools that were let run or not."""
    found: list[Record] = []
    counts = (("w2", "lines_added", "12.0"), ("w2", "user_seconds", "61.26"), ("x", "commits", "1"))
    for number, (session_id, what, value) in enumerate(counts):
        span = SpanRow("claude-code", session_id=session_id, name="coding.metric")
        span.span_id = span.trace_id = f"{number}" * 16
        span.start_time = T0 + 60 * SECOND
        span.attributes = {
            "turnspan.coding.metric": what,
            "turnspan.coding.metric.value": value,
            "turnspan.coding.metric.series": str(number),
        }
        found.append(span)
    let = {"turnspan.coding.decision": "accept", "turnspan.coding.decision.source": "user"}
    found.append(_shell("let", 210, "w1", "rm a", session_id="w1", attributes=let))
    not_let = {"failed": True, "error_type": "rejected"}
    found.append(_shell("not let", 211, "w1", "rm b", session_id="w1", **not_let))
    return found


@pytest.fixture(scope="module")
def filled(kept_stores: KeptStores) -> Iterator[Store]:
    """Coding sessions, another agent's in its project, a running turn, and the week after. On a
    server, which commands open beside the test."""
    with kept_stores.lend("server") as store:
        insert(store, *session("s1"), *session("s2"), *_working(), *_compacted(), *_counted())
        insert(store, *(row for row in shop_session()))
        running: dict[str, Any] = {"status": "running", "stop_reason": "", "session_id": "h"}
        insert(store, coding_turn("h1", 300, HOSTILE, **running))
        insert(store, coding_turn("h2", 301, HOSTILE, session_id="h", attributes={}))
        insert(
            store, turn("next", 7 * 86_400, user_message="A prompt of the next week", cost_usd=9)
        )
        yield store


def test_spending(filled: Store) -> None:
    """By repository, agent, model and task: root turns once, with the costs of nested ones."""
    found = rows(week_report(filled, WEEK), "week_spending")
    named = {(row["by"], row["name"]): row for row in found}
    parser = named["repository", "parser"]
    assert (parser["turns"], parser["cost_usd"], parser["cost_share"]) == (11, Decimal(6), 1.0)
    assert parser["took_seconds"] == 55.0 and parser["turn"] == "s2t1"
    assert named["repository", "shop"]["cost_usd"] is None, "an unknown cost is not 0"
    assert named["agent", "claude-code"]["turns"] == 11
    assert named["model", MODEL]["cost_usd"] == Decimal(6)
    assert named["model", "gpt-4o"]["cost_usd"] == Decimal("0.25")
    assert named["task", "test"]["turns"] == 2
    shop = rows(week_report(filled, WEEK, project="shop"), "week_spending")
    assert {row["name"] for row in shop} == {"shop", "not named", "gpt-4o"}


def test_counted(filled: Store) -> None:
    """By the repository and agent of a session's turns, whatever project sent the metrics."""
    names = ("counted", "repository", "agent", "amount", "sessions", "session")
    for project, more in ((PROJECT, []), ("", [("commits", "not named", "not named", 1, 1, "x")])):
        found = rows(week_report(filled, WEEK, project=project), "week_counted")
        assert picked(found, *names) == [
            ("user seconds", "parser", "claude-code", 61.3, 1, "w2"),
            ("lines added", "parser", "claude-code", 12, 1, "w2"),
            *more,
            ("tools accepted", "parser", "claude-code", 1, 1, "w1"),
            ("tools rejected", "parser", "claude-code", 1, 1, "w1"),
        ]
    assert not rows(week_report(filled, WEEK, project="shop"), "week_counted")


def test_failures(filled: Store) -> None:
    report = week_report(filled, WEEK)
    found = picked(
        rows(report, "week_failures"), "task", "stop_reason", "turns", "share", "failing_tool"
    )
    assert found == [
        ("test", "tool_failure", 2, 1.0, "Bash"),
        ("not named", "max_tokens", 1, 0.1, ""),
    ]
    assert {row["tool"] for row in rows(report, "failing_tools")} == {"Bash", "price"}
    assert picked(rows(report, "loops"), "turn", "identical_calls") == [("w1", 4), ("w2", 4)]


def test_compactions(filled: Store) -> None:
    """The tokens before, and what was read before it and again after it."""
    found = rows(week_report(filled, WEEK), "week_compactions")
    names = ("session", "trigger", "tokens_before", "repeated_calls", "repeated_bytes")
    assert picked(found, *names) == [
        ("cevent", "auto", 150_000, 1, 1000),
        ("cspan", "auto", 150_000, 1, 1000),
        ("cshrunk", "not recorded", 90_000, 1, 1000),
    ]
    assert found[0]["example_arguments"] == 'Read {"path": "a"}' and found[0]["turn"] == "cevent-t"


def test_said_again(filled: Store) -> None:
    """Nearly the same words count together; a correction is told by what it says."""
    report = week_report(filled, WEEK)
    prompts = rows(report, "week_prompts")
    said = {row["user_message"]: row for row in prompts}
    assert said["No, that is wrong: strip blanks only."]["correction"] is True
    tests = next(row for prompt, row in said.items() if "unit tests" in prompt)
    assert (tests["times"], tests["sessions"], tests["correction"]) == (2, 2, False)
    assert said[HOSTILE]["sessions"] == 1
    written = rows(report, "week_instructions")
    kinds = {(row["kind"], row["instead_of_text"], row["text"]): row for row in written}
    command = kinds["command", "cd src && pytest -x", ".venv/bin/pytest -x"]
    assert (command["times"], command["sessions"], command["turn"]) == (2, 2, "w2")
    assert kinds["correction", "", "No, that is wrong: strip blanks only."]["times"] == 2
    assert not any(row["text"] == HOSTILE for row in written), "said in one session only"


def test_week_of() -> None:
    """ISO weeks in UTC, also where a year has another number in them."""
    now = datetime(2027, 1, 2, 23, tzinfo=timezone.utc)
    name, window = week_window(now=now)
    assert (name, str(window.since)[:10], str(window.until)[:10]) == (
        *("2026-W53", "2026-12-28", "2027-01-04"),
    )
    assert week_window("2026w7") == week_window("2026-W07")
    for wrong in ("2026-W54", "week", "2026-11-27", "1969-W01", "9999-W52", "2026-W0"):
        with pytest.raises(ValueError, match="no week: write 2026-W47"):
            week_window(wrong)


def _invoke(store: Store, *arguments: str) -> Result:
    return CliRunner().invoke(turnspan, ["--store", str(store.dsn), "week", *arguments])


def test_command(filled: Store, tmp_path: Path) -> None:
    """The same as tables, as JSON and as a page; nothing in that week is a finding."""
    shown = _invoke(filled, "--week", WEEK)
    assert shown.exit_code == 0, shown.output
    assert "Week 2026-W39  2026-09-21 to 2026-09-27 (UTC)" in shown.output
    assert ".venv/bin/pytest -x" in shown.output and "\x1b[31m" not in shown.output
    told = json.loads(_invoke(filled, "--week", WEEK, "--format", "json").stdout)
    assert [part["name"] for part in told["parts"]] == [
        *("week_spending", "week_counted", "week_failures", "failing_tools", "loops"),
        *("week_compactions", "week_prompts", "week_instructions"),
    ]
    assert told["since"] == "2026-09-21T00:00:00+00:00"
    path = tmp_path / "week.html"
    assert _invoke(filled, "--week", WEEK, "--html", str(path)).exit_code == 0
    page = path.read_text()
    assert "<script>" not in page and "U+202E" in page and "default-src 'none'" in page
    nothing = _invoke(filled, "--week", "2020-W01")
    assert (nothing.exit_code, nothing.stdout) == (1, "") and "2020-W01" in nothing.stderr
    assert _invoke(filled, "--week", "soon").exit_code == 2


def test_endpoint(filled: Store) -> None:
    """The page's answer: the parts, each with its SQL, and the weeks beside."""
    [one] = [one for one in endpoints() if one.path == "/api/week"]
    query = one.read([("week", WEEK), ("project", PROJECT)], b"")
    answer = one.answered(filled, query, Cancellation())
    assert (answer.before, answer.week, answer.after) == ("2026-W38", WEEK, "2026-W40")
    assert [len(part.rows) > 0 for part in answer.parts] == [True] * 8
    for part in answer.parts:
        assert filled.query(part.sql).names == tuple(part.columns), part.name
    with pytest.raises(BadRequestError):
        one.answered(filled, one.read([("week", "x")], b""), Cancellation())
