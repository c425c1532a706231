"""The plugin ``llm-consortium``: what is recorded of the runs that its users' commands make.

``llm`` is started as it is, in environments of its oldest and newest versions; Turnspan is in them,
and nothing but ``TURNSPAN_STORE`` says that it is to record.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pytest

from stacks.consortia import (
    ARBITER,
    Answering,
    Case,
    Runs,
    faults,
    logged,
    played,
    surroundings,
)
from stacks.running import python_of
from turnspan.testing import ModelServer

VERSIONS: Final = ("llm-oldest", "llm-newest")
_THREE: Final = (("stub/a", "0"), ("stub/a", "1"), ("stub/b", "0"))
_TWO: Final = (("stub/a", "0"), ("stub/b", "0"))
_ASK: Final = ("-m", "stub/a", "-m", "stub/b", "--arbiter", ARBITER, "--max-iterations", "3")


def cases_of(version: str) -> list[Case]:
    """The runs that a version can make."""
    newest = version == VERSIONS[1]
    usual = "default" if newest else ""
    cases = [
        Case("twice", "jury", _THREE, (0.3, 0.95), strategy=usual),
        Case("once", "jury", _THREE, strategy=usual),
        Case(
            "weak",
            "weak",
            (("stub/a", "0"), ("stub/bad", "0")),
            (0.2, 0.9),
            failing=("stub/bad",),
            strategy=usual,
        ),
        Case("headless", "jury", _THREE, fails=True, strategy=usual),
    ]
    if newest:
        cases += [
            Case("ranked", "ranks", _TWO, ranked=True, strategy="default"),
            Case("voted", "votes", _TWO, strategy="voting"),
            Case("manual", "manual", _TWO, (0.3, 0.95), strategy="default"),
            Case(
                "nested",
                "outer",
                (("jury", "0"), ("stub/b", "0")),
                strategy="default",
                inner="jury",
            ),
        ]
    else:  # the newest has no such command
        command = ("consortium", "run", *_ASK)
        cases.append(Case("command", "", _TWO, (0.5, 0.9), strategy=usual, command=command))
    return [replace(case, name=f"{case.name}_{version[-6:]}") for case in cases]


def preparing(version: str) -> list[list[str]]:
    """The commands that save the consortia."""
    twice = ["-m", "stub/a:2"] if version == VERSIONS[1] else ["-m", "stub/a", "-m", "stub/a"]
    last = ["--arbiter", ARBITER, "--max-iterations", "3"]
    save = ["consortium", "save"]
    commands = [
        ["-m", "stub/a", "hello"],  # makes the database: the oldest plugin cannot
        [*save, "jury", *twice, "-m", "stub/b", *last],
        [*save, "weak", "-m", "stub/a", "-m", "stub/bad", *last],
    ]
    if version == VERSIONS[1]:
        two = ["-m", "stub/a", "-m", "stub/b", *last]
        commands += [
            [*save, "ranks", *two, "--judging-method", "rank"],
            [*save, "votes", *two, "--strategy", "voting"],
            [*save, "manual", *two, "--manual-context"],
            [*save, "outer", "-m", "jury", "-m", "stub/b", *last],
        ]
    return commands


@dataclass(slots=True)
class Played:
    """What a version did."""

    cases: list[Case]
    answering: Answering
    codes: list[Any] = field(default_factory=list[Any])
    seen: list[Any] = field(default_factory=list[Any])
    """What the user of one command sees, without Turnspan and with it."""


Made = tuple[dict[str, Played], Runs]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """All runs of all versions, in one store."""
    store = tmp_path_factory.mktemp("store")
    played_by = {
        version: play(version, tmp_path_factory.mktemp(version), store) for version in VERSIONS
    }
    return played_by, Runs(store)


def play(version: str, folder: Path, store: Path) -> Played:
    """Have a version make its runs."""
    cases = cases_of(version)
    alone = Case(f"alone_{version[-6:]}", "jury", _THREE, strategy=cases[0].strategy)
    answering = Answering({case.name: case for case in (*cases, alone)})
    done = Played([*cases, alone], answering)
    with ModelServer(default=answering) as server:
        played(version, surroundings(folder / "home", server.url), preparing(version))
        for recorded in (False, True):
            shutil.copytree(folder / "home", folder / str(recorded))
            answering.forget()
            around = surroundings(folder / str(recorded), server.url, store if recorded else None)
            done.seen.append(_look(version, alone, around, folder / str(recorded)))
        around = surroundings(folder / "home", server.url, store)
        done.codes = played(version, around, [case.arguments for case in cases])
    return done


def _look(version: str, case: Case, around: dict[str, str], folder: Path) -> Any:
    """The exit code of a command, what it says, and how much it logs."""
    ran = subprocess.run(
        [str(python_of(version).with_name("llm")), *case.arguments],
        env=around,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    # The newest plugin cannot log some rows: its threads make the tables of its database together.
    kept = {name: rows for name, rows in logged(folder).items() if "consortium" not in name}
    lines = [*ran.stdout.splitlines(), *ran.stderr.splitlines()]
    said = [line for line in lines if "Error logging to database" not in line]
    return ran.returncode, said, kept


@pytest.mark.parametrize("version", VERSIONS)
def test_every_run_is_recorded_exactly(made: Made, version: str) -> None:
    """Members with iteration and instance, verdicts, output, roles, tokens: nothing else."""
    done, runs = made[0][version], made[1]
    found = [fault for case in done.cases for fault in faults(case, runs, done.answering)]
    assert found == [], "\n".join(found)
    expected = [case.prompt for case in done.cases for _ in range(2 if case.inner else 1)]
    prompts = {case.prompt for case in done.cases}
    seen = [run["prompt"] for run in runs.runs if run["prompt"] in prompts]
    assert sorted(seen) == sorted(expected)
    assert [code == 0 for code in done.codes] == [not case.fails for case in done.cases[:-1]]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_user_sees_nothing_different(made: Made, version: str) -> None:
    """The same output, exit code and log, whether the command is recorded or not."""
    without, recorded = made[0][version].seen
    assert without == recorded
    assert without[0] == 0


def test_nothing_but_runs_is_recorded(made: Made) -> None:
    """Each call is of a run, and each run is one turn."""
    _, runs = made
    known = {run["consortium_id"] for run in runs.runs}
    assert {call["consortium_id"] for call in runs.calls} == known
    assert {turn["turn_id"] for turn in runs.turns} == {run["turn_id"] for run in runs.runs}
