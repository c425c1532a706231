"""Where OpenCode keeps a session (``opencode``): rows of its database, files of its storage."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from turnspan_records.coding.transcripts.wire_values import (
    WireFields,
    document_in,
    fields_of,
    json_in,
)
from turnspan_records.importing.sources import SourceLogError

DATABASE: Final = "opencode.db"
_SESSIONS: Final = "SELECT * FROM session ORDER BY parent_id IS NOT NULL, time_created, id"
_MESSAGES: Final = "SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS: Final = "SELECT * FROM part WHERE message_id = ? ORDER BY id"
_LOST: Final = "SELECT * FROM part WHERE message_id NOT IN (SELECT id FROM message) ORDER BY id"
_COLUMNS: Final = {
    "parent_id": "parentID",
    "project_id": "projectID",
    "session_id": "sessionID",
    "message_id": "messageID",
}


def is_database(path: Path) -> bool:
    """Whether a file is a database of it; each channel of releases but two has its own."""
    return path.suffix == ".db" and path.stem.startswith("opencode")


def is_stored(path: Path) -> bool:
    """Whether a file is a session's in the storage folder."""
    names = [folder.name for folder in path.parents[:3]]
    return path.suffix == ".json" and len(names) == 3 and names[1] == "session"


def _opened(path: Path) -> sqlite3.Connection:
    """Read only: the tool may write at the same time, and a reader does not hinder it.

    A reader of a database in WAL mode makes its ``-wal`` and ``-shm`` files, which the tool takes
    away when it ends. Where it may not, and there are none, it is read as a file at rest.
    """
    rests = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
    options = "mode=ro&immutable=1" if rests else "mode=ro"
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?{options}", uri=True, timeout=10)
    connection.row_factory = sqlite3.Row
    connection.text_factory = _text
    return connection


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def database_rows(path: Path) -> Iterator[Any]:
    """The rows of a database, session by session. Raises ``SourceLogError``."""
    try:
        with closing(_opened(path)) as database:
            database.execute("BEGIN")  # all of it as it is now
            sessions = {row["id"]: _info(row) for row in database.execute(_SESSIONS)}
            for id_ in list(sessions):
                yield from _session_rows(database, id_, sessions)
            for part in database.execute(_LOST):
                yield {"part": _info(part)}
    except sqlite3.Error as error:
        raise SourceLogError(f"{path} cannot be read as OpenCode's database: {error}") from error


def _session_rows(
    database: sqlite3.Connection, id_: str, sessions: dict[str, WireFields]
) -> Iterator[Any]:
    """A session's rows; those of a subagent's session after the message that began it."""
    session = sessions.pop(id_, None)
    if session is None:  # read already
        return
    yield {"session": session}
    for message in database.execute(_MESSAGES, (id_,)):
        yield {"message": _info(message)}
        begun: list[str] = []
        for row in database.execute(_PARTS, (message["id"],)):
            part = _info(row)
            begun.append(child_of(part))
            yield {"part": part}
        for child in begun:
            if child in sessions and sessions[child].get("parentID") == id_:
                yield from _session_rows(database, child, sessions)


def child_of(part: WireFields) -> str:
    """The session of the subagent that a tool has begun."""
    return part.object("state").object("metadata").text("sessionId")


def _info(row: sqlite3.Row) -> WireFields:
    """A row as the tool's documents are: its columns, and what its JSON says."""
    info = {_COLUMNS.get(name, name): row[name] for name in row.keys()}  # noqa: SIM118
    data = fields_of(json_in(info.pop("data", None)))
    times = {name: info.pop(f"time_{name}", None) for name in ("created", "updated")}
    return WireFields({**({} if "messageID" in info else {"time": times}), **info, **data})


def storage_rows(path: Path) -> Iterator[Any]:
    """The documents of a session in the storage folder. Raises ``SourceLogError``."""
    session = document_in(path)
    id_ = fields_of(session).text("id")
    base = path.parents[2]
    if _is_migrated(base.parent / DATABASE, id_):
        yield {"migrated": id_}
        return
    yield {"session": session}
    messages = [document_in(file) for file in sorted((base / "message" / id_).glob("*.json"))]
    flat = [document_in(file) for file in sorted((base / "part").glob("*.json"))]
    for message in sorted(messages, key=_created):
        yield {"message": message}
        name = fields_of(message).text("id")
        parts = [document_in(file) for file in sorted((base / "part" / name).glob("*.json"))]
        for part in (*parts, *(p for p in flat if p and p.get("messageID") == name)):
            yield {"part": {"messageID": name, **part} if part else part}


def _created(message: WireFields | None) -> tuple[int, str]:
    created = fields_of(message).object("time").count("created")
    return created or 0, fields_of(message).text("id")


def _is_migrated(database: Path, session: str) -> bool:
    if not database.is_file():
        return False
    try:
        with closing(_opened(database)) as opened:
            return bool(opened.execute("SELECT 1 FROM session WHERE id = ?", (session,)).fetchone())
    except sqlite3.Error as error:
        raise SourceLogError(f"{database} cannot be read: {error}") from error
