"""Whose rows are, in SQL: the rows of tables that belong to the keys of what goes
(owner_columns.py).

Keys are hashes, and so is what stands in the statements: neither a mutation's text nor a table of
work holds an id. A statement names the keys once, however many tables it reads: the engine takes
longer to read a condition of five subqueries a table than to run it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from turnspan_clickhouse.rows.keeping_tables import Tombstone
from turnspan_clickhouse.rows.owner_columns import (
    BELONGING,
    JUDGED,
    JUDGED_KINDS,
    PROJECT,
    SPAN,
    OwnerKey,
    key_sql,
)
from turnspan_clickhouse.rows.record import Record
from turnspan_clickhouse.store.client import Store
from turnspan_records.keeping.keys import Tables
from turnspan_records.keeping.work import Work
from turnspan_records.sql import statement

UNIT: Final = "key:"
"""What begins the name of the units of a pass that are keys; the rest is their kind."""
ONE_KEY: Final = key_sql("one.1", "one.2")
"""The key of a pair ``one`` of a kind and an id, in SQL."""
_JUDGED: Final = frozenset(JUDGED_KINDS.values())
_WHOLE: Final = OwnerKey(PROJECT, "project")


@dataclass(frozen=True, slots=True)
class OwnerKeys:
    """Keys of one forgetting, or of several.

    ``query`` gives a query of those of some kinds (named in it, they are words of ours): a ``key``
    once, and the ``last`` time at which what belongs to it began. ``kinds`` says which there are,
    ``until`` the last time of all, in nanoseconds; ``cluster`` whether the store is one.
    """

    query: Callable[[Collection[str]], str]
    kinds: frozenset[str]
    until: int
    cluster: bool

    def only(self, kinds: Collection[str]) -> str:
        """A query of the keys of some kinds, without their times."""
        return f"SELECT key FROM ({self.query(kinds)})"


def kinds_sql(kinds: Collection[str], prefix: str = "") -> str:
    """Kinds as a list in SQL; they are words of ours."""
    return ", ".join(f"'{prefix}{kind}'" for kind in sorted(kinds))


def of_pass(work: Work, until: int) -> OwnerKeys:
    """The keys that a pass has gathered."""
    sql = statement("keeping/kinds_of_pass", work=work.tables.work)
    found = work.store.query(sql, {"pass": work.name, "unit": UNIT}, {"final": 0}).rows
    kinds = frozenset(str(row[0]).removeprefix(UNIT) for row in found)

    def query(wanted: Collection[str]) -> str:
        return (
            f"SELECT DISTINCT key, {moment(until)} AS last FROM {work.tables.work}"
            f" WHERE pass = '{work.name}' AND record IN ({kinds_sql(wanted, UNIT)})"
        )

    return OwnerKeys(query, kinds, until, bool(work.store.dsn.cluster))


def of_tombstones(store: Store, asked: bytes | None = None) -> OwnerKeys:
    """The keys of what was forgotten: all of it, or what was forgotten with this key. What was cut
    short before all its tombstones were written counts as not asked."""
    table = Tables(store).everywhere(Tombstone)
    mine = "" if asked is None else f" AND hex(key) = '{asked.hex().upper()}'"
    where = statement("keeping/of_forgettings", table=table, mine=mine)
    sql = statement("keeping/kinds_and_time", table=table, where=where)
    kinds, until = store.query(sql, settings={"final": 0}).rows[0]

    def query(wanted: Collection[str]) -> str:
        return (
            f"SELECT key, max(until) AS last FROM {table}"
            f" WHERE {where} AND kind IN ({kinds_sql(wanted)}) GROUP BY key"
        )

    return OwnerKeys(query, frozenset(map(str, kinds)), int(until), bool(store.dsn.cluster))


def owned(
    keys: OwnerKeys,
    values: Mapping[type[Record], str],
    table: Callable[[type[Record]], str],
    kinds: Collection[str] | None = None,
) -> str:
    """A ``FROM`` clause: rows of tables that belong to one of these keys and began in its time,
    with ``record``, ``project`` and the ``value`` of an expression; once for each of its keys.
    Empty where no row can belong to any.

    ``table`` names the table of a record. ``kinds``: by keys of these kinds only.
    """
    wanted = keys.kinds if kinds is None else keys.kinds & frozenset(kinds)
    found = {record: one for record, one in values.items() if owners(record, wanted)}
    if not found:
        return ""
    ours = f"arrayExists(one -> {ONE_KEY} GLOBAL IN ({keys.only(wanted)}), owners)"
    # On a cluster where the rows lie, else its nodes send all of them; elsewhere once for all
    # tables, since each place has a set of the keys in memory.
    lying, joined = (ours, "1") if keys.cluster else ("1", ours)
    return statement(
        "keeping/_owned",
        rows=placed(found, wanted, table, lying),
        ours=joined,
        one_key=ONE_KEY,
        keys=keys.query(wanted),
    )


def placed(
    values: Mapping[type[Record], str],
    kinds: Collection[str],
    table: Callable[[type[Record]], str],
    where: str = "1",
) -> str:
    """A query of the rows of tables that fulfil a condition: ``record``, ``project``, when what it
    records ``began``, the ``value`` of an expression, and its ``owners`` of some kinds, as pairs of
    a kind and an id."""
    return " UNION ALL ".join(
        f"SELECT '{record.table}' AS record, project, {BELONGING[record.table].time} AS began,"
        f" {value} AS value, [{', '.join(owners(record, kinds))}] AS owners FROM {table(record)}"
        f" WHERE {where}"
        for record, value in values.items()
    )


def owners(record: type[Record], kinds: Collection[str]) -> list[str]:
    """Whose a table's rows may be, by kinds: pairs of a kind and an id, in SQL."""
    found: list[str] = []
    for key in (_WHOLE, *BELONGING[record.table].keys):
        if key.kind == JUDGED and _JUDGED & frozenset(kinds):
            names = [*JUDGED_KINDS]
            kind_of = [JUDGED_KINDS[name] for name in names]
            found.append(
                f"(transform(toString(subject_kind), {names}, {kind_of}, '{SPAN}'), {id_sql(key)})"
            )
        elif key.kind in kinds:
            unclaimed = "session_id = '' AND turn_id IN ('', trace_id)"
            id_ = f"if({unclaimed}, {id_sql(key)}, '')" if key.unclaimed else id_sql(key)
            found.append(f"('{key.kind}', {id_})")
    return found


def moment(nanoseconds: int) -> str:
    """A time, in SQL."""
    return f"fromUnixTimestamp64Nano({nanoseconds:d}, 'UTC')"


def id_sql(key: OwnerKey) -> str:
    """The id that a row has by a key, in SQL."""
    if not key.attribute:
        return f"toString({key.column})"
    if key.column == "attributes":
        return f"attributes['{key.attribute}']"
    return f"JSONExtractString({key.column}, '{key.attribute}')"
