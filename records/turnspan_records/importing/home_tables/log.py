"""A home-made table as a log that can be imported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timezone, tzinfo
from typing import Final

from turnspan_records.importing.home_tables import ephemera
from turnspan_records.importing.home_tables.address import Address
from turnspan_records.importing.home_tables.database import (
    Database,
    LoginRefusedError,
    TableColumn,
    open_database,
)
from turnspan_records.importing.home_tables.fields import Fields
from turnspan_records.importing.home_tables.part import PartMaker, TableScopes
from turnspan_records.importing.home_tables.table_chunks import Chunk, Row, Table, TablePosition
from turnspan_records.importing.sources import Part, SourceLogError

AskPassword = Callable[[], str]

_ID: Final = "id"


class HomeTable:
    """A table of one kind. Use it as a context, in which the database is connected."""

    kind = ""
    own_projects = True
    time_column = ""
    known_columns: tuple[str, ...] = ()

    def __init__(
        self,
        address: Address,
        *,
        zone: tzinfo = timezone.utc,
        ask_password: AskPassword | None = None,
    ) -> None:
        self._address = address
        self._zone = zone
        self._database = self._connect(ask_password)
        try:
            self._table = self._look_at_table()
        except BaseException:
            self._database.close()
            raise
        self._columns: Mapping[str, TableColumn] = {each.name: each for each in self._table.columns}
        self._scopes = TableScopes(self.kind)

    def __enter__(self) -> HomeTable:
        return self

    def __exit__(self, *raised: object) -> None:
        self._database.close()

    @property
    def identity(self) -> str:
        """Which table it is; holds no password and no user."""
        return self._address.identity

    @property
    def table(self) -> str:
        """The table's name."""
        return self._address.table

    @property
    def missing(self) -> list[str]:
        """Columns that such a log is known to have, and this one has not."""
        return [name for name in self.known_columns if name not in self._columns]

    def total(self, after: str) -> int:
        """How many rows come after a position."""
        return self._table.total(TablePosition.of(after))

    def parts(self, after: str) -> Iterator[Part]:
        """The rows after a position, as parts."""
        for chunk in self._table.chunks(TablePosition.of(after)):
            maker = PartMaker(self._scopes)
            self._add(chunk, maker)
            maker.part.position = chunk.place
            yield maker.part

    def _add(self, chunk: Chunk, maker: PartMaker) -> None:
        raise NotImplementedError

    def _fields(self, row: Row, maker: PartMaker) -> Fields:
        return Fields(row, self._columns, self._table.key, self._zone, maker.part.problems)

    def _connect(self, ask_password: AskPassword | None) -> Database:
        try:
            return open_database(self._address, self._address.password)
        except LoginRefusedError:
            if self._address.password or ask_password is None:
                raise
        return open_database(self._address, ask_password())

    def _look_at_table(self) -> Table:
        name = self._address.table
        columns = self._database.columns(self._address)
        if not columns:
            raise SourceLogError(f"this user sees no table {name}. Name another with --table.")
        named = {column.name: column for column in columns}
        key = next((column for column in columns if column.is_key), named.get(_ID))
        if key is None:
            raise SourceLogError(
                f"the table {name} has neither a primary key of one column nor a column id, "
                "which imports need."
            )
        quoted = self._database.quoted(*self._address.names)
        return Table(self._database, quoted, columns, key, named.get(self.time_column))


class Ephemera(HomeTable):
    """A wiki agent's log."""

    kind = ephemera.KIND
    time_column = ephemera.TIME
    known_columns = ephemera.COLUMNS

    def _add(self, chunk: Chunk, maker: PartMaker) -> None:
        for row in chunk.rows:
            ephemera.EphemeraRow(self._fields(row, maker), maker).add()
            maker.part.seen[self.table, "a turn and its call"] += 1
