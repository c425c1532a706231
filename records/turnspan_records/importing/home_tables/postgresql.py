"""Reading from PostgreSQL with psycopg."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from turnspan_records.importing.home_tables.address import Address
from turnspan_records.importing.home_tables.database import (
    Database,
    LoginRefusedError,
    TableColumn,
    Values,
    failure_text,
    without_driver,
)
from turnspan_records.importing.sources import SourceLogError
from turnspan_records.sql import statement

if TYPE_CHECKING:
    import psycopg

_TOGETHER: Final = 25
"""Rows that come at once: they may be of megabytes each."""
_WRONG_PASSWORD: Final = ("28P01", "28000")
_INTEGERS: Final = frozenset({"smallint", "integer", "bigint"})


class PostgreSql(Database):
    """A connection that can only read; queries are transactions of their own, so that none of them
    stays open while what was read is written."""

    def __init__(self, address: Address, password: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise without_driver("psycopg") from None
        self._password = password
        options: dict[str, Any] = {"connect_timeout": "10", **address.options}
        try:
            self._connection: psycopg.Connection[Any] = psycopg.connect(
                host=address.host,
                port=address.port,
                user=address.user or None,
                dbname=address.database,
                password=password or None,
                client_encoding="utf8",
                application_name="turnspan import",
                autocommit=True,
                prepare_threshold=None,  # a pool in between may give each query another session
                **options,
            )
            self._prepare()
        except psycopg.Error as error:
            raise self._refused(error) from None

    def _prepare(self) -> None:
        """Values are to be written in one way, whatever the server, user or database is set to."""
        from psycopg.adapt import Loader

        class AnyText(Loader):
            """A database of SQL_ASCII has bytes that are no UTF-8."""

            def load(self, data: Any) -> str:
                return bytes(data).decode("utf-8", "replace")

        self._connection.adapters.register_loader("text", AnyText)
        self._connection.read_only = True
        for setting in (
            "SET TimeZone TO 'UTC'",
            "SET DateStyle TO 'ISO, YMD'",
            "SET bytea_output TO 'hex'",
        ):
            self._connection.execute(cast("Any", setting))

    def columns(self, address: Address) -> list[TableColumn]:
        """The columns of a table."""
        table = self.quoted(*address.names).replace("%%", "%")
        found = self.rows(statement("importing/postgresql_columns"), (table,))
        return [
            TableColumn(
                str(name),
                str(type_),
                is_key == "true",
                is_integer=type_ in _INTEGERS,
                is_instant=str(type_).startswith("timestamp")
                and str(type_).endswith("with time zone"),
            )
            for name, type_, is_key in found
        ]

    def text_of(self, column: TableColumn) -> str:
        """SQL that gives a column's value as text."""
        return f"{self.quoted(column.name)}::text"

    def placeholder(self, column: TableColumn) -> str:
        """SQL for a parameter that is compared with a column."""
        return f"%s::{column.type}"

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> Generator[Values]:
        """What a query gives, through a cursor of the server's."""
        import psycopg

        try:
            with (
                self._connection.transaction(),
                self._connection.cursor(name="turnspan_import") as cursor,
            ):
                cursor.itersize = _TOGETHER
                cursor.execute(cast("Any", sql), parameters)
                for row in cursor:
                    yield cast("Values", row)
        except psycopg.Error as error:
            raise self._refused(error) from None

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _refused(self, error: psycopg.Error) -> SourceLogError:
        why = failure_text(error, self._password)
        no_password = "no password supplied" in why
        if error.sqlstate in _WRONG_PASSWORD or no_password or "password authentication" in why:
            return LoginRefusedError(f"PostgreSQL refuses the login: {why}.")
        return SourceLogError(f"PostgreSQL: {why}.")
