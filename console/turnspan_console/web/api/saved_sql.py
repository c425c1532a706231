"""Statements that were saved under a name, which the command line has as well."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_console.saved_queries import SavedQueryError, save_query, saved_queries
from turnspan_console.web.endpoints import BadRequestError, Endpoint, NoQuery


@dataclass(frozen=True, slots=True)
class SavedSql:
    """A statement with its name."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class SavedSqlAnswer:
    """All of them, in the order of their names."""

    queries: list[SavedSql]


def _saved(_store: Store, _query: NoQuery) -> SavedSqlAnswer:
    try:
        return SavedSqlAnswer([SavedSql(name, sql) for name, sql in saved_queries().items()])
    except SavedQueryError as error:
        raise BadRequestError(str(error)) from None


def _save(store: Store, query: SavedSql) -> SavedSqlAnswer:
    try:
        save_query(query.name, query.sql)
    except SavedQueryError as error:
        raise BadRequestError(str(error)) from None
    return _saved(store, NoQuery())


ENDPOINTS = (
    Endpoint(
        *("GET", "/api/sql/saved", NoQuery, SavedSqlAnswer, _saved),
        "The statements that were saved.",
    ),
    Endpoint(
        *("POST", "/api/sql/save", SavedSql, SavedSqlAnswer, _save),
        "Save a statement under a name.",
    ),
)
