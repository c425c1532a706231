"""What a receiver has still to write: blocks on their way to the spool, in order."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from turnspan_clickhouse.errors import SpoolError
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.native_encoder import blocks
from turnspan_clickhouse.rows.tables import RECORDS
from turnspan_clickhouse.spool.spool import SpoolWriter
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION

_RECOUNT_SECONDS = 2.0


class Outbox:
    """Blocks for a writer's spool; with ``fsync`` each survives a power cut once it is written."""

    def __init__(self, writer: SpoolWriter, *, fsync: bool = False) -> None:
        self._writer = writer
        self._spool = writer.spool
        self._fsync = fsync
        self._unwritten: deque[tuple[str, bytes]] = deque()
        self._used, self._recount_at = 0, 0.0

    def __bool__(self) -> bool:
        return bool(self._unwritten)

    def add(self, batch: Batch, failed: Callable[[Exception], None]) -> None:
        """Add a batch's rows; ``failed`` is told of each that cannot be encoded."""
        for kind in RECORDS:
            rows = batch.rows.get(kind)
            if rows:
                for _, block in blocks(kind, rows, failed):
                    self._unwritten.append((kind.table, block))

    def write(self) -> None:
        """Write what waits. What cannot be written stays, and nothing new is taken before it: a
        request that comes again then finds its spans landed.

        Raises:
            SpoolError: the spool is full or cannot be written.
        """
        while self._unwritten:
            table, block = self._unwritten[0]
            self._check_room(len(block))
            self._writer.write(table, SCHEMA_VERSION, block, sync=self._fsync)
            self._unwritten.popleft()

    def _check_room(self, size: int) -> None:
        """Raise where so much more would overfill the spool: it would make room by dropping what
        was acknowledged."""
        limit, now = self._spool.limit_bytes, time.monotonic()
        if now >= self._recount_at or self._used + size > limit:
            self._used = sum(s.size for s in (*self._spool.segments(), *self._spool.rejected()))
            self._recount_at = now + _RECOUNT_SECONDS
        if self._used + size > limit:
            raise SpoolError(
                f"the spool {self._spool.folder} is full ({limit:,} bytes): make the store "
                "reachable and run `turnspan ship`"
            )
        self._used += size
