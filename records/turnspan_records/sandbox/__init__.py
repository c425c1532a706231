"""Queries that people write, which may read the records and nothing else, whoever asks.

Two layers. The engine runs them read-only and within limits that they cannot lift
(``turnspan_clickhouse.readers``); before that a guard reads the engine's own syntax tree of the
statement (``guard``), since ``readonly`` does not keep a query from reading and writing files. What
runs is not the text that was given but the one statement that the engine read in it, written by the
engine: a comment, a quote or a second statement cannot make the two differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.readers import ALLOWS_SETTINGS, Reader
from turnspan_clickhouse.stores import Result, Store
from turnspan_records.sandbox.grants import beyond_reading
from turnspan_records.sandbox.guard import FILES, WRITE, RefusedError, check, check_statement
from turnspan_records.sandbox.tree import parse

__all__ = ["FILES", "PAGE", "WRITE", "Limits", "RefusedError", "Sandbox"]

_SYNTAX_ERROR, _READONLY = 62, 164
_OUR_SCOPE = re.compile(
    r"[:\s]*(?:In scope|while executing) (?:SELECT|function) ?'?formatQuerySingleLine.*\Z",
    re.DOTALL,
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MANY = "Multi-statements"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may take; ``None`` is no limit but the engine's."""

    seconds: float | None = 300
    memory: int | None = None
    rows: int | None = None
    """Rows of an answer; it ends there, a little later where the engine works in blocks."""
    bytes: int | None = None
    threads: int | None = None

    def settings(self) -> dict[str, Any]:
        """The same as settings of ClickHouse."""
        limits = {
            "max_execution_time": self.seconds,
            "max_memory_usage": self.memory,
            "max_result_rows": self.rows,
            "max_result_bytes": self.bytes,
            "max_threads": self.threads,
        }
        given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
        if self.rows is not None or self.bytes is not None:
            given["result_overflow_mode"] = "break"
        return {**given, "http_max_tries": 1}


PAGE = Limits(seconds=10, memory=10**9, rows=10_001, bytes=20 * 10**6, threads=2)
"""For a page that many look at; the row beyond 10,000 tells that there are more."""


class Sandbox:
    """Runs queries on an open store. With ``files`` they may also read and write local files and
    read from the network, and change settings, but still not the store."""

    def __init__(self, store: Store, *, limits: Limits | None = None, files: bool = False) -> None:
        self._database = store.database
        self._files = files
        self._embedded = store.dsn.embedded
        settings = (limits or Limits()).settings()
        self._reader = Reader(store, settings, readonly=ALLOWS_SETTINGS if files else 1)

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Result:
        """Run one statement that reads. Values for ``{name:Type}`` travel as parameters.

        Raises:
            RefusedError: it would do more than read the records; it was not run.
            QueryError: the engine refused it.
            StoreError: as ``Store.query``.
        """
        statement = self._statement(sql)
        check_statement(statement)
        given = _bound(statement, parameters or {})
        try:
            tree = parse(self._reader.text(f"EXPLAIN AST {statement}", given))
        except QueryError as error:
            if error.code != _READONLY:
                raise
            raise RefusedError("SETTINGS cannot be changed here", FILES) from None
        except ValueError as error:
            raise RefusedError(f"The statement cannot be looked into ({error})") from None
        check(tree, statement, self._database, files=self._files)
        if self._files and tree.kind == "SelectWithUnionQuery" and len(tree.children) > 1:
            self._reader.text(statement, given)  # into a file, in a format of its own
            return Result((), (), [])
        return self._reader.query(statement, given)

    def warnings(self) -> list[str]:
        """What a user of a server may do beyond reading, in a sentence; empty for others."""
        return [] if self._embedded else beyond_reading(self._reader)

    def close(self) -> None:
        """Release what the sandbox opened; the store stays open."""
        self._reader.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _statement(self, sql: str) -> str:
        """The one statement in the text, as the engine writes it."""
        try:
            found = self._reader.query("SELECT formatQuerySingleLine({sql:String})", {"sql": sql})
        except QueryError as error:
            if error.code == _SYNTAX_ERROR and _MANY in str(error):
                raise RefusedError("Only one statement is run at a time", WRITE) from None
            raise QueryError(_OUR_SCOPE.sub("", str(error)), error.code) from None
        return str(found.rows[0][0])


def _bound(statement: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that the statement names: without a ``{name:Type}`` in it the driver would
    write their values into its text."""
    for name in parameters:
        if not _NAME.fullmatch(name):
            raise RefusedError(f"{name!r} is no name of a parameter")
    return {
        name: value
        for name, value in parameters.items()
        if re.search(rf"\{{{name}:[^}}]+\}}", statement)
    }
