"""What is made on a disk is its owner's alone, whatever the umask, and what was open is closed."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.kept_stores import copy_schema
from support.representatives import few
from support.rows import turn
from support.story import ENTRY
from turnspan_clickhouse.files.atomic_files import (
    close_to_others,
    makes_loose_files,
    private_folder,
)
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import TurnSummary
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, migrate
from turnspan_clickhouse.store.opening import open_store

AGENT = """
import turnspan
turnspan.configure(service_name="private", exporters=["turnspan"])

@turnspan.tool
def add(a: int, b: int) -> int:
    return a + b

@turnspan.agent
def run(question: str) -> str:
    return str(add(1, 2))

run("what is 1 + 2?")
turnspan.shutdown()
"""


@pytest.fixture(params=few([0o000, 0o022, 0o077], [0o022]), ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """A umask for this process and its children."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def loose(folder: Path) -> list[str]:
    """All that is not 0700 (folders) or 0600 (files) at and below a folder."""
    found: list[str] = []
    for path in (folder, *folder.rglob("*")):
        mode = path.lstat()
        if stat.S_ISLNK(mode.st_mode):
            continue
        wanted = 0o700 if path.is_dir() else 0o600
        if stat.S_IMODE(mode.st_mode) & ~wanted:
            found.append(f"{path} {stat.S_IMODE(mode.st_mode):o}")
    return found


def run(*command: str, home: Path, umask: int) -> subprocess.CompletedProcess[str]:
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("TURNSPAN_", "OTEL_"))}
    done = subprocess.run(
        [sys.executable, *command],
        env={**environ, "XDG_DATA_HOME": str(home), "HOME": str(home)},
        umask=umask,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr  # 1: nothing was found
    return done


@pytest.mark.release
@pytest.mark.parametrize("mask", [0o000], ids=oct)
def test_an_agent_and_every_command_leave_nothing_open(tmp_path: Path, mask: int) -> None:
    """Spool, store and what a query was told to write, in a home that had no folder yet."""
    home = tmp_path / "share"
    run("-c", AGENT, home=home, umask=mask)
    assert loose(home) == []
    out = home / "turns.csv"
    for command in (
        ("sessions",),
        ("diagnose",),
        ("sql", "--write", "OPTIMIZE TABLE turn_summary FINAL"),
        ("sql", "--local-files", f"SELECT turn_id FROM turn_summary INTO OUTFILE '{out}'"),
        ("doctor", "--problems"),
        ("status",),
    ):
        run("-c", ENTRY, *command, home=home, umask=mask)
        assert loose(home) == [], command
    assert out.stat().st_size > 0
    assert len(list((home / "turnspan" / "store" / "engine").rglob("*.bin"))) > 0


@pytest.mark.release
def test_the_demos_own_store_is_private(tmp_path: Path) -> None:
    home = tmp_path / "share"
    run("-c", ENTRY, "demo", "--limit", "1", home=home, umask=0o000)
    assert loose(home) == []
    assert (home / "turnspan" / "demo" / "engine").is_dir()


def test_a_reader_in_an_application_closes_what_the_engine_made(
    embedded_dsn: Dsn, umask: int
) -> None:
    """The umask is the application's: what the engine writes is closed when the store is."""
    with open_store(embedded_dsn) as store:
        migrate(store)
        assert makes_loose_files() == (umask & 0o077 != 0o077)
        assert embedded_dsn.path is not None
        for folder in (embedded_dsn.path, embedded_dsn.path / "engine"):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert loose(embedded_dsn.path) == []


def test_a_spool_is_private(tmp_path: Path, umask: int) -> None:
    del umask
    spool = Spool(tmp_path / "a" / "deep")
    writer = SpoolWriter(spool)
    writer.write("turn_summary", SCHEMA_VERSION, encode_block(TurnSummary, [turn("t1")]))
    (segment,) = spool.segments()
    spool.reject(segment, "a reason")
    writer.publish_stats()
    assert loose(tmp_path / "a") == []
    writer.close()


def test_a_store_that_was_open_is_closed_by_its_next_reader(tmp_path: Path) -> None:
    """As versions before this one left it: 0755 and 0644, below a data folder of 0755."""
    home = tmp_path / "share"
    (home / "turnspan").mkdir(parents=True)
    copy_schema(home / "turnspan" / "store")
    run("-c", AGENT, home=home, umask=0o022)
    for path in home.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    run("-c", ENTRY, "sessions", home=home, umask=0o022)
    assert loose(home / "turnspan" / "store") == []


def test_a_spool_that_was_open_is_closed_by_its_next_writer(tmp_path: Path) -> None:
    home = tmp_path / "share"
    run("-c", AGENT, home=home, umask=0o022)
    spool = home / "turnspan" / "store" / "spool"
    for path in (spool, *spool.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    run("-c", AGENT, home=home, umask=0o022)
    assert loose(spool) == []


@pytest.mark.parametrize(
    ("mode", "others", "after"),
    [
        (0o755, (), 0o700),
        (0o777, ("engine", "lock", "spool"), 0o700),
        (0o750, ("00001-x.native", "writers", "totals.json"), 0o700),
        (0o700, ("anything",), 0o700),
        (0o500, (), 0o500),  # never loosened
        (0o755, ("notes.txt",), 0o755),  # somebody's home: theirs to close
        (0o1777, (), 0o1777),  # like /tmp
        (0o2775, ("engine",), 0o2770),  # shared with a group on purpose
    ],
)
def test_a_folder_that_is_there_is_closed_if_it_is_ours(
    tmp_path: Path, mode: int, others: tuple[str, ...], after: int
) -> None:
    folder = tmp_path / "chosen"
    folder.mkdir()
    for name in others:
        (folder / name).touch()
    folder.chmod(mode)
    assert private_folder(folder) == folder
    assert stat.S_IMODE(folder.stat().st_mode) == after


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_what_belongs_to_another_user_stays_as_it_is(tmp_path: Path) -> None:
    for name in ("theirs", "mine"):
        (tmp_path / name).touch(0o644)
    os.chown(tmp_path / "theirs", 12345, 12345)
    (tmp_path / "link").symlink_to("/etc/passwd")
    before = os.stat("/etc/passwd").st_mode
    close_to_others(tmp_path)
    modes = {p.name: stat.S_IMODE(p.lstat().st_mode) for p in tmp_path.iterdir()}
    assert modes["theirs"] == 0o644 and modes["mine"] == 0o600
    assert os.stat("/etc/passwd").st_mode == before
    folder = tmp_path / "folder"
    folder.mkdir(0o755)
    os.chown(folder, 12345, 12345)
    private_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


@pytest.mark.release
def test_the_doctor_names_a_folder_that_others_may_enter(tmp_path: Path) -> None:
    home = tmp_path / "share"
    run("-c", AGENT, home=home, umask=0o022)
    store = home / "turnspan" / "store"
    run("-c", ENTRY, "sessions", home=home, umask=0o022)
    (store / "notes.txt").touch()
    store.chmod(0o755)
    done = run("-c", ENTRY, "doctor", "--format", "json", home=home, umask=0o022)
    (found,) = [one for one in json.loads(done.stdout) if one["name"] == "private"]
    assert found["level"] == "warn" and f"chmod go= {store}" in found["remedy"]
