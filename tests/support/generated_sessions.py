"""Sessions of Claude Code and Codex that were never held, line by line, of any length."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from support.imported import iso

FOLDER = "/home/ada/shop"


def claude_lines(
    session: str, turns: int, *, seed: int = 1, words: int = 300, compact_every: int = 40
) -> Iterator[dict[str, Any]]:
    """Lines of a session: each turn has a few rounds, each with thoughts, a tool and its result."""
    drawn = random.Random(f"{session}{seed}")
    sounds = ("ta", "lo", "mi", "ren", "sko", "va", "per", "un", "dir", "ex")
    vocabulary = ["".join(drawn.choices(sounds, k=4)) for _ in range(5_000)]
    parent: str | None = None
    number = 0

    def line(kind: str, **fields: Any) -> dict[str, Any]:
        nonlocal parent, number
        number += 1
        uuid = f"{session}-{number}"
        made = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": FOLDER,
            "sessionId": session,
            "version": "2.1.50",
            "gitBranch": "main",
            "type": kind,
            "uuid": uuid,
            "timestamp": iso(number * 3),
            **fields,
        }
        parent = uuid
        return made

    def text() -> str:
        return " ".join(drawn.choices(vocabulary, k=words))

    for turn in range(turns):
        if turn and turn % compact_every == 0:
            parent = None
            yield line(
                "system",
                subtype="compact_boundary",
                compactMetadata={"trigger": "auto", "preTokens": 150_000},
            )
            yield line("user", isCompactSummary=True, message={"role": "user", "content": text()})
        yield line("user", message={"role": "user", "content": f"Do {turn}. {text()[:200]}"})
        for round_ in range(drawn.randint(2, 8)):
            call = f"toolu_{session}_{turn}_{round_}"
            usage = {"input_tokens": 10, "cache_read_input_tokens": 1000 * turn}
            blocks: list[dict[str, Any]] = [
                {"type": "thinking", "thinking": text()[:500], "signature": "c2ln" * 40},
                {"type": "text", "text": text()[:300]},
                {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": text()}},
            ]
            for place, block in enumerate(blocks):
                yield line(
                    "assistant",
                    requestId=f"req_{call}",
                    message={
                        "id": f"msg_{call}",
                        "type": "message",
                        "role": "assistant",
                        "model": "claude-opus-4-5",
                        "content": [block],
                        "stop_reason": "tool_use" if place == 2 else None,
                        "usage": {**usage, "output_tokens": 300 if place == 2 else 1},
                    },
                )
            result = {"type": "tool_result", "tool_use_id": call, "content": text()}
            yield line(
                "user",
                message={"role": "user", "content": [result]},
                toolUseResult={"stdout": text(), "stderr": ""},
            )
        yield line(
            "assistant",
            requestId=f"req_{session}_{turn}",
            message={
                "id": f"msg_{session}_{turn}",
                "role": "assistant",
                "model": "claude-opus-4-5",
                "content": [{"type": "text", "text": f"Done {turn}."}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 3, "output_tokens": 4},
            },
        )
