"""``turnspan hooks``: have coding agents tell when a turn or a session ends."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnspan_console.failures import FINDING, UNAVAILABLE, USAGE, Failure
from turnspan_console.options import chosen_dsn, flag, format_option, own_command, store_option
from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from turnspan_records.coding.hook_settings import HookedTool

_TOOLS = ("claude-code", "codex")
"""As ``hook_settings`` has them; importing that would slow the command's start."""
_tool = click.argument("tool", type=click.Choice(_TOOLS))
_yes = flag("--yes", "Write without asking.")
_TRUST = "installed, but Codex does not run it yet: type /hooks in Codex and trust it"


@dataclass(frozen=True, slots=True)
class HookState:
    """Whether a coding agent's settings have the hook."""

    tool: str
    state: str
    """``installed``, ``not installed``, or what is wrong."""
    file: str
    command: str
    """The hook's command, as the settings name it; empty: none."""


@click.group("hooks", short_help="Have coding agents land their sessions: install, status.")
def command() -> None:
    """Hooks of coding agents: a session lands when its turn ends, and what you make of the edits is
    recorded (used, modified, rejected). Your own judgments hold before these.

    \b
      turnspan hooks install claude-code
      turnspan hooks status
    """


@command.command("install", short_help="Add the hook to a coding agent's settings.")
@_tool
@_yes
@store_option
def install(tool: str, yes: bool) -> None:
    """Add the hook to the settings of TOOL: Claude Code's settings.json, Codex's hooks.json.

    The change is shown first. Without a terminal, --yes writes it. What the file says else stays.
    Codex runs a new hook once you have trusted it: type /hooks in Codex.

    \b
      turnspan hooks install claude-code
      turnspan hooks install codex --yes
    """
    settings = _Settings(tool)
    settings.change(settings.with_hooks, yes=yes)
    if not settings.is_trusted():
        note(_TRUST)


@command.command("uninstall", short_help="Remove the hook from a coding agent's settings.")
@_tool
@_yes
@store_option
def uninstall(tool: str, yes: bool) -> None:
    """Remove the hook from the settings of TOOL. A file that has not changed since `install` gets
    its earlier text, to the byte.

    \b
      turnspan hooks uninstall claude-code --yes
    """
    settings = _Settings(tool)
    settings.change(settings.without_hooks, yes=yes)


@command.command("status", short_help="Show which coding agents have the hook.")
@format_option("table", "json")
@store_option
def status(format_: str) -> None:
    """Show which coding agents have the hook, and whether its program is still there and the agent
    runs it. Exit code 1 if not.

    \b
      turnspan hooks status
    """
    from turnspan_records.coding.hook_settings import HookSettingsError

    states: list[HookState] = []
    for tool in _TOOLS:
        settings = _Settings(tool)
        try:
            words = settings.tool.installed(settings.text())
            state = "installed" if words else "not installed"
            if words and not os.access(words[0], os.X_OK):
                state = "its program is gone: install again"
            elif not settings.is_trusted():
                state = _TRUST
        except (HookSettingsError, Failure) as error:
            words, state = (), str(error)
        states.append(HookState(tool, state, str(settings.path), shlex.join(words)))
    output = Output()
    if format_ == "json":
        output.json(states)
    else:
        for one in states:
            output.line(f"{one.tool:<12} {one.state} ({one.file})")
    if any(one.state not in ("installed", "not installed") for one in states):
        raise Failure("A hook does not work: see above.", FINDING)


@command.command("run", short_help="Take an event of a coding agent (it calls this).")
@_tool
@store_option
def run(tool: str) -> None:
    """Take an event of TOOL from standard input, as JSON. The agent is not waited for, and never
    fails: `turnspan doctor` shows what failed.

    \b
      turnspan hooks run claude-code < event.json
    """
    from turnspan_console.hook_start import AT
    from turnspan_records.coding.hook_events import forget_failure, land_event, remember_failure

    dsn = chosen_dsn()
    try:
        land_event(tool, sys.stdin.read(), dsn, at=float(os.environ.pop(AT, 0)) or time.time())
    except Exception as error:  # noqa: BLE001  an agent must not fail for its record
        remember_failure(dsn, tool, error)
    else:
        forget_failure(dsn)


class _Settings:
    """A tool's settings, as they are and as we left them."""

    def __init__(self, kind: str) -> None:
        from turnspan_clickhouse.store.dsn import data_folder
        from turnspan_records.coding.hook_settings import TOOLS

        self.tool: HookedTool = next(one for one in TOOLS if one.kind == kind)
        self.path = self.tool.path(Path.home(), os.environ)
        self._kept = data_folder() / "hooks" / f"{kind}.json"
        """What was written last, and what stood there before: so `uninstall` is exact."""

    def text(self) -> str:
        """The file's text; empty where there is none."""
        try:
            return self.path.read_bytes().decode()
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            raise Failure(f"{self.path} cannot be read: {error}.", UNAVAILABLE) from None

    def is_trusted(self) -> bool:
        """Whether the tool runs our hooks, where it has them."""
        return self.tool.is_trusted(self.path, self.text())

    def with_hooks(self, text: str) -> str | None:
        """The text with the hooks of this command."""
        return self.tool.install(text, own_command("hooks", "run", self.tool.kind))

    def without_hooks(self, text: str) -> str | None:
        """The text without the hooks; None: there was no file."""
        before, is_ours = self._before(text)
        return before if is_ours else self.tool.uninstall(text)

    def _before(self, text: str) -> tuple[str | None, bool]:
        """What stood there before the hooks were written (None: no file), and whether the file is
        as we left it."""
        import orjson

        from turnspan.content.model import as_dict

        try:
            kept = as_dict(orjson.loads(self._kept.read_bytes())) or {}
        except (OSError, orjson.JSONDecodeError):
            kept = {}  # nothing is installed, or not by this user
        if kept.get("after") == text:
            return kept.get("before"), True
        return text if self.path.exists() else None, False

    def change(self, change: Callable[[str], str | None], *, yes: bool) -> None:
        """Show what changes, ask, and write it."""
        import difflib

        from turnspan_records.coding.hook_settings import HookSettingsError

        text = self.text()
        try:
            changed = change(text)
        except HookSettingsError as error:
            raise Failure(f"{self.path}: {error}.", USAGE) from None
        if changed == text:
            note(f"{self.path} needs no change.")
            return
        output = Output()
        lines = (text.splitlines(), (changed or "").splitlines())
        for line in difflib.unified_diff(*lines, str(self.path), str(self.path), n=1, lineterm=""):
            output.line(line)
        if not yes:
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                note("Nothing is written: --yes writes it.")
                return
            if not click.confirm(f"Write {self.path}?", err=True):
                raise Failure("Nothing is written.", FINDING)
        if self.text() != text:
            raise Failure(f"{self.path} has changed meanwhile: try again.", UNAVAILABLE)
        try:
            self._write(text, changed)
        except OSError as error:
            said = f"{error.filename} cannot be written: {error.strerror}."
            raise Failure(said, UNAVAILABLE) from None
        note(f"{self.path} is written.")

    def _write(self, before: str, after: str | None) -> None:
        import orjson

        from turnspan_clickhouse.files.atomic_files import private_folder, write_whole

        kept = {"before": self._before(before)[0], "after": after}
        target = self.path.resolve()  # a link, as dotfiles are kept, stays one
        if after is None:
            target.unlink()
        else:
            mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, after.encode())
            target.chmod(mode)
        self._kept.unlink(missing_ok=True)
        if after is not None and self.tool.installed(after):
            private_folder(self._kept.parent)
            write_whole(self._kept, orjson.dumps(kept))
