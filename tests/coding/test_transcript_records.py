"""Transcripts of Gemini CLI, OpenCode, Copilot CLI and Pi as records: what an import makes."""

from __future__ import annotations

from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from support.coding_transcripts import TOOLS, imported, items, real_files, tokens
from support.coding_transcripts import read as read_events
from support.imported import take_parts, written
from support.opencode_files import database, session, storage
from support.shared import recorded_data
from turnspan_records.coding.transcripts.tools import TOOLS as KNOWN
from turnspan_records.coding.transcripts.tools import coding_log


@pytest.mark.large_data
def test_records_have_the_tokens_and_costs_of_the_events() -> None:
    """Every tool is known; each file is recognized by its content; twice is the same."""
    assert {tool.kind for tool in TOOLS.values()} <= {tool.kind for tool in KNOWN}
    turns = 0
    for tool, path in real_files("gemini", "opencode", "copilot-cli", "pi"):
        events, seen = read_events(tool, items(tool, path), path)
        made = imported("coding", [path])
        assert sum(made.seen.values()) == seen.total()
        assert {kind for kind, _ in made.seen} == {tool.kind}
        counted = sum((c.input_tokens or 0) + (c.output_tokens or 0) for c in made.calls)
        if "[trimmed for fixture]" not in path.read_text():
            assert counted == tokens(events), path
        turns += len(made.turns)
        if path.stat().st_size < 100_000:
            again = imported("coding", [path])
            rows = {repr(row) for row in made.rows.values()}
            assert {repr(row) for row in again.rows.values()} == rows
        if tool.kind == "copilot":
            assert all(call.cost_usd is None for call in made.calls)
    assert turns > 130


@pytest.mark.large_data
@pytest.mark.release
def test_a_folder_of_many_tools_files_is_imported_by_what_they_say() -> None:
    """Wherever they stand, and whatever their names: lines of JSON are each tool's own."""
    made = imported("coding", [recorded_data("coding")])
    lines = ("claude-code", "codex", "copilot", "cursor", "droid", "gemini-cli", "goose", "grok")
    others = ("aider", "antigravity", "kimi", "opencode", "pi", "qwen-code", "swe-agent")
    assert {*lines, *others} <= {kind for kind, _ in made.seen}


def test_a_subagent_of_opencode_is_a_turn_within_the_turn(tmp_path: Path) -> None:
    """With its own session, under the tool that began it; a database that has grown is read
    again, its write-ahead log as well."""
    path = tmp_path / "opencode.db"
    with closing(database(path)) as writing:
        made = imported("opencode", [path])
        assert made.problems == []
        turns = {turn.session_id: turn for turn in made.turns}
        assert turns["ses_kid"].parent_turn_id == turns["ses_main"].turn_id
        assert turns["ses_other"].parent_turn_id == ""
        assert turns["ses_main"].cost_usd == Decimal(1)  # with the subagent's
        assert "'process.working_directory': '/w'" in repr(turns["ses_main"].attributes)
        position = made.positions[-1]
        assert imported("opencode", [path], position).rows == {}
        writing.execute("UPDATE message SET data = json_set(data, '$.cost', 2)")
        writing.commit()
        grown = imported("opencode", [path], position)
        assert [call.cost_usd for call in grown.calls if call.session_id == "ses_other"] == [2]
    rested = imported("opencode", [path])
    assert imported("opencode", [path], rested.positions[-1]).rows == {}
    folder = tmp_path / "before"
    assert len(imported("opencode", storage(folder)).turns) == 3


def test_a_subagent_of_gemini_is_a_turn_within_the_turn(tmp_path: Path) -> None:
    """Its file is in a folder with the session's id, beside the session's."""
    session, chats = "abcdef12-0000-4000-8000-000000000001", tmp_path / "chats"
    (chats / session).mkdir(parents=True)
    main = written(
        chats / "session-2026-05-01T10-00-abcdef12.jsonl",
        {"sessionId": session, "projectHash": "x", "startTime": "2026-05-01T10:00:00Z"},
        gemini_message("user-1-of-the-session", "user", 1, "Look around"),
        gemini_message("call-1-of-the-session", "gemini", 2, "I ask another"),
        gemini_message("call-2-of-the-session", "gemini", 9, "Done"),
        gemini_message("user-2-of-the-session", "user", 10, "Thanks"),
    )
    nested = written(
        chats / session / "kid-0000-0000.jsonl",
        {"sessionId": "kid-0000-0000", "projectHash": "x", "kind": "subagent"},
        gemini_message("kid-user-of-the-session", "user", 3, "Look at it"),
        gemini_message("kid-call-of-the-session", "gemini", 4, "So"),
    )
    made = imported("gemini-cli", [tmp_path])
    assert made.problems == []
    turns = {turn.user_message: turn for turn in made.turns}
    assert turns["Look at it"].parent_turn_id == turns["Look around"].turn_id
    assert turns["Look at it"].agent_name == "subagent"
    assert turns["Thanks"].parent_turn_id == ""
    assert len(imported("gemini-cli", [main, nested]).turns) == 3


def test_a_history_that_is_cut_without_a_summary_is_what_it_was(tmp_path: Path) -> None:
    """Copilot does not say what it has left out: the next call's input has all, and not nothing."""
    said = [("user.message", "Go"), ("assistant.message", "So"), ("user.message", "On")]
    lines = [
        {"type": kind, "id": f"event-number-{n}-of-it", "data": {"content": text}}
        for n, (kind, text) in enumerate(said)
    ]
    start = {"sessionId": "s", "copilotVersion": "1.0"}
    path = written(
        tmp_path / "events.jsonl",
        {"type": "session.start", "id": "0", "data": start},
        *lines,
        {"type": "session.truncation", "id": "the-cut-of-the-history", "data": {}},
        {"type": "assistant.message", "id": "event-number-9-of-it", "data": {"content": "Yes"}},
    )
    made = imported("copilot", [path])
    (last,) = [call for call in made.calls if call.response_id == "event-number-9-of-it"]
    assert made.said(last.input_messages) == [
        ("user", ["Go"]),
        ("assistant", ["So"]),
        ("user", ["On"]),
    ]


def gemini_message(id_: str, kind: str, second: int, text: str) -> dict[str, Any]:
    time = f"2026-05-01T10:00:{second:02d}Z"
    return {"id": id_, "type": kind, "timestamp": time, "content": [{"text": text}]}


SAID = [("user", "Go"), ("assistant", "So"), ("user", "On"), ("assistant", "Well")]
NEXT = [("user", "More"), ("assistant", "Last")]
IDS = [f"message-number-{n}-of-it" for n in range(10)]


def pi_lines(version: int) -> list[Any]:
    """A session that is compacted twice: from "On", and from "Well" on."""
    header = {"type": "session", "version": version, "id": "s", "cwd": "/w", "timestamp": "2026"}
    lines: list[dict[str, Any]] = [header]

    def add(kind: str, **fields: Any) -> None:
        place = {"id": IDS[len(lines)], "parentId": lines[-1].get("id")} if version > 1 else {}
        time = f"2026-05-01T10:00:{len(lines):02d}Z"
        lines.append({"type": kind, **place, "timestamp": time, **fields})

    for role, text in SAID:
        if text == "On":  # what is kept begins with an entry that says nothing
            add("label")
        add("message", message={"role": role, "content": text})
    for place in (3, 5):
        first = {"firstKeptEntryId": IDS[place]} if version > 1 else {"firstKeptEntryIndex": place}
        add("compaction", summary=f"Short {place}", **first)
    for role, text in NEXT:
        add("message", message={"role": role, "content": text})
    return lines


def claude_rows() -> list[Any]:
    def line(number: int, role: str, text: str, parent: str | None, **more: Any) -> dict[str, Any]:
        message = {"id": f"m{number}", "role": role, "content": [{"type": "text", "text": text}]}
        place = {"type": role, "uuid": IDS[number], "parentUuid": parent, "sessionId": "s"}
        return {**place, "timestamp": f"2026-05-01T10:00:{number:02d}Z", "message": message, **more}

    lines = [line(n, *said, IDS[n - 1] if n else None) for n, said in enumerate(SAID)]
    kept = {"preservedSegment": {"headUuid": IDS[2], "tailUuid": IDS[3]}}
    boundary = {"type": "system", "subtype": "compact_boundary", "compactMetadata": kept}
    lines.append({**line(4, "user", "", None), **boundary})
    lines.append(line(5, "user", "Short", IDS[4], isCompactSummary=True))
    return [*lines, line(6, *NEXT[0], IDS[3]), line(7, *NEXT[1], IDS[6])]


def gemini_lines() -> list[Any]:
    said = [*SAID, ("user", "Short"), ("assistant", "Thanks"), *NEXT]
    kinds = {"user": "user", "assistant": "gemini"}
    lines = [gemini_message(IDS[n], kinds[role], n, text) for n, (role, text) in enumerate(said)]
    header = {"sessionId": "s", "projectHash": "x", "startTime": "2026-05-01T10:00:00Z"}
    history = {"$set": {"messages": [*lines[4:6], *lines[2:4]]}}
    return [header, *lines[:4], history, history, *lines[6:]]


def qwen_lines() -> list[Any]:
    roles = {"user": "user", "assistant": "model"}
    history = [("user", "Short"), ("assistant", "Thanks"), *SAID[2:]]
    compressed = [{"role": roles[role], "parts": [{"text": text}]} for role, text in history]
    lines: list[dict[str, Any]] = [
        {"type": role, "message": {"parts": [{"text": text}]}} for role, text in (*SAID, *NEXT)
    ]
    payload: dict[str, Any] = {"info": {}, "compressedHistory": compressed}
    lines.insert(4, {"type": "system", "subtype": "chat_compression", "systemPayload": payload})
    for n, line in enumerate(lines):
        parent = IDS[n - 1] if n else None
        line |= {"uuid": IDS[n], "parentUuid": parent, "sessionId": "s", "cwd": "/w"}
        line["timestamp"] = f"2026-05-01T10:00:{n:02d}Z"
    return lines


def opencode_document() -> list[Any]:
    said = [*SAID, ("user", ""), ("assistant", "Short"), *NEXT]
    messages: list[dict[str, Any]] = []
    for n, (role, text) in enumerate(said):
        info = {"id": IDS[n], "sessionID": "s", "role": role, "time": {"created": n + 1}}
        part: dict[str, Any] = {"type": "text", "text": text}
        if not text:
            part = {"type": "compaction", "auto": True, "tail_start_id": IDS[2]}
        summary = {"summary": True} if text == "Short" else {}
        own = {"id": f"{IDS[n]}-part", "messageID": IDS[n]}
        messages.append({"info": {**info, **summary}, "parts": [{**own, **part}]})
    return [{"info": session("s"), "messages": messages}]


SUMMARY, THANKS = ("user", ["Short"]), ("assistant", ["Thanks"])
TAIL = [("user", ["On"]), ("assistant", ["Well"]), ("user", ["More"])]


@pytest.mark.parametrize(
    ("kind", "lines", "expected"),
    [
        ("pi", pi_lines(3), [("user", ["Short 5"]), *TAIL[1:]]),
        ("pi", pi_lines(1), [("user", ["Short 5"]), *TAIL[1:]]),
        ("pi", pi_lines(3)[:7] + pi_lines(3)[8:], [("user", ["Short 3"]), *TAIL]),
        ("claude-code", claude_rows(), [SUMMARY, *TAIL]),
        ("gemini-cli", gemini_lines(), [SUMMARY, THANKS, *TAIL]),
        ("qwen-code", qwen_lines(), [SUMMARY, THANKS, *TAIL]),
        ("opencode", opencode_document(), [SUMMARY, *TAIL]),
    ],
    ids=["pi", "pi 1", "pi once", "claude-code", "gemini-cli", "qwen-code", "opencode"],
)
def test_what_a_compaction_keeps_is_in_the_next_calls_input(
    tmp_path: Path, kind: str, lines: list[Any], expected: list[Any]
) -> None:
    """The summary, then the messages that stay, then what is new; also when the turns before are
    in the store already."""
    path = tmp_path / ("s.json" if len(lines) == 1 else "s.jsonl")
    made = imported(kind, [written(path, *lines[: max(1, len(lines) - 2)])])
    take_parts(coding_log(kind, [written(path, *lines)]), after=made.positions[-1], into=made)
    assert made.problems == []
    assert made.said(made.calls[-1].input_messages) == expected
    assert [texts for _, texts in made.said(made.calls[-1].output_messages)] == [["Last"]]
