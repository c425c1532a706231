"""Claude Code's transcripts: lines of JSON in ``~/.claude/projects/<folder>/<session>.jsonl``.

Learned from files of versions 1.0.0 to 2.1.220 and from the fixtures of other readers (there is no
public description). What has to be known:

- A reply is a line for each of its blocks, all with the message's id and the request's; the usage
  of the last one holds, and some versions (2.1.4 to 2.1.50) never write the final one.
- Tools' results are user messages. ``toolUseResult`` of a Task has the usage of the subagent's last
  call: it is not added.
- A subagent's lines have ``isSidechain``: in the session's file (1.0), in ``agent-<id>.jsonl``
  beside it (2.0), in ``<session>/subagents/`` (2.1), and once more in ``agent_progress`` lines.
- ``input_tokens`` is without what is read from and written to the cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import as_dict, as_list, as_text
from turnspan_records.coding.transcripts.claude_lines import KIND, NOTES, TITLES, ClaudeReader
from turnspan_records.coding.transcripts.events import TranscriptReader
from turnspan_records.coding.transcripts.lines import first_value
from turnspan_records.coding.transcripts.wire_values import text_in

_AGENT: Final = "agent-"


class _ClaudeCode:
    kind = KIND

    def folders(self, home: Path, environment: Mapping[str, str]) -> Sequence[Path]:
        """``CLAUDE_CONFIG_DIR`` may name several, with commas between."""
        named = [each for each in environment.get("CLAUDE_CONFIG_DIR", "").split(",") if each]
        places = [Path(each) for each in named] or [home / ".claude", home / ".config" / "claude"]
        return [place / "projects" for place in places]

    def is_transcript(self, path: Path) -> bool:
        """As ``CodingTool``."""
        return path.suffix == ".jsonl"

    def is_own(self, first: Any) -> bool:
        """As ``CodingTool``."""
        line = as_dict(first) or {}
        kind = text_in(line, "type")
        if "systemPayload" in line or "parts" in (as_dict(line.get("message")) or {}):
            return False  # Qwen Code's, which are alike
        if kind in ("user", "assistant"):
            return "message" in line and not {"payload", "data"} & line.keys()
        if kind in ("system", "progress", "attachment"):
            return bool({"uuid", "sessionId", "attachment", "toolUseID"} & line.keys())
        return kind in NOTES or (kind in TITLES and ("leafUuid" in line or "sessionId" in line))

    def reader(self, path: Path) -> TranscriptReader:
        """As ``CodingTool``."""
        return ClaudeReader(path)

    def values(self, path: Path, value: Any) -> Sequence[Any] | None:
        """As ``CodingTool``: an array of lines is what some exports are."""
        return as_list(value)

    def rows(self, path: Path) -> None:
        """As ``CodingTool``: files have lines."""

    def mains(self, paths: Sequence[Path]) -> Mapping[Path, Path]:
        """As ``NestedFiles``."""
        known = set(paths)
        found: dict[Path, Path] = {}
        for path in paths:
            if not path.name.startswith(_AGENT):
                continue
            if path.parent.name == "subagents":
                main = path.parent.parent.with_suffix(".jsonl")
            else:
                session = as_text((as_dict(first_value(path)) or {}).get("sessionId"))
                main = path.with_name(f"{session}.jsonl")
            if main in known and not main.name.startswith(_AGENT):
                found[path] = main
        return found


CLAUDE_CODE: Final = _ClaudeCode()
