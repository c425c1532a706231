"""The hooks that a coding agent's own settings name: what installing and uninstalling change there.

Sources: Claude Code's hooks reference (``settings.json``, release 2.1.319), and Codex's
``codex-rs/hooks/src/legacy_notify.rs`` (``notify`` in ``config.toml``: one program, to which Codex
adds the event as its last argument). Codex's newer ``[hooks]`` run only after the user has reviewed
them in Codex, so ``notify`` is used.

Both files are the user's: texts go in and come out, and what is not ours stays as it is.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import as_dict, as_list
from turnspan_clickhouse.files.toml_file import toml_tables

CLAUDE_EVENTS: Final = ("UserPromptSubmit", "Stop", "SessionEnd")
"""A hook for each tool call would cost the agent a process each, and the transcript has them."""
_SECONDS: Final = 10
_MARK: Final = ("hooks", "run")
"""The words of our command that follow the program."""
_NOTIFY: Final = re.compile(r"^notify[ \t]*=.*$\n?", re.MULTILINE)
_INDENT: Final = re.compile(r"^\{\r?\n?([ \t]+)\"")


class HookSettingsError(Exception):
    """A tool's settings cannot take the hook; ``str(error)`` says why, and what to do."""


@dataclass(frozen=True, slots=True)
class HookedTool:
    """A coding agent whose settings name programs to run."""

    kind: str
    """As ``turnspan import`` calls it."""
    home_variable: str
    """The environment variable that names its folder."""
    folder: str
    """Its folder in the user's home."""
    file: str
    install: Callable[[str, Sequence[str]], str]
    """The settings' text with our command."""
    uninstall: Callable[[str], str]
    """The settings' text without it."""
    installed: Callable[[str], Sequence[str]]
    """Our command, as the settings name it; empty: not at all."""

    def path(self, home: Path, environment: Mapping[str, str]) -> Path:
        """Its settings, of this user."""
        folder = environment.get(self.home_variable)
        return (Path(folder) if folder else home / self.folder) / self.file


def _is_ours(words: Sequence[str], kind: str) -> bool:
    return any(tuple(words[at : at + 3]) == (*_MARK, kind) for at in range(len(words)))


# -- Claude Code ------------------


def _claude_settings(text: str) -> dict[Any, Any]:
    try:
        loaded: Any = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise HookSettingsError(f"it is not JSON ({error}): correct it first") from None
    settings: dict[Any, Any] | None = as_dict(loaded)
    if settings is None or as_dict(settings.get("hooks", {})) is None:
        raise HookSettingsError("it, or its `hooks`, is no JSON object: correct it first")
    if any(as_list(groups) is None for groups in settings.get("hooks", {}).values()):
        raise HookSettingsError("an event of its `hooks` has no list: correct it first")
    return settings


def _claude_words(hook: Any) -> list[str]:
    command = (as_dict(hook) or {}).get("command")
    try:
        return shlex.split(command) if isinstance(command, str) else []
    except ValueError:  # a shell's own quoting, which is none of ours
        return []


def _claude_text(settings: Mapping[Any, Any], before: str) -> str:
    indent = _INDENT.match(before.lstrip("\ufeff"))
    written = json.dumps(settings, indent=indent[1] if indent else 2, ensure_ascii=False)
    return written + ("\n" if before.endswith("\n") or not before else "")


def _with_claude_hooks(text: str, command: Sequence[str]) -> str:
    settings = _claude_settings(_without_claude_hooks(text))
    hooks = settings.setdefault("hooks", {})
    ours = {"type": "command", "command": shlex.join(command), "timeout": _SECONDS}
    for event in CLAUDE_EVENTS:
        hooks.setdefault(event, []).append({"hooks": [ours]})
    return _claude_text(settings, text)


def _without_claude_hooks(text: str) -> str:
    settings = _claude_settings(text)
    events: dict[str, list[Any]] = settings.get("hooks", {})
    removed = False
    for event, groups in list(events.items()):
        left: list[Any] = []
        for group in groups:
            hooks = as_list((as_dict(group) or {}).get("hooks")) or []
            kept = [hook for hook in hooks if not _is_ours(_claude_words(hook), "claude-code")]
            if len(kept) == len(hooks):
                left.append(group)
            elif kept:
                left.append({**group, "hooks": kept})
        if left != groups:
            removed = True
            events[event] = left
            if not left:
                del events[event]
    if removed and not events:
        del settings["hooks"]
    return _claude_text(settings, text) if removed else text


def _claude_command(text: str) -> Sequence[str]:
    for groups in _claude_settings(text).get("hooks", {}).values():
        for group in groups:
            for hook in as_list((as_dict(group) or {}).get("hooks")) or []:
                words = _claude_words(hook)
                if _is_ours(words, "claude-code"):
                    return words
    return ()


# -- Codex ------------------


def _codex_settings(text: str) -> dict[str, Any]:
    try:
        return toml_tables(text)
    except ValueError as error:
        raise HookSettingsError(f"it {error}: correct it first") from None


def _codex_command(text: str) -> Sequence[str]:
    words = as_list(_codex_settings(text).get("notify")) or []
    named = [str(word) for word in words]
    return named if _is_ours(named, "codex") else ()


def _with_codex_notify(text: str, command: Sequence[str]) -> str:
    text = _without_codex_notify(text)
    settings = _codex_settings(text)
    if "notify" in settings:
        raise HookSettingsError(
            "its `notify` names another program, and Codex runs only one: have that program call "
            f"`{shlex.join(command)}` with its last argument, or remove `notify`"
        )
    # A key of no table stands before the first table; JSON's strings are TOML's.
    changed = f"notify = {json.dumps(list(command), ensure_ascii=False)}\n{text}"
    if _codex_settings(changed) != {"notify": list(command), **settings}:
        raise HookSettingsError("`notify` cannot be put into it: add it by hand")
    return changed


def _without_codex_notify(text: str) -> str:
    if not _codex_command(text):
        return text
    kept = _codex_settings(text)
    del kept["notify"]
    for found in _NOTIFY.finditer(text):
        changed = text[: found.start()] + text[found.end() :]
        try:
            if _codex_settings(changed) == kept:
                return changed
        except HookSettingsError:
            continue  # a line of a longer text, or the first of several
    raise HookSettingsError("its `notify` is not one line: remove it by hand")


TOOLS: Final = (
    HookedTool(
        *("claude-code", "CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
        *(_with_claude_hooks, _without_claude_hooks, _claude_command),
    ),
    HookedTool(
        *("codex", "CODEX_HOME", ".codex", "config.toml"),
        *(_with_codex_notify, _without_codex_notify, _codex_command),
    ),
)
