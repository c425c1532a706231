"""What lists, failures and searches read of a large store: rows, bytes and the server's CPU.

    python benchmarks/reading.py FOLDER [--sessions 250000] [--rounds 3]

A session has 4 turns, 20 calls, 8 tools and 40 messages; all are made by SQL, over 60 days, at the
first run over FOLDER. Of calls 2 % failed, of tools 4 %. A message has 25 words of 40,000 and two
ids that no other has. Least of the rounds; the clock is not told, since other work changes it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.bigstore.real import merge
from support.clickhouse_server import start_server
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records import find_text
from turnspan_records.screens.errors import error_shapes
from turnspan_records.screens.facets import facets
from turnspan_records.screens.turns import sessions_page, turns_page
from turnspan_records.turn_filters import TurnListFilter, turn_filter

LOG = """<query_log><database>system</database><table>query_log</table></query_log>"""
MODELS = "['gpt-5', 'gpt-5-mini', 'claude-opus', 'claude-sonnet', 'gemini-pro', 'gpt-4o']"
BATCH = 200_000
"""Rows of an insert: of more the server makes an index for longer than a client waits."""
PLACE = """['shop', 'wiki', 'code'][1 + s % 3] AS project, lower(hex(sipHash128(s))) AS session_id,
    lower(hex(sipHash64(t))) AS turn_id, lower(hex(sipHash128(t, 1))) AS trace_id"""
TIME = """toDateTime64('2026-09-20 00:00:00', 9, 'UTC')
    + toIntervalNanosecond(intDiv(5184000000000000, {sessions}) * s + n % {each} * 20000000000
        + sipHash64(n) % 1000000000) AS time"""
ROWS = {
    # table: rows of a session, turns of a row's number, columns, their values
    "turn_summary": (
        4,
        "n",
        "span_id, start_time, status, stop_reason, agent_name, user_id, user_message,"
        " response_text, cost_usd, models",
        "turn_id, time, 'final', ['completed', 'max_rounds:5'][1 + sipHash64(n) % 2],"
        " concat('agent', toString(s % 7)), concat('user', toString(s % 5000)),"
        " concat('What became of order ', toString(n), '?'), repeat('It was shipped late. ', 12),"
        f" toDecimal64(sipHash64(n, 2) % 100000 / 1000000, 12), [{MODELS}[1 + s % 6]]",
    ),
    "llm_call": (
        20,
        "intDiv(n, 5)",
        "span_id, start_time, request_model, response_model, error_type, error_message",
        f"lower(hex(sipHash64(n, 7))), time, {MODELS}[1 + s % 6] AS asked, if(sipHash64(n, 3) % 50"
        " = 0 AS failed, '', concat(asked, '-', toString(intDiv(s, 60000)))), if(failed,"
        " 'RateLimitError', ''), if(failed, concat('request ', toString(n), ' was refused'), '')",
    ),
    "tool_call": (
        8,
        "intDiv(n, 2)",
        "span_id, start_time, name, result, failed, error_message",
        "lower(hex(sipHash64(n, 11))), time, ['search', 'read_page'][1 + n % 2], concat('Found ',"
        " lower(hex(sipHash64(n, 13)))), sipHash64(n, 14) % 25 = 0,"
        " concat('none for ', toString(n))",
    ),
    "message": (
        40,
        "n",
        "hash, role, first_seen, parts",
        "sipHash128(n), ['user', 'assistant'][1 + n % 2], time, concat('[{\"type\":\"text\","
        "\"content\":\"', arrayStringConcat(arrayMap(at -> concat('w', lower(hex(bitAnd("
        "sipHash64(n, at), sipHash64(at, n)) % 40000))), range(25)), ' '), ' ',"
        " lower(hex(sipHash64(n, 99))), ' ', toString(n), '\"}]')",
    ),
}


def fill(store: Store, sessions: int) -> None:
    """Make the rows."""
    for table, (each, turn, columns, values) in ROWS.items():
        names, place = "project, session_id, turn_id, trace_id", PLACE
        if table == "message":
            names, place = "project, scope", PLACE.partition(",\n")[0]
        time = TIME.format(sessions=sessions, each=each)
        for first in range(0, sessions * each, BATCH):
            rows = min(BATCH, sessions * each - first)
            store.command(
                f"INSERT INTO {table} ({names}, {columns}, written_at) WITH {time}"
                f" SELECT {place}, {values}, time FROM (SELECT number AS n, intDiv(n, {each}) AS s,"
                f" {turn} AS t FROM numbers({first}, {rows}))"
            )
        print(f"{table}: {sessions * each:,} rows", flush=True)
    merge(store)


def main() -> None:
    """Print every figure."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("folder", type=Path)
    options.add_argument("--sessions", type=int, default=250_000)
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    server = start_server(given.folder, extra_config=LOG)
    try:
        with open_store(server.dsn("large")) as store:
            if migrate(store):
                fill(store, given.sessions)
            for name, answer in questions(store).items():
                print(f"{name:36}", measured(store, answer, given.rounds), flush=True)
    finally:
        server.stop()


def questions(store: Store) -> dict[str, Callable[[], Any]]:
    """What is asked, by name."""
    every, of_user = TurnListFilter(), TurnListFilter(filter=turn_filter("user:user7"))
    return {
        "errors": lambda: error_shapes(store),
        "a word that is nowhere": lambda: find_text(store, "zzzabsentword", seconds=60),
        "a part of an id": lambda: find_text(store, "13abf1", seconds=60),
        "turns": lambda: turns_page(store, every),
        "turns by cost": lambda: turns_page(store, every, sort="-cost"),
        "turns of a user": lambda: turns_page(store, of_user),
        "sessions": lambda: sessions_page(store, every),
        "sessions by cost": lambda: sessions_page(store, every, sort="-cost"),
        "sessions of a user": lambda: sessions_page(store, of_user),
        "facets": lambda: facets(store, every),
    }


def measured(store: Store, answer: Callable[[], Any], rounds: int) -> str:
    """The least that an answer took, of the statements of each round."""
    query, ids = store.client.query, list[str]()

    def noted(*args: Any, **kwargs: Any) -> Any:
        result = query(*args, **kwargs)
        ids.append(result.query_id)
        return result

    found: list[tuple[float, int, float]] = []
    store.client.query = noted
    try:
        for _ in range(rounds):
            ids.clear()
            answer()
            asked = list(ids)
            store.command("SYSTEM FLUSH LOGS")
            sql = (
                "SELECT sum(ProfileEvents['UserTimeMicroseconds']"
                " + ProfileEvents['SystemTimeMicroseconds']) / 1000, sum(read_rows),"
                " sum(read_bytes) / 1e6 FROM system.query_log"
                " WHERE type = 'QueryFinish' AND query_id IN {ids:Array(String)}"
            )
            found.append(query(sql, {"ids": asked}).result_rows[0])
    finally:
        store.client.query = query
    cpu, rows, megabytes = map(min, zip(*found, strict=True))
    return f"{cpu:9,.0f} ms {rows:13,} rows {megabytes:8,.1f} MB"


if __name__ == "__main__":
    main()
