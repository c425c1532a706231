"""Tools whose transcripts are lists of messages with roles (``role_messages``).

Learned from the fixtures of jazzyalex/agent-sessions (``Resources/Fixtures/stage0/agents``: Cursor,
Droid 0.81, Grok CLI, Hermes, Antigravity CLI), teck968/goose-session-analysis (Goose before 1.10)
and real trajectories of SWE-agent, mini-swe-agent and OpenHands 0.2x.

Counting: Cursor, Droid, Goose, Grok, Hermes and Antigravity say of no call what it used.
mini-swe-agent has the provider's answer in ``extra.response``; OpenHands has it in each action that
came of it: once by its id. SWE-agent has sums of the run, which are the session's attributes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import Part, as_dict, as_list
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import call_part
from turnspan_records.coding.transcripts.events import SessionStart
from turnspan_records.coding.transcripts.json_tool import JsonTool
from turnspan_records.coding.transcripts.role_messages import (
    RoleMessage,
    RoleReader,
    Unwrap,
    Unwrapped,
)
from turnspan_records.coding.transcripts.wire_values import (
    document_in,
    object_in,
    objects_in,
    other_fields,
    own_note,
    text_in,
    time_of,
    unknown,
    usage_of,
)

_QUERY: Final = re.compile(r"\s*<(user_query|USER_REQUEST)>\n?(.*?)\n?</\1>", re.DOTALL)
_GOOSE: Final = frozenset({"role", "created", "content"})
_ROLES: Final = {"user": "user", "human": "user", "assistant": "assistant", "tool": "tool"}


class RoleTool(JsonTool):
    """A tool of this shape.

    Args:
        kind: as ``CodingTool``.
        places: as ``JsonTool``.
        folder: a folder's name that a transcript's path has; empty: any path.
        ends: of a transcript's name.
        own: whether a file is its own, by its first value.
        unwrap: as ``RoleReader``.
        messages: the field of a document that has the messages; empty: it is a list of them.
        one_prompt: as ``RoleReader``.
    """

    def __init__(
        self,
        kind: str,
        *places: str,
        folder: str = "",
        ends: tuple[str, ...] = (".jsonl",),
        own: Callable[[dict[str, Any]], bool],
        unwrap: Unwrap,
        messages: str = "messages",
        one_prompt: bool = False,
    ) -> None:
        super().__init__(kind, *places)
        self._folder = folder
        self._ends = ends
        self._own = own
        self._unwrap = unwrap
        self._messages = messages
        self._one_prompt = one_prompt

    def is_transcript(self, path: Path) -> bool:
        """As ``CodingTool``."""
        return path.name.endswith(self._ends) and self._folder in ("", *path.parts)

    def is_own(self, first: Any) -> bool:
        """As ``CodingTool``."""
        values = as_list(first)
        return self._own(as_dict(values[0] if values else first) or {})

    def reader(self, path: Path) -> RoleReader:
        """As ``CodingTool``."""
        # A run's file has the name of its task: its folder tells it from other runs of that.
        start = SessionStart(f"{path.parent.name}/{path.stem}" if self._one_prompt else path.stem)
        summary = document_in(path.with_name("summary.json")) if self.kind == "grok" else None
        if summary is not None:
            start = _grok_session(summary, path.parent.name)
        if path.parent.name == "subagents":
            start.agent_id, start.agent_name = path.stem, "subagent"
            start.parent_session = path.parent.parent.name
        return RoleReader(path, self._unwrap, start, one_prompt=self._one_prompt)

    def values(self, path: Path, value: Any) -> Sequence[Any] | None:
        """As ``CodingTool``: a document without its messages, then these."""
        if isinstance(value, list):
            return as_list(value)
        document = as_dict(value) or {}
        messages = as_list(document.get(self._messages))
        if messages is None:
            return None
        return [{k: v for k, v in document.items() if k != self._messages}, *messages]


def _plain(message: dict[str, Any], time: Any = 0) -> RoleMessage | None:
    """A message in the form of a chat completion; None for another role."""
    said = text_in(message, "role")
    role = "system" if said in ("system", "developer") else _ROLES.get(said)
    if role is None:
        return None
    ids = as_list(message.get("tool_call_ids")) or [message.get("tool_call_id")]
    content = message.get("content")
    if role == "user" and (found := _query(content)) is not None:
        content = found
    return RoleMessage(
        role,
        content,
        time=time_of(time),
        reasoning=text_in(message, "reasoning_content") or text_in(message, "reasoning"),
        calls=[_chat_call(call) for call in objects_in(message, "tool_calls")],
        call_id=ids[0] if isinstance(ids[0], str) else "",
    )


def _query(content: Any) -> str | None:
    """The user's words where the tool has put others around them."""
    blocks = as_list(content) or [content]
    text = text_in(as_dict(blocks[0]) or {}, "text") if len(blocks) == 1 else ""
    found = _QUERY.match(text or (content if isinstance(content, str) else ""))
    return found[2] if found else None


def _chat_call(call: dict[str, Any]) -> Part:
    function = object_in(call, "function") or call
    arguments = function.get("arguments", function.get("args", {}))
    return call_part(text_in(call, "id"), text_in(function, "name"), arguments)


def _chat_usage(usage: dict[str, Any]) -> TokenUsage:
    """Of a chat completion: the cache is within the input, the reasoning within the output."""
    sent, received = (
        object_in(usage, "prompt_tokens_details"),
        object_in(usage, "completion_tokens_details"),
    )
    return usage_of(
        usage.get("prompt_tokens"),
        output=usage.get("completion_tokens"),
        read=sent.get("cached_tokens"),
        written=usage.get("cache_creation_input_tokens"),
        reasoning=received.get("reasoning_tokens"),
    )


# -- Cursor, Droid, Goose, Grok, Hermes ------------------


def _cursor(line: dict[str, Any], start: SessionStart) -> Unwrapped:
    message = _plain({**object_in(line, "message"), "role": line.get("role")})
    if message is None:
        known = line.get("type") == "turn_ended"
        return own_note("turn_ended") if known else unknown(line.get("type"))
    message.model = text_in(line, "model")
    message.attributes = other_fields(line, ("role", "message", "model"))
    return message


def _droid(line: dict[str, Any], start: SessionStart) -> Unwrapped:
    kind = text_in(line, "type")
    if kind == "session_start":
        id_ = text_in(line, "id") or start.session_id
        version, folder = text_in(line, "version"), text_in(line, "cwd")
        title = text_in(line, "sessionTitle") or text_in(line, "title")
        return SessionStart(id_, version, folder, title=title)
    message = _plain(object_in(line, "message"), line.get("timestamp"))
    if kind != "message" or message is None:
        return unknown(line.get("type"))
    message.id = text_in(line, "id")
    return message


def _goose(line: dict[str, Any], start: SessionStart) -> Unwrapped:
    message = _plain(line, line.get("created"))
    if message is not None:
        message.id = text_in(line, "id")
        return message
    title = text_in(line, "description")
    attributes = other_fields(line, ("working_dir", "description"))
    folder = text_in(line, "working_dir")
    return SessionStart(start.session_id, folder=folder, title=title, attributes=attributes)


def _hermes(value: dict[str, Any], start: SessionStart) -> Unwrapped:
    if "role" not in value:
        known = ("session_id", "cwd", "system_prompt", "message_count", "last_updated")
        folder = text_in(value, "cwd") or text_in(object_in(value, "model_config"), "cwd")
        said = SessionStart(text_in(value, "session_id") or start.session_id, folder=folder)
        said.instructions = text_in(value, "system_prompt")
        said.attributes = other_fields(value, known)
        return said
    message = _plain(value)
    if message is None:
        return own_note("session_meta") if value["role"] == "session_meta" else unknown("role")
    finish = text_in(value, "finish_reason")
    message.failed = message.role == "tool" and finish == "error"
    message.finish = finish if message.role == "assistant" else ""
    return message


def _grok_session(summary: dict[str, Any], id_: str) -> SessionStart:
    info = object_in(summary, "info")
    remotes = [each for each in as_list(summary.get("git_remotes")) or [] if isinstance(each, str)]
    return SessionStart(
        text_in(info, "id") or id_,
        folder=text_in(info, "cwd"),
        repository=remotes[0] if remotes else "",
        branch=text_in(summary, "head_branch"),
        commit=text_in(summary, "head_commit"),
        title=text_in(summary, "generated_title"),
        attributes={"model": text_in(summary, "current_model_id"), "provider": "x_ai"},
    )


def _grok(line: dict[str, Any], start: SessionStart) -> Unwrapped:
    kind = text_in(line, "type")
    if kind == "reasoning":
        thought = "\n".join(text_in(each, "text") for each in objects_in(line, "summary"))
        return RoleMessage("thought", reasoning=thought)
    if kind == "backend_tool_call":
        return own_note("backend_tool_call")
    message = _plain({**line, "role": "tool" if kind == "tool_result" else kind})
    if message is None:
        return unknown(line.get("type"))
    if "synthetic_reason" in line:
        message.role = "injected"
    message.model, message.provider = text_in(line, "model_id"), "x_ai"
    return message


# -- SWE-agent, mini-swe-agent, OpenHands, Antigravity ------------------


def _swe_agent(value: dict[str, Any], start: SessionStart) -> Unwrapped:
    if "role" not in value:
        info = object_in(value, "info")
        stats, status = object_in(info, "model_stats"), text_in(info, "exit_status")
        attributes = {"session_usage": stats, "exit_status": status}
        attributes["environment"] = text_in(value, "environment")
        return SessionStart(start.session_id, attributes=attributes)
    message = _plain(value)
    if message is None:
        return unknown("role")
    if value.get("is_demo") is True:
        message.role = "injected"
    return message


def _mini_swe_agent(value: dict[str, Any], start: SessionStart) -> Unwrapped:
    if "role" not in value:
        info = object_in(value, "info")
        attributes = other_fields(info, ("submission", "config", "mini_version"))
        version = text_in(info, "mini_version")
        return SessionStart(start.session_id, version, attributes=attributes)
    message = _plain(value)
    if message is None:
        return unknown("role")
    answer = object_in(object_in(value, "extra"), "response")
    message.id, message.model = text_in(answer, "id"), text_in(answer, "model")
    message.usage = _chat_usage(object_in(answer, "usage"))
    return message


def _openhands(event: dict[str, Any], start: SessionStart) -> Unwrapped:
    action, observation = text_in(event, "action"), text_in(event, "observation")
    time, source = time_of(event.get("timestamp")), text_in(event, "source")
    metadata, arguments = object_in(event, "tool_call_metadata"), object_in(event, "args")
    call_id = text_in(metadata, "tool_call_id")
    if observation:
        if not call_id:
            return own_note(observation)
        failed = event.get("success") is False or observation == "error"
        return RoleMessage("tool", event.get("content"), time=time, call_id=call_id, failed=failed)
    if source == "user" and action == "message":
        return RoleMessage("user", arguments.get("content"), time=time)
    answer = object_in(metadata, "model_response")
    choices = objects_in(answer, "choices")
    said = object_in(choices[0], "message") if choices else {}
    message = _plain({"role": "assistant", "content": arguments.get("content"), **said})
    if source != "agent" or message is None or not (answer or action == "message"):
        return own_note(action) if action else unknown("no action")
    message.time, message.id = time, text_in(answer, "id")
    message.model = text_in(answer, "model")
    message.usage = _chat_usage(object_in(answer, "usage"))
    message.finish = text_in(choices[0], "finish_reason") if choices else ""
    if action == "finish":  # the run is over: no result comes
        message.calls = [call for call in message.calls if call["name"] != "finish"]
    return message


def _antigravity(step: dict[str, Any], start: SessionStart) -> Unwrapped:
    kind, source = text_in(step, "type"), text_in(step, "source")
    time, content = time_of(step.get("created_at")), step.get("content")
    if kind == "USER_INPUT":
        return RoleMessage("user", _query(content) or content, time=time)
    if kind == "PLANNER_RESPONSE":
        calls = [_chat_call(call) for call in objects_in(step, "tool_calls")]
        thinking = text_in(step, "thinking")
        return RoleMessage(
            "assistant", content, time=time, reasoning=thinking, calls=calls, provider="gcp.gemini"
        )
    if source == "MODEL":
        return RoleMessage("tool", content, time=time, attributes={"step": kind})
    if kind == "CHECKPOINT":
        return RoleMessage("compaction", content, time=time)
    if source == "SYSTEM" and content is None:
        return own_note(kind)
    return RoleMessage("injected", content, time=time)


def _has(*names: str) -> Callable[[dict[str, Any]], bool]:
    return lambda value: all(name in value for name in names)


ROLE_TOOLS: Final = (
    RoleTool(
        "cursor",
        ".cursor/projects",
        folder="agent-transcripts",
        own=lambda value: "role" in value and "content" in object_in(value, "message"),
        unwrap=_cursor,
    ),
    RoleTool(
        "droid",
        *(".factory/sessions", ".factory/projects"),
        folder=".factory",
        own=lambda value: value.get("type") == "session_start" and "cwd" in value,
        unwrap=_droid,
    ),
    RoleTool(
        "goose",
        ".local/share/goose/sessions",
        folder="goose",
        own=lambda value: "working_dir" in value or value.keys() in ({"tools"}, _GOOSE),
        unwrap=_goose,
    ),
    RoleTool(
        "grok",
        ".grok/sessions",
        ends=("chat_history.jsonl",),
        own=lambda value: value.get("type") == "system" and value.keys() == {"type", "content"},
        unwrap=_grok,
    ),
    RoleTool(
        "hermes",
        ".hermes/sessions",
        folder=".hermes",
        ends=(".json",),
        own=_has("session_id", "platform"),
        unwrap=_hermes,
    ),
    RoleTool(
        "swe-agent",
        ends=(".traj",),
        own=_has("trajectory", "info"),
        unwrap=_swe_agent,
        messages="history",
        one_prompt=True,
    ),
    RoleTool(
        "mini-swe-agent",
        ends=(".traj.json",),
        own=lambda value: (
            "trajectory_format" in value
            or (value.get("role") == "system" and isinstance(value.get("content"), str))
        ),
        unwrap=_mini_swe_agent,
        one_prompt=True,
    ),
    RoleTool(
        "openhands",
        folder="trajectories",
        ends=(".json",),
        own=lambda value: "source" in value and ("action" in value or "observation" in value),
        unwrap=_openhands,
    ),
    RoleTool(
        "antigravity",
        ".gemini/antigravity-cli/brain",
        folder="antigravity-cli",
        own=_has("step_index", "source", "type"),
        unwrap=_antigravity,
    ),
)
