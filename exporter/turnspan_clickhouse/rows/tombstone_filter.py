"""Sifting: a block without the rows of what was forgotten."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from turnspan.runtime.type_guards import is_dict
from turnspan_clickhouse.rows.native_reader import MalformedBlockError, UnknownTypeError
from turnspan_clickhouse.rows.native_rows import NativeBlock, NestedColumn
from turnspan_clickhouse.rows.owner_columns import (
    BELONGING,
    DEFINITION,
    JUDGED,
    JUDGED_KINDS,
    MESSAGE,
    PROJECT,
    SESSION,
    SPAN,
    TRACE,
    TURN,
    USER,
    OwnerKey,
    key_of,
)
from turnspan_clickhouse.rows.record import NO_HASH

Named = tuple[str, str, str]
"""A kind, a project and an id."""


class Tombstones:
    """What was forgotten, and until when: 24 bytes a tombstone.

    ``joined`` are the keys, sorted, ``untils`` the times (nanoseconds) in the same order; ``kinds``
    what kinds of things they are of.
    """

    def __init__(
        self, joined: bytes = b"", untils: Sequence[int] = (), kinds: Collection[str] = ()
    ) -> None:
        self._joined = joined
        self._untils = array("q", untils)
        self.kinds = frozenset(kinds)
        self._added: dict[bytes, int] = {}

    def __bool__(self) -> bool:
        return bool(self._untils) or bool(self._added)

    def add(self, named: Named, until: int) -> None:
        """One more."""
        key = key_of(*named)
        self.kinds |= {named[0]}
        self._added[key] = max(until, self._added.get(key, 0))

    def until(self, kind: str, project: str, id_: str) -> int:
        """The time until which something is forgotten; 0 where it is not."""
        if not id_ or kind not in self.kinds:
            return 0
        key = key_of(kind, project, id_)
        at = bisect_left(range(len(self._untils)), key, key=self._key)
        found = self._untils[at] if self._key(at) == key else 0
        return max(found, self._added.get(key, 0))

    def _key(self, at: int) -> bytes:
        return self._joined[16 * at : 16 * at + 16]

    def covers(self, table: str, row: Mapping[str, Any]) -> bool:
        """Whether a row, given by its columns' values (times in nanoseconds), was forgotten."""
        known = BELONGING.get(table)
        if known is None or not self:
            return False
        project, at = str(row.get("project", "")), max(int(row.get(known.time) or 0), 1)
        owners = [named_by(key, lambda name: row.get(name, "")) for key in known.keys]
        return any(
            self.until(kind, project, id_) >= at for kind, id_ in [(PROJECT, project), *owners]
        )


def named_by(key: OwnerKey, value: Callable[[str], Any]) -> tuple[str, str]:
    """The kind and the id that a row is found by; nothing where it has none.

    ``value`` gives the row's columns.
    """
    found = value(key.column)
    id_ = _entry(found, key.attribute) if key.attribute else str(found)
    if key.unclaimed and (value("session_id") or value("turn_id") not in ("", value("trace_id"))):
        return "", ""
    if key.kind == JUDGED:
        return JUDGED_KINDS.get(str(value("subject_kind")), SPAN), id_
    return key.kind, id_


def _entry(found: Any, name: str) -> str:
    """An entry of a map, which may be JSON; nothing where it has none."""
    if isinstance(found, str):
        if name not in found:
            return ""
        try:
            found = orjson.loads(found)
        except orjson.JSONDecodeError:
            return ""
    return str(found.get(name, "")) if is_dict(found) else ""


@dataclass(slots=True)
class Sifted:
    """What is left of a block, how many rows it lost, and what was found to belong to those: a
    segment may hold a session of a forgotten user that nobody had seen before."""

    block: bytes
    dropped: int = 0
    names: dict[Named, int] = field(default_factory=dict[Named, int])


def sift(table: str, block: bytes, tombstones: Tombstones) -> Sifted:
    """A table's block without the rows that were forgotten.

    One that cannot be read, as that of a newer Turnspan, stays as it is.
    """
    if table not in BELONGING or not tombstones:
        return Sifted(block)
    try:
        rows = _OwnedRows(table, NativeBlock(block), tombstones.kinds)
    except (MalformedBlockError, UnknownTypeError):
        return Sifted(block)
    sifted = Sifted(block)
    dropped = {row for row in range(rows.block.rows) if rows.look(row, tombstones, sifted.names)}
    if dropped:
        sifted.dropped = len(dropped)
        sifted.block = rows.block.without(dropped)
    return sifted


_PLACE = ("project", "session_id", "turn_id", "trace_id", "span_id", "subject_kind", "scope")


class _OwnedRows:
    """A block's rows, as far as it takes to tell whose they are."""

    def __init__(self, table: str, block: NativeBlock, kinds: Collection[str]) -> None:
        self.block = block
        self._known = BELONGING[table]
        names = {key.column for key in self._known.keys if not key.attribute}
        self._texts = {name: block.texts(name) for name in {*names, *_PLACE}}
        self._times = block.numbers(self._known.time)
        self._attributes: dict[OwnerKey, list[str]] = {}
        for key in self._known.keys:
            column = block.columns.get(key.column)
            if not key.attribute or USER not in kinds:
                continue
            if isinstance(column, NestedColumn):
                self._attributes[key] = column.texts_of(key.attribute)
            else:
                texts = block.texts(key.column)
                self._attributes[key] = [_entry(text, key.attribute) for text in texts]

    def look(self, row: int, tombstones: Tombstones, found: dict[Named, int]) -> bool:
        """Whether a row was forgotten; what it tells of others is added to ``found``."""
        project, at = self._texts["project"][row], max(self._times[row], 1)
        until = tombstones.until(PROJECT, project, project)
        if until >= at:
            return True
        for key in self._known.keys:
            kind, id_ = self._named(key, row)
            until = tombstones.until(kind, project, id_) if kind else 0
            if until >= at:
                self._tell(row, project, kind, until, found)
                return True
        return False

    def _named(self, key: OwnerKey, row: int) -> tuple[str, str]:
        if key.attribute:
            texts = self._attributes.get(key)
            return (key.kind, texts[row]) if texts else ("", "")
        return named_by(key, lambda name: self._texts[name][row])

    def _tell(self, row: int, project: str, kind: str, until: int, found: dict[Named, int]) -> None:
        texts = self._texts
        if kind == USER:
            for of, name in ((SESSION, "session_id"), (TURN, "turn_id"), (TRACE, "trace_id")):
                if texts[name][row]:
                    found[of, project, texts[name][row]] = until
        if texts["span_id"][row]:
            found[SPAN, project, texts["span_id"][row]] = until
        for name in self._known.definitions:
            column = self.block.columns.get(name)
            if column is not None and column.cell(row) != NO_HASH:
                found[DEFINITION, project, column.cell(row).hex()] = until
        scope = texts["session_id"][row] or texts["trace_id"][row]
        for name in self._known.messages:
            column = self.block.columns.get(name)
            if isinstance(column, NestedColumn):
                for hash_ in column.array(row):
                    found[MESSAGE, project, f"{scope}\0{hash_.hex()}"] = until
