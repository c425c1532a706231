"""Codex's files: which are transcripts, and which of them belong together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from turnspan_records.coding.transcripts.codex import CodexReader, spawn_of
from turnspan_records.coding.transcripts.lines import first_value
from turnspan_records.coding.transcripts.reader import CodingTool
from turnspan_records.coding.transcripts.wire_values import WireFields, fields_of

_ROLLOUT: Final = re.compile(r"rollout-.+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl")


def _is_own(line: WireFields) -> bool:
    return line.maybe("payload") is not None and line.get("type") in (
        *("session_meta", "turn_context", "response_item", "event_msg", "compacted"),
        *("world_state", "token_usage_record"),
    )


def _mains(paths: Sequence[Path]) -> Mapping[Path, Path]:
    """By the id in a file's name, and the first line of each."""
    named = ((_ROLLOUT.fullmatch(path.name), path) for path in paths)
    by_id = {name[1]: path for name, path in named if name is not None}
    parents: dict[Path, Path] = {}
    for path in by_id.values():
        meta = fields_of(first_value(path)).object("payload")
        parent = by_id.get(spawn_of(meta).text("parent_thread_id"))
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


CODEX: Final = CodingTool(
    *("codex", CodexReader, _is_own, (".codex/sessions", ".codex/archived_sessions")),
    is_transcript=lambda path: path.suffix == ".jsonl",
    variable="CODEX_HOME",
    below=("sessions", "archived_sessions"),  # archived ones after the others, which win
    mains=_mains,
)
