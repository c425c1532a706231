"""The two home-made tables as teams have them, in PostgreSQL and in MariaDB, with rows that tell
whether a value comes through."""

from __future__ import annotations

import json
from typing import Any, Final

from support.databases import RealDatabase

TELEMETRY: Final = {
    "postgresql": """
CREATE TYPE {table}_record AS ENUM ('llm_call', 'turn_summary', 'heartbeat');
CREATE TABLE {table} (
    id BIGSERIAL PRIMARY KEY,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    record_type {table}_record NOT NULL,
    project_id TEXT, session_id UUID, user_message TEXT, system_prompt TEXT,
    chat_history JSONB, response_text TEXT, response_thoughts TEXT, tool_calls JSONB,
    tool_results JSON, model_used VARCHAR(120), turn_intent VARCHAR(40), chat_mode VARCHAR(20),
    prompt_tokens INTEGER, completion_tokens INTEGER, total_tokens INTEGER,
    duration_ms NUMERIC(12, 3), stop_reason TEXT, rounds INTEGER, tool_call_count INTEGER,
    region TEXT, "odd ""name%" TEXT
)""",
    "mariadb": """
CREATE TABLE {table} (
    id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY,
    created_at DATETIME(6) NULL,
    record_type ENUM('llm_call', 'turn_summary', 'heartbeat') NOT NULL,
    project_id VARCHAR(80), session_id CHAR(36), user_message LONGTEXT, system_prompt LONGTEXT,
    chat_history LONGTEXT, response_text LONGTEXT, response_thoughts LONGTEXT, tool_calls JSON,
    tool_results LONGTEXT, model_used VARCHAR(120), turn_intent VARCHAR(40),
    chat_mode ENUM('vibe', 'collaborate', 'delegate'),
    prompt_tokens INT, completion_tokens INT, total_tokens INT,
    duration_ms DOUBLE, stop_reason VARCHAR(200), rounds INT, tool_call_count INT,
    region TEXT, `odd "name%` TEXT
)""",
}
EPHEMERA: Final = {
    "postgresql": """
CREATE TABLE {table} (
    id SERIAL PRIMARY KEY, timestamp TIMESTAMP NOT NULL, session_id TEXT,
    mode TEXT, provider TEXT, model TEXT, system_prompt TEXT, context_assembled TEXT,
    user_turn TEXT, response TEXT, tool_calls JSONB, target_page TEXT,
    outcome TEXT DEFAULT 'pending', training_flag SMALLINT DEFAULT 0, notes TEXT
)""",
    "mariadb": """
CREATE TABLE {table} (
    id INT AUTO_INCREMENT PRIMARY KEY, timestamp TIMESTAMP NULL, session_id VARCHAR(64),
    mode ENUM('copilot', 'agent'), provider VARCHAR(40), model VARCHAR(80), system_prompt LONGTEXT,
    context_assembled LONGTEXT, user_turn LONGTEXT, response LONGTEXT, tool_calls LONGTEXT,
    target_page VARCHAR(255), outcome ENUM('pending', 'used', 'modified', 'rejected')
        DEFAULT 'pending',
    training_flag TINYINT DEFAULT 0, notes LONGTEXT
)""",
}


def session(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def openai_call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": call_id, "type": "function", "function": function}


def anthropic_call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def at(second: float) -> str:
    """A moment of the logs, as both databases take it."""
    return f"2026-03-05 10:{int(second) // 60:02d}:{second % 60:09.6f}"


def made_turn(number: int, at_second: float) -> list[dict[str, Any]]:
    """A turn of two calls, the first of which runs two tools, and its summary."""
    calls = [openai_call(f"a{number}", "read", {"path": f"/n/{number}"}),
             openai_call(f"b{number}", "write", {"x": [1, None, "\U0001f600"]})]  # fmt: skip
    asked = {"role": "user", "content": f"do {number} \U0001f600"}
    mode = ("vibe", "collaborate", "delegate")[number % 3]
    common = {"project_id": f"shop {number % 2}", "session_id": session(number // 2),
              "turn_intent": "small_fix", "chat_mode": mode,
              "model_used": "gpt-4o"}  # fmt: skip
    said = {"role": "assistant", "content": None, "tool_calls": calls}
    results: list[dict[str, Any]] = [
        {"tool_call_id": f"a{number}", "name": "read", "result": "text"},
        {"tool_call_id": f"b{number}", "name": "write", "result": {"ok": False}},
    ]
    told = [{"role": "tool", "tool_call_id": one["tool_call_id"], "content": json.dumps(one)}
            for one in results]  # fmt: skip
    call = {**common, "record_type": "llm_call", "system_prompt": f"You are {number % 3}.",
            "prompt_tokens": 100 + number, "completion_tokens": 7,
            "total_tokens": 107 + number}  # fmt: skip
    return [
        {**call, "created_at": at(at_second + 1.25), "chat_history": json.dumps([asked]),
         "tool_calls": json.dumps(calls), "tool_results": json.dumps(results),
         "duration_ms": 250.125, "response_text": None,
         "response_thoughts": "first read", "region": "eu" if number % 2 else None},
        {**call, "created_at": at(at_second + 3), "chat_history": json.dumps([asked, said, *told]),
         "duration_ms": 1001, "response_text": f"done {number}\nwell"},
        {**common, "created_at": at(at_second + 3.000001), "record_type": "turn_summary",
         "user_message": asked["content"], "response_text": f"done {number}\nwell",
         "stop_reason": ("completed", "round_cap", "loop_detected:read")[number % 3],
         "rounds": 2 + (number % 5 == 0), "tool_call_count": 2, "duration_ms": 3000.001},
    ]  # fmt: skip


def make_table(database: RealDatabase, layout: dict[str, str], table: str) -> None:
    """A fresh table of a layout."""
    drop = [f"DROP TABLE IF EXISTS {table}"]
    if database.scheme == "postgresql":
        drop.append(f"DROP TYPE IF EXISTS {table}_record")
    statements = layout[database.scheme].format(table=table).split(";")
    database.run(*drop, *filter(str.strip, statements))


def insert_rows(database: RealDatabase, table: str, rows: list[dict[str, Any]]) -> None:
    """Rows, each with the columns that it names."""
    connection = database.connect()
    try:
        insert_through(database, connection, table, rows)
    finally:
        connection.close()


def insert_through(
    database: RealDatabase, connection: Any, table: str, rows: list[dict[str, Any]]
) -> None:
    """The same through a connection, which commits when it wants to."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    quote = '"' if database.scheme == "postgresql" else "`"
    quoted = [name.replace("%", "%%").replace(quote, 2 * quote) for name in names]
    columns = ", ".join(f"{quote}{name}{quote}" for name in quoted)
    marks = ", ".join(["%s"] * len(names))
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} ({columns}) VALUES ({marks})",
            [tuple(row.get(name) for name in names) for row in rows],
        )
