"""Numbered migrations: ``schema/NNNN_name.sql``, one object a file, with a ledger in the store.

The same files serve the embedded engine, a server and a cluster through macros:

=======================  =====================================================================
``{database}``           the store's database
``{on_cluster}``         nothing, or ``ON CLUSTER `name` ``
``{table:NAME}``         ``database.NAME``; on a cluster ``database.NAME_local``, the replicated
                         table of each shard, and a ``Distributed`` table NAME is created over it
``{shard_by:EXPR}``      nothing; on a cluster the sharding key of that ``Distributed`` table
``{replacing:COLUMN}``   ``ReplacingMergeTree(COLUMN)``, replicated on a cluster
``{merge_tree}``         ``MergeTree``, replicated on a cluster
``{ledger:COLUMN}``      as ``{replacing:}``, but one and the same table on every shard
``{with_content:V(...)}`` opens a subquery of rows that have ``project`` and ``message_scope``: adds
                         the column ``content``, a tuple of the named columns of the view V; read
                         only where it is asked for (on a cluster: always, since correlated
                         subqueries cannot be asked of ``Distributed`` tables)
``{end_content}``        closes it
=======================  =====================================================================

What several files say in the same words is written once, in ``schema/pieces.sql``.

A cluster without Keeper (``?cluster=NAME&replicated=no``) has the same tables, not replicated, and
no ``ON CLUSTER``: it is migrated node by node. An ``ALTER`` of columns goes to the ``Distributed``
table as well, which takes no other one.

Every statement may run twice (IF NOT EXISTS, CREATE OR REPLACE VIEW), so a migration that was
killed anywhere is mended by running it again, and two at once do no harm.
"""

from __future__ import annotations

import hashlib
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from textwrap import indent

from turnspan._version import __version__
from turnspan.runtime.later import later
from turnspan_clickhouse.errors import (
    OTHER_COLUMNS,
    QueryError,
    SchemaChangedError,
    StoreError,
    StoreUnavailableError,
)
from turnspan_clickhouse.store.client import Store, quoted
from turnspan_clickhouse.store.definitions import made_again, mended
from turnspan_clickhouse.store.dsn import Dsn

_FILE = later(r"(\d{4})_(\w+)\.sql")
_MACRO = later(
    r"\{(database|on_cluster|merge_tree|table|shard_by|replacing|ledger|with_content|end_content)"
    r"(?::([^}]*))?\}"
)
_PIECE = later(r"^( *)\{piece:(\w+)(?:\|([^}]*))?\}", re.MULTILINE)
_PIECES = later(r"^--- (\w+).*\n((?:(?!--- ).*\n)*)", re.MULTILINE)
_SUBJECT = later(r"^(?:CREATE|ALTER) [A-Z ]*(?:\{table:(\w+)\}|\{database\}\.(\w+))", re.MULTILINE)
_WINDOW = later(r"\bnon_replicated_deduplication_window = (\d+)")
# The seconds are 3600 unless they are said: a segment may wait longer than that for its retry.
_REPLICATED_WINDOW = (
    r"replicated_deduplication_window = \1, replicated_deduplication_window_seconds = 604800"
)
_ALTERED_COLUMN = later(r"^ALTER TABLE .*\bCOLUMN\b", re.DOTALL | re.MULTILINE)
_MATERIALIZED = later(r",\n *MATERIALIZE COLUMN \w+")
_OWN_CONTENT = "content_project = r.project AND content_scope = r.message_scope"
_UNKNOWN_TABLE, _UNKNOWN_DATABASE, _UNKNOWN_SETTING = 60, 81, 115
# What one migrator may see of another: CREATE OR REPLACE VIEW exchanges and drops names.
_RACES = frozenset({57, _UNKNOWN_TABLE, 219, 253, 341, 342, 999})


@dataclass(frozen=True, slots=True)
class Migration:
    """One schema file; ``template`` still holds its macros."""

    version: int
    name: str
    template: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the file's text; a view's covers the tables too, since it fixes their columns
        when it is made and has to be made again after them."""
        tables = [one.template for one in migrations() if not one.view] if self.view else []
        return hashlib.sha256("".join([self.template, *tables]).encode()).hexdigest()

    @property
    def view(self) -> bool:
        """Whether the file makes a view, which may change under its number and is re-applied."""
        return "CREATE OR REPLACE VIEW" in self.template

    @property
    def distributed(self) -> bool:
        """Whether it makes or changes, on a cluster, a ``Distributed`` table as well."""
        return "{shard_by:" in self.template or bool(_ALTERED_COLUMN.search(self.template))

    def subjects(self, dsn: Dsn) -> tuple[str, ...]:
        """The tables or the view that the file makes or changes, as this store names them. Raises
        ``ValueError`` where there is none."""
        found = _SUBJECT.search(self.template)
        if found is None:
            raise ValueError(f"{self.name}: neither a table nor a view")
        table, other = found.groups()
        if table is None or not dsn.cluster:
            return (table or other,)
        return (f"{table}_local", table) if self.distributed else (f"{table}_local",)


@dataclass(frozen=True, slots=True)
class Applied:
    """A migration that ``migrate`` ran; ``again`` for a view whose definition had changed, and what
    had been dropped."""

    version: int
    name: str
    again: bool = False


@cache
def migrations() -> tuple[Migration, ...]:
    """Every schema file in the order it is applied: tables, then views, each by their numbers."""
    folder = resources.files("turnspan_clickhouse.store.schema")
    pieces = dict(_PIECES.findall((folder / "pieces.sql").read_text(encoding="utf-8")))
    found = [
        Migration(int(match[1]), match[2], _pieced(file.read_text(encoding="utf-8"), pieces))
        for file in folder.iterdir()
        if (match := _FILE.fullmatch(file.name))
    ]
    return tuple(sorted(found, key=lambda migration: (migration.view, migration.version)))


def _pieced(text: str, pieces: Mapping[str, str]) -> str:
    """A file's text with the lines of ``pieces.sql`` in the place of their names."""

    def expand(match: re.Match[str]) -> str:
        piece = pieces[match[2]].rstrip()
        for number, given in enumerate((match[3] or "").split("|"), 1):
            piece = piece.replace(f"${number}", given)
        return indent(_pieced(piece, pieces), match[1])

    return _PIECE.sub(expand, text)


SCHEMA_VERSION: int = max(migration.version for migration in migrations())
"""The version this code writes and reads: the highest file number."""


def render(dsn: Dsn) -> list[tuple[str, str]]:
    """(file name without ``.sql``, SQL) of every statement, as it would run on this store."""
    return [
        (f"{migration.version:04d}_{migration.name}", sql)
        for migration in migrations()
        for sql in statements(migration, dsn)
    ]


def statements(migration: Migration, dsn: Dsn) -> list[str]:
    """The SQL of one migration: one statement, and a ``Distributed`` table's on a cluster."""
    database = quoted(dsn.database)
    replicated = bool(dsn.cluster) and dsn.replicated
    on_cluster = f"ON CLUSTER {quoted(dsn.cluster)}" if replicated else ""
    distributed: dict[str, str] = {}

    def expand(match: re.Match[str]) -> str:
        macro, argument = match[1], match[2] or ""
        if macro in ("table", "shard_by"):
            distributed[macro] = argument
        if macro == "table":
            return f"{database}.{argument}_local" if dsn.cluster else f"{database}.{argument}"
        if macro in ("replacing", "merge_tree", "ledger"):
            return _engine(macro, argument, replicated=replicated)
        if macro in ("with_content", "end_content"):
            opened, closed = _content(database, argument, joined=bool(dsn.cluster))
            return opened if macro == "with_content" else closed
        return {"database": database, "on_cluster": on_cluster}.get(macro, "")

    text = _MACRO.sub(expand, migration.template)
    result = ["\n".join(line.rstrip() for line in text.strip().splitlines() if line.strip())]
    if replicated and "table" in distributed:
        result[0] = _WINDOW.sub(_REPLICATED_WINDOW, result[0])
    if not (dsn.cluster and migration.distributed):
        return result
    name = distributed["table"]
    if "shard_by" in distributed:
        result.append(
            f"CREATE TABLE IF NOT EXISTS {database}.{name} {on_cluster}"
            f" AS {database}.{name}_local ENGINE = Distributed({quoted(dsn.cluster)},"
            f" {database}, {name}_local, {distributed['shard_by']})"
        )
    else:
        altered = result[0].replace(f"{database}.{name}_local", f"{database}.{name}")
        result.append(_MATERIALIZED.sub("", altered))
    return result


def _content(database: str, wanted: str, *, joined: bool) -> tuple[str, str]:
    """What stands before and behind the rows (``r``) that get their ``content``."""
    view, _, names = wanted.rstrip(")").partition("(")
    if joined:
        return (
            f"(SELECT content_project, content_scope, ({names}) AS content"
            f" FROM {database}.{view}) AS c ANY RIGHT JOIN",
            f"AS r ON {_OWN_CONTENT}",
        )
    # The engine leaves out an expression that nobody asks for, but not a bare subquery: identity().
    return (
        f"(SELECT *, identity((SELECT ({names}) FROM {database}.{view}"
        f" WHERE {_OWN_CONTENT})) AS content FROM",
        "AS r)",
    )


def _engine(macro: str, argument: str, *, replicated: bool) -> str:
    kind = "MergeTree" if macro == "merge_tree" else "ReplacingMergeTree"
    if not replicated:
        return f"{kind}({argument})" if argument else kind
    # All in braces are the server's own macros. No {uuid}: a replica that is added later shall find
    # the path of the others. The ledger has no shard in its path: every node has the same rows.
    path = "/clickhouse/tables/{database}/{table}/" + ("all" if macro == "ledger" else "{shard}")
    replica = "{shard}_{replica}" if macro == "ledger" else "{replica}"
    rest = f", {argument}" if argument else ""
    return f"Replicated{kind}('{path}', '{replica}'{rest})"


def current_version(store: Store) -> int:
    """The highest version recorded in the store; 0 where nothing was migrated yet."""
    return max(_ledger(store), default=0)


def pending(store: Store) -> list[Migration]:
    """What ``migrate`` would run: unapplied files, changed views, and what a full disk has taken.

    Raises:
        StoreError: the store is newer than this code, or an applied table's file was changed.
    """
    ledger = _ledger(store)
    version = max(ledger, default=0)
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"The store {store.dsn} has schema version {version}, newer than the {SCHEMA_VERSION} "
            "this Turnspan knows: upgrade it (pip install --upgrade turnspan)."
        )
    waiting: list[Migration] = []
    lost = {name for name, (_, again) in mended(store.dsn).items() if again}
    for migration in migrations():
        checksum = ledger.get(migration.version)
        changed = checksum != migration.checksum
        if changed and checksum is not None and not migration.view:
            raise _of_another_layout(store, f"{migration.version:04d}_{migration.name} differs")
        if changed or not lost.isdisjoint(migration.subjects(store.dsn)):
            waiting.append(migration)
    return waiting


def _of_another_layout(store: Store, how: str) -> SchemaChangedError:
    return SchemaChangedError(
        f"The store {store.dsn} has tables of another Turnspan, or of something else, which cannot "
        f"be made into this one's ({how}): name another store in TURNSPAN_STORE, or move this one "
        "away; the version that made it still reads it."
    )


def require_no_others(store: Store) -> None:
    """Refuse a database that has tables, and none of ours.

    Raises:
        SchemaChangedError: it has.
    """
    try:
        found = _tables(store)
    except QueryError as error:
        if error.code == _UNKNOWN_DATABASE:
            return
        raise
    if found:
        raise _of_another_layout(store, f"{min(found)} is there, and no schema_migration")


def _tables(store: Store) -> set[str]:
    sql = "SELECT name FROM system.tables WHERE database = {database:String}"
    return {str(name) for (name,) in store.query(sql, {"database": store.database}).rows}


def due(store: Store) -> list[Migration]:
    """What is ``pending``, and what was applied but is gone: dropped by hand, or not in a backup.

    For whoever may see every table; others would miss those.

    Raises:
        StoreError: as ``pending``.
    """
    waiting = pending(store)
    if len(waiting) == len(migrations()):  # perhaps without a database to ask
        return waiting
    there = _tables(store)
    return [
        migration
        for migration in migrations()
        if migration in waiting or not there.issuperset(migration.subjects(store.dsn))
    ]


def store_id(store: Store) -> str:
    """What tells this store from every other, wherever it lies: the moment at which it was made, in
    its own ledger. A backup that is restored keeps it; a store made anew in its place has another.

    Raises:
        StoreError: as ``Store.query``.
    """
    rows = store.query(
        "SELECT toString(toUnixTimestamp64Nano(min(applied_at)))"
        f" FROM {quoted(store.database)}.schema_migration"
    ).rows
    return str(rows[0][0])


def migrate(store: Store, *, restore: bool = False) -> list[Applied]:
    """Bring the store to SCHEMA_VERSION; returns what was run, nothing when it was there already.

    With ``restore``, make again what is gone from it: for somebody who asks for that, since what
    is gone may just have been renamed.

    Raises:
        StoreError: as ``pending``, or an embedded store's disk is full.
        QueryError: the engine refused a statement; running again continues there.
    """
    store.create_database()
    known = _ledger(store)
    done: list[Migration] = []
    try:
        for migration in due(store) if restore else pending(store):
            _apply(store, migration)
            done.append(migration)
    finally:  # at once: a row each would take as long as the tables
        if done and not isinstance(sys.exc_info()[1], StoreUnavailableError):  # takes nothing
            _record(store, done)
    made_again(store.dsn)
    return [Applied(one.version, one.name, one.version in known) for one in done]


def _apply(store: Store, migration: Migration) -> None:
    for sql in statements(migration, store.dsn):
        try:
            _run(store, sql)
        except QueryError as error:
            if error.code == _UNKNOWN_SETTING and "MODIFY SETTING" in sql:
                continue  # of a newer engine: this one is slower without
            if error.code not in OTHER_COLUMNS:
                raise
            how = f"{migration.version:04d}_{migration.name} finds other columns"
            raise _of_another_layout(store, how) from None


def _ledger(store: Store) -> dict[int, str]:
    """Checksums by version of what was applied."""
    try:
        result = store.query(
            f"SELECT version, argMax(checksum, applied_at)"
            f" FROM {quoted(store.database)}.schema_migration GROUP BY version"
        )
    except QueryError as error:
        if error.code in (_UNKNOWN_TABLE, _UNKNOWN_DATABASE):
            return {}
        if error.code in OTHER_COLUMNS:
            raise _of_another_layout(store, "schema_migration has other columns") from None
        raise
    return {int(version): str(checksum) for version, checksum in result.rows}


def _run(store: Store, sql: str) -> None:
    for attempt in range(6):
        try:  # without waiting for rows of before: on a full disk nothing would end that
            store.command(sql, None, {"mutations_sync": 0} if "ALTER TABLE" in sql else {})
            return
        except QueryError as error:
            if error.code not in _RACES or attempt == 5:
                raise
            time.sleep(0.1 * 2**attempt)


def _record(store: Store, applied: Sequence[Migration]) -> None:
    store.command(
        f"INSERT INTO {quoted(store.database)}.schema_migration"
        " (version, name, checksum, client_version)"
        " SELECT version, name, checksum, {client:String} FROM (SELECT 1)"
        " ARRAY JOIN {versions:Array(UInt32)} AS version, {names:Array(String)} AS name,"
        " {checksums:Array(String)} AS checksum",
        {
            "versions": [one.version for one in applied],
            "names": [one.name for one in applied],
            "checksums": [one.checksum for one in applied],
            "client": __version__,
        },
    )
