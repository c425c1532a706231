"""Which columns name contents that are stored once: what pruning goes by.

A definition or a message lives as long as a row names its hash in one of these columns. A table
with a hash column that is missing here would lose its texts, so a test compares them with every
column of every table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from turnspan_clickhouse.rows.owner_columns import BELONGING
from turnspan_clickhouse.rows.tables import Definition, MessageRow, Record
from turnspan_records.keeping.lines import BY_TABLE

ContentTable: TypeAlias = Literal["definition", "message"]


@dataclass(frozen=True, slots=True)
class Reference:
    """A column whose values are hashes of definitions, or of messages of the row's scope."""

    record: type[Record]
    column: str
    to: ContentTable

    @property
    def many(self) -> bool:
        """Whether each value is an array of hashes."""
        return self.to == "message"


def _references() -> Iterator[Reference]:
    for table, known in BELONGING.items():
        for column in known.messages:
            yield Reference(BY_TABLE[table], column, "message")
        for column in known.definitions:
            yield Reference(BY_TABLE[table], column, "definition")


REFERENCES: Final = tuple(_references())

CONTENTS: Final[dict[ContentTable, type[Record]]] = {
    "definition": Definition,
    "message": MessageRow,
}
"""Their own hash is the column ``hash``."""

SCOPE: Final = "if(session_id = '', trace_id, session_id)"
"""The scope of the messages that a row of a call names."""

CONTENT_KEY: Final[dict[ContentTable, str]] = {
    "definition": "sipHash128(project, hash)",
    "message": "sipHash128(project, scope, hash)",
}
"""What tells contents of a table apart, as the 16 bytes that sets of them are made of."""


def referring(to: ContentTable) -> dict[type[Record], str]:
    """The tables whose rows name contents of a table, and the hashes in each as an array, in SQL.
    A row is read once, however many of its columns have some."""
    found: dict[type[Record], list[str]] = {}
    for one in REFERENCES:
        if one.to == to:
            found.setdefault(one.record, []).append(one.column if one.many else f"[{one.column}]")
    return {record: f"arrayConcat({', '.join(hashes)})" for record, hashes in found.items()}


def named(
    to: ContentTable,
    source: Callable[[type[Record]], str],
    where: Callable[[type[Record]], str] = lambda _: "1",
    of: str = "1",
) -> str:
    """A query of the keys (``CONTENT_KEY``) of a table's contents that rows name: those of the
    ``source`` of each record that fulfil a condition, and of the contents those that fulfil ``of``.
    """
    scope = f", {SCOPE} AS scope" if to == "message" else ""
    return " UNION ALL ".join(
        f"SELECT {CONTENT_KEY[to]} AS key FROM (SELECT project{scope}, arrayJoin({hashes}) AS hash"
        f" FROM {source(record)} WHERE {where(record)}) WHERE hash != toFixedString('', 16)"
        f" AND {of}"
        for record, hashes in referring(to).items()
    )
