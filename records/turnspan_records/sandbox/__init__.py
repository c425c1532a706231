"""Queries that people write, which may read the records and nothing else, whoever asks.

Two layers. The engine runs them read-only and within limits that they cannot lift
(``turnspan_clickhouse.store.read_only``); before that a guard reads the engine's own syntax tree
of the statement (``guard``), since ``readonly`` does not keep a query from reading and writing
files. What runs is not the text that was given but the one statement that the engine read in it,
written by the engine: a comment, a quote or a second statement cannot make the two differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnspan_clickhouse.errors import READONLY, QueryError
from turnspan_clickhouse.store.client import Result, Store
from turnspan_clickhouse.store.read_only import ALLOWS_SETTINGS, Cancellation, ReadOnlyStore
from turnspan_records.sandbox.guard import FILES as FILES
from turnspan_records.sandbox.guard import WRITE as WRITE
from turnspan_records.sandbox.guard import RefusedError as RefusedError
from turnspan_records.sandbox.guard import check, check_statement, sets_final
from turnspan_records.sandbox.places import StatementPart as StatementPart
from turnspan_records.sandbox.places import place_of as place_of
from turnspan_records.sandbox.tree import parse

_SYNTAX_ERROR = 62
_OUR_SCOPE = re.compile(
    r"[:\s]*(?:In scope|while executing) (?:SELECT|function) ?'?formatQuerySingleLine.*\Z",
    re.DOTALL,
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HAS_PLAN = re.compile(r"\(*(SELECT|WITH)\b")
_MANY = "Multi-statements"
_GRANT = re.compile(r"GRANT (.+?)(?: ON .+?)? TO ", re.DOTALL)
_COLUMNS = re.compile(r"\([^()]*\)")
_READS = re.compile(r"SELECT|SHOW(?: [A-Z ]+)?|USAGE")
_WORST = frozenset({"INSERT", "ALTER", "DROP", "CREATE", "ALL"})
_TOLD = 4
_WRITTEN = "SELECT formatQuerySingleLine({sql:String})"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one query. ``None`` leaves the engine's limit."""

    seconds: float | None = 300
    memory: int | None = None
    rows: int | None = None
    """Rows of an answer; it ends there, a little later where the engine works in blocks."""
    bytes: int | None = None
    threads: int | None = None

    def settings(self) -> dict[str, Any]:
        """The limits as ClickHouse settings."""
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
    """Runs queries on an open store. With ``files``, they may also read and write local files, read
    from the network and change settings, but never the store. ``cancellation`` lets another thread
    stop them."""

    def __init__(
        self,
        store: Store,
        *,
        limits: Limits | None = None,
        files: bool = False,
        cancellation: Cancellation | None = None,
    ) -> None:
        self._store = store
        self._files = files
        self._cancellation = cancellation or Cancellation()
        self._settings = (limits or Limits()).settings()
        self._readers: dict[int, ReadOnlyStore] = {}

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Result:
        """Run one reading statement. Values for ``{name:Type}`` travel as parameters.

        Raises:
            RefusedError: it would do more than read records; it was not run.
            QueryError: the engine refused it.
            StoreError: as ``Store.query``.
        """
        return self._run(self._statement(sql), parameters)

    def plan(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Result:
        """How the engine would run a SELECT: a line a row, with the parts and granules that its
        indexes leave. Of the statement nothing runs but scalar subqueries, which a plan needs.

        Raises as ``query``.
        """
        statement = self._statement(sql)
        if not _HAS_PLAN.match(statement):
            raise RefusedError("Only a SELECT has a plan")
        return self._run(f"EXPLAIN indexes = 1 {statement}", parameters)

    def _run(self, statement: str, parameters: Mapping[str, Any] | None) -> Result:
        check_statement(statement)
        given = _bound(statement, parameters or {})
        # readonly=1 refuses every setting: `final` costs the engine's half of what keeps table
        # functions out, the guard's holds.
        reader = self._reader(ALLOWS_SETTINGS if self._files or sets_final(statement) else 1)
        try:
            tree = parse(reader.text(f"EXPLAIN AST {statement}", given))
        except QueryError as error:
            if error.code != READONLY:
                raise
            raise RefusedError("SETTINGS cannot be changed here", FILES) from None
        except ValueError as error:
            raise RefusedError(f"The statement cannot be looked into ({error})") from None
        check(tree, statement, self._store.database, files=self._files)
        if self._files and tree.kind == "SelectWithUnionQuery" and len(tree.children) > 1:
            reader.text(statement, given)  # into a file, in a format of its own
            return Result((), (), [])
        return reader.query(statement, given)

    def warnings(self) -> list[str]:
        """What this user of a server may do beyond reading, in one sentence; empty for others."""
        return [] if self._store.dsn.embedded else _beyond_reading(self._reader(1))

    def close(self) -> None:
        """Close what the sandbox opened. The store stays open."""
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _reader(self, readonly: int) -> ReadOnlyStore:
        if readonly not in self._readers:
            self._readers[readonly] = ReadOnlyStore(
                self._store, self._settings, readonly=readonly, cancellation=self._cancellation
            )
        return self._readers[readonly]

    def _statement(self, sql: str) -> str:
        """The one statement in the text, as the engine writes it."""
        try:
            found = self._reader(1).query(_WRITTEN, {"sql": sql})
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


def _beyond_reading(reader: ReadOnlyStore) -> list[str]:
    """A sentence on the grants that a reader does not need; empty where there are none."""
    try:
        rows = reader.query("SHOW GRANTS FINAL").rows
    except QueryError:  # older servers have no FINAL
        rows = reader.query("SHOW GRANTS").rows
    more: dict[str, None] = {}
    for row in rows:
        granted = _GRANT.match(str(row[0]))
        for right in _COLUMNS.sub("", granted[1] if granted else "").split(","):
            if right.strip() and not _READS.fullmatch(right.strip()):
                more[right.strip()] = None
    if not more:
        return []
    worst = sorted(more, key=lambda right: right not in _WORST)
    told = ", ".join(worst[:_TOLD]) + (", ..." if len(more) > _TOLD else "")
    return [
        f"The store's user may do more than read ({told}): queries are kept from it, and a user "
        "with nothing but SELECT (turnspan_reader in deploy/) would be kept from it by the server."
    ]
