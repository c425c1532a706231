"""What a pass has decided on, and doing it: rows are marked once, and the marked ones are deleted.

The marks are in the store (``keeping_row``), since they may be millions and since a mutation can
read nothing else. A row that comes after it was decided is not marked, and stays for the next pass:
so nothing goes that was not archived, whatever arrives meanwhile.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from calendar import timegm
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from turnspan_clickhouse.files.atomic_files import private_folder
from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.files.lock_holders import host_and_pid
from turnspan_clickhouse.rows.tables import RECORDS, Record
from turnspan_clickhouse.store.client import Store
from turnspan_records.keeping.errors import KeepingError
from turnspan_records.keeping.keys import BY_WEEK, Tables, row_key, week
from turnspan_records.sql import statement

SLICE: Final = 10_000_000
"""Marked rows that one statement has in memory: about 400 MB on the server."""

STAMP: Final = "%Y%m%dT%H%M%SZ"
ABANDONED_SECONDS: Final = 86_400.0
"""After this long a pass of another machine is taken for dead."""

Weeks = Mapping[str, Sequence[tuple[str, int]]]
"""Weeks in which rows are marked, and how many, by table."""
Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and of how much."""


def silent(*_: object) -> None:
    """The progress of somebody who is not told."""


@dataclass(frozen=True, slots=True)
class Marked:
    """How many rows of a table are marked, for what reason. Versions of a record are rows each."""

    record: type[Record]
    reason: str
    rows: int


class Work:
    """One pass over a store. ``name`` continues one that was begun."""

    def __init__(self, store: Store, name: str = "") -> None:
        self.store = store
        self.tables = Tables(store)
        now = time.time()
        self.name = name or f"{time.strftime(STAMP, time.gmtime(now))}-{secrets.token_hex(3)}"
        if not re.fullmatch(r"[\w-]+", self.name):
            raise ValueError(self.name)
        begun = began(self.name)
        self.began = now if begun is None or now - begun < 1 else begun + 1
        """When that was, in seconds since the epoch: "before" means before that."""

    # -- deciding ------------------

    def mark(
        self,
        record: type[Record],
        where: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        reason: str = "''",
        join: str = "",
    ) -> None:
        """Mark the rows of a table, every version of each; conditions are ours, values parameters.

        ``reason`` is an expression; ``join`` a whole clause, of tables without the columns of this
        one. A row that is marked already gets the new reason.
        """
        source = f"{self.tables.held(record)} AS r{join}"
        self.put(record.table, week(record), row_key(record), source, where, parameters, reason)

    def put(
        self,
        what: str,
        of_week: str,
        key: str,
        source: str,
        where: str,
        parameters: Mapping[str, Any] | None = None,
        reason: str = "''",
    ) -> None:
        """Mark what is no row of a table: units that rows belong to."""
        names = {"week": of_week, "reason": reason, "key": key, "source": source, "where": where}
        sql = statement("keeping/mark", work=self.tables.work, **names)
        self.insert(sql, {**(parameters or {}), "record": what})

    def insert(self, sql: str, parameters: Mapping[str, Any]) -> None:
        """Run an ``INSERT ... SELECT`` in this pass; every version counts. The setting is written
        behind it: beside it, the driver asks the embedded engine five statements for one."""
        self.store.command(f"{sql}\nSETTINGS final = 0", {**parameters, "pass": self.name})

    def keys(self, what: str, where: str = "1") -> str:
        """A query of the keys that are marked of a table or kind of unit. The name of the pass is
        written into it: it may stand in any statement."""
        return (
            f"SELECT key FROM {self.tables.work} WHERE pass = '{self.name}'"
            f" AND record = '{what}' AND {where}"
        )

    def units(self, what: str) -> str:
        """A query of the keys and reasons of units, the newest reason of each."""
        return (
            f"SELECT key, reason FROM {self.tables.work} FINAL"
            f" WHERE pass = '{self.name}' AND record = '{what}'"
        )

    def spread(self) -> None:
        """Have every replica see what was marked, before it acts on it."""
        if self.tables.replicated:
            self.store.command(f"SYSTEM SYNC REPLICA{self.tables.on_cluster} {self.tables.work}")

    # -- looking ------------------

    def number(self, sql: str, parameters: Mapping[str, Any] | None = None) -> int:
        """The number that a query gives; versions of a record are rows each."""
        return int(self.store.query(sql, parameters, {"final": 0}).rows[0][0])

    def counts(self) -> list[Marked]:
        """What is marked, by table and reason, in the order of the tables."""
        sql = statement("keeping/counts", work=self.tables.work)
        found = self.store.query(sql, {"pass": self.name}).rows
        by_name = {record.table: record for record in RECORDS}
        marked = [
            Marked(by_name[str(name)], str(reason), int(rows))
            for name, reason, rows in found
            if name in by_name
        ]
        return sorted(marked, key=lambda one: RECORDS.index(one.record))

    def number_of(self, what: str) -> int:
        """How many units, or rows of a table, are marked."""
        sql = statement("keeping/number_of", work=self.tables.work)
        return self.number(sql, {"pass": self.name, "record": what})

    def weeks(self, reason: str = "") -> Weeks:
        """The weeks in which rows are marked, for this reason or any, and how many, by table."""
        given = {"pass": self.name, "reason": reason}
        rows = self.store.query(statement("keeping/weeks", work=self.tables.work), given).rows
        found: dict[str, list[tuple[str, int]]] = {}
        for table, one, number in rows:
            found.setdefault(str(table), []).append((str(one), int(number)))
        return found

    def left(self, record: type[Record], weeks: Weeks) -> int:
        """How many marked rows are there."""
        return sum(
            self.number(f"SELECT count() FROM {self.tables.held(record)} AS r WHERE {condition}")
            for condition, _ in self.slices(record, weeks)
        )

    def slices(
        self, record: type[Record], among: Weeks, reason: str = ""
    ) -> Iterator[tuple[str, int]]:
        """Conditions that the marked rows of a table fulfil, each for as many as fit into memory,
        and about how many these are. ``among`` is what ``weeks`` gave for the reason."""
        weeks: list[str] = []
        rows = 0
        for one, number in among.get(record.table, ()):
            if weeks and rows + number > SLICE:
                yield from self._of_weeks(record, reason, weeks, rows)
                weeks, rows = [], 0
            weeks.append(one)
            rows += number
        if weeks:
            yield from self._of_weeks(record, reason, weeks, rows)

    def _of_weeks(
        self, record: type[Record], reason: str, weeks: list[str], rows: int
    ) -> Iterator[tuple[str, int]]:
        these = ", ".join(f"'{one}'" for one in weeks)
        here = f"{week(record)} IN ({these}) AND " if record in BY_WEEK else ""
        because = f" AND reason = '{reason}'" if reason else ""
        number = 1 + rows // SLICE
        for place in range(number):
            part = f"modulo(reinterpretAsUInt32(key), {number}) = {place}"
            keys = self.keys(record.table, f"week IN ({these}) AND {part}{because}")
            yield f"{here}{row_key(record)} GLOBAL IN ({keys})", rows // number

    # -- acting ------------------

    def delete(self, progress: Progress | None = None) -> dict[str, int]:
        """Delete every marked row; returns how many were marked of each table. A second time it
        does nothing. Parts that have any are written anew without them: else their bytes would stay
        until a merge, which may never come.

        Raises:
            StoreError: as ``Store.query``; another call continues.
        """
        self.spread()
        marked = self.counts()
        total = sum(one.rows for one in marked)
        done = 0
        deleted: dict[str, int] = {}
        weeks = self.weeks()
        settings: dict[str, Any] = {"mutations_sync": 2, "lightweight_deletes_sync": 2}
        if self.tables.replicated:  # its subquery has the same answer on each: see `spread`
            settings["allow_nondeterministic_mutations"] = 1
        for record in dict.fromkeys(one.record for one in marked):
            for condition, rows in self.slices(record, weeks):
                self.store.command(self.tables.deletion(record, condition), None, settings)
                done += rows
                deleted[record.table] = deleted.get(record.table, 0) + rows
                if progress is not None:
                    progress("deleting", done, total)
        return deleted

    def clear(self) -> None:
        """Forget what was decided."""
        self.store.command(f"ALTER TABLE {self.tables.work} DROP PARTITION '{self.name}'")


def new_name(kind: str) -> str:
    """A name for a pass of this kind that this machine begins now."""
    stamp = time.strftime(STAMP, time.gmtime())
    return f"{stamp}-{kind}-{_host()}-{secrets.token_hex(4)}"


def is_ours(name: str) -> bool:
    """Whether a pass is this machine's, or so old that it is nobody's."""
    if time.time() - (began(name) or 0.0) > ABANDONED_SECONDS:
        return True
    return name.split("-")[2:3] == [_host()]


def _host() -> str:
    host = host_and_pid(0).rpartition("-")[0]
    return hashlib.sha256(host.encode()).hexdigest()[:8]


def began(name: str) -> float | None:
    """When the pass of this name began, to the second; None where it does not say."""
    try:
        return float(timegm(time.strptime(name.partition("-")[0], STAMP)))
    except ValueError:
        return None


def unfinished(store: Store) -> list[str]:
    """The passes that have marks in a store, oldest first."""
    found = store.query(
        f"SELECT DISTINCT pass FROM {Tables(store).work} ORDER BY pass", None, {"final": 0}
    )
    return [str(row[0]) for row in found.rows]


@contextmanager
def alone(lock: Path, otherwise: str) -> Generator[None]:
    """While no other process of this machine has a lock.

    Raises:
        KeepingError: one has it; ``otherwise`` says so.
    """
    held = FileLock.take(private_folder(lock.parent) / lock.name)
    if held is None:
        raise KeepingError(otherwise)
    try:
        yield
    finally:
        held.release()
