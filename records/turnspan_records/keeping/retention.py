"""``retain``: decide what goes, archive what is flagged good, delete, and prove it.

A pass decides once, in the store (``Work``), and notes there when it has decided and when its
archive is whole. One that is killed before it has decided is forgotten; one that is killed later is
continued by the next, from the same decision: nothing is deleted before its archive was read back.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from turnspan_clickhouse.rows.tables import TurnSummary, columns
from turnspan_clickhouse.store.client import Store, quoted
from turnspan_clickhouse.store.dsn import Dsn, data_folder
from turnspan_records.keeping import ttl
from turnspan_records.keeping.archive_writer import archive
from turnspan_records.keeping.archives import Manifest
from turnspan_records.keeping.contents import ZeroCheck, violations
from turnspan_records.keeping.deletion_plan import ARCHIVED, TEXT_COLUMNS, decide
from turnspan_records.keeping.errors import KeepingError
from turnspan_records.keeping.keys import row_key
from turnspan_records.keeping.policy import Policy
from turnspan_records.keeping.work import (
    Progress,
    Work,
    alone,
    is_ours,
    new_name,
    silent,
    unfinished,
)
from turnspan_records.screens.inventory import table_sizes
from turnspan_records.sql import statement

_DECIDED, _ARCHIVED = "phase:decided", "phase:archived"
_KIND: Final = "retain"


@dataclass(frozen=True, slots=True)
class Going:
    """What goes of a table for one reason. ``bytes`` is estimated from the table's average row."""

    table: str
    reason: str
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Retained:
    """What a pass would do, or did. ``checks`` are what was asked afterwards: all answers are 0."""

    applied: bool
    going: tuple[Going, ...]
    archive: Path | None = None
    manifest: Manifest | None = None
    checks: tuple[ZeroCheck, ...] = ()
    continued: tuple[str, ...] = ()
    lives: tuple[ttl.TtlChange, ...] = ()
    node_by_node: bool = False

    @property
    def rows(self) -> int:
        """Of all tables."""
        return sum(one.rows for one in self.going)


def retain(
    store: Store,
    policy: Policy | None = None,
    *,
    apply: bool = False,
    progress: Progress | None = None,
) -> Retained:
    """Say what a policy would take from a store, or with ``apply`` take it.

    Both decide in the same way: the marks of a dry run are removed again.

    Raises:
        KeepingError: somebody else is at it, an archive is not as it was written, or what was to be
            proved does not hold.
        StoreError: as ``Store.query``; running it again continues.
    """
    policy = policy or Policy()
    tell = progress or silent
    at_it = f"Another process is at it with {store.dsn}: wait for it to finish."
    with alone(_lock(store.dsn), at_it):
        continued = _finish_others(store, tell, apply=apply, archive=policy.archive)
        work = Work(store, new_name(_KIND))
        decide(work, policy, tell)
        sizes = {one.table: one for one in table_sizes(work.store)}
        found: list[Going] = []
        for one in work.counts():
            size = sizes[one.record.table]
            estimated = round(size.bytes * one.rows / max(1, size.rows))
            found.append(Going(one.record.table, one.reason, one.rows, min(size.bytes, estimated)))
        going = tuple(found)
        lives = tuple(ttl.changes(store, policy.ttl))
        rest = (continued, lives, work.tables.node_by_node)
        if not apply:
            work.clear()
            return Retained(False, going, None, None, (), *rest)
        path = policy.folder / work.name
        about = {
            "archive": str(path),
            "days": policy.content_days,
            "policy": policy.as_toml(),
            "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        _note(work, _DECIDED, about)
        made, checks = _finish(work, tell)
        for change in lives:
            ttl.put(store, change)
    return Retained(True, going, path if made else None, made, checks, *rest)


# -- one pass ------------------


def _finish(work: Work, progress: Progress) -> tuple[Manifest | None, tuple[ZeroCheck, ...]]:
    """What is left to do of a pass that has decided."""
    said = _noted(work, _DECIDED)
    made: Manifest | None = None
    work.spread()
    if _noted(work, _ARCHIVED) is None:
        if any(one.reason == ARCHIVED for one in work.counts()):
            about = {
                **{name: said[name] for name in ("policy", "began")},
                "store": str(work.store.dsn),
                "pass": work.name,
            }
            made = archive(work, Path(said["archive"]), about, progress)
        _note(work, _ARCHIVED, {})
    _without_texts(work)
    work.delete(progress)
    progress("checking", 0, 1)
    checks = tuple(violations(work, float(said["days"])))
    progress("checking", 1, 1)
    broken = [check for check in checks if check.count]
    if broken:
        raise KeepingError(
            f"After deleting there are {broken[0].count:,} {broken[0].what}, but there should be "
            "none: find out what else writes to or deletes from this store, then run it again."
        )
    work.clear()
    return made, checks


def _without_texts(work: Work) -> None:
    """Rows without texts for the summaries that lose them. Each is older by a nanosecond than the
    row that it stands for: so that one, once it is brought back from an archive, counts again."""
    names = [name for name, _ in columns(TurnSummary)]
    values = {
        **{name: f"r.{quoted(name)}" for name in names},
        **dict.fromkeys(TEXT_COLUMNS, "''"),
        "written_at": "r.written_at - toIntervalNanosecond(1)",
    }
    table = work.tables.held(TurnSummary)
    sql = statement(
        "keeping/without_texts",
        table=table,
        names=", ".join(names),
        values=", ".join(values[name] for name in names),
        marked=f"{row_key(TurnSummary)} GLOBAL IN ({work.keys(TurnSummary.table)})",
    )
    work.store.command(sql, None, {"max_partitions_per_insert_block": 0})


# -- passes that were cut short ------------------


def _finish_others(
    store: Store, progress: Progress, *, apply: bool, archive: Path | None
) -> tuple[str, ...]:
    """Forget the passes that had not decided, and finish those that had: into the archives that
    they had chosen."""
    continued: list[str] = []
    for name in unfinished(store):
        if f"-{_KIND}-" not in name:  # marks of something else than retention
            continue
        work = Work(store, name)
        if not is_ours(name):
            raise KeepingError(
                f"Another machine is at it (the pass {name}): wait for it to finish. A pass that "
                "was cut short there is taken over a day after it began."
            )
        decided = _noted(work, _DECIDED)
        if decided is None:
            work.clear()
            continue
        chosen = Path(decided["archive"]).parent
        if archive is not None and archive.absolute() != chosen.absolute():
            raise KeepingError(
                f"The pass {name} was cut short and archives into {chosen}, not into {archive}: "
                f'finish it first, with `archive = "{chosen}"` in the policy or without a policy.'
            )
        continued.append(name)
        if apply:
            _finish(work, progress)
    return tuple(continued)


def _note(work: Work, what: str, said: dict[str, Any]) -> None:
    """Note in the store how far a pass is; the marks before are there on every replica then."""
    sql = statement("keeping/note", work=work.tables.work)
    given = {"pass": work.name, "record": what, "reason": orjson.dumps(said).decode()}
    work.store.command(sql, given)


def _noted(work: Work, what: str) -> Any:
    """What was noted; None where nothing was."""
    sql = statement("keeping/noted", work=work.tables.work)
    rows = work.store.query(sql, {"pass": work.name, "record": what}).rows
    return orjson.loads(rows[0][0]) if rows else None


def _lock(dsn: Dsn) -> Path:
    """An embedded store, too, is another process's between two statements."""
    of = str(dsn) if dsn.embedded else f"{dsn.host}:{dsn.port}/{dsn.database}"
    name = hashlib.sha256(of.encode()).hexdigest()[:12]
    return data_folder() / f"retain-{name}.lock"
