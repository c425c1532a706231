"""The shipped diagnostics, the seed queries, the views and a replay, beside ``otel_traces``.

    python benchmarks/generate.py FOLDER
    python benchmarks/queries.py FOLDER [--memory 2147483648] [--rounds 5] [--only NAME]

The server throws its answers away (``FORMAT Null``). Times are medians of the rounds: until the
answer, and the CPU time that the server spent, which is what the ratio is taken of, since other
work on the machine changes it least. Where ``otel_traces`` holds fewer spans than ours, its CPU
time is taken as many times as there are fewer. Memory is the query's peak; ``--memory`` limits
the server; ``--only`` is a regular expression.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from turnspan_clickhouse.store.client import READ_SETTINGS
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access.window import Window, as_parameter
from turnspan_records.lookup import find
from turnspan_records.replay import replay

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.bigstore.questions import REPLAY, VIEWS, Question, of_diagnostics, of_seeds
from support.bigstore.real import ROOT, server

BIG = "big"
_OURS = {
    **{name: str(value) for name, value in READ_SETTINGS.items()},
    "enable_join_runtime_filters_index_analysis": "1",
    "param_project": "",
    "param_limit": "20",
    "param_since": as_parameter(Window().since),
    "param_until": as_parameter(Window().until),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What answers took: seconds, seconds of the server's CPU, and the peak of memory in MiB."""

    seconds: float
    cpu: float
    memory: float

    def __str__(self) -> str:
        return f"{self.seconds * 1000:,.0f} | {self.cpu * 1000:,.0f} | {self.memory:,.0f} MiB"


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far (by its clock: /proc counts in steps of 10 ms)."""
    return time.clock_gettime((~pid << 3) | 2)  # CPUCLOCK_SCHED of another process


def ask(dsn: Dsn, pid: int, sql: str, *, ours: bool, rounds: int) -> Answer:
    """Let the server (process ``pid``) answer some times.

    Raises:
        RuntimeError: it refused; the message is the server's.
    """
    query = {"database": dsn.database, "default_format": "Null", "wait_end_of_query": "1"}
    if ours:
        query |= _OURS
    url = f"http://{dsn.host}:{dsn.port}/?{urllib.parse.urlencode(query)}"
    answers: list[Answer] = []
    for _ in range(rounds):
        begin, cpu = time.perf_counter(), cpu_seconds(pid)
        try:
            with urllib.request.urlopen(url, sql.encode(), timeout=300) as reply:
                reply.read()
                summary = json.loads(reply.headers.get_all("X-ClickHouse-Summary")[-1])
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:300]) from None
        seconds = time.perf_counter() - begin
        memory = int(summary.get("memory_usage", 0)) / 2**20
        answers.append(Answer(seconds, cpu_seconds(pid) - cpu, memory))
    return _middle(answers)


def _middle(answers: list[Answer]) -> Answer:
    return Answer(
        statistics.median(one.seconds for one in answers),
        statistics.median(one.cpu for one in answers),
        max(one.memory for one in answers),
    )


def compare(dsn: Dsn, pid: int, question: Question, rounds: int, share: float) -> str:
    """One row of the table: ours, theirs and how many times less CPU time ours took, where
    ``otel_traces`` holds ``share`` of our spans."""
    ours = ask(dsn, pid, question.ours, ours=True, rounds=rounds)
    if not question.theirs:
        return f"| {question.name} | {ours} | | | |"
    theirs = ask(dsn, pid, question.theirs, ours=False, rounds=max(1, rounds // 2))
    return (
        f"| {question.name} | {ours} | {theirs} | {theirs.cpu / max(ours.cpu, 0.01) / share:,.1f} |"
    )


def replays(dsn: Dsn, pid: int, session: str, rounds: int) -> str:
    """Read a whole session: ours as ``turnspan replay`` rebuilds it, theirs as rows."""
    ours: list[Answer] = []
    with open_store(dsn) as store:
        project = str(store.query("SELECT any(project) FROM turn_summary").rows[0][0])
        for _ in range(rounds):
            begin, cpu = time.perf_counter(), cpu_seconds(pid)
            replay(store, project, session)
            seconds = time.perf_counter() - begin
            ours.append(Answer(seconds, cpu_seconds(pid) - cpu, 0))
    middle = _middle(ours)
    sql = REPLAY.replace("<thread_id>", session)
    theirs = ask(dsn, pid, sql, ours=False, rounds=max(1, rounds // 2))
    ratio = theirs.cpu / max(middle.cpu, 0.01)
    return f"| replay of one session | {middle} | {theirs} | {ratio:,.1f} |"


def lookups(dsn: Dsn, pid: int, session: str, rounds: int) -> list[str]:
    """What an id means, as ``turnspan show`` asks: ours over all records, theirs in one table."""
    rows: list[str] = []
    with open_store(dsn) as store:
        ids = store.query(
            "SELECT any(span_id), any(trace_id) FROM llm_call WHERE session_id = {session:String}",
            {"session": session},
        ).rows[0]
        for name, column, id_ in zip(("span", "trace"), ("SpanId", "TraceId"), ids, strict=True):
            ours: list[Answer] = []
            for _ in range(rounds):
                begin, cpu = time.perf_counter(), cpu_seconds(pid)
                find(store, id_)
                seconds = time.perf_counter() - begin
                ours.append(Answer(seconds, cpu_seconds(pid) - cpu, 0))
            middle = _middle(ours)
            sql = f"SELECT * FROM otel_traces WHERE {column} = '{id_}'"
            theirs = ask(dsn, pid, sql, ours=False, rounds=rounds)
            rows.append(f"| look up one {name} | {middle} | {theirs} | |")
    return rows


def seeds() -> dict[str, str]:
    """The seed file's statements by their headings."""
    text = (ROOT / "tests" / "land" / "seed_queries.sql").read_text()
    return dict(re.findall(r"-- (\w+, \d):[^\n]*\n(.*?);", text, re.DOTALL))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path, nargs="?", default=Path(".tools/bench"))
    parser.add_argument("--memory", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    with server(arguments.home / "server", memory=arguments.memory) as running:
        measure(running.dsn(BIG), running.engine, arguments.rounds, arguments.only)


def measure(dsn: Dsn, pid: int, rounds: int, only: str) -> None:
    """Print a row for every question in whose name the expression ``only`` is found."""
    with open_store(dsn) as store:
        # A session of both stores, with its newest turn.
        session, turn = store.query(
            "SELECT session_id, argMax(turn_id, start_time) FROM turn_summary WHERE session_id IN"
            " (SELECT SpanAttributes['gen_ai.conversation.id'] FROM otel_traces LIMIT 1)"
            " GROUP BY session_id"
        ).rows[0]
        share = float(
            store.query(
                "SELECT (SELECT count() FROM otel_traces) / (SELECT count() FROM span)"
            ).rows[0][0]
        )
    views = [
        Question(name, sql.replace("<session>", session).replace("<turn>", turn), "")
        for name, sql in VIEWS.items()
    ]
    print(f"otel_traces holds {share:.3f} of our spans.\n")
    print("| question | ours, ms | CPU | peak | otel_traces, ms | CPU | peak | less CPU |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for question in (*of_diagnostics(), *of_seeds(seeds(), session), *views):
        if re.search(only, question.name):
            try:
                print(compare(dsn, pid, question, rounds, share), flush=True)
            except RuntimeError as error:
                print(f"| {question.name} | refused: {error} | | | |", flush=True)
    if re.search(only, "replay"):
        print(replays(dsn, pid, session, rounds))
    if re.search(only, "lookup"):
        print("\n".join(lookups(dsn, pid, session, rounds)))


if __name__ == "__main__":
    main()
