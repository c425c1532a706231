"""The embedded store: ClickHouse's engine in this process, on a folder of its owner's alone.

One process at a time has the engine of a folder open. So a store lets go of it between two
statements when another process waits, and opens it again at the next one.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnspan.runtime.forks import ForkSafeLock
from turnspan.runtime.guard import errors
from turnspan.runtime.later import later
from turnspan_clickhouse.errors import NoStoreError, StoreBusyError, StoreError
from turnspan_clickhouse.files import held_files
from turnspan_clickhouse.files.atomic_files import (
    close_to_others,
    makes_loose_files,
    open_to_others,
    private_folder,
)
from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.files.lock_holders import Holder, holder, signed
from turnspan_clickhouse.files.lock_queue import LockQueue
from turnspan_clickhouse.store.client import Store, make_client, quoted
from turnspan_clickhouse.store.definitions import recover, require_room, require_whole
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.server_answers import translated_errors
from turnspan_clickhouse.store.shared_engine import Lending, step_aside

if TYPE_CHECKING:
    from turnspan_clickhouse.store.engine_process import EngineProcess

_AGAIN_SECONDS = 60.0
"""How long a store that was lent waits at least to get it back: half of what it was opened for may
be done. A process that keeps it so long has one statement that takes so long."""

_DYING_SECONDS = 2.0
OPENINGS = 40
"""How often a process opens engines itself, and each process that does it for it."""

_connecting = ForkSafeLock()
_DEFINES = later(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(?:CREATE|RENAME|EXCHANGE|ATTACH"
    r"|ALTER(?!.*\b(?:PARTITION|DELETE|UPDATE)\b))\b",
    re.I | re.S,
)
"""A statement that has the engine write a definition."""

Waiting = Callable[[Holder], None]
"""Told which process is waited for, once, when that takes longer than a moment."""


class EmbeddedStore(Store):
    """The in-process engine. It is this process's while it runs a statement, and until another
    process wants it: what was answered stays as it is, and the next statement waits its turn.

    ``held`` keeps it for several statements. It may be used from any thread.
    """

    def __init__(self, dsn: Dsn, wait: float, waiting: Waiting) -> None:
        assert dsn.path is not None
        self._engine = _Engine(dsn, dsn.path, wait, waiting)
        self._lending = Lending(self._engine)
        with self._lending.use():
            super().__init__(dsn, self._engine.client)

    @property
    def client(self) -> Any:
        """clickhouse-connect's client; the engine is kept during each call of it. For what goes
        on after a call, as a stream of rows does, use ``held``."""
        return _HeldClient(self)

    @property
    def turns(self) -> int:
        """How often the engine was opened: what another connection was made in an earlier turn of
        is closed."""
        return self._lending.turns

    @contextlib.contextmanager
    def held(self) -> Generator[Any]:
        """The connection, kept open for a block; others wait as long."""
        if self._engine.closed:
            raise StoreError(f"The store {self.dsn} was closed: open it again.")
        if self._lending.forked:
            raise StoreError(
                f"The store {self.dsn} was opened before this process was forked, and its engine "
                "does not work in both: open it in the process that reads."
            )
        if self._engine.cut:
            self._lending.step_aside()
        with self._lending.use():
            yield self._engine.client

    def _running(self, sql: str) -> contextlib.AbstractContextManager[None]:
        return self._engine.defining() if _DEFINES.match(sql) else contextlib.nullcontext()

    def another_client(self) -> Any:
        """One more connection to the engine, for a ``held`` block: with the block's end it may be
        closed, and is so at the latest with the store."""
        return self._engine.another_client()

    def end_reading(self) -> None:
        """End the statements that read, whichever threads wait for them: those raise
        ``QueryError``. What inserts goes on.

        Raises:
            StoreError: the engine could not be asked to.
        """
        with self._lending.use_with_others() as used, translated_errors(self.dsn):
            if used:
                with contextlib.closing(self._engine.another_client()) as client:
                    client.query("KILL QUERY WHERE query_kind = 'Select' ASYNC")

    def close(self) -> None:
        """Release the folder; closing twice is fine."""
        if not self._engine.closed:
            self._engine.closed = True
            self._lending.close()
            if not self._lending.forked:
                self._engine.end()
            if makes_loose_files() and not self._lending.forked:
                close_to_others(self._engine.folder)  # the engine has no setting for it


class _Engine:
    """The engine of one folder, as ``Lending`` has it opened and let go of."""

    def __init__(self, dsn: Dsn, path: Path, wait: float, waiting: Waiting) -> None:
        self._dsn = dsn
        self._path = path
        self._wait = wait
        self._waiting = waiting
        self._queue = LockQueue(path / "lock")
        self._lock: FileLock | None = None
        self._was_open = False
        self._openings = 0
        self._alone = False
        self.cut = False  # a definition is: it is mended when the engine opens again
        self._process: EngineProcess | None = None
        self.folder = path / "engine"
        self.client: Any = None
        self.others: list[Any] = []
        self.closed = False

    def wanted(self) -> bool:
        """Whether another process waits for the folder, or the engine is of no more use."""
        ended = self._process is not None and self._process.ended
        return ended or self.cut or self._queue.wanted()

    @contextlib.contextmanager
    def defining(self) -> Generator[None]:
        """A block in which the open engine writes definitions.

        Raises:
            StoreUnavailableError: there is no room for them, or was none.
        """
        require_room(self._path)
        yield
        try:
            require_whole(self._path)
        except StoreError:
            self.cut = True
            raise

    def open_engine(self) -> None:
        """Wait for our turn and open the folder, made where it is missing at first. Raises as
        ``open_store``."""
        if self._was_open and not self.folder.exists():
            raise NoStoreError(f"There is no store {self._dsn} any more: its folder was removed.")
        try:
            private_folder(self._path)
            self._choose_process()
            self._lock = self._take_lock()
            self.client = self._connect()
        except OSError as error:
            self._release()
            raise StoreError(f"The store's folder {self._path} cannot be used: {error}.") from None
        except BaseException as error:
            self._release()
            _let_go(error)
            raise
        self._was_open = True
        self._openings += 1
        self._wait = max(self._wait, _AGAIN_SECONDS)

    def another_client(self) -> Any:
        """One more connection to the open engine."""
        client = self._client()
        self.others.append(client)
        return client

    def end(self) -> None:
        """Nothing is asked any more."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _choose_process(self) -> None:
        """After many openings the next ones are another process's (engine_process.py says why)."""
        if self._openings < OPENINGS or self._alone:
            return
        # Few need it, and it brings multiprocessing.
        from turnspan_clickhouse.store.engine_process import EngineProcess

        if self._process is not None and (self._process.ended or self._process.opened >= OPENINGS):
            self.end()
        if self._process is None:
            self._process = EngineProcess()
        try:
            self._process.wait()
            self._process.opened += 1
        except StoreError as error:  # as where Turnspan is not on another Python's path
            errors.record("store.engine_process", error)
            self._alone = True
            self.end()

    def _client(self) -> Any:
        if self._process is not None:
            with translated_errors(self._dsn):
                return self._process.client(str(self.folder))
        return engine_client(self._dsn, str(self.folder))

    def close_engine(self) -> None:
        """Let go of the folder."""
        client, self.client = self.client, None
        others, self.others = self.others, []
        try:
            for one in (*others, client):
                one.close()
        finally:
            self._release()

    def _take_lock(self) -> FileLock:
        lock = self._queue.take(self._wait, self._waiting)
        if lock is None:
            raise busy(self._dsn, self._wait, holder(self._queue.path))
        with contextlib.suppress(OSError):  # a full disk: nobody learns our name
            lock.write(signed())
        return lock

    def _connect(self) -> Any:
        if open_to_others(self.folder):
            close_to_others(self.folder)
        private_folder(self.folder)
        _wait_for_the_dead(self.folder)
        recover(self._dsn, self._path)
        self.cut = False
        there = self._was_open or (self.folder / f"metadata/{self._dsn.database}.sql").exists()
        with contextlib.nullcontext() if there else self.defining(), translated_errors(self._dsn):
            client = self._client()
            if not there:
                client.command(f"CREATE DATABASE IF NOT EXISTS {quoted(self._dsn.database)}")
            client.database = self._dsn.database
        return client

    def _release(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()


class _HeldClient:
    """A client whose methods each keep the engine while they run."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        with self._store.held() as client:
            found = getattr(client, name)
        if not callable(found):
            return found

        def call(*args: Any, **options: Any) -> Any:
            with self._store.held() as client:
                return getattr(client, name)(*args, **options)

        return call


def open_embedded(dsn: Dsn, wait: float, waiting: Waiting) -> Store:
    """Open the folder that a DSN names, made where it is missing. Raises as ``open_store``."""
    import importlib.util

    if importlib.util.find_spec("chdb") is None:
        raise StoreError(
            "The embedded store needs ClickHouse's engine: pip install 'turnspan[embedded]', "
            "or name a server in TURNSPAN_STORE."
        )
    return EmbeddedStore(dsn, wait, waiting)


def _wait_for_the_dead(engine: Path) -> None:
    """A process that was killed may have left its engine's, which ends in a moment: until then the
    engine has a lock of its own."""
    try:
        status = os.open(engine / "status", held_files.OPENED_TO_LOOK)
    except OSError:
        return
    try:
        until = time.monotonic() + _DYING_SECONDS
        while held_files.is_held(status) and time.monotonic() < until:
            time.sleep(0.02)
    finally:
        os.close(status)


def _let_go(error: BaseException | None) -> None:
    """Drop what the frames of a failure hold: a connection half made among them, while which lives
    the process can open no other store."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__


def engine_client(dsn: Dsn, engine: str) -> Any:
    """One more connection to the engine of this process. Raises as ``open_store``."""
    from clickhouse_connect.driver.exceptions import ProgrammingError

    with _connecting, _interrupts_wait():
        step_aside()
        try:
            return make_client(interface="chdb", path=engine)
        except ProgrammingError as error:
            if "different path" not in str(error):
                raise
            raise StoreBusyError(
                f"The store {dsn} cannot be opened while this process has another embedded store "
                "in use: let the statement or the block that uses it end first."
            ) from None


@contextlib.contextmanager
def _interrupts_wait() -> Generator[None]:
    """In this block Ctrl-C waits: the engine's library fails, or crashes the process, where one
    comes while it is loaded. Somebody's own handler of it stays."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt


def busy(dsn: Dsn, wait: float, found: Holder | None) -> StoreBusyError:
    """What is raised when a process kept the store for ``wait`` seconds: which, and what to do."""
    named = "another process" if found is None else str(found)
    remedy = (
        found.remedy
        if found is not None and found.stuck
        else f"It lets others have it between two statements, and did not for {wait:g} s: wait for "
        "its statement to end, or use a ClickHouse server (TURNSPAN_STORE=http://...) for several "
        "readers at once."
    )
    return StoreBusyError(f"The store {dsn} is in use by {named}. {remedy}")
