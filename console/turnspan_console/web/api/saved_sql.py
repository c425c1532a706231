"""Statements that were saved under a name, which the command line has as well."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_console.saved_queries import SavedQueryError, save_query, saved_queries
from turnspan_console.web.api.refusals import understood
from turnspan_console.web.endpoints import NoQuery, endpoint


@dataclass(frozen=True, slots=True)
class SavedSql:
    """A statement with its name."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class SavedSqlAnswer:
    """All of them, in the order of their names."""

    queries: list[SavedSql]


@endpoint("GET", "/api/sql/saved", "The statements that were saved.")
def _saved(_store: Store, _query: NoQuery) -> SavedSqlAnswer:
    return _answer()


@endpoint("POST", "/api/sql/save", "Save a statement under a name.")
def _save(_store: Store, query: SavedSql) -> SavedSqlAnswer:
    return _answer(query)


def _answer(new: SavedSql | None = None) -> SavedSqlAnswer:
    """All that is saved, with one that is new."""
    with understood(SavedQueryError):
        if new is not None:
            save_query(new.name, new.sql)
        return SavedSqlAnswer([SavedSql(name, sql) for name, sql in saved_queries().items()])
