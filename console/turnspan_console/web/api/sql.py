"""SQL of one's own, run in the sandbox: it reads the records and nothing else, within limits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from turnspan_clickhouse.store.client import Store
from turnspan_console.values import plain
from turnspan_console.web.endpoints import BadRequestError, Endpoint
from turnspan_records.diagnostics import diagnostics
from turnspan_records.sandbox import PAGE, RefusedError, Sandbox
from turnspan_records.screens.schema import TableOf, schema

SHOWN = 10_000


@dataclass(frozen=True, slots=True)
class SqlQuery:
    """A statement, with values for its ``{name:Type}``."""

    sql: str
    parameters: dict[str, str] = field(default_factory=dict[str, str])


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
class SchemaQuery:
    """Nothing more to say."""


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


def _run(store: Store, query: SqlQuery) -> SqlAnswer:
    if not query.sql.strip():
        raise BadRequestError("Write a statement first, such as SELECT count() FROM turn_summary.")
    begun = time.perf_counter()
    try:
        with Sandbox(store, limits=PAGE) as sandbox:
            result = sandbox.query(query.sql, query.parameters)
    except RefusedError as error:
        raise BadRequestError(str(error)) from None
    rows = [[plain(value) for value in row] for row in result.rows[:SHOWN]]
    took = (time.perf_counter() - begun) * 1_000
    return SqlAnswer(
        list(result.names), list(result.types), rows, len(result.rows) > SHOWN, round(took, 1)
    )


def _schema(store: Store, _query: SchemaQuery) -> SchemaAnswer:
    examples = [
        Example(one.name, one.title, one.question, one.sql) for one in diagnostics().values()
    ]
    return SchemaAnswer(schema(store), examples)


ENDPOINTS = (
    Endpoint("POST", "/api/sql", SqlQuery, SqlAnswer, _run, "Run one statement.", apart=True),
    Endpoint("GET", "/api/schema", SchemaQuery, SchemaAnswer, _schema, "Tables and examples."),
)
