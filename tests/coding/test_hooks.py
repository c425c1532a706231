"""``turnspan hooks run``: a session lands when its turn ends, and edits are judged."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from support.claude_sessions import ClaudeSession
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.checks.hooks import hook_checks
from turnspan_console.cli import turnspan
from turnspan_console.hook_start import AT
from turnspan_records.access import open_dsn

pytestmark = pytest.mark.with_schema

JUDGED = (
    "SELECT user_message, outcome, author, source FROM annotation_current AS a"
    " JOIN turn_summary AS t ON t.turn_id = a.subject_id WHERE kind = 'outcome' ORDER BY 1"
)


class Work:
    """A repository in which Claude Code works, and its hooks."""

    def __init__(self, folder: Path, dsn: Dsn) -> None:
        self.dsn = dsn
        self.repository = folder / "shop"
        self.repository.mkdir()
        self.file = self.repository / "a.py"
        self.file.write_text("one\ntwo\n")
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-qm", "First")
        path = folder / "projects" / "shop" / "0c000000-0000-4000-8000-000000000001.jsonl"
        self.session = ClaudeSession(path, str(self.repository))
        self.turns = 0

    def git(self, *words: str) -> None:
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
        subprocess.run(["git", *identity, *words], cwd=self.repository, check=True)

    def hook(self, event: str, at: float | None = None) -> None:
        said = {
            "hook_event_name": event,
            "session_id": self.session.id,
            "transcript_path": str(self.session.path),
            "cwd": str(self.repository),
        }
        run = CliRunner().invoke(
            turnspan,
            ["hooks", "run", "claude-code", "--store", str(self.dsn)],
            input=json.dumps(said),
            env={AT: repr(at)} if at is not None else None,
        )
        assert (run.exit_code, run.output) == (0, "")

    def turn(self, text: str, **edits: tuple[str, str]) -> None:
        """The user asks, and the agent edits the files ``name``.py."""
        self.hook("UserPromptSubmit")
        self.edit(text, **edits)
        self.hook("Stop")

    def edit(self, text: str, **edits: tuple[str, str]) -> None:
        """A turn whose hooks are late."""
        self.session.ask(text)
        for name, (old, new) in edits.items():
            self.turns += 1
            path = self.repository / f"{name}.py"
            if old:
                path.write_text(path.read_text().replace(old, new))
                given = {"file_path": str(path), "old_string": old, "new_string": new}
                self.session.use(f"req_{self.turns}", f"toolu_{self.turns}", "Edit", **given)
            else:
                path.write_text(new)
                given = {"file_path": str(path), "content": new}
                self.session.use(f"req_{self.turns}", f"toolu_{self.turns}", "Write", **given)
            self.session.result(f"toolu_{self.turns}", "ok")
        self.session.answer(f"req_end_{self.turns}", "Done")

    def judged(self) -> dict[str, str]:
        with open_dsn(self.dsn) as store:
            rows = store.query(JUDGED).rows
        assert {row[2:] for row in map(tuple, rows)} <= {("passive:coding-hooks", "machine:hook")}
        return {str(row[0]): str(row[1]) for row in rows}


@pytest.fixture
def slow_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Users who end a session long after its last turn."""
    monkeypatch.setattr("turnspan_records.coding.edit_outcomes._SOON", 0.0)


def test_a_session_that_ends_with_its_turn_is_judged_when_it_is_resumed(
    server_dsn: Dsn, tmp_path: Path
) -> None:
    """``claude -p`` ends before anybody has seen its edits. What such sessions leave goes."""
    work = Work(tmp_path, server_dsn)
    work.turn("alone", a=("one", "1"))
    work.hook("SessionEnd")
    assert work.judged() == {}
    work.file.write_text("i\ntwo\n")
    notes = sorted((server_dsn.spool / "coding").glob("?" * 24 + ".*"))
    assert [one.suffix for one in notes] == [".json", ".lock"]
    old = [one.with_stem("0" * 24) for one in notes]
    for one in old:
        one.touch()
        os.utime(one, (0, 0))
    work.turn("resumed", b=("", "new"))
    assert work.judged() == {"alone": "modified"}
    work.session.ask("nothing to edit")
    work.hook("Stop")
    (note,) = (one for one in notes if one.suffix == ".json")
    note.write_text(re.sub(r'"noted_at":[\d.]+', '"noted_at":1.0', note.read_text()))
    work.hook("SessionEnd")
    assert work.judged() == {"alone": "modified", "resumed": "used"}
    assert not note.exists()
    assert not any(one.exists() for one in old)


@pytest.mark.usefixtures("slow_users")
def test_what_becomes_of_edits_is_the_turns_outcome(server_dsn: Dsn, tmp_path: Path) -> None:
    """Kept, undone by hand or by git (also what was committed), changed or partly kept; a person's
    judgment holds before it, and the same event again adds nothing."""
    work = Work(tmp_path, server_dsn)
    earlier = work.repository / "earlier.py"  # of a turn that ended before there were hooks
    work.session.ask("earlier")
    work.session.use("req_0", "toolu_0", "Write", file_path=str(earlier), content="new")
    work.session.answer("req_end_0", "Done")
    work.turn("kept", a=("one", "1"))
    assert work.judged() == {}
    earlier.write_text("changed")
    work.git("commit", "-qam", "Kept")
    work.turn("undone", a=("two", "2"), c=("", "new"))
    assert work.judged() == {"kept": "used"}
    work.file.write_text("1\ntwo\n")
    (work.repository / "c.py").unlink()
    work.turn("reverted", a=("1", "I"))
    work.git("commit", "-qam", "To be reverted")
    work.git("revert", "--no-edit", "HEAD")
    work.turn("changed", a=("1", "i"), b=("", "new"))
    work.file.write_text("i\ntwo\nmore\n")
    work.turn("ended", a=("more", "less"))
    work.hook("SessionEnd")
    whole = {
        "kept": "used",
        "undone": "rejected",
        "reverted": "rejected",
        "changed": "modified",
        "ended": "used",
    }
    assert work.judged() == whole

    with open_dsn(server_dsn) as store:
        (turn,) = store.query("SELECT turn_id FROM turn_summary WHERE user_message = 'kept'").rows
        counts = store.query("SELECT count(), uniqExact(annotation_id) FROM annotation").rows[0]
    assert tuple(counts) == (5, 5)
    words = ["--store", str(server_dsn), "annotate", str(turn[0]), "--outcome", "rejected"]
    assert CliRunner().invoke(turnspan, words).exit_code == 0
    work.hook("SessionEnd")
    with open_dsn(server_dsn) as store:
        rows = {str(row[0]): str(row[1]) for row in store.query(JUDGED).rows}
    assert rows == {**whole, "kept": "rejected"}


@pytest.mark.usefixtures("slow_users")
def test_hooks_that_come_late_judge_what_was_then(server_dsn: Dsn, tmp_path: Path) -> None:
    """The agent goes on while they begin to work: a prompt is overtaken by the end of its own turn,
    or finds a file that the agent has edited again; a turn's end finds one that its user edited."""

    def now() -> float:
        at = time.time()
        time.sleep(0.02)  # a file's time lags behind by some milliseconds
        return at

    work = Work(tmp_path, server_dsn)
    prompt = now()
    work.edit("overtaken", a=("one", "1"))
    work.hook("Stop")
    work.hook("UserPromptSubmit", prompt)
    assert work.judged() == {}
    work.file.write_text("i\ntwo\n")
    time.sleep(0.02)
    prompt = now()
    work.edit("edits again", a=("two", "2"), b=("", "new"))
    work.hook("UserPromptSubmit", prompt)
    work.hook("Stop")
    assert work.judged() == {}  # nobody knows any more
    prompt = now()
    work.edit("edits one of two", a=("2", "II"))
    work.hook("UserPromptSubmit", prompt)
    stop = now()
    assert work.judged() == {"edits again": "used"}  # by the file that nobody edited since
    work.file.write_text("i\nII and more\n")
    work.hook("Stop", stop)
    work.hook("UserPromptSubmit")
    assert work.judged() == {"edits again": "used", "edits one of two": "modified"}


def test_an_interrupted_turn_is_judged_at_the_next_prompt(server_dsn: Dsn, tmp_path: Path) -> None:
    """Claude Code tells no hook of it: the transcript says so. What nobody has written since is as
    the agent left it; of the rest it counts whether something of the edit is left."""
    work = Work(tmp_path, server_dsn)

    def interrupted(text: str, name: str, old: str, new: str) -> None:
        work.hook("UserPromptSubmit")
        work.edit(text, **{name: (old, new)})
        os.utime(work.repository / f"{name}.py", (work.session.time, work.session.time))
        work.session.ask("[Request interrupted by user]")

    interrupted("left", "a", "one", "1")
    interrupted("undone", "a", "two", "2")
    assert work.judged() == {"left": "used"}
    work.file.write_text("1\ntwo\nmore\n")
    interrupted("changed", "b", "", "new")
    assert work.judged() == {"left": "used", "undone": "rejected"}
    (work.repository / "b.py").write_text("new and more")
    interrupted("again", "a", "more", "less")
    judged = {"left": "used", "undone": "rejected", "changed": "modified"}
    assert work.judged() == judged
    work.hook("SessionEnd", work.session.time + 5)  # nobody has looked
    assert work.judged() == judged
    work.hook("UserPromptSubmit")
    work.hook("UserPromptSubmit")
    assert work.judged() == {**judged, "again": "used"}


@pytest.mark.usefixtures("slow_users")
def test_codex_tells_of_prompts_interruptions_and_the_end(server_dsn: Dsn, tmp_path: Path) -> None:
    """So its last turn is judged too. A turn that was cut short without a word is not: no one knows
    how the agent left its files."""
    folder, file = tmp_path, tmp_path / "a.py"
    file.write_text("one\ntwo\n")
    path = tmp_path / "rollout-2026-11-20T10-10-00-aaaa.jsonl"
    written = [
        ("session_meta", {"id": "aaaa", "cwd": str(folder), "cli_version": "0.146.0"}),
        ("turn_context", {"model": "gpt-5-codex", "cwd": str(folder), "turn_id": "t1"}),
    ]

    def hook(event: str) -> None:
        times = (f"2026-11-20T10:10:{second:02d}Z" for second in range(60))
        lines = zip(times, written, strict=False)
        path.write_text(
            "".join(
                json.dumps({"timestamp": at, "type": kind, "payload": it}) + "\n"
                for at, (kind, it) in lines
            )
        )
        said = {"session_id": "aaaa", "cwd": str(folder), "transcript_path": str(path)}
        words = ["hooks", "run", "codex", "--store", str(server_dsn)]
        run = CliRunner().invoke(
            turnspan, words, input=json.dumps({**said, "hook_event_name": event})
        )
        assert (run.exit_code, run.output) == (0, "")

    def edit(prompt: str, old: str, new: str) -> None:
        hook("UserPromptSubmit")
        patch = f"*** Begin Patch\n*** Update File: a.py\n@@\n-{old}\n+{new}\n*** End Patch"
        file.write_text(file.read_text().replace(old, new))
        call = {"type": "custom_tool_call", "call_id": prompt, "name": "apply_patch"}
        output = {"type": "custom_tool_call_output", "call_id": prompt, "output": "Done!"}
        written.extend(
            [
                ("event_msg", {"type": "user_message", "message": prompt}),
                ("response_item", {**call, "input": patch}),
                ("response_item", output),
            ]
        )

    def judged() -> dict[str, str]:
        with open_dsn(server_dsn) as store:
            return {str(row[0]): str(row[1]) for row in store.query(JUDGED).rows}

    edit("kept", "one", "1")
    written.append(("event_msg", {"type": "task_complete", "turn_id": "t1"}))
    hook("Stop")
    edit("interrupted", "two", "2")
    hook("Interrupt")
    file.write_text("1\ntwo\n")
    assert judged() == {"kept": "used"}
    edit("killed", "two", "II")
    hook("SessionEnd")
    assert judged() == {"kept": "used", "interrupted": "rejected"}


def test_the_agent_never_waits_and_never_fails(
    server_dsn: Dsn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process ends before the work begins; what failed is in the doctor's list until a hook
    works again. A session of Codex may have no transcript."""
    monkeypatch.setenv("TURNSPAN_STORE", str(server_dsn))
    program = Path(sys.executable).with_name("turnspan")
    began = time.monotonic()
    done = subprocess.run(
        [program, "hooks", "run", "claude-code"], input="{", text=True, capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert time.monotonic() - began < 5
    failure = server_dsn.spool / "coding" / "hook-failure.json"
    end = time.monotonic() + 60
    while not failure.exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    (check,) = hook_checks(server_dsn)
    assert check.level == "warn" and "of claude-code failed" in check.finding
    said = {"hook_event_name": "Stop", "session_id": "s*/..", "cwd": str(tmp_path)}
    event = json.dumps({**said, "transcript_path": None})
    run = CliRunner().invoke(turnspan, ["hooks", "run", "codex"], input=event)
    assert run.exit_code == 0 and not failure.exists()
