"""``turnspan retain`` and ``turnspan restore`` from a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.keeping import DAY, World, now_of
from support.kept_stores import migrated
from support.landing import insert
from support.rows import call, message, said, turn
from support.small_disk import small_disk
from support.story import Invoke
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.keeping import Policy
from turnspan_records.keeping.work import Work
from turnspan_records.training.export_request import FORMATS

pytestmark = pytest.mark.usefixtures("kept_engine")


@pytest.fixture
def dsn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with a good turn, and a pass in it that was cut short."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    found = Dsn(scheme="chdb", path=tmp_path / "store")
    with migrated(found) as store:
        made = World(now_of(store))
        made.flag("turn", "t1", 1)
        begun = made.now - DAY
        asked, told = message("user", said("Q?")), message("assistant", said("A."))
        insert(store, *made.rows, turn("t1", start_time=begun), turn("t2", start_time=begun),
               call("c1", start_time=begun, turn_id="t1"), asked, told,
               call("c2", start_time=begun, turn_id="t2", input_messages=[asked.hash],
                    output_messages=[told.hash]))  # fmt: skip
    return str(found)


def test_records_go_and_come_back(invoke: Invoke, dsn: str, tmp_path: Path) -> None:
    """What would go, what went and what was asked afterwards; the archive's name, and back."""
    file = tmp_path / "policy.toml"
    file.write_text('archive = "kept"\n[ttl]\nspan = 100\n')
    given = ("--store", dsn, "retain", "--policy", str(file))

    planned = invoke(*given, "--dry-run")
    assert (planned.exit_code, planned.stderr) == (0, "")
    assert planned.stdout.startswith("1 row  would be deleted\n")
    assert "100 days" in planned.stdout
    assert not (tmp_path / "kept").exists()

    done = invoke(*given, "--apply")
    (archive,) = (tmp_path / "kept").iterdir()
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("1 row  deleted\n")
    assert "rows that refer to a message that went" in done.stdout
    assert f"3 rows are archived in {archive}" in done.stdout
    assert invoke(*given, "--apply").stdout.startswith("0 rows  deleted\n")

    back = invoke("--store", dsn, "restore", str(archive))
    assert back.stdout.startswith("3 rows  are back\n")
    assert "c1" in invoke("--store", dsn, "sql", "SELECT span_id FROM llm_call").stdout


def test_nothing_goes_unless_it_is_said(invoke: Invoke, dsn: str) -> None:
    """Neither of the two, and both."""
    for arguments in ((), ("--dry-run", "--apply")):
        found = invoke("--store", dsn, "retain", *arguments)
        assert (found.exit_code, "--dry-run" in found.stderr) == (2, True)


def test_the_policy_is_printed(invoke: Invoke, dsn: str) -> None:
    """As a file has it; the store is not opened for that."""
    assert invoke("--store", dsn, "retain", "--print-policy").stdout == Policy().as_toml()


def test_what_is_wrong_is_a_sentence(invoke: Invoke, dsn: str, tmp_path: Path) -> None:
    """A policy that is not understood, a folder that is no archive."""
    (tmp_path / "p.toml").write_text("windw_days = 3")
    wrong = invoke("--store", dsn, "retain", "--dry-run", "--policy", str(tmp_path / "p.toml"))
    none = invoke("--store", dsn, "restore", str(tmp_path / "data"))
    assert (wrong.exit_code, "did you mean 'window_days'?" in wrong.stderr) == (2, True)
    assert (none.exit_code, "is not an archive" in none.stderr) == (1, True)


@pytest.mark.release
def test_a_full_disk_is_a_sentence(invoke: Invoke, dsn: str, tmp_path: Path) -> None:
    """Of retain, export in each format, and forget; with room again, they finish."""
    with small_disk(tmp_path / "disk", 4 << 20) as disk:
        (tmp_path / "p.toml").write_text(f'archive = "{disk.folder}/kept"\n')
        commands = [
            *(("export", "sft", "--good", "any", "--format", one, "--to", f"{disk.folder}/{one}")
              for one in FORMATS),
            ("retain", "--policy", str(tmp_path / "p.toml"), "--apply"),
            ("forget", "--turn", "t2", "--yes"),
        ]  # fmt: skip
        first = ("export", "sft", "--good", "any", "--to", f"{disk.folder}/first")
        assert invoke("--store", dsn, *first).exit_code == 0
        disk.fill()
        for command in commands:
            found = invoke("--store", dsn, *command)
            assert found.exit_code in (1, 3), (command, found.output)
            assert "Traceback" not in found.output
            said = found.output if command[0] == "forget" else found.stderr
            assert re.search(r"[Dd]isk.* is full|No space left", said), (command, found.output)
        disk.relieve()
        for command in (commands[-2], ("forget", "--again")):
            found = invoke("--store", dsn, *command)
            assert found.exit_code == 0, found.output


@pytest.mark.release
def test_marks_of_others_are_left_alone(invoke: Invoke, dsn: str) -> None:
    """Whoever else marks rows in the store has a pass of another name."""
    with open_store(Dsn(scheme="chdb", path=Path(dsn.removeprefix("chdb://")))) as store:
        other = Work(store)
        other.put("x", "toDate(0)", "sipHash128(1)", "system.one", "1")
    assert invoke("--store", dsn, "retain", "--dry-run").exit_code == 0
    with open_store(Dsn(scheme="chdb", path=Path(dsn.removeprefix("chdb://")))) as store:
        assert Work(store, other.name).number_of("x") == 1
