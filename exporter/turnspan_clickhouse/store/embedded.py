"""The embedded store: ClickHouse's engine in this process, on a folder of its owner's alone."""

from __future__ import annotations

import contextlib
import os
import time
import traceback
from typing import Any

from turnspan_clickhouse.errors import StoreBusyError, StoreError
from turnspan_clickhouse.files import held_files
from turnspan_clickhouse.files.atomic_files import (
    close_to_others,
    makes_loose_files,
    open_to_others,
    private_folder,
)
from turnspan_clickhouse.files.lock_holders import Holder, holder, signed
from turnspan_clickhouse.store.client import Store, make_client, quoted
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.server_answers import translated_errors


class EmbeddedStore(Store):
    """The in-process engine, guarded by a lock file: one process at a time."""

    def __init__(self, dsn: Dsn, client: Any, lock: int) -> None:
        super().__init__(dsn, client)
        self._lock = lock

    def close(self) -> None:
        """Release the folder; closing twice is fine."""
        if self._lock >= 0:
            super().close()
            if makes_loose_files():  # the engine has no setting for it, and the umask is not ours
                assert self.dsn.path is not None
                close_to_others(self.dsn.path / "engine")
            os.close(self._lock)
            self._lock = -1


def open_embedded(dsn: Dsn, wait: float) -> Store:
    """Open the folder that a DSN names, made where it is missing. Raises as ``open_store``."""
    import importlib.util

    if importlib.util.find_spec("chdb") is None:
        raise StoreError(
            "The embedded store needs ClickHouse's engine: pip install 'turnspan[embedded]', "
            "or name a server in TURNSPAN_STORE."
        )
    assert dsn.path is not None
    engine = dsn.path / "engine"
    try:
        private_folder(dsn.path)
        lock = _take_lock(dsn, wait)
    except OSError as error:
        raise _unusable(dsn, error) from None
    try:
        if open_to_others(engine):
            close_to_others(engine)
        private_folder(engine)
        with translated_errors(dsn):
            client = engine_client(dsn, str(engine))
            client.command(f"CREATE DATABASE IF NOT EXISTS {quoted(dsn.database)}")
            client.database = dsn.database
    except OSError as error:
        os.close(lock)
        raise _unusable(dsn, error) from None
    except BaseException as error:
        os.close(lock)
        _let_go(error)
        raise
    return EmbeddedStore(dsn, client, lock)


def _let_go(error: BaseException | None) -> None:
    """Drop what the frames of a failure hold: a connection half made among them, while which lives
    the process can open no other store."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__


def engine_client(dsn: Dsn, engine: str) -> Any:
    """One more connection to the engine of this process. Raises as ``open_store``."""
    from clickhouse_connect.driver.exceptions import ProgrammingError

    try:
        return make_client(interface="chdb", path=engine)
    except ProgrammingError as error:
        if "different path" not in str(error):
            raise
        raise StoreBusyError(
            f"The store {dsn} cannot be opened while this process has another embedded store "
            "open: close that one first."
        ) from None


def _unusable(dsn: Dsn, error: OSError) -> StoreError:
    return StoreError(f"The store's folder {dsn.path} cannot be used: {error}.")


def _take_lock(dsn: Dsn, wait: float) -> int:
    assert dsn.path is not None
    path = dsn.path / "lock"
    lock = os.open(path, os.O_RDWR | os.O_CREAT | held_files.BINARY, 0o600)
    deadline = time.monotonic() + wait
    while True:
        if not held_files.lock(lock):
            if time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            os.close(lock)
            raise _busy(dsn, holder(path))
        with contextlib.suppress(OSError):  # a full disk: nobody learns our name
            held_files.write_from_start(lock, signed())
        return lock


def _busy(dsn: Dsn, found: Holder | None) -> StoreBusyError:
    named = "another process" if found is None else str(found)
    remedy = (
        found.remedy
        if found is not None and found.stuck
        else "Wait for it to finish, or use a ClickHouse server (TURNSPAN_STORE=http://...) for "
        "several readers at once."
    )
    return StoreBusyError(f"The store {dsn} is in use by {named}: {remedy[0].lower()}{remedy[1:]}")
