"""``turnspan hooks install``: what a coding agent's settings become, and are again."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from turnspan_console.cli import turnspan
from turnspan_records.coding.hook_settings import TOOLS, HookedTool, HookSettingsError

CLAUDE, CODEX = TOOLS
PROGRAM = ["/opt/a folder/bin/turnspan", "hooks", "run"]
TEXTS = (
    "",
    "{}",
    '{\n  "model": "opus",\n  "env": {"A": "ü"}\n}\n',
    '{\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say \'done\'"}]}],\n'
    '\t\t"PostToolUse": []}\n}',
    '{"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "a \' b"},'
    ' {"type": "prompt", "prompt": "x"}]}]}}',
)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.kind)
@pytest.mark.parametrize("text", TEXTS)
def test_settings_keep_what_they_have(tool: HookedTool, text: str) -> None:
    """Each event has our hook once, however often installed; uninstalled, all is as before. The
    hook of another tool is not ours."""
    command = [*PROGRAM, tool.kind]
    once = tool.install(text, command)
    before, after = json.loads(text or "{}"), json.loads(once)
    assert tool.installed(once) == command and not tool.installed(text)
    assert tool.install(once, command) == once
    for event, seconds in tool.events.items():
        assert after["hooks"][event][:-1] == before.get("hooks", {}).get(event, [])
        assert after["hooks"][event][-1]["hooks"][0]["timeout"] == seconds
    moved = tool.install(once, ["/new/turnspan", "hooks", "run", tool.kind])
    assert moved.count(f"hooks run {tool.kind}") == len(tool.events)
    assert json.loads(tool.uninstall(moved)) == before
    assert tool.uninstall(text) == text
    (other,) = (one for one in TOOLS if one is not tool)
    assert not other.installed(once) and other.uninstall(once) == once


def test_codex_runs_a_hook_that_its_user_trusts(tmp_path: Path) -> None:
    """Every one of ours, by the places that Codex notes: after the user's own, and not theirs."""
    path, config = tmp_path / "hooks.json", tmp_path / "config.toml"
    own = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}}'
    text = CODEX.install(own, [*PROGRAM, "codex"])
    keys = ["user_prompt_submit:0:0", "stop:1:0", "interrupt:0:0", "session_end:0:0"]
    assert not CODEX.is_trusted(path, text) and CODEX.is_trusted(path, own)

    def trust(*keys: str) -> bool:
        tables = (f"[hooks.state.'{path}:{key}']\ntrusted_hash = 'sha256:1'\n" for key in keys)
        config.write_text("\n".join(('notify = ["beep"]', *tables)))
        return CODEX.is_trusted(path, text)

    assert trust(*keys) and not trust(*keys[:3])
    assert not trust("stop:0:0", *(key for key in keys if key != "stop:1:0"))
    config.write_text("broken = ")
    assert not CODEX.is_trusted(path, text) and CLAUDE.is_trusted(path, text)


@pytest.mark.parametrize(
    ("tool", "text", "said"),
    [
        (CLAUDE, "{", "not JSON"),
        (CLAUDE, "[]", "no JSON object"),
        (CLAUDE, '{"hooks": {"Stop": {}}}', "no list"),
        (CODEX, '{"hooks": 1}', "no JSON object"),
    ],
)
def test_what_cannot_be_changed_says_why(tool: HookedTool, text: str, said: str) -> None:
    with pytest.raises(HookSettingsError, match=said):
        tool.install(text, PROGRAM)


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

    (tmp_path / "codex").mkdir()
    config = tmp_path / "codex" / "config.toml"
    config.write_text('notify = ["beep"]\n')  # of the user: Codex runs it as before
    assert "type /hooks in Codex" in run("install", "codex", "--yes").stderr
    assert run("install", "claude-code", "--yes").exit_code == 0
    asked = run("status", "--format", "json")
    states = [one["state"] for one in json.loads(asked.stdout)]
    assert asked.exit_code == 1 and states[0] == "installed" and "trust it" in states[1]
    hooks = tmp_path / "codex" / "hooks.json"
    for key in ("user_prompt_submit", "stop", "interrupt", "session_end"):
        table = f"[hooks.state.'{hooks}:{key}:0:0']\ntrusted_hash = 'sha256:1'\n"
        config.write_text(config.read_text() + table)
    assert run("status").exit_code == 0
    before = config.read_text()
    kept.write_text(kept.read_text().replace('"a": 1', '"a": 2'))
    assert run("uninstall", "claude-code", "--yes").exit_code == 0
    assert json.loads(kept.read_text()) == {"a": 2}
    assert run("uninstall", "codex", "--yes").exit_code == 0
    assert not hooks.exists() and config.read_text() == before

    refused = run("install", "codex", "--yes", "--store", "http://u:secret@db:8123/t")
    assert refused.exit_code == 2 and "secret" not in refused.output
    kept.write_text("{")
    assert run("install", "claude-code", "--yes").exit_code == 2
    assert run("status").exit_code == 1 and kept.read_text() == "{"
    assert os.listdir(tmp_path / "data" / "turnspan" / "hooks") == []
