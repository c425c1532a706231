"""A database that a table is read from: what its driver has to do.

Drivers, and not the table functions of ClickHouse's engine: an embedded engine serves one folder in
a process, so it could not read beside an embedded store, and a server store often cannot reach the
source. The functions also take the password as part of a query, end at PostgreSQL's ``infinity``
and make 1970 of MariaDB's zero dates.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from turnspan_records.importing.home_tables.address import POSTGRESQL, Address
from turnspan_records.importing.sources import SourceLogError

Values = tuple[str | None, ...]


class LoginRefusedError(SourceLogError):
    """The server wants another password, or any."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table."""

    name: str
    type: str
    """As the database calls it."""
    is_key: bool
    """Whether it alone is the primary key."""
    is_integer: bool
    is_instant: bool
    """Whether it is a moment of time, whatever the zone: the database gives it in UTC."""


class Database:
    """A connection that reads, and every value as the text that the database writes for it."""

    quote = '"'

    def quoted(self, *names: str) -> str:
        """A name as SQL has it, with those before it that it is in; a percent sign would be taken
        for a parameter's."""
        one = self.quote
        return ".".join(one + name.replace(one, one * 2).replace("%", "%%") + one for name in names)

    def columns(self, address: Address) -> list[TableColumn]:
        """The columns of a table; none where there is no such table."""
        raise NotImplementedError

    def text_of(self, column: TableColumn) -> str:
        """SQL that gives a column's value as text."""
        return self.quoted(column.name)

    def placeholder(self, column: TableColumn) -> str:
        """SQL for a parameter that is compared with a column and given as text."""
        del column
        return "%s"

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> Generator[Values]:
        """What a query gives, as it comes; the generator is closed before the next query.

        Raises:
            SourceLogError: the database does not answer, or refuses.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close the connection."""
        raise NotImplementedError


def open_database(address: Address, password: str) -> Database:
    """Connect.

    Raises:
        LoginRefusedError: the password is wrong, or missing.
        SourceLogError: there is no driver, or no server that answers.
    """
    if address.scheme == POSTGRESQL:
        from turnspan_records.importing.home_tables.postgresql import PostgreSql

        return PostgreSql(address, password)
    from turnspan_records.importing.home_tables.mariadb import MariaDb

    return MariaDb(address, password)


def without_driver(name: str) -> SourceLogError:
    """What to say where a driver is not installed."""
    return SourceLogError(
        f"{name} is not installed, which reads this database. "
        "Run: pip install 'turnspan[databases]'"
    )


def failure_text(error: BaseException, password: str) -> str:
    """What a driver says of a failure, in one line and without the password."""
    text = " ".join(str(part) for part in error.args) or type(error).__name__
    if password:
        text = text.replace(password, "***")
    return " ".join(text.split()).rstrip(".")
