"""The importers of coding agents' transcripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnspan_console.options import optional, read_window, together

if TYPE_CHECKING:
    from turnspan_records.coding.transcripts.coding_log import CodingLog

_transcripts = together(
    click.argument(
        "paths", nargs=-1, metavar="[FILE|FOLDER]...", type=click.Path(exists=True, path_type=Path)
    ),
    optional(
        "--since",
        "WHEN",
        "Only files that were written since: 30m, 12h, 7d, 2w, or 2026-11-01[T09:30] (UTC).",
    ),
)
"""``[FILE|FOLDER]...`` and ``--since``."""


def _log(kind: str, paths: tuple[Path, ...], since: str | None) -> CodingLog:
    from turnspan_records.coding.transcripts.tools import coding_log

    after = read_window(since, None).since.timestamp() if since else 0.0
    return coding_log(kind, paths, since=after)


@click.command(short_help="Import the transcripts of all coding agents.")
@_transcripts
def coding(paths: tuple[Path, ...], since: str | None) -> CodingLog:
    """Import the transcripts of all coding agents, from their own folders or from FILE
    or FOLDER.

    A prompt becomes a turn with its model calls, tools and subagents. Later imports read only files
    that have changed. The project is the name of the repository or of its folder.

    \b
      turnspan import coding --since 30d
    """
    return _log("coding", paths, since)


def _of_tool(kind: str, name: str, folder: str) -> click.Command:
    """The command that imports one tool's."""

    @click.command(
        help=f"Import {name}'s transcripts, from {folder} or from FILE or FOLDER."
        f"\n\n\b\n  turnspan import {kind}",
        short_help=f"Import {name}'s transcripts.",
    )
    @_transcripts
    def command(paths: tuple[Path, ...], since: str | None) -> CodingLog:
        return _log(kind, paths, since)

    return command


claude_code = _of_tool("claude-code", "Claude Code", "~/.claude/projects")
codex = _of_tool("codex", "Codex", "~/.codex/sessions")
gemini_cli = _of_tool("gemini-cli", "Gemini CLI", "~/.gemini/tmp")
opencode = _of_tool("opencode", "OpenCode", "~/.local/share/opencode")
copilot = _of_tool("copilot", "Copilot CLI", "~/.copilot")
pi = _of_tool("pi", "Pi", "~/.pi/agent/sessions")
