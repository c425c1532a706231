"""``turnspan judge``: what it prints, its exit codes, and what stands in the store then."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.kept_stores import migrated
from support.landing import insert
from support.rows import turn
from support.story import ENTRY, Invoke, Spawn
from turnspan.testing import ModelServer
from turnspan.testing.model_server import ModelRequest
from turnspan_clickhouse.store.dsn import Dsn

FILE = 'name = "tone"\nmodel = "gpt-4o"\ntemplate = "{answer}"\nlabels = ["kind", "rude"]\n'


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer('{"reason": "\\u001b[31m said", "label": "kind"}') as made:
        yield made


def test_a_run_says_what_it_did_and_how_far_people_agree(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: ModelServer
) -> None:
    """Before and after; few judgments of people are warned of; its calls are a project apart."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "store")
    with migrated(dsn) as store:
        insert(store, *(turn(f"{n}" * 16, n, response_text=f"Hi {n}") for n in range(4)))
    (tmp_path / "judge.toml").write_text(FILE)
    monkeypatch.setenv("TURNSPAN_STORE", str(dsn))
    line = ["judge", "--with", str(tmp_path / "judge.toml"), "--base-url", server.url]
    assert "Set OPENAI_API_KEY" in (refused := invoke(*line)).stderr and refused.exit_code == 2
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    for id_, label in (("0" * 16, "kind"), ("1" * 16, "rude")):
        said = "INSERT INTO annotation (project, subject_kind, subject_id, kind, annotation_id, "
        with migrated(dsn) as store:
            store.command(
                f"{said} outcome, author, created_at) VALUES ('shop', 'turn', '{id_}', "
                f"'evaluation:tone', 'p{id_}', '{label}', 'ada', now64(9))"
            )
    ran = invoke(*line, "--max-usd", "1")
    assert ran.exit_code == 0, ran.output
    before, _, after = ran.stdout.partition("4 of 4 judged now, 0 known before, $")
    assert "kappa is not known; 0 records" in before and "  kind  4\n" in after
    assert (
        "kappa is 0.00" in after and "2 records that people judged too (evaluation:tone)" in after
    )
    assert "People judged fewer than 30 of its records: do not trust it yet." in after
    assert server.requests[0].headers["authorization"] == "Bearer sk-canary"
    again = json.loads(invoke(*line, "--where", "turn:" + "2" * 16, "--format", "json").stdout)
    assert (again["report"]["known"], len(server.requests)) == (1, 4)
    assert again["before"] == again["after"]
    alone = invoke("judge", "--agreement", "tone", "--format", "json")
    assert json.loads(alone.stdout)["table"] == [["kind", "kind", 1], ["kind", "rude", 1]]
    projects = "SELECT DISTINCT project, length(response_text) AS n FROM llm_call"
    assert json.loads(invoke("sql", projects, "--format", "json").stdout) == [
        {"project": "shop-judge", "n": 0}
    ]


@pytest.mark.release
def test_a_killed_run_pays_only_for_what_was_under_way_twice(tmp_path: Path, spawn: Spawn) -> None:
    """Killed with -9 it goes on where it ended: each turn is judged once, four asked at a time."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "store")
    with migrated(dsn) as store:
        insert(store, *(turn(f"t{n}", n, response_text=f"Hi {n}") for n in range(24)))
    (tmp_path / "judge.toml").write_text(FILE + 'api_key_env = ""\n')

    def slow(_request: ModelRequest) -> str:
        time.sleep(0.2)
        return '{"label": "kind"}'

    with ModelServer(slow) as server:
        judge = ("judge", "--with", str(tmp_path / "judge.toml"), "--base-url", server.url)
        line = ("--store", str(dsn), *judge, "--format", "json")
        with subprocess.Popen([sys.executable, "-c", ENTRY, *line]) as killed:
            while len(server.requests) < 10 and killed.poll() is None:
                time.sleep(0.02)
            killed.kill()
        report = json.loads(spawn(*line).stdout)["report"]
        assert report["known"] >= 4 and report["known"] + report["judged"] == 24
        assert len(server.requests) <= 24 + 4
    sql = "SELECT count() AS n FROM annotation"
    counted = spawn("--store", str(dsn), "sql", sql, "--format", "json")
    assert json.loads(counted.stdout) == [{"n": 24}]


def test_wrong_usage(invoke: Invoke, filled: str, tmp_path: Path) -> None:
    """One sentence, and the exit code of every command."""
    (tmp_path / "judge.toml").write_text(FILE + 'api_key_env = ""\n')
    judge = ("--store", filled, "judge", "--with", str(tmp_path / "judge.toml"))
    for arguments, words in (
        (("--store", filled, "judge"), "Say --with JUDGE"),
        ((*judge, "--where", "nothing"), "is not a filter"),
        ((*judge, "--against", "agent:x"), "only by one"),
        ((*judge, "--base-url", "ftp://x"), "is not an http or https address"),
        (("--store", filled, "judge", "--with", "none.toml"), "none.toml cannot be read"),
    ):
        refused = invoke(*arguments)
        assert (refused.exit_code, words in refused.stderr) == (2, True), refused.output
    none = invoke("--store", filled, "judge", "--agreement", "none")
    assert none.exit_code == 1 and "0 records" in none.stdout
