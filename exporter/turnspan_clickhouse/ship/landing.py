"""Landing: groups of segments into a store, and what to do with those that it does not take.

A refusal of a group says little about its segments. So a group that is refused for what is in it,
or for its size, is halved until the segment that is meant stands alone; such a one is halved by
rows, where it can be taken apart; what is left is set aside with the reason, or waits where time
may cure it. Everything beside it lands.
"""

from __future__ import annotations

import errno
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from turnspan_clickhouse.errors import (
    InsertTooLargeError,
    QueryError,
    StoreError,
    StoreUnavailableError,
)
from turnspan_clickhouse.files.lock_holders import Holder
from turnspan_clickhouse.rows.native_reader import shape
from turnspan_clickhouse.rows.native_rows import halves
from turnspan_clickhouse.ship.forgotten import Sieve
from turnspan_clickhouse.ship.retry_policy import (
    BAD_DATA,
    MISSING_SCHEMA,
    by_size,
    is_final,
    is_retryable,
)
from turnspan_clickhouse.spool.insert_groups import Group
from turnspan_clickhouse.spool.segments import Segment
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.migrations import current_version, migrate

MAX_KEPT = 10
"""Segments refused for reasons we do not know before a pass gives up; they stay in the spool."""
TRIES = 5
"""How often an insert may time out before it is taken for too large."""
_STRIKES, _SMALL_BYTES = 12, 2**20
"""Single segments refused one after the other for want of memory until that is taken for the
server's trouble and not theirs; a small one counts as four."""
_SPLITS = 64
"""Segments that a pass takes apart to find bad rows; were it all of them, there would be no end."""
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_OVERSIZE_SECONDS = 3600.0
"""How long what no memory suffices for is tried, while other segments land."""


@dataclass(slots=True)
class ShipResult:
    """What one shipping did; ``errors`` are sentences for people, empty when all went well."""

    shipped_segments: int = 0
    shipped_rows: int = 0
    inserts: int = 0
    """How many inserts that took: a part, or few, in ClickHouse each."""
    interrupted: int = 0
    forgotten: int = 0
    """Rows that were left out because what they are of was forgotten."""
    rejected: int = 0
    remaining: int = 0
    """Segments that waited when it began and wait still; living writers go on writing."""
    parts: set[str] = field(default_factory=set[str])
    """Segments that were made of the rows of one that was refused."""
    busy: bool = False
    """Another process ships this spool, or has just done so, and was not waited for."""
    holder: Holder | None = None
    """Who that is, where it holds the lock still."""
    errors: list[str] = field(default_factory=list[str])

    @property
    def ok(self) -> bool:
        """Whether nothing waits any more and nothing was refused."""
        return not self.errors and not self.remaining and not self.rejected


class Landing:
    """One pass over what waits, into an open store; the spool's lock is held."""

    def __init__(
        self,
        store: Store,
        spool: Spool,
        result: ShipResult,
        *,
        auto_migrate: bool = False,
        over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._store = store
        self._spool = spool
        self._result = result
        self._auto_migrate = auto_migrate
        self._over = over
        self._sieve = Sieve(store, spool.folder)
        self._closed: set[str] = set()
        """Tables that take nothing now."""
        self._limits: dict[str, int] = {}
        """Bytes that were too many for a table: groups as large are halved before they are tried.
        """
        self._strikes: Counter[str] = Counter()
        self._splits = 0
        self._oversize: list[tuple[Segment, str]] = []

    def land(self, groups: Sequence[Group]) -> None:
        """Land these groups; what cannot land now is named in the result's errors.

        Raises:
            StoreUnavailableError: the server does not answer.
            OSError: too many files cannot be read, moved or deleted.
        """
        if groups:
            self._sieve.look()
        for group in self._sieve.ordered(groups):
            if group.table in self._closed:
                continue
            try:
                todo = deque([group])  # and what it falls into
                while todo and not self._over():
                    todo.extendleft(reversed(self._land(todo.popleft())))
            except StoreUnavailableError:
                raise
            except StoreError as error:
                self._result.errors.append(str(error))
                self._closed.add(group.table)
            except OSError as error:  # its files cannot be read, moved or deleted: others can
                if len(self._result.errors) >= MAX_KEPT:
                    raise
                self._result.errors.append(str(error))
            if self._over():
                return

    def end(self) -> None:
        """See to what was too large even alone: it waits, unless for long, and others landed."""
        for segment, reason in self._oversize:
            try:
                waited = time.time() - segment.path.stat().st_ctime  # since it was marked alone
            except FileNotFoundError:
                continue
            if self._result.inserts and waited >= _OVERSIZE_SECONDS:
                self._reject(
                    segment,
                    f"{reason}\nRefused for its size for {waited / 3600:.0f} hours while others "
                    "landed: give the store's user more memory (max_memory_usage) or time, then "
                    "run `turnspan ship --rejected`.",
                )
            else:
                self._result.errors.append(reason)

    # -- one group, and what it falls into ------------------

    def _land(self, group: Group) -> Sequence[Group]:
        """One group into the store, or the smaller ones that are to be tried in its place; raises
        when its table takes nothing now."""
        if group.landed:
            group.delete()
            return ()
        fresh, several = not group.begun, len(group.segments) > 1
        limit = self._limits.get(group.table)
        large = fresh and limit is not None and group.size >= limit
        if several and (large or group.tries >= TRIES):
            return self._halved(group, group.segments)
        self._sieve.look()
        try:
            group.begin()
        except FileNotFoundError:  # dropped this moment, or the whole folder: see the next pass
            return ()
        except OSError as error:
            # A full disk: one by one, each makes some room. (A mode takes none.)
            if group.manifest is None or error.errno not in _NO_ROOM:
                raise
            return [Group.of([segment], self._spool.folder) for segment in group.segments]
        # Only now, when no writer gives them up any more to make room (eviction.py).
        segments, blocks, rows = self._read(group)
        if len(segments) < len(group.segments) and fresh:
            group.forget()
            return [Group.of(segments, self._spool.folder)] if segments else ()
        if any(one.path.exists() for one in group.segments if one not in segments):
            return ()  # it may have landed, and cannot be repeated while that is unreadable
        if not segments:
            group.forget()
            return ()
        self._sieve.tell()
        try:
            if rows:
                self._insert(group, b"".join(blocks))
        except StoreUnavailableError as error:
            if error.late and group.manifest is not None:
                group.tried()
            raise
        except (QueryError, InsertTooLargeError) as error:
            return self._refused(group, segments, blocks, error)
        self._landed(group, segments, rows)
        return ()

    def _landed(self, group: Group, segments: Sequence[Segment], rows: int) -> None:
        result = self._result
        result.inserts += bool(rows)
        result.shipped_rows += rows
        result.shipped_segments += len(segments)
        self._strikes[group.table] = 0
        if self._limits.get(group.table, 0) <= group.size:
            self._limits.pop(group.table, None)
        if rows:
            self._spool.totals.landed(group.token, group.table, rows)
        group.delete()

    def _read(self, group: Group) -> tuple[list[Segment], list[bytes], int]:
        """The group's segments that are there, readable and whole, their content and rows."""
        segments: list[Segment] = []
        blocks: list[bytes] = []
        total = 0
        for segment in group.segments:
            try:
                block = segment.path.read_bytes()
            except FileNotFoundError:  # dropped by its writer, which ran out of room
                continue
            except PermissionError as error:  # written by another user
                self._result.errors.append(str(error))
                continue
            except OSError as error:
                if error.errno != errno.EIO:  # too many open files, no memory: at another time
                    raise
                self._reject(segment, f"The file cannot be read: {error.strerror}.")
                continue
            damage = segment.damage(block)
            if damage:
                self._reject(segment, damage)
                continue
            block, left_out = self._sieve.sifted(segment.table, block)
            self._result.forgotten += left_out
            segments.append(segment)
            blocks.append(block)
            total += shape(block[:20])[1] if block else 0
        return segments, blocks, total

    def _insert(self, group: Group, block: bytes) -> None:
        try:
            self._store.insert_native(group.table, block, group.token)
        except QueryError as error:
            if not self._auto_migrate or not _lacks_schema(self._store, group, error):
                raise
            self._auto_migrate = False
            migrate(self._store)
            self._store.insert_native(group.table, block, group.token)

    # -- refusals ------------------

    def _refused(
        self,
        group: Group,
        segments: Sequence[Segment],
        blocks: Sequence[bytes],
        error: QueryError | InsertTooLargeError,
    ) -> Sequence[Group]:
        """Find what is bad or too large in a group and set it aside, keep what may land later;
        raises when the table takes nothing now."""
        final = isinstance(error, InsertTooLargeError) or is_final(error)
        too_large = isinstance(error, InsertTooLargeError) or by_size(error)
        if isinstance(error, QueryError):
            if _lacks_schema(self._store, group, error):
                raise StoreError(
                    f"The store's schema is older than {group.table} records of version "
                    f"{group.schema_version}, or missing: run `turnspan migrate`."
                ) from None
            # It may have landed in part: the same insert again.
            if is_retryable(error) and not too_large:
                raise error
        if len(segments) > 1:
            if too_large:
                self._limits[group.table] = group.size
            return self._halved(group, segments)
        (segment,) = segments
        if too_large or (final and self._splits < _SPLITS):
            parts = halves(blocks[0])
            if parts is not None:
                self._splits += not too_large
                made = self._spool.split(segment, parts)
                self._result.parts.update(one.name for one in made)
                return [Group.of([one], self._spool.folder) for one in made]
        if final:
            self._reject(segment, str(error))
        elif too_large:
            self._strikes[group.table] += 4 if segment.size < _SMALL_BYTES else 1
            if self._strikes[group.table] >= _STRIKES:
                raise error
            self._oversize.append((segment, f"{segment.name}: {error}"))
        elif len(self._result.errors) >= MAX_KEPT:
            raise error
        else:
            self._result.errors.append(f"{segment.name}: {error}")
        return ()

    def _halved(self, group: Group, segments: Sequence[Segment]) -> list[Group]:
        """Its halves are new inserts, under tokens of their own. (What had landed in part, or after
        all, is there twice then, and readers see it once.)"""
        group.forget()
        middle = len(segments) // 2
        return [Group.of(h, self._spool.folder) for h in (segments[:middle], segments[middle:])]

    def _reject(self, segment: Segment, reason: str) -> None:
        try:
            self._spool.reject(segment, reason)
        except OSError as error:  # a full disk: it waits, while the others land and make room
            self._result.errors.append(str(error))
        else:
            self._result.rejected += 1


def _lacks_schema(store: Store, group: Group, error: QueryError) -> bool:
    """Whether a refusal comes from an older schema: the code differs from column to column."""
    if error.code in MISSING_SCHEMA:
        return True
    return error.code in BAD_DATA and current_version(store) < group.schema_version
