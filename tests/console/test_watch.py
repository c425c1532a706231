"""``turnspan watch``: each thing is told once when it begins, and once when it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import turnspan_records
from support.story import Invoke
from turnspan_clickhouse.store.client import Result
from turnspan_records.diagnostics import diagnostics
from turnspan_records.screens.alerts import (
    Condition,
    Watched,
    changes,
    grafana_rules,
    watched,
)

ONE = "SELECT name AS tool, count() AS runs FROM tool_call GROUP BY 1"


@contextmanager
def webhook(*statuses: int) -> Generator[tuple[str, list[dict[str, Any]]]]:
    """An address that answers with these statuses in turn, and what it got."""
    got: list[dict[str, Any]] = []
    waiting = list(statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            status = waiting.pop(0) if waiting else 204
            self.send_response(status)
            if status == 302:
                self.send_header("location", "/elsewhere")
            self.end_headers()

        def do_GET(self) -> None:
            raise AssertionError("a redirect was followed")

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook", got
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_thing_is_told_once_until_it_ends(invoke: Invoke, filled: str, tmp_path: Path) -> None:
    """Also by another process; a receiver that fails gets it again."""
    told = tmp_path / "told"
    script = tmp_path / "tell.py"
    script.write_text(
        f"import sys; open({str(told)!r}, 'a').write(sys.stdin.read() + chr(10))", "utf-8"
    )
    with webhook(500, 302) as (address, got):
        words = ["--store", filled, "watch", ONE, "--above", "0", "--once"]
        words += ["--webhook", address, "--run", f"{sys.executable} {script}"]
        results = [invoke(*words) for _ in range(4)]
        assert [result.exit_code for result in results] == [1] * 4
        assert "the webhook failed (HTTP Error 500" in results[0].stderr
        assert "the webhook failed (HTTP Error 302" in results[1].stderr
        assert "firing: SELECT name AS tool" in results[2].stdout and not results[3].stdout
        assert len(got) == len(told.read_text("utf-8").splitlines()) == 3
    assert got[2] == json.loads(told.read_text("utf-8").splitlines()[2])
    alert = got[2]["alerts"][0]
    assert alert["state"] == "firing" and list(alert["labels"]) == ["tool"] and alert["value"] >= 1
    assert got[2]["condition"] == "runs > 0" or got[2]["condition"].endswith("> 0")
    other = invoke("--store", filled, "watch", ONE, "--above", "1e9", "--once")
    assert other.exit_code == 0 and not other.stdout


def test_it_goes_on_until_it_is_ended(filled: str) -> None:
    """By a signal, at once, while it waits."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "turnspan_console", "--store", filled),
            *("watch", ONE, "--above", "0", "--every", "1d"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        # A worker of pytest-xdist ignores the signal, and its children would as well.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("firing: ")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in said


def test_what_ends_and_begins_again_is_told_again() -> None:
    """The time is that of the beginning; what has no row any more has ended."""
    looked_at, condition = Watched("n", ("tool",)), Condition(above=2)
    begun, firing = changes({}, looked_at, condition, {("a",): 3.0, ("b",): 2.0})
    assert [(one.state, one.labels, one.value) for one in begun] == [("firing", {"tool": "a"}, 3.0)]
    assert changes(firing, looked_at, condition, {("a",): 9.0}) == ([], firing)
    ended, after = changes(firing, looked_at, condition, {("b",): 7.0})
    assert [(one.state, one.labels["tool"], one.value) for one in ended] == [
        ("firing", "b", 7.0),
        ("resolved", "a", None),
    ]
    assert ended[1].since == firing['["a"]'] and list(after) == ['["b"]']


def test_what_is_looked_at_follows_from_the_answer() -> None:
    """The only number, else a named one, else how many rows there are."""
    one = Result(("tool", "rate"), ("String", "Float64"), [("a", 0.5), ("a", 0.7), ("b", None)])
    assert watched(one) == Watched("rate", ("tool",))
    assert watched(one).values(one) == {("a",): 0.7}
    two = Result(
        ("time", "tool", "runs", "cost", "last"),
        ("DateTime", "String", "UInt64", "Decimal(12, 6)", "String"),
        [(0, "a", 1, 2, "x")],
    )
    assert watched(two) == Watched("", ()) and watched(two).values(two) == {(): 1.0}
    assert watched(two, "cost") == Watched("cost", ("tool",))
    assert watched(two, "cost", ("last", "tool")) == Watched("cost", ("last", "tool"))
    for column, by, says in (("last", (), "runs, cost"), ("cost", ("who",), "time, tool")):
        with pytest.raises(ValueError, match=says):
            watched(two, column, by)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("loops",), "Give a bound"),
        (("loops", "--above", "1", "--below", "2"), "Give a bound"),
        (("no_such", "--above", "1"), "There is no diagnostic"),
        (("loops", "--above", "1", "--every", "soon"), "no duration"),
        (("loops", "--above", "1", "--webhook", "file:///etc/passwd"), "no http or https"),
        ((ONE, "--above", "1", "--column", "nothing"), "no column of numbers"),
        (("DROP TABLE llm_call", "--above", "1"), ""),
    ],
)
def test_what_cannot_be_watched_says_why(
    invoke: Invoke, filled: str, words: tuple[str, ...], says: str
) -> None:
    """Before anything waits."""
    result = invoke("--store", filled, "watch", *words, "--once")
    assert result.exit_code == 2 and says in result.stderr, result.stderr


def test_every_diagnostic_becomes_a_rule_that_the_store_answers(
    invoke: Invoke, filled: str, tmp_path: Path
) -> None:
    """The rule's SQL has no parameter left, and gives one number with its texts."""
    with turnspan_records.open(filled) as store:
        for one in diagnostics().values():
            looked_at = watched(one.run(store, limit=5))
            rules = grafana_rules(
                one.title,
                one.sql,
                looked_at,
                Condition(below=1.5),
                every=timedelta(minutes=5),
                project="a'b\\",
                period=timedelta(hours=1),
                uid="turnspan-x",
            )
            [rule] = rules["groups"][0]["rules"]
            result = store.query(rule["data"][0]["model"]["rawSql"])
            assert result.names == (*looked_at.by, "value") and result.types[-1] == "Float64"
    file = tmp_path / "rules.yaml"
    words = ("watch", "tool_usage", "--above", "5", "--grafana", str(file))
    assert invoke("--store", filled, *words).exit_code == 0
    [group] = json.loads(file.read_text("utf-8"))["groups"]
    assert group["interval"] == "300s"
    assert group["rules"][0]["data"][1]["model"]["conditions"] == [
        {"evaluator": {"type": "gt", "params": [5.0]}}
    ]
