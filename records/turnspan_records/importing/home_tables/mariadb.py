"""Reading from MariaDB or MySQL with PyMySQL."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from ssl import SSLContext, create_default_context
from typing import TYPE_CHECKING, Any, Final

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
    from pymysql import MySQLError
    from pymysql.connections import Connection

_WRONG_PASSWORD: Final = (1045, 1698)
_INTEGERS: Final = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint"})


class MariaDb(Database):
    """A connection that can only read; values are the text that comes over the wire."""

    quote = "`"

    def __init__(self, address: Address, password: str) -> None:
        try:
            import pymysql
            from pymysql import converters, cursors
        except ImportError:
            raise without_driver("PyMySQL") from None
        self._password = password
        self._errors: type[MySQLError] = pymysql.MySQLError
        # What is named by a type writes parameters; what by a number would read values.
        writers: dict[Any, Any] = {
            key: how for key, how in converters.conversions.items() if not isinstance(key, int)
        }
        socket = address.options.get("unix_socket")
        try:
            self._connection: Connection[Any] = pymysql.connect(
                host=address.host,
                port=address.port,
                user=address.user or None,
                password=password,
                database=address.database,
                unix_socket=socket,
                charset="utf8mb4",
                conv=writers,
                cursorclass=cursors.SSCursor,
                connect_timeout=int(address.options.get("connect_timeout", "10")),
                autocommit=True,
                ssl=_tls(address.options),
            )
            with self._connection.cursor() as cursor:
                cursor.execute("SET SESSION TRANSACTION READ ONLY")
                cursor.execute("SET SESSION time_zone = '+00:00', SESSION net_write_timeout = 600")
        except (pymysql.MySQLError, OSError, RuntimeError, ValueError) as error:
            raise self._refused(error) from None

    def columns(self, address: Address) -> list[TableColumn]:
        """The columns of a table."""
        *schema, table = address.names
        found = self.rows(
            statement("importing/mariadb_columns"),
            (schema[0] if schema else address.database, table),
        )
        return [
            TableColumn(
                str(name), str(type_), is_key == "1", type_ in _INTEGERS, type_ == "timestamp"
            )
            for name, type_, is_key in found
        ]

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> Generator[Values]:
        """What a query gives, row by row as the server sends it."""
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(sql, tuple(parameters))
                for row in cursor:
                    yield tuple(map(_text, row))
        except (self._errors, OSError) as error:
            raise self._refused(error) from None

    def close(self) -> None:
        """Close the connection; of a query that is left, nothing more is waited for."""
        if self._connection.open:
            self._connection.close()

    def _refused(self, error: BaseException) -> SourceLogError:
        why = failure_text(error, self._password)
        if error.args and error.args[0] in _WRONG_PASSWORD:
            return LoginRefusedError(f"MariaDB refuses the login: {why}.")
        return SourceLogError(f"MariaDB: {why}.")


def _tls(options: Mapping[str, str]) -> SSLContext | None:
    """What an encrypted connection is checked by; None: it is not encrypted."""
    if not options.keys() & {"ssl_ca", "ssl_cert", "ssl_key"}:
        return None
    context = create_default_context(cafile=options.get("ssl_ca"))
    if "ssl_cert" in options:
        context.load_cert_chain(options["ssl_cert"], options.get("ssl_key"))
    return context


def _text(value: Any) -> str | None:
    """A value that is no text comes as bytes: JSON in a BLOB, or bits."""
    if value is None or isinstance(value, str):
        return value
    try:
        return bytes(value).decode()
    except UnicodeDecodeError:
        return "0x" + bytes(value).hex()
