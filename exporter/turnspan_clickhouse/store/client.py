"""Stores: one small interface over the embedded engine and a ClickHouse server.

A store is opened by whoever reads or ships, never by the application that records (which only
writes spool segments): chDB allows one process per folder and hangs after a fork.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnspan.runtime.forks import ForkSafeLock
from turnspan_clickhouse.rows.native_reader import shape
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.server_answers import (
    require_inserted,
    require_no_exception,
    require_rows,
    thread,
    translated_errors,
)
from turnspan_clickhouse.store.zstd import compressed

READ_SETTINGS: Mapping[str, Any] = {
    # Every record once, in its newest state, before any merge: nobody has to write FINAL.
    "final": 1,
    "do_not_merge_across_partitions_select_final": 1,
    # Conditions on the sorting key (only those, under FINAL) are tested before the other columns
    # are read: a session out of a million calls costs a tenth.
    "optimize_move_to_prewhere_if_final": 1,
}
_IF_KNOWN: Mapping[str, Any] = {
    # The views' joins look up the sessions they found in the primary index (since ClickHouse 26).
    "enable_join_runtime_filters_index_analysis": 1,
    # The text indexes are asked for words of three letters, too; the default is four.
    "text_index_like_min_pattern_length": 3,
    # What nobody waits for any more (Ctrl-C, a closed terminal, a lost connection) ends. ClickHouse
    # heeds it for statements with `readonly` only.
    "cancel_http_readonly_queries_on_client_close": 1,
}
_EMBEDDED_SETTINGS: Mapping[str, Any] = {
    # The engine compiles what it is asked for the third time, 60 ms a question. At a million calls
    # all diagnostics took as long either way, within what two runs differ.
    "compile_expressions": 0,
    "compile_aggregate_expressions": 0,
}

CLUSTER_SETTINGS: Mapping[str, Any] = {
    # A subquery over a Distributed table is answered once and sent to the shards; the default
    # refuses it, and `local` would miss what lies on another shard (definitions do).
    "distributed_product_mode": "global",
    # An insert has succeeded when every shard has its rows, not when they are queued.
    "distributed_foreground_insert": 1,
}


importing = ForkSafeLock()


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a query: ``rows[i][j]`` is the value of ``names[j]`` in row i."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: Sequence[Sequence[Any]]

    def dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries, by column name."""
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]

    def _repr_html_(self) -> str:
        """What a notebook shows: a table of text that does nothing."""
        # Only notebooks ask.
        from turnspan_clickhouse.store.html_text import table

        return table(self.names, self.rows, len(self.rows))


class Store:
    """An open store. Values travel as parameters: ``{name:Type}`` in the SQL."""

    def __init__(self, dsn: Dsn, client: Any, pool: Any = None) -> None:
        self.dsn = dsn
        self._client = client
        self._pool = pool
        known = client.server_settings
        self._optional = {
            name: value
            for name, value in _IF_KNOWN.items()
            if name in known and not known[name].readonly
        }
        # The engine's session would keep it, and a user may have one of their own.
        own = known.get("readonly")
        free = not dsn.embedded and own is not None and not own.readonly and int(own.value) == 0
        self._reading = _EMBEDDED_SETTINGS if dsn.embedded else {"readonly": 2} if free else {}

    @property
    def database(self) -> str:
        """The database that holds the records."""
        return self.dsn.database

    @property
    def client(self) -> Any:
        """clickhouse-connect's client, for what this class lacks."""
        return self._client

    @contextlib.contextmanager
    def held(self) -> Generator[Any]:
        """The client, for several calls in a row. An embedded store is lent to no other process
        until the block ends."""
        yield self._client

    @property
    def read_settings(self) -> Mapping[str, Any]:
        """The settings of every reading statement (docs/schema.md gives the reasons)."""
        return {**READ_SETTINGS, **self._optional, **self._of_cluster}

    @property
    def _of_cluster(self) -> Mapping[str, Any]:
        return CLUSTER_SETTINGS if self.dsn.cluster else {}

    def query(
        self,
        sql: str,
        parameters: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Result:
        """Run a reading statement. It sees each record once, in its newest state.

        Raises:
            QueryError: the engine refused it.
            StoreUnavailableError: the server did not answer.
        """
        merged = {**self.read_settings, **self._reading, **(settings or {})}
        with self.held() as client, translated_errors(self.dsn):
            result = client.query(sql, parameters=dict(parameters or {}), settings=merged)
            require_rows(self.dsn, len(result.result_rows))
        types = tuple(t.name for t in result.column_types)
        return Result(tuple(result.column_names), types, result.result_rows)

    def command(
        self,
        sql: str,
        parameters: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Run a statement that returns nothing (DDL, INSERT ... SELECT).

        Raises as ``query``; ``StoreUnavailableError`` for DDL on an embedded store whose disk is
        full."""
        with self.held() as client, self._running(sql), translated_errors(self.dsn):
            client.command(
                sql,
                parameters=dict(parameters or {}),
                settings={**self._of_cluster, **(settings or {})},
            )
        require_no_exception(self.dsn)

    def _running(self, sql: str) -> contextlib.AbstractContextManager[None]:
        """What is to be seen to around a statement."""
        return contextlib.nullcontext()

    def insert_native(self, table: str, block: bytes, token: str) -> None:
        """Insert a ClickHouse Native stream. A second call with the same token adds nothing."""
        settings = {
            "insert_deduplication_token": token,
            "insert_deduplicate": 1,
            "async_insert": 0,
            # Written only when it has been read to the end, so that a refusal refuses all of it.
            "min_insert_block_size_rows": 0,
            "min_insert_block_size_bytes": 256 * 2**20,
            # The tables are partitioned by week: a backfill may span years in one block.
            "max_partitions_per_insert_block": 1_000,
            # A column the store lacks means an older schema: refused, so that nothing is lost.
            "input_format_skip_unknown_fields": 0,
            **self._of_cluster,
        }
        content, encoding = (block, None) if self.dsn.embedded else compressed(block)
        with self.held() as client, translated_errors(self.dsn):
            client.raw_insert(
                f"{quoted(self.database)}.{quoted(table)}",
                insert_block=content,
                fmt="Native",
                settings=settings,
                compression=encoding,
            )
        require_inserted(self.dsn, shape(block[:20])[1])

    def create_database(self, name: str = "") -> None:
        """Create the store's database, or the named one, if it is missing."""
        name = name or self.database
        replicated = self.dsn.cluster and self.dsn.replicated
        on_cluster = f" ON CLUSTER {quoted(self.dsn.cluster)}" if replicated else ""
        with self.held() as client, translated_errors(self.dsn):
            # Asked first: a user without the right to create databases may migrate a given one.
            found = client.command(
                "SELECT count() FROM system.databases WHERE name = {name:String}",
                parameters={"name": name},
                use_database=False,
            )
            if not int(found):
                client.command(
                    f"CREATE DATABASE IF NOT EXISTS {quoted(name)}{on_cluster}",
                    use_database=False,
                )

    def server_version(self) -> str:
        """The version of the engine."""
        with self.held() as client:
            return str(client.server_version)

    def close(self) -> None:
        """Release the store."""
        self._client.close()
        if self._pool is not None:
            close_pool(self._pool)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def quoted(identifier: str) -> str:
    """An identifier as SQL: bare where it is a plain word, else in backticks."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", identifier):
        return identifier
    return "`" + identifier.replace("\\", "\\\\").replace("`", "\\`") + "`"


def make_client(**options: Any) -> Any:
    """clickhouse-connect's client, whose own types are partly unknown."""
    with importing:
        import clickhouse_connect

    for name in ("urllib3.connectionpool", "clickhouse_connect.driver._backend.http_sync"):
        driver = logging.getLogger(name)
        if _not_ours not in driver.filters:
            driver.addFilter(_not_ours)
    get_client: Any = clickhouse_connect.get_client  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return get_client(**options)


def _not_ours(_record: logging.LogRecord) -> bool:
    """Drops the driver's lines about our own calls: we say once what went wrong, in a sentence."""
    return not getattr(thread, "calling", False)


def close_pool(pool: Any) -> None:
    """Close a store's own connections, and have the driver forget them."""
    from clickhouse_connect.driver import httputil

    pool.clear()
    httputil.all_managers.pop(pool, None)
