"""Whose rows are, in SQL: conditions on a table by the keys of what goes (owner_columns.py).

Keys are hashes, and so is what stands in the statements: neither a mutation's text nor a table of
work holds an id.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
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
_JUDGED: Final = tuple(sorted({*JUDGED_KINDS.values()}))
_WHOLE: Final = OwnerKey(PROJECT, "project")


@dataclass(frozen=True, slots=True)
class OwnerKeys:
    """Keys of one forgetting, or of several that reach to the same time.

    ``query`` gives a query of those of some kinds (named in it, they are words of ours), ``kinds``
    says which there are, ``until`` the time, in nanoseconds.
    """

    query: Callable[[Collection[str]], str]
    kinds: frozenset[str]
    until: int


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
            f"SELECT key FROM {work.tables.work} WHERE pass = '{work.name}'"
            f" AND record IN ({kinds_sql(wanted, UNIT)})"
        )

    return OwnerKeys(query, kinds, until)


def of_tombstones(store: Store, asked: bytes | None = None) -> list[OwnerKeys]:
    """The keys of what was forgotten, by the time until which: all of it, or what was forgotten
    with this key. What was cut short before all its tombstones were written counts as not asked.
    """
    table = Tables(store).everywhere(Tombstone)
    mine = "" if asked is None else f" AND hex(key) = '{asked.hex().upper()}'"
    where = statement("keeping/of_forgettings", table=table, mine=mine)
    sql = statement("keeping/kinds_by_time", table=table, where=where)
    found = store.query(sql, settings={"final": 0}).rows
    return [_until(table, where, int(time), frozenset(map(str, kinds))) for time, kinds in found]


def _until(table: str, where: str, until: int, kinds: frozenset[str]) -> OwnerKeys:
    def query(wanted: Collection[str]) -> str:
        return (
            f"SELECT key FROM {table} WHERE {where} AND kind IN ({kinds_sql(wanted)})"
            f" AND toUnixTimestamp64Nano(until) = {until}"
        )

    return OwnerKeys(query, kinds, until)


def belongs(record: type[Record], keys: OwnerKeys, *, kinds: Collection[str] | None = None) -> str:
    """A condition on a table's rows: that they belong to one of these keys, and began in time.

    ``kinds``: by keys of these kinds only.
    """
    known = BELONGING[record.table]
    wanted = keys.kinds if kinds is None else keys.kinds & frozenset(kinds)
    by = [one for key in (_WHOLE, *known.keys) if (one := _by(key, keys, wanted))]
    if not by:
        return "0"
    return f"({early(record, keys.until)} AND ({' OR '.join(by)}))"


def early(record: type[Record], until: int) -> str:
    """A condition: that what a row records began until then (nanoseconds)."""
    return f"{BELONGING[record.table].time} <= fromUnixTimestamp64Nano({until:d}, 'UTC')"


def _by(key: OwnerKey, keys: OwnerKeys, wanted: frozenset[str]) -> str:
    if key.kind == JUDGED:
        kinds = wanted & frozenset(_JUDGED)
        names = [*JUDGED_KINDS]
        named = (
            f"transform(toString(subject_kind), {names}, {[JUDGED_KINDS[n] for n in names]},"
            f" '{SPAN}')"
        )
    else:
        kinds = wanted & {key.kind}
        named = f"'{key.kind}'"
    if not kinds:
        return ""
    id_ = id_sql(key)
    unclaimed = "session_id = '' AND turn_id IN ('', trace_id) AND " if key.unclaimed else ""
    return f"({unclaimed}{id_} != '' AND {key_sql(named, id_)} GLOBAL IN ({keys.query(kinds)}))"


def id_sql(key: OwnerKey) -> str:
    """The id that a row has by a key, in SQL."""
    if not key.attribute:
        return f"toString({key.column})"
    if key.column == "attributes":
        return f"attributes['{key.attribute}']"
    return f"JSONExtractString({key.column}, '{key.attribute}')"
