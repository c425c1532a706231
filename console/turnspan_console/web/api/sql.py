"""SQL of one's own, run in the sandbox: it reads the records and nothing else, within limits; and
statements that were saved under a name, which the command line has as well."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.read_only import Cancellation
from turnspan_console.saved_texts import QUERIES, SavedTextError
from turnspan_console.values import plain
from turnspan_console.web.api.refusals import understood
from turnspan_console.web.endpoints import BadRequestError, DetailedError, NoQuery, endpoint
from turnspan_records.access.fields import copied
from turnspan_records.diagnostics import diagnostics
from turnspan_records.sandbox import PAGE, RefusedError, Sandbox, place_of
from turnspan_records.screens.schema import FunctionOf, TableOf, functions_of, schema

SHOWN = 10_000


@dataclass(frozen=True, slots=True)
class SqlQuery:
    """A statement, with values for its ``{name:Type}``; with ``plan`` it is not run, and how it
    would be is the answer."""

    sql: str
    parameters: dict[str, str] = field(default_factory=dict[str, str])
    plan: bool = False


@dataclass(frozen=True, slots=True)
class SqlAnswer:
    """What it gave."""

    columns: list[str]
    types: list[str]
    rows: list[list[Any]]
    more: bool
    """There are more rows than are shown."""
    milliseconds: float


@dataclass(frozen=True, slots=True)
class SqlProblem:
    """Where in the statement the thing is that was refused, counted in UTF-16 as JavaScript does,
    and what may have been meant."""

    start: int
    end: int
    instead: list[str]


@dataclass(frozen=True, slots=True)
class Example:
    """A question that comes with Turnspan."""

    name: str
    title: str
    question: str
    sql: str
    """With parameters: ``project``, ``since``, ``until`` and ``limit``."""


@dataclass(frozen=True, slots=True)
class SchemaAnswer:
    """What can be asked of."""

    tables: list[TableOf]
    examples: list[Example]


@dataclass(frozen=True, slots=True)
class FunctionsAnswer:
    """The functions that a statement may call."""

    functions: list[FunctionOf]


@endpoint("POST", "/api/sql", "Run one statement, or plan it.", apart=True, details=SqlProblem)
def _run(store: Store, query: SqlQuery, cancellation: Cancellation) -> SqlAnswer:
    if not query.sql.strip():
        raise BadRequestError("Write a statement first, such as SELECT count() FROM turn_summary.")
    begun = time.perf_counter()
    try:
        with Sandbox(store, limits=PAGE, cancellation=cancellation) as sandbox:
            ask = sandbox.plan if query.plan else sandbox.query
            result = ask(query.sql, query.parameters)
    except RefusedError as error:
        raise _placed(BadRequestError(f"{error}."), query.sql) from None
    except QueryError as error:
        raise _placed(error, query.sql) from None
    rows = [[plain(value) for value in row] for row in result.rows[:SHOWN]]
    took = (time.perf_counter() - begun) * 1_000
    return SqlAnswer(
        list(result.names), list(result.types), rows, len(result.rows) > SHOWN, round(took, 1)
    )


def _placed(error: Exception, sql: str) -> Exception:
    """The error with where it is, if it says."""
    place = place_of(sql, str(error))
    if place is None:
        return error
    start, end = (
        len(sql[:at].encode("utf-16-le", "surrogatepass")) // 2 for at in (place.start, place.end)
    )
    return DetailedError(error, SqlProblem(start, end, place.instead))


@endpoint("GET", "/api/schema", "Tables and examples.")
def _schema(store: Store, _query: NoQuery) -> SchemaAnswer:
    return SchemaAnswer(schema(store), [copied(Example, one) for one in diagnostics().values()])


@endpoint("GET", "/api/sql/functions", "What a statement may call.")
def _functions(store: Store, _query: NoQuery) -> FunctionsAnswer:
    return FunctionsAnswer(functions_of(store))


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
    with understood(SavedTextError):
        if new is not None:
            QUERIES.save(new.name, new.sql)
        return SavedSqlAnswer([SavedSql(name, sql) for name, sql in QUERIES.all().items()])
