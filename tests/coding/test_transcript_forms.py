"""Forms of transcripts of Gemini CLI, Qwen Code, OpenCode, Copilot CLI and Pi, in small."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from support.coding_transcripts import (
    COPILOT,
    GEMINI_CLI,
    OPENCODE,
    PI,
    QWEN_CODE,
    calls,
    items,
    of_type,
    read,
    tokens,
)
from support.opencode_files import SESSIONS, database, exchange, session, storage
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    CodingEvent,
    HistoryCompaction,
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.importing.sources import SourceLogError

# -- Gemini CLI and Qwen Code ------------------


def gemini_call(id_: str, text: str, *runs: dict[str, Any]) -> dict[str, Any]:
    counts = {"input": 10, "output": 3, "cached": 4, "thoughts": 2, "tool": 1, "total": 16}
    time = "2026-05-01T10:00:02Z"
    call = {"id": id_, "type": "gemini", "timestamp": time, "content": text, "tokens": counts}
    return {**call, "model": "gemini-3-pro", "toolCalls": list(runs)}


def test_a_gemini_message_that_is_written_again_counts_once() -> None:
    """Its last line holds; a rewind leaves what was paid, and goes on before it; a compaction is
    the summary in the place of messages, and masks none of them."""
    run = {"id": "c1", "name": "edit", "args": {"file_path": "a"}}
    ended = {
        "result": [{"functionResponse": {"response": {"error": "no file"}}}],
        "status": "error",
    }
    user = {"id": "user-1-of-the-session", "type": "user", "content": [{"text": "Do"}]}
    again = {"id": "user-2-of-the-session", "type": "user", "content": "Do it again"}
    summary = {"id": "summary-of-the-session", "type": "user", "content": [{"text": "Short"}]}
    thanks = {"id": "thanks-for-the-summary", "type": "gemini", "content": "Got it."}
    first, second = "call-1-of-the-session", "call-2-of-the-session"
    lines = [
        {"sessionId": "s-1", "projectHash": "x", "startTime": "2026-05-01T10:00:00Z"},
        user,
        gemini_call(first, "", run),
        {"$set": {"lastUpdated": "2026-05-01T10:00:01Z"}},
        gemini_call(first, "", {**run, **ended}),
        {"$rewindTo": first},
        again,
        gemini_call(second, "Done"),
        {"$set": {"messages": [summary, thanks, again, {**gemini_call(second, "masked")}]}},
        {"id": "n", "type": "error", "content": "Quota"},
        {"id": "x", "type": "novel"},
    ]
    events, seen = read(GEMINI_CLI, lines)
    assert seen["part of a model call"] == 1
    assert seen["unknown: novel"] == 1
    assert [call.message_id for call in calls(events)] == [first, second]
    assert tokens(events) == 32
    assert calls(events)[1].parts == [{"type": "text", "content": "Done"}]
    (tool,) = of_type(ToolEnd, events)
    assert (tool.call_id, tool.failed, tool.error_message) == ("c1", True, "no file")
    prompts = of_type(UserMessage, events)
    assert [(prompt.parent, prompt.injected) for prompt in prompts] == [
        ("", False),
        (user["id"], False),
    ]
    (compaction,) = of_type(HistoryCompaction, events)
    assert compaction.parts == [{"type": "text", "content": "Short"}]
    assert [message["role"] for message in compaction.messages] == ["user", "assistant"]
    assert compaction.kept == again["id"]
    assert of_type(Interruption, events)[0].reason == "error"


def test_a_gemini_session_begins_with_what_the_tool_puts_in() -> None:
    """As Gemini CLI 0.61 writes it: the context comes as a change of the history, which compacts
    nothing. A command that ended with another code than 0 has failed."""
    said = "<untrusted_context>\nOutput: Exit Code: 0\nExit Code: 3\nProcess Group PGID: 7\n"
    response = {"functionResponse": {"response": {"output": said}}}
    run: dict[str, Any] = {"id": "c1", "name": "run_shell_command", "args": {}, "status": "success"}
    context = {"id": "context", "type": "user", "content": [{"text": "<session_context>"}]}
    events, seen = read(
        GEMINI_CLI,
        [
            {"sessionId": "s-1", "projectHash": "x", "startTime": "2026-05-01T10:00:00Z"},
            {"$set": {"messages": [context]}},
            {"id": "ask", "type": "user", "content": [{"text": "Do"}]},
            gemini_call("call", "", {**run, "result": [response]}),
        ],
    )
    assert seen["what the tool put in"] == 1
    assert of_type(HistoryCompaction, events) == []
    assert [one.injected for one in of_type(UserMessage, events)] == [True, False]
    assert [one.failed for one in of_type(ToolEnd, events)] == [True]


def test_a_gemini_session_says_where_it_ran_if_the_hash_proves_it(tmp_path: Path) -> None:
    """The document has only the folder's hash."""
    path = tmp_path / "proj" / "chats" / "session-1.jsonl"
    path.parent.mkdir(parents=True)
    (path.parent.parent / ".project_root").write_text("/home/me/work\n")
    proof = hashlib.sha256(b"/home/me/work").hexdigest()
    for stated, folder in ((proof, "/home/me/work"), ("another", "")):
        header = {"sessionId": "s", "projectHash": stated, "startTime": "2026-05-01T10:00:00Z"}
        events, _ = read(GEMINI_CLI, [header], path)
        assert of_type(SessionStart, events)[0].folder == folder
    assert GEMINI_CLI.is_transcript(path)


@pytest.mark.parametrize(("total", "output"), [(15, 5), (17, 7), (None, 5)])
def test_qwens_thoughts_are_in_the_output_or_beside_it(total: int | None, output: int) -> None:
    """The total says which: providers differ. Lines that say nothing are no parents."""
    counts = {"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 2}
    place = {"sessionId": "s", "cwd": "/w", "version": "0.21", "gitBranch": "main"}
    lines: list[dict[str, Any]] = [
        {"uuid": "u", "parentUuid": None, "type": "user", "message": {"parts": [{"text": "Hi"}]}},
        {"uuid": "t", "parentUuid": "u", "type": "system", "subtype": "ui_telemetry"},
        {"uuid": "a", "parentUuid": "t", "type": "assistant", "model": "qwen3-coder"},
        {"uuid": "a", "parentUuid": "t", "type": "assistant", "usageMetadata": counts},
    ]
    if total:
        counts["totalTokenCount"] = total
    events, seen = read(QWEN_CODE, [{**line, **place} for line in lines])
    (call,) = calls(events)
    assert (call.usage.output_tokens, call.usage.reasoning_tokens) == (output, 2)
    assert (call.parent, call.model) == ("u", "qwen3-coder")
    assert seen["part of a model call"] == 1


# -- OpenCode ------------------


def told(events: Iterable[CodingEvent]) -> set[str]:
    """What has happened, without the sessions' starts (a database has more columns)."""
    return {repr(event) for event in events if not isinstance(event, SessionStart)}


def test_opencodes_three_forms_say_the_same(tmp_path: Path) -> None:
    """Database (written by another process at the time), storage folder and export; two steps are
    summed, and reasoning beside the output is added to it."""
    kept = OPENCODE.folders(tmp_path, {"XDG_DATA_HOME": str(tmp_path)})[0]
    files = storage(kept)
    stored = [event for file in files for event in read(OPENCODE, items(OPENCODE, file))[0]]
    exported: list[CodingEvent] = []
    for id_, (child, parent) in SESSIONS.items():
        messages = [{"info": m, "parts": parts} for m, parts in exchange(id_, child=child)]
        document = {"info": session(id_, parent), "messages": messages}
        values = OPENCODE.values(document)
        assert values is not None
        exported += read(OPENCODE, values)[0]
    path = kept / "opencode.db"
    with closing(database(path)) as writing:
        writing.execute("UPDATE session SET title = 'not committed'")
        landed, seen = read(OPENCODE, items(OPENCODE, path), path)
    assert told(landed) == told(stored) == told(exported)
    assert len(calls(landed)) == 3
    assert seen == {
        "a session": 3,
        "a user's message": 3,
        "a model call": 3,
        "part of a message": 18,
    }
    usage = calls(landed)[0].usage
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens) == (20, 10, 4)
    assert (usage.cache_read_tokens, usage.cache_write_tokens) == (10, 2)
    assert calls(landed)[0].cost_usd == Decimal("0.5")
    assert calls(landed)[0].provider == "gcp.gemini"
    assert all(OPENCODE.is_transcript(file) for file in (*files, path))
    assert not OPENCODE.is_transcript(kept / "storage" / "message" / "ses_main" / "msg_1.json")
    starts = of_type(SessionStart, landed)
    assert [(s.session_id, s.title) for s in starts] == [(id_, "T") for id_ in SESSIONS]
    # A command that ended with another code than 0 has failed; OpenCode calls it completed.
    assert [run.failed for run in of_type(ToolEnd, landed)] == [False, True, True]
    kid = starts[1]
    assert (kid.parent_session, kid.parent_call) == ("ses_main", "call_ses_main")
    assert kid.agent_name


def test_opencodes_database_holds_against_its_storage(tmp_path: Path) -> None:
    """A session that was taken into the database is read there alone; others where they are."""
    files = storage(tmp_path)
    database(tmp_path / "opencode.db", leave="ses_other").close()
    seen = [read(OPENCODE, items(OPENCODE, file))[1] for file in files]
    assert [next(iter(one)) for one in seen] == ["in the database", "in the database", "a session"]


def test_a_database_that_is_none_is_named(tmp_path: Path) -> None:
    """With its path, and why; a part whose message is gone is named, too."""
    broken = tmp_path / "opencode.db"
    broken.write_bytes(b"no database at all" * 100)
    with pytest.raises(SourceLogError, match=r"opencode\.db cannot be read as OpenCode's database"):
        items(OPENCODE, broken)
    broken.unlink()
    with closing(database(broken)) as writing:
        writing.execute("DELETE FROM message WHERE id = 'msg_ses_other_1'")
        writing.commit()
        assert read(OPENCODE, items(OPENCODE, broken))[1]["unknown: part of no message"] == 1


def test_opencodes_compaction_is_the_summary_that_follows() -> None:
    """The call that wrote it was paid, and the prompt that asked for it is no user's."""
    user = {"id": "msg_1", "sessionID": "s", "role": "user", "time": {"created": 1}}
    part = {"id": "p", "messageID": "msg_1", "type": "compaction", "auto": False}
    answer = {"id": "msg_2", "sessionID": "s", "role": "assistant", "summary": True}
    text = {"id": "q", "messageID": "msg_2", "type": "text", "text": "What was done"}
    rows = [{"session": session("s")}, {"message": user}, {"part": part}, {"message": answer}]
    events, _ = read(OPENCODE, [*rows, {"part": text}])
    assert [type(event) for event in events] == [
        *(SessionStart, UserMessage, AgentCall, HistoryCompaction)
    ]
    (compaction,) = of_type(HistoryCompaction, events)
    assert (compaction.trigger, compaction.parts) == (
        *("manual", [{"type": "text", "content": "What was done"}]),
    )
    assert of_type(UserMessage, events)[0].injected
    before = [{"message": {**user, "id": f"msg_{n}"}} for n in "ab"]
    kid = [
        {"session": session("kid", "s")},
        {"message": {**user, "id": "msg_c"} | {"sessionID": "kid"}},
    ]
    part["tail_start_id"] = "msg_b"
    events, _ = read(OPENCODE, [rows[0], *before, *kid, *rows[1:], {"part": text}])
    (compaction,) = of_type(HistoryCompaction, events)
    assert (compaction.kept, compaction.parent) == ("s:msg_b", "s:msg_b")  # not the subagent's


# -- Copilot CLI ------------------


def line(kind: str, id_: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "id": id_, "timestamp": "2026-05-01T10:00:00Z", "data": data}


def test_copilots_subagents_are_told_apart() -> None:
    """Their lines stand among the session's; a message in pieces is one call."""
    asked = {"toolCallId": "t", "name": "task", "arguments": '{"prompt": "Look"}'}
    lines = [
        line("session.start", "1", sessionId="s", copilotVersion="1.0", context={"cwd": "/w"}),
        line("user.message", "2", content="Look", transformedContent="<now/>Look"),
        line("assistant.message", "3", messageId="m", content="I ", outputTokens=7),
        line("assistant.message", "4", messageId="m", content="look", toolRequests=[asked]),
        line("tool.execution_start", "5", toolCallId="t", toolName="task"),
        line("subagent.started", "6", toolCallId="t", agentName="explore"),
        line("assistant.message", "7", messageId="k", content="So", parentToolCallId="t"),
        line("tool.execution_complete", "8", toolCallId="t", success=False, error={"code": "e"}),
        line("abort", "9", reason="user initiated"),
        line("session.compaction_complete", "10", preCompactionTokens=9, summaryContent="Short"),
    ]
    events, seen = read(COPILOT, lines)
    assert seen["part of a model call"] == 1
    starts = of_type(SessionStart, events)
    assert [start.agent_name for start in starts] == ["", "explore", ""]
    assert starts[1].parent_call == "t"
    first, second = calls(events)
    assert [part["type"] for part in first.parts] == ["text", "text", "tool_call"]
    assert first.parts[2]["arguments"] == {"prompt": "Look"}
    assert (first.usage.output_tokens, second.usage.output_tokens) == (7, None)
    (run,) = of_type(ToolEnd, events)
    assert (run.name, run.failed, run.error_type, run.start) == ("task", True, "e", run.time)
    assert of_type(Interruption, events)[0].message == "user initiated"
    assert of_type(HistoryCompaction, events)[0].tokens_before == 9
    prompt = of_type(UserMessage, events)[0].parts[0]
    assert (prompt["content"], prompt["other"]) == ("Look", {"sent": "<now/>Look"})


# -- Pi ------------------


def entry(id_: str, parent: str | None, role: str, **message: Any) -> dict[str, Any]:
    head = {"type": "message", "id": id_, "parentId": parent, "timestamp": "2026-05-01T10:00:00Z"}
    return {**head, "message": {"role": role, **message}}


def test_an_entry_of_pi_that_a_fork_has_copied_is_the_same() -> None:
    """Ids of eight digits are of one session, but for a fork's; entries in between that say
    nothing are no parents."""
    header = {"type": "session", "version": 3, "id": "s", "cwd": "/w", "timestamp": "2026-05-01"}
    change = {"type": "thinking_level_change", "id": "c", "parentId": "a", "thinkingLevel": "high"}
    entries = [
        entry("a", None, "user", content="Go"),
        change,
        entry(
            *("b", "c", "assistant"),
            content=[],
            provider="google",
            usage={"input": 1, "output": 2, "cost": {"total": 0.00030299999999999994}},
        ),
        entry("d", "b", "bashExecution", command="ls", output="a", exitCode=0),
    ]
    one, _ = read(PI, [header, *entries])
    assert calls(one)[0].cost_usd == Decimal("0.000303")
    fork = {**header, "id": "t", "parentSession": "/x/2026_s.jsonl"}
    other, _ = read(PI, [fork, *entries])
    assert one[1:] == other[1:]
    assert of_type(SessionStart, other)[0].parent_session == "s"
    prompt, shell = of_type(UserMessage, one)
    (call,) = calls(one)
    assert (call.parent, call.provider) == (prompt.message_id, "gcp.gemini")
    assert call.parameters == {"thinking_level": "high"}
    assert (shell.injected, shell.parts[0]["other"]) == (True, {"exitCode": 0})
    later = [{**each, "timestamp": "2026-05-02T10:00:00Z"} for each in entries]
    assert not {repr(e) for e in read(PI, [header, *later])[0][1:]} & {repr(e) for e in one[1:]}
