"""Codex's transcripts: lines of JSON in ``~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl``.

Learned from files of versions 0.50 to 0.146 and from the fixtures of other readers (there is no
public description; the types are those of openai/codex, ``codex-rs/protocol``). What has to be
known:

- What is said stands twice: as a ``response_item`` and as an ``event_msg`` for the screen.
- ``token_count`` comes when a reply is over, mostly after its tools have run, and often twice: it
  tells of a call where the total has changed. Its input has cached tokens in it, its output those
  of reasoning; ``info`` may be null.
- Only the first ``session_meta`` is the file's own: a resumed file has it again, a fork and a
  subagent have their parent's, with all that the parent had said.
- A session of a subagent has a file of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import as_dict
from turnspan_records.coding.transcripts.codex_lines import KIND, CodexReader
from turnspan_records.coding.transcripts.events import TranscriptReader
from turnspan_records.coding.transcripts.lines import first_value
from turnspan_records.coding.transcripts.wire_values import object_in, text_in

_ROLLOUT: Final = re.compile(r"rollout-.+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl")


class _Codex:
    kind = KIND

    def folders(self, home: Path, environment: Mapping[str, str]) -> Sequence[Path]:
        """As ``CodingTool``; archived sessions after the others, which win."""
        own = Path(environment.get("CODEX_HOME") or home / ".codex")
        return [own / "sessions", own / "archived_sessions"]

    def is_transcript(self, path: Path) -> bool:
        """As ``CodingTool``."""
        return path.suffix == ".jsonl"

    def is_own(self, first: Any) -> bool:
        """As ``CodingTool``."""
        line = as_dict(first) or {}
        return as_dict(line.get("payload")) is not None and line.get("type") in (
            *("session_meta", "turn_context", "response_item", "event_msg", "compacted"),
            "world_state",
        )

    def reader(self, path: Path) -> TranscriptReader:
        """As ``CodingTool``."""
        return CodexReader(path)

    def values(self, path: Path, value: Any) -> None:
        """As ``CodingTool``: no document is known."""

    def rows(self, path: Path) -> None:
        """As ``CodingTool``: files have lines."""

    def mains(self, paths: Sequence[Path]) -> Mapping[Path, Path]:
        """As ``NestedFiles``: by the id in a file's name, and the first line of each."""
        named = ((_ROLLOUT.fullmatch(path.name), path) for path in paths)
        by_id = {name[1]: path for name, path in named if name is not None}
        parents: dict[Path, Path] = {}
        for path in by_id.values():
            meta = as_dict((as_dict(first_value(path)) or {}).get("payload")) or {}
            source = object_in(meta, "source")
            spawn = as_dict(object_in(source, "subagent").get("thread_spawn")) or {}
            parent = by_id.get(text_in(spawn, "parent_thread_id"))
            if parent is not None and parent != path:
                parents[path] = parent
        found: dict[Path, Path] = {}
        for path in parents:
            main, seen = path, {path}
            while main in parents and parents[main] not in seen:
                main = parents[main]
                seen.add(main)
            if main != path:
                found[path] = main
        return found


CODEX: Final = _Codex()
