"""How every reader opens a store: up to date, with what waited in the spool, ready to be asked.

To read makes no store: one comes into being when records wait for it in the spool, with ``create``
and by ``turnspan migrate``. An embedded store that is older than this code is migrated.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from turnspan_clickhouse.errors import MAY_NOT, NoStoreError, QueryError, StoreError
from turnspan_clickhouse.files.lock_holders import Holder
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn, parse
from turnspan_clickhouse.store.migrations import (
    SCHEMA_VERSION,
    current_version,
    migrate,
    pending,
    require_no_others,
)
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access import spooled
from turnspan_records.access.absence import why_empty

SERVER_SHIP_SECONDS = 5.0
"""How long a reader of a server ships what waits in this machine's spool."""

Opener = Callable[[], AbstractContextManager[Store]]
"""Gives the store for one step; in between, others may use an embedded one."""
Note = Callable[[str], None]
"""Takes a sentence about what went wrong without preventing the records from being read."""


def open_records(
    text: str | None = None,
    *,
    wait: float = 10.0,
    note: Note | None = None,
    create: bool = False,
) -> Store:
    """Open a store for reading.

    An embedded store may stay open: other processes can use it between two statements.

    Args:
        text: the store's DSN (default: TURNSPAN_STORE, else the default store).
        wait: how many seconds to wait for an embedded store that another process uses.
        note: called with a sentence about each problem that does not prevent reading.
        create: create a missing store, and the tables that a server lacks.

    Raises:
        NoStoreError: the store does not exist, and no records wait for it.
        StoreError: the DSN is not valid, or the store cannot be used; the message says what to do.
    """
    return open_dsn(parse(text), wait=wait, note=note, create=create)


def open_dsn(
    dsn: Dsn,
    *,
    wait: float = 10.0,
    note: Note | None = None,
    create: bool = False,
    waiting: Callable[[Holder], None] = lambda _: None,
    landing: float | None = None,
) -> Store:
    """As ``open_records``, for a parsed DSN; ``waiting`` as for ``open_store``, ``landing`` as
    ``seconds`` for ``land_what_waits``."""
    create = create or bool(Spool(dsn.spool).names())
    # Of a server only the server knows whether there is a store.
    if not create and dsn.path is not None and not (dsn.path / "engine").exists():
        raise _missing(dsn)
    store = open_store(dsn, wait=wait, waiting=waiting)
    try:
        bring_up_to_date(store, create=create)
        land_what_waits(store, note, seconds=landing)
    except BaseException:
        store.close()
        raise
    return store


def bring_up_to_date(store: Store, *, create: bool) -> None:
    """Migrate an embedded store that is older than this code; with ``create`` also a server, and
    one that is empty.

    Raises:
        NoStoreError: it is empty, and shall not be created.
        StoreError: the store is newer, or needs a migration that the user may not run.
    """
    try:
        if not pending(store):
            return
        version = current_version(store)
        if not create and not version:
            require_no_others(store)
            raise _missing(store.dsn)
        if not create and not store.dsn.embedded:
            raise StoreError(
                f"The store {store.dsn} has schema version {version} with other views or fewer "
                f"tables than this Turnspan ({SCHEMA_VERSION}) reads: run `turnspan migrate`."
            )
        migrate(store)
    except QueryError as error:
        if "Setting final is readonly" in str(error):  # the driver's own words, without a code
            raise StoreError(
                f"User {store.dsn.user!r} may not use the setting `final`, by which each record is "
                "read once: give the user's profile readonly=2 instead of readonly=1."
            ) from None
        if error.code not in MAY_NOT:
            raise
        raise StoreError(
            f"The store {store.dsn} has schema version {current_version(store)} and this Turnspan "
            f"needs {SCHEMA_VERSION}, but user {store.dsn.user!r} may not change it: run "
            "`turnspan migrate` as a user who may create tables."
        ) from None


def _missing(dsn: Dsn) -> NoStoreError:
    if dsn.embedded:
        reason = why_empty(dsn).removeprefix("it is empty; ").removeprefix("it is empty, but ")
        return NoStoreError(f"There is no store {dsn}: {reason}.")
    return NoStoreError(
        f"There is no store {dsn} (the database has no tables of Turnspan): check TURNSPAN_STORE, "
        "or run `turnspan migrate` as a user who may create tables."
    )


def land_what_waits(
    store: Store, note: Note | None = None, *, seconds: float | None = None
) -> None:
    """Ship this machine's spool of an open store, to a server for a short time only.

    With ``seconds`` an embedded store too gets what can be landed in so long, and what another
    process is landing is not waited for: for a reader that comes again.

    Raises ``StoreError`` as ``Store.query``.
    """
    note = note or (lambda _text: None)
    dsn = store.dsn
    spool = Spool(dsn.spool)
    if not spool.segments() and not spooled.writers(spool).dead:
        return
    limit = seconds if seconds is not None or dsn.embedded else SERVER_SHIP_SECONDS
    deadline = None if limit is None else time.monotonic() + limit
    result = ship(store, deadline=deadline, spool=spool, wait=seconds is None)
    for error in result.errors:
        note(error)
    if result.rejected:
        note(
            f"The store refused {result.rejected} segments of the spool for good: `turnspan "
            "doctor` shows why."
        )
    elif result.holder is not None:
        note(f"{result.remaining} segments wait for {result.holder}. {result.holder.remedy}")
    elif result.remaining and not result.errors:
        note(f"{result.remaining} segments still wait in the spool: run `turnspan ship`.")
