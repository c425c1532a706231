"""``agent_telemetry`` and ``ephemera_agent_log``, imported from a real PostgreSQL and MariaDB."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

from support import home_tables as made
from support.clickhouse_server import ClickHouseServer
from support.databases import PASSWORD, RealDatabase
from support.kept_stores import migrated
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.importing.home_tables.address import parse_address
from turnspan_records.importing.home_tables.log import Ephemera, HomeTable
from turnspan_records.importing.home_tables.telemetry_log import AgentTelemetry
from turnspan_records.importing.import_run import import_log
from turnspan_records.importing.sources import ImportReport

SEED = Path(__file__).parent.parent / "land/seed_queries.sql"
Folders = pytest.TempPathFactory
NO_REPORT = ImportReport("", "", "")
TELEMETRY, EPHEMERA = "agent_telemetry", "ephemera_agent_log"
TURNS = 9
LONE = made.session(77)
NO_TIME = {"postgresql": "infinity", "mariadb": "0000-00-00 00:00:00.000000"}


@dataclass
class Imported:
    """A database, and a store into which one of its tables was brought."""

    database: RealDatabase
    store: Store
    spool: Path
    report: ImportReport

    def log(self, kind: type[HomeTable], table: str) -> HomeTable:
        return kind(parse_address(self.database.dsn(), table))

    def bring(
        self, kind: type[HomeTable], table: str, *, again: bool = False, project: str = ""
    ) -> ImportReport:
        """Import a table; under a project of its own, what is there is another import's."""
        with self.log(kind, table) as log:
            self.report = import_log(
                lambda: nullcontext(self.store),
                Spool(self.spool),
                log,
                project=project,
                again=again,
            )
        return self.report

    def ask(self, sql: str) -> list[dict[str, Any]]:
        return self.store.query(sql, settings={"final": 0}).dicts()

    def tables(self, project: str = "") -> dict[str, Any]:
        """The records of a project, or of all, without who wrote them when."""
        found: dict[str, Any] = {}
        for name in ("llm_call", "turn_summary", "tool_call", "span", "message", "definition",
                     "annotation"):  # fmt: skip
            writer = name not in ("message", "definition", "annotation")
            sql = (
                f"SELECT * EXCEPT (written_at{', writer' if writer else ''}) FROM {name} FINAL"
                + (" WHERE project = {project:String}" if project else "")
                + " ORDER BY ALL"
            )
            found[name] = self.store.query(sql, {"project": project} if project else {}).rows
        return found


@pytest.fixture(scope="module", params=["postgresql", "mariadb"])
def database(request: pytest.FixtureRequest) -> RealDatabase:
    found: RealDatabase = request.getfixturevalue(f"real_{request.param}")
    return found


@pytest.fixture(scope="module")
def imported(
    database: RealDatabase, clickhouse_server: ClickHouseServer, tmp_path_factory: Folders
) -> Iterator[Imported]:
    """A coding agent's log with rows of all kinds, imported once."""
    made.make_table(database, made.TELEMETRY, TELEMETRY)
    made.insert_rows(database, TELEMETRY, telemetry_rows(database.scheme))
    with migrated(clickhouse_server.dsn(f"telemetry_{database.scheme}")) as store:
        here = Imported(database, store, tmp_path_factory.mktemp(TELEMETRY), NO_REPORT)
        here.bring(AgentTelemetry, TELEMETRY)
        yield here


@pytest.fixture(scope="module")
def logged(
    database: RealDatabase, clickhouse_server: ClickHouseServer, tmp_path_factory: Folders
) -> Iterator[Imported]:
    """A wiki agent's log, likewise."""
    made.make_table(database, made.EPHEMERA, EPHEMERA)
    made.insert_rows(database, EPHEMERA, ephemera_rows(database.scheme))
    with migrated(clickhouse_server.dsn(f"ephemera_{database.scheme}")) as store:
        here = Imported(database, store, tmp_path_factory.mktemp(EPHEMERA), NO_REPORT)
        here.bring(Ephemera, EPHEMERA)
        yield here


def telemetry_rows(scheme: str) -> list[dict[str, Any]]:
    """Turns, two of them interleaved, and rows that are unlike the others."""
    rows = [row for number in range(TURNS) for row in made.made_turn(number, 20 * number)]
    one, other = made.made_turn(20, 400), made.made_turn(22, 400.5)
    rows += [row for pair in zip(one, other, strict=True) for row in pair]
    call = {"record_type": "llm_call", "session_id": LONE, "created_at": made.at(500),
            "model_used": "claude-sonnet-4-5", "turn_intent": "diagnose",
            "chat_mode": "delegate"}  # fmt: skip
    text = {"type": "text", "text": "hi"}
    block = made.anthropic_call("tu_1", "look", {"big": 10**30, "half": 0.5, "far": "\u00e9"})
    rows += [
        {**call, "tool_calls": json.dumps([{"type": "text", "text": "no call"}, block]),
         "chat_history": json.dumps([{"role": "user", "content": [text]}])},
        {**call, "chat_history": "null", "created_at": made.at(501), "total_tokens": 9},
        {**call, "tool_calls": '[{"name": "f", "arguments": {"n": 0.12345678901234567890123}}]',
         "created_at": made.at(502)},
        {**call, "created_at": NO_TIME[scheme], "session_id": None},
        {"record_type": "heartbeat", "created_at": made.at(503), 'odd "name%': "100 %s",
         "response_text": "beat"},
        {"record_type": "turn_summary", "created_at": made.at(504), "stop_reason": "completed",
         "rounds": 1, "tool_call_count": 0, "project_id": "alone", "chat_history": "[1]"},
    ]  # fmt: skip
    if scheme == "mariadb":
        rows.append({**call, "chat_history": '[{"role": "user"', "tool_results": "oops",
                     "created_at": made.at(505)})  # fmt: skip
    return rows


def ephemera_rows(scheme: str) -> list[dict[str, Any]]:
    outcomes = ("pending", "used", "modified", "rejected")
    rows: list[dict[str, Any]] = []
    for number in range(28):
        calls: Any = [made.anthropic_call(f"t{number}", "edit", {"page": f"P{number}"})]
        if number % 3 == 1:
            calls = [made.openai_call(f"t{number}", "edit", {"page": f"P{number}"})]
        elif number % 3 == 2:
            calls = {"choices": [{"message": {"role": "assistant", "tool_calls": [
                made.openai_call(f"t{number}", "edit", {"page": f"P{number}"})]}}]}  # fmt: skip
        rows.append(
            {"timestamp": f"2026-04-01 08:00:{number // 2:02d}", "session_id": f"w{number % 5}",
             "mode": ("copilot", "agent")[number % 2],
             "provider": ("anthropic", "openai")[number % 2],
             "model": ("claude-sonnet-4-5", "gpt-4o")[number % 2], "system_prompt": "Write.",
             "context_assembled": f"# Encyclopedia\n\n{number % 4} \U0001f600",
             "user_turn": f"write {number}", "response": f"wrote {number}" if number else "",
             "tool_calls": json.dumps(calls), "target_page": f"Page {number}",
             "outcome": outcomes[number % 4], "training_flag": (0, 1, -1)[number % 3],
             "notes": f"note {number}" if number % 4 == 0 else None}
        )  # fmt: skip
    unjudged = {"outcome": "pending", "training_flag": 0}
    rows.append({**unjudged, "timestamp": "2026-04-01 09:00:00", "session_id": None})
    if scheme == "mariadb":
        rows.append({**unjudged, "timestamp": "2026-04-01 09:00:01", "tool_calls": "{not json"})
    return rows


def test_every_row_is_accounted_for(imported: Imported) -> None:
    """What the report counts is what the source has, and every oddity is named."""
    seen = imported.report.seen
    (count,) = imported.database.rows("SELECT count(*) AS n FROM agent_telemetry")
    assert sum(seen.values()) == count["n"]
    kinds = imported.database.rows(
        "SELECT record_type, count(*) AS n FROM agent_telemetry GROUP BY record_type"
    )
    words = {"llm_call": "a model call", "turn_summary": "a turn",
             "heartbeat": "a span, since its record_type is not known"}  # fmt: skip
    assert seen == {("agent_telemetry", words[row["record_type"]]): row["n"] for row in kinds}
    reasons = [one.reason for one in imported.report.problems]
    expected = [
        "tool_calls has a number with more digits than a double: its text is kept",
        "created_at is no time that a record can have: it stands in 1970",
        "record_type 'heartbeat' is not known: the row is kept as a span",
    ]
    if imported.database.scheme == "mariadb":
        expected += ["tool_results is no JSON: its text is kept",
                     "chat_history is no JSON: its text is kept"]  # fmt: skip
    assert sorted(reasons) == sorted(expected)


# -- the teams' own questions ------------------


def seed(name: str, *, limit: bool = True) -> str:
    found = re.search(rf"-- {re.escape(name)}:[^\n]*\n(.*?);", SEED.read_text(), re.DOTALL)
    assert found is not None, name
    return found[1] if limit else re.sub(r"LIMIT \d+", "", found[1])


def plain(value: Any) -> Any:
    """A value of a source as records have it: in UTC, and without NULL in texts."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(timezone.utc).replace(tzinfo=None)
    if isinstance(value, Decimal):
        return float(value)
    return value


def texts(row: dict[str, Any]) -> dict[str, Any]:
    return {key: "" if value is None else plain(value) for key, value in row.items()}


def entries_of(value: Any) -> list[dict[str, Any]]:
    """What a column of JSON lists, whether a driver has parsed it or not."""
    said: Any = json.loads(value) if type(value) is str and value else value
    if said and "choices" in said:
        said = said["choices"][0]["message"]["tool_calls"]
    return cast("list[dict[str, Any]]", said or [])


def calls_in(value: Any) -> list[Any]:
    """(id, name, arguments) of the calls in a column, whatever wrote it."""
    found: list[Any] = []
    for one in entries_of(value):
        inner: dict[str, Any] = one.get("function", one)
        arguments: Any = inner.get("arguments", inner.get("input"))
        arguments = json.loads(arguments) if type(arguments) is str else arguments
        if one.get("type") != "text":
            found.append((one.get("id", ""), inner["name"], arguments))
    return found


def results_in(value: Any) -> list[Any]:
    """(call id, name, result) of the results in a column of the source, results as text."""
    said: Any = json.loads(value) if isinstance(value, str) else value or []
    return [
        (
            one["tool_call_id"],
            one["name"],
            one["result"]
            if isinstance(one["result"], str)
            else json.dumps(one["result"], separators=(",", ":")),
        )
        for one in said
    ]


def words_in(history: Any) -> list[tuple[str, str]]:
    """(role, text) of each message of a history, whatever wrote it."""
    found: list[tuple[str, str]] = []
    for message in entries_of(history):
        content: Any = message.get("parts", message.get("content"))
        if type(content) is list:
            parts = cast("list[dict[str, Any]]", content)
            content = "".join(
                part.get("text", part.get("response", part.get("content"))) or "" for part in parts
            )
        found.append((message["role"], content or ""))
    return found


def test_how_turns_end(imported: Imported) -> None:
    """Seed agent_telemetry 1."""
    query = seed("agent_telemetry, 1")
    source = [tuple(map(plain, row.values())) for row in imported.database.rows(query)]
    assert sorted(tuple(row.values()) for row in imported.ask(query)) == sorted(source)
    assert len(source) == 3


def test_turns_cut_off_early(imported: Imported) -> None:
    """Seed agent_telemetry 2, in its order."""
    query = seed("agent_telemetry, 2")
    source = [texts(row) for row in imported.database.rows(query)]
    assert imported.ask(query) == source
    assert len(source) > 3


@pytest.mark.parametrize("session", [made.session(0), made.session(10), LONE])
def test_the_trajectory_of_a_session(imported: Imported, session: str) -> None:
    """Seed agent_telemetry 3, in its order."""
    query = seed("agent_telemetry, 3").replace("<thread_id>", session)

    def told(rows: list[dict[str, Any]]) -> list[Any]:
        return [(plain(row["created_at"]), row["record_type"], row["response_text"] or "",
                 calls_in(row["tool_calls"])) for row in rows]  # fmt: skip

    source = told(imported.database.rows(query))
    if session == LONE:  # a number that no double holds has become its digits
        source = [row for row in source if row[0] != datetime(2026, 3, 5, 10, 8, 22)]
    found = told(imported.ask(query))
    assert [row for row in found if row[0] != datetime(2026, 3, 5, 10, 8, 22)] == source
    assert source


def test_what_the_model_saw(imported: Imported) -> None:
    """Seed agent_telemetry 4, each row beside its own."""
    ids = imported.ask(
        "SELECT span_id, attributes['turnspan.import.id'] AS id FROM llm_call"
        " WHERE scope_name = 'turnspan.import.agent-telemetry'"
    )
    source_id = {row["span_id"]: row["id"] for row in ids}
    query = seed("agent_telemetry, 4", limit=False)
    found = {source_id[row["id"]]: row for row in imported.ask(query) if row["id"] in source_id}
    source = {str(row["id"]): row for row in imported.database.rows(query)}
    assert found.keys() == source.keys()
    for key, row in source.items():
        told = found[key]
        for name in ("system_prompt", "response_text", "response_thoughts", "model_used",
                     "turn_intent", "chat_mode"):  # fmt: skip
            assert told[name] == (row[name] or ""), (key, name)
        for name in ("prompt_tokens", "completion_tokens"):
            assert told[name] == row[name], (key, name)
        assert told["duration_ms"] == float(row["duration_ms"] or 0)
        if row["total_tokens"] != 9:
            assert told["total_tokens"] == row["total_tokens"]
        if "12345678901234" in json.dumps(row, default=str) or row["tool_results"] == "oops":
            continue  # kept as text: see below
        assert calls_in(told["tool_calls"]) == calls_in(row["tool_calls"])
        assert words_in(told["chat_history"]) == words_in(row["chat_history"])
        told_results = json.loads(told["tool_results"])
        assert [(one["call_id"], one["name"], one["result"]) for one in told_results] == (
            results_in(row["tool_results"])
        )
    limited = seed("agent_telemetry, 4")
    assert len(imported.ask(limited)) == len(imported.database.rows(limited)) == 10


def test_the_most_recent_agent_calls(logged: Imported) -> None:
    """Seed ephemera_agent_log 1, in its order: two rows of each second keep theirs. The view's id
    is a time, so only its order can be that of the source."""
    query = seed("ephemera_agent_log, 1")
    source = [without_id(row) for row in logged.database.rows(query)]
    found = [without_id(row) for row in logged.ask(query)]
    assert found == [{**row, "mode": row["mode"] or "unknown"} for row in source]
    assert len(source) == 20


def test_unassessed_rows(logged: Imported) -> None:
    """Seed ephemera_agent_log 2, in its order."""
    query = seed("ephemera_agent_log, 2")
    source = [without_id(row) for row in logged.database.rows(query)]
    found = [without_id(row) for row in logged.ask(query)]
    assert found == [{**row, "mode": row["mode"] or "unknown"} for row in source]
    assert len(source) >= 10


def test_everything_a_reviewer_needs(logged: Imported) -> None:
    """Seed ephemera_agent_log 3."""

    def told(rows: list[dict[str, Any]]) -> list[Any]:
        return sorted(
            tuple(texts({**row, "tool_calls": json.dumps(calls_in(row["tool_calls"]))}).values())
            for row in rows
            if row["tool_calls"] != "{not json"
        )

    query = seed("ephemera_agent_log, 3", limit=False)
    source = told(logged.database.rows(query))
    found = told(logged.ask(query))
    unread = logged.database.scheme == "mariadb"
    assert len(found) == len(source) + unread
    assert all(row in found for row in source)


def without_id(row: dict[str, Any]) -> dict[str, Any]:
    """A row but for its id; texts that are NULL are empty."""
    told = texts({key: value for key, value in row.items() if key != "id"})
    return {**told, "timestamp": told["timestamp"].replace(microsecond=0)}


# -- what becomes of rows ------------------


def test_what_no_record_has_a_place_for_is_kept(imported: Imported) -> None:
    """Columns of the team's own, JSON that does not parse, and the row's id."""
    rows = imported.ask(
        "SELECT name, attributes FROM span WHERE scope_name LIKE 'turnspan.import%'"
    )
    kept = [json.loads(json.dumps(row["attributes"])) for row in rows]
    regions = Counter(each.get("turnspan.import.region") for each in kept)
    (source,) = imported.database.rows("SELECT count(region) AS n FROM agent_telemetry")
    assert regions["eu"] == source["n"] > 0
    (beat,) = [each for each in kept if each.get("turnspan.import.record_type") == "heartbeat"]
    assert beat['turnspan.import.odd "name%'] == "100 %s"
    assert beat["turnspan.import.response_text"] == "beat"
    assert [each for each in kept if each.get("turnspan.import.total_tokens") == "9"]
    nulls = [each for each in kept if each.get("turnspan.import.chat_history") == "null"]
    assert len(nulls) == 1  # the word; NULL leaves nothing
    exact = [each for each in kept if "0.12345678901234567890123" in str(each)]
    assert len(exact) == 1
    if imported.database.scheme == "mariadb":
        assert [each for each in kept if each.get("turnspan.import.tool_results") == "oops"]
    unplaced = [each for each in kept if "turnspan.import.created_at" in each]
    assert [each["turnspan.import.created_at"] for each in unplaced] == [
        NO_TIME[imported.database.scheme]
    ]


def test_interleaved_turns_have_their_own_calls(imported: Imported) -> None:
    """Two sessions that write at once: each turn has two calls, and what they cost."""
    (row,) = imported.ask(
        "SELECT groupUniqArray((calls, total = cost)) AS found FROM (SELECT turn_id,"
        " any(t.llm_call_count) AS calls, any(t.cost_usd) AS total, count() AS n,"
        " sum(c.cost_usd) AS cost FROM turn_summary AS t JOIN llm_call AS c USING (turn_id)"
        " WHERE t.scope_name = 'turnspan.import.agent-telemetry' GROUP BY turn_id HAVING n = 2)"
    )
    assert [tuple(each) for each in row["found"]] == [(2, True)]


def test_judgments_are_those_of_the_log(logged: Imported) -> None:
    """Outcome, flag and notes, by import; what is pending, 0 or NULL is no judgment."""
    rows = logged.ask(
        "SELECT kind, count() AS n, groupUniqArray((author, source)) AS by FROM annotation FINAL"
        " WHERE subject_kind = 'turn' GROUP BY kind ORDER BY kind"
    )
    assert [(row["kind"], row["n"], [tuple(by) for by in row["by"]]) for row in rows] == [
        ("comment", 7, [("import", "import")]),
        ("outcome", 21, [("import", "import")]),
        ("training_flag", 18, [("import", "import")]),
    ]


def test_tool_calls_that_are_no_json_are_kept(logged: Imported) -> None:
    rows = logged.ask(
        "SELECT attributes['turnspan.import.tool_calls'] AS kept FROM turn_summary WHERE kept != ''"
    )
    unread = [{"kept": "{not json"}] if logged.database.scheme == "mariadb" else []
    assert rows == unread
    assert [one.reason for one in logged.report.problems] == [
        "tool_calls is no JSON: its text is kept" for _ in unread
    ]


def test_an_import_again_changes_nothing(imported: Imported) -> None:
    """The second import reads no row; one from the beginning makes the same rows."""
    before = imported.tables()
    second = imported.bring(AgentTelemetry, "agent_telemetry")
    assert (second.source_rows, second.resumed) == (0, True)
    imported.bring(AgentTelemetry, TELEMETRY, again=True)
    assert imported.tables() == before


def test_a_wiki_agents_log_again_changes_nothing(logged: Imported) -> None:
    before = logged.tables()
    assert logged.bring(Ephemera, EPHEMERA).source_rows == 0
    logged.bring(Ephemera, EPHEMERA, again=True)
    assert logged.tables() == before


# -- what is added, late or new ------------------


def test_late_and_new_rows_are_found(imported: Imported) -> None:
    """A row is committed after later ones were; a turn goes on that was open. In the end all is as
    if it had been imported at once."""
    database, table = imported.database, "grows"
    made.make_table(database, made.TELEMETRY, table)
    rows = [row for number in range(4) for row in made.made_turn(number, 10 * number)]
    numbered = [{**row, "id": place + 1} for place, row in enumerate(rows)]

    def bring(*ids: int) -> int:
        made.insert_rows(database, table, [numbered[number - 1] for number in ids])
        return imported.bring(AgentTelemetry, table, project=table).source_rows

    assert bring(1, 2, 3, 4, 6, 7, 8, 9) == 8
    assert bring(10) == 1
    assert bring(5, 11, 12) == 3
    turns = (
        "SELECT turn_id, round, attributes['turnspan.import.id'] AS id FROM llm_call FINAL"
        " WHERE project = 'grows'"
    )
    found = {row["id"]: row["turn_id"] for row in imported.ask(turns)}
    assert found["4"] == found["5"] and found["10"] == found["11"]
    (figure,) = imported.ask(
        "SELECT llm_call_count, tool_error_count FROM turn_summary FINAL"
        " WHERE project = 'grows' AND attributes['turnspan.import.id'] = '12'"
    )
    assert (figure["llm_call_count"], figure["tool_error_count"]) == (2, 1)
    kept = {name: len(rows) for name, rows in imported.tables(table).items()}
    assert imported.bring(AgentTelemetry, table, project=table, again=True).source_rows == 12
    assert {name: len(rows) for name, rows in imported.tables(table).items()} == kept


def test_a_table_of_another_key_and_few_columns(imported: Imported) -> None:
    """Rows with random ids are read in the order of time, and from an hour before; columns that the
    table lacks are no error."""
    database, table = imported.database, "by_uuid"
    kind, exact = ("UUID", "TIMESTAMPTZ") if database.scheme == "postgresql" else (
        "CHAR(36)", "DATETIME(6)")  # fmt: skip
    database.run(
        f"DROP TABLE IF EXISTS {table}",
        f"CREATE TABLE {table} (row_key {kind} PRIMARY KEY, created_at {exact} NULL,"
        " record_type TEXT, session_id TEXT, response_text TEXT, stop_reason TEXT)",
    )

    def row(number: int, day: int, **more: Any) -> dict[str, Any]:
        return {"row_key": made.session(99 - number), "created_at": f"2026-05-0{day} 00:00:01",
                "record_type": "llm_call", "session_id": "s", "response_text": f"r{number}",
                **more}  # fmt: skip

    def bring(*rows: dict[str, Any]) -> int:
        made.insert_rows(database, table, list(rows))
        return imported.bring(AgentTelemetry, table, project=table).source_rows

    with imported.log(AgentTelemetry, table) as log:
        assert "chat_history" in log.missing and "session_id" not in log.missing
    summary = {"record_type": "turn_summary"}
    assert bring(row(1, 1), row(2, 2, **summary), row(3, 3), row(4, 3, created_at=None)) == 4
    assert bring(row(5, 4, **summary)) == 3  # with the newest, and the one without a time
    told = imported.ask(
        "SELECT response_text, turn_id FROM agent_telemetry WHERE project_id = 'by_uuid'"
        " ORDER BY created_at, response_text"
    )
    found = [(row["response_text"], row["turn_id"]) for row in told]
    assert [text for text, _ in found] == ["r4", "r1", "r2", "r3", "r5"]
    assert found[1][1] == found[2][1] != found[3][1] == found[4][1]


def test_no_password_is_stored(logged: Imported) -> None:
    """Neither in what is known of the import nor beside it."""
    rows = logged.ask("SELECT * FROM import_position WHERE kind = 'ephemera'")
    assert rows and PASSWORD not in str(rows) and "teller" not in str(rows)
    assert PASSWORD not in logged.report.source
    for file in logged.spool.rglob("*"):
        if file.is_file():
            assert PASSWORD.encode() not in file.read_bytes(), file
