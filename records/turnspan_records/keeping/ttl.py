"""Times to live: rows that the engine itself deletes, in the days that a policy says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from turnspan_clickhouse.rows.owner_columns import BELONGING
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_records.access.questions import ask
from turnspan_records.keeping.keys import Tables
from turnspan_records.keeping.lines import BY_TABLE

_TTL: Final = re.compile(r" TTL (.*?)(?: SETTINGS |$)", re.DOTALL)
_MOVES: Final = re.compile(r" TO (?:VOLUME|DISK) ")


@dataclass(frozen=True, slots=True)
class TtlChange:
    """A time to live that is other than the policy says, in days; 0 is none."""

    table: str
    days: int
    before: str
    moves: tuple[str, ...]
    """What the table has of rules by which parts move to another disk: they stay."""


def changes(store: Store, wanted: Mapping[str, int]) -> Iterator[TtlChange]:
    """The tables whose time to live is not the wanted one.

    Raises ``StoreError`` as ``Store.query``.
    """
    now = times_to_live(store, list(wanted))
    for table, days in wanted.items():
        before = now[table]
        rules = _split(before)
        moves = tuple(rule for rule in rules if _MOVES.search(rule))
        deletes = [rule for rule in rules if rule not in moves]
        if [_plain(rule) for rule in deletes] != ([_plain(_rule(table, days))] if days else []):
            yield TtlChange(table, days, before, moves)


def times_to_live(store: Store, tables: Sequence[str]) -> dict[str, str]:
    """The rules that tables have, as the engine writes them; empty where a table has none.

    Raises ``StoreError`` as ``Store.query``.
    """
    changed = Tables(store).changed
    names = {changed(BY_TABLE[table]).rpartition(".")[2]: table for table in tables}
    rows = ask(store, "keeping/engines", database=store.database, names=list(names)).rows
    engines = {names[str(name)]: str(engine) for name, engine in rows}
    found = {table: _TTL.search(engines.get(table, "")) for table in tables}
    return {table: rule[1] if rule else "" for table, rule in found.items()}


def put(store: Store, change: TtlChange) -> None:
    """Give a table its time to live. Rows that are past it go when their part is merged.

    Raises ``StoreError`` as ``Store.query``.
    """
    for sql in statements(store, change):
        store.command(sql)


def statements(store: Store | Dsn, change: TtlChange) -> list[str]:
    """What changes a table's time to live."""
    tables = Tables(store)
    table = f"{tables.changed(BY_TABLE[change.table])}{tables.on_cluster}"
    rules = [*change.moves]
    if change.days:
        rules.append(_rule(change.table, change.days))
    if not rules:
        return [f"ALTER TABLE {table} REMOVE TTL"]
    return [f"ALTER TABLE {table} MODIFY TTL {', '.join(rules)}"]


def _rule(table: str, days: int) -> str:
    return f"toDateTime({BELONGING[table].time}) + toIntervalDay({days})"


def _plain(rule: str) -> str:
    return re.sub(r"\s+DELETE$", "", rule.strip())


def _split(rules: str) -> list[str]:
    """The rules between the commas that stand in no parentheses."""
    found, depth, start = list[str](), 0, 0
    for at, character in enumerate(rules):
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            found.append(rules[start:at].strip())
            start = at + 1
    rest = rules[start:].strip()
    return [*found, rest] if rest else found
