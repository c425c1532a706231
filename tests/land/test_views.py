"""The views: full messages, teams' own columns, each record once in its newest state."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from land import agent_run as run
from support.kept_stores import migrated
from support.landing import insert
from turnspan_clickhouse.rows.tables import LlmCall, columns
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = pytest.mark.both_kinds(False)
SEED = Path(__file__).with_name("seed_queries.sql")


@pytest.fixture(scope="module", params=["embedded", "server"])
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """The hand-made run, landed twice over, in a store of each kind; nobody adds other rows."""
    dsn: Dsn
    if request.param == "embedded":
        dsn = Dsn(scheme="chdb", path=tmp_path_factory.mktemp("views"))
    else:
        dsn = request.getfixturevalue("clickhouse_server").dsn("views")
    with migrated(dsn) as opened:
        for _ in range(2):
            insert(opened, *run.EVERYTHING)
        yield opened


def plain(store: Store, sql: str) -> list[dict[str, Any]]:
    """As teams ask: no ``final`` setting, so the views must see to it themselves."""
    return store.query(sql, settings={"final": 0}).dicts()


def seed(name: str) -> str:
    """One statement of the seed file by its heading, for session s1."""
    found = re.search(rf"-- {re.escape(name)}:[^\n]*\n(.*?);", SEED.read_text(), re.DOTALL)
    assert found is not None, name
    return found[1].replace("<thread_id>", "s1")


def at(seconds: float) -> datetime:
    """The moment so many seconds into the run, as the driver gives it: UTC without saying so."""
    moment = datetime.fromtimestamp(run.T0 / 1e9 + seconds, tz=timezone.utc)
    return moment.replace(tzinfo=None)


def words(history: str) -> list[tuple[str, str]]:
    """(role, text) of each message of a JSON history."""
    return [
        (message["role"], "".join(part["content"] for part in message["parts"]))
        for message in json.loads(history)
    ]


def test_how_turns_end(store: Store) -> None:
    """Seed agent_telemetry 1: root turns by stop reason, the running row replaced."""
    rows = plain(store, seed("agent_telemetry, 1"))
    assert sorted(tuple(row.values()) for row in rows) == [
        ("completed", 1, 2.0),
        ("round_cap", 1, 1.0),
    ]


def test_turns_cut_off_early(store: Store) -> None:
    """Seed agent_telemetry 2."""
    assert plain(store, seed("agent_telemetry, 2")) == [
        {
            "created_at": at(22),
            "project_id": "shop",
            "user_message": "And socks?",
            "stop_reason": "round_cap",
            "rounds": 1,
            "tool_call_count": 0,
        }
    ]


def test_the_trajectory_of_a_session_puts_summaries_last(store: Store) -> None:
    """Seed agent_telemetry 3: calls in the order they ended, each turn's summary after them."""
    rows = plain(store, seed("agent_telemetry, 3"))
    assert [(row["record_type"], row["created_at"]) for row in rows] == [
        ("llm_call", at(2)),
        ("llm_call", at(6)),
        ("subagent_summary", at(6.5)),
        ("llm_call", at(8)),
        ("turn_summary", at(9)),
        ("llm_call", at(21)),
        ("turn_summary", at(22)),
    ]
    assert [row["tool_calls"] for row in rows[:1]] == [run.SEARCH_CALL]
    asked = [tool["name"] for row in rows[:4] for tool in json.loads(row["tool_calls"] or "[]")]
    assert asked == ["search", "rank", "log"]
    assert rows[4]["response_text"] == "Three pairs."


def test_what_the_model_saw(store: Store) -> None:
    """Seed agent_telemetry 4: prompt, history, results of the round, the turn's intent and mode."""
    rows = {row["id"]: row for row in plain(store, seed("agent_telemetry, 4"))}
    assert sorted(rows) == ["a1", "a2", "a3", "a4", "a9"]
    first = rows["a1"]
    assert first["system_prompt"] == run.PROMPT
    assert words(first["chat_history"]) == [("user", "Find shoes, größe 42")]
    assert json.loads(first["tool_results"]) == [
        {"call_id": "c1", "name": "search", "result": '3 "pairs"', "failed": False},
        {"call_id": "c4", "name": "fetch", "result": "boom", "failed": True},
    ]
    assert (first["turn_intent"], first["chat_mode"]) == ("feature_build", "delegate")
    assert (first["prompt_tokens"], first["completion_tokens"], first["total_tokens"]) == (
        100,
        10,
        110,
    )
    assert (first["model_used"], first["duration_ms"]) == ("gpt-5-2026", 1000.0)
    assert json.loads(rows["a2"]["tool_results"]) == []
    assert rows["a2"]["response_thoughts"] == "Easy."
    assert rows["a3"]["system_prompt"] == ""
    lone = rows["a9"]
    assert (lone["turn_intent"], lone["chat_mode"]) == ("", "unknown")
    assert (lone["prompt_tokens"], lone["total_tokens"]) == (None, None)


def test_summary_rows_carry_the_turn_s_figures(store: Store) -> None:
    """What the turn says of itself; its rounds' tools and prompts stand in its calls' rows."""
    (row,) = plain(
        store,
        "SELECT * FROM agent_telemetry WHERE record_type = 'turn_summary' AND turn_id = 't1'",
    )
    assert (row["tool_calls"], row["tool_results"], row["system_prompt"]) == ("[]", "[]", "")
    assert (row["model_used"], row["task_type"], row["target"]) == ("gpt-5-2026", "query", "Shoes")
    assert (row["total_tokens"], row["cost_usd"]) == (330, Decimal("0.03"))
    assert (row["llm_call_count"], row["tool_error_count"], row["error"]) == (2, 1, "")


def test_turn_full_carries_the_whole_turn(store: Store) -> None:
    """Every tool call and result of the turn, and its last call's provider, model and prompt."""
    (row,) = plain(store, "SELECT * FROM turn_full WHERE turn_id = 't1'")
    assert [tool["name"] for tool in json.loads(row["tool_calls"])] == ["search", "rank", "log"]
    assert [result["name"] for result in json.loads(row["tool_results"])] == ["search", "fetch"]
    assert (row["provider"], row["model"]) == ("openai", "gpt-5-2026")
    assert (row["system_prompt"], row["context_assembled"]) == (run.PROMPT, run.CONTEXT)


def test_calls_without_a_turn_show_the_user_s_last_words(store: Store) -> None:
    """Their user_message is taken from the history."""
    (row,) = plain(store, "SELECT user_message FROM agent_telemetry WHERE id = 'a9'")
    assert row["user_message"] == "Hello"


def test_the_most_recent_agent_calls(store: Store) -> None:
    """Seed ephemera_agent_log 1: root turns and turnless calls, newest first, newest outcome."""
    rows = plain(store, seed("ephemera_agent_log, 1"))
    assert [(r["mode"], r["model"], r["target_page"], r["outcome"]) for r in rows] == [
        ("unknown", "gpt-5-2026", "", "modified"),
        ("vibe", "gpt-5-2026", "", "pending"),
        ("delegate", "gpt-5-2026", "Shoes", "used"),
    ]
    assert [row["id"] for row in rows] == [run.T0 + s * run.SECOND for s in (40, 20, 0)]
    assert rows[2]["timestamp"] == at(0)


def test_unassessed_rows(store: Store) -> None:
    """Seed ephemera_agent_log 2: what no one has flagged."""
    rows = plain(store, seed("ephemera_agent_log, 2"))
    assert [row["id"] for row in rows] == [run.T0 + s * run.SECOND for s in (40, 20)]


def test_what_a_reviewer_needs(store: Store) -> None:
    """Seed ephemera_agent_log 3: pending rows with all they saw."""
    (row,) = plain(store, seed("ephemera_agent_log, 3"))
    assert row == {
        "session_id": "s1",
        "provider": "openai",
        "model": "gpt-5-2026",
        "system_prompt": run.PROMPT,
        "context_assembled": "",
        "user_turn": "And socks?",
        "response": "",
        "tool_calls": "[]",
        "target_page": "",
        "outcome": "pending",
        "training_flag": 0,
        "notes": "",
    }


def test_a_judged_turn_in_the_wiki_agent_s_log(store: Store) -> None:
    """The newest comment and flag, the assembled context, tokens, time and error."""
    (row,) = plain(store, "SELECT * FROM ephemera_agent_log WHERE turn_id = 't1'")
    assert (row["outcome"], row["training_flag"], row["notes"]) == ("used", 1, "good one")
    assert (row["context_assembled"], row["user_turn"]) == (run.CONTEXT, "Find shoes, größe 42")
    assert (row["input_tokens"], row["output_tokens"], row["duration_ms"]) == (300, 30, 9000.0)
    assert (row["task_type"], row["error"]) == ("query", "")
    (failed,) = plain(store, "SELECT error FROM ephemera_agent_log WHERE turn_id = 't2'")
    assert failed["error"] == "ValueError"


def test_annotation_current_is_the_newest_of_each_kind(store: Store) -> None:
    """One row for each subject and kind."""
    rows = plain(
        store,
        "SELECT subject_id, kind, outcome, training_flag, comment FROM annotation_current"
        " ORDER BY subject_id, kind",
    )
    assert [tuple(row.values()) for row in rows] == [
        ("a9", "outcome", "modified", None, ""),
        ("s1", "outcome", "used", None, ""),
        ("t1", "comment", "", None, "good one"),
        ("t1", "outcome", "used", None, ""),
        ("t1", "training_flag", "", 1, ""),
    ]


def test_llm_call_full_rebuilds_every_message_in_order(store: Store) -> None:
    """Repeated messages come back in both places, names and definitions included."""
    (row,) = plain(store, "SELECT * FROM llm_call_full WHERE span_id = 'a2'")
    assert words(row["chat_history"]) == [
        ("user", "Find shoes, größe 42"),
        ("assistant", "calling search"),
        ("tool", "3 pairs"),
        ("user", "Find shoes, größe 42"),
    ]
    assert json.loads(row["chat_history"])[2]["name"] == "search"
    assert words(row["output"]) == [("assistant", "Three pairs.")]
    (first,) = plain(store, "SELECT * FROM llm_call_full WHERE span_id = 'a1'")
    assert (first["system_prompt"], first["tool_definitions"]) == (run.PROMPT, run.TOOLS)
    assert first["context_assembled"] == run.CONTEXT
    assert first["system_prompt_hash"] == run.digest(run.PROMPT)


def test_llm_call_full_has_every_column_of_the_record(store: Store) -> None:
    """All columns of llm_call, whose three hashes moved to ``*_hash``, the rebuilt ones, and what
    the turn and its tools say about the call."""
    found = [row["name"] for row in plain(store, "DESCRIBE llm_call_full")]
    hashed = {"system_prompt", "tool_definitions", "context_assembled"}
    expected = {name for name, _ in columns(LlmCall)}
    expected |= {f"{name}_hash" for name in hashed} | {"chat_history", "output"}
    expected |= {"turn_known", "turn_user_message", "turn_intent", "chat_mode", "task_type"}
    expected |= {"target", "tool_results", "tool_error_count"}
    assert sorted(found) == sorted(expected)


def test_a_message_that_is_not_stored_is_said_to_be_missing(store: Store) -> None:
    """It neither shortens the history nor borrows another message's text."""
    (row,) = plain(store, "SELECT chat_history FROM llm_call_full WHERE span_id = 'a4'")
    found = json.loads(row["chat_history"])
    assert [message["role"] for message in found] == ["user", "unknown"]
    assert found[1]["missing"] == run.digest("never stored").hex()


def test_a_call_outside_any_session_finds_its_trace_s_messages(store: Store) -> None:
    """The scope of a message is the trace where there is no session."""
    (row,) = plain(store, "SELECT chat_history, output FROM llm_call_full WHERE trace_id = 'x9'")
    assert words(row["chat_history"]) == [("user", "Hello")]
    assert words(row["output"]) == [("assistant", "Hi.")]


@pytest.mark.parametrize(
    ("view", "rows"),
    [("llm_call_full", 5), ("turn_full", 3), ("agent_telemetry", 8), ("ephemera_agent_log", 3)],
)
def test_each_record_once(store: Store, view: str, rows: int) -> None:
    """Everything was landed twice; the views count once, with the ``final`` setting and without."""
    for final in (0, 1):
        result = store.query(f"SELECT count() FROM {view}", settings={"final": final})
        assert result.rows[0][0] == rows


@pytest.mark.parametrize(
    ("view", "order"),
    [
        ("llm_call_full", ""),
        ("llm_call_full", "ORDER BY start_time DESC"),
        ("turn_full", "ORDER BY start_time DESC"),
        ("agent_telemetry", ""),
        ("agent_telemetry", "ORDER BY created_at DESC"),
        ("ephemera_agent_log", "ORDER BY id DESC"),
    ],
)
def test_a_limit_is_taken_before_contents_are_read(store: Store, view: str, order: str) -> None:
    """The plan cuts the calls and turns to the reader's LIMIT below the join, so that contents are
    read for the sessions of those rows only; without it the join would hold every row of the store.
    """
    plan = store.query(f"EXPLAIN actions = 0 SELECT * FROM {view} {order} LIMIT 10")
    steps = [str(line).strip(" │├└─") for (line,) in plan.rows]
    join = next(at for at, step in enumerate(steps) if step.startswith("Join "))
    below = steps[join + 1 :]
    assert any(step == "Limit" or step.startswith("Limit ") for step in below), steps


@pytest.mark.parametrize(
    ("view", "wanted"),
    [
        ("llm_call_full", "response_model, response_text"),
        ("turn_full", "turn_id, stop_reason"),
        ("agent_telemetry", "record_type, stop_reason, response_text"),
        ("ephemera_agent_log", "id, outcome, training_flag, response"),
    ],
)
def test_contents_that_nobody_asks_for_are_not_read(store: Store, view: str, wanted: str) -> None:
    """No join is left in the plan, and no message is read."""
    plan = store.query(f"EXPLAIN SELECT {wanted} FROM {view}")
    steps = " ".join(str(line) for (line,) in plan.rows)
    assert "Join" not in steps and ".message" not in steps, steps


@pytest.mark.parametrize("where", ["session_id = 's1'", "turn_id = 't1'", "trace_id = 'x1'"])
def test_a_filter_reaches_the_calls_before_the_join(store: Store, where: str) -> None:
    """The condition stands in the read of llm_call itself."""
    plan = store.query(f"EXPLAIN actions = 1 SELECT chat_history FROM llm_call_full WHERE {where}")
    steps = [str(line) for (line,) in plan.rows]
    join = next(at for at, step in enumerate(steps) if "Join (" in step)
    name, value = where.split(" = ")
    assert any(name in step and value in step for step in steps[join:])


@pytest.mark.parametrize("times", [1, 3])
def test_figures_stay_right_whatever_is_replayed(store: Store, times: int) -> None:
    """Every batch landed again under new tokens, in another order, before any merge: counts, costs,
    tokens, tool results and summaries stay what they were."""
    questions = (
        "SELECT count(), sum(cost_usd), sum(input_tokens) FROM llm_call",
        "SELECT count(), sum(cost_usd), countIf(status = 'running') FROM turn_summary",
        "SELECT count(), countIf(failed) FROM tool_call",
        "SELECT count() FROM message",
        "SELECT record_type, count(), sum(cost_usd), sum(total_tokens), sum(tool_error_count),"
        " sum(length(tool_results)), sum(length(tool_calls)), sum(length(chat_history))"
        " FROM agent_telemetry GROUP BY record_type ORDER BY record_type",
        "SELECT outcome, count(), sum(input_tokens), sum(length(tool_calls))"
        " FROM ephemera_agent_log GROUP BY outcome ORDER BY outcome",
        "SELECT count(), sum(length(system_prompt)), sum(length(tool_results)) FROM turn_full",
    )
    before = [store.query(question).rows for question in questions]
    for _ in range(times):
        insert(store, *reversed(run.EVERYTHING))
        insert(store, *run.CALLS[::2], *run.TURNS, run.RUNNING, *run.TOOL_CALLS[:1])
    assert [store.query(question).rows for question in questions] == before
