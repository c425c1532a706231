"""Transcripts of Claude Code, written line by line as it writes them."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any


class ClaudeSession:
    """A session's transcript that grows, a second a line from when it ``began``."""

    def __init__(
        self,
        path: Path,
        cwd: str = "/work/shop",
        began: datetime = datetime(2026, 11, 20, 10, tzinfo=timezone.utc),
    ) -> None:
        self.path = path
        self.id = path.stem
        self._cwd = cwd
        self._at = began
        self._lines = 0
        self._parent: str | None = None
        path.parent.mkdir(parents=True, exist_ok=True)

    @property
    def time(self) -> float:
        """When its last line was written, in seconds since the epoch."""
        return self._at.timestamp()

    def ask(self, text: str) -> None:
        """A prompt of the user."""
        self._line("user", message={"role": "user", "content": text})

    def use(self, request: str, call: str, name: str, **arguments: Any) -> None:
        """A reply that asks for a tool."""
        block = {"type": "tool_use", "id": call, "name": name, "input": arguments}
        self._reply(request, block, "tool_use")

    def result(self, call: str, text: str) -> None:
        """A tool's result."""
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        self._line("user", message={"role": "user", "content": [block]})

    def answer(self, request: str, text: str) -> None:
        """A reply that ends the turn."""
        self._reply(request, {"type": "text", "text": text}, "end_turn")

    def _reply(self, request: str, block: dict[str, Any], stop: str) -> None:
        usage = {"input_tokens": 3, "cache_read_input_tokens": 100, "output_tokens": 20}
        message: dict[str, Any] = {
            "id": f"msg_{request}",
            "role": "assistant",
            "model": "claude-opus-4-6",
        }
        message |= {"content": [block], "stop_reason": stop, "usage": usage}
        self._line("assistant", requestId=request, message=message)

    def _line(self, kind: str, **said: Any) -> None:
        self._lines += 1
        self._at += timedelta(seconds=1)
        uuid = f"{self.id[:8]}-0000-4000-8000-{self._lines:012d}"
        line = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": self._cwd,
            "sessionId": self.id,
            "version": "2.1.50",
            "gitBranch": "main",
            "type": kind,
            "uuid": uuid,
            **said,
            "timestamp": self._at.isoformat().replace("+00:00", "Z"),
        }
        self._parent = uuid
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
