"""The whole way: a transcript is imported, and its repository says which prompt wrote a line."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from support.claude_sessions import ClaudeSession
from support.kept_stores import copy_schema
from turnspan_console.cli import turnspan

BEGAN = datetime(2026, 11, 20, 10, tzinfo=timezone.utc)


def git(folder: Path, *words: str, at: int) -> None:
    """Run git in a folder, so many minutes after the session began."""
    when = f"{int(BEGAN.timestamp()) + 60 * at} +0000"
    person = {"NAME": "Ana", "EMAIL": "ana@example.org", "DATE": when}
    known = {
        f"GIT_{who}_{key}": value
        for who in ("AUTHOR", "COMMITTER")
        for key, value in person.items()
    }
    subprocess.run(["git", *words], cwd=folder, check=True, env={**os.environ, **known})


def asked(*words: str) -> Any:
    """What a command answers as JSON."""
    done = CliRunner().invoke(turnspan, [*words, "--format", "json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.usefixtures("kept_engine")
def test_a_line_names_the_prompt_that_wrote_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a session of Claude Code and of one of Codex; a line of the person's is the person's."""
    folder = tmp_path / "shop"
    folder.mkdir()
    copy_schema(tmp_path / "store")
    monkeypatch.setenv("TURNSPAN_STORE", f"chdb://{tmp_path / 'store'}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = folder / "price.py"
    git(folder, "init", "-q", "-b", "main", at=-20)
    file.write_text("import decimal\n\nVAT = decimal.Decimal('0.25')\n")
    git(folder, "add", ".", at=-20)
    git(folder, "commit", "-qm", "Begin", at=-20)

    claude = ClaudeSession(tmp_path / "claude" / "11111111-2222.jsonl", str(folder), BEGAN)
    claude.ask("Add a gross price")
    old = "VAT = decimal.Decimal('0.25')\n"
    new = f"{old}\n\ndef gross_price(net):\n    return net * (1 + VAT)\n"
    claude.use("r1", "c1", "Edit", file_path=str(file), old_string=old, new_string=new)
    claude.result("c1", "The file has been updated.")
    claude.answer("r2", "Added.")
    file.write_text(file.read_text().replace(old, new))
    git(folder, "commit", "-qam", "Gross prices", at=5)

    patch = (
        "*** Begin Patch\n*** Update File: price.py\n@@\n def gross_price(net):\n"
        "+    assert net >= 0, 'a price below nothing'\n     return net * (1 + VAT)\n*** End Patch"
    )
    codex = tmp_path / "codex" / "rollout-2026-11-20T10-10-00-aaaa.jsonl"
    codex.parent.mkdir()
    call = {"type": "custom_tool_call", "call_id": "k1", "name": "apply_patch", "input": patch}
    output = {"type": "custom_tool_call_output", "call_id": "k1", "output": "Done!"}
    prompt = {"type": "user_message", "message": "Refuse negative prices"}
    lines = [
        ("session_meta", {"id": "aaaa", "cwd": str(folder), "cli_version": "0.142.0"}),
        ("turn_context", {"model": "gpt-5-codex", "cwd": str(folder), "turn_id": "t1"}),
        ("event_msg", prompt),
        ("response_item", call),
        ("response_item", output),
        ("event_msg", {"type": "task_complete", "turn_id": "t1"}),
    ]
    codex.write_text(
        "".join(
            json.dumps(
                {"timestamp": f"2026-11-20T10:10:{second:02d}Z", "type": kind, "payload": it}
            )
            + "\n"
            for second, (kind, it) in enumerate(lines)
        )
    )
    file.write_text(
        file.read_text().replace(
            "(net):\n", "(net):\n    assert net >= 0, 'a price below nothing'\n"
        )
    )
    git(folder, "commit", "-qam", "Refuse negative prices", at=15)
    for one in (claude.path.parent, codex.parent):
        imported = CliRunner().invoke(turnspan, ["import", "coding", str(one)])
        assert imported.exit_code == 0, imported.output

    monkeypatch.chdir(folder)
    found = {line["text"].strip(): line for line in asked("blame", "price.py")["lines"]}
    wrote = {
        text: (line["agent"] or "", line["prompt"] or "") for text, line in found.items() if text
    }
    assert wrote == {
        "import decimal": ("", ""),
        "VAT = decimal.Decimal('0.25')": ("", ""),
        "def gross_price(net):": ("claude-code", "Add a gross price"),
        "return net * (1 + VAT)": ("claude-code", "Add a gross price"),
        "assert net >= 0, 'a price below nothing'": ("codex", "Refuse negative prices"),
    }
    assert found["import decimal"]["person"] == "Ana"
    groups = asked("survival", str(folder), "--by", "tool")["groups"]
    assert {one["name"]: (one["lines"], one["after"][-1]["standing"]) for one in groups} == {
        "claude-code": (2, 2),
        "codex": (1, 1),
    }
    kinds = asked("sql", "SELECT user_message, turn_intent FROM turn_summary ORDER BY start_time")
    assert [list(one.values()) for one in kinds] == [
        ["Add a gross price", "small_fix"],
        ["Refuse negative prices", "feature_build"],
    ]
