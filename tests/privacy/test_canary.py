"""A secret, wherever the application has it, reaches nothing that Turnspan writes or sends."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from support.canaries import CONTENT, NEEDLES, PLAIN
from support.canary import Left, Run, every_file, every_row, reject_all
from support.representatives import few
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = pytest.mark.with_schema

ON_SPANS = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY"}
RECORDS = (
    *("llm_call", "turn_summary", "tool_call", "message", "definition", "span"),
    *("artifact", "experiment", "lineage", "lineage_event", "agent_version", "rollout", "attempt"),
    *("evolution", "insight"),
)


def leaks(texts: Mapping[str, str | bytes], needles: Iterable[str] = NEEDLES) -> dict[str, str]:
    """Where a needle stands, and what is around it."""
    found: dict[str, str] = {}
    for place, text in texts.items():
        plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        for needle in needles:
            at = plain.find(needle)
            if at >= 0:
                found[f"{place}: {needle}"] = plain[max(0, at - 200) : at + 60]
    return found


def sent(left: Left) -> dict[str, str | bytes]:
    """Everything that left the process but the records."""
    bodies = {f"otlp {i}": body for i, body in enumerate(left.otlp)}
    return {"console": left.stdout, "log": left.stderr, "metrics": left.metrics, **bodies}


@pytest.fixture(scope="module")
def measured() -> list[Left]:
    """Runs whose metrics can be looked at: to run the application again takes two seconds."""
    return []


@pytest.mark.parametrize(
    "environment", few([{}, ON_SPANS], [ON_SPANS]), ids=["spans without", "spans with content"]
)
def test_no_secret_in_an_embedded_store_its_spool_the_log_or_what_is_sent(
    environment: dict[str, str], embedded_dsn: Dsn, run: Run, measured: list[Left]
) -> None:
    """Not in the spool, a rejected segment, a column or file of ClickHouse, OTLP, console, log."""
    left = run(embedded_dsn, **environment)

    assert leaks(sent(left)) == {}
    measured.append(left)
    assert all(PLAIN in str(left_by) for left_by in (left.stdout, left.stderr))
    assert any(PLAIN.encode() in body for body in left.otlp)
    assert PLAIN not in left.metrics

    spooled = every_file(embedded_dsn.spool)
    assert any(PLAIN.encode() in raw for raw in spooled.values())
    assert leaks(spooled) == {}

    with left.landed() as store:
        rows = every_row(store)
    assert {table for table in RECORDS if PLAIN in rows[table]} == set(RECORDS)
    assert leaks(rows) == {}
    assert leaks(every_file(Path(str(embedded_dsn.path)))) == {}


@pytest.mark.release
def test_no_secret_in_a_server_nor_in_what_waits_for_it(
    server_dsn: Dsn, run: Run, tmp_path: Path
) -> None:
    """The same for a real server, and for segments set aside while they waited."""
    away = Dsn(scheme="http", host="127.0.0.1", port=9, database="nowhere")
    waiting = Spool(tmp_path / "waiting")
    run(away, TURNSPAN_SPOOL=str(waiting.folder))
    reject_all(waiting)
    kept = every_file(waiting.rejected_folder)
    assert any(PLAIN.encode() in raw for raw in kept.values())
    assert leaks(kept) == {}

    left = run(server_dsn)
    with left.landed() as store:
        rows = every_row(store)
    assert {table for table in RECORDS if PLAIN in rows[table]} == set(RECORDS)
    assert leaks(rows) == {}


def test_without_content_tokens_cost_latency_and_stop_reasons_land_and_no_content(
    embedded_dsn: Dsn, run: Run
) -> None:
    """capture_content=False: nothing said or done is in any row, segment, span, log or metric."""
    left = run(embedded_dsn, TURNSPAN_CAPTURE_CONTENT="false", **ON_SPANS)
    words = (*NEEDLES, CONTENT)

    assert leaks(sent(left), words) == {}
    spooled = every_file(embedded_dsn.spool)
    assert any(PLAIN.encode() in raw for raw in spooled.values())
    assert leaks(spooled, words) == {}
    with left.landed() as store:
        rows = every_row(store)
        calls = store.query(
            "SELECT input_tokens, output_tokens, cost_usd, duration, finish_reasons, error_type"
            " FROM llm_call WHERE provider = 'openai' ORDER BY start_time"
        ).dicts()
        turns = store.query(
            "SELECT agent_name, stop_reason, user_message, response_text, error_type, error_message"
            " FROM turn_summary WHERE agent_name IN ('shopper', 'failing') ORDER BY start_time"
        ).dicts()
        failed = store.query("SELECT error_type FROM tool_call WHERE failed").rows
    assert leaks(rows, words) == {}
    assert rows["message"] == rows["definition"] == ""
    answered = [call for call in calls if not call["error_type"]]
    assert all(c["input_tokens"] == 100 and c["output_tokens"] == 20 for c in answered)
    assert all(c["cost_usd"] > 0 and c["duration"] > 0 and c["finish_reasons"] for c in answered)
    assert {call["error_type"] for call in calls} == {"", "rate_limit_exceeded"}
    assert [turn["stop_reason"] for turn in turns] == ["done", "error"]
    assert [turn["error_type"] for turn in turns] == ["", "ValueError"]
    assert all(t["user_message"] == t["response_text"] == t["error_message"] == "" for t in turns)
    assert ("ValueError",) in [tuple(row) for row in failed]


def test_metrics_were_recorded(embedded_dsn: Dsn, run: Run, measured: list[Left]) -> None:
    """What the other tests found no secret in was there."""
    left = measured[0] if measured else run(embedded_dsn)
    names = {
        metric["name"]
        for resource in json.loads(left.metrics)["resource_metrics"]
        for scope in resource["scope_metrics"]
        for metric in scope["metrics"]
    }
    assert {"gen_ai.execute_tool.duration", "turnspan.client.cost"} <= names
