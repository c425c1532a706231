"""Put records into a store the way the exporter does: encoded, with a token."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.store.client import Store


def insert(store: Store, *rows: Record, token: str = "") -> None:
    """Insert records of any classes, one block a class."""
    for record_class, group in by_class(rows).items():
        block = encode_block(record_class, group)
        store.insert_native(record_class.table, block, token=token or f"test-{uuid.uuid4().hex}")


def by_class(rows: Iterable[Record]) -> dict[type[Record], list[Record]]:
    """The rows grouped by their class, in order of appearance."""
    groups: dict[type[Record], list[Record]] = {}
    for row in rows:
        groups.setdefault(type(row), []).append(row)
    return groups
