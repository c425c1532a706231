"""What the page's endpoints ask of a store, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from starlette.testclient import TestClient

from support.assembled import FULL
from support.camp_rows import ATTEMPTS, LINEAGE
from support.consortium_rows import JURY
from support.rows import PROJECT, message, said
from support.snapshots import Asked, Recorder, compare, kept
from support.story import CALL, LONG, TOOL, TURN
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.web import reader
from turnspan_console.web.api import endpoints
from turnspan_console.web.app import make_app
from turnspan_records.diagnostics import diagnostics

TOPIC = "endpoints"
PORT, TOKEN = 4319, "token-of-a-test"
LATER = "d4" * 8
SYSTEM = message("system", said(LONG), scope="thread-7").hash.hex()
SHOP = {"project": PROJECT}
SESSION = {**SHOP, "session": "thread-7"}
TIME = {"since": "2026-09-01", "until": "2026-10-01"}
TURN_FILTER = "stop:max_tokens,loop_detected -agent:none rounds>0"
BY = {"by": "ada"}
SUBJECT = {"kind": "turn", "id": TURN, "project": PROJECT}

READING: dict[str, tuple[str, dict[str, Any]]] = {
    "call": ("/api/call", {**SHOP, "span": CALL}),
    "call-nothing": ("/api/call", {**SHOP, "span": "0123456789abcdef"}),
    "request": ("/api/request", {**SHOP, "span": CALL}),
    "diff": ("/api/diff", {**SHOP, "before": CALL, "after": LATER}),
    "errors": ("/api/errors", {}),
    "errors-sorted": ("/api/errors", {"sort": "-rate", "limit": 1}),
    "filters": ("/api/filters", {}),
    "facets-named": (
        "/api/facets",
        {**SHOP, "filter": "agent:none", "name": ["agent", "attribute.team"], "text": "s"},
    ),
    "turns-sorted": ("/api/turns", {"sort": "cost", "limit": 1}),
    "sessions-sorted": ("/api/sessions", {"sort": "-calls", "limit": 1}),
    "errors_tool": ("/api/errors/tool", {"tool": "stock"}),
    "lookup": ("/api/lookup", {"id": TURN[:8]}),
    "lookup-run": ("/api/lookup", {"id": JURY}),
    "lookup-attempt": ("/api/lookup", {"id": ATTEMPTS[2]}),
    "names": ("/api/names", {"text": "st"}),
    "overview_ends": ("/api/overview/ends", TIME),
    "overview_ends-filter": ("/api/overview/ends", {**SHOP, **TIME, "filter": TURN_FILTER}),
    "overview_trend": ("/api/overview/trend", TIME),
    "overview_trend-filter": ("/api/overview/trend", {**SHOP, **TIME, "filter": TURN_FILTER}),
    "overview_looks": ("/api/overview/looks", TIME),
    "overview_looks-filter": ("/api/overview/looks", {**SHOP, **TIME, "filter": TURN_FILTER}),
    "diagnostic-window": ("/api/diagnostic", {"name": "slow_calls", **SHOP, **TIME, "limit": 1}),
    **{f"diagnostic-{name}": ("/api/diagnostic", {"name": name}) for name in diagnostics()},
    "week": ("/api/week", {"week": "2026-W39", **SHOP}),
    "outline": ("/api/outline", SESSION),
    "outline-loops": ("/api/outline", {**SHOP, "session": "loops"}),
    "outline-trace": ("/api/outline", {**SHOP, "trace": "9f" * 16}),
    "message-text": ("/api/message-text", {**SHOP, "scope": "thread-7", "hash": SYSTEM}),
    "tool-text": ("/api/tool-text", {**SHOP, "span": TOOL, "field": "result"}),
    "definition": ("/api/definition", {**SHOP, "hash": (b"t" * 16).hex()}),
    "stop": ("/api/stop", {**SHOP, "turn": TURN}),
    "stop-loop": ("/api/stop", {**SHOP, "turn": "7a" * 8}),
    "stop-cut": ("/api/stop", {**SHOP, "turn": "e5" * 8}),
    "session-find": ("/api/session-find", {**SESSION, "text": "size"}),
    "saved": ("/api/saved", SESSION),
    "saved-call": ("/api/saved", {**SHOP, "call": CALL}),
    "schema": ("/api/schema", {}),
    "sql_functions": ("/api/sql/functions", {}),
    "sql_saved": ("/api/sql/saved", {}),
    "views": ("/api/views", {}),
    "store": ("/api/store", {}),
    "arrivals": ("/api/arrivals", {}),
    "turns": ("/api/turns", {}),
    "turns-page": ("/api/turns", {**SHOP, **TIME, "limit": 2}),
    "turns-filter": ("/api/turns", {"filter": TURN_FILTER}),
    "turns-judged": ("/api/turns", {"filter": "outcome:used score>1 tool:stock failed:stock"}),
    "sessions": ("/api/sessions", {}),
    "sessions-filter": ("/api/sessions", {**SHOP, **TIME, "filter": TURN_FILTER, "limit": 1}),
    "facets": ("/api/facets", TIME),
    "facets-filter": ("/api/facets", {**SHOP, "filter": TURN_FILTER}),
    "histogram": ("/api/histogram", TIME),
    "histogram-filter": ("/api/histogram", {**SHOP, **TIME, "filter": TURN_FILTER}),
    "find": ("/api/find", {"text": "size"}),
    "review_queues": ("/api/review/queues", BY),
    "review_left": ("/api/review/left", BY),
    "review_left-own": ("/api/review/left", {**BY, **SHOP, **TIME, "order": "dearest",
                                             "odd": True, "each": True, "limit": 2}),
    "review_left-sample": ("/api/review/left", {**BY, "queue": "sample", "seed": 3}),
    "review_turn": ("/api/review/turn", {**SHOP, "turn": TURN}),
    "review_earlier": ("/api/review/earlier", BY),
    "review_summary": ("/api/review/summary", BY),
    "surroundings": ("/api/surroundings", {}),
    "settings": ("/api/settings", {}),
    "compare": ("/api/compare", {"ids": ["8a" * 8, "8b" * 8], **BY}),
    "compare-attempts": ("/api/compare", {"ids": [*ATTEMPTS[1:]], **BY}),
    "compare_alike": ("/api/compare/alike", {**SHOP, "turn": "8a" * 8}),
    "context": ("/api/context", {"id": FULL}),
    "context-call": ("/api/context", {"id": CALL, **SHOP}),
    "context_outcomes": ("/api/context/outcomes", {"item": "Tides", **SHOP}),
    "consortium": ("/api/consortium", {}),
    "consortium-window": ("/api/consortium", {**SHOP, **TIME, "limit": 1}),
    "consortium_run": ("/api/consortium/run", {"run": JURY}),
    "lineage_experiments": ("/api/lineage/experiments", {}),
    "lineage": ("/api/lineage", {"session": "camp"}),
    "serving": ("/api/serving", {}),
    "first-records": ("/api/first-records", {}),
}  # fmt: skip
"""GET: the name of the snapshot (the path, then the case), the path and its parameters."""

POSTED: dict[str, tuple[str, dict[str, Any]]] = {
    "messages": ("/api/messages", {**SHOP, "scope": "thread-7", "hashes": [SYSTEM]}),
    "sql": ("/api/sql", {"sql": "SELECT name FROM tool_call ORDER BY span_id"}),
    "sql-parameter": ("/api/sql", {"sql": "SELECT {n:UInt8} AS n", "parameters": {"n": "7"}}),
    "sql-plan": ("/api/sql", {"sql": "SELECT count() FROM tool_call", "plan": True}),
    "sql-refused": ("/api/sql", {"sql": "DROP TABLE tool_call"}),
    "sql_save": ("/api/sql/save", {"name": "ones", "sql": "SELECT 1"}),
    "views_save": ("/api/views/save", {"name": "odd", "address": "/turns?f=look%3Aloops"}),
    "views_rename": ("/api/views/rename", {"name": "odd", "new": "loops"}),
    "views_remove": ("/api/views/remove", {"name": "loops"}),
    "settings_retention": ("/api/settings/retention", {"window_days": 30.0}),
    "review_judge": ("/api/review/judge", {**SHOP, **BY, "turn": "7a" * 8, "id": "1" * 32,
                                           "outcome": "modified"}),
    "review_undo": ("/api/review/undo", BY),
    "datasets": ("/api/datasets", {**SHOP, "name": "asked", "turns": ["7a" * 8]}),
    "judge": ("/api/judge", {**BY, "id": "2" * 32, "subjects": [SUBJECT], "score": 3.0}),
    "judge_take-back": ("/api/judge/take-back", {**BY, "given": [
        {**SHOP, "subject_kind": "turn", "subject_id": TURN, "kind": "score", "id": "2" * 32}]}),
    "compare_order": ("/api/compare/order", {**BY, "id": "3" * 32,
                                             "groups": [["8a" * 8], ["8b" * 8]]}),
    "compare_all-bad": ("/api/compare/all-bad", {**BY, "id": "4" * 32,
                                                 "ids": [TURN, "e5" * 8]}),
    "lineage_steer": ("/api/lineage/steer", {**BY, "id": "5" * 32, "word": "directive",
                                             "text": "Name every source.",
                                             "lineages": [{**SHOP, "id": LINEAGE}]}),
    "first-records_demo": ("/api/first-records/demo", {}),
}  # fmt: skip
"""POST, on a copy of the store, one after the other."""


def _page(dsn: Dsn) -> Any:
    """A client of the page, whose types are partly unknown."""
    app = make_app(reader.StoreReader(dsn), tokens=[TOKEN], port=PORT)
    client = TestClient(app, base_url=f"http://127.0.0.1:{PORT}")
    client.headers["authorization"] = f"Bearer {TOKEN}"
    return client


@pytest.fixture(scope="module")
def asked(recorder: Recorder, records_dsn: Dsn, copied_dsn: Dsn) -> Mapping[str, Asked]:
    """Every question, in this order."""
    found: dict[str, Asked] = {}
    with pytest.MonkeyPatch.context() as patch:
        # What a question has written lands with the next one, and not when a second has passed.
        patch.setattr(reader, "LAND_SECONDS", 0.0)
        patch.setattr(reader, "_LANDING_SECONDS", 60.0)
        with _page(records_dsn) as page:
            page.get("/api/store")
            for name, (path, query) in READING.items():
                found[name] = recorder.ask(partial(_get, page, path, query))
        with _page(copied_dsn) as page:
            for name, (path, body) in POSTED.items():
                page.get("/api/store")
                found[name] = recorder.ask(partial(_post, page, path, body))
    return found


def _get(page: Any, path: str, query: dict[str, Any]) -> Any:
    return _told(page.get(path, params=query))


def _post(page: Any, path: str, body: dict[str, Any]) -> Any:
    return _told(page.post(path, json=body))


def _told(response: Any) -> Any:
    answer = response.json()
    if "functions" in answer:  # 2,000 of the engine's
        answer["functions"] = [one for one in answer["functions"] if one["name"] == "argMax"]
    return answer if response.status_code == 200 else {"status": response.status_code, **answer}


@pytest.mark.parametrize("name", [*READING, *POSTED])
def test_an_endpoint_asks_and_answers_as_before(
    name: str, asked: Mapping[str, Asked], sql: Mapping[str, str]
) -> None:
    """The SQL and the JSON are those of the snapshot."""
    compare(TOPIC, asked, name, sql)


def test_every_endpoint_has_a_snapshot() -> None:
    """A new one is named here, and no file is left of one that is gone."""
    questions = {**READING, **POSTED}
    assert {path for path, _ in questions.values()} == {one.path for one in endpoints()}
    assert kept(TOPIC) == set(questions)
