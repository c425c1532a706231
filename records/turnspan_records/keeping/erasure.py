"""``forget``: what was recorded of a session, a turn, a user or a project goes, and stays away.

In this order, so that killed at any moment and done again it comes to the same:

1. what belongs to it is found, as keys (subject_keys.py), and counted;
2. tombstones are written, that of the subject itself last: from here on nothing of it lands;
3. the spool, archives and exported sets of this machine are sifted;
4. rows that a tombstone covers are deleted, on a server a second time after every shipper has
   heeded the tombstones, and the parts that held them are removed;
5. all of that is searched for what is left (proof.py).
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Final, get_args

from turnspan import config
from turnspan.redaction.redactor import Redactor
from turnspan_clickhouse.rows.keeping_tables import Tombstone
from turnspan_clickhouse.rows.owner_columns import BELONGING, PROJECT, USER, key_of
from turnspan_clickhouse.rows.tables import (
    RECORDS,
    LlmCall,
    Record,
    RunningCall,
    SpanRow,
    ToolCall,
    TurnSummary,
)
from turnspan_clickhouse.rows.tombstone_filter import Tombstones
from turnspan_clickhouse.ship.forgotten import LOOK_SECONDS, mark, read_tombstones, write_tombstones
from turnspan_clickhouse.ship.spool_filter import SpoolSifted, sift_spool
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.migrations import store_id
from turnspan_records.keeping import subject_keys
from turnspan_records.keeping.copies import CopiesSifted, sift_copies
from turnspan_records.keeping.errors import KeepingError
from turnspan_records.keeping.freed_parts import finish_masks, free
from turnspan_records.keeping.keys import Tables
from turnspan_records.keeping.owner_conditions import (
    UNIT,
    OwnerKeys,
    id_sql,
    of_pass,
    of_tombstones,
    owned,
)
from turnspan_records.keeping.proof import MOST_WORDS, Leftover, Proof, search
from turnspan_records.keeping.subject_keys import ForgetSubject, SubjectKind
from turnspan_records.keeping.work import Work, alone, is_ours, new_name, silent, unfinished
from turnspan_records.sql import statement

Stage = Callable[[str], None]
"""Told what is being done, in a few words."""

_KIND: Final = "forget"
"""What tells the passes of forgetting from others, in their names."""
_LOCK: Final = "forgotten.lock"
_HELD: Final = tuple(record for record in RECORDS if record is not Tombstone)


class NothingRecordedError(KeepingError):
    """Nothing is recorded of what was to be forgotten, and nothing was forgotten of it."""


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """What forgetting a subject would delete: rows by table, with every version that there is."""

    subject: ForgetSubject
    rows: dict[str, int]
    forgotten_before: bool
    """It was forgotten once already: what is found now came after, or was left."""
    copies: CopiesSifted = field(default_factory=CopiesSifted)
    """The archives and sets that would lose something, and what cannot be said of some."""


@dataclass(slots=True)
class Erased:
    """What forgetting did."""

    rows: dict[str, int] = field(default_factory=dict[str, int])
    spool: SpoolSifted = field(default_factory=SpoolSifted)
    copies: CopiesSifted = field(default_factory=CopiesSifted)
    proof: Proof = field(default_factory=Proof)


def subjects(store: Store, kind: SubjectKind, id_: str, project: str = "") -> list[ForgetSubject]:
    """The subjects that an id means: one for each project in which something is recorded of it, or
    was forgotten. Raises ``StoreError``."""
    if kind not in get_args(SubjectKind):
        raise ValueError(kind)
    if kind == PROJECT:
        found = {id_} if _recorded_project(store, id_) else set[str]()
    else:
        found = _projects(store, kind, id_)
    sql = statement("keeping/forgotten_projects", tombstone=Tables(store).everywhere(Tombstone))
    tombstones = store.query(sql, {"kind": kind}).rows
    known = read_tombstones(store) if tombstones else None
    for (name,) in tombstones:
        one = str(name)
        if known is not None and known.until(kind, one, id_ if kind != PROJECT else one):
            found.add(one)
    if kind == PROJECT:
        found &= {id_}
    return [ForgetSubject(kind, id_, one) for one in sorted(found) if project in ("", one)]


def plan(store: Store, subject: ForgetSubject) -> ErasurePlan:
    """What forgetting a subject would delete; nothing stays of what it writes to find that out.

    Raises:
        StoreError: as ``Store.query``.
    """
    with _alone(store), _pass(store) as work:
        keys = subject_keys.gather(work, subject, time.time_ns())
        subject_keys.mark(work, keys, _HELD)
        rows = {one.record.table: one.rows for one in work.counts()}
        copies = sift_copies(store_id(store), _foreseen(store, keys), dry=True)
    return ErasurePlan(subject, rows, bool(_forgotten(store, subject).kinds), copies)


def _foreseen(store: Store, keys: OwnerKeys) -> Tombstones:
    """What there will be forgotten: what was already, and these keys."""
    tombstone = Tables(store).everywhere(Tombstone)
    sql = statement("keeping/foreseen", tombstone=tombstone, keys=keys.query(keys.kinds))
    joined, untils = store.query(sql, settings={"final": 0}).rows[0]
    kinds = keys.kinds | read_tombstones(store, shared=True).kinds
    return Tombstones(bytes.fromhex(str(joined)), list(untils), kinds)


def forget(
    store: Store,
    subject: ForgetSubject,
    *,
    reason: str = "",
    author: str = "",
    texts: Sequence[str] = (),
    settle: float | None = None,
    stage: Stage | None = None,
) -> Erased:
    """Forget a subject: see the module. ``texts`` are searched for in the end, besides its id.

    ``settle``: seconds until other machines' shippers heed the tombstones; else as many as they
    take at most, and none for an embedded store, into which nobody else lands.

    Raises:
        NothingRecordedError: there is nothing to forget.
        KeepingError: a shipper kept the spool.
        StoreError: as ``Store.query``; doing it again continues.
    """
    tell = stage or silent
    with _alone(store):
        tell("looking")
        # What is searched for has an end (proof.MOST_WORDS): what was asked for goes first.
        words = [subject.id, *texts, *_sessions_of(store, subject)]
        began_at = _bury(store, subject, reason, author)
        if not _forgotten(store, subject).kinds:
            raise NothingRecordedError(
                f"There are no records of {subject.kind} {subject.id!r} in project "
                f"{subject.project!r}."
            )
        if settle is None:
            settle = 0.0 if store.dsn.embedded else LOOK_SECONDS + 1
        return _erase(store, _asked_key(subject), words, began_at + settle, tell)


def forget_again(store: Store, *, texts: Sequence[str] = (), stage: Stage | None = None) -> Erased:
    """Remove whatever has come back of what was ever forgotten. Raises as ``forget``."""
    with _alone(store):
        return _erase(store, None, list(texts), 0.0, stage or silent)


def _bury(store: Store, subject: ForgetSubject, reason: str, author: str) -> float:
    """Write the tombstones of a subject, where anything is recorded of it; returns when."""
    with _pass(store) as work:
        until = time.time_ns()
        keys = subject_keys.gather(work, subject, until)
        if _recorded(work, keys, subject):
            redactor = Redactor(config.active())
            said = {
                "reason": redactor.text(reason, "forget:reason"),
                "author": redactor.text(author, "forget:author"),
            }
            _write_tombstones(work, keys, subject, said)
    mark(Spool(store.dsn.spool).folder)
    return time.monotonic()


def _recorded(work: Work, keys: OwnerKeys, subject: ForgetSubject) -> bool:
    """Whether anything was found besides the subject's own key."""
    if subject.kind == PROJECT:
        return _recorded_project(work.store, subject.project)
    if keys.kinds - {subject.kind}:
        return True
    return work.number(f"SELECT count() FROM ({keys.query(keys.kinds)})") > 1


def _write_tombstones(
    work: Work, keys: OwnerKeys, subject: ForgetSubject, said: dict[str, str]
) -> None:
    """Those of what belongs to the subject, then its own: without that the others do not count."""
    forgetting = secrets.token_hex(8)
    names = {"tombstone": work.tables.everywhere(Tombstone), "work": work.tables.work}
    given = {"unit": UNIT, "until": keys.until, "forgetting": forgetting, "pass": work.name}
    work.store.command(statement("keeping/tombstones", **names), given)

    def asked(row: Tombstone) -> Tombstone:
        row.forgetting_id, row.asked = forgetting, True
        row.reason, row.author = said["reason"], said["author"]
        return row

    named = (subject.kind, subject.project, subject.id)
    write_tombstones(work.store, {named: keys.until}, asked)


def _erase(
    store: Store, asked: bytes | None, words: list[str], settling: float, tell: Stage
) -> Erased:
    done = Erased()
    keys = of_tombstones(store, asked)
    tombstones = read_tombstones(store, shared=True)
    needles = [word.encode() for word in words if len(word) >= 8]
    tell("sifting the spool")
    done.spool = sift_spool(Spool(store.dsn.spool), tombstones, needles)
    tell("sifting archives and exported sets")
    done.copies = sift_copies(store_id(store), tombstones)
    tell("deleting")
    _delete(store, keys, done)
    if settling > time.monotonic():
        tell("waiting for other machines to heed it")
        time.sleep(settling - time.monotonic())
        _delete(store, keys, done)
    tell("removing what held it")
    finish_masks(store, _HELD)
    left = free(store, _HELD)
    tell("searching for what is left")
    done.proof = search(store, keys, words)
    if left:
        done.proof.left.append(Leftover("the store's old parts", "that a query still reads", left))
    for path in done.copies.unknown:
        what = "a copy that does not say of which store: --copy"
        done.proof.left.append(Leftover(str(path), what))
    for path, why in done.copies.failed.items():
        done.proof.left.append(Leftover(str(path), f"it could not be sifted: {why}"))
    return done


def _delete(store: Store, keys: OwnerKeys, done: Erased) -> None:
    with _pass(store) as work:
        subject_keys.mark(work, keys, _HELD)
        for table, rows in work.delete().items():
            done.rows[table] = done.rows.get(table, 0) + rows


# -- what there is ------------------


@contextlib.contextmanager
def _alone(store: Store) -> Generator[None]:
    """One forgetting of a store at a time on this machine; what others of this machine had marked
    when they were cut short is cleared, and of other machines what is older than a day.

    Raises:
        KeepingError: another process is at it.
    """
    at_it = "Another process is forgetting something: wait for it to finish."
    with alone(Spool(store.dsn.spool).folder / _LOCK, at_it):
        for name in unfinished(store):
            if f"-{_KIND}-" in name and is_ours(name):
                Work(store, name).clear()
        yield


@contextlib.contextmanager
def _pass(store: Store) -> Generator[Work]:
    """A pass of which nothing stays."""
    work = Work(store, new_name(_KIND))
    try:
        yield work
    finally:
        work.clear()


def _asked_key(subject: ForgetSubject) -> bytes:
    return key_of(subject.kind, subject.project, subject.id)


def _forgotten(store: Store, subject: ForgetSubject) -> OwnerKeys:
    return of_tombstones(store, _asked_key(subject))


def _recorded_project(store: Store, name: str) -> bool:
    tables = [Tables(store).everywhere(record) for record in _HELD]
    sql = " UNION ALL ".join(
        f"(SELECT 1 FROM {table} WHERE project = {{name:String}} LIMIT 1)" for table in tables
    )
    return bool(store.query(sql, {"name": name}, {"final": 0}).rows)


def _projects(store: Store, kind: str, id_: str) -> set[str]:
    """The projects in which a session, turn or user is named."""
    sql = " UNION DISTINCT ".join(
        statement("keeping/projects_of", table=Tables(store).everywhere(record), id=id_sql(key))
        for record in (TurnSummary, LlmCall, RunningCall, ToolCall, SpanRow)
        for key in BELONGING[record.table].keys
        if key.kind == kind
    )
    return {str(row[0]) for row in store.query(sql, {"id": id_}, {"final": 0}).rows}


def _sessions_of(store: Store, subject: ForgetSubject) -> list[str]:
    """Ids of a user's sessions, as words to search for."""
    if subject.kind != USER:
        return []
    with _pass(store) as work:
        subject_keys.name(work, subject)
        keys = of_pass(work, time.time_ns())
        ids: dict[type[Record], str] = dict.fromkeys(
            (TurnSummary, LlmCall, RunningCall), "session_id"
        )
        found = owned(keys, ids, work.tables.everywhere, (USER,))
        sql = statement("keeping/sessions_of_user", found=found, most=str(MOST_WORDS))
        return [str(row[0]) for row in store.query(sql, None, {"final": 0}).rows]
