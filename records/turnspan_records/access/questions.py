"""Asking a store one of the questions in ``turnspan_records.sql``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access.shown_sql import shown_sql
from turnspan_records.sql import statement


def ask(
    store: Store, name: str, settings: Mapping[str, Any] | None = None, /, **parameters: object
) -> Result:
    """What a store answers to the question of this name. Raises as ``Store.query``."""
    return store.query(statement(name), parameters, settings)


def ask_row(store: Store, name: str, key: str, /, **parameters: object) -> dict[str, Any]:
    """The first row of an answer.

    Raises:
        KeyError: there is none; ``key`` is the record that was asked for.
        StoreError: as ``Store.query``.
    """
    rows = ask(store, name, **parameters).dicts()
    if not rows:
        raise KeyError(key)
    return rows[0]


def shown(name: str, /, **parameters: object) -> str:
    """The SQL of a question, for a person to read and run."""
    return shown_sql(statement(name), parameters)
