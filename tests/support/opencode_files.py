"""Sessions as OpenCode keeps them: in its database, and in its storage folder before 1.2."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any


def session(id_: str, parent: str | None = None) -> dict[str, Any]:
    times = {"created": 1, "updated": 9}
    place = {"projectID": "p", "directory": "/w", "version": "1.3.0", "title": "T"}
    return {"id": id_, "parentID": parent, "time": times, **place}


def exchange(id_: str, *, child: str = "") -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """A prompt and its answer, with a tool that has run, in two steps."""
    counts = {"input": 4, "output": 3, "reasoning": 2, "cache": {"read": 5, "write": 1}}
    user = {"id": f"msg_{id_}_1", "sessionID": id_, "role": "user", "time": {"created": 1}}
    answer = {
        "id": f"msg_{id_}_2",
        "sessionID": id_,
        "role": "assistant",
        "cost": 0.5,
        "time": {"created": 2, "completed": 9},
        "tokens": {"total": 15, **counts},
        "modelID": "m",
        "providerID": "google",
        "finish": "stop",
    }
    state = {
        "status": "completed",
        "input": {"filePath": "a"},
        "output": "done",
        "title": "Edit",
        "time": {"start": 3, "end": 4},
        "metadata": {"sessionId": child} if child else {"exit": 3},
    }
    step = {"type": "step-finish", "cost": 0.25, "tokens": {"total": 15, **counts}}
    parts: list[dict[str, Any]] = [
        {"type": "reasoning", "text": "Hm"},
        {
            "type": "tool",
            "callID": f"call_{id_}",
            "tool": "task" if child else "edit",
            "state": state,
        },
        step,
        {"type": "patch", "hash": "h", "files": ["a"]},
        step,
    ]
    named = [
        {"id": f"prt_{id_}_{n}", "messageID": answer["id"], **part} for n, part in enumerate(parts)
    ]
    prompt = {"id": f"prt_{id_}_p", "messageID": user["id"], "type": "text", "text": f"Go {id_}"}
    return [(user, [prompt]), (answer, named)]


SESSIONS = {"ses_main": ("ses_kid", None), "ses_kid": ("", "ses_main"), "ses_other": ("", None)}
"""By session, the session of the subagent that it begins, and its parent."""


def database(path: Path, *, leave: str = "") -> sqlite3.Connection:
    """A database as OpenCode 1.3 has it, still open, with its last rows in the write-ahead log."""
    opened = sqlite3.connect(path)
    opened.executescript(
        """
        PRAGMA journal_mode = wal;
        CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT,
            title TEXT, version TEXT, time_created INTEGER, time_updated INTEGER, novel TEXT);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,
            time_updated INTEGER, data TEXT);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT,
            time_created INTEGER, time_updated INTEGER, data TEXT);
        """
    )
    for id_, (child, parent) in SESSIONS.items():
        if id_ == leave:
            continue
        info = session(id_, parent)
        row = (id_, "p", parent, "/w", "T", "1.3.0", *info["time"].values(), "new")
        opened.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        for message, parts in exchange(id_, child=child):
            data = {k: v for k, v in message.items() if k not in ("id", "sessionID")}
            row = (message["id"], id_, message["time"]["created"], 9, json.dumps(data))
            opened.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
            for part in parts:
                data = {k: v for k, v in part.items() if k not in ("id", "messageID")}
                row = (part["id"], message["id"], id_, 1, 1, json.dumps(data))
                opened.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
    opened.commit()
    return opened


def storage(folder: Path) -> list[Path]:
    """The same sessions as OpenCode before 1.2 had them."""
    files: list[Path] = []
    for id_, (child, parent) in SESSIONS.items():
        files.append(folder / "storage" / "session" / "p" / f"{id_}.json")
        write(files[-1], session(id_, parent))
        for message, parts in exchange(id_, child=child):
            write(folder / "storage" / "message" / id_ / f"{message['id']}.json", message)
            for part in parts:
                write(folder / "storage" / "part" / message["id"] / f"{part['id']}.json", part)
    return files


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
