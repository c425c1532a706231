"""The commands that read: sql, diagnose, replay, show, sessions, turns."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from support.kept_stores import copy_schema, migrated
from support.landing import insert
from support.rows import turn
from support.story import CALL, LONG, TOOL, TRACE, TURN, Invoke
from turnspan_clickhouse.store.dsn import Dsn, data_folder

pytestmark = pytest.mark.usefixtures("kept_engine")

VALUES = (
    "SELECT 'a,\"b\"' AS text, 7::UInt64 AS n, NULL AS none, 1.5::Decimal(18,12) AS money,"
    " toDateTime64('2026-11-21 01:02:03.5', 9, 'UTC') AS time, [1, 2] AS list, map('k', 'v') AS m,"
    " unhex('00ff')::FixedString(2) AS bytes, true AS flag, nan AS nothing"
)


def test_sql_prints_json_that_parses(invoke: Invoke, filled: str) -> None:
    (row,) = json.loads(invoke("--store", filled, "sql", VALUES, "--format", "json").stdout)
    assert row == {
        "text": 'a,"b"',
        "n": 7,
        "none": None,
        "money": 1.5,
        "time": "2026-11-21 01:02:03.500000",
        "list": [1, 2],
        "m": {"k": "v"},
        "bytes": "00ff",
        "flag": True,
        "nothing": None,
    }


def test_sql_prints_one_json_object_a_line(invoke: Invoke, filled: str) -> None:
    shown = invoke(
        "--store", filled, "sql", "SELECT number AS n FROM numbers(3)", "--format", "jsonl"
    )
    assert [json.loads(line) for line in shown.stdout.splitlines()] == [
        {"n": 0},
        {"n": 1},
        {"n": 2},
    ]


def test_sql_prints_csv_that_parses(invoke: Invoke, filled: str) -> None:
    shown = invoke("--store", filled, "sql", VALUES, "--format", "csv")
    header, row = csv.reader(io.StringIO(shown.stdout))
    assert header[:3] == ["text", "n", "none"]
    assert row[:6] == ['a,"b"', "7", "", "1.500000000000", "2026-11-21 01:02:03.500000", "[1, 2]"]


def test_sql_prints_an_aligned_table_on_a_pipe(invoke: Invoke, filled: str) -> None:
    shown = invoke("--store", filled, "sql", "SELECT 'x\ny' AS text, 12345 AS n, 'z' AS c")
    assert shown.stdout == "text      n  c\nx y   12345  z\n"


def test_sql_reads_standard_input_and_takes_parameters(invoke: Invoke, filled: str) -> None:
    sql = (
        "-- how many\n"
        "SELECT count() AS n, {x:String} AS x FROM turn_summary WHERE session_id = {s:String};\n"
    )
    shown = invoke(
        *("--store", filled, "sql", "-", "--format", "csv"),
        *("--param", "s=thread-7", "--param", "x=it's=1"),
        stdin=sql,
    )
    assert shown.stdout == "n,x\n2,it's=1\n"


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE llm_call",
        "INSERT INTO annotation (project) VALUES ('x')",
        "/* SELECT */ ALTER TABLE span DELETE WHERE 1",
        "WITH 1 AS x INSERT INTO annotation (project) SELECT 'x'",
        "SYSTEM FLUSH LOGS",
    ],
)
def test_sql_refuses_to_write_unless_told_to(invoke: Invoke, filled: str, statement: str) -> None:
    shown = invoke("--store", filled, "sql", statement)
    assert shown.exit_code == 2 and "--write" in shown.stderr
    count = "SELECT count() AS n FROM span"
    assert invoke("--store", filled, "sql", count, "--format", "csv").stdout == "n\n2\n"


def test_sql_writes_when_told_to(invoke: Invoke) -> None:
    copy_schema(data_folder() / "store")
    wrote = invoke("sql", "--write", "INSERT INTO annotation (project, comment) VALUES ('p', 'c')")
    assert wrote.exit_code == 0 and wrote.stdout == ""
    assert "may change or delete records" in wrote.stderr and wrote.stderr.endswith(": done\n")
    read = invoke("sql", "--write", "SELECT comment FROM annotation", "--format", "csv")
    assert read.stdout == "comment\nc\n"


@pytest.mark.with_schema
def test_sql_writes_what_begins_as_a_query(invoke: Invoke, store_dsn: Dsn) -> None:
    """On a server readers send their statements as reading ones."""
    at = ("--store", str(store_dsn), "sql", "--write")
    insert = "INSERT INTO annotation (project, comment) SELECT 'p', said FROM made"
    assert invoke(*at, f"WITH made AS (SELECT 'c' AS said) {insert}").exit_code == 0
    read = "WITH 'p' AS asked SELECT comment FROM annotation WHERE project = asked"
    assert invoke(*at, read, "--format", "csv").stdout.splitlines()[1:] == ["c"]


def test_sql_tells_what_clickhouse_says_of_a_wrong_query(invoke: Invoke, filled: str) -> None:
    shown = invoke("--store", filled, "sql", "SELECT nope FROM llm_call")
    assert shown.exit_code == 1 and shown.stdout == ""
    assert "ClickHouse refused the query" in shown.stderr and "nope" in shown.stderr
    assert "do_not_merge" not in shown.stderr and "Traceback" not in shown.stderr


def test_diagnose_without_a_name_answers_all_of_them(invoke: Invoke, filled: str) -> None:
    shown = invoke("--store", filled, "diagnose").stdout
    for title in ("How turns end", "Early stops", "Failing tools", "Context growth"):
        assert title in shown
    rows = {one["name"]: one["rows"] for one in json.loads(
        invoke("--store", filled, "diagnose", "--format", "json").stdout
    )}  # fmt: skip
    assert {row["stop_reason"]: row["turns"] for row in rows["how_turns_end"]} == {
        "completed": 1,
        "max_tokens": 1,
    }


def test_diagnose_takes_a_name_a_window_and_a_project(invoke: Invoke, filled: str) -> None:
    def turns(*options: str) -> list[str]:
        shown = invoke("--store", filled, "diagnose", "early", "--format", "json", *options)
        return [row["turn_id"] for row in json.loads(shown.stdout)]

    assert turns() == turns("--since", "2026-09-21") == turns("--project", "shop") == ["e5" * 8]
    assert turns("--since", "2026-09-22") == turns("--until", "2026-09-21") == []
    assert turns("--project", "nobody") == []


def test_diagnose_shows_the_question_the_answer_and_the_remedy(invoke: Invoke, filled: str) -> None:
    shown = invoke("--store", filled, "diagnose", "failing-tools").stdout
    assert "Which tools fail" in shown and "OSError" in shown and "turnspan show" in shown
    nothing = invoke("--store", filled, "diagnose", "loops")
    assert nothing.exit_code == 1 and "nothing found" in nothing.stdout


def test_diagnose_says_when_there_is_more(invoke: Invoke, filled: str) -> None:
    one = invoke("--store", filled, "diagnose", "how_turns_end", "--limit", "1").stdout
    assert "the first 1: --limit shows more" in one
    assert "shows more" not in invoke("--store", filled, "diagnose", "how", "--limit", "2").stdout


def test_diagnose_lists_its_questions_and_shows_its_sql_without_a_store(invoke: Invoke) -> None:
    unreachable = ("--store", "http://127.0.0.1:9/x")
    listed = invoke(*unreachable, "diagnose", "--list", "--format", "json")
    assert {"how_turns_end", "loops"} <= {one["name"] for one in json.loads(listed.stdout)}
    assert "FROM tool_call" in invoke(*unreachable, "diagnose", "failing", "--sql").stdout


def test_replay_tells_the_whole_conversation(invoke: Invoke, filled: str) -> None:
    shown = invoke("--store", filled, "replay", "thread-7").stdout
    order = [
        "Session thread-7",
        "Turn 1",
        "rule 40",
        "Hello, \N{REPLACEMENT CHARACTER}[31msize",
        "stock(size=42)",
        "OSError",
        "Come back tomorrow.",
        "stopped: completed",
        "Turn 2",
        "Why?",
        "stopped: max_tokens",
    ]
    places = [shown.find(words) for words in order]
    assert -1 not in places and places == sorted(places), (places, shown)
    assert shown.count("rule 40") == shown.count("Come back tomorrow.") == 1
    assert shown.count("Error: closed") == 1


def test_replay_prints_json_for_programs(invoke: Invoke, filled: str) -> None:
    told = json.loads(invoke("--store", filled, "replay", "thread-7", "--format", "json").stdout)
    first = told["steps"][0]
    assert first["record"] == "Turn" and first["cost_usd"] == 0.0125
    assert [step["record"] for step in first["steps"]] == ["Call", "Call"]
    assert first["steps"][0]["new_messages"][0]["parts"][0]["content"] == LONG


def test_replay_without_a_session_takes_the_only_one_or_lists_the_newest(
    invoke: Invoke, filled: str, tmp_path: Path
) -> None:
    shown = invoke("--store", filled, "replay")
    assert shown.exit_code == 0 and "Session thread-7" in shown.stdout
    dsn = Dsn(scheme="chdb", path=tmp_path / "two")
    with migrated(dsn) as store:
        insert(store, turn("a" * 16, 1, session_id="one"), turn("b" * 16, 2, session_id="the two"))
    several = invoke("--store", str(dsn), "replay")
    assert several.exit_code == 0 and "the two" in several.stdout
    assert several.stderr == "\nturnspan replay 'the two'\n"
    copy_schema(data_folder() / "store")
    empty = invoke("replay")
    assert empty.exit_code == 1 and "no sessions" in empty.stderr


@pytest.mark.parametrize("id_", [TURN, CALL[:7], TOOL, TRACE, "thread"])
def test_replay_finds_the_session_of_any_id(invoke: Invoke, filled: str, id_: str) -> None:
    shown = invoke("--store", filled, "replay", id_)
    assert shown.exit_code == 0 and "Session thread-7" in shown.stdout


@pytest.mark.parametrize(
    ("id_", "said"),
    [
        ("thread-7", ["Session thread-7", "turns: 2"]),
        (TURN, [f"Turn {TURN}", "completed", "Hello, size 42?", "model calls: 2", "tool calls: 1"]),
        (CALL, [f"Model call {CALL}", "1,200", "input: 2 messages", "rule 40", "stock(size=42)"]),
        (TOOL, [f"Tool call {TOOL}", "OSError", '"size": 42', "Error: closed"]),
        (TRACE, [f"Trace {TRACE}", "invoke_agent", "execute_tool stock", "closed"]),
    ],
)
def test_show_tells_everything_about_one_record(
    invoke: Invoke, filled: str, id_: str, said: list[str]
) -> None:
    shown = invoke("--store", filled, "show", id_)
    assert shown.exit_code == 0
    for words in said:
        assert words in shown.stdout
    told = json.loads(invoke("--store", filled, "show", id_, "--format", "json").stdout)
    assert told["id"] == id_


def test_show_prints_the_exact_request_of_a_call(invoke: Invoke, filled: str) -> None:
    shown = invoke("--store", filled, "show", CALL, "--request")
    system, user = json.loads(shown.stdout)
    assert system == {"role": "system", "content": LONG} and user["role"] == "user"
    wrong = invoke("--store", filled, "show", TOOL, "--request")
    assert wrong.exit_code == 2 and "needs a model call" in wrong.stderr


@pytest.mark.parametrize("command", ["show", "replay"])
def test_an_unknown_or_ambiguous_id_is_exit_code_1(
    invoke: Invoke, filled: str, command: str
) -> None:
    unknown = invoke("--store", filled, command, "0000000000")
    assert unknown.exit_code == 1 and unknown.stdout == ""
    assert unknown.stderr == f"turnspan: Nothing in {filled} has the id '0000000000'.\n"
    short = invoke("--store", filled, command, TURN[:5])
    assert short.exit_code == 1 and "a beginning needs 6 characters" in short.stderr


def test_an_ambiguous_id_names_what_it_may_mean(invoke: Invoke) -> None:
    columns = "(project, session_id, turn_id, start_time, status)"
    rows = ", ".join(f"('p', 's', 'abcdef{n}', now64(9), 'final')" for n in (1, 2))
    assert (
        invoke("sql", "--write", f"INSERT INTO turn_summary {columns} VALUES {rows}").exit_code == 0
    )
    shown = invoke("show", "abcdef")
    assert shown.exit_code == 1
    assert "turn abcdef1 in project p, turn abcdef2 in project p; write more of it" in shown.stderr


def test_sessions_and_turns_are_listed_newest_first(invoke: Invoke, filled: str) -> None:
    (session,) = json.loads(invoke("--store", filled, "sessions", "--format", "json").stdout)
    assert (session["session_id"], session["turns"], session["last_stop"]) == (
        "thread-7",
        2,
        "max_tokens",
    )
    listed = json.loads(invoke("--store", filled, "turns", "--format", "json").stdout)
    assert [row["turn_id"] for row in listed] == ["e5" * 8, TURN]
    nothing = invoke("--store", filled, "turns", "--session", "nobody")
    assert nothing.exit_code == 1 and "there is no session 'nobody'" in nothing.stderr


def test_turns_are_filtered(invoke: Invoke, filled: str) -> None:
    """As on the page; a filter that is none says what there is."""
    listed = invoke("--store", filled, "turns", "--filter", "stop:max_tokens", "--format", "json")
    assert [row["turn_id"] for row in json.loads(listed.stdout)] == ["e5" * 8]
    listed = invoke("--store", filled, "turns", "--filter", "failed:stock", "--format", "json")
    assert [row["turn_id"] for row in json.loads(listed.stdout)] == [TURN]
    refused = invoke("--store", filled, "turns", "--filter", "colour:red")
    assert refused.exit_code == 2
    assert "There is no filter 'colour'" in refused.stderr


def test_a_text_is_found(invoke: Invoke, filled: str) -> None:
    """With where it stands, and that everything was looked through; nothing found is a finding."""
    found = invoke("--store", filled, "find", "come back")
    assert found.exit_code == 0
    assert "assistant message" in found.stdout
    assert "Come back tomorrow." in found.stdout
    assert "everything was looked through" in found.stderr
    rows = invoke("--store", filled, "find", "closed", "--format", "jsonl").stdout.splitlines()
    # The message that told the model the result is not another hit.
    assert {json.loads(row)["kind"] for row in rows} == {"tool result"}
    nothing = invoke("--store", filled, "find", "nowhere at all", "--format", "json")
    assert nothing.exit_code == 1
    assert json.loads(nothing.stdout)["hits"] == []
