"""Opened logs, and their calls by their positions, in flat memory.

A batch is read at once and its lock given back before the next: a writer waits for milliseconds,
however long the reader takes over a batch.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from turnspan_llm.logs.connection import explained, opened
from turnspan_llm.logs.generations import RESPONSES, TURNS, Layout, layout_of
from turnspan_llm.logs.logged import LoggedResponse, as_text, optional_text, whole_number
from turnspan_llm.logs.messages import MessageTree

BATCH: Final = 200
BATCH_BYTES: Final = 4 * 2**20
"""A batch ends at this many characters, or at its first row if that is longer."""
_COLUMNS: Final = (
    *("id", "model", "response_json", "datetime_utc", "duration_ms"),
    *("consortium_id", "is_arbiter_response"),
)
_OF_TABLE: Final[Mapping[str, tuple[str, ...]]] = {
    RESPONSES: (*_COLUMNS, "prompt", "response", "conversation_id"),
    TURNS: (*_COLUMNS, "thread_id", "parent_message_hash", "tip_message_hash"),
}

Row = dict[str, Any]


@dataclass(slots=True)
class OpenedLog:
    """One of the databases that are read together."""

    number: int
    """0 the log, 1 llm-consortium's own file."""
    path: Path
    connection: sqlite3.Connection
    layout: Layout

    def response(self, table: str, position: int) -> LoggedResponse | None:
        """A call of one of its tables, with its texts."""
        return next(self.responses(table, [position]), None)

    def responses(self, table: str, positions: Sequence[int]) -> Iterator[LoggedResponse]:
        """Calls of one of its tables, with their texts."""
        return responses_at(self.connection, self.layout, table, positions, self.path)


L = TypeVar("L", bound=OpenedLog)


@contextmanager
def opened_logs(paths: Iterable[Path], kind: type[L]) -> Generator[list[L]]:
    """The databases at these paths, opened as this class. Raises ``LogsError``."""
    with ExitStack() as stack:
        logs: list[L] = []
        for number, path in enumerate(paths):
            connection = stack.enter_context(opened(path))
            logs.append(kind(number, path, connection, layout_of(connection, path)))
        yield logs


def responses_at(
    connection: sqlite3.Connection,
    layout: Layout,
    table: str,
    positions: Sequence[int],
    path: Path | str = "",
) -> Iterator[LoggedResponse]:
    """The calls at these positions of a table, which ascend; one that is gone is left out.

    Raises:
        LogsError: the log cannot be read any further.
    """
    for start in range(0, len(positions), BATCH):
        left = positions[start : start + BATCH]
        while left:
            # Not around the yield: what the caller raises there is no error of the log's.
            with explained(Path(path)):
                batch = _batch(connection, layout, table, left)
                calls = _calls(connection, layout, table, batch)
            if not batch:
                break
            yield from calls
            left = [position for position in left if position > batch[-1]["rowid"]]


def _batch(
    connection: sqlite3.Connection, layout: Layout, table: str, positions: Sequence[int]
) -> list[Row]:
    wanted, there = _OF_TABLE[table], layout.columns[table]
    read = ", ".join(f'"{name}"' if name in there else "NULL" for name in wanted)
    which = f"rowid IN ({_marks(positions)})"
    cursor = connection.execute(
        f'SELECT rowid, {read} FROM "{table}" WHERE {which} ORDER BY rowid', positions
    )
    batch: list[Row] = []
    size = 0
    for values in cursor:
        batch.append(dict(zip(("rowid", *wanted), values, strict=True)))
        size += sum(len(value) for value in values if isinstance(value, str | bytes))
        if size > BATCH_BYTES:
            break
    cursor.close()  # gives the lock back
    return batch


def _calls(
    connection: sqlite3.Connection, layout: Layout, table: str, batch: list[Row]
) -> list[LoggedResponse]:
    if table == TURNS:
        tree = MessageTree(connection, layout)
        return [_of_turn(row, tree) for row in batch]
    fragments = _fragments(
        connection, layout, [row["id"] for row in batch if row["id"] is not None]
    )
    return [_of_response(row, fragments) for row in batch]


def _fragments(
    connection: sqlite3.Connection, layout: Layout, ids: list[Any]
) -> dict[str, list[str]]:
    """By response, the fragments of its prompt in order."""
    if not layout.has("prompt_fragments", "response_id", "fragment_id", "order"):
        return {}
    if not layout.has("fragments", "id", "content"):
        return {}
    rows = connection.execute(
        "SELECT pf.response_id, f.content FROM prompt_fragments AS pf "
        "JOIN fragments AS f ON f.id = pf.fragment_id "
        f'WHERE pf.response_id IN ({_marks(ids)}) ORDER BY pf.response_id, pf."order"',
        ids,
    ).fetchall()
    found: dict[str, list[str]] = {}
    for response, content in rows:
        found.setdefault(str(response), []).append(as_text(content))
    return found


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def _of_response(row: Row, fragments: Mapping[str, list[str]]) -> LoggedResponse:
    id_ = _id(row)
    stored, response = as_text(row["prompt"]), as_text(row["response"])
    pieces = fragments.get(id_, [])
    # As llm's Prompt.prompt joins them.
    prompt = "\n".join([*pieces, *([stored] if stored else [])]) if pieces else stored
    return _logged(row, RESPONSES, prompt, response, {f"r:{id_}": response}, "conversation_id")


def _of_turn(row: Row, tree: MessageTree) -> LoggedResponse:
    parent, tip = optional_text(row["parent_message_hash"]), optional_text(row["tip_message_hash"])
    text, texts = tree.reply(parent, tip)
    return _logged(row, TURNS, tree.prompt(parent), text, texts, "thread_id")


def _logged(
    row: Row,
    table: str,
    prompt: str,
    response: str,
    texts: Mapping[str, str],
    conversation: str,
) -> LoggedResponse:
    return LoggedResponse(
        table=table,
        position=row["rowid"],
        id=_id(row),
        model=as_text(row["model"]),
        prompt=prompt,
        response=response,
        response_json=optional_text(row["response_json"]),
        conversation_id=optional_text(row[conversation]),
        datetime_utc=optional_text(row["datetime_utc"]),
        duration_ms=whole_number(row["duration_ms"]),
        consortium_id=optional_text(row["consortium_id"]),
        is_arbiter_response=whole_number(row["is_arbiter_response"]),
        texts=texts,
    )


def _id(row: Row) -> str:
    # Ids were integers before llm 0.5; one that is missing must still name its row.
    return str(row["id"]) if row["id"] is not None else f"rowid:{row['rowid']}"
