"""What the commands ask of a store, and what they print with ``--format json``."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from support.assembled import FULL
from support.camp_rows import ATTEMPTS, LINEAGE, ROLLOUTS, VERSIONS
from support.consortium_rows import JURY
from support.consortium_runs import Shape, made_log
from support.generated_sessions import claude_lines
from support.import_kinds import KINDS, text_of
from support.imported import written
from support.kept_stores import engine_kept
from support.llm_samples import sample
from support.snapshots import Asked, Recorder, compare, kept
from support.story import CALL, TOOL, TRACE, TURN
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.cli import turnspan
from turnspan_records.training.export_request import KINDS as SETS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # the first test runs every command
TOPIC = "commands"
LATER, CUT, LOOPING, BLUE, GREEN = "d4" * 8, "e5" * 8, "7a" * 8, "8a" * 8, "8b" * 8
TIME = "--project shop --since 2026-09-01 --until 2026-10-01"
JSON = "--format json"
SHOWN = {
    "turn": TURN, "call": CALL, "tool": TOOL, "session": "thread-7", "trace": TRACE,
    "context": FULL, "lineage": LINEAGE, "rollout": ROLLOUTS[0], "attempt": ATTEMPTS[2],
    "artifact": "9" * 32, "consortium": JURY, "nothing": "0123456789abcdef",
}  # fmt: skip

READING: dict[str, str] = {
    "diagnose": f"diagnose {JSON}",
    "diagnose-one": f"diagnose usage_by_model_and_day {TIME} --limit 2 {JSON}",
    "sessions": f"sessions {JSON}",
    "sessions-window": f"sessions {TIME} --limit 1 {JSON}",
    "turns": f"turns {JSON}",
    "turns-session": f"turns --session thread-7 {TIME} --limit 1 {JSON}",
    "turns-filter": f"turns --filter 'stop:max_tokens,loop_detected rounds>0' {JSON}",
    "errors": f"errors {JSON}",
    "errors-window": f"errors {TIME} {JSON}",
    "errors-tool": f"errors stock {JSON}",
    "replay": f"replay thread-7 {JSON}",
    "replay-list": f"replay {JSON}",
    "replay-html": "replay loops --html {home}/loops.html",
    "why": f"why {TURN} {JSON}",
    "why-session": f"why thread-7 {JSON}",
    "why-loop": f"why {LOOPING} {JSON}",
    **{f"show-{kind}": f"show {id_} {JSON}" for kind, id_ in SHOWN.items()},
    "show-request": f"show {CALL} --request",
    "show-curl": f"show {CALL} --curl",
    "show-html": f"show {CALL} --html {{home}}/call.html",
    "find": f"find size {JSON}",
    "find-window": f"find size {TIME} --limit 1 {JSON}",
    "context": f"context {FULL} {JSON}",
    "context-call": f"context {CALL} {JSON}",
    "diff": f"diff {CALL} {LATER} {JSON}",
    "lineage": f"lineage {JSON}",
    "lineage-named": f"lineage camp --project shop {JSON}",
    "experiment-show": f"experiment show camp {JSON}",
    "compare": f"compare {BLUE} {GREEN} {JSON}",
    "compare-attempts": f"compare {ATTEMPTS[1]} {ATTEMPTS[2]} {JSON}",
    "gate": f"gate --base-where 'session:thread-7' --head-where 'session:loops' {TIME} {JSON}",
    "gate-experiment": f"gate --base {LINEAGE}@{VERSIONS[0]} --head experiment:camp@A2 {JSON}",
    "judge": f"judge --agreement clarity --project shop {JSON}",
    "consortium": f"consortium {JSON}",
    "consortium-window": f"consortium {TIME} --limit 1 {JSON}",
    "consortium-run": f"consortium {JURY} {JSON}",
    "consortium_group": f"consortium group {{runs}} {JSON}",
    "sql": f"sql 'SELECT name FROM tool_call ORDER BY span_id' {JSON}",
    "sql-parameter": f"sql --param n=7 'SELECT {{{{n:UInt8}}}} AS n' {JSON}",
    "sql-local-files": f"sql --local-files 'SELECT 1 AS one' {JSON}",
    "sql-write": f"sql --write 'SELECT 1 AS one' {JSON}",
    "sql-saved": f"sql --saved {JSON}",
    "review": f"review --list {JSON}",
    "status": f"status {JSON}",
    "doctor": f"doctor {JSON}",
    "summaries": "summaries --format jsonl",
    "summaries-session": "summaries --session thread-7 --since 2026-09-01 --format jsonl",
    "ship": "ship",
    "migrate": "migrate",
    "migrate-dry-run": "migrate --dry-run",
    "retain-dry-run": "retain --dry-run --policy {policy}",
    "forget-user-dry-run": "forget --user ada --dry-run",
    "forget-project-dry-run": "forget --project shop --dry-run",
    **{f"export-{kind}": f"export {kind} --to {{home}}/{kind}" for kind in SETS},
    "export-call": f"export sft --to {{home}}/calls --unit call --format trl --good any {TIME}"
    " --where 'round = 1' --agent none",
    "export-pairs": "export preference --to {home}/pairs --pairs preferences --pairs scores",
    "export-session": "export session thread-7 --to {home}/thread-7.jsonl",
    "export-agent-trace": "export agent-trace --to {home}/traces",
    "export-edits": "export preference --pairs edits --to {home}/edits",
    "export-atif": "export atif --to {home}/atif --project shop --where 'rounds > 0'",
    "export-inspect": "export inspect thread-7 --to {home}/inspect",
    "week": f"week --week 2026-W39 --project shop {JSON}",
    "export-score": "export sft --to {home}/scored --good 'score>=8' --only locked",
}
"""The name of the snapshot and the command line."""

WRITING: dict[str, str] = {
    "annotate": f"annotate {LOOPING} --outcome modified --score 3 --comment slow",
    "annotate-from": "annotate --from {judgments}",
    "prefer": f"prefer {BLUE} {GREEN} --reason brighter",
    "rank": f"rank {TURN} {CUT} {LOOPING}",
    "withdraw": f"withdraw {LOOPING} score --author ada",
    "steer": f"steer {LINEAGE} --directive 'Name every source.'",
    "steer-evolve": f"steer {LINEAGE} --lock --reason best",
    "dataset-make": "dataset make asked --where 'stop:completed' --project shop",
    "dataset-list": f"dataset list {JSON}",
    "dataset-show": f"dataset show asked {JSON}",
    "dataset-diff": f"dataset diff asked asked {JSON}",
    "review-save": "review --odd --save strange",
    "quality": f"quality --git {{repository}} --own agent@example.org {JSON}",
    **{f"import_{kind}": f"import {kind} {{home}}/{kind}.jsonl {JSON}" for kind in KINDS},
    "import_llm": f"import llm {{llm}} {JSON}",
    "import_coding": f"import coding {{home}}/coding {JSON}",
    "retain": "retain --apply --policy {policy}",
    "restore": "restore {archive}",
    "forget-session": "forget --session loops --yes",
}
"""The same on a copy of the store, one after the other."""

LEFT_OUT = {
    "console": "a server: its endpoints have snapshots",
    "mcp": "a server: its tools have snapshots",
    "receive": "a server that reads nothing of the store",
    "demo": "plays agents; what it asks then are diagnostics, which have snapshots",
    "watch question": "asks diagnostics and SQL, which have snapshots",
    "watch coding": "imports what lies on the machine: tests/coding has its records",
    **{
        f"hooks {name}": "is about files of coding agents: tests/coding has it"
        for name in ("install", "uninstall", "status", "run")
    },
    "rerun": "runs a program; what it reads of the store is what `export session` does",
    "experiment run": "runs the reader's agent: tests/records/test_experiments.py has its records",
    "blame": "reads a git repository: tests/coding/test_blame.py has its answers",
    "survival": "as blame",
    "init": "reads a project, and nothing of the store",
    "import agent-telemetry": "reads a real database server",
    "import ephemera": "reads a real database server",
    **{
        f"import {kind}": "is `import coding` of one tool"
        for kind in ("claude-code", "codex", "copilot", "gemini-cli", "opencode", "pi")
    },
}


@pytest.fixture(scope="module")
def places(home: Path) -> dict[str, str]:
    """What command lines name, by the word in their braces."""
    (home / "policy.toml").write_text('window_days = 30\ncontent_days = 0\narchive = "kept"\n')
    (home / "judgments.csv").write_text(f"id,score,comment\n{TURN[:8]},9,good\n{CUT},2,cut\n")
    for kind in KINDS:
        (home / f"{kind}.jsonl").write_bytes(text_of(kind, 1))
    (home / "coding").mkdir()
    written(home / "coding" / "s.jsonl", *claude_lines("s", 2, words=3))
    made_log(home / "runs.db", 0, Shape(runs=2))
    _commit(home / "repository")
    return {
        "home": str(home),
        "policy": str(home / "policy.toml"),
        "judgments": str(home / "judgments.csv"),
        "runs": str(home / "runs.db"),
        "llm": str(sample("0.31", home)),
        "repository": str(home / "repository"),
    }


def _commit(repository: Path) -> None:
    """A repository with the page that an agent wrote."""
    repository.mkdir()
    (repository / "page.md").write_text("A page.\n")
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (
            ("NAME", "agent"), ("EMAIL", "agent@example.org"), ("DATE", "1790000005 +0000")
        )
    }  # fmt: skip
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for line in ("init -q -b main", "add -A", "commit -q -m Write"):
        command = ["git", *line.split()]
        subprocess.run(command, cwd=repository, env={**os.environ, **who, **alone}, check=True)


@pytest.fixture(scope="module")
def asked(
    recorder: Recorder, places: dict[str, str], home: Path, records_dsn: Dsn, copied_dsn: Dsn
) -> Mapping[str, Asked]:
    """Every command, in this order."""
    found: dict[str, Asked] = {}
    with pytest.MonkeyPatch.context() as patch:
        for dsn, lines in ((records_dsn, READING), (copied_dsn, WRITING)):
            patch.setenv("TURNSPAN_STORE", str(dsn))
            with engine_kept():
                for name, line in lines.items():
                    archives = [*map(str, (home / "kept").glob("*"))]
                    words = shlex.split(line.format(**places, archive="".join(archives)))
                    found[name] = recorder.ask(partial(_told, words))
    return found


def _told(words: list[str]) -> Any:
    """What a command printed as JSON; ``None`` of one that prints none."""
    done = CliRunner().invoke(turnspan, words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    # 2: a gate has too little data here
    assert done.exit_code in (0, 1, 2 * (words[0] == "gate")), (words, done.output)
    format_ = words[words.index("--format") + 1] if "--format" in words else ""
    if format_ == "json" or "--request" in words:
        return json.loads(done.stdout) if done.stdout else {"stderr": done.stderr}
    return [json.loads(line) for line in done.stdout.splitlines()] if format_ == "jsonl" else None


@pytest.mark.parametrize("name", [*READING, *WRITING])
def test_a_command_asks_and_prints_as_before(
    name: str, asked: Mapping[str, Asked], sql: Mapping[str, str]
) -> None:
    """The SQL and the JSON are those of the snapshot."""
    compare(TOPIC, asked, name, sql)


def test_every_command_has_a_snapshot() -> None:
    """With ``--format json`` where it has that. A new one is named here, and no file is left of
    one that is gone."""
    lines = {**READING, **WRITING}
    for path, command in _commands(turnspan):
        own = [line for line in lines.values() if f"{line} ".startswith(f"{path} ")]
        if any("json" in getattr(one.type, "choices", ()) for one in command.params):
            own = [line for line in own if JSON in line]
        assert bool(own) is (path not in LEFT_OUT), path
    assert kept(TOPIC) == set(lines)


def _commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command that can be run, by its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        words = f"{path} {name}".strip()
        if isinstance(command, click.Group):
            yield from _commands(command, words)
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield words, command
