"""The coding agents whose transcripts are read, and where a user's are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final

from turnspan_records.coding.transcripts.aider import AIDER
from turnspan_records.coding.transcripts.claude_code import CLAUDE_CODE
from turnspan_records.coding.transcripts.codex_files import CODEX
from turnspan_records.coding.transcripts.coding_log import CodingLog
from turnspan_records.coding.transcripts.copilot import COPILOT
from turnspan_records.coding.transcripts.gemini_cli import GEMINI_CLI, QWEN_CODE
from turnspan_records.coding.transcripts.lines import first_value
from turnspan_records.coding.transcripts.opencode import OPENCODE
from turnspan_records.coding.transcripts.pi import OPENCLAW, PI
from turnspan_records.coding.transcripts.reader import CodingTool
from turnspan_records.coding.transcripts.role_tools import ROLE_TOOLS
from turnspan_records.importing.files.source_file import unreadable
from turnspan_records.importing.sources import SourceLogError

TOOLS: Final[tuple[CodingTool, ...]] = (
    GEMINI_CLI,
    QWEN_CODE,
    CLAUDE_CODE,
    CODEX,
    OPENCODE,
    COPILOT,
    PI,
    OPENCLAW,
    AIDER,
    *ROLE_TOOLS,
)
"""All of them; the first that knows a file has it (Qwen Code's are like Claude Code's)."""
EVERY: Final = "coding"
"""The kind of import that takes all."""


def coding_log(
    kind: str,
    paths: Sequence[Path] = (),
    *,
    since: float = 0,
    home: Path | None = None,
    environment: Mapping[str, str] | None = None,
    live: bool = False,
) -> CodingLog:
    """The transcripts of a tool (or of all: ``EVERY``).

    Args:
        kind: of the tool.
        paths: files and folders; none: where the tools keep theirs.
        since: only files that were written after this time, in s since the epoch.
        home: of the user; None: of this one.
        environment: of the process; None: of this one.
        live: as ``CodingLog``.

    Raises:
        SourceLogError: there is no transcript there, or one cannot be read.
    """
    tools = [tool for tool in TOOLS if kind in (EVERY, tool.kind)]
    if not tools:
        known = ", ".join((EVERY, *(tool.kind for tool in TOOLS)))
        raise SourceLogError(f"{kind} is no known coding agent: use one of {known}.")
    home = Path.home() if home is None else home
    environment = os.environ if environment is None else environment
    files: dict[Path, CodingTool | None] = {}
    if paths:
        for path in paths:
            files.update(_given(path.resolve(), tools))
        places = sorted({str(path.resolve()) for path in paths})
    else:
        folders = [(tool, folder) for tool in tools for folder in tool.folders(home, environment)]
        for tool, folder in folders:
            files.update((path, tool) for path in _files_in(folder) if tool.is_transcript(path))
        places = [f"the folders of {home}"]
        if not files:
            looked = ", ".join(str(folder) for _, folder in folders)
            raise SourceLogError(f"There is no transcript in {looked}: name a file or a folder.")
    alone = {path.resolve() for path in paths if path.is_file()}
    chosen = (path for path in sorted(files) if not since or path.stat().st_mtime >= since)
    taken = {path: files[path] for path in chosen}
    return CodingLog(kind, _identity(places), taken, live=live, alone=alone)


def _identity(places: list[str]) -> str:
    if len(places) == 1:
        return places[0]
    digest = blake2b("\0".join(places).encode("utf-8", "surrogateescape"), digest_size=6)
    return f"{len(places)} places from {places[0]} ({digest.hexdigest()})"


def _given(path: Path, tools: Sequence[CodingTool]) -> Iterator[tuple[Path, CodingTool | None]]:
    if not path.is_dir():
        yield path, _tool_of(path, tools)
        return
    for each in _files_in(path):
        named = [tool for tool in tools if tool.is_transcript(each)]
        # Another's may have such a name.
        tool = (_tool_of(each, named) or _tool_of(each, tools)) if named else None
        if tool is not None:
            yield each, tool


def _files_in(folder: Path) -> Iterator[Path]:
    """The files of a folder, in the order of their names; a file is its own only one."""
    if folder.is_file():
        yield folder
    for at, folders, names in os.walk(folder):
        folders.sort()
        yield from (path for name in sorted(names) if (path := Path(at, name)).is_file())


def _tool_of(path: Path, tools: Sequence[CodingTool]) -> CodingTool | None:
    try:
        first = first_value(path)
    except OSError as error:
        raise unreadable(path, error) from None
    if first is None:  # no JSON, or broken: its name says whose it is
        return next((tool for tool in tools if tool.is_transcript(path)), None)
    return next((tool for tool in tools if tool.is_own(first)), None)
