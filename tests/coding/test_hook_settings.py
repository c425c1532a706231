"""``turnspan hooks install``: what a coding agent's settings become, and are again."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from turnspan_clickhouse.files.toml_file import toml_tables
from turnspan_console.cli import turnspan
from turnspan_records.coding.hook_settings import CLAUDE_EVENTS, TOOLS, HookSettingsError

CLAUDE, CODEX = TOOLS
PROGRAM = ["/opt/a folder/bin/turnspan", "hooks", "run"]
CLAUDE_TEXTS = (
    "",
    "{}",
    '{\n  "model": "opus",\n  "env": {"A": "ü"}\n}\n',
    '{\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say \'done\'"}]}],\n'
    '\t\t"PostToolUse": []}\n}',
    '{"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "a \' b"},'
    ' {"type": "prompt", "prompt": "x"}]}]}}',
)
CODEX_TEXTS = (
    "",
    '# mine\nmodel = "gpt-5"  # fast\n\n[tui]\nnotifications = true\n',
    '[tui]\nnotify = ["no", "hooks", "run", "codex"]\n',
    'text = """\nnotify = ["x"]\n"""\r\n[a]\r\n',
)


@pytest.mark.parametrize("text", CLAUDE_TEXTS)
def test_claude_code_keeps_what_it_has(text: str) -> None:
    """Each event has our hook once, however often installed; uninstalled, all is as before."""
    command = [*PROGRAM, "claude-code"]
    once = CLAUDE.install(text, command)
    before, after = json.loads(text or "{}"), json.loads(once)
    assert CLAUDE.installed(once) == command and not CLAUDE.installed(text)
    assert CLAUDE.install(once, command) == once
    for event in CLAUDE_EVENTS:
        assert after["hooks"][event][:-1] == before.get("hooks", {}).get(event, [])
    moved = CLAUDE.install(once, ["/new/turnspan", "hooks", "run", "claude-code"])
    assert moved.count("hooks run claude-code") == len(CLAUDE_EVENTS)
    assert json.loads(CLAUDE.uninstall(moved)) == before
    assert CLAUDE.uninstall(text) == text


@pytest.mark.parametrize("text", CODEX_TEXTS)
def test_codex_keeps_comments_and_order(text: str) -> None:
    """One line comes and goes: nothing else changes, not a byte."""
    command = [*PROGRAM, "codex"]
    once = CODEX.install(text, command)
    assert toml_tables(once) == {"notify": command, **toml_tables(text)}
    assert CODEX.installed(once) == command and not CODEX.installed(text)
    assert CODEX.install(once, command) == once
    assert CODEX.uninstall(once) == text == CODEX.uninstall(text)


@pytest.mark.parametrize(
    ("tool", "text", "said"),
    [
        (CLAUDE, "{", "not JSON"),
        (CLAUDE, "[]", "no JSON object"),
        (CLAUDE, '{"hooks": {"Stop": {}}}', "no list"),
        (CODEX, "a = ", "not TOML"),
        (CODEX, 'notify = ["notify-send"]', "Codex runs only one"),
    ],
)
def test_what_cannot_be_changed_says_why(tool: object, text: str, said: str) -> None:
    with pytest.raises(HookSettingsError, match=said):
        (CLAUDE if tool is CLAUDE else CODEX).install(text, PROGRAM)


def test_the_command_shows_then_writes_and_undoes_to_the_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal it only shows; a link stays a link, a mode a mode; what was changed
    meanwhile is kept; a file that was not there is gone again."""
    program = Path(sys.executable).with_name("turnspan")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))

    def run(*words: str) -> Result:
        return CliRunner().invoke(turnspan, ["hooks", *words])

    (tmp_path / ".claude").mkdir()
    kept, settings = tmp_path / "dotfiles.json", tmp_path / ".claude" / "settings.json"
    text = '{"a":1,   "hooks":{}}'
    kept.write_text(text)
    kept.chmod(0o640)
    settings.symlink_to(kept)

    shown = run("install", "claude-code")
    assert shown.exit_code == 0 and f"{program} hooks run claude-code" in shown.stdout
    assert "--yes writes it" in shown.stderr and kept.read_text() == text
    assert run("install", "claude-code", "--yes").exit_code == 0
    assert "needs no change" in run("install", "claude-code", "--yes").stderr
    assert run("install", "claude-code", "--yes", "--store", "chdb:///s").exit_code == 0
    assert settings.is_symlink() and kept.stat().st_mode & 0o777 == 0o640
    assert "--store chdb:///s" in kept.read_text()
    assert run("uninstall", "claude-code", "--yes").exit_code == 0
    assert kept.read_text() == text

    assert run("install", "codex", "--yes").exit_code == 0
    assert run("install", "claude-code", "--yes").exit_code == 0
    states = json.loads(run("status", "--format", "json").stdout)
    assert [one["state"] for one in states] == ["installed", "installed"]
    kept.write_text(kept.read_text().replace('"a": 1', '"a": 2'))
    assert run("uninstall", "claude-code", "--yes").exit_code == 0
    assert json.loads(kept.read_text()) == {"a": 2}
    assert run("uninstall", "codex", "--yes").exit_code == 0
    assert not (tmp_path / "codex" / "config.toml").exists()

    refused = run("install", "codex", "--yes", "--store", "http://u:secret@db:8123/t")
    assert refused.exit_code == 2 and "secret" not in refused.output
    kept.write_text("{")
    assert run("install", "claude-code", "--yes").exit_code == 2
    assert run("status").exit_code == 1 and kept.read_text() == "{"
    assert os.listdir(tmp_path / "data" / "turnspan" / "hooks") == []
