"""What was forgotten, as whoever lands records knows it: asked of the store now and then.

Another machine's shipper heeds a tombstone at most ``LOOK_SECONDS`` after it was written; on this
machine at once, since whoever forgets touches a file in the spool. Where nothing was ever forgotten
that costs one small question in that time, of a store that is written to.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from turnspan_clickhouse.errors import MAY_NOT, QueryError
from turnspan_clickhouse.files.atomic_files import private_folder
from turnspan_clickhouse.rows.keeping_tables import Tombstone
from turnspan_clickhouse.rows.native_encoder import encode_rows
from turnspan_clickhouse.rows.owner_columns import USER, key_of
from turnspan_clickhouse.rows.tables import MessageRow
from turnspan_clickhouse.rows.tombstone_filter import Named, Sifted, Tombstones, sift
from turnspan_clickhouse.ship.retry_policy import MISSING_SCHEMA
from turnspan_clickhouse.ship.sql import statement
from turnspan_clickhouse.spool.insert_groups import Group
from turnspan_clickhouse.store.client import Store

LOOK_SECONDS: Final = 10.0
MARK: Final = "forgotten"
"""The file that says by its time when something was last forgotten."""

_COUNT = "SELECT count() FROM tombstone"
_FEW: Mapping[str, object] = {"final": 0}


@dataclass(slots=True)
class _ForgottenKeys:
    tombstones: Tombstones
    looked: float
    marked: int


_known: dict[str, _ForgottenKeys] = {}
"""By store: a process has many shippers of one, one after the other."""


def mark(folder: Path) -> None:
    """Have every shipper of this spool look at the tombstones before it lands anything more.

    Raises:
        OSError: it cannot be written.
    """
    path = private_folder(folder) / MARK
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    os.close(fd)
    now = time.time_ns()
    os.utime(path, ns=(now, now))


def tombstones_of(store: Store, folder: Path) -> Tombstones:
    """What was forgotten in a store, not longer ago than ``LOOK_SECONDS``.

    One that has no such table yet, or whose user may not read it, has none: what they land of
    something that was forgotten goes with the next ``turnspan forget --again``.

    Raises:
        StoreError: as ``Store.query``.
    """
    name, marked = str(store.dsn), _marked(folder)
    known = _known.get(name)
    now = time.monotonic()
    if known is None or known.marked != marked or now - known.looked > LOOK_SECONDS:
        known = _known[name] = _ForgottenKeys(read_tombstones(store), now, marked)
    return known.tombstones


def read_tombstones(store: Store, *, shared: bool = False) -> Tombstones:
    """Every tombstone of a store, as of now; with ``shared`` also those over contents that go only
    when nothing refers to them any more. Raises as ``tombstones_of``."""
    try:
        if not store.query(_COUNT, settings=_FEW).rows[0][0]:
            return Tombstones()
        found = store.query(statement("tombstones"), {"shared": shared}, _FEW)
    except QueryError as error:
        if error.code in MISSING_SCHEMA or error.code in MAY_NOT:
            return Tombstones()
        raise
    joined, untils, kinds = found.rows[0]
    return Tombstones(bytes.fromhex(str(joined)), list(untils), list(kinds))


def _marked(folder: Path) -> int:
    try:
        return (folder / MARK).stat().st_mtime_ns
    except OSError:
        return 0


class Sieve:
    """Leaves out what was forgotten of the segments that a pass lands."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._found: dict[Named, int] = {}
        self._tombstones = Tombstones()

    def look(self) -> None:
        """Before an insert: see what was forgotten meanwhile. Raises as ``tombstones_of``."""
        self._tombstones = tombstones_of(self._store, self._folder)

    def ordered(self, groups: Sequence[Group]) -> Sequence[Group]:
        """Messages last, where a user was forgotten: they do not say whose they are, and the turns
        and calls do."""
        if USER not in self._tombstones.kinds:
            return groups
        return sorted(groups, key=lambda group: group.table == MessageRow.table)

    def sifted(self, table: str, block: bytes) -> tuple[bytes, int]:
        """A segment's block without what was forgotten, and how many rows that is."""
        if not self._tombstones:
            return block, 0
        sifted: Sifted = sift(table, block, self._tombstones)
        for named, until in sifted.names.items():
            if self._tombstones.until(*named) < until:
                self._found[named] = until
        return sifted.block, sifted.dropped

    def tell(self) -> None:
        """Write tombstones of what was found to belong to what was left out: the next segment may
        hold more of it. Before anything of it is deleted. Where they may not be written, this
        process knows of them. Raises as ``Store.insert_native``."""
        if not self._found:
            return
        try:
            write_tombstones(self._store, self._found, lambda row: row)
        except QueryError as error:
            if error.code not in MAY_NOT:
                raise
        for named, until in self._found.items():
            self._tombstones.add(named, until)
        self._found.clear()


def write_tombstones(
    store: Store, found: Mapping[Named, int], told: Callable[[Tombstone], Tombstone]
) -> None:
    """Write a tombstone for each of these, with the time until which it is forgotten; ``told`` adds
    who said so and why. Raises as ``Store.insert_native``."""
    now = time.time_ns()
    rows = [
        told(
            Tombstone(
                project=project,
                kind=kind,
                key=key_of(kind, project, id_),
                until=until,
                created_at=now,
                written_at=now,
            )
        )
        for (kind, project, id_), until in found.items()
    ]
    for start in range(0, len(rows), 50_000):
        block, _ = encode_rows(Tombstone, rows[start : start + 50_000])
        token = hashlib.blake2b(block, digest_size=16).hexdigest()
        store.insert_native(Tombstone.table, block, f"tombstone-{token}")
