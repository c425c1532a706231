"""Rows from outside the application: into the spool, whence they land."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from turnspan_clickhouse.errors import MAY_NOT, MayNotInsertError, QueryError, StoreUnavailableError
from turnspan_clickhouse.rows import tables
from turnspan_clickhouse.rows.native_encoder import NOTHING, encode_rows
from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION


def judging_spool(store: Store, *records: type[Record]) -> Spool:
    """The spool that judgments of a store's records go to, if its user may land them.

    Args:
        store: an open store.
        records: the tables that are written, else those of judgments and withdrawals.

    Raises:
        MayNotInsertError: the store's user may not; the message says who may.
    """
    for record in () if store.dsn.embedded else records or (tables.Annotation, tables.Withdrawal):
        try:
            store.insert_native(record.table, NOTHING, "")
        except StoreUnavailableError:
            break  # it waits, and may land
        except QueryError as error:
            if error.code in MAY_NOT:
                raise MayNotInsertError(
                    f"User {store.dsn.user!r} may read the records of {store.dsn} and not judge "
                    f"them (no INSERT on {record.table}), so nothing was written: judge as a user "
                    "who may (turnspan_reviewer in deploy/)."
                ) from None
    return Spool(store.dsn.spool)


def write_rows(spool: Spool, rows: Sequence[Record]) -> int:
    """Write rows of one table to the spool, on disk when it returns; returns how many.

    Raises:
        ValueError: one has a value that cannot be written.
        SpoolError: the spool cannot be written.
    """
    if not rows:
        return 0
    block, rejected = encode_rows(type(rows[0]), list(rows))
    if rejected:
        raise ValueError(str(rejected[0][1]))
    with closing(SpoolWriter(spool)) as writer:
        writer.write(rows[0].table, SCHEMA_VERSION, block, sync=True)
    return len(rows)
