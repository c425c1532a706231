"""``turnspan export``: a set from a terminal, whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import pytest

from support.kept_stores import migrated
from support.landing import insert
from support.story import ENTRY, Invoke
from support.terminal import on_terminal
from support.training import Recorded, lines
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.commands import export
from turnspan_console.panels import bars
from turnspan_records.coding.trajectories.trajectory_export import TrajectoryFormat
from turnspan_records.training.export_request import FORMATS, KINDS, PAIR_SOURCES, UNITS


@pytest.fixture
def dsn(tmp_path: Path) -> str:
    """A store with some good turns and a pair."""
    recorded = Recorded()
    for number in range(40):
        recorded.with_a_tool(f"t{number:02}", f"Size {number}?", f"Answer {number}.")
        recorded.judge(f"t{number:02}", "outcome", outcome="used")
    recorded.turn("good", "Q?", "\x1b[31mRed\x1b[0m.")
    recorded.turn("bad", "Q?", "Blue.")
    recorded.prefer("good", "bad")
    found = Dsn(scheme="chdb", path=tmp_path / "store")
    with migrated(found) as store:
        insert(store, *recorded.rows)
    return str(found)


def test_a_set_from_a_terminal(invoke: Invoke, dsn: str, tmp_path: Path) -> None:
    """The lines, the files, what was dropped, and where it is; again is refused."""
    folder = tmp_path / "sets" / "good"
    arguments = (
        *("--store", dsn, "export", "sft", "--to", str(folder), "--format", "trl"),
        *("--split", "train=0.8", "--split", "validation=0.2", "--where", "rounds = 2"),
    )

    made, again = invoke(*arguments), invoke(*arguments)

    assert (made.exit_code, made.stderr) == (0, "")
    assert made.stdout.startswith("40 lines  of 40 turns, 40 samples\n")
    assert str(folder) in made.stdout
    assert len(lines(folder / "train.jsonl")) + len(lines(folder / "validation.jsonl")) == 40
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["query"]["filters"]["where"] == "rounds = 2"
    assert str(tmp_path) not in (folder / "manifest.json").read_text()
    assert (again.exit_code, "is there already" in again.stderr) == (2, True)


def test_a_store_without_judgments_says_what_to_type(invoke: Invoke, tmp_path: Path) -> None:
    recorded = Recorded()
    recorded.turn("t1", "Q?", "Red.")
    found = Dsn(scheme="chdb", path=tmp_path / "store")
    with migrated(found) as store:
        insert(store, *recorded.rows)
    made = invoke("--store", str(found), "export", "sft", "--to", str(tmp_path / "set"))
    assert "`used`" in made.output
    assert "`turnspan annotate TURN --outcome used`" in made.output


def test_pairs_and_what_nobody_judged(invoke: Invoke, dsn: str, tmp_path: Path) -> None:
    """Where no record becomes a line the command says so, and there is no set."""
    pairs = invoke("--store", dsn, "export", "preference", "--to", str(tmp_path / "pairs"))
    none = invoke("--store", dsn, "export", "reward", "--to", str(tmp_path / "none"))

    assert pairs.stdout.startswith("1 line  of 42 turns")
    assert (none.exit_code, "No record became a line" in none.stderr) == (1, True)
    assert "the set is in" not in none.stdout
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--good", "nice"), "is no rule"),
        (("--split", "train"), "is no split"),
        (("--split", "train=0.5"), "are 1 together"),
        (("--where", "url('http://x') = 1"), "condition"),
        (("--tokenizer", "/nowhere"), "There is no tokenizer"),
        (("--since", "1d", "--until", "2d"), "--since must be before"),
    ],
)
def test_what_cannot_be_asked_for(
    invoke: Invoke, dsn: str, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    """A sentence with the remedy, and no folder."""
    folder = tmp_path / "set"

    shown = invoke("--store", dsn, "export", "sft", "--to", str(folder), *arguments)

    assert (shown.exit_code, said in shown.stderr) == (2, True), shown.stderr
    assert [path.name for path in tmp_path.iterdir() if "set" in path.name] == []


def test_progress_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing for what takes less than a second, then a bar for each stage; none on a pipe."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with bars.Bars() as quick:
        quick.show("reading", 1, 2)
    assert capsys.readouterr().err == ""

    with bars.Bars(0.0) as shown:
        shown.show("reading", 1, 2)
        shown.show("writing", 3, 4)
    written = capsys.readouterr().err
    assert "reading" in written
    assert "1/2" in written

    monkeypatch.setattr("sys.stderr.isatty", lambda: False)
    with bars.Bars() as piped:
        piped.show("reading", 1, 2)
    assert capsys.readouterr().err == ""


@pytest.mark.release
def test_a_terminal_shows_the_same(dsn: str, tmp_path: Path) -> None:
    """In colour, with the files in a table."""
    shown = on_terminal("--store", dsn, "export", "sft", "--to", str(tmp_path / "set"))

    assert "40 lines" in shown
    assert "train.jsonl" in shown


@pytest.mark.release
def test_a_killed_export_leaves_no_set(dsn: str, tmp_path: Path) -> None:
    """Whenever it is killed, the folder is not there or whole; the next one clears up."""
    folder = tmp_path / "set"
    command = [sys.executable, "-c", ENTRY, "--store", dsn, "export", "cot", "--to", str(folder)]
    for wait in (0.2, 0.5, 0.8, 1.1, 1.4):
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait)
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        if folder.exists():
            break
    if not folder.exists():
        subprocess.run(command, check=True, capture_output=True, timeout=120)

    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["counts"]["lines"] == 40
    subprocess.run([*command[:-1], str(tmp_path / "more")], check=True, capture_output=True)
    left = {path.name for path in tmp_path.iterdir()}
    left -= {".set.lock"}  # killed in its last moment
    assert left == {"data", "more", "set", "store"}  # in data it is noted where sets are


def test_sessions_in_other_formats(invoke: Invoke, filled: str, tmp_path: Path) -> None:
    """One session by its id or all that the filters match; options of sets are refused."""

    def exported(*arguments: str) -> tuple[int, str]:
        shown = invoke("--store", filled, "export", *arguments, "--to", str(tmp_path / "new"))
        return shown.exit_code, f"{shown.stdout}{shown.stderr}"

    code, said = exported("atif", "thread-7")
    assert (code, "1 session" in said) == (0, True), said
    assert [path.name for path in tmp_path.glob("new/*/*")] == ["thread-7.json"]
    for arguments, expected, words in (
        (("atif",), 2, "is there already"),
        (("inspect", "--split", "all=1"), 2, "--split does not apply to `export inspect`"),
        (("sft", "thread-7"), 2, "leave it out of `export sft`"),
        (("atif", "thread-99"), 1, "has the id 'thread-99'"),
    ):
        code, said = exported(*arguments)
        assert (code, words in said) == (expected, True), said
    shutil.rmtree(tmp_path / "new")
    code, said = exported("inspect", "--agent", "nobody")
    assert (code, "widen the filters" in said) == (1, True), said


def test_the_choices_are_those_of_the_records() -> None:
    """The command names them itself, to start at once."""
    assert get_args(TrajectoryFormat) == export.TRAJECTORIES
    assert (export.KINDS, export.FORMATS, export.UNITS) == (KINDS, FORMATS, UNITS)
    assert export.PAIRS == PAIR_SOURCES
