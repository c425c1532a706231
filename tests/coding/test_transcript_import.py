"""Transcripts that grow, go on with each other, and are cut: what an import makes of them."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import orjson
import pytest

from support.coding_transcripts import imported
from support.generated_sessions import claude_lines
from support.imported import Imported, iso, take_parts, written
from turnspan import config
from turnspan_clickhouse.rows.tables import MessageRow, SpanRow
from turnspan_records.coding.transcripts.position import FileState, TranscriptPosition
from turnspan_records.coding.transcripts.tools import coding_log
from turnspan_records.importing.sources import SourceLogError


def position(made: Imported) -> str:
    return next(each for each in reversed(made.positions) if each)


def more(made: Imported, paths: list[Path], kind: str = "coding") -> Imported:
    """What the next import adds."""
    return take_parts(coding_log(kind, paths), after=position(made), into=made)


def view(made: Imported) -> dict[Any, str]:
    """All rows but messages that no call refers to: of replies that were half there once."""
    used = {h for call in made.calls for h in call.input_messages + call.output_messages}
    return {
        key: repr(row)
        for key, row in made.rows.items()
        if not isinstance(row, MessageRow) or row.hash in used
    }


def test_a_session_that_grows_is_the_same_records(tmp_path: Path) -> None:
    """However much of it stands at each import, and wherever its last line is cut."""
    drawn = random.Random(7)
    lines = [orjson.dumps(line) + b"\n" for line in claude_lines("s", 9, words=20, compact_every=4)]
    whole = imported("coding", [written(tmp_path / "whole.jsonl", *map(bytes.decode, lines))])
    path = tmp_path / "s.jsonl"
    for _ in range(3):
        made = Imported()
        for cut in sorted(drawn.sample(range(1, len(lines)), 6)):
            text = b"".join(lines[:cut])
            path.write_bytes(text[: -drawn.randint(0, 60) or None])
            take_parts(coding_log("coding", [path]), after=(made.positions or [""])[-1], into=made)
        path.write_bytes(b"".join(lines))
        more(made, [path])
        assert view(made) == view(whole)
        waits = sum(n for (_, word), n in made.seen.items() if "waits" in word)
        assert sum(made.seen.values()) - waits == len(lines)
        assert made.problems == []
        before = dict(made.rows)
        assert more(made, [path]).rows == before


def test_an_unchanged_file_is_not_read(tmp_path: Path) -> None:
    """What is known of ten thousand files takes some 200 kB."""
    path = written(tmp_path / "s.jsonl", *claude_lines("s", 2, words=5))
    made = imported("claude-code", [path])
    log = coding_log("claude-code", [path])
    assert log.total(position(made)) == 0
    assert [part for part in log.parts(position(made)) if part.seen or part.spans] == []
    many = TranscriptPosition()
    for number in range(10_000):
        many.set(tmp_path / str(number), FileState(b"1234", b"5678", 10**6 + number, 20))
    assert len(str(many)) < 300_000
    assert str(TranscriptPosition.of(str(many))) == str(many)
    before = "MTAxMjM0NTY3MTIzNDU2NzgKAgM="  # as it was before it told of what forks repeat
    assert TranscriptPosition.of(before).files == {
        b"01234567": FileState(b"1234", b"5678", 10, 2, 3)
    }
    with pytest.raises(SourceLogError, match="--again"):
        list(log.parts("broken"))


def user(session: str, number: int, text: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "uuid": f"u{number}",
        "parentUuid": parent,
        "sessionId": session,
        "timestamp": iso(number),
        "cwd": "/w/shop",
        "message": {"role": "user", "content": text},
        **more,
    }


def reply(session: str, number: int, block: Any, parent: str | None, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": block}] if isinstance(block, str) else [block]
    message = {
        "id": f"m{number}",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": blocks,
        "usage": {"input_tokens": 1, "output_tokens": 2},
        **more.pop("message", {}),
    }
    return {**user(session, number, "", parent, **more), "type": "assistant", "message": message}


def task(number: int, prompt: str) -> dict[str, Any]:
    given = {"prompt": prompt, "subagent_type": "tester"}
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "Task", "input": given}


def result(session: str, number: int, call: str, parent: str, **more: Any) -> dict[str, Any]:
    said = {"type": "tool_result", "tool_use_id": call, "content": [{"type": "text", "text": "ok"}]}
    line = user(session, number, "", parent, **more)
    return {**line, "message": {"role": "user", "content": [said]}}


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("new_id", [None, "u1"])
def test_a_fork_repeats_nothing(tmp_path: Path, together: bool, new_id: str | None) -> None:
    """What stands in two files is of the session where it stood first, in one import or two; the
    fork's own calls have the whole history as their input."""
    first = [user("a", 1, "Do it", None), reply("a", 2, "Done.", "u1")]
    more_of_first = [user("a", 9, "And this", "u2"), reply("a", 10, "This too.", "u9")]
    fork = [{**line, "sessionId": "b"} for line in first]
    fork[0]["uuid"] = fork[1]["parentUuid"] = new_id or "new"
    fork += [user("b", 20, "Or that", "u2"), reply("b", 21, "That it is.", "u20")]
    a = written(tmp_path / "a.jsonl", *first)
    if together:
        written(tmp_path / "b.jsonl", *fork)
        made = imported("coding", [tmp_path])
    else:
        made = imported("coding", [tmp_path])
        written(tmp_path / "b.jsonl", *fork)
        more(made, [tmp_path])
    written(a, *first, *more_of_first)
    more(made, [tmp_path])

    turns = {turn.user_message: turn.session_id for turn in made.turns}
    assert turns == {"Do it": "a", "And this": "a", "Or that": "b"}
    assert len(made.turns) == 3
    (own,) = [call for call in made.calls if call.session_id == "b"]
    landed = {row.hash for row in made.of(MessageRow) if row.scope == "b"}
    assert {*own.input_messages, *own.output_messages} <= landed
    texts = [texts for _, texts in made.said(own.input_messages)]
    assert texts == [["Do it"], ["Done."], ["Or that"]]
    assert made.seen["claude-code", "a message of the session before"] == (2 if new_id else 0)
    os.utime(a, (2**31, 2**31))  # who was written last is not who came last
    log = coding_log("coding", [tmp_path])
    again = take_parts(log, after=log.again(position(made)))
    assert view(again) == view(made)


def claude_fork(folder: Path, **mark: Any) -> tuple[str, Path, Path]:
    first = [user("a", 1, "Do it", None), reply("a", 2, "Done.", "u1")]
    fork = [{**line, "sessionId": "b", **mark} for line in first]
    fork += [user("b", 20, "Or that", "u2"), reply("b", 21, "That it is.", "u20")]
    more = [user("a", 30, "And", "u2"), reply("a", 31, "Yes.", "u30")] if mark else []
    a = written(folder / "z.jsonl", *first, *more)  # behind the fork by its name
    return "claude-code", a, written(folder / "b.jsonl", *fork)


def codex_fork(folder: Path) -> tuple[str, Path, Path]:
    for day in ("01", "02"):
        (folder / "2026" / "05" / day).mkdir(parents=True)
    a = rollout(folder / "2026" / "05" / "02", A, codex(A), *BEGINNING)  # not by its day
    own = (said("task_started", turn_id="t2"), said("user_message", message="Or that"))
    lines = (codex(B, forked_from_id=A), codex(A), *BEGINNING, *own, text("assistant", "Yes."))
    b = rollout(folder / "2026" / "05" / "01", B, *lines, tokens(30, 20))
    return "codex", a, b


def pi_fork(folder: Path) -> tuple[str, Path, Path]:
    folder = folder / ".pi" / "agent" / "sessions"
    folder.mkdir(parents=True)

    def entry(number: int, role: str, content: Any) -> dict[str, Any]:
        parent = f"e000000{number - 1}" if number > 1 else None
        head = {"type": "message", "id": f"e000000{number}", "parentId": parent}
        said = {"role": role, "content": content, "usage": {"input": 1, "output": 1}}
        return {**head, "timestamp": iso(number), "message": said}

    def header(id_: str, **more: Any) -> dict[str, Any]:
        facts = {"version": 3, "id": id_, "cwd": "/w", "timestamp": iso(0), **more}
        return {"type": "session", **facts}

    def session(number: int, asks: str) -> list[dict[str, Any]]:
        answer = [{"type": "text", "text": "Well."}]
        return [entry(number, "user", asks), entry(number + 1, "assistant", answer)]

    a = written(folder / "2026_session-a.jsonl", header("session-a"), *session(1, "Do it"))
    fork = header("session-b", parentSession=str(a))
    lines = (fork, *session(1, "Do it"), *session(3, "Or that"))
    return "pi", a, written(folder / "2025_session-b.jsonl", *lines)


def gemini_fork(folder: Path) -> tuple[str, Path, Path]:
    def message(number: int, kind: str, said: str) -> dict[str, Any]:
        id_ = f"0c00000{number}-0000-4000-8000-000000000000"
        return {"id": id_, "timestamp": iso(number), "type": kind, "content": said}

    def session(id_: str, *said: str) -> Path:
        each = [message(n, ("user", "gemini")[n % 2], text) for n, text in enumerate(said)]
        document = {"sessionId": id_, "startTime": iso(0), "messages": each}
        (folder / "chats").mkdir(exist_ok=True)
        return written(folder / "chats" / f"session-{id_[:8]}.json", document)

    a = session(A, "Do it", "Done.")
    return "gemini-cli", a, session(B, "Do it", "Done.", "Or that", "That.")


@pytest.mark.parametrize(
    "fork",
    [
        *(claude_fork, partial(claude_fork, forkedFrom={"sessionId": "a"})),
        *(codex_fork, pi_fork, gemini_fork),
    ],
    ids=["claude-code", "claude-code, marked", "codex", "pi", "gemini-cli"],
)
def test_a_fork_imported_by_its_file_repeats_nothing(tmp_path: Path, fork: Any) -> None:
    """Its parent stands beside it. In whatever order the two files and their folder are imported,
    each for itself, and again, the rows are the same; also after the parent has been deleted."""
    kind, a, b = fork(tmp_path)
    if kind != "claude-code" or "forkedFrom" not in b.read_text():
        os.utime(a, (1, 1))  # the one that does not say what it goes on with was written later
    whole = imported(kind, [tmp_path])
    assert "Or that" in {turn.user_message for turn in whole.turns}
    assert len({turn.user_message for turn in whole.turns}) == len(whole.turns)
    assert len({turn.session_id for turn in whole.turns}) == 2
    for order in permutations(([a], [b], [tmp_path])):
        made = Imported()
        for paths in order:
            take_parts(coding_log(kind, paths), into=made)
        assert view(made) == view(whole), order
    made = take_parts(coding_log(kind, [b]))
    a.unlink()
    again = take_parts((log := coding_log(kind, [b])), after=log.again(position(made)))
    assert view(again) == view(made)


def test_a_fork_goes_on_later(tmp_path: Path) -> None:
    """It was imported when it repeated its parent, and nothing else: its first own call has the
    whole history, and what it repeats is not its own after its parent is deleted."""
    first = [user("a", 1, "Do it", None), reply("a", 2, "Done.", "u1")]
    first += [user("a", 3, "And this", "m"), reply("a", 4, "Done too.", "u3")]
    a = written(tmp_path / "a.jsonl", *first)
    fork = [{**line, "sessionId": "b"} for line in first]
    b = written(tmp_path / "b.jsonl", *fork)
    made = imported("coding", [tmp_path])
    own = [user("b", 20, "Or that", "u4"), reply("b", 21, "That it is.", "u20")]
    written(b, *fork, *own)
    more(made, [tmp_path])
    (call,) = [call for call in made.calls if call.session_id == "b"]
    landed = {row.hash for row in made.of(MessageRow) if row.scope == "b"}
    assert len(call.input_messages) == 5
    assert {*call.input_messages, *call.output_messages} <= landed
    a.unlink()
    written(b, *fork, *own, user("b", 30, "Bye", "u21"), reply("b", 31, "Bye.", "u30"))
    before = made.rows.keys()
    more(made, [tmp_path])
    assert {turn.user_message: turn.session_id for turn in made.turns} == {
        "Do it": "a",
        "And this": "a",
        "Or that": "b",
        "Bye": "b",
    }
    assert len(made.turns) == 4
    assert before <= made.rows.keys()


@pytest.mark.parametrize("within", [False, True])
def test_what_a_fork_repeats_is_its_parents_when_that_is_gone(tmp_path: Path, within: bool) -> None:
    """Also if all is imported anew, and if the fork goes on within its parent's last turn."""
    first = [user("a", 1, "Do it", None), reply("a", 2, "Done.", "u1")]
    first += [user("a", 3, "And this", "u2"), reply("a", 4, "Well...", "u3")]
    a = written(tmp_path / "a.jsonl", *first)
    fork = [{**line, "sessionId": "b"} for line in first]
    fork[0]["uuid"] = fork[1]["parentUuid"] = "new"  # as some versions write it
    fork += [] if within else [user("b", 20, "Or that", "u4")]
    fork += [reply("b", 21, "That it is.", "u4" if within else "u20")]
    b = written(tmp_path / "b.jsonl", *fork)
    made = imported("coding", [tmp_path])
    known = view(made)
    owners = {call.response_id: call.session_id for call in made.calls}
    assert owners == {"m2": "a", "m4": "a", "m21": "b"}
    a.unlink()
    for _ in range(2):
        log = coding_log("coding", [tmp_path])
        take_parts(log, after=log.again(position(made)), into=made)
        assert view(made) == known
    more_of_fork = [reply("b", 30, "And more.", "u21"), user("b", 31, "Bye", "u30")]
    written(b, *fork, *more_of_fork, reply("b", 32, "Bye.", "u31"))
    more(made, [tmp_path])
    owners |= {"m30": "b", "m32": "b"}
    assert {call.response_id: call.session_id for call in made.calls} == owners
    assert len(made.turns) == 4
    landed = {row.hash for row in made.of(MessageRow) if row.scope == "b"}
    (last,) = [call for call in made.calls if call.response_id == "m32"]
    assert len(last.input_messages) == 8 - within
    assert {*last.input_messages, *last.output_messages} <= landed


def test_a_session_that_was_forked_goes_on(tmp_path: Path) -> None:
    """Its turns stay its own, also the one that the fork begins with and that has grown since."""
    first = [user("a", 1, "Do it", None), reply("a", 2, "Well...", "u1")]
    a = written(tmp_path / "a.jsonl", *first)
    made = imported("coding", [tmp_path])
    fork = [{**line, "sessionId": "b"} for line in first]
    written(tmp_path / "b.jsonl", *fork, user("b", 5, "Or that", "u2"))
    more(made, [tmp_path])
    written(a, *first, reply("a", 9, "Done.", "u2"))
    more(made, [tmp_path])
    turns = {turn.user_message: (turn.session_id, turn.rounds) for turn in made.turns}
    assert turns == {"Do it": ("a", 2), "Or that": ("b", 0)}
    assert {call.session_id for call in made.calls} == {"a"}


def test_a_rewind_keeps_both_branches(tmp_path: Path) -> None:
    """A call's input is what stands before it in its own branch."""
    path = written(
        tmp_path / "s.jsonl",
        user("s", 1, "Do it", None),
        reply("s", 2, "Done.", "u1"),
        user("s", 3, "No, undo", "u2"),
        reply("s", 4, "Undone.", "u3"),
        user("s", 5, "Thanks", "u2"),
        reply("s", 6, "Welcome.", "u5"),
    )
    made = imported("claude-code", [path])
    inputs = [[texts for _, texts in made.said(call.input_messages)] for call in made.calls]
    assert inputs[1] == [["Do it"], ["Done."], ["No, undo"]]
    assert inputs[2] == [["Do it"], ["Done."], ["Thanks"]]


@pytest.mark.parametrize("kept", ["file", "beside", "folder", "progress"])
def test_a_subagent_is_a_turn_within_the_turn(tmp_path: Path, kept: str) -> None:
    """Wherever its lines stand: below the call that began it, with its cost in the turn's."""
    aside: dict[str, Any] = {"isSidechain": True, "agentId": "x"}
    inner = [
        user("s", 3, "Test it", None, **aside),
        reply("s", 4, {"type": "tool_use", "id": "t4", "name": "Bash", "input": {}}, "u3", **aside),
        result("s", 5, "t4", "u4", **aside),
        reply("s", 6, "Tested.", "u5", **aside),
    ]
    begin = [user("s", 1, "Do it", None), reply("s", 2, task(2, "Test it"), "u1")]
    end = [result("s", 7, "toolu_2", "u2", toolUseResult={"agentId": "x"})]
    end += [reply("s", 8, "Done.", "u7"), user("s", 9, "Bye", "u8")]
    within: list[Any] = []
    if kept == "file":
        within = inner
    elif kept == "progress":
        within = [
            {"type": "progress", "uuid": f"p{n}", "sessionId": "s", "parentToolUseID": "toolu_2"}
            | {"timestamp": line["timestamp"]}
            | {"data": {"type": "agent_progress", "agentId": "x", "message": line}}
            for n, line in enumerate(inner)
        ]
    else:
        folder = tmp_path if kept == "beside" else tmp_path / "s" / "subagents"
        folder.mkdir(parents=True, exist_ok=True)
        written(folder / "agent-x.jsonl", *inner)
    written(tmp_path / "s.jsonl", *begin, *within, *end)
    made = imported("coding", [tmp_path])

    outer, nested = made.turns[0], made.turns[1]
    assert (nested.agent_name, nested.user_message) == (
        "tester" if kept in ("file", "progress") else "claude-code subagent",
        "Test it",
    )
    assert nested.parent_turn_id == outer.turn_id
    (began,) = [tool for tool in made.tools if tool.name == "Task"]
    assert nested.parent_span_id == began.span_id
    assert (nested.rounds, nested.output_tokens, nested.response_text) == (2, 4, "Tested.")
    assert (outer.rounds, outer.output_tokens, outer.response_text) == (2, 8, "Done.")
    assert outer.cost_usd == sum(call.cost_usd or 0 for call in made.calls)
    assert [turn.parent_turn_id for turn in made.turns[2:]] == [""]
    assert sum(made.seen.values()) == 9


def test_claude_codes_own_traps(tmp_path: Path) -> None:
    """Usage that is repeated, tools that run while the reply is written, words that are no call,
    an interruption, commands, attachments, and what is not known."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png"}}
    image["source"]["data"] = "aGFsbG8="  # type: ignore[index]
    tools = [
        {"type": "tool_use", "id": f"t{n}", "name": "Edit", "input": {"file_path": "a.py"}}
        for n in (1, 2)
    ]
    part = {"message": {"id": "m3", "usage": {"input_tokens": 5, "output_tokens": 1}}}
    final = {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 40}
    last = {"message": {"id": "m3", "stop_reason": "tool_use", "usage": final}}
    refused = result("s", 6, "t2", "u5")
    refused["message"]["content"][0] |= {"is_error": True, "content": "The user doesn't want to."}
    patch = {"structuredPatch": [1], "originalFile": "x" * 9_000}
    path = written(
        tmp_path / "s.jsonl",
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        user("s", 1, "<command-name>/clear</command-name>", None),
        user("s", 2, "", "u1") | {"message": {"role": "user", "content": [image]}},
        reply("s", 3, tools[0], "u2", **part, newField={"a": 1}),
        result("s", 4, "t1", "u3", toolUseResult=patch),
        reply("s", 5, tools[1], "u3", **last),
        refused,
        user("s", 7, "[Request interrupted by user for tool use]", "u6"),
        user("s", 8, "Go on", "u7"),
        reply("s", 9, "API Error: 529", "u8", isApiErrorMessage=True)
        | {"message": {"model": "<synthetic>", "content": [{"type": "text", "text": "529"}]}},
        {"type": "hologram", "uuid": "h"},
        "{broken}",
    )  # fmt: skip
    made = imported("claude-code", [path])

    (call,) = made.calls
    assert (call.response_id, call.input_tokens, call.output_tokens) == ("m3", 12, 40)
    assert call.cache_read_tokens == 7
    assert call.finish_reasons == ["tool_use"]
    assert "'turnspan.import.newField': '{\"a\":1}'" in repr(call.attributes)
    assert [(tool.call_id, tool.failed, tool.error_type) for tool in made.tools] == [
        ("t1", False, ""),
        ("t2", True, "rejected"),
    ]
    assert "structuredPatch" in repr(made.tools[0].attributes)
    assert "originalFile" not in repr(made.tools[0].attributes)
    assert [turn.stop_reason for turn in made.turns] == ["user_aborted", "error"]
    messages = "".join(row.parts for row in made.of(MessageRow))
    assert "aGFsbG8=" not in messages
    assert '"mime_type":"image/png"' in messages
    assert made.seen["claude-code", "unknown: hologram"] == 1
    (problem,) = made.problems
    assert problem.row == f"{path}:12"
    assert "it is not JSON" in problem.reason
    assert sum(made.seen.values()) == 12


def test_a_command_is_a_prompt_if_the_model_answers(tmp_path: Path) -> None:
    """What the tool put in for it stands behind it."""
    name = "<command-message>fix is running</command-message>\n<command-name>/fix</command-name>"
    path = written(
        tmp_path / "s.jsonl",
        user("s", 1, "<command-name>/model</command-name>", None),
        user("s", 2, "<local-command-stdout>Set.</local-command-stdout>", "u1"),
        user("s", 3, f"{name}\n<command-args>the bug</command-args>", "u2"),
        user("s", 4, "Find and fix: the bug", "u3", isMeta=True),
        reply("s", 5, "Fixed.", "u4"),
        user("s", 6, "<command-name>/cost</command-name>", "u5"),
    )
    made = imported("claude-code", [path])
    assert [turn.user_message for turn in made.turns] == ["/fix the bug"]
    last = made.said(made.calls[0].input_messages)[-1]
    assert last == ("user", ["Find and fix: the bug"])
    assert made.seen["claude-code", "a command of the user's"] == 3


def test_a_compaction_is_where_the_history_begins_anew(tmp_path: Path) -> None:
    """The next call has the summary as its input, and the turn a span that tells of it."""
    boundary = {"subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}}
    boundary["compactMetadata"]["preTokens"] = 99  # type: ignore[index]
    path = written(
        tmp_path / "s.jsonl",
        user("s", 1, "Do it", None),
        reply("s", 2, {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}, "u1"),
        result("s", 3, "t", "u2"),
        {**user("s", 4, "", None), "type": "system", **boundary},
        user("s", 5, "In short: it goes well", "u4", isCompactSummary=True),
        reply("s", 6, "Done.", "u5"),
    )
    made = imported("claude-code", [path])
    assert len(made.turns) == 1
    assert [t for _, t in made.said(made.calls[1].input_messages)] == [["In short: it goes well"]]
    (span,) = [span for span in made.of(SpanRow) if span.name == "compaction"]
    for said in ("trigger': 'auto'", "tokens_before': '99'"):
        assert f"turnspan.coding.compaction.{said}" in repr(span.attributes)


def rollout(folder: Path, name: str, *lines: tuple[str, dict[str, Any]]) -> Path:
    path = folder / f"rollout-2026-01-01T00-00-00-{name}.jsonl"
    numbered = enumerate(lines, ord(name[0]) * 1000)
    return written(
        path,
        *({"timestamp": iso(n), "type": kind, "payload": said} for n, (kind, said) in numbered),
    )


def codex(session: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "session_meta", {"id": session, "cwd": "/w/shop", "cli_version": "0.142.0", **more}


def said(kind: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "event_msg", {"type": kind, **more}


def item(kind: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "response_item", {"type": kind, **more}


def tokens(total: int, last: int) -> tuple[str, dict[str, Any]]:
    names = ("input_tokens", "output_tokens", "total_tokens")
    usage = {
        f"{kind}_token_usage": dict(zip(names, (count, 1, count + 1), strict=True))
        for kind, count in (("total", total), ("last", last))
    }
    return said("token_count", info=usage)


def text(role: str, words: str) -> tuple[str, dict[str, Any]]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": words}])


A, B = (f"{letter}0000000-0000-4000-8000-000000000000" for letter in "ab")


def test_codexs_own_traps(tmp_path: Path) -> None:
    """Text and counts that stand twice, a count without figures, a meta line that comes again, a
    failed patch, an abort; the model is the turn's."""
    path = rollout(
        tmp_path,
        A,
        codex(A, git={"repository_url": "git@x.org:me/app.git", "branch": "main"}),
        codex(A, memory_mode="on"),
        text("user", "<environment_context>"),
        ("turn_context", {"model": "gpt-5.1", "effort": "high", "cwd": "/w/shop"}),
        text("user", "Fix it"),
        said("user_message", message="Fix it"),
        item("reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
        item("custom_tool_call", name="apply_patch", call_id="c1", input="*** Begin Patch"),
        tokens(10, 10),
        tokens(10, 10),
        said("token_count", info=None, rate_limits={}),
        said("patch_apply_end", call_id="c1", success=False, changes={"a.py": {"type": "add"}}),
        item("custom_tool_call_output", call_id="c1", output="Exit code: 1\nno"),
        text("assistant", "It does not apply."),
        said("agent_message", message="It does not apply."),
        tokens(25, 15),
        ("compacted", {"message": "", "replacement_history": [text("user", "Short")[1]]}),
        text("user", "Go on"),
        said("user_message", message="Go on"),
        text("assistant", "Well"),
        said("turn_aborted", reason="interrupted"),
        ("hologram", {}),
    )
    made = imported("codex", [path])
    assert [(c.input_tokens, c.request_model) for c in made.calls] == [
        (10, "gpt-5.1"),
        (15, "gpt-5.1"),
        (None, "gpt-5.1"),
    ]
    assert [(t.name, t.failed, t.arguments) for t in made.tools] == [
        ("apply_patch", True, "*** Begin Patch")
    ]
    assert "patch_apply_end" in repr(made.tools[0].attributes)
    turns = made.turns
    assert [turn.user_message for turn in turns] == ["Fix it", "Go on"]
    assert [turn.stop_reason for turn in turns] == ["tool_failure", "user_aborted"]
    assert {turn.project for turn in turns} == {"codex"}  # no server's: the test names it
    for attribute in ("'vcs.ref.head.name': 'main'", "'vcs.repository.name': 'app'"):
        assert attribute in repr(turns[0].attributes)
    assert [t for _, t in made.said(made.calls[2].input_messages)] == [["Short"], ["Go on"]]
    assert made.seen["codex", "unknown: hologram"] == 1
    assert sum(made.seen.values()) == 22


BEGINNING = (
    said("task_started", turn_id="turn-1"),
    text("user", "Fix it"),
    said("user_message", message="Fix it"),
    item("function_call", name="spawn_agent", call_id="c1", arguments='{"role":"tester"}'),
    tokens(10, 10),
)


def test_a_fork_of_codex_repeats_no_tokens(tmp_path: Path) -> None:
    """It replays all that its parent had said, at new times."""
    rollout(tmp_path, A, codex(A), *BEGINNING)
    fork = (said("task_started", turn_id="turn-2"), said("user_message", message="Again"))
    reply_of_fork = (text("assistant", "Sure."), tokens(30, 20))
    own = codex(B, forked_from_id=A)
    rollout(tmp_path, B, own, codex(A), *BEGINNING, *fork, *reply_of_fork)
    made = imported("codex", [tmp_path])
    assert [(c.session_id, c.input_tokens) for c in made.calls] == [(A, 10), (B, 20)]
    assert [(t.session_id, t.user_message) for t in made.turns] == [(A, "Fix it"), (B, "Again")]


def test_a_subagent_of_codex_is_a_turn_within_the_turn(tmp_path: Path) -> None:
    """Its file is its own; the parent's tokens, which it repeats, count once."""
    spawned = said("collab_agent_spawn_end", call_id="c1", new_thread_id=B)
    output = item("function_call_output", call_id="c1", output="ok")
    source = {"subagent": {"thread_spawn": {"parent_thread_id": A, "agent_role": "tester"}}}
    folder = tmp_path / "2026"
    folder.mkdir()
    rollout(
        folder,
        B,
        codex(B, source=source),
        codex(A),
        *BEGINNING,
        said("task_started", turn_id="turn-2"),
        said("user_message", message="Test it"),
        text("assistant", "Tested."),
        tokens(14, 4),
    )
    end = (text("assistant", "Done."), tokens(100, 90))
    rollout(tmp_path, A, codex(A), *BEGINNING, spawned, output, *end)
    made = imported("codex", [tmp_path])
    outer, nested = sorted(made.turns, key=lambda turn: turn.parent_turn_id)
    assert (nested.agent_name, nested.user_message) == ("tester", "Test it")
    assert nested.parent_turn_id == outer.turn_id
    assert (nested.input_tokens, outer.input_tokens) == (4, 104)
    assert sum(call.input_tokens or 0 for call in made.calls) == 104


def test_folders_are_found(tmp_path: Path) -> None:
    """Of every tool, in the user's home or where the environment says; a file that cannot be read
    costs only itself."""
    projects = tmp_path / ".claude" / "projects" / "-w-shop"
    sessions = tmp_path / "elsewhere" / "sessions" / "2026"
    for folder in (projects, sessions):
        folder.mkdir(parents=True)
    written(projects / "s.jsonl", user("s", 1, "Do it", None), reply("s", 2, "Done.", "u1"))
    gone = written(projects / "gone.jsonl", user("gone", 1, "Never", None))
    rollout(sessions, A, codex(A), *BEGINNING)
    environment = {"CODEX_HOME": str(tmp_path / "elsewhere")}
    log = coding_log("coding", home=tmp_path, environment=environment)
    assert log.identity == f"the folders of {tmp_path}"
    assert log.total("") > 8
    gone.unlink()
    gone.mkdir()
    made = take_parts(log)
    assert {turn.session_id for turn in made.turns} == {"s", A}
    assert [problem.row for problem in made.problems] == [str(gone)]
    late = coding_log("coding", home=tmp_path, environment=environment, since=2**33)
    assert take_parts(late).rows == {}


def test_without_content_nothing_that_was_said_lands(tmp_path: Path) -> None:
    """Figures, names and ids do."""
    config.activate(replace(config.active(), capture_content=False))
    secret = "the launch code"
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": secret}}
    path = written(
        tmp_path / "s.jsonl",
        user("s", 1, secret, None),
        {"type": "custom-title", "customTitle": secret, "sessionId": "s"},
        reply("s", 2, call, "u1", note=secret),
        result("s", 3, "t", "u2", toolUseResult={"stdout": secret}),
        user("s", 4, secret, None, isCompactSummary=True),
        reply("s", 5, secret, "u4", isApiErrorMessage=True),
    )
    made = imported("claude-code", [path])
    assert secret not in repr(made.rows)
    assert made.of(MessageRow) == []
    (turn,) = made.turns
    assert (turn.output_tokens, made.tools[0].name, turn.agent_name) == (2, "Bash", "claude-code")


def test_nothing_of_ours_is_a_transcript(tmp_path: Path) -> None:
    """A file of no known tool is named, and each of its lines counted by its type."""
    path = written(tmp_path / "notes.jsonl", {"type": "note"}, {"type": "note"}, {"a": 1})
    made = imported("coding", [path])
    assert made.seen == {
        ("notes.jsonl", "unknown: note"): 2,
        ("notes.jsonl", "unknown: no type"): 1,
    }
    (problem,) = made.problems
    assert problem.row == str(path)
    assert more(made, [path]).seen.total() == 3
    with pytest.raises(SourceLogError, match="name a file or a folder"):
        coding_log("coding", home=tmp_path, environment={})
