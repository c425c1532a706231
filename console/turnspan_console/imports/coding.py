"""The importers of coding agents' transcripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnspan_console.options import optional, read_window, together

if TYPE_CHECKING:
    from turnspan_records.coding.transcripts.coding_log import CodingLog

_SINCE = optional(
    "--since",
    "WHEN",
    "Only files that were written since: 30m, 12h, 7d, 2w, or 2026-11-01[T09:30] (UTC).",
)
_transcripts = together(
    click.argument(
        "paths", nargs=-1, metavar="[FILE|FOLDER]...", type=click.Path(exists=True, path_type=Path)
    ),
    _SINCE,
)
"""``[FILE|FOLDER]...`` and ``--since``."""


def _log(kind: str, paths: tuple[Path, ...], since: str | None) -> CodingLog:
    from turnspan_records.coding.transcripts.tools import coding_log

    after = read_window(since, None).since.timestamp() if since else 0.0
    return coding_log(kind, paths, since=after)


@click.command(short_help="Import the transcripts of all coding agents.")
@click.argument(
    "paths",
    nargs=-1,
    metavar="[FOLDER]...",
    type=click.Path(exists=True, path_type=Path),
)
@_SINCE
def coding(paths: tuple[Path, ...], since: str | None) -> CodingLog:
    """Import the transcripts of all coding agents, from their own folders or from FOLDER.

    A prompt becomes a turn with its model calls, tools and subagents. Later imports read only files
    that have changed. The project is the name of the repository or of its folder.

    \b
      turnspan import coding --since 30d
    """
    return _log("coding", paths, since)


@click.command(short_help="Import Claude Code's transcripts.")
@_transcripts
def claude_code(paths: tuple[Path, ...], since: str | None) -> CodingLog:
    """Import Claude Code's transcripts, from ~/.claude/projects or from FILE or FOLDER.

    \b
      turnspan import claude-code
    """
    return _log("claude-code", paths, since)


@click.command(short_help="Import Codex's transcripts.")
@_transcripts
def codex(paths: tuple[Path, ...], since: str | None) -> CodingLog:
    """Import Codex's transcripts, from ~/.codex/sessions or from FILE or FOLDER.

    \b
      turnspan import codex
    """
    return _log("codex", paths, since)


@click.command(short_help="Import Gemini CLI's transcripts.")
@_transcripts
def gemini_cli(paths: tuple[Path, ...], since: str | None) -> CodingLog:
    """Import Gemini CLI's transcripts, from ~/.gemini/tmp or from FILE or FOLDER.

    \b
      turnspan import gemini-cli
    """
    return _log("gemini-cli", paths, since)


@click.command(short_help="Import OpenCode's transcripts.")
@_transcripts
def opencode(paths: tuple[Path, ...], since: str | None) -> CodingLog:
    """Import OpenCode's transcripts, from ~/.local/share/opencode or from FILE or FOLDER.

    \b
      turnspan import opencode
    """
    return _log("opencode", paths, since)


@click.command(short_help="Import Copilot CLI's transcripts.")
@_transcripts
def copilot(paths: tuple[Path, ...], since: str | None) -> CodingLog:
    """Import Copilot CLI's transcripts, from ~/.copilot or from FILE or FOLDER.

    \b
      turnspan import copilot
    """
    return _log("copilot", paths, since)


@click.command(short_help="Import Pi's transcripts.")
@_transcripts
def pi(paths: tuple[Path, ...], since: str | None) -> CodingLog:
    """Import Pi's transcripts, from ~/.pi/agent/sessions or from FILE or FOLDER.

    \b
      turnspan import pi
    """
    return _log("pi", paths, since)
