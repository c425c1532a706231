"""Put records into a spool, and ask a store what landed."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Generator
from typing import Any

from land import agent_run as run
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import LlmCall, Record
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION
from turnspan_clickhouse.store.opening import open_store


def spooled(spool: Spool, *rows: Record) -> SpoolWriter:
    """A writer that has written the rows, a segment for each table."""
    writer = SpoolWriter(spool)
    for record in dict.fromkeys(type(row) for row in rows):
        block = encode_block(record, [row for row in rows if type(row) is record])
        writer.write(record.table, SCHEMA_VERSION, block)
    return writer


def calls(first: int, count: int, **values: Any) -> list[Record]:
    """Model calls with numbers of their own."""
    known: dict[str, Any] = {"project": "p", "session_id": "s", "input_tokens": 1, **values}
    return [
        LlmCall(span_id=str(n), start_time=run.T0 + n, **known) for n in range(first, first + count)
    ]


def ask(dsn: Dsn, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a query without ``final``: duplicates would show."""
    with open_store(dsn) as store:
        return [tuple(row) for row in store.query(sql, settings={"final": 0}).rows]


@contextlib.contextmanager
def largest_file(size: int) -> Generator[None]:
    """The kernel refuses to let this process write larger files, as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def no_more_files() -> Generator[None]:
    """This process has as many files open as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken: list[int] = []
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/dev/fd"))) + 2, hard))
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for fd in taken:
            os.close(fd)
