"""Transcripts of coding agents: the recorded files, and what a tool's reader makes of values."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import orjson

from support.imported import Imported, take_parts
from support.shared import recorded_data
from turnspan_records.coding.transcripts.events import AgentCall, CodingEvent
from turnspan_records.coding.transcripts.reader import CodingTool
from turnspan_records.coding.transcripts.tools import TOOLS as KNOWN
from turnspan_records.coding.transcripts.tools import coding_log

STREAMS = ("json_small.jsonl", "json_large.jsonl", "json_schema_drift.jsonl")
BESIDE = ("state.json", "summary.json", "store.db", *STREAMS)
"""The ends of names of what stands beside transcripts, and of Droid's printed streams."""
Event = TypeVar("Event")

_NAMES = {"gemini-cli": "gemini", "qwen-code": "qwen", "copilot": "copilot-cli"}
_ALL = {_NAMES.get(tool.kind, tool.kind): tool for tool in KNOWN}
"""By the names that the recorded data gives them."""
MORE = {name: _ALL[name] for name in ("claude-code", "codex")}
"""Those whose files are held to more (``test_claude_and_codex``)."""
TOOLS = {name: tool for name, tool in _ALL.items() if name not in MORE}
CODEX = MORE["codex"]
GEMINI_CLI, QWEN_CODE, OPENCODE = TOOLS["gemini"], TOOLS["qwen"], TOOLS["opencode"]
COPILOT, PI, KIMI_CODE, AIDER = (TOOLS[name] for name in ("copilot-cli", "pi", "kimi", "aider"))


def real_files(*tools: str) -> list[tuple[CodingTool, Path]]:
    """The files of tools in the recorded data, but for those that are no transcripts by themselves
    (parts of a session go with it) or of which nothing is read."""
    folder = recorded_data("coding")
    index = folder / "index.jsonl"
    if not index.is_file():
        return []
    lines = map(json.loads, index.read_text().splitlines())
    files = [(line["tool"], folder / line["file"]) for line in lines if line["tool"] in tools]
    parts = {"message", "part"}
    return [
        (_ALL[tool], path)
        for tool, path in files
        if not parts & set(path.parts[-3:-1]) and not path.name.endswith(BESIDE)
    ]


def items(tool: CodingTool, path: Path) -> list[Any]:
    rows = tool.rows(path)
    if rows is not None:
        return list(rows)
    text = path.read_bytes()
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return [parsed(line) for line in text.splitlines() if line.strip()]
    values = tool.values(document)
    return [document] if values is None else list(values)


def parsed(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def read(
    tool: CodingTool, values: Iterable[Any], path: Path = Path("session.jsonl")
) -> tuple[list[CodingEvent], Counter[str]]:
    """What has happened, and what became of each value."""
    reader, events = tool.reader(path), list[CodingEvent]()
    seen = Counter(reader.read(value, events) for value in values)
    reader.end(events)
    return events, seen


def imported(kind: str, paths: Sequence[Path], after: str = "", **how: Any) -> Imported:
    """What an import of files makes, as ``turnspan import`` does it, without a store."""
    return take_parts(coding_log(kind, paths, **how), after=after)


def calls(events: Iterable[CodingEvent]) -> list[AgentCall]:
    return [event for event in events if isinstance(event, AgentCall)]


def of_type(kind: type[Event], events: Iterable[CodingEvent]) -> list[Event]:
    return [event for event in events if isinstance(event, kind)]


def tokens(events: Iterable[CodingEvent]) -> int:
    """Of all calls, in and out: each cached and each reasoning token once."""
    used = [call.usage for call in calls(events)]
    return sum((one.input_tokens or 0) + (one.output_tokens or 0) for one in used)
