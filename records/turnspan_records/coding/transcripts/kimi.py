"""Kimi Code's sessions: ``sessions/<folder>/<session>/agents/<agent>/wire.jsonl``.

Learned from the fixtures of jazzyalex/agent-sessions (protocol 1.4). A prompt stands in
``turn.prompt`` and again in ``context.append_message``; a step of the loop is one call, in lines
from ``step.begin`` to ``step.end``.

Counting: ``step.end`` has a call's usage, ``usage.record`` of the scope ``turn`` says it again;
that of the scope ``session`` is the call that wrote a compaction's summary. ``inputOther`` is
without what was read from and written to the cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import as_dict
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import call_part
from turnspan_records.coding.transcripts.events import SessionStart
from turnspan_records.coding.transcripts.json_tool import JsonTool
from turnspan_records.coding.transcripts.role_messages import RoleMessage, RoleReader, Unwrapped
from turnspan_records.coding.transcripts.wire_values import (
    count_of,
    object_in,
    own_note,
    text_in,
    time_of,
    unknown,
    usage_of,
)

_NOTES: Final = ("llm", "permission", "plugin", "plan_mode", "runtime", "token_counting", "tools")
"""The first words of types that say something of the tool."""
_MORE_NOTES: Final = ("full_compaction.begin", "full_compaction.complete", "turn.ended")


class KimiCode(JsonTool):
    """Kimi Code."""

    def is_transcript(self, path: Path) -> bool:
        """As ``CodingTool``."""
        return path.name == "wire.jsonl"

    def is_own(self, first: Any) -> bool:
        """As ``CodingTool``."""
        value = as_dict(first) or {}
        return value.get("type") == "metadata" and "protocol_version" in value

    def reader(self, path: Path) -> RoleReader:
        """As ``CodingTool``."""
        agents = path.parent.parent
        if agents.name != "agents" or not self.is_transcript(path):
            return RoleReader(path, _message, SessionStart(path.stem))
        start = SessionStart(agents.parent.name)
        if path.parent.name != "main":
            start.agent_id, start.agent_name = path.parent.name, "subagent"
        return RoleReader(path, _message, start)

    def mains(self, paths: Sequence[Path]) -> Mapping[Path, Path]:
        """As ``NestedFiles``."""
        main = {path.parent.parent: path for path in paths if path.parent.name == "main"}
        agents = (path for path in paths if path.parent.parent.name == "agents")
        return {p: main[p.parent.parent] for p in agents if main.get(p.parent.parent, p) != p}


KIMI_CODE: Final = KimiCode("kimi", ".kimi-code/sessions")


def _message(line: dict[str, Any], start: SessionStart) -> Unwrapped:
    kind, time = text_in(line, "type"), time_of(line.get("time"))
    if kind in ("metadata", "config.update", "profile.bind"):
        place = object_in(line, "environmentDisclosure")
        folder = text_in(line, "cwd") or text_in(place, "cwd") or start.folder
        prompt = text_in(line, "systemPrompt") or start.instructions
        return SessionStart(
            start.session_id,
            folder=folder,
            agent_name=start.agent_name,
            agent_id=start.agent_id,
            instructions=prompt,
        )
    if kind == "llm.request":
        model, provider = text_in(line, "model"), text_in(line, "provider")
        return RoleMessage("model", model=model, provider=provider)
    if kind in ("turn.prompt", "turn.steer"):
        return RoleMessage("user", line.get("input"), time=time)
    if kind == "context.append_message":
        message = object_in(line, "message")
        if text_in(object_in(message, "origin"), "kind") in ("user", "system_trigger"):
            return "part of a user's message"
        return RoleMessage("injected", message.get("content"), time=time)
    if kind == "context.append_loop_event":
        return _step(object_in(line, "event"), time)
    if kind == "usage.record":
        if line.get("usageScope") != "session":
            return "part of a model call"
        id_ = f"compaction:{line.get('time')}"
        model = text_in(line, "model").rpartition("/")[2]
        return RoleMessage("assistant", id=id_, time=time, model=model, usage=_usage(line))
    if kind == "context.apply_compaction":
        before = count_of(line.get("tokensBefore"))
        summary = line.get("contextSummary") or line.get("summary")
        return RoleMessage("compaction", summary, time=time, tokens_before=before)
    if kind == "turn.cancel":
        return RoleMessage("interruption", time=time)
    known = kind.partition(".")[0] in _NOTES or kind in _MORE_NOTES
    return own_note(kind) if known else unknown(line.get("type"))


def _step(event: dict[str, Any], time: int) -> Unwrapped:
    kind, id_ = text_in(event, "type"), text_in(event, "stepUuid") or text_in(event, "uuid")
    call_id = text_in(event, "toolCallId")
    if kind == "tool.result":
        result = object_in(event, "result")
        failed = result.get("isError") is True
        content = result.get("output", event.get("result"))
        return RoleMessage("tool", content, time=time, call_id=call_id, failed=failed)
    message = RoleMessage("assistant", id=id_, time=time)
    if kind == "content.part":
        message.content = [event.get("part")]
    elif kind == "tool.call":
        name = text_in(event, "name")
        message.calls = [call_part(call_id, name, event.get("args", {}))]
    elif kind == "step.end":
        message.usage, message.finish = _usage(event), text_in(event, "finishReason")
    elif kind != "step.begin":
        return unknown(f"loop event {kind}")
    return message


def _usage(holder: dict[str, Any]) -> TokenUsage:
    usage = object_in(holder, "usage")
    read, written = usage.get("inputCacheRead"), usage.get("inputCacheCreation")
    sent = (usage.get("inputOther"), read, written)
    return usage_of(*sent, output=usage.get("output"), read=read, written=written)
