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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.events import SessionStart
from turnspan_records.coding.transcripts.json_tool import JsonTool
from turnspan_records.coding.transcripts.role_messages import RoleMessage, RoleReader, Unwrapped
from turnspan_records.coding.transcripts.wire_values import dollars_of, own_note, text_in, time_of

_NAME: Final = ".aider.chat.history.md"
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


class AiderHistory(JsonTool):
    """Aider: its files are in repositories, which the user names."""

    def folders(self, home: Path, environment: Mapping[str, str]) -> Sequence[Path]:
        """As ``CodingTool``: where the user has said so, else in no folder of its own."""
        named = environment.get("AIDER_CHAT_HISTORY_FILE", "")
        return [Path(named)] if named else []

    def is_transcript(self, path: Path) -> bool:
        """As ``CodingTool``."""
        return path.name == _NAME

    def is_own(self, first: Any) -> bool:
        """As ``CodingTool``: Markdown is told by its name."""
        return False

    def reader(self, path: Path) -> RoleReader:
        """As ``CodingTool``."""
        folder = str(path.parent)
        return RoleReader(path, _message, SessionStart(path.parent.name, folder=folder))

    def rows(self, path: Path) -> Iterator[Any] | None:
        """As ``CodingTool``: runs, prompts, answers and lines of the tool."""
        return _blocks(path) if path.suffix == ".md" else None


AIDER: Final = AiderHistory("aider")


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


def _message(block: dict[str, Any], start: SessionStart) -> Unwrapped:
    kind, text = text_in(block, "kind"), text_in(block, "text").strip()
    if kind == "run":
        name = start.session_id.partition(" ")[0]
        session = SessionStart(f"{name} {text}", folder=start.folder)
        session.attributes["start"] = text
        return session
    time = time_of(start.attributes.get("start"))
    answer = RoleMessage("assistant", id=f"answer {block.get('number')}", time=time)
    if kind == "prompt":
        return RoleMessage("user", text, time=time)
    if kind == "answer":
        answer.content = text
        return answer
    if (model := _MODEL.match(text)) is not None:
        provider = model[1] or ""
        return RoleMessage("model", model=model[2], provider=_PROVIDERS.get(provider, provider))
    if (version := _VERSION.match(text)) is not None:
        return SessionStart(start.session_id, version[1], start.folder, attributes=start.attributes)
    if text.startswith("Tokens: ") and block.get("number"):
        answer.usage, cost = _usage(text), _COST.search(text)
        answer.cost_usd = dollars_of(cost[1]) if cost else None
        answer.attributes["rounded"] = True
        return answer
    if (commit := _COMMIT.match(text)) is not None and block.get("number"):
        answer.attributes["commit"] = commit[1]
        return answer
    if text.startswith("^C KeyboardInterrupt"):
        return RoleMessage("interruption", time=time)
    return own_note("notice")


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
