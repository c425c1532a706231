"""The hooks that a coding agent's own settings name: what installing and uninstalling change there.

Sources: Claude Code's hooks reference (``settings.json``, release 2.1.319); Codex's hooks page
(``hooks.json``, releases from 0.146 on) and ``codex-rs/hooks/src``. Both files have the same form,
and an event may have several hooks: the user's stay, and so does Codex's older ``notify``, of which
there is only one.

The file is the user's: a text goes in and one comes out.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import as_dict, as_list
from turnspan_clickhouse.files.toml_file import toml_tables

_MARK: Final = ("hooks", "run")
"""The words of our command that follow the program."""
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
    events: Mapping[str, int]
    """What our command is called at, and how many seconds it may take."""
    trust_file: str = ""
    """The file beside it in which the tool notes the hooks that its user trusts; empty: it runs all
    of them."""

    def path(self, home: Path, environment: Mapping[str, str]) -> Path:
        """Its settings, of this user."""
        folder = environment.get(self.home_variable)
        return (Path(folder) if folder else home / self.folder) / self.file

    def install(self, text: str, command: Sequence[str]) -> str:
        """The settings' text with our command.

        Raises:
            HookSettingsError: it is not as the tool reads it.
        """
        settings = _settings(self.uninstall(text))
        hooks = settings.setdefault("hooks", {})
        ours = {"type": "command", "command": shlex.join(command)}
        for event, seconds in self.events.items():
            hooks.setdefault(event, []).append({"hooks": [{**ours, "timeout": seconds}]})
        return _written(settings, text)

    def uninstall(self, text: str) -> str:
        """The settings' text without it. Raises ``HookSettingsError``."""
        settings = _settings(text)
        ours = list(self._ours(settings))
        if not ours:
            return text
        events: dict[str, list[Any]] = settings["hooks"]
        for event, group, hook, _ in reversed(ours):  # the last first: places before it stay
            del events[event][group]["hooks"][hook]
            if not events[event][group]["hooks"]:
                del events[event][group]
            if not events[event]:
                del events[event]
        if not events:
            del settings["hooks"]
        return _written(settings, text)

    def installed(self, text: str) -> Sequence[str]:
        """Our command, as the settings name it; empty: not at all. Raises ``HookSettingsError``."""
        return next((words for *_, words in self._ours(_settings(text))), ())

    def is_trusted(self, path: Path, text: str) -> bool:
        """Whether the tool runs all our hooks in its settings, which are this text.

        A hook that was changed after its user had trusted it cannot be told from one that was not.
        """
        if not self.trust_file:
            return True
        try:
            found = toml_tables(path.with_name(self.trust_file).read_text("utf-8"))
        except (OSError, ValueError):  # without the file no hook is trusted
            found = {}
        states = as_dict((as_dict(found.get("hooks")) or {}).get("state")) or {}
        keys = (
            f":{re.sub('(?<!^)(?=[A-Z])', '_', event).lower()}:{group}:{hook}"
            for event, group, hook, _ in self._ours(_settings(text))
        )
        places = {str(path), str(path.resolve())}
        return all(
            any((as_dict(states.get(place + key)) or {}).get("trusted_hash") for place in places)
            for key in keys
        )

    def _ours(self, settings: Mapping[Any, Any]) -> Iterator[tuple[str, int, int, list[str]]]:
        """Our hooks: event, place of its group, place in the group, words."""
        mark = (*_MARK, self.kind)
        for event, groups in settings.get("hooks", {}).items():
            for at, group in enumerate(groups):
                for number, hook in enumerate(as_list((as_dict(group) or {}).get("hooks")) or []):
                    words = _words(hook)
                    if any(tuple(words[one : one + 3]) == mark for one in range(len(words))):
                        yield event, at, number, words


def _settings(text: str) -> dict[Any, Any]:
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


def _words(hook: Any) -> list[str]:
    command = (as_dict(hook) or {}).get("command")
    try:
        return shlex.split(command) if isinstance(command, str) else []
    except ValueError:  # a shell's own quoting, which is none of ours
        return []


def _written(settings: Mapping[Any, Any], before: str) -> str:
    indent = _INDENT.match(before.lstrip("\ufeff"))
    written = json.dumps(settings, indent=indent[1] if indent else 2, ensure_ascii=False)
    return written + ("\n" if before.endswith("\n") or not before else "")


# A hook for each tool call would cost the agent a process each, and the transcript has them. Claude
# Code tells of no interruption; for its `StopFailure`, a release before 2.1.101 would ignore the
# whole file. Codex leaves out events that it does not know.
_TURN: Final = {"UserPromptSubmit": 10, "Stop": 10}

TOOLS: Final = (
    HookedTool(
        *("claude-code", "CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
        {**_TURN, "SessionEnd": 10},
    ),
    HookedTool(
        *("codex", "CODEX_HOME", ".codex", "hooks.json"),
        {**_TURN, "Interrupt": 3, "SessionEnd": 3},
        "config.toml",
    ),
)
