"""Migrations: idempotent, resumable, safe side by side, and the same columns as the records."""

from __future__ import annotations

import pytest

from turnspan_clickhouse.dsn import Dsn
from turnspan_clickhouse.migrate import (
    SCHEMA_VERSION,
    current_version,
    migrate,
    migrations,
    pending,
)
from turnspan_clickhouse.records import RECORDS, Record, columns
from turnspan_clickhouse.stores import Store, open_store


def test_a_fresh_store_is_brought_to_the_code_s_version_once(store_dsn: Dsn) -> None:
    """Every file is applied once, in order; a second run does nothing."""
    with open_store(store_dsn) as store:
        assert current_version(store) == 0
        applied = migrate(store)
        assert [one.version for one in applied] == [one.version for one in migrations()]
        assert current_version(store) == SCHEMA_VERSION
        assert pending(store) == []
        assert migrate(store) == []


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.table)
def test_the_table_has_the_record_s_columns(store: Store, record: type[Record]) -> None:
    """Names, order and types (``LowCardinality`` aside) of DDL and record class agree."""
    result = store.query(
        "SELECT name, type FROM system.columns"
        " WHERE database = {database:String} AND table = {table:String}"
        " AND default_kind NOT IN ('ALIAS', 'MATERIALIZED') ORDER BY position",
        {"database": store.database, "table": record.table},
    )
    found = [(name, _plain(kind)) for name, kind in result.rows]
    assert found == [(name, kind.replace(" ", "")) for name, kind in columns(record)]


def _plain(kind: str) -> str:
    while "LowCardinality(" in kind:
        before, _, rest = kind.partition("LowCardinality(")
        inner, _, after = rest.partition(")")
        kind = before + inner + after
    return kind.replace(" ", "")
