"""The embedded store after a disk was full while tables and views were made: it opens, with its
rows, whichever definition was cut."""

from __future__ import annotations

import logging
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from land.spooling import ask
from support.landing import insert
from support.rows import call, tool, turn
from support.small_disk import SmallDisk, small_disk
from turnspan_clickhouse.errors import StoreError, StoreUnavailableError
from turnspan_clickhouse.store import definitions
from turnspan_clickhouse.store import migrations as schema
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate, migrations, pending
from turnspan_clickhouse.store.opening import open_store
from turnspan_console.checks.store import store_checks

RAISED = 25
"""A version after which tables and views are made, and tables altered."""
OWN = sorted({name for one in migrations() for name in one.subjects(Dsn(scheme="chdb"))})
TABLES = sorted(
    {name for one in migrations() if not one.view for name in one.subjects(Dsn(scheme="chdb"))}
)
SHAPE = (
    "SELECT table, groupArray((name, type, default_kind)) FROM"
    " (SELECT * FROM system.columns WHERE database = 'turnspan' ORDER BY table, name)"
    " GROUP BY table ORDER BY table",
    "SELECT table, name, expr, type_full FROM system.data_skipping_indices"
    " WHERE database = 'turnspan' ORDER BY table, name",
    "SELECT name, replaceRegexpOne(engine_full, ',? (SETTINGS )?index_granularity = 8192', '')"
    " FROM system.tables WHERE database = 'turnspan' ORDER BY name",
)

OF_TABLE = (
    "SELECT arrayStringConcat(groupArray(name || ' ' || type), ', ') FROM system.columns"
    " WHERE database = 'turnspan' AND table = {table:String}"
    " AND default_kind NOT IN ('ALIAS', 'MATERIALIZED')"
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[object]]:
    """A store with rows in every table, and what is in it."""
    folder = tmp_path_factory.mktemp("filled") / "store"
    dsn = Dsn(scheme="chdb", path=folder)
    with open_store(dsn) as store:
        migrate(store)
        for table in TABLES:
            ((shape,),) = store.query(OF_TABLE, {"table": table}).rows
            if table != "schema_migration":
                store.command(
                    f"INSERT INTO {table} SELECT * FROM"
                    " generateRandom({shape:String}, 1, 3, 2) LIMIT 3",
                    {"shape": shape},
                )
    return folder, found(dsn)


def found(dsn: Dsn) -> list[object]:
    """The columns, indices and engines of every table, and how many rows each has."""
    with open_store(dsn) as store:
        counts = [store.query(f"SELECT count() FROM {table}").rows for table in TABLES]
        return [*(store.query(question).rows for question in SHAPE), counts]


@pytest.fixture
def dsn(filled: tuple[Path, list[object]], embedded_dsn: Dsn) -> Dsn:
    """A copy of it."""
    assert embedded_dsn.path is not None
    shutil.copytree(filled[0], embedded_dsn.path, symlinks=True)
    return embedded_dsn


def files_of(dsn: Dsn) -> Path:
    """Where its definitions are."""
    assert dsn.path is not None
    return dsn.path / "engine" / "metadata" / "turnspan"


def without_copies(dsn: Dsn) -> None:
    """As a store of an older Turnspan."""
    assert dsn.path is not None
    shutil.rmtree(dsn.path / "definitions")


def lost(file: Path, size: int) -> None:
    """Cut it to so many bytes, at a place where no line ends."""
    content = file.read_bytes()[:size]
    file.write_bytes(content[:-1] if content.endswith(b"\n") else content)


def brought_back(dsn: Dsn, expected: list[object]) -> None:
    """It opens; nothing of it is missing once it was migrated, and nothing more is to be done."""
    with open_store(dsn) as store:
        migrate(store)
        assert pending(store) == []
        assert migrate(store, restore=True) == []
    assert found(dsn) == expected


@pytest.mark.parametrize(
    ("copies", "size"),
    [
        pytest.param(True, 200, id="kept-cut"),
        pytest.param(True, 0, id="kept-empty", marks=pytest.mark.release),
        pytest.param(False, 200, id="never kept-cut", marks=pytest.mark.release),
        pytest.param(False, 0, id="never kept-empty", marks=pytest.mark.release),
    ],
)
def test_every_definition_of_ours_comes_back_with_its_rows(
    dsn: Dsn, filled: tuple[Path, list[object]], size: int, copies: bool
) -> None:
    """Each alone, of a table, a view, the ledger and the database, kept and by its schema; of the
    many that were never kept, every second one is cut and the others are empty."""
    never_kept = [*OWN, ""][bool(size) :: 2]
    for name in ["llm_call", "turn_full", "schema_migration", ""] if copies else never_kept:
        if not copies:
            without_copies(dsn)
        lost(files_of(dsn) / f"{name}.sql" if name else files_of(dsn).with_suffix(".sql"), size)
        with open_store(dsn) as store:
            migrate(store)
            if name:
                store.query(f"SELECT * FROM {name} LIMIT 1")
    brought_back(dsn, filled[1])


@pytest.mark.release
@pytest.mark.parametrize("copies", [True, False], ids=["kept", "never kept"])
def test_all_of_them_at_once(dsn: Dsn, filled: tuple[Path, list[object]], copies: bool) -> None:
    """Which rows are whose, their columns say."""
    if not copies:
        without_copies(dsn)
    (files_of(dsn) / "a_view_of_mine.sql").touch()
    for file in [*files_of(dsn).glob("*.sql"), files_of(dsn).with_suffix(".sql")]:
        os.truncate(file, 0)
    brought_back(dsn, filled[1])


def test_what_was_dropped_or_renamed_stays_so(dsn: Dsn, filled: tuple[Path, list[object]]) -> None:
    """A copy is no reason to bring it back, nor to mistake its rows."""
    with open_store(dsn) as store:
        store.command("CREATE TABLE theirs (a Int64) ENGINE = MergeTree ORDER BY a")
        store.command("INSERT INTO theirs VALUES (1)")
        store.command("CREATE TABLE other AS theirs")
        store.command("RENAME TABLE theirs TO mine")
        store.command("DROP TABLE other SYNC")
    os.truncate(files_of(dsn) / "mine.sql", 0)
    assert ask(dsn, "SELECT a FROM mine") == [(1,)]
    assert ask(dsn, "SHOW TABLES LIKE 'other'") == ask(dsn, "SHOW TABLES LIKE 'theirs'") == []
    with open_store(dsn) as store:
        store.command("DROP TABLE mine")
    brought_back(dsn, filled[1])


def test_an_unnumbered_table(dsn: Dsn, filled: tuple[Path, list[object]]) -> None:
    """The number of a table's format was cut, and its definition was not."""
    assert dsn.path is not None
    for file in dsn.path.glob("engine/store/*/*/format_version.txt"):
        os.truncate(file, 0)
    brought_back(dsn, filled[1])


def test_another_s_view_is_named(dsn: Dsn, caplog: pytest.LogCaptureFixture) -> None:
    """It has no rows: everything else opens; once in the log, and by doctor until it is made."""
    (files_of(dsn) / "my%20view.sql").touch()
    with caplog.at_level(logging.WARNING, "turnspan"):
        ask(dsn, "SELECT 1")
    assert "of my view in" in caplog.text and "make it again" in caplog.text
    checks = {check.name: check for check in store_checks(dsn)}
    assert "my view" in checks["definitions"].finding
    assert (checks["definitions"].level, checks["schema"].level) == ("warn", "ok")


THEIRS = (
    "CREATE TABLE theirs (a String) ENGINE = MergeTree ORDER BY a",
    "CREATE TABLE theirs (a String) ENGINE = MergeTree PARTITION BY a ORDER BY a",
    "CREATE TABLE theirs (a String) ENGINE = Log",
)


@pytest.mark.parametrize("made", THEIRS, ids=["in parts", "by a hash", "of another engine"])
def test_another_s_rows_are_not_given_up(dsn: Dsn, made: str) -> None:
    """Their table's definition was never kept: a sentence says where its rows are and what to do.
    A folder of theirs may have any name that a hash has."""
    with open_store(dsn) as store:
        store.command(made)
        store.command("INSERT INTO theirs SELECT toString(number) FROM numbers(64)")
        if "PARTITION" in made:
            names = store.query("SELECT _partition_id, min(a) FROM theirs GROUP BY ALL").rows
            for partition, value in names:
                if not partition.startswith("d"):
                    store.command("ALTER TABLE theirs DROP PARTITION {a:String}", {"a": value})
        (rows,) = store.query("SELECT count() FROM theirs").rows
    without_copies(dsn)
    lost_for_certain(dsn, "theirs", rows[0])


def test_rows_with_a_column_more_are_not_given_up(dsn: Dsn) -> None:
    """The schema's definition would hide it."""
    with open_store(dsn) as store:
        store.command("ALTER TABLE tool_call ADD COLUMN more Int64 DEFAULT 1")
        store.command("OPTIMIZE TABLE tool_call FINAL")
    without_copies(dsn)
    lost_for_certain(dsn, "tool_call", 3)


def lost_for_certain(dsn: Dsn, name: str, rows: int) -> None:
    """It is refused, and by doctor; with the definition from a backup all is there."""
    file = files_of(dsn) / f"{name}.sql"
    content = file.read_bytes()
    lost(file, 0)
    for _ in range(2):
        with pytest.raises(StoreError, match=f"definition of {name} .*engine/store:.*backup"):
            open_store(dsn)
    assert [c.level for c in store_checks(dsn)] == ["fail"]
    file.write_bytes(content)
    assert rows and ask(dsn, f"SELECT count() FROM {name}") == [(rows,)]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk of 64 MiB."""
    with small_disk(tmp_path / "disk", 64 * 2**20) as made:
        yield made


def older(dsn: Dsn) -> None:
    """A store of an older version, with rows."""
    first = tuple(one for one in migrations() if one.version < RAISED and not one.view)
    with pytest.MonkeyPatch.context() as patch, open_store(dsn) as store:
        patch.setattr(schema, "migrations", lambda: first)
        migrate(store)
        insert(store, call("a"), turn("t"), tool("b"))


def test_a_full_disk_is_refused_and_nothing_is_lost(disk: SmallDisk) -> None:
    """To make a store, to bring an older one up to date, to make a view of one's own: each is one
    sentence, and reading goes on."""
    fresh, old = (Dsn(scheme="chdb", path=disk.folder / name) for name in ("fresh", "old"))
    older(old)
    disk.fill()
    with pytest.raises(StoreUnavailableError, match="is full"):
        open_store(fresh)
    with open_store(old) as store:
        for statement in ("CREATE VIEW v AS SELECT 1", "ALTER TABLE span ADD COLUMN x Int64"):
            with pytest.raises(StoreUnavailableError, match="is full"):
                store.command(statement)
        with pytest.raises(StoreUnavailableError, match="is full"):
            migrate(store)
        assert store.query("SELECT count() FROM llm_call").rows == [(1,)]
        store.command("ALTER TABLE llm_call DROP PARTITION ID 'none'")  # as to make room
    assert not [f for f in disk.folder.rglob("*.sql") if not f.stat().st_size]
    disk.relieve()
    for dsn in (fresh, old):
        with open_store(dsn) as store:
            migrate(store)
            assert pending(store) == []


@pytest.mark.release
@pytest.mark.parametrize(
    ("upgrade", "rooms"),
    [
        pytest.param(False, range(0, 360, 40), id="a new store"),
        pytest.param(True, range(20, 360, 40), id="an upgrade"),
        pytest.param(True, [220], id="rows that have no room for an index"),
    ],
)
def test_a_disk_that_fills_up_at_any_statement(
    disk: SmallDisk, monkeypatch: pytest.MonkeyPatch, upgrade: bool, rooms: Sequence[int]
) -> None:
    """Another process takes the room after it was looked for: it is said at once, and with room
    the same store goes on, with its rows."""
    monkeypatch.setattr(definitions, "ROOM", 0)
    refused = 0
    for free in rooms:
        dsn = Dsn(scheme="chdb", path=disk.folder / f"store{free}")
        if upgrade:
            older(dsn)
        disk.leave(free * 1024)
        try:
            with open_store(dsn) as store:
                migrate(store)
        except StoreUnavailableError as error:
            assert "full" in str(error)
            refused += 1
        except StoreError as error:  # the engine's own word, for rows
            assert "space" in str(error)
        disk.relieve()
        with open_store(dsn) as store:
            migrate(store)
            assert pending(store) == [] == migrate(store, restore=True)
            assert store.query("SELECT count() FROM turn_full").rows == [(int(upgrade),)]
        assert {check.level for check in store_checks(dsn)} == {"ok"}
        shutil.rmtree(disk.folder / f"store{free}")
    assert refused >= min(len(rooms), 3)


@pytest.mark.release
def test_a_store_in_use_goes_on_when_there_is_room(
    disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine that knows a table whose definition is cut is let go of, and opens it mended."""
    monkeypatch.setattr(definitions, "ROOM", 0)
    dsn = Dsn(scheme="chdb", path=disk.folder / "store")
    older(dsn)
    with open_store(dsn) as store:
        disk.fill()
        with pytest.raises(StoreUnavailableError, match="full"):
            migrate(store)
        disk.relieve()
        monkeypatch.undo()
        migrate(store)
        assert store.query("SELECT count() FROM turn_full").rows == [(1,)]


MIGRATES = """
import sys
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from pathlib import Path
migrate(open_store(Dsn(scheme="chdb", path=Path(sys.argv[1]))))
"""


@pytest.mark.release
@pytest.mark.parametrize("power", [False, True], ids=["killed", "and the newest cut"])
def test_killed_while_it_migrates(embedded_dsn: Dsn, power: bool) -> None:
    """At any moment of it, the mending among them."""
    older(embedded_dsn)
    folder, chance = files_of(embedded_dsn), random.Random(5)
    begun = sorted(folder.glob("*.sql"))
    for more in (1, 4, 9):
        process = subprocess.Popen([sys.executable, "-c", MIGRATES, str(embedded_dsn.path)])
        until = len(begun) + more + chance.randrange(4)
        while process.poll() is None and len(list(folder.glob("*.sql"))) < until:
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        if power:
            os.truncate(max(folder.glob("*.sql"), key=lambda f: f.stat().st_mtime_ns), 0)
    with open_store(embedded_dsn) as store:
        migrate(store)
        assert pending(store) == [] == migrate(store, restore=True)
        for name in OWN:
            store.query(f"SELECT * FROM {name} LIMIT 1")
        assert store.query("SELECT count() FROM turn_full").rows == [(1,)]
