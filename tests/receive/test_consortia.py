"""Consortium runs of a process that sends OTLP: what their spans say becomes their rows."""

from __future__ import annotations

import pytest

import turnspan
from receive.serving import serving
from receive.test_order import ask
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]


def two_iterations() -> str:
    """A run of two iterations whose member fails once, in a run; returns the inner one's id."""
    with turnspan.consortium("Outer?", name="outer") as outer:
        with (
            turnspan.session("s-1"),
            outer.member("m"),
            turnspan.consortium("Which?", name="jury", strategy="rank") as run,
        ):
            for iteration in (1, 2):
                with run.member("a"), turnspan.inference(model="a") as call:
                    call.response(text=f"answer {iteration}")
                with pytest.raises(KeyError), run.member("b", instance=2):
                    raise KeyError("gone")
                with run.arbiter(model="judge") as arbiter:
                    with turnspan.inference(model="judge") as call:
                        call.response(text="a is right")
                    arbiter.decided(
                        "a is right",
                        confidence=iteration / 2,
                        ranking=["a", "b#2"],
                        needs_iteration=iteration == 1,
                    )
            run.final("a is right")
        outer.final("done")
    return run.id


def test_runs_travel_as_spans(embedded_dsn: Dsn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Members, arbiters, who won, how it ended and which arbiter was the final one; no prompt."""
    with serving(embedded_dsn) as served:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{served.endpoint}/v1/traces")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf")
        turnspan.configure(service_name="shop", exporters=["otlp"])
        run = two_iterations()
        turnspan.shutdown()
    found = {str(row["name"]): row for row in ask(embedded_dsn, "SELECT * FROM consortium_run")}
    jury = found["jury"]
    assert (jury["consortium_id"], jury["status"], jury["strategy"]) == (run, "finished", "rank")
    assert (jury["project"], jury["session_id"], jury["source"]) == ("shop", "s-1", "live")
    assert jury["outer_id"] == found["outer"]["consortium_id"]
    assert (jury["iterations"], jury["members"]) == (2, ["a", "b#2"])
    assert (jury["answers"], jury["failed_answers"]) == (4, 2)
    assert (jury["arbiter"], jury["winner"], jury["confidences"]) == ("judge", "a", [0.5, 1.0])
    assert jury["calls"] == 4

    decided = ask(
        embedded_dsn, "SELECT needs_iteration FROM consortium_iteration ORDER BY iteration"
    )
    assert [row["needs_iteration"] for row in decided] == [1, 0]
    roles = "SELECT consortium_role AS role FROM llm_call FINAL ORDER BY start_time"
    assert [row["role"] for row in ask(embedded_dsn, roles)] == [0, 2, 0, 1]
    (error,) = ask(
        embedded_dsn, "SELECT DISTINCT error_type FROM consortium_member WHERE model = 'b'"
    )
    assert error["error_type"] == "KeyError"
