"""An embedded store that several processes read: each gets it between two statements of another."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from support.neighbour import Neighbour
from turnspan_clickhouse.errors import NoStoreError, QueryError, StoreBusyError, StoreError
from turnspan_clickhouse.files.lock_holders import Holder
from turnspan_clickhouse.store import embedded
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.embedded import EmbeddedStore
from turnspan_clickhouse.store.opening import SharedStore, open_store
from turnspan_records import Sandbox

WRITE = "INSERT INTO said VALUES ('{}')"


@pytest.fixture(scope="module")
def dsn(tmp_path_factory: pytest.TempPathFactory) -> Dsn:
    """A store with one small table."""
    made = Dsn("chdb", path=tmp_path_factory.mktemp("sharing") / "store")
    with open_store(made) as store:
        store.command("CREATE TABLE said (text String) ENGINE = MergeTree ORDER BY text")
    return made


@pytest.fixture(scope="module")
def neighbour(dsn: Dsn) -> Iterator[Neighbour]:
    """A process that has it open all along."""
    with Neighbour(dsn) as running:
        assert running.query("SELECT 1") == [[1]]
        yield running


@pytest.fixture
def store(dsn: Dsn) -> Iterator[EmbeddedStore]:
    """The same store, open here."""
    with open_store(dsn) as opened:
        assert isinstance(opened, EmbeddedStore)
        yield opened


def test_two_processes_have_it_open(neighbour: Neighbour, store: Store) -> None:
    """Each sees what the other wrote, and an answer stays what it was."""
    before = store.query("SELECT count() AS n FROM said")
    for number in range(3):
        store.command(WRITE.format(f"here {number}"))
        assert neighbour.query("SELECT count() FROM said WHERE text LIKE 'here%'") == [[number + 1]]
    assert before.dicts() == [{"n": before.rows[0][0]}]


def test_a_waiting_process_gets_it_soon(neighbour: Neighbour, dsn: Dsn) -> None:
    """Soon: half a second where the machine has nothing else to do."""
    took: list[float] = []
    for _ in range(5):
        neighbour.query("SELECT 1")
        began = time.monotonic()
        with open_store(dsn) as store:
            store.query("SELECT 1")
        took.append(time.monotonic() - began)
    assert median(took) < 5


def test_who_keeps_it_is_named(neighbour: Neighbour, store: Store, dsn: Dsn) -> None:
    """A statement that takes long: who waits is told by whom, and in the end says so."""
    told: list[Holder] = []
    with neighbour.keeping():
        with pytest.raises(StoreBusyError, match=f"in use by process {neighbour.pid} .*between"):
            open_store(dsn, wait=2.3, waiting=told.append)
        thread = threading.Thread(target=store.query, args=("SELECT 1",))
        thread.start()
    thread.join()
    assert [one.pid for one in told] == [neighbour.pid]


def test_a_process_with_endless_statements(dsn: Dsn, store: Store) -> None:
    """It lets go all the same, and when it is killed the store is free."""
    with Neighbour(dsn) as busy:
        busy.query("SELECT 1")
        busy.tell("repeat", "SELECT 1")
        for _ in range(3):
            assert store.query("SELECT 1").rows == [(1,)]
            time.sleep(0.3)
        busy.kill()
        assert store.query("SELECT 2").rows == [(2,)]


def test_many_threads_let_another_process_have_it(
    neighbour: Neighbour, store: EmbeddedStore
) -> None:
    """Their statements overlap without an end; none begins before the waiting one had its turn."""
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            store.query("SELECT sleepEachRow(0.02)")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        assert neighbour.query("SELECT 3") == [[3]]
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_held_block_is_not_cut(neighbour: Neighbour, store: EmbeddedStore) -> None:
    """What belongs together runs with nobody else in between; blocks may be nested."""
    with store.held(), store.held() as client:
        turns = store.turns
        neighbour.tell("query", "SELECT 4")
        for _ in range(10):
            client.query("SELECT 1")
            time.sleep(0.03)
        assert store.turns == turns
    assert neighbour.said() == [[4]]
    store.query("SELECT 1")
    assert store.turns == turns + 1


def test_a_sandbox_outlives_a_turn(neighbour: Neighbour, store: Store) -> None:
    """Its connection is made again, with the same limits."""
    with Sandbox(store) as sandbox:
        for _ in range(2):
            assert sandbox.query("SELECT 1").rows == [(1,)]
            with pytest.raises(StoreError):
                sandbox.query("INSERT INTO said VALUES ('never')")
            neighbour.query("SELECT 1")


def test_the_driver_s_own_client(neighbour: Neighbour, store: Store) -> None:
    """It too is the one that is open now."""
    client = store.client
    for _ in range(2):
        assert client.command("SELECT 5") == 5
        assert client.database == store.database
        neighbour.query("SELECT 1")


@pytest.mark.filterwarnings("ignore:This process.*fork:DeprecationWarning")
def test_a_forked_child_says_so(store: Store) -> None:
    """The engine does not work there, and neither the child nor its end takes it from us."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            store.query("SELECT 1")
        except StoreError as error:
            os.write(writing, str(error).encode())
        store.close()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        assert b"before this process was forked" in said.read()
    os.waitpid(child, 0)
    assert store.query("SELECT 1").rows == [(1,)]


def test_a_closed_store_stays_closed(dsn: Dsn) -> None:
    """It is not opened again by itself."""
    shared = SharedStore(dsn)
    with shared.using() as store:
        assert store.query("SELECT 1").rows == [(1,)]
    shared.close()
    shared.close()
    with pytest.raises(StoreError, match="was closed"):
        store.query("SELECT 1")
    with pytest.raises(StoreError, match="was closed"), shared.using():
        pass


def test_a_folder_that_was_removed(tmp_path: Path) -> None:
    """While it was lent: no empty store is made in its place."""
    folder = tmp_path / "store"
    with (
        open_store(Dsn("chdb", path=tmp_path / "other")) as other,
        open_store(Dsn("chdb", path=folder)) as store,
    ):
        other.query("SELECT 1")
        shutil.rmtree(folder)
        with pytest.raises(NoStoreError, match="was removed"):
            store.query("SELECT 1")
    assert not folder.exists()


def test_what_a_shared_store_could_not_open(tmp_path: Path) -> None:
    """The next use tries again."""
    (tmp_path / "store").write_text("no folder")
    shared = SharedStore(Dsn("chdb", path=tmp_path / "store"))
    with pytest.raises(StoreError, match="cannot be used"), shared.using():
        pass
    (tmp_path / "store").unlink()
    with shared.using() as store:
        assert store.query("SELECT 1").rows == [(1,)]
    shared.close()


@pytest.mark.release
def test_a_store_that_is_lent_all_day(
    neighbour: Neighbour, dsn: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After many openings the engine is another process's, of which nothing stays; answers, the
    sandbox, inserts and refusals are the same, and when it is killed the next question has a new
    one."""
    monkeypatch.setattr(embedded, "OPENINGS", 2)
    with open_store(dsn) as store, Sandbox(store) as sandbox:
        insert_native(store, "before")
        before = processes()
        seen: set[int] = set()
        for number in range(6):
            if number == 3:
                for pid in processes() - before:
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(StoreError):
                    store.query("SELECT 1")
            neighbour.query("SELECT 1")
            asked = "SELECT {n:UInt8} AS n, toDateTime64('2026-01-02', 3, 'UTC') AS t, [1.5] AS l"
            result = store.query(asked, {"n": number})
            assert result.types == ("UInt8", "DateTime64(3, 'UTC')", "Array(Float64)")
            assert result.rows[0][0] == number
            assert result.rows[0][1].year == 2026
            insert_native(store, f"number {number}")
            assert sandbox.query("SELECT count() FROM said").rows[0][0] > 0
            with pytest.raises(QueryError) as refused:
                store.query("SELECT * FROM nothing_of_that_name")
            assert refused.value.code == 60
            seen |= processes() - before
    landed = neighbour.query("SELECT count() FROM said WHERE text LIKE 'number%'")
    assert landed == [[6]]
    assert len(seen) >= 3
    assert processes() == before


def insert_native(store: Store, text: str) -> None:
    """Insert as a shipper does: one row of one column."""
    said = text.encode()
    block = b"\1\1\4text\6String" + bytes([len(said)]) + said
    store.insert_native("said", block, text)


def processes() -> set[int]:
    """The engines' processes that this one has."""
    me = os.getpid()
    return {
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/stat")
        if parent_of(path) == me and b"engine_process" in (path.parent / "cmdline").read_bytes()
    }


def parent_of(stat: Path) -> int:
    """The parent of a process."""
    with contextlib.suppress(OSError):
        return int(stat.read_text().rpartition(")")[2].split()[1])
    return 0
