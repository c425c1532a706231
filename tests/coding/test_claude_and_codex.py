"""Recorded transcripts of Claude Code and Codex: every line, and the tools' own sums."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from support.coding_transcripts import MORE, imported, of_type, read
from support.imported import Imported
from support.shared import recorded_data
from turnspan_clickhouse.rows.tables import Definition, MessageRow
from turnspan_records.coding.transcripts.events import UserMessage

pytestmark = pytest.mark.large_data

UNKNOWN = ("session_branch", "session_simple", "session_toolcall", "codex/schema_drift", ".meta.")
"""Files of other readers' tests that no version of the tools has written."""


def real(tool: str) -> Iterator[tuple[Path, str]]:
    folder = recorded_data("coding")
    for line in (folder / "index.jsonl").read_text().splitlines():
        said = json.loads(line)
        if said["tool"] == tool and not any(each in said["file"] for each in UNKNOWN):
            path = folder / said["file"]
            yield path, path.read_text(errors="replace")


def values(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield cast("dict[str, Any]", value)


def all_tokens(made: Imported) -> tuple[int, int]:
    return (
        sum(call.input_tokens or 0 for call in made.calls),
        sum(call.output_tokens or 0 for call in made.calls),
    )


def referred_messages_are_there(made: Imported) -> bool:
    landed = {(row.scope, row.hash) for row in made.of(MessageRow)}
    used = {(c.session_id, h) for c in made.calls for h in c.input_messages + c.output_messages}
    return used <= landed


def claude_sums(text: str) -> tuple[int, int]:
    """The last usage of each message, as other readers of the format add it up."""
    usage: dict[str, Any] = {}
    for line in values(text):
        message: dict[str, Any] = line.get("message") or {}
        if line.get("type") != "assistant" or not message:
            continue
        if message.get("model") != "<synthetic>" and not line.get("isApiErrorMessage"):
            key = message.get("id") or line.get("uuid") or str(len(usage))
            usage[key] = message.get("usage") or usage.get(key) or {}
    kinds = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    given = sum(each.get(kind) or 0 for each in usage.values() for kind in kinds)
    return given, sum(each.get("output_tokens") or 0 for each in usage.values())


def test_claude_codes_lines_and_tokens() -> None:
    """Every line has become something; tokens are those of each message's last line."""
    files = 0
    for path, text in real("claude-code"):
        made = imported("claude-code", [path])
        assert sum(made.seen.values()) == len([x for x in text.splitlines() if x.strip()]), path
        broken = sum(each for (_, word), each in made.seen.items() if "understood" in word)
        assert broken == len(made.problems) <= 1, path
        assert referred_messages_are_there(made)
        if "trimmed for fixture" not in text:
            assert all_tokens(made) == claude_sums(text), path
        files += 1
    assert files == 42


def test_codexs_lines_and_tokens() -> None:
    """Tokens are Codex's own final total; no prompt is there twice."""
    files = 0
    for path, text in real("codex"):
        made = imported("codex", [path])
        assert sum(made.seen.values()) == len(text.splitlines()), path
        assert made.problems == []
        assert referred_messages_are_there(made)
        payloads: list[dict[str, Any]] = [line.get("payload") or {} for line in values(text)]
        if "trimmed for fixture" not in text:
            infos = [p["info"] for p in payloads if p.get("type") == "token_count" and p["info"]]
            totals = [info["total_token_usage"] for info in infos if "total_token_usage" in info]
            last = totals[-1] if totals else {"input_tokens": 0, "output_tokens": 0}
            assert all_tokens(made) == (last["input_tokens"], last["output_tokens"]), path
            prompts = [p["message"] for p in payloads if p.get("type") == "user_message"]
            assert [t.user_message for t in made.turns if t.user_message] == prompts, path
        files += 1
    assert files == 10


@pytest.mark.release
def test_all_files_together_are_the_same_records() -> None:
    """In any company, and twice: a session that stands in two files is there once."""
    folder = recorded_data("coding")
    made = imported("coding", [folder / "entireio__cli", folder / "EntityProcess__agentv"])
    again = imported("coding", [folder / "EntityProcess__agentv", folder / "entireio__cli"])
    assert made.rows.keys() == again.rows.keys()
    stable = (Definition, MessageRow)
    for key, row in made.rows.items():
        if not isinstance(row, stable):
            assert repr(row) == repr(again.rows[key])
    twice = [t for t in made.turns if t.session_id.startswith("0cf3db51")]
    assert len(twice) == len({turn.turn_id for turn in twice}) > 1


def test_what_claude_code_puts_in_is_its_text() -> None:
    """As the model read it, with the rest of the attachment beside; one without a text as it is."""
    common = {"type": "attachment", "sessionId": "s", "timestamp": "2026-11-27T14:11:31Z"}
    attachments = [
        {"type": "skill_listing", "content": "- loop: again", "skillCount": 1},
        {"type": "agent_listing_delta", "addedTypes": ["Plan"], "addedLines": ["- Plan", "- Go"]},
        {"type": "date_change", "newDate": "2026-11-28"},
    ]
    lines = [
        {**common, "uuid": f"u{at}", "attachment": attachment}
        for at, attachment in enumerate(attachments)
    ]
    events, _ = read(MORE["claude-code"], lines)
    assert [one.parts for one in of_type(UserMessage, events)] == [
        [{"type": "text", "content": "- loop: again",
          "other": {"type": "skill_listing", "skillCount": 1}}],
        [{"type": "text", "content": "- Plan\n- Go",
          "other": {"type": "agent_listing_delta", "addedTypes": ["Plan"]}}],
        [{"type": "date_change", "newDate": "2026-11-28"}],
    ]  # fmt: skip
