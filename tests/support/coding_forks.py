"""Forks of sessions as each coding agent writes them: the parent's messages, and more."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from support.imported import iso

A, B = "0c000001-0000-4000-8000-000000000000", "0c000002-0000-4000-8000-000000000000"


@dataclass(frozen=True)
class Forked:
    """Two files: the parent (as it was when it was forked, and as it went on), and the fork."""

    kind: str
    parent: Path
    before: str
    grown: str
    fork: Path
    forked: str
    beside: Mapping[Path, str] = field(default_factory=dict[Path, str])
    """Files that are always there, and are read with these."""


def _lines(*values: Any) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def _claude(session: str, number: float, said: str, **more: Any) -> list[dict[str, Any]]:
    """A prompt and its answer."""
    line = {"sessionId": session, "cwd": "/w/shop", "version": "2.1.0", **more}
    prompt = {"uuid": f"u{number}", "parentUuid": f"v{number - 1}", "timestamp": iso(number)}
    answer = {
        "id": f"m{number}",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": [
            {"type": "text", "text": f"Done: {said}"},
            {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "ls"}},
        ],
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "a.py"}
    back = {"uuid": f"v{number}", "parentUuid": f"r{number}", "timestamp": iso(number + 0.6)}
    return [
        {**line, **prompt, "type": "user", "message": {"role": "user", "content": said}},
        {
            **line,
            "uuid": f"r{number}",
            "parentUuid": f"u{number}",
            "message": answer,
            "type": "assistant",
            "requestId": f"q{number}",
            "timestamp": iso(number + 0.3),
        },
        {**line, **back, "type": "user", "message": {"role": "user", "content": [result]}},
    ]


def claude(folder: Path, *, marked: bool = True, new_id: bool = False) -> Forked:
    """With ``new_id`` the fork's first prompt has an id of its own, as some versions write it."""
    mark = {"forkedFrom": {"sessionId": A}} if marked else {}
    copied = [*_claude(B, 1, "One", **mark), *_claude(B, 2, "Two", **mark)]
    if new_id:
        copied[0]["uuid"] = copied[1]["parentUuid"] = "another"
    first = [*_claude(A, 1, "One"), *_claude(A, 2, "Two")]
    return Forked(
        "claude-code",
        folder / f"{A}.jsonl",
        _lines(*first),
        _lines(*first, *_claude(A, 10, "On")),
        folder / f"{B}.jsonl",
        _lines(*copied, *_claude(B, 20, "Other"), *_claude(B, 21, "More")),
    )


def claude_within(folder: Path) -> Forked:
    """A fork that goes on in its parent's last turn, by itself."""
    made, own = claude(folder, marked=False), _claude(B, 30, "More")
    reply, result = _claude(B, 20, "")[1:]
    copied = made.forked.splitlines()[:6]
    forked = "".join(f"{line}\n" for line in copied) + _lines(reply, result, *own)
    return replace(made, forked=forked)


def claude_subagent(folder: Path) -> Forked:
    """A session, and the file of a subagent of its first turn."""
    first, *more = _claude(A, 1, "One"), _claude(A, 2, "Two"), _claude(A, 3, "Three")
    asks, result = first[1]["message"]["content"][1], first[2]
    asks |= {"name": "Task", "input": {"prompt": "Look", "subagent_type": "scout"}}
    first[2] = {**result, "toolUseResult": {"agentId": "x"}, "timestamp": iso(1.98)}
    nested = _claude(A, 1.35, "Look", isSidechain=True, agentId="x")
    lines = [*first, *more[0], *more[1]]
    main, agent = folder / f"{A}.jsonl", folder / A / "subagents" / "agent-x.jsonl"
    return Forked(
        *("claude-code", main, _lines(*first), _lines(*lines), agent, _lines(*nested)),
    )


def _line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": iso(1), "type": kind, "payload": payload}


def _codex(number: int, text: str, total: int) -> list[dict[str, Any]]:
    """A prompt and its answer."""

    def message(role: str, part: str, said: str) -> dict[str, Any]:
        content = [{"type": part, "text": said}]
        return _line("response_item", type="message", role=role, content=content)

    counts = {"input_tokens": 5, "output_tokens": 5, "total_tokens": 10}
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": counts}
    tool = {"call_id": f"call_{number}", "name": "shell", "arguments": "{}"}
    return [
        _line("event_msg", type="task_started", turn_id=f"turn-{number}"),
        message("user", "input_text", text),
        _line("event_msg", type="user_message", message=text),
        message("assistant", "output_text", f"Done: {text}"),
        _line("response_item", type="function_call", **tool),
        _line("response_item", type="function_call_output", call_id=f"call_{number}", output="a"),
        _line("event_msg", type="token_count", info=info),
    ]


def _meta(id_: str, **more: Any) -> dict[str, Any]:
    return _line("session_meta", id=id_, cwd="/w/app", cli_version="0.142.0", **more)


def _rollout(folder: Path, id_: str) -> Path:
    return folder / f"rollout-2026-05-01T10-00-00-{id_}.jsonl"


def codex(folder: Path) -> Forked:
    first = [*_codex(1, "One", 10), *_codex(2, "Two", 20)]
    own = [*_codex(5, "Other", 30), *_codex(6, "More", 40)]
    return Forked(
        "codex",
        _rollout(folder, A),
        _lines(_meta(A), *first),
        _lines(_meta(A), *first, *_codex(3, "On", 30)),
        _rollout(folder, B),
        _lines(_meta(B, forked_from_id=A), _meta(A), *first, *own),
    )


def codex_subagent(folder: Path) -> Forked:
    """It repeats what its parent had said."""
    first = _codex(1, "One", 10)
    more = [*_codex(2, "Two", 20), *_codex(3, "Three", 30)]
    source = {"subagent": {"thread_spawn": {"parent_thread_id": A, "agent_role": "tester"}}}
    nested = [{**line, "timestamp": iso(1)} for line in _codex(9, "Look", 20)]
    later = [{**line, "timestamp": iso(2)} for line in more]
    return Forked(
        "codex",
        _rollout(folder, A),
        _lines(_meta(A), *first),
        _lines(_meta(A), *first, *later),
        _rollout(folder, B),
        _lines(_meta(B, source=source), _meta(A), *first, *nested),
    )


def pi(folder: Path) -> Forked:
    folder = folder / ".pi" / "agent" / "sessions"

    def turn(number: int, text: str) -> list[dict[str, Any]]:
        entry = {"type": "message"}
        said: dict[str, Any] = {"role": "assistant", "usage": {"input": 1, "output": 1}}
        said["content"] = [{"type": "text", "text": f"Done: {text}"}]
        return [
            {
                **entry,
                "id": f"a{number:07}",
                "parentId": f"b{number - 1:07}",
                "timestamp": iso(number),
                "message": {"role": "user", "content": text},
            },
            {
                **entry,
                "id": f"b{number:07}",
                "parentId": f"a{number:07}",
                "timestamp": iso(number + 0.5),
                "message": said,
            },
        ]

    def header(id_: str, **more: Any) -> dict[str, Any]:
        facts = {"version": 3, "id": id_, "cwd": "/w", "timestamp": iso(0), **more}
        return {"type": "session", **facts}

    parent, first = folder / "2026_session-a.jsonl", [*turn(1, "One"), *turn(2, "Two")]
    own = [*turn(20, "Other"), *turn(21, "More")]
    return Forked(
        "pi",
        parent,
        _lines(header("session-a"), *first),
        _lines(header("session-a"), *first, *turn(10, "On")),
        folder / "2026_session-b.jsonl",
        _lines(header("session-b", parentSession=str(parent)), *first, *own),
    )


def gemini(folder: Path) -> Forked:
    """It marks no fork: the files have messages in common."""
    chats = folder / "chats"

    def turn(number: int, text: str) -> list[dict[str, Any]]:
        id_, when = f"0c0{number:05}-0000-4000-8000-00000000000", iso(number)
        said = [("user", "0", text), ("gemini", "1", f"Done: {text}")]
        return [{"id": id_ + n, "timestamp": when, "type": k, "content": t} for k, n, t in said]

    def document(id_: str, *messages: dict[str, Any]) -> str:
        return json.dumps({"sessionId": id_, "startTime": iso(0), "messages": messages})

    first = [*turn(1, "One"), *turn(2, "Two")]
    return Forked(
        "gemini-cli",
        chats / f"session-2026-05-01T10-00-{A[:8]}.json",
        document(A, *first),
        document(A, *first, *turn(10, "On")),
        chats / f"session-2026-05-01T10-01-{B[:8]}.json",
        document(B, *first, *turn(20, "Other"), *turn(21, "More")),
    )


def qwen(folder: Path) -> Forked:
    """``SessionService.forkSession``: every record again, with its id, and whose it was."""

    def turn(session: str, number: int, text: str, **more: Any) -> list[dict[str, Any]]:
        place = {"sessionId": session, "cwd": "/w/q", "version": "0.21.0", **more}
        answer = {"role": "model", "parts": [{"text": f"Done: {text}"}]}
        counts = {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}
        return [
            {
                **place,
                "uuid": f"u{number}",
                "parentUuid": f"a{number - 1}",
                "type": "user",
                "timestamp": iso(number),
                "message": {"role": "user", "parts": [{"text": text}]},
            },
            {
                **place,
                "uuid": f"a{number}",
                "parentUuid": f"u{number}",
                "type": "assistant",
                "timestamp": iso(number + 0.5),
                "message": answer,
                "model": "qwen3-coder",
                "usageMetadata": counts,
            },
        ]

    first, mark = [*turn(A, 1, "One"), *turn(A, 2, "Two")], {"forkedFrom": {"sessionId": A}}
    copied = [*turn(B, 1, "One", **mark), *turn(B, 2, "Two", **mark)]
    folder = folder / ".qwen" / "projects" / "-w-q" / "chats"
    return Forked(
        "qwen-code",
        folder / f"{A}.jsonl",
        _lines(*first),
        _lines(*first, *turn(A, 10, "On")),
        folder / f"{B}.jsonl",
        _lines(*copied, *turn(B, 20, "Other"), *turn(B, 21, "More")),
    )


def opencode_rows(session: str, began: int, *turns: Any) -> list[Any]:
    """A session as it is stored: its info, and its messages with their parts. The messages that
    are older than it are copies: they have ids of their own (``Session.fork``)."""

    def message(number: int, role: str, text: str, **more: Any) -> tuple[Any, list[Any]]:
        id_ = f"msg_{session}_{number}{role[0]}"
        info = {"id": id_, "sessionID": session, "role": role, "time": {"created": number}, **more}
        part = {"messageID": id_, "sessionID": session, "type": "text", "text": text}
        return info, [{"id": f"prt_{session}_{number}{role[0]}", **part}]

    info: dict[str, Any] = {"id": session, "projectID": "p", "directory": "/w", "version": "1.18.0"}
    info |= {"title": "T", "time": {"created": began, "updated": 99}}
    found: list[Any] = []
    for number, text in turns:
        tokens = {"input": 4, "output": 3, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        answer: dict[str, Any] = {"modelID": "m", "providerID": "google", "tokens": tokens}
        answer |= {"cost": 0.5, "time": {"created": number + 1, "completed": number + 2}}
        answer["parentID"] = f"msg_{session}_{number}u"
        found.append(message(number, "user", text))
        found.append(message(number, "assistant", f"Done: {text}", **answer))
    return [info, *found]


_FIRST = ((100, "One"), (200, "Two"))
_OPENCODE: dict[str, tuple[Any, ...]] = {
    "ses_a": (50, *_FIRST, (1000, "On")),
    "ses_b": (1500, *_FIRST, (2000, "Other"), (2100, "More")),
}
"""By session, when it was made, and its prompts."""


def opencode(folder: Path) -> Forked:
    """In its storage folder."""
    storage = folder / "storage"
    texts: dict[str, str] = {}
    beside: dict[Path, str] = {}
    for id_, (began, *turns) in _OPENCODE.items():
        info, *messages = opencode_rows(id_, began, *turns)
        texts[id_] = json.dumps(info)
        for said, parts in messages:
            beside[storage / "message" / id_ / f"{said['id']}.json"] = json.dumps(said)
            for part in parts:
                path = storage / "part" / said["id"] / f"{part['id']}.json"
                beside[path] = json.dumps(part)
    a, b = (storage / "session" / "p" / f"{id_}.json" for id_ in _OPENCODE)
    return Forked("opencode", a, texts["ses_a"], texts["ses_a"], b, texts["ses_b"], beside)


def opencode_database(path: Path) -> None:
    """Both sessions in one database."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE session (id, project_id, parent_id, directory, title, version,"
            " time_created, time_updated);"
            "CREATE TABLE message (id, session_id, time_created, time_updated, data);"
            "CREATE TABLE part (id, message_id, session_id, time_created, time_updated, data);"
        )
        for id_, (began, *turns) in _OPENCODE.items():
            row: tuple[Any, ...] = (id_, "p", None, "/w", "T", "1.18.0", began, 9)
            database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            for number, (said, parts) in enumerate(opencode_rows(id_, began, *turns)[1:]):
                row = (said["id"], id_, began + number, 9, json.dumps(said))
                database.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
                for part in parts:
                    row = (part["id"], said["id"], id_, 9, 9, json.dumps(part))
                    database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
        database.commit()


FORKS: dict[str, Callable[[Path], Forked]] = {
    "claude-code": claude,
    "claude-code-unmarked": lambda folder: claude(folder, marked=False),
    "claude-code-new-id": lambda folder: claude(folder, new_id=True),
    "codex": codex,
    "gemini-cli": gemini,
    "opencode": opencode,
    "pi": pi,
    "qwen-code": qwen,
}
"""By the tool, and how it marks a fork."""
