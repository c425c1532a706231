"""Aider's history: ``.aider.chat.history.md`` in a repository's folder, one file for all runs.

Source: ``aider/io.py`` and ``aider/coders/base_coder.py`` of Aider-AI/aider (0.84 to 0.86), and
real files of them. A run begins with ``# aider chat started at`` and a local time without its zone
(taken as UTC). ``#### `` begins each line of a prompt, ``> `` what the tool says; the rest is the
answer, in which fenced lines may begin like those.

Counting: ``> Tokens: 3.2k sent, 21 received. Cost: $0.0082 message, $0.02 session.`` is of the
answer before it. Numbers are rounded (``rounded`` among the attributes); ``session`` is a running
sum, and is not added. The file has no ids and no times: a message's is its place in its run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import parts_of
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    Interruption,
    SessionStart,
    UserMessage,
)
from turnspan_records.coding.transcripts.reader import CodingTool
from turnspan_records.coding.transcripts.role_reader import Message, RoleReader
from turnspan_records.coding.transcripts.wire_values import (
    WireFields,
    dollars_of,
    own_note,
    time_of,
)

_RUN: Final = "# aider chat started at "
_PROMPT: Final = "####"
_FENCE: Final = re.compile(r"\s{0,3}(```+|~~~+)")
_MODEL: Final = re.compile(r"(?:Main model|Model): (?:(\w+)/)?(\S+) with ")
_VERSION: Final = re.compile(r"Aider v(\S+)")
_USED: Final = re.compile(r"([\d.]+)([kM]?) (sent|received|cache write|cache hit)")
_COST: Final = re.compile(r"Cost: \$([\d.]+) message")
_COMMIT: Final = re.compile(r"Commit ([0-9a-f]{7,40}) ")
_UNITS: Final = {"": 1, "k": 1_000, "M": 1_000_000}
_PROVIDERS: Final = {"gemini": "gcp.gemini", "vertex_ai": "gcp.vertex_ai", "bedrock": "aws.bedrock"}


def _message(value: WireFields, reader: RoleReader) -> Message:
    kind, text, start = value.text("kind"), value.text("text").strip(), reader.start
    if kind == "run":
        name = start.session_id.partition(" ")[0]
        run = {"start": text}
        return SessionStart(f"{name} {text}", folder=start.folder, attributes=run)
    time = time_of(start.attributes.get("start"))
    answer = AgentCall(f"answer {value.get('number')}", time)
    if kind == "prompt":
        return UserMessage("", time, parts_of(text))
    if kind == "answer":
        answer.parts = parts_of(text)
        return answer
    if (model := _MODEL.match(text)) is not None:
        provider = model[1] or ""
        reader.model, reader.provider = model[2], _PROVIDERS.get(provider, provider)
        return own_note("model")
    if (version := _VERSION.match(text)) is not None:
        return replace(start, version=version[1], instructions="")
    if text.startswith("Tokens: ") and value.get("number"):
        answer.usage, cost = _usage(text), _COST.search(text)
        answer.cost_usd = dollars_of(cost[1]) if cost else None
        answer.attributes["rounded"] = True
        return answer
    if (commit := _COMMIT.match(text)) is not None and value.get("number"):
        answer.attributes["commit"] = commit[1]
        return answer
    interrupted = text.startswith("^C KeyboardInterrupt")
    return Interruption(time, "user") if interrupted else own_note("notice")


def _blocks(path: Path) -> Iterator[dict[str, Any]]:
    """Lines of one kind that follow each other are a block; of the tool's, each line is one."""
    block, answers, fence = dict[str, Any](), 0, ""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            text = line.rstrip()
            kind, text = _kind(text, fence)
            if kind == "answer":
                marker = _FENCE.match(text)
                if marker and (not fence or marker[1].startswith(fence)):
                    fence = "" if fence else marker[1]
                if not text and block.get("kind") != "answer":
                    continue
            if kind == block.get("kind") and kind in ("prompt", "answer"):
                block["text"] = f"{block['text']}\n{text}"
                continue
            if block:
                yield block
            answers += kind == "answer"
            block = {"kind": kind, "text": text, "number": answers}
            fence = fence if kind == "answer" else ""
    if block:
        yield block


def _kind(text: str, fence: str) -> tuple[str, str]:
    if text.startswith(_RUN):
        return "run", text.removeprefix(_RUN)
    if not fence:
        if text.startswith(_PROMPT) and text[4:5] in ("", " "):
            return "prompt", text[5:]
        if text == ">" or text.startswith("> "):
            return "tool", text[2:]
    return "answer", text


def _usage(text: str) -> TokenUsage:
    counts = {kind: round(float(n) * _UNITS[unit]) for n, unit, kind in _numbers(text)}
    return TokenUsage(
        input_tokens=counts.get("sent"),
        output_tokens=counts.get("received"),
        cache_read_tokens=counts.get("cache hit"),
        cache_write_tokens=counts.get("cache write"),
    )


def _numbers(text: str) -> list[tuple[str, str, str]]:
    return [found for found in _USED.findall(text[:200]) if found[0].replace(".", "", 1).isdigit()]


AIDER: Final = CodingTool(
    "aider",
    lambda path: RoleReader(
        path, _message, SessionStart(path.parent.name, folder=str(path.parent))
    ),
    lambda value: False,  # Markdown is told by its name
    variable="AIDER_CHAT_HISTORY_FILE",  # else its files are in repositories, which the user names
    is_transcript=lambda path: path.name == ".aider.chat.history.md",
    rows=lambda path: _blocks(path) if path.suffix == ".md" else None,
)
