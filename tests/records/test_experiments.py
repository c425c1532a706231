"""Experiments: every case an attempt with its records and scores, within bounds, and resumed."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import openai
import pytest
from click.testing import CliRunner

import turnspan
import turnspan_records
from turnspan.testing import ModelServer, Usage
from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.cli import turnspan as command
from turnspan_records.access import open_records
from turnspan_records.again.cases.dataset import Case, make_dataset
from turnspan_records.again.cases.experiment_run import (
    ExperimentError,
    ExperimentRun,
    run_experiment,
)
from turnspan_records.again.cases.scores import CaseResult

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]
HOSTILE = "\x00\x1b[31m‮<&>"


@pytest.fixture
def store(embedded_dsn: Dsn) -> Iterator[str]:
    """A store with a dataset of ten sums, in which this process records."""
    text = str(embedded_dsn)
    with open_records(text) as opened:
        cases = [Case(f"{n}+1", {"answer": str(n + 1), "tools": ["add"]}) for n in range(10)]
        make_dataset(opened, "sums", cases, project="math")
    turnspan.configure(service_name="math", store=text)
    yield text
    turnspan.shutdown()
    turnspan.uninstrument()  # which an experiment calls, and leaves


@turnspan.tool
def add(one: int, other: int) -> int:
    """A sum."""
    return one + other


def answer(question: str) -> str:
    """Right, but wrong at 3, and different failures from 7 on."""
    number = int(question.partition("+")[0])
    if number == 7:
        raise ValueError(HOSTILE)
    if number == 8:
        raise SystemExit(1)
    if number == 9:
        raise asyncio.CancelledError
    return str(add(number, 1) + (number == 3))


async def later(question: str) -> str:
    """The same as a coroutine."""
    await asyncio.sleep(0)
    return answer(question)


def run(store: str, **values: Any) -> ExperimentRun:
    """Run the sums with these arguments."""
    known: dict[str, Any] = {
        "dataset": "sums",
        "agent": answer,
        "scorers": ["exact"],
        "version": "v1",
    }
    return run_experiment("sums", store=store, **{**known, **values})


def rows(store: str, sql: str) -> list[Any]:
    """What the store answers."""
    return list(turnspan_records.query(sql, store=store).rows)


def test_every_case_is_an_attempt_with_records_and_scores(store: str, tmp_path: Path) -> None:
    """Plain and async agents say the same; failures of every kind are failed attempts; a scorer
    that fails is counted and the others go on; results are compared in all their forms."""

    def picky(case: Case, result: CaseResult) -> bool:
        if case.input == "0+1":
            raise KeyError("no opinion")
        return result.failed or [one.name for one in result.tools] == ["add"]

    scorers = ["exact,no_errors,tools:exact", picky]
    first = run(store, scorers=scorers, times=2)
    assert (first.earlier, first.ran, first.failed, first.left) == (0, 20, 6, 0)
    assert first.scores == {"exact": 0.6, "no_errors": 0.7, "tools": 0.7, "picky": 1.0}
    assert first.scorer_errors == {"picky: KeyError: 'no opinion'": 2}
    second = run(store, agent=later, scorers=scorers, version="v2", parallel=9)
    assert (second.ran, second.failed, second.scores["exact"]) == (10, 3, 0.6)

    assert rows(
        store,
        "SELECT version, repetition, count(), uniqExact(case_id), countIf(status = 'failed'),"
        " arraySort(groupUniqArray(error_type)), sum(scores['exact'])"
        " FROM experiment_result WHERE project = 'math' AND experiment_id = 'sums'"
        " GROUP BY ALL ORDER BY ALL",
    ) == [
        ("v1", 1, 10, 10, 3, ["", "AgentEndedError", "ValueError"], 6.0),
        ("v1", 2, 10, 10, 3, ["", "AgentEndedError", "ValueError"], 6.0),
        ("v2", 1, 10, 10, 3, ["", "AgentEndedError", "ValueError"], 6.0),
    ]
    # Each case is a trace of its own.
    assert rows(store, "SELECT uniqExact(trace_id), count() FROM tool_call") == [(21, 21)]
    with open_records(store) as opened:
        found = turnspan_records.experiment(opened, "sums")
    assert [len(one.rollouts) for one in found.lineages] == [20, 10]

    def shown(*options: str) -> str:
        result = CliRunner().invoke(command, ["--store", store, "experiment", "show", *options])
        assert result.exit_code == 0, result.output
        return result.output

    by_version = shown("sums", "--by", "version").splitlines()
    assert by_version[0].split()[:7] == [
        "version", "attempts", "failed", "exact", "no", "errors", "picky",
    ]  # fmt: skip
    assert by_version[2].split()[:4] == ["v2", "10", "3", "0.6"]
    path = tmp_path / "junit.xml"
    by_case = shown("sums", "--scorer", "exact", "--junit", str(path)).splitlines()
    assert by_case[0].split() == ["case", "input", "v1", "v2"]
    assert by_case[-1].split()[2:] == ["1", "1"]
    assert {line.split()[1] for line in by_case[1:5]} == {"3+1", "7+1", "8+1", "9+1"}
    assert next(line for line in by_case if "7+1" in line).split()[2:] == [
        "0", "2", "failed", "0", "1", "failed",
    ]  # fmt: skip
    answer_: dict[str, Any] = json.loads(shown("sums", "--format", "json"))
    assert [one["version"] for one in answer_["versions"]] == ["v1", "v2"]
    assert len(answer_["cases"]) == 10
    suites = ElementTree.parse(path).getroot()
    assert [
        {name: suite.get(name) for name in ("name", "tests", "failures", "errors")}
        for suite in suites
    ] == [
        {"name": "v1", "tests": "20", "failures": "2", "errors": "6"},
        {"name": "v2", "tests": "10", "failures": "1", "errors": "3"},
    ]


def test_a_run_goes_on_where_another_stopped(store: str) -> None:
    """More repetitions run only what is missing; other scorers score what ran earlier; changed
    cases run."""
    calls: Counter[str] = Counter()

    def counting(question: str) -> str:
        calls[question] += 1
        return question

    assert run(store, agent=counting).ran == 10
    assert (run(store, agent=counting).ran, len(calls), sum(calls.values())) == (0, 10, 10)
    more = run(store, agent=counting, times=3, scorers=["exact", "no_errors"])
    assert (more.earlier, more.ran, sum(calls.values())) == (10, 20, 30)
    assert more.scores == {"exact": 0.0, "no_errors": 1.0}
    assert rows(store, "SELECT DISTINCT length(scores) FROM experiment_result") == [(2,)]
    with open_records(store) as opened:
        changed = [Case("0+1", "0+1"), *(Case(f"{n}+1", str(n + 1)) for n in range(1, 3))]
        make_dataset(opened, "sums", changed, project="math")
    other = run(store, agent=counting)
    assert (other.earlier, other.ran, other.scores) == (0, 3, {"exact": 1 / 3})
    assert run(store, agent=counting).ran == 0


@pytest.mark.release
def test_bounds(store: str) -> None:
    """No more at a time than allowed; an attempt that takes too long failed; a limit of the cost
    stops before the next case, and says so; the same limit later runs nothing."""
    at_once: list[int] = [0, 0]
    lock = threading.Lock()

    def crowded(question: str) -> str:
        with lock:
            at_once[0] += 1
            at_once[1] = max(at_once)
        time.sleep(0.02)
        with lock:
            at_once[0] -= 1
        return question

    run(store, agent=crowded, parallel=3)
    assert at_once == [0, 3]

    async def slow(question: str) -> str:
        await asyncio.sleep(30 if question == "0+1" else 0)
        return question

    def stuck(question: str) -> str:
        released.wait(30 if question == "0+1" else 0)
        return question

    released = threading.Event()
    for version, agent in (("slow", slow), ("stuck", stuck)):
        began = time.monotonic()
        assert run(store, agent=agent, version=version, timeout=1.0).failed == 1
        assert time.monotonic() - began < 20
    released.set()
    [[error, message]] = rows(
        store, "SELECT DISTINCT error_type, error_message FROM attempt WHERE status = 'failed'"
    )
    assert (error, message) == ("TimeoutError", "no answer within 1 seconds")

    with ModelServer() as server:
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="none")

        @turnspan.agent
        def paid(question: str) -> str:
            reply = client.chat.completions.create(
                model="gpt-4o", messages=[{"role": "user", "content": question}]
            )
            return reply.choices[0].message.content or ""

        for _ in range(10):
            server.reply("1", usage=Usage(100_000, 0))
        done = run(store, agent=paid, version="paid", parallel=1, max_usd=0.6)
        assert (done.ran, done.left, round(done.cost_usd, 6)) == (3, 7, 0.75)
        assert done.stopped == "0.75 of 0.6 USD are spent"
        again = run(store, agent=paid, version="paid", parallel=1, max_usd=0.6)
        assert (again.earlier, again.ran, again.stopped) == (3, 0, done.stopped)
        assert run(store, agent=paid, version="paid", parallel=2, max_usd=9).ran == 7


def test_what_cannot_run_says_what_to_do(store: str, tmp_path: Path) -> None:
    """Before any case runs, where that is known."""
    for values, said in (
        ({"times": 0}, "times is at least 1"),
        ({"agent": print, "version": ""}, "name its version"),
        ({"dataset": "none"}, "no dataset 'none'"),
    ):
        with pytest.raises((ExperimentError, LookupError), match=said):
            run(store, **values)
    with open_records(store) as opened:
        lineage = turnspan.experiment("sums").lineage("v1")
        lock = FileLock.take(opened.dsn.spool / f"experiment-{lineage.id[:16]}.lock")
        assert lock is not None
    with pytest.raises(ExperimentError, match="Another process runs version 'v1'"):
        run(store)
    lock.release()
    turnspan.shutdown()
    turnspan.configure(service_name="math", store=f"chdb://{tmp_path}/elsewhere")
    with pytest.raises(ExperimentError, match="the process records elsewhere"):
        run(store)
    turnspan.configure(service_name="math", capture_content=False)
    with pytest.raises(ExperimentError, match="TURNSPAN_CAPTURE_CONTENT=true"):
        run(store)
