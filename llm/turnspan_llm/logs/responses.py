"""The calls of a log in the order in which they were written, in flat memory.

A batch is read at once and its lock given back before the next: a writer waits for milliseconds,
however long the reader takes over a batch. Rows that are written meanwhile come at the end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from turnspan_llm.logs.connection import explained
from turnspan_llm.logs.generations import RESPONSES, TURNS, Layout
from turnspan_llm.logs.logged import LoggedResponse, as_text, optional_text, whole_number
from turnspan_llm.logs.messages import MessageTree

BATCH: Final = 200
BATCH_BYTES: Final = 4 * 2**20
"""A batch ends at this many characters, or at its first row if that is longer."""
_FIRST: Final = -(2**63)
_OF_RESPONSES: Final = (
    *("id", "model", "resolved_model", "prompt", "system", "response", "prompt_json"),
    *("response_json", "options_json", "conversation_id", "datetime_utc", "duration_ms"),
    *("input_tokens", "output_tokens", "token_details", "schema_id", "reasoning"),
    *("consortium_id", "is_arbiter_response"),
)
_OF_TURNS: Final = (
    *("id", "model", "resolved_model", "response_json", "options_json", "datetime_utc"),
    *("duration_ms", "input_tokens", "output_tokens", "token_details", "schema_id"),
    *("thread_id", "parent_message_hash", "tip_message_hash"),
    *("consortium_id", "is_arbiter_response"),
)

Row = dict[str, Any]


def responses(
    connection: sqlite3.Connection,
    layout: Layout,
    path: Path | str = "",
    *,
    after: Mapping[str, int] | None = None,
) -> Iterator[LoggedResponse]:
    """Every call, those of the older table first.

    Args:
        connection: of ``opened``.
        layout: of ``layout_of``.
        path: the log's, for messages.
        after: by table, the position after which to begin.

    Raises:
        LogsError: the log cannot be read any further.
    """
    for table in layout.sources:
        begin = after[table] if after and table in after else _FIRST
        read = _old if table == RESPONSES else _new
        # Not around the yield: what the caller raises there is no error of the log's.
        batches = read(connection, layout, begin)
        while True:
            with explained(Path(path)):
                batch = next(batches, None)
            if batch is None:
                break
            yield from batch


def responses_at(
    connection: sqlite3.Connection,
    layout: Layout,
    table: str,
    positions: Sequence[int],
    path: Path | str = "",
) -> Iterator[LoggedResponse]:
    """Single calls by their positions, which ascend; one that is gone is left out."""
    read = _old if table == RESPONSES else _new
    for start in range(0, len(positions), BATCH):
        batches = read(connection, layout, _FIRST, positions[start : start + BATCH])
        while True:
            with explained(Path(path)):
                batch = next(batches, None)
            if batch is None:
                break
            yield from batch


def _old(
    connection: sqlite3.Connection, layout: Layout, after: int, only: Sequence[int] = ()
) -> Generator[list[LoggedResponse]]:
    for batch in _batches(connection, layout, RESPONSES, _OF_RESPONSES, after, only):
        ids = [row["id"] for row in batch if row["id"] is not None]
        fragments = _fragments(connection, layout, ids)
        names = _names(
            connection, layout, "conversations", (row["conversation_id"] for row in batch)
        )
        yield [_of_response(row, fragments, names) for row in batch]


def _new(
    connection: sqlite3.Connection, layout: Layout, after: int, only: Sequence[int] = ()
) -> Generator[list[LoggedResponse]]:
    tree = MessageTree(connection, layout)
    for batch in _batches(connection, layout, TURNS, _OF_TURNS, after, only):
        names = _names(connection, layout, "threads", (row["thread_id"] for row in batch))
        yield [_of_turn(row, tree, names) for row in batch]


def _batches(
    connection: sqlite3.Connection,
    layout: Layout,
    table: str,
    wanted: tuple[str, ...],
    after: int,
    only: Sequence[int],
) -> Generator[list[Row]]:
    there = layout.columns[table]
    read = ", ".join(f'"{name}"' if name in there else "NULL" for name in wanted)
    # Without the plus SQLite may walk the table instead of looking up the few that are asked for.
    which = f"+rowid > ? AND rowid IN ({_marks(only)})" if only else "rowid > ?"
    sql = f'SELECT rowid, {read} FROM "{table}" WHERE {which} ORDER BY rowid LIMIT {BATCH}'
    while True:
        batch: list[Row] = []
        size = 0
        cursor = connection.execute(sql, (after, *only))
        for values in cursor:
            batch.append(dict(zip(("rowid", *wanted), values, strict=True)))
            size += sum(len(value) for value in values if isinstance(value, str | bytes))
            if size > BATCH_BYTES:
                break
        cursor.close()  # gives the lock back
        if not batch:
            return
        after = batch[-1]["rowid"]
        yield batch
        if only and after >= only[-1]:
            return


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


def _names(
    connection: sqlite3.Connection, layout: Layout, table: str, ids: Iterable[Any]
) -> dict[str, str]:
    if not layout.has(table, "id", "name"):
        return {}
    known = sorted({str(id_) for id_ in ids if id_ is not None})
    sql = f'SELECT id, name FROM "{table}" WHERE id IN ({_marks(known)})'
    return {str(id_): as_text(name) for id_, name in connection.execute(sql, known).fetchall()}


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def _of_response(
    row: Row, fragments: Mapping[str, list[str]], names: Mapping[str, str]
) -> LoggedResponse:
    id_ = _id(row)
    stored = as_text(row["prompt"])
    # As llm's Prompt.prompt joins them.
    whole = (
        "\n".join([*fragments[id_], *([stored] if stored else [])]) if id_ in fragments else stored
    )
    conversation = optional_text(row["conversation_id"])
    response = as_text(row["response"])
    return LoggedResponse(
        table=RESPONSES,
        prompt=whole,
        stored_prompt=stored,
        system=optional_text(row["system"]),
        response=response,
        texts={f"r:{id_}": response},
        prompt_json=optional_text(row["prompt_json"]),
        conversation_id=conversation,
        conversation_name=names.get(conversation or ""),
        reasoning=optional_text(row["reasoning"]),
        **_common(row),
    )


def _of_turn(row: Row, tree: MessageTree, names: Mapping[str, str]) -> LoggedResponse:
    parent, tip = optional_text(row["parent_message_hash"]), optional_text(row["tip_message_hash"])
    prompt = tree.prompt(parent)
    reply = tree.reply(parent, tip)
    thread = optional_text(row["thread_id"])
    return LoggedResponse(
        table=TURNS,
        prompt=prompt,
        stored_prompt=prompt,
        system=tree.system(parent),
        response=reply.text,
        prompt_json=None,
        conversation_id=thread,
        conversation_name=names.get(thread or ""),
        reasoning=reply.reasoning or None,
        parent_message_hash=parent,
        tip_message_hash=tip,
        texts=reply.texts,
        **_common(row),
    )


def _common(row: Row) -> dict[str, Any]:
    return {
        "position": row["rowid"],
        "id": _id(row),
        "model": as_text(row["model"]),
        "resolved_model": optional_text(row["resolved_model"]),
        "response_json": optional_text(row["response_json"]),
        "options_json": optional_text(row["options_json"]),
        "datetime_utc": optional_text(row["datetime_utc"]),
        "duration_ms": whole_number(row["duration_ms"]),
        "input_tokens": whole_number(row["input_tokens"]),
        "output_tokens": whole_number(row["output_tokens"]),
        "token_details": optional_text(row["token_details"]),
        "schema_id": optional_text(row["schema_id"]),
        "consortium_id": optional_text(row["consortium_id"]),
        "is_arbiter_response": whole_number(row["is_arbiter_response"]),
    }


def _id(row: Row) -> str:
    # Ids were integers before llm 0.5; one that is missing must still name its row.
    return str(row["id"]) if row["id"] is not None else f"rowid:{row['rowid']}"
