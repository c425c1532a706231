"""`turnspan consortium`: runs in a list, and one with its members side by side."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from support.consortium_rows import JURY, QUIET, consortium_rows
from support.kept_stores import migrated
from support.landing import insert
from support.story import Invoke
from support.terminal import on_terminal
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = pytest.mark.usefixtures("kept_engine")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> str:
    dsn = Dsn(scheme="chdb", path=tmp_path_factory.mktemp("runs") / "store")
    with migrated(dsn) as store:
        insert(store, *consortium_rows())
    return str(dsn)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_the_list(runs: str, invoke: Invoke) -> None:
    """Newest first, within a window, for people and for programs."""
    lines = invoke("--store", runs, "consortium").stdout.splitlines()
    assert [line.split()[3] for line in lines[1:]] == [QUIET, "jury"]
    listed = json.loads(invoke("--store", runs, "consortium", "--format", "json").stdout)
    assert [one["run"] for one in listed] == [QUIET, JURY]
    assert (listed[1]["winner"], listed[1]["agreement"], listed[1]["members"]) == ("m-b#2", 1.0, 4)
    limited = invoke("--store", runs, "consortium", "--limit", "1", "--format", "json")
    assert [one["run"] for one in json.loads(limited.stdout)] == [QUIET]
    nothing = invoke("--store", runs, "consortium", "--until", "2020-01-01")
    assert nothing.exit_code == 1
    assert "no consortium runs in" in nothing.stderr


@pytest.mark.parametrize(
    "arguments", [(JURY,), (JURY[:6], "--full"), ("--format", "table", JURY[:8])]
)
def test_a_run(runs: str, invoke: Invoke, arguments: tuple[str, ...]) -> None:
    """By its id or its beginning: answers, decisions, what it came to; one below the other in a
    pipe."""
    shown = invoke("--store", runs, "consortium", *arguments).stdout
    lines = shown.splitlines()
    assert lines[0] == f"Consortium jury {JURY}  finished"
    assert "m-c  200 ms  Timeout: late" in lines
    assert lines[lines.index("m-b#2  3.5 s  $0.00100  won") + 1] == "  abcd"
    assert "Arbiter judge  confidence 0.40  wants another iteration  500 ms" in lines
    assert "  ranking  m-b#2 > m-a" in lines
    assert lines[-2:] == ["final", "  The second."]


def test_how_an_import_found_a_run(runs: str, invoke: Invoke) -> None:
    """The keys, the strongest first, and what the log did not have."""
    lines = invoke("--store", runs, "consortium", QUIET).stdout.splitlines()
    assert "grouped by     interval, text; 2 rows not found" in lines
    told = json.loads(invoke("--store", runs, "consortium", QUIET, "--format", "json").stdout)
    assert (told["grouped_by"], told["missing"]) == (["interval", "text"], 2)


def test_a_run_for_programs(runs: str, invoke: Invoke) -> None:
    """Typed all the way down; the format may be named before the id."""
    after = invoke("--store", runs, "consortium", JURY, "--format", "json").stdout
    assert invoke("--store", runs, "consortium", "--format", "json", JURY).stdout == after
    shown = json.loads(after)
    assert (shown["prompt"], shown["final_text"]) == ("Which?", "The second.")
    first, second = shown["iterations"]
    assert [one["answer"] for one in first["members"]] == ["wxyz", "abcd", ""]
    assert [one["cost_usd"] for one in second["members"]] == [0.002, 0.001]
    assert second["decisions"][0]["model"] == "judge-2"


def test_side_by_side_where_there_is_room(runs: str) -> None:
    """On a wide terminal; on a narrow one below each other."""
    wide = plain(on_terminal("--store", runs, "consortium", JURY, width=120)).splitlines()
    assert any("wxyz" in line and "abcd" in line for line in wide)
    narrow = plain(on_terminal("--store", runs, "consortium", JURY, width=60)).splitlines()
    assert not any("wxyz" in line and "abcd" in line for line in narrow)
    assert all(len(line) <= 60 for line in narrow)


def test_what_is_no_run(runs: str, invoke: Invoke) -> None:
    """Another record, or nothing: one sentence."""
    call = invoke("--store", runs, "consortium", "c000000000000001")
    assert (call.exit_code, call.stdout) == (1, "")
    assert "is a call and no consortium run" in call.stderr
    assert invoke("--store", runs, "consortium", "nothing").exit_code == 1


def test_show_and_replay(runs: str, invoke: Invoke) -> None:
    """They know a run's id."""
    shown = invoke("--store", runs, "show", JURY[:8]).stdout
    assert shown.startswith(f"Consortium {JURY}\n")
    assert "members: 5" in shown
    assert "model calls: 9" in shown
    assert invoke("--store", runs, "replay", JURY[:8]).stdout.startswith("Session s1\n")


def test_the_help_names_it(invoke: Invoke, tmp_path: Path) -> None:
    """Of a store that is not there, the command says so."""
    assert "RUN | COMMAND" in invoke("consortium", "--help").stdout
    assert invoke("--store", f"chdb://{tmp_path}/none", "consortium").exit_code != 0


def test_a_run_is_judged(runs: str, invoke: Invoke) -> None:
    """By the beginning of its id; it and `show` tell what was said, and nothing is orphaned."""
    judged = invoke("--store", runs, "annotate", QUIET[:8], "--score", "3", "--author", "ada")
    assert judged.stdout == f"consortium {QUIET}: 1 judgment\n"
    assert invoke("--store", runs, "annotate", "2aNone", "--score", "3").exit_code == 1
    lines = invoke("--store", runs, "consortium", QUIET).stdout.splitlines()
    assert "judgments: 1" in lines
    assert "score 3" in " ".join(lines[-1].split())
    shown = json.loads(invoke("--store", runs, "show", QUIET, "--format", "json").stdout)
    assert [(one["subject_kind"], one["score"]) for one in shown["judgments"]] == [
        ("consortium", 3)
    ]
    orphaned = invoke("--store", runs, "diagnose", "orphaned_annotations", "--format", "json")
    assert json.loads(orphaned.stdout) == []
